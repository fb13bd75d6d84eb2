"""A self-contained HTML page: the draft, shaded where it needs citations, with evidence for each proposal."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any

from whycite.check.findings import CheckedDraft, Finding, Proposal
from whycite.check.reporting.messages import NO_CLEAR_FIT, byline, draft_places, need_phrase, reason
from whycite.cite.recommendations import Evidence
from whycite.documents.model import Citation, Document, Sentence
from whycite.documents.references.notices import describe_status
from whycite.files import shorten_paths

__all__ = ["report"]

# The draft enters the page only as this data, which is escaped as a whole and which the script inserts as text.
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{style_hash}'; \
script-src '{script_hash}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>whycite check</title>
<style>{style}</style>
</head>
<body>
<noscript>This report needs JavaScript. The script is part of this file; enable scripts to see the report.</noscript>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def report(checked: Sequence[CheckedDraft]) -> str:
    """The page, in pure ASCII."""
    style, script = (_asset(name) for name in ("report.css", "report.js"))
    return _PAGE.format(
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        data=_escaped([_draft_data(draft) for draft in checked]),
    )


def _asset(name: str) -> str:
    return files("whycite.check.reporting").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def _escaped(content: Any) -> str:
    """JSON in ASCII without any character that HTML could take for a tag, comment or entity."""
    return json.dumps(content).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _draft_data(checked: CheckedDraft) -> dict[str, Any]:
    document = checked.document
    findings = {(finding.file, finding.start, finding.end): finding for finding in checked.findings}
    place = draft_places(checked)
    return {
        "title": document.paper.title,
        "path": shorten_paths(document.path),
        "warnings": [shorten_paths(warning) for warning in checked.warnings],
        "blocks": list(_blocks(document)),
        "sentences": [
            _sentence(sentence, findings.get((sentence.file, sentence.start, sentence.end)), place)
            for sentence in document.sentences
        ],
        "references": dict(_references(document)),
    }


def _blocks(document: Document) -> Iterator[dict[str, Any]]:
    """The draft in reading order: headings, and paragraphs with their range of sentences."""
    section, begin = -1, 0
    sentences = document.sentences
    while begin < len(sentences):
        sentence = sentences[begin]
        for number in range(section + 1, sentence.section + 1):
            yield _heading(document, number)
        section = max(section, sentence.section)
        end = begin + 1
        while end < len(sentences) and sentences[end].paragraph == sentence.paragraph:
            end += 1
        yield {"kind": sentence.kind, "from": begin, "to": end, "section": sentence.section}
        begin = end
    for number in range(section + 1, len(document.sections)):
        yield _heading(document, number)


def _heading(document: Document, number: int) -> dict[str, Any]:
    section = document.sections[number]
    return {"heading": section.heading, "level": section.level, "section": number, "type": section.type}


def _sentence(sentence: Sentence, finding: Finding | None, place: Callable[[Evidence], str]) -> dict[str, Any]:
    shown: dict[str, Any] = {"text": list(_pieces(sentence)), "file": shorten_paths(sentence.file)}
    if finding is not None:
        shown |= {
            "kind": finding.kind,
            "need": need_phrase(finding),
            "rule": reason(finding) if finding.rule else "",
            "clause": finding.clause,
            "worthiness": finding.worthiness,
            "threshold": finding.threshold,
            "line": finding.line,
            "problems": [f"{problem.key}: {problem.message}" for problem in finding.problems],
            "poor": NO_CLEAR_FIT if finding.doubtful else "",
            "proposals": [_proposal(proposal, place) for proposal in finding.recommendations],
        }
    return shown


def _pieces(sentence: Sentence) -> Iterator[str | dict[str, Any]]:
    """The text of a sentence, split at its citations."""
    position = 0
    for citation in sorted(sentence.citations, key=_start):
        if citation.text_start < position or citation.text_end <= citation.text_start:
            continue
        if citation.text_start > position:
            yield sentence.text[position : citation.text_start]
        yield {"shown": sentence.text[citation.text_start : citation.text_end], "keys": list(citation.keys)}
        position = citation.text_end
    if position < len(sentence.text):
        yield sentence.text[position:]


def _start(citation: Citation) -> int:
    return citation.text_start


def _proposal(proposal: Proposal, place: Callable[[Evidence], str]) -> dict[str, Any]:
    recommendation = proposal.recommendation
    return {
        "key": proposal.key,
        "known": proposal.in_bibliography,
        "bibtex": proposal.bibtex,
        "title": recommendation.paper.title,
        "byline": byline(recommendation.paper),
        "warning": describe_status(recommendation.paper.status, recommendation.paper.notices),
        "doi": recommendation.paper.doi,
        "support": recommendation.support,
        "title_matches": recommendation.title_matches,
        "evidence": [
            {"span": evidence.span, "sentence": evidence.sentence, "place": place(evidence)}
            | {"title": evidence.source.title, "year": evidence.source.facts}
            for evidence in recommendation.evidence
        ],
    }


def _references(document: Document) -> Iterator[tuple[str, str]]:
    """Descriptions of the references that the draft cites, by key."""
    cited = {key for sentence in document.sentences for citation in sentence.citations for key in citation.keys}
    for reference in document.references:
        if reference.id in cited:
            suffix = " et al." if len(reference.authors) > 1 else ""
            who = reference.authors[0].split(",")[0] + suffix if reference.authors else ""
            about = f"{who} ({reference.year})" if reference.year else who
            yield reference.id, ". ".join(part for part in (about, reference.title or reference.text) if part)
