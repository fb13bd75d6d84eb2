"""The heat map as JSON and as a self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, NotRequired

from typing_extensions import TypedDict

from whycite.documents.jsondocument import SectionJson, section_json
from whycite.documents.model import Document, Sentence
from whycite.errors import UserError
from whycite.verify.prose import with_asides
from whycite.verify.verification import Passage, Stance, Verification, VerificationJson, verification_json

__all__ = [
    "STEPS",
    "HeatMapJson",
    "by_index",
    "check_threshold",
    "embed_json",
    "heat",
    "heat_map_json",
    "html",
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
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": escape(policy),
        "title": escape(_plain(f"{verification.verdict}: {verification.claim}")),
        "style": style,
        "script": script,
        "without": escape(_plain(_without_script(verification))),
        "data": embed_json(content),
    }
    page = _asset("page.html")
    pieces = page.split("%%")  # odd pieces are names; inserted text is never searched for names
    return "".join(parts[piece] if index % 2 else piece for index, piece in enumerate(pieces))


def _without_script(verification: Verification) -> str:
    best = [f"{passage.rank}. {passage.text}" for passage in verification.deciding_first()[:3]]
    return " — ".join([f"{verification.claim} — {verification.verdict}. {verification.reason}".strip(), *best])


def embed_json(content: dict[str, Any]) -> str:
    """ASCII JSON that is safe inside a script element."""
    return json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)


def _plain(text: str) -> str:
    """Text without lone surrogates and control codes, which HTML does not allow."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


@cache
def _asset(name: str) -> str:
    return files("whycite.verify.heatmap").joinpath("assets", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
