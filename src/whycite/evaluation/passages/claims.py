"""Citing sentences as claims: nothing in them of the citations but what is said."""

from __future__ import annotations

import re

from whycite.documents.markers import find_markers
from whycite.documents.model import Citation, Sentence

__all__ = ["claim_of", "says_something"]

# Names before a year in brackets, names of others, numbers in brackets, and what held markers. Every loop takes a
# bounded stretch a turn, so all are linear.
_NAME = r"[A-Z][\w’'-]{1,40}"
_NARRATIVE = re.compile(
    rf"\b{_NAME}(?:(?:, {_NAME}){{0,3}},? (?:and|&) {_NAME})?(?:[’']s)? ?[(\[](?:1[89]|20)\d\d[a-z]?[)\]]"
)
_OTHERS = re.compile(rf"\b{_NAME}(?:,? (?:and|&) {_NAME})?,? et al\b\.?")
_NUMBERS = re.compile(r"[(\[]\d{1,3}(?:\s?[-–,;]\s?\d{1,3}){0,20}\]")
_MASK = r"<\|(?:cit|multi_cit|other_cit)\|>"
_NAMED_MASK = re.compile(rf"(?<=[(;]) ?{_NAME}(?: (?:and|&) {_NAME})?,? {_MASK}")
_MASKED = re.compile(rf"(?:(?<!\d)(?:\d{{1,3}}\s?[-–,;]\s?){{1,20}})?{_MASK}(?:\s?[-–,;]\s?\d{{1,3}}(?![\w%])){{0,20}}")
_HUSK = re.compile(r"[(\[][\s,;:&.–-]*[)\]]")
_BEFORE_STOP = re.compile(r"\s+([.,;:!?)\]])")


def claim_of(citing: str) -> str:
    """A citing sentence without its citation markers: "(Doe and Roe, 2004)", "Doe et al. (2004)", "[12]", "<|cit|>"."""
    text = _without_markers(_MASKED.sub(" ", _NAMED_MASK.sub(" ", citing)))
    for gone in (_NARRATIVE, _OTHERS, _NUMBERS, _HUSK):
        text = gone.sub(" ", text)
    return _BEFORE_STOP.sub(r"\1", " ".join(text.split())).lstrip(" .,;:")


def says_something(claim: str) -> bool:
    """Whether anything is left that a sentence could back."""
    return any(map(str.isalpha, claim))


def _without_markers(text: str) -> str:
    markers = (Citation((), found.start, found.end, found.start, found.end) for found in find_markers(text, ()))
    return Sentence(text, 0, 0, "", 0, len(text), tuple(markers)).without_citations()
