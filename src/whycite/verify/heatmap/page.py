"""The heat map as one HTML file that asks nothing of the network and runs nothing but its own script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.verify.heatmap.heat import check_threshold
from whycite.verify.heatmap.jsonform import as_json
from whycite.verify.model import Verification

__all__ = ["html"]

# What would end the script element, or a line for old readers of JSON.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def html(document: Document, verification: Verification, threshold: float | None = None, top: int = 10) -> str:
    """The page: claim and verdict, best passages, the document in colours from a threshold on, and an overview."""
    if top < 1:
        raise UserError(f"the number of passages must be 1 or more, not {top}")
    content = as_json(document, verification)
    content["document"]["path"] = re.split(r"[\\/]", document.path)[-1]  # a page is passed on, folders are private
    content |= {"threshold": check_threshold(threshold, verification), "top": top}
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
        "data": _embedded(content),
    }
    page = _asset("page.html")
    pieces = page.split("%%")  # names stand at the odd places, and what is put in is never looked through again
    return "".join(parts[piece] if at % 2 else piece for at, piece in enumerate(pieces))


def _without_script(verification: Verification) -> str:
    best = [f"{passage.rank}. {passage.text}" for passage in verification.passages[:3]]
    return " — ".join([f"{verification.claim} — {verification.verdict}. {verification.reason}".strip(), *best])


def _embedded(content: dict[str, Any]) -> str:
    """JSON that can stand in a script element, in letters that every encoding has."""
    return json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)


def _plain(text: str) -> str:
    """Text without what no page may hold: halves of pairs of surrogates, control codes."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


@cache
def _asset(name: str) -> str:
    return files("whycite.verify.heatmap").joinpath("assets", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
