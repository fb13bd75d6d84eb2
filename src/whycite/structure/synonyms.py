"""The synonym dictionary: which section type a heading means (SCOPE 3.1.3, 6.4.1, appendix A.2).

Headings are matched without numbering, case, punctuation or plurals. The user teaches rules in a TOML file.
"""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from platformdirs import user_config_path

from whycite.errors import UserError
from whycite.files import make_folder, write_lines
from whycite.text.tokens import lemma
from whycite.text.wordlists import load_tables

__all__ = [
    "BLOCKS",
    "BODY_TYPES",
    "MAX_HEADING",
    "OUTER_TYPES",
    "SECTION_TYPES",
    "Dictionary",
    "HeadingMatch",
    "HeadingPart",
    "HeadingRules",
    "TermBlock",
    "dictionary",
    "load_rules",
    "normalise_heading",
    "rules_path",
    "save_rules",
    "split_heading",
]

MAX_HEADING = 300  # characters; anything longer is a paragraph that a reader mistook for a heading

_ROMAN = r"(?:X{1,3}(?:IX|IV|V?I{0,3})|IX|IV|VI{0,3}|I{1,3})"
_WRITTEN = r"(?:one|two|three|four|five|six|seven|eight|nine|ten)"
_NUMBERING = re.compile(
    rf"""(?:
        (?i:chapter|section|part|kapitel|chapitre)\s+(?:\d+(?:\.\d+)*|{_ROMAN}|[A-Z]|(?i:{_WRITTEN}))\b
      | [§(\[]?\s?(?:\d+|(?:[A-Z]|{_ROMAN})(?=\.\d))(?:\.\d+)*(?:[a-z](?=[.)])|(?=[A-Z][A-Za-z]{{3}})|(?![\w-]))
      | [(\[]?(?:{_ROMAN}|[A-Z])(?=[.):\]\s])
    )[\s.:)\]–—-]*""",
    re.VERBOSE,
)
_POSSESSIVE = re.compile(r"['’]s\b|['’]")
_AND = re.compile(r"[&+/]")
_BREAK = re.compile(r"[:;.?!()\[\]|–—]|\s-\s")
_WORD = re.compile(r"[^\W_]+|,")
_JOINS = frozenset([",", "and", "und", "et"])
# "The 2 Methods" shows its number only once the article is gone. Rules are stored normalised, so normalising twice
# must change nothing: repeat until stable, at most this often.
_MAX_PASSES = 10
_ARTICLES = frozenset("a an the our this its der die das le la les".split())


@dataclass(frozen=True, slots=True)
class HeadingPart:
    """Words of a heading that belong together; a subtitle comes after a colon, a dash or a full stop."""

    words: tuple[str, ...]
    subtitle: bool


@lru_cache(maxsize=1 << 12)
def normalise_heading(heading: str) -> str:
    """The heading as the dictionary spells it: "2.1 Materials & Methods" is "material and method"."""
    for _ in range(_MAX_PASSES):
        words = _trim([word for word in _words(_strip_numbering(heading)) if word != ","])
        if heading == (heading := " ".join(words)):
            break
    return heading


def split_heading(heading: str) -> list[HeadingPart]:
    """The parts of a heading, separated by "and", a comma, a colon or the like."""
    heading_parts: list[HeadingPart] = []
    for piece in _BREAK.split(_strip_numbering(heading)):
        subtitle = bool(heading_parts)
        heading_parts += [HeadingPart(tuple(words), subtitle) for words in _split(_words(piece))]
    return heading_parts


def _strip_numbering(heading: str) -> str:
    heading = unicodedata.normalize("NFKC", heading[:MAX_HEADING]).strip()
    start = 0
    while numbering := _NUMBERING.match(heading, start):
        start = numbering.end()
    return heading[start:] or heading


def _words(text: str) -> list[str]:
    text = _POSSESSIVE.sub("", _AND.sub(" and ", text.casefold()))
    return [lemma(word) for word in _WORD.findall(text)]


def _split(words: list[str]) -> Iterator[Sequence[str]]:
    part: list[str] = []
    for word in [*words, ","]:
        if word not in _JOINS:
            part.append(word)
        elif part:
            yield _trim(part)
            part = []


def _trim(words: list[str]) -> list[str]:
    """The words without leading articles and without the number of "Experiment 1" or "Appendix B"."""
    start, end = 0, len(words)
    while end - start > 1 and words[start] in _ARTICLES:
        start += 1
    while end - start > 1 and (words[end - 1].isdecimal() or len(words[end - 1]) == 1):
        end -= 1
    return words[start:end]


_NOTE = "# Section headings taught to whycite, by hand or with `whycite structure --learn`.\n"


@dataclass(frozen=True)
class HeadingRules:
    """Headings that mean a type, and headings that mean none; both as `normalise_heading` spells them."""

    positive: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    negative: frozenset[str] = frozenset()

    def accept(self, heading: str, type: str) -> HeadingRules:
        """The rules with one more positive rule, in place of an opposite one."""
        term = normalise_heading(heading)
        return HeadingRules({**self.positive, term: type}, self.negative - {term})

    def reject(self, heading: str) -> HeadingRules:
        """The rules with one more negative rule, in place of an opposite one."""
        term = normalise_heading(heading)
        positive = {positive_term: type for positive_term, type in self.positive.items() if positive_term != term}
        return HeadingRules(positive, self.negative | {term})


def rules_path() -> Path:
    """Where the user's rules are stored."""
    return user_config_path("whycite") / "sections.toml"


def load_rules(path: Path, types: tuple[str, ...]) -> HeadingRules:
    """The rules in a file; none if there is no file."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return HeadingRules()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid TOML: {error}") from error
    return _parse_rules(content, path, types)


def _parse_rules(content: dict[str, Any], path: Path, types: tuple[str, ...]) -> HeadingRules:
    if unknown := sorted(content.keys() - {"positive", "negative"}):
        raise UserError(f"{path}: unknown key '{unknown[0]}'; use 'positive' and 'negative'")
    table = content.get("positive", {})
    if not isinstance(table, dict):
        raise UserError(f"{path}: 'positive' must be a table of section types, each with a list of headings")
    positive: dict[str, str] = {}
    for type, headings in table.items():
        if type not in types:
            raise UserError(f"{path}: unknown section type '{type}'; choose one of: {', '.join(types)}")
        for term in _taught_headings(headings, path, f"positive.{type}"):
            positive[term] = type
    return HeadingRules(positive, frozenset(_taught_headings(content.get("negative", []), path, "negative")))


def _taught_headings(headings: object, path: Path, name: str) -> list[str]:
    if not isinstance(headings, list) or not all(isinstance(heading, str) for heading in headings):
        raise UserError(f"{path}: '{name}' must be a list of quoted headings")
    return [normalise_heading(heading) for heading in headings]


def save_rules(path: Path, rules: HeadingRules) -> None:
    """Write the rules atomically: whatever happens, the file holds the old rules or the new ones."""
    make_folder(path.resolve().parent)
    write_lines(path, [_toml(rules)])


def _toml(rules: HeadingRules) -> str:
    by_type: dict[str, list[str]] = {}
    for term, type in sorted(rules.positive.items()):
        by_type.setdefault(type, []).append(term)
    lines = [f"negative = {_array(sorted(rules.negative))}", "", "[positive]"]
    lines += [f"{_string(type)} = {_array(terms)}" for type, terms in sorted(by_type.items())]
    return _NOTE + "\n".join(lines) + "\n"


def _array(terms: list[str]) -> str:
    return "[" + "".join(f"\n  {_string(term)}," for term in terms) + ("\n]" if terms else "]")


def _string(text: str) -> str:
    # JSON strings are valid TOML strings as long as non-ASCII characters are not escaped.
    return json.dumps(text, ensure_ascii=False)


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
