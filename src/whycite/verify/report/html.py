"""The report as one self-contained HTML page: readable without scripts, which only filter it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from importlib.resources import files

from whycite.documents.model import Document, Reference
from whycite.verify.drafts import CitationVerdict
from whycite.verify.report.overview import (
    SHORT_LIST,
    DraftReport,
    MissingPaper,
    authors_and_year,
    passage_facts,
    place,
    reference_link,
    reference_title,
    sentence_case,
    shown_key,
    split_passages,
    waiting,
)
from whycite.verify.verification import WORST_FIRST, Passage, certainty

__all__ = ["html"]

_SIGNS = {"contradicted": "✗", "secondary": "↪", "not found": "?", "backed": "✓", "could not check": "–"}
_FOOTER = (
    "A model made these verdicts. Read the passages before you rely on one. "
    '<span class="keys"><kbd>n</kbd> and <kbd>p</kbd> move to the next and the previous citation.</span>'
)


def html(report: DraftReport, n: int = 5) -> str:
    """The page; each citation shows what decides its verdict and, when opened, others, `n` in all."""
    style, script = _asset("report.css"), _asset("report.js")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    title = f"Citations of “{report.title}”"
    return "".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n',
            '<meta name="generator" content="whycite">\n<link rel="icon" href="data:,">\n',
            f"<title>{_text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<header>\n",
            f'<h1 dir="auto">{_text(title)}</h1>\n<p id="summary">{_text(report.summary)}</p>\n',
            *_filters(report),
            "</header>\n<main>\n",
            *_comments(report),
            *_judged(report, n),
            *_unjudged(report),
            f"</main>\n<footer><p>{_FOOTER}</p></footer>\n<script>{script}</script>\n</body>\n</html>\n",
        )
    )


def _filters(report: DraftReport) -> Iterator[str]:
    """Buttons, hidden until the script is there to make them work."""
    yield '<div id="filters" role="group" aria-label="Show" hidden>\n'
    yield f'<button type="button" data-show="" aria-pressed="true">All {sum(report.counts.values()):,}</button>\n'
    for verdict in WORST_FIRST:
        if report.counts[verdict]:
            label = f"{_SIGNS[verdict]} {verdict.capitalize()} {report.counts[verdict]:,}"
            yield f'<button type="button" data-show="{verdict}" aria-pressed="false">{label}</button>\n'
    yield '</div>\n<p id="shown" role="status"></p>\n'


def _comments(report: DraftReport) -> Iterator[str]:
    if not report.comments:
        return
    yield f"<section>\n<h2>Comments ({len(report.comments):,})</h2>\n"
    for comment in report.comments:
        yield "<article>\n"
        yield f'<p class="place" dir="auto">{_text(comment.section)}</p>\n' if comment.section else ""
        yield f'<blockquote class="claim" dir="auto">{_text(comment.sentence)}</blockquote>\n'
        yield f'<p class="reason" dir="auto">{_text(comment.text)}</p>\n</article>\n'
    yield "</section>\n"


def _judged(report: DraftReport, n: int) -> Iterator[str]:
    for verdict in WORST_FIRST:
        group = [checked for checked in report.judged if checked.verification.verdict == verdict]
        if group:
            heading = f"{_SIGNS[verdict]} {verdict.capitalize()} ({len(group):,})"
            yield f'<section data-verdict="{verdict}">\n<h2>{heading}</h2>\n'
            for checked in group:
                yield from _citation(checked, report, n)
            yield "</section>\n"


def _citation(checked: CitationVerdict, report: DraftReport, n: int) -> Iterator[str]:
    verification = checked.verification
    yield '<article tabindex="-1">\n<p class="place">'
    yield f"<code>{_text(place(checked, report.draft))}</code>"
    yield f' · <span dir="auto">{_text(checked.section)}</span>' if checked.section else ""
    if verification.verdict != "could not check":
        yield f' · <span class="verdict"><b>{verification.verdict}</b>, {certainty(verification)}</span>'
    yield f'</p>\n<blockquote class="claim" dir="auto">{_text(checked.claim)}</blockquote>\n'
    yield f'<p class="cites">cites {_reference(checked.reference, report.draft)}</p>\n'
    if checked.warning:
        yield f'<p class="retracted" dir="auto">⚠ {_text(checked.warning)}</p>\n'
    for note in checked.notes:
        yield f'<p class="note" dir="auto">⚠ {_text(sentence_case(note))}</p>\n'
    if verification.verdict != "could not check":
        yield f'<p class="reason" dir="auto">{_text(sentence_case(verification.reason))}</p>\n'
        main, further = split_passages(verification, n)
        for passage in main:
            yield _passage(passage, "Closest passage")
        if further:
            yield f"<details>\n<summary>{_count(len(further), 'more passage')}</summary>\n"
            yield from map(_passage, further)
            yield "</details>\n"
    yield "</article>\n"


def _passage(passage: Passage, label: str = "") -> str:
    """A passage with its section, page and notes; `label` says why it is shown if it did not decide."""
    label = "▶ Decides the verdict" if passage.decides else label
    mark = f'<span class="mark">{label}</span> · ' if label else ""
    facts = " · ".join(_text(fact) for fact in (*passage_facts(passage), f"score {passage.score:.2f}"))
    decides = " decides" if passage.decides else ""
    return (
        f'<figure class="passage{decides}" data-stance="{passage.stance}">'
        f'<blockquote dir="auto">{_text(passage.text)}</blockquote><figcaption>{mark}{facts}</figcaption></figure>\n'
    )


def _unjudged(report: DraftReport) -> Iterator[str]:
    if report.noted or report.missing or report.unchecked:
        yield '<section data-verdict="could not check">\n'
        yield f"<h2>{_SIGNS['could not check']} Could not check ({report.counts['could not check']:,})</h2>\n"
        if report.noted:
            yield "<h3>To look at, although there is no full text</h3>\n"
            for checked in report.noted:
                yield from _citation(checked, report, 1)
        if report.missing:
            yield f"<h3>Papers without full text ({len(report.missing):,})</h3>\n"
            yield from _papers(report.missing[:SHORT_LIST], report.draft)
            if folded := report.missing[SHORT_LIST:]:
                yield f"<details><summary>{_count(len(folded), 'more paper')}</summary>\n"
                yield from _papers(folded, report.draft)
                yield "</details>\n"
        if report.unchecked:
            yield "<h3>Other reasons</h3>\n<ul>\n"
            for group in report.unchecked:
                yield f'<li><span dir="auto">{_text(sentence_case(group.reason))}</span>\n'
                yield from _claims(group.citations, report)
                yield "</li>\n"
            yield "</ul>\n"
        yield "</section>\n"


def _papers(papers: Iterable[MissingPaper], draft: Document) -> Iterator[str]:
    yield "<ul>\n"
    for paper in papers:
        shown = _reference(paper.reference, draft)
        yield f'<li dir="auto">{shown} <span class="waiting">{waiting(paper)}</span></li>\n'
    yield "</ul>\n"


def _claims(citations: Iterable[CitationVerdict], report: DraftReport) -> Iterator[str]:
    """The claims of a group, folded if there are several."""
    claims = [
        f'<code>{_text(place(checked, report.draft))}</code> <span dir="auto">“{_text(checked.claim)}”</span>'
        for checked in citations
    ]
    if len(claims) == 1:
        yield claims[0]
    else:
        yield f"<details><summary>{_count(len(claims), 'citation')}</summary>\n<ul>\n"
        yield from (f"<li>{claim}</li>\n" for claim in claims)
        yield "</ul>\n</details>"


def _reference(reference: Reference, draft: Document) -> str:
    """The key of a reference, its authors, year and title, and a link."""
    label, address = reference_link(reference)
    link = f'<a href="{escape(address)}" rel="noreferrer noopener">{_text(label)}</a>' if label else ""
    key, who = shown_key(reference, draft), authors_and_year(reference)
    title = sentence_case(reference_title(reference))
    parts = (
        f"<code>{_text(key)}</code>" if key else "",
        f"{_text(who)}." if who else "",
        f"<cite>{_text(title)}</cite>",
        link,
    )
    return f'<span class="reference" dir="auto">{" ".join(part for part in parts if part)}</span>'


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _text(text: str) -> str:
    """Text for HTML, without lone surrogates and control codes, which it does not allow."""
    return escape("".join(sign if sign.isprintable() else " " for sign in text))


@cache
def _asset(name: str) -> str:
    return files("whycite.verify.report").joinpath("assets", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
