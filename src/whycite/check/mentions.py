"""What a sentence mentions without citing it: authors by name, and works of the draft's bibliography by title."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from whycite.check.memory import once_per_bibliography
from whycite.documents.model import Document, Reference, Sentence
from whycite.text.tokens import fold
from whycite.text.wordlists import FUNCTION_WORDS, load_word_lists

__all__ = ["REPORTING_VERBS", "AuthorMention", "BibliographyMentions"]

_WORDS = load_word_lists(__name__)
REPORTING_VERBS = _WORDS["reporting"]
"""Verbs by which others are reported, in the forms in which they are met."""

_PARTICLES = "|".join(sorted(_WORDS["particles"]))
_REPORTING = "|".join(sorted(REPORTING_VERBS))

# Bounded, so that matching takes linear time.
_NAME = rf"\b(?:(?:{_PARTICLES})\s){{0,3}}[^\W\d_a-z][\w'’-]{{0,40}}[^\W\d_]\b"
_NAMES = rf"{_NAME}(?:(?:,? and |,? & |, ){_NAME}){{0,8}}"
_YEAR = r"(?:1[6-9]|20)\d\d[a-z]?"
_OTHERS = re.compile(
    rf"(?P<names>{_NAME}),? "
    r"(?:et\.? al\b\.?|(?:and|&) (?:(?:his|her|their) )?(?:colleagues|co-?workers|collaborators)\b)"
    rf"(?:['’]s)?(?:,? ?[(\[]?(?P<year>{_YEAR})\b)?"
)
_AUTHOR_YEAR = re.compile(
    rf"(?P<before>\b(?:by|see|following|[Aa]ccording to) )?(?P<names>{_NAMES})(?:['’]s?)? "
    rf"[(\[](?P<year>{_YEAR})[)\],;:](?P<verb> (?:{_REPORTING})\b)?"
)
_IN_BRACKETS = re.compile(rf"[(\[](?:see |e\.g\.,? |cf\.? |also )*(?P<names>{_NAMES}),? (?P<year>{_YEAR})[)\],;:]")
# A name alone, beside what only a person does. It is an author's if the bibliography has one of that name.
_BARE_NAMES = re.compile(
    rf"(?<!\b[Tt]he )(?P<names>{_NAMES})(?: (?:himself|herself|themselves|also|first|later|\w+ly))?"
    rf" (?:{_REPORTING}|{'|'.join(sorted(_WORDS['thinking']))})\b(?! by\b)"
    rf"|\b[Aa]ccording to (?P<source>{_NAMES})(?![\w-])"
)
_NAME_LISTS = re.compile(_NAMES)
_MIN_BARE_NAME = 3  # letters; shorter names are too often something else
_SEPARATOR = re.compile(r",? and |,? & |, ")


@dataclass(frozen=True, slots=True)
class AuthorMention:
    """Authors that a sentence names, and the year if it gives one."""

    families: frozenset[str]  # folded for comparison
    year: str


class BibliographyMentions:
    """The authors and titles of a draft's bibliography, and where its sentences cite them."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def names_author(self, text: str, index: int, sentence: Sentence) -> bool:
        """Whether a text names an author without a citation: with a year, or for the first time.

        `index` is the place of its sentence; citations of the same work count that stand in `sentence` itself.
        """
        for mention in self._author_mentions(text):
            families = mention.families
            if any(families & self._families_of(key) for key in sentence.cited_keys):
                continue
            if mention.year or not any(self._cited_before(family, index) for family in families):
                return True
        return any(
            self._is_first_mention(families, index, sentence)
            for families in (*self._bare_names(text), *self._author_lists(text))
        )

    def _bare_names(self, text: str) -> Iterator[frozenset[str]]:
        """The family names of authors of the bibliography that a text says something of: "Hymes argued that"."""
        for match in _BARE_NAMES.finditer(text):
            names = _SEPARATOR.split(match["names"] or match["source"])
            while names and _folded_name(names[0]) not in self._families:
                names = names[1:]  # "In New Jersey, Card and Krueger found"
            families = frozenset(map(_folded_name, names))
            if families and families <= self._families and not any(map(_is_doubtful_name, names)):
                yield families

    def _author_lists(self, text: str) -> Iterator[frozenset[str]]:
        """The authors of an entry, all of them and at least two: "the estimator of Callaway and Sant'Anna"."""
        for match in _NAME_LISTS.finditer(text):
            families = [_folded_name(name) for name in _SEPARATOR.split(match[0])]
            for start in range(len(families) - 1):
                if (authors := tuple(families[start:])) in self._joint_authors:
                    yield frozenset(authors)

    def _is_first_mention(self, families: frozenset[str], index: int, sentence: Sentence) -> bool:
        """Whether none of the authors was cited before, nor is cited in the same paragraph."""
        if any(self._cited_before(family, index) for family in families):
            return False
        keys = [reference.id for reference in self._document.references if families & _families(reference)]
        return not any(self._is_cited_by(key, index, sentence) for key in keys)

    def _author_mentions(self, text: str) -> Iterator[AuthorMention]:
        for match in _OTHERS.finditer(text):
            if match["names"] not in _WORDS["not_names"]:
                yield _mention(match)
        for match in _IN_BRACKETS.finditer(text):
            mention = _mention(match)
            if mention.families & self._families or len(mention.families) > 1:
                yield mention
        for match in _AUTHOR_YEAR.finditer(text):
            mention = _mention(match)
            stated = match["before"] or match["verb"]
            if mention.families & self._families or (stated and not _WORDS["not_names"] & set(match["names"].split())):
                yield mention

    def _cited_before(self, family: str, index: int) -> bool:
        """Whether an earlier sentence cites this author, by the entry or, without one, by the key."""
        return self._first_citations.get(family, index) < index or any(
            family in key and first < index for key, first in self._first_unknown_keys.items()
        )

    def names_entry(self, text: str, index: int, sentence: Sentence) -> bool:
        """Whether a text is the first to name a tool or data set of the bibliography, which nothing cited before it.

        A citation in the same paragraph is enough.
        """
        for match in self._entry_pattern.finditer(text):
            name = match[0]
            if _is_plain(name) and not text[: match.start()].strip(" “‘\"'(["):
                continue  # any word has a capital there
            keys = self._entry_names[name]
            if self._first_mentions[name] < index or any(self._is_cited_by(key, index, sentence) for key in keys):
                continue
            return True
        return False

    def _is_cited_by(self, key: str, index: int, sentence: Sentence) -> bool:
        if key in sentence.cited_keys:
            return True
        places = [place for place in self._citing_sentences.get(key, ()) if place != index]
        paragraph = sentence.paragraph
        return any(place < index or self._document.sentences[place].paragraph == paragraph for place in places)

    # -- the bibliography --------------------------------------------------

    @cached_property
    def _families(self) -> frozenset[str]:
        return frozenset(family for reference in self._document.references for family in _families(reference))

    @cached_property
    def _joint_authors(self) -> frozenset[tuple[str, ...]]:
        """The authors of each entry that has several."""
        authors = (tuple(map(_family, reference.authors)) for reference in self._document.references)
        return frozenset(names for names in authors if len(names) > 1 and all(names))

    def _families_of(self, key: str) -> frozenset[str]:
        reference = self._document.by_id.get(key)
        return _families(reference) if reference else frozenset()

    @cached_property
    def _citing_sentences(self) -> dict[str, list[int]]:
        """The sentences in running text that cite each key."""
        places: dict[str, list[int]] = defaultdict(list)
        for index, sentence in enumerate(self._document.sentences):
            for key in sentence.cited_keys if sentence.kind in ("prose", "footnote") else ():
                places[key].append(index)
        return dict(places)

    @cached_property
    def _first_citations(self) -> dict[str, int]:
        """The first sentence that cites each family name."""
        first_citations: dict[str, int] = {}
        for key, places in self._citing_sentences.items():
            for family in self._families_of(key):
                first_citations[family] = min(first_citations.get(family, places[0]), places[0])
        return first_citations

    @cached_property
    def _first_unknown_keys(self) -> dict[str, int]:
        """The first sentence that cites each key without an entry, the key in small letters."""
        return {fold(key): places[0] for key, places in self._citing_sentences.items() if not self._families_of(key)}

    @cached_property
    def _entry_names(self) -> dict[str, list[str]]:
        """The keys of entries by the names of their tools or data sets."""
        names: dict[str, list[str]] = defaultdict(list)
        for reference, name in zip(self._document.references, _tool_names(self._document.references), strict=True):
            if name and name not in self._document.paper.title:
                names[name].append(reference.id)
        return {name: keys for name, keys in names.items() if not _is_plain(name) or self._is_only_name(name, keys)}

    def _is_only_name(self, name: str, keys: Sequence[str]) -> bool:
        """Whether a capitalised word is neither the author of another entry nor a word that the draft uses as such."""
        other_entries = (reference for reference in self._document.references if reference.id not in keys)
        is_author = any(fold(name) in _families(reference) for reference in other_entries)
        return not is_author and (name.islower() or not re.search(rf"\b{re.escape(name.lower())}\b", self._text))

    @cached_property
    def _text(self) -> str:
        return " ".join(sentence.text for sentence in self._document.sentences)

    @cached_property
    def _entry_pattern(self) -> re.Pattern[str]:
        names = sorted(self._entry_names, key=len, reverse=True)
        return re.compile(
            rf"(?<![\w.@/-])(?:{'|'.join(map(re.escape, names))})(?![\w/-]| [A-Z][a-z])" if names else r"(?!)"
        )

    @cached_property
    def _first_mentions(self) -> dict[str, int]:
        """The first sentence of prose outside the abstract that has each name."""
        first_mentions: dict[str, int] = {}
        for index, sentence in enumerate(self._document.sentences):
            if sentence.kind == "prose" and self._document.sections[sentence.section].type != "abstract":
                for match in self._entry_pattern.finditer(sentence.text):
                    first_mentions.setdefault(match[0], index)
        return defaultdict(lambda: len(self._document.sentences), first_mentions)


def _mention(match: re.Match[str]) -> AuthorMention:
    return AuthorMention(frozenset(map(_folded_name, _SEPARATOR.split(match["names"]))), match["year"] or "")


def _is_doubtful_name(name: str) -> bool:
    """Whether a name without a year may be something else: an abbreviation, a word, the owner in "Kim's claim"."""
    is_word = len(name) < _MIN_BARE_NAME or name.lower() in FUNCTION_WORDS
    return is_word or name.isupper() or name.endswith(("'s", "’s"))


def _folded_name(name: str) -> str:
    return fold(name).removesuffix("'s")


def _families(reference: Reference) -> frozenset[str]:
    """The family names of a reference's authors, folded for comparison."""
    return frozenset(map(_family, reference.authors)) - {""}


def _family(author: str) -> str:
    return fold(author.partition(",")[0] if "," in author else author.rpartition(" ")[2])


_MAX_NAME_WORDS = 3
_WORD = re.compile(r"[^\W_]+")


@once_per_bibliography
def _tool_names(references: Sequence[Reference]) -> list[str]:
    return [_tool_name(reference.title) for reference in references]


def _tool_name(title: str) -> str:
    """The name that a title consists of or begins with: "Prefect", "PyTorch: An imperative style library"; or ""."""
    title = " ".join(title.split())
    name, colon, description = title.partition(": ")
    words = name.split()
    if not 0 < len(words) <= _MAX_NAME_WORDS or len(name) < 3 or not all(word[0].isalnum() for word in words):
        return ""
    says_tool = bool(_WORDS["tools"] & set(map(str.lower, _WORD.findall(description))))
    if colon:
        return name if says_tool or _is_mixed(name) else ""
    return name if all(word[0].isupper() or _is_mixed(word) for word in words) else ""


def _is_mixed(name: str) -> bool:
    """Whether capitals stand where ordinary words and abbreviations have none: "PyTorch", "BioDWH"."""
    return any(sign.isupper() for sign in name[1:]) and any(map(str.islower, name)) and " " not in name


def _is_plain(name: str) -> bool:
    """Whether a name looks like an ordinary word with a capital."""
    return all(word[1:].islower() or not word[1:] for word in name.split())
