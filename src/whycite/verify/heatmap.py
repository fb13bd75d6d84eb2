"""Heat maps: a document shaded by how well each sentence backs a claim (the thesis, figure 1.1 and chapter 6).

As JSON, as a self-contained HTML page, and in a terminal.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Any, NotRequired

from typing_extensions import TypedDict

from whycite.documents.jsondocument import SectionJson, section_json
from whycite.documents.model import Document, Sentence
from whycite.errors import UserError
from whycite.files import shorten_paths
from whycite.verify.passages import with_asides
from whycite.verify.verification import (
    Passage,
    Stance,
    Verdict,
    Verification,
    VerificationJson,
    passage_notes,
    verification_json,
)

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.text import Text

__all__ = [
    "STEPS",
    "HeatMapJson",
    "by_index",
    "check_threshold",
    "embed_json",
    "heat",
    "heat_map_json",
    "html",
    "terminal",
    "usual_threshold",
]

STEPS = 5
_USUAL = 0.5
_LOWEST = 0.05
_FEWEST = 3  # sentences that a heat map should shade


def heat(score: float, threshold: float) -> int:
    """The step of a score from 1 to 5, or 0 below the threshold."""
    return min(int(score * STEPS) + 1, STEPS) if score >= threshold else 0


def usual_threshold(verification: Verification) -> float:
    """0.5, lowered if fewer than three sentences reach it, but never so low that everything is shaded."""
    scores = sorted((passage.score for passage in verification.passages), reverse=True)
    if not scores:
        return _USUAL
    third = math.floor(scores[min(_FEWEST, len(scores)) - 1] * 100) / 100
    return max(min(third, _USUAL), _LOWEST)


def check_threshold(threshold: float | None, verification: Verification) -> float:
    """The threshold, or the usual one for None; raises a UserError outside 0 to 1."""
    if threshold is None:
        return usual_threshold(verification)
    if not 0 <= threshold <= 1:
        raise UserError(f"the threshold must be between 0 and 1, not {threshold}")
    return threshold


def by_index(verification: Verification) -> dict[int, Passage]:
    """The passages by the index of their sentence in the document."""
    return {passage.index: passage for passage in verification.passages}


_DIGITS = 4  # decimal places of a score


class CitedPaperJson(TypedDict):
    """The cited paper."""

    path: str
    title: str
    year: int | None


class ScoredSentenceJson(TypedDict):
    """A sentence of the cited paper in reading order; without a score if it was not compared."""

    index: int
    text: str
    section: int
    paragraph: int
    kind: str
    score: float | None
    rank: int | None
    stance: NotRequired[Stance]  # only if it supports or contradicts the claim


class HeatMapJson(VerificationJson):
    """The verdict, the best passages, and every sentence in reading order with its score and rank."""

    document: CitedPaperJson
    sections: list[SectionJson]
    sentences: list[ScoredSentenceJson]


def heat_map_json(document: Document, verification: Verification, n: int | None = None) -> HeatMapJson:
    """A heat map with the best `n` passages as JSON."""
    document, passages = with_asides(document), by_index(verification)
    return {
        **verification_json(verification, n),
        "document": {"path": document.path, "title": document.paper.title, "year": document.paper.year},
        "sections": [section_json(section) for section in document.sections],
        "sentences": [
            _scored_sentence_json(sentence, index, passages.get(index))
            for index, sentence in enumerate(document.sentences)
        ],
    }


def _scored_sentence_json(sentence: Sentence, index: int, passage: Passage | None) -> ScoredSentenceJson:
    result: ScoredSentenceJson = {
        "index": index,
        "text": sentence.text,
        "section": sentence.section,
        "paragraph": sentence.paragraph,
        "kind": sentence.kind,
        "score": round(passage.score, _DIGITS) if passage else None,
        "rank": passage.rank if passage else None,
    }
    if passage and passage.stance != "neither":
        result["stance"] = passage.stance
    return result


# Characters that could end the script element, or a line in old JSON parsers.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def html(document: Document, verification: Verification, threshold: float | None = None, top: int = 10) -> str:
    """The page: claim, verdict, best passages, the shaded document and an overview."""
    if top < 1:
        raise UserError(f"the number of passages must be at least 1, not {top}")
    heat_map = heat_map_json(document, verification)
    heat_map["document"]["path"] = re.split(r"[\\/]", document.path)[-1]  # the page may be shared; folders are private
    content = {**heat_map, "threshold": check_threshold(threshold, verification), "top": top}
    style, script = _asset("heatmap.css"), _asset("heatmap.js")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": escape(policy),
        "title": escape(_clean(f"{verification.verdict}: {verification.claim}")),
        "style": style,
        "script": script,
        "without": escape(_clean(_without_script(verification))),
        "data": embed_json(content),
    }
    page = _asset("heatmap.html")
    pieces = page.split("%%")  # odd pieces are names; inserted text is never searched for names
    return "".join(parts[piece] if index % 2 else piece for index, piece in enumerate(pieces))


def _without_script(verification: Verification) -> str:
    best = [f"{passage.rank}. {passage.text}" for passage in verification.deciding_first()[:3]]
    return " — ".join([f"{verification.claim} — {verification.verdict}. {verification.reason}".strip(), *best])


def embed_json(content: dict[str, Any]) -> str:
    """ASCII JSON that is safe inside a script element."""
    return json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)


@cache
def _asset(name: str) -> str:
    return files("whycite.verify").joinpath("assets", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


# Dark text on light backgrounds is readable in every colour scheme; the signs work without colour.
_STYLES = ("", "black on #fff3c4", "black on #ffdf80", "black on #ffc34d", "black on #ff9f33", "black on #ff7a29")
_CONTRARY_STYLES = ("", *(f"black on #{ground}" for ground in ("efe4ff", "dfcaff", "cdaeff", "bb93ff", "a87bff")))
_SIGNS = " ░▒▓██"
_CONTRARY_SIGN = "✗"
_DECIDING_SIGN = "▶"
_VERDICTS: Mapping[Verdict, tuple[str, str]] = {
    "backed": ("✓", "bold green"),
    "secondary": ("↪", "bold blue"),
    "contradicted": ("✗", "bold red"),
    "not found": ("?", "bold yellow"),
    "could not check": ("–", "bold"),
}
_STRIP = 60  # characters of the overview
_GUTTER = 2


def terminal(
    document: Document,
    verification: Verification,
    threshold: float | None = None,
    top: int = 5,
    whole: bool = False,
) -> Group:
    """Build the verdict, an overview, and the document with passages above the threshold shaded, for rich to print.

    The best `top` passages and those that decided are numbered. Paragraphs without shaded passages are left out unless
    `whole` is true.
    """
    from rich.console import Group
    from rich.text import Text

    document, limit = with_asides(document), check_threshold(threshold, verification)
    passages = {
        index: passage
        for index, passage in by_index(verification).items()
        if passage.score >= limit or passage.decides  # what decided is always shown
    }
    parts: list[RenderableType] = [_verdict(verification)]
    if not verification.passages:
        return Group(*parts)
    parts.append(Text("\n" + _clean(document.paper.title or shorten_paths(document.path)), style="bold"))
    parts.append(_overview(len(document.sentences), passages))
    parts.append(
        Text(
            f"{len(passages):,} of {_sentences(len(document.sentences))} with a score of {limit:.2f} or higher",
            style="dim",
        )
    )
    parts.append(_legend(passages))
    parts += _body(document, passages, top, whole)
    return Group(*parts)


def _verdict(verification: Verification) -> Text:
    from rich.text import Text

    sign, style = _VERDICTS[verification.verdict]
    text = Text(f"“{_clean(verification.claim)}”\n", style="italic")
    text.append(f"{sign} {verification.verdict}", style=f"not italic {style}")
    if verification.confidence:
        text.append(f", {verification.confidence * 100:.0f}% confidence", style="not italic")
    if verification.reason:
        text.append(f": {_clean(verification.reason)}", style="not italic")
    return text


def _overview(sentences: int, passages: Mapping[int, Passage]) -> Text:
    """The whole document in one line; each character shows the highest score of its sentences."""
    from rich.text import Text

    cells = min(_STRIP, max(sentences, 1))
    by_cell: dict[int, list[Passage]] = {}
    for index, passage in passages.items():
        by_cell.setdefault(min(index * cells // max(sentences, 1), cells - 1), []).append(passage)
    line = Text("▕")
    for cell in range(cells):
        line.append_text(_sign(by_cell.get(cell, ())))
    return line.append("▏")


def _sign(passages: Collection[Passage]) -> Text:
    """A sign for the hottest of some passages, in its colour."""
    from rich.text import Text

    if not passages:
        return Text(_SIGNS[0], style="dim")
    hottest = max(passages, key=lambda passage: (passage.decides, passage.score))
    sign = _CONTRARY_SIGN if hottest.stance == "contradicts" else _SIGNS[heat(hottest.score, 0)]
    return Text(sign, style=_shade(hottest).rpartition(" ")[2])


def _shade(passage: Passage) -> str:
    """The style of a passage: black on the colour of its score."""
    return (_CONTRARY_STYLES if passage.stance == "contradicts" else _STYLES)[heat(passage.score, 0)]


def _legend(passages: Mapping[int, Passage]) -> Text:
    """What the colours and signs mean; those that do not occur are left out."""
    from rich.text import Text

    line = Text()
    for step, style in enumerate(_STYLES[1:], 1):
        line.append(f" {(step - 1) / STEPS:.1f} ".replace("0.", "."), style=style)
    line.append(" backs the claim", style="dim")
    if any(passage.stance == "contradicts" for passage in passages.values()):
        line.append("  ")
        for style in _CONTRARY_STYLES[1:]:
            line.append(f" {_CONTRARY_SIGN} ", style=style)
        line.append(" contradicts it", style="dim")
    if any(passage.decides for passage in passages.values()):
        line.append(f"  {_DECIDING_SIGN} decides the verdict", style="dim")
    return line


def _body(document: Document, passages: Mapping[int, Passage], top: int, whole: bool) -> Iterator[RenderableType]:
    from rich.text import Text

    section, cold = -1, 0
    numbered = list(enumerate(document.sentences))
    for _, group in groupby(numbered, key=lambda pair: (pair[1].section, pair[1].paragraph)):
        paragraph = list(group)
        if not whole and not any(index in passages for index, _ in paragraph):
            cold += len(paragraph)
            continue
        if cold:
            yield _left_out(cold)
            cold = 0
        if (new_section := paragraph[0][1].section) != section:
            section = new_section
            if heading := _heading(document, section):
                yield Text(f"\n{heading}", style="bold cyan")
        yield _paragraph(paragraph, passages, top)
    if cold:
        yield _left_out(cold)


def _left_out(number: int) -> Text:
    from rich.text import Text

    return Text(f"{' ' * _GUTTER}⋯ {_sentences(number)}", style="dim")


def _heading(document: Document, section: int) -> str:
    return _clean(document.sections[section].heading) if 0 <= section < len(document.sections) else ""


def _paragraph(sentences: Sequence[tuple[int, Sentence]], passages: Mapping[int, Passage], top: int) -> RenderableType:
    """A paragraph next to a sign for its highest score."""
    from rich.table import Table
    from rich.text import Text

    text = Text()
    for index, sentence in sentences:
        if len(text):
            text.append(" ")
        if (passage := passages.get(index)) is None:
            text.append(_clean(sentence.text))
            continue
        if passage.rank <= top or passage.decides:
            mark = f"{_DECIDING_SIGN} " if passage.decides else ""
            text.append(f"{mark}[{passage.rank}: {passage.score:.2f}]", style="bold").append(" ")
        text.append(_clean(sentence.text), style=_shade(passage))
        if notes := passage_notes(passage):
            text.append(f" ({_clean('; '.join(notes))})", style="yellow")
    row = Table.grid()
    row.add_column(width=_GUTTER)
    row.add_column(overflow="fold")
    row.add_row(_sign([passages[index] for index, _ in sentences if index in passages]), text)
    return row


def _sentences(number: int) -> str:
    return f"{number:,} sentence{'' if number == 1 else 's'}"


def _clean(text: str) -> str:
    """Text without lone surrogates and control codes: HTML forbids them, and they would move a terminal's cursor."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else " " for sign in text)
