"""Citation groups: citations side by side as one, and the text of the sentence around them (ILCiteR, 5.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from whycite.documents.model import Citation, Document, Sentence
from whycite.evidence.marks import HELD, MARK, NAMED, marked
from whycite.text.normalise import fold

__all__ = ["Cut", "Group", "cut", "joined"]

_BETWEEN = " ,;/&+–—-"  # what may stand between the citations of one group, beside "and" and "or"
_TAIL = 200  # how far back the names of a citation may begin
_AND_OTHERS = re.compile(r"(?:,? et al\.?|,? (?:and|&) (?:(?:his|her|their) )?(?:colleagues|co-?workers))[’']?s?,?$")
_NAME = re.compile(r"[^\W\d_a-z][\w.’'-]*$")
_AND = re.compile(r"(?:,? (?:and|&)|,)$")
_POSSESSIVE = re.compile(r"\s*[’']s?(?=\s)")
_CLOSING = frozenset(",;:.!?)]}%’”")


@dataclass(frozen=True, slots=True)
class Group:
    """Citations side by side: the references they point at, and the range they take in the source."""

    keys: tuple[str, ...]
    start: int
    end: int
    named: bool  # part of the running text: "Doe et al. (2010) showed"
    held: bool  # in round brackets


@dataclass(frozen=True, slots=True)
class Cut:
    """A sentence cut at its groups: one text more than groups, `texts[i]` stands before `groups[i]`."""

    texts: tuple[str, ...]
    groups: tuple[Group, ...]


def cut(sentence: Sentence, document: Document) -> Cut:
    """The sentence cut at its citation groups, markers and their brackets left out.

    Citations are side by side when nothing stands between them but brackets, the signs , ; / & + and dashes, "and" or
    "or"; within one bracket also words that lead to a citation ("see", "e.g.", "reviewed in"), labels ("Figure 2") and
    markers that were not linked. The names in front of a marker belong to it: "Doe et al. [3]".
    """
    texts: list[str] = []
    groups: list[Group] = []
    for text, signs, citations in _runs(sentence):
        named, held = NAMED in signs, HELD in signs
        if groups:
            text = _POSSESSIVE.sub("", text, count=1) if _POSSESSIVE.match(text) else text
        if signs:
            shorter = text[: _without_names(text.rstrip(), citations, document)]
            if len(shorter) < len(text.rstrip()):
                text, named = shorter, True
            groups.append(_group(citations, named, held and not named))
        texts.append(" ".join(text.split()))
    return Cut(tuple(texts), tuple(groups))


def joined(texts: Iterable[str]) -> str:
    """The texts around groups as one, without the gaps and doubled signs that the groups leave."""
    parts: list[str] = []
    for text in texts:
        text = text.strip()
        while parts and text and parts[-1][-1] in "([" and text[0] in ")],;":
            if text[0] in ")]":
                _shorten(parts)
            text = text[1:].lstrip()
        if text[:1] in (",", ";", ":", ".", "!", "?", ")", "]"):
            while parts and parts[-1][-1] in ",;:":
                _shorten(parts)
            if parts and parts[-1][-1] in ".!?" and text[0] not in ")]":
                text = text[1:].lstrip()
        if text:
            spaced = parts and text[0] not in _CLOSING and parts[-1][-1] not in "([{"
            parts.append(f" {text}" if spaced else text)
    return "".join(parts)


def _shorten(parts: list[str]) -> None:
    """Take the last character off, and the white space before it."""
    parts[-1] = parts[-1][:-1].rstrip()
    if not parts[-1]:
        parts.pop()


def _runs(sentence: Sentence) -> Iterator[tuple[str, str, list[Citation]]]:
    """Each text with the signs and citations of the group behind it; the last has none."""
    citations = iter(sorted(sentence.citations, key=lambda citation: citation.text_start))
    text = marked(sentence)
    at = 0
    before, signs = "", ""
    group: list[Citation] = []
    for sign in MARK.finditer(text):
        between = text[at : sign.start()]
        if not signs or between.strip(_BETWEEN) not in ("", "and", "or"):
            if signs:
                yield before, signs, group
            before, signs, group = between, "", []
        signs += sign[0]
        group.append(next(citations))
        at = sign.end()
    if signs:
        yield before, signs, group
    yield text[at:], "", []


def _group(citations: list[Citation], named: bool, held: bool) -> Group:
    linked = [citation for citation in citations if citation.keys] or citations
    return Group(
        keys=tuple(dict.fromkeys(key for citation in citations for key in citation.keys)),
        start=min(citation.start for citation in linked),
        end=max(citation.end for citation in linked),
        named=named,
        held=held,
    )


def _without_names(text: str, citations: list[Citation], document: Document) -> int:
    """Where the names of the cited authors begin at the end of the text: "as Doe, Roe and Poe"; its end if none do."""
    low = max(0, len(text) - _TAIL)
    tail = text[low:]
    others = _AND_OTHERS.search(tail)
    name = _NAME.search(tail[: others.start()] if others else tail)
    if name is None:
        return len(text)
    families = _families(citations, document)
    at = name.start() if others else len(tail)  # whoever it is, "et al." says that it is a name
    while (start := _name(tail[:at].rstrip(), families, first=at == len(tail))) is not None:
        at = start
    return low + at


def _name(text: str, families: frozenset[str], first: bool) -> int | None:
    """Where a family name that ends the text begins, one that others follow with its "and": "van der Loos, Doe and"."""
    link = None if first else _AND.search(text)
    text = text[: link.start()] if link else text
    start = len(text)
    for _ in range(4):
        start = text.rfind(" ", 0, max(start, 0))
        name = fold(text[start + 1 :])
        if name.removesuffix("'s") in families:
            return start + 1
        if start < 0:
            break
    return None


def _families(citations: list[Citation], document: Document) -> frozenset[str]:
    """The family names of the cited authors, as names are compared."""
    found = (document.by_id.get(key) for citation in citations for key in citation.keys)
    authors = (author for reference in found if reference is not None for author in reference.authors)
    return frozenset(fold(author.partition(",")[0]) for author in authors) - {""}
