"""The report as Markdown, to paste into a review."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whycite.documents.model import Document, Reference
from whycite.verify.drafts import CitationVerdict
from whycite.verify.report.overview import (
    SHORT_LIST,
    DraftReport,
    authors_and_year,
    main_passages,
    passage_facts,
    place,
    reference_link,
    reference_title,
    sentence_case,
    shown_key,
    waiting,
)
from whycite.verify.verification import WORST_FIRST, certainty

__all__ = ["markdown"]

_SPECIAL = re.compile(r"[\\`*_\[\]<>&~$#]")
_MENTION = re.compile(r"@(?=\w)")
_WORD_JOINER = "\u2060"  # invisible; keeps a review from notifying whoever is called as in the draft
_MAX_PLACES = 10  # of citations that could not be checked for the same reason


def markdown(report: DraftReport) -> str:
    """The report: verdicts worst first, each with what decides it; then the papers that are missing."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def _lines(report: DraftReport) -> Iterator[str]:
    yield f"# Citations of “{_escape(report.title)}”\n"
    yield f"{report.summary}\n"
    if report.comments:
        yield f"## Comments ({len(report.comments):,})\n"
        for comment in report.comments:
            yield f"- {_escape(comment.section)}{': ' if comment.section else ''}“{_escape(comment.sentence)}”\n"
            yield f"  {_escape(comment.text)}\n"
    for verdict in WORST_FIRST:
        group = [checked for checked in report.judged if checked.verification.verdict == verdict]
        if group:
            yield f"## {verdict.capitalize()} ({len(group):,})\n"
            for checked in group:
                yield from _citation(checked, report)
    if report.noted:
        yield "## To look at, although there is no full text\n"
        for checked in report.noted:
            yield from _citation(checked, report)
    if report.missing:
        yield f"## Papers without full text ({len(report.missing):,})\n"
        papers = [f"- {_reference(paper.reference, report.draft)} {waiting(paper)}" for paper in report.missing]
        yield from (*papers[:SHORT_LIST], "")
        if folded := papers[SHORT_LIST:]:
            yield from (f"<details><summary>{len(folded):,} more</summary>\n", *folded, "\n</details>\n")
    if report.unchecked:
        yield "## Not checked for other reasons\n"
        for unchecked in report.unchecked:
            places = [_code(place(checked, report.draft)) for checked in unchecked.citations]
            rest = f" and {len(places) - _MAX_PLACES:,} more" if len(places) > _MAX_PLACES else ""
            yield f"- {_escape(sentence_case(unchecked.reason))} {', '.join(places[:_MAX_PLACES])}{rest}"


def _citation(checked: CitationVerdict, report: DraftReport) -> Iterator[str]:
    verification = checked.verification
    is_judged = verification.verdict != "could not check"
    sure = f" **{verification.verdict}**, {certainty(verification)}" if is_judged else ""
    section = f", {_escape(checked.section)}" if checked.section else ""
    yield f"- {_code(place(checked, report.draft))}{section}{':' if sure else ''}{sure}\n"
    yield f"  > “{_escape(checked.claim)}”\n"
    yield f"  Cites {_reference(checked.reference, report.draft)}\n"
    if checked.warning:
        yield f"  **{_escape(checked.warning)}**\n"
    for note in checked.notes:
        yield f"  Note: {_escape(sentence_case(note))}\n"
    if not is_judged:
        return
    yield f"  {_escape(sentence_case(verification.reason))}\n"
    for passage in main_passages(verification):
        facts = _escape("; ".join(passage_facts(passage)))
        mark = "▶ " if passage.decides else ""
        yield f"  > {mark}“{_escape(passage.text)}”{f' ({facts})' if facts else ''}\n"


def _reference(reference: Reference, draft: Document) -> str:
    label, address = reference_link(reference)
    link = f"[{_escape(label)}]({address})." if label else ""
    who = authors_and_year(reference)
    key, title = shown_key(reference, draft), sentence_case(_escape(reference_title(reference)))
    parts = (_code(key) if key else "", f"{_escape(who)}." if who else "", title)
    return " ".join(part for part in (*parts, link) if part)


def _escape(text: str) -> str:
    """Text on one line in which nothing is markup, a tag, a formula or a mention."""
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return _MENTION.sub(f"@{_WORD_JOINER}", _SPECIAL.sub(r"\\\g<0>", plain))


def _code(text: str) -> str:
    """Text as code, in more backticks than it has."""
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    fence, edge = "`" * (longest + 1), " " if plain[:1] == "`" or plain[-1:] == "`" else ""
    return f"{fence}{edge}{plain}{edge}{fence}" if plain else ""
