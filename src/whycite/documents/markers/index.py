"""References by the family names and years that author-year citations call them by."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from whycite.documents.model import Reference

__all__ = ["PARTICLES", "Entry", "NameIndex", "fold"]

PARTICLES = frozenset(
    "von van vom vander vanden der den de del della delle degli dei des di da dal das do dos du la le les lo "
    "los el al ter ten te tot ibn bin ben bint abu abd zu zum zur af av st 't y e i".split()
)
_YEAR = re.compile(r"(?<!\d)((?:1[5-9]|20)\d\d)([a-z]?)(?![\dA-Za-z])")
_UNDATED = re.compile(r"in press|forthcoming|to appear|in prep|submitted|under review|in review|n\.d\.", re.I)
_FOREIGN = str.maketrans({"ø": "o", "œ": "oe", "æ": "ae", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})
_SMALL = frozenset("of the for and on in & to".split())
_PRINTED = 2000  # characters of a printed entry that are looked at
_AUTHORS = 30
_MOST = 64  # references of one name and year that are looked at: more are never told apart


def fold(text: str) -> str:
    """Letters and digits alone, without case and accents, so that spellings of one name are equal."""
    if "Ã" in text:  # UTF-8 once read as Latin-1: common in reference lists
        text = text.encode("latin-1", "replace").decode("utf-8", "replace")
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_FOREIGN))
    return "".join(character for character in plain if character.isalnum())


@dataclass(frozen=True, slots=True)
class Entry:
    """A reference as an author-year citation sees it; `families` are folded."""

    id: str
    families: tuple[str, ...]
    year: int | None
    suffix: str  # the letter printed after the year


class NameIndex:
    """Finds references by the first author's family name and the year."""

    def __init__(self, references: Iterable[Reference]) -> None:
        self._entries: defaultdict[tuple[str, int | None], list[Entry]] = defaultdict(list)
        self._longer: defaultdict[str, set[str]] = defaultdict(set)
        self._names: set[str] = set()
        for reference in references:
            families = [_family(author) for author in reference.authors or _printed_authors(reference.text)]
            words = families[0].split() if families else []
            names = _called(words)
            entry = _entry(reference, families)
            undated = entry.year is not None and _UNDATED.search(reference.text[:_PRINTED])
            self._names |= names
            if len(words) > 2:
                self._longer[fold(words[-1])].add(fold("".join(words)))
            for name in names:
                self._entries[name, entry.year].append(entry)
                if undated:
                    self._entries[name, None].append(entry)

    def find(self, name: str, year: int | None) -> Sequence[Entry]:
        """The references whose first author is called `name` (folded), in the order of the list."""
        return self._entries.get((name, year), [])[:_MOST]

    def knows(self, name: str) -> bool:
        """Whether any first author is called `name` (folded)."""
        return name in self._names

    def ending(self, word: str) -> Collection[str]:
        """The folded names of several words that end with `word` (folded)."""
        return self._longer.get(word, ())


def _entry(reference: Reference, families: Sequence[str]) -> Entry:
    year, suffix = reference.year, ""
    for match in _YEAR.finditer(reference.text[:_PRINTED]):
        if year in (None, int(match[1])):
            year, suffix = int(match[1]), suffix or match[2]
    return Entry(reference.id, tuple(fold(family) for family in families[:_AUTHORS]), year, suffix)


def _printed_authors(text: str) -> tuple[str, ...]:
    """The first name of an entry that nobody took apart."""
    head = text[:80].lstrip(" \"'[(")
    return (re.split(r"[,.(;:]", head, maxsplit=1)[0],) if head else ()


def _family(author: str) -> str:
    """The family name of "Family, Given" or "Family GH"; other names whole."""
    if "," in author:
        return author.split(",", 1)[0]
    words = author.split()
    while len(words) > 1 and _are_initials(words[-1]):
        words.pop()
    while len(words) > 1 and words[0].endswith(".") and _are_initials(words[0]):
        words.pop(0)
    return " ".join(words)


def _are_initials(word: str) -> bool:
    letters = word.replace(".", "").replace("-", "")
    return len(letters) < 5 and letters.isupper()


def _called(words: Sequence[str]) -> set[str]:
    """What a text may call a name: whole, without particles, its last word, an organisation's initials."""
    bare = [word for word in words if word.lower() not in PARTICLES] or words
    names = {fold("".join(words)), fold("".join(bare)), fold("".join(bare[-1:]))}
    weighty = [word for word in words if word.lower() not in _SMALL]
    if len(weighty) > 2:
        names.add(fold("".join(word[0] for word in weighty)))
    return names - {""}
