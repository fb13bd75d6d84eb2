"""The synonym dictionary: which section type a heading means (SCOPE 3.1.3, 6.4.1, appendix A.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal, get_args

from whycite.structure.headings import MAX_HEADING, HeadingPart, normalise_heading, split_heading
from whycite.structure.rules import HeadingRules
from whycite.text.wordlists import load_tables

__all__ = [
    "BLOCKS",
    "BODY_TYPES",
    "OUTER_TYPES",
    "SECTION_TYPES",
    "Dictionary",
    "HeadingMatch",
    "TermBlock",
    "dictionary",
]

TermBlock = Literal["exact", "defined", "learned", "ours"]
BLOCKS: tuple[TermBlock, ...] = get_args(TermBlock)

_FILE = load_tables("whycite.structure.sections")
BODY_TYPES: tuple[str, ...] = tuple(_FILE["body"])
OUTER_TYPES: tuple[str, ...] = tuple(_FILE["around"])
SECTION_TYPES = BODY_TYPES + OUTER_TYPES

# Which type a heading with two types gets (the first in this order), as in SCOPE's own compounds: "introduction and
# related work" is an introduction, "result and discussion" a discussion, "discussion and conclusion" a conclusion.
_COMPOUND = (
    "appendix", "introduction", "conclusion", "discussion", "experiment", "result", "method", "related work",
    "acknowledgement", "declaration", "abstract", "references",
)  # fmt: skip

_PHRASE_END = frozenset(_FILE["phrase_end"].split())
# Limits in words; longer ones say too much else to be typed by one term.
_MAX_PHRASE = 4  # an opening phrase whose last word tells what the section is
_MAX_PART = 7  # a part of a heading that is searched for terms of several words
_MAX_HEADING_WORDS = 12  # a heading of which all parts count, not just the first


@dataclass(frozen=True, slots=True)
class HeadingMatch:
    """The type of a heading, and what the match rests on."""

    type: str
    exact: bool  # the whole heading is a term
    general: bool  # the term is a word with many meanings


@dataclass(frozen=True)
class Dictionary:
    """Terms with their types; an `extended` one also finds terms in longer headings, and appendices by position."""

    terms: Mapping[str, str]  # for whole headings and whole parts of them
    inner_terms: Mapping[str, str]  # those also searched for inside a part
    rules: HeadingRules
    extended: bool

    def type(self, heading: str) -> str | None:
        """The section type of a heading, or None."""
        match = self.match(heading)
        return match.type if match else None

    def match(self, heading: str) -> HeadingMatch | None:
        """The section type of a heading: the user's rules first, then the whole heading, then what it contains."""
        if len(heading) > MAX_HEADING:
            return None
        term = normalise_heading(heading)
        if term in self.rules.negative:
            return None
        if type := self.rules.positive.get(term):
            return HeadingMatch(type, exact=True, general=False)
        if type := self.terms.get(term):
            return HeadingMatch(type, exact=True, general=term not in self.inner_terms)
        return self._contained(heading) if self.extended else None

    def _contained(self, heading: str) -> HeadingMatch | None:
        candidates = split_heading(heading)
        if sum(len(part.words) for part in candidates) > _MAX_HEADING_WORDS:
            candidates = candidates[:1]
        matches = []
        for number, part in enumerate(candidates):
            match = self._part(part)
            # With many parts, a general term in a later one says nothing about the whole.
            if match and not (match.general and number and len(candidates) > 2):
                matches.append(match)
        # A general term decides only if there is no other.
        return min(matches, key=lambda match: (match.general, _COMPOUND.index(match.type)), default=None)

    def _part(self, part: HeadingPart) -> HeadingMatch | None:
        term = " ".join(part.words)
        if type := self.terms.get(term):
            return HeadingMatch(type, exact=False, general=term not in self.inner_terms)
        if part.subtitle:
            return None
        type = self._head(part.words) or self._anywhere(part.words)
        return HeadingMatch(type, exact=False, general=False) if type else None

    def _head(self, words: Sequence[str]) -> str | None:
        """The type of the longest term at the end of the opening phrase: "detailed experimental setup"."""
        phrase = tuple(takewhile(lambda word: word not in _PHRASE_END, words))
        for start in range(len(phrase) if len(phrase) <= _MAX_PHRASE else 0):
            type = self.inner_terms.get(" ".join(phrase[start:]))
            # "Introduction to X" opens a paper, "A brief introduction to X" is about X.
            if type and not (type == "introduction" and start and len(words) > len(phrase)):
                return type
        return None

    def _anywhere(self, words: Sequence[str]) -> str | None:
        """The type of the longest term of several words anywhere in the part: "comparison with related work"."""
        for length in range(len(words) - 1 if len(words) <= _MAX_PART else 0, 1, -1):
            for start in range(len(words) - length + 1):
                if type := self.inner_terms.get(" ".join(words[start : start + length])):
                    return type
        return None


def dictionary(block: TermBlock = "ours", rules: HeadingRules | None = None) -> Dictionary:
    """The dictionary up to a block: type names only, SCOPE's terms before and after learning, or ours too.

    The user's rules, general terms and contained terms belong to ours. Headings around the argument are in every
    block, because section sequences leave them out whatever the dictionary.
    """
    rules = (rules or HeadingRules()) if block == "ours" else HeadingRules()
    terms = _terms("ours", OUTER_TYPES)
    # Templates have no "result"; SCOPE's dictionary turns it into an experiment.
    terms |= {name: name for name in BODY_TYPES if name != "result"}
    for name in BLOCKS[1 : BLOCKS.index(block) + 1]:
        terms |= _terms(name, SECTION_TYPES)
    terms |= rules.positive
    # A single word taught by the user matches whole headings only.
    general = {normalise_heading(term) for term in _FILE["general"]} | {
        term for term in rules.positive if " " not in term
    }
    inner_terms = {term: type for term, type in terms.items() if term not in general}
    return Dictionary(terms, inner_terms, rules, extended=block == "ours")


def _terms(block: str, types: Sequence[str]) -> dict[str, str]:
    return {normalise_heading(term): type for type, terms in _FILE[block].items() if type in types for term in terms}
