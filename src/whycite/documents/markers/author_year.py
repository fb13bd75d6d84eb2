"""Author-year citations in plain text: "(Smith et al., 2010; Lee and Kim 2011a,b)", "Smith's (2010)"."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from unicodedata import category

from whycite.documents.model import Marker, Reference
from whycite.text.wordlists import load_word_lists

__all__ = [
    "PARTICLES",
    "AuthorList",
    "AuthorToken",
    "NameIndex",
    "NamedReference",
    "authors_before",
    "find_author_year",
    "fold_name",
    "skip_space_back",
]


_WORDS = load_word_lists(__name__)
PARTICLES = _WORDS["particles"]


_DATE = re.compile(
    r"(?<![\w-])(?:(?P<year>(?:1[5-9]|20)\d\d)"
    r"(?P<suffixes>[a-z](?:(?:\s?(?:[,&–-]|and)\s?[b-z]|,a)(?![\w.]))*)?"
    r"|in press|forthcoming|to appear|in prep(?:aration|\.)|submitted|(?:in|under) review|n\.\s?d\.)"
    r"(?![\w]|[-–]\d)"
)
_ACRONYM = re.compile(r"\[[A-Z][A-Za-z&.-]{1,15}\]$")  # "World Health Organization [WHO], 2015"
_LOCATED = re.compile(
    r"\s?[,:;]\s?(?:pp?\.|pages?|ch\.|chap|chapters?|secs?\.|sect|sections?|§|figs?\.|tab\.|eqs?\.|vol\.)[^()\[\];\n]{1,40}"
    r"|:\s?\d{1,4}(?:\s?[-–]\s?\d{1,4})?(?!\w)"
)
_YEAR_JOINT = re.compile(r"\s?(?:[,;]\s?(?:and|&)?|and|&)\s?")
_NOT_NAMES = _WORDS["not_names"]
_MAX_UNKNOWN_NAMES = 6  # in a citation of an unknown reference; more are a list of something else
_LEAD_WORDS = _WORDS["lead_words"]


@dataclass(frozen=True, slots=True)
class _AuthorCall:
    """One reading of an author list: the first author and the co-authors it names."""

    start: int
    first_author: str
    co_authors: tuple[str, ...]
    et_al: bool


def find_author_year(text: str, index: NameIndex) -> Iterator[Marker]:
    """The author-year citations of a text, one per author-year pair."""
    previous: tuple[int, Sequence[_AuthorCall]] | None = None  # end of the last date, and its authors
    for date in _DATE.finditer(text):
        year = int(date["year"]) if date["year"] else None
        suffixes = _letters(date["suffixes"] or "")
        gap = _authors_end(text, date.start())
        authors = authors_before(text, gap, index) if gap < date.start() else None
        if authors:
            calls = list(_calls(text, authors))
            match = _resolve(index, calls, year, suffixes)
            if match:
                call, keys = match
                previous = date.end(), [call]
                yield Marker(keys, call.start, _marker_end(text, gap, date))
            elif (start := _certain_start(text, authors, gap, date.start())) is not None:
                previous = date.end(), [call for call in calls if call.start >= start]
                yield Marker((), start, _marker_end(text, gap, date))
        elif previous and _YEAR_JOINT.fullmatch(text, previous[0], date.start()):
            match = _resolve(index, previous[1], year, suffixes)
            previous = date.end(), previous[1]
            yield Marker(match[1] if match else (), date.start(), date.end())


def _letters(suffixes: str) -> tuple[str, ...]:
    """The letters of "a,b" or "a–c"."""
    if len(suffixes) > 2 and re.search("[–-]", suffixes) and suffixes[0] < suffixes[-1]:
        return tuple(map(chr, range(ord(suffixes[0]), ord(suffixes[-1]) + 1)))
    return tuple(letter for letter in re.sub(r"\band\b", " ", suffixes) if letter.isalpha())


def _authors_end(text: str, position: int) -> int:
    """Where the author list before a date ends: before ", ", " (" or " "."""
    position = skip_space_back(text, position)
    if position and text[position - 1] in "([":
        position = skip_space_back(text, position - 1)
    if position and text[position - 1] == ",":
        position = skip_space_back(text, position - 1)
    if position and text[position - 1] == "]" and (acronym := _ACRONYM.search(text[max(0, position - 20) : position])):
        position = skip_space_back(text, position - len(acronym[0]))
    return position


def _calls(text: str, authors: AuthorList) -> Iterator[_AuthorCall]:
    """The readings of an author list, from its first word or from a later one."""
    tokens = authors.tokens
    for index, token in enumerate(tokens):
        if token.kind in ("comma", "link"):
            continue
        names = list(_names(text, tokens[index:]))
        # In "Smith and Lee", Lee alone is not an author list; in "see Methods and Lee et al." it is.
        alone = len(names) == 1 and not authors.et_al
        if names and not (alone and index and tokens[index - 1].kind == "link"):
            yield _AuthorCall(token.start, names[0], tuple(names[1:]), authors.et_al)
        if len(names) > 1:  # an organisation with "and" in its name
            yield _AuthorCall(token.start, fold_name(text[token.start : tokens[-1].end]), (), authors.et_al)


def _names(text: str, tokens: Sequence[AuthorToken]) -> Iterator[str]:
    """The folded names between the separators, without initials."""
    words: list[str] = []
    for token in tokens:
        if token.kind == "name":
            words.append(text[token.start : token.end])
        elif words and token.kind in ("comma", "link"):
            yield fold_name("".join(words))
            words = []
    if words:
        yield fold_name("".join(words))


def _resolve(
    index: NameIndex, calls: Sequence[_AuthorCall], year: int | None, suffixes: tuple[str, ...]
) -> tuple[_AuthorCall, tuple[str, ...]] | None:
    """The best reading of an author list, and the references it means with this date; None if there are none."""
    for candidate_year in (year, year + 1, year - 1) if year else (None,):
        best: tuple[int, _AuthorCall, list[NamedReference]] | None = None
        for call in calls:
            if candidate_year != year and not (call.et_al or call.co_authors):
                continue  # a preprint may differ by a year, but then a single name is not enough
            scored = [
                (score, entry)
                for entry in index.find(call.first_author, candidate_year)
                if (score := _fit(call, entry))
            ]
            top = max((score for score, _ in scored), default=0)
            if top > (best[0] if best else 0):
                best = top, call, [entry for score, entry in scored if score == top]
        if best:
            keys = _keys_by_letter(best[2], suffixes)
            return (best[1], keys) if keys else None
    return None


def _fit(call: _AuthorCall, entry: NamedReference) -> int:
    """How well a reference matches an author list; 0 if not at all.

    4 for the first author, 2 more for the exact name, 1 per co-author; then more or less by how the numbers agree.
    """
    score = 4 + 2 * (entry.families[0] == call.first_author)
    families = entry.families[1:]
    for name, family in zip(call.co_authors, families, strict=False):
        if name != family and not family.endswith(name) and not name.endswith(family):
            return 0
        score += 1
    if call.et_al:  # usually stands for at least two more
        return score - 1 + min(2, max(0, len(families) - len(call.co_authors)))
    if len(call.co_authors) > len(families):
        return 0
    return score + 1 - 2 * (len(families) > len(call.co_authors))


def _keys_by_letter(entries: Sequence[NamedReference], suffixes: tuple[str, ...]) -> tuple[str, ...]:
    """The references selected by the letters after the year: by printed letter, or else by order."""
    if not suffixes:
        plain = [entry for entry in entries if not entry.suffix] or entries
        return (plain[0].id,)
    printed = {entry.suffix: entry.id for entry in entries if entry.suffix}
    keys = []
    for letter in suffixes:
        order = ord(letter) - ord("a")
        if letter in printed:
            keys.append(printed[letter])
        elif not printed and order < len(entries):
            keys.append(entries[order].id)
    return tuple(keys) if keys or printed else (entries[0].id,)


def _certain_start(text: str, authors: AuthorList, gap: int, date: int) -> int | None:
    """Where a citation of an unknown reference begins, or None if it may not be one."""
    tokens = authors.tokens
    narrative = text[gap:date].rstrip().endswith(("(", "["))
    joined = authors.et_al or any(token.kind == "link" for token in tokens)
    names = [text[token.start : token.end] for token in tokens if token.kind == "name"]
    if len(names) > _MAX_UNKNOWN_NAMES or any(name.lower() in _NOT_NAMES for name in names):
        return None
    if narrative:
        return _last_author(tokens) if authors.et_al else None
    if not (joined or "," in text[gap:date]):
        return None
    position = skip_space_back(text, tokens[0].start)
    while (word := re.search(r"(?<!\w)[a-z.]+,?$", text[max(0, position - 12) : position])) and word[0].rstrip(
        ","
    ) in _LEAD_WORDS:
        position = skip_space_back(text, position - len(word[0]))
    return tokens[0].start if position and text[position - 1] in "([;" else None


def _last_author(tokens: Sequence[AuthorToken]) -> int:
    """Where the name before "et al." begins, with its particles."""
    index = len(tokens) - 1
    while index and tokens[index - 1].kind == "name":
        index -= 1
    return tokens[index].start


def _marker_end(text: str, gap: int, date: re.Match[str]) -> int:
    """The end of a citation with its page, and the bracket if that contains no more: "Smith (2010, p. 3)"."""
    closes = {"(": ")", "[": "]"}.get(text[gap : date.start()].rstrip()[-1:], "")
    located = _LOCATED.match(text, date.end())
    # "(Smith, 2010, p. 3; Lee, 2011)": the page ends with the bracket or where another citation begins.
    end = located.end() if located and text.startswith(closes or (")", "]", ";"), located.end()) else date.end()
    return end + bool(closes and text.startswith(closes, end))


_ET_AL = re.compile(r"(?:\bet\.?\s?al(?:ii|ia)?\.?|\band\s(?:colleagues|co-?workers|others|associates))['’]?s?$")
_LINKS = frozenset(["and", "&", "und", "et"])
_ORGANISATION_WORDS = frozenset(["of", "the", "for", "on"])  # inside the names of organisations
_MAX_TOKENS = 24  # words and separators of an author list; longer ones are shortened to "et al."
_MAX_WORD = 60  # characters of a word
_MAX_ET_AL = 24  # characters of "and colleagues" and the like


@dataclass(frozen=True, slots=True)
class AuthorToken:
    """A piece of an author list."""

    start: int
    end: int
    kind: str  # "name", "initial", "link" (and, &), "comma"


@dataclass(frozen=True, slots=True)
class AuthorList:
    """An author list as it is in the text."""

    tokens: Sequence[AuthorToken]  # in reading order, the last one a name
    et_al: bool


def skip_space_back(text: str, position: int) -> int:
    """The position before up to three white-space characters; a blank line does not occur in a citation."""
    for _ in range(3):
        if position and text[position - 1].isspace():
            position -= 1
    return position


def authors_before(text: str, position: int, index: NameIndex) -> AuthorList | None:
    """The author list that ends at a position, or None."""
    tail = _ET_AL.search(text, max(0, position - _MAX_ET_AL), position)
    if tail:
        position = skip_space_back(text, tail.start())
        position -= position > 0 and text[position - 1] == ","
    elif text[max(0, position - 2) : position] in ("'s", "’s"):
        position -= 2
    elif position and text[position - 1] in "'’":
        position -= 1
    tokens = list(_tokens_before(text, position))[::-1] or list(_known_name(text, position, index))
    while tokens and tokens[0].kind != "name":
        tokens.pop(0)
    while tokens and tokens[-1].kind in ("comma", "link"):
        tokens.pop()
    return AuthorList(tokens, tail is not None) if any(token.kind == "name" for token in tokens) else None


def _tokens_before(text: str, position: int) -> Iterator[AuthorToken]:
    """The words and separators of an author list before a position, last first."""
    for _ in range(_MAX_TOKENS):
        end = skip_space_back(text, position)
        if not end:
            return
        character = text[end - 1]
        if character in ",&":
            position = end - 1
            yield AuthorToken(position, end, "comma" if character == "," else "link")
        elif character == "." and end > 1 and text[end - 2].isupper() and not text[end - 3 : end - 2].isalpha():
            position = end - 2
            yield AuthorToken(position, end, "initial")
        elif _in_word(character):
            position = end
            while position and end - position < _MAX_WORD and _in_word(text[position - 1]):
                position -= 1
            word = text[position:end]
            if word in _LINKS:
                yield AuthorToken(position, end, "link")
            elif _is_name(word):
                yield AuthorToken(position, end, "initial" if len(word) < 3 and word.isupper() else "name")
            else:
                return
        else:
            return


def _known_name(text: str, position: int, index: NameIndex) -> Iterator[AuthorToken]:
    """A known name that does not look like one: "pandas development team", "some-lab"."""
    end = position
    longer: Collection[str] = ()
    for _ in range(_MAX_TOKENS):
        start = position
        while start and position - start < _MAX_WORD and _in_word(text[start - 1]):
            start -= 1
        name = fold_name(text[start:end])
        if position == end:
            longer = index.ending(name)
        if name in longer or (position == end and len(name) > 5 and index.knows(name)):
            yield AuthorToken(start, end, "name")
            return
        position = skip_space_back(text, start)
        if start == position or not longer:
            return


def _in_word(character: str) -> bool:
    return character.isalpha() or character in "-'’‐′" or category(character) == "Mn"


def _is_name(word: str) -> bool:
    return any(map(str.isupper, word)) or not word.isascii() or word in PARTICLES or word in _ORGANISATION_WORDS


_YEAR = re.compile(r"(?<!\d)((?:1[5-9]|20)\d\d)([a-z]?)(?![\dA-Za-z])")
_UNDATED = re.compile(r"in press|forthcoming|to appear|in prep|submitted|under review|in review|n\.d\.", re.I)
_FOREIGN = str.maketrans({"ø": "o", "œ": "oe", "æ": "ae", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})
_SMALL_WORDS = frozenset("of the for and on in & to".split())
_MAX_PRINTED = 2000  # characters of a printed entry that are searched for a year
_MAX_AUTHORS = 30  # of a reference that are compared
_MAX_MATCHES = 64  # references with one name and year that are compared; more cannot be distinguished
_MAX_PRINTED_NAME = 80  # characters of an entry that may be its first name


def fold_name(text: str) -> str:
    """Only letters and digits, without case and accents, so that spellings of one name are equal."""
    if "Ã" in text:  # UTF-8 read as Latin-1, common in reference lists
        text = text.encode("latin-1", "replace").decode("utf-8", "replace")
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_FOREIGN))
    return "".join(character for character in plain if character.isalnum())


@dataclass(frozen=True, slots=True)
class NamedReference:
    """A reference as an author-year citation sees it; `families` are folded."""

    id: str
    families: tuple[str, ...]
    year: int | None
    suffix: str  # the letter printed after the year


class NameIndex:
    """Finds references by first author's family name and year."""

    def __init__(self, references: Iterable[Reference]) -> None:
        self._entries: defaultdict[tuple[str, int | None], list[NamedReference]] = defaultdict(list)
        self._long_names: defaultdict[str, set[str]] = defaultdict(set)
        self._names: set[str] = set()
        for reference in references:
            families = [_family(author) for author in reference.authors or _printed_authors(reference.text)]
            words = families[0].split() if families else []
            names = _call_names(words)
            entry = _named_reference(reference, families)
            undated = entry.year is not None and _UNDATED.search(reference.text[:_MAX_PRINTED])
            self._names |= names
            if len(words) > 2:
                self._long_names[fold_name(words[-1])].add(fold_name("".join(words)))
            for name in names:
                self._entries[name, entry.year].append(entry)
                if undated:
                    self._entries[name, None].append(entry)

    def find(self, name: str, year: int | None) -> Sequence[NamedReference]:
        """The references whose first author is called `name` (folded), in the order of the list."""
        return self._entries.get((name, year), [])[:_MAX_MATCHES]

    def knows(self, name: str) -> bool:
        """Whether any first author is called `name` (folded)."""
        return name in self._names

    def ending(self, word: str) -> Collection[str]:
        """The folded names of several words that end with `word` (folded)."""
        return self._long_names.get(word, ())


def _named_reference(reference: Reference, families: Sequence[str]) -> NamedReference:
    year, suffix = reference.year, ""
    for match in _YEAR.finditer(reference.text[:_MAX_PRINTED]):
        if year in (None, int(match[1])):
            year, suffix = int(match[1]), suffix or match[2]
    return NamedReference(reference.id, tuple(fold_name(family) for family in families[:_MAX_AUTHORS]), year, suffix)


def _printed_authors(text: str) -> tuple[str, ...]:
    """The first name in an entry that has not been parsed."""
    head = text[:_MAX_PRINTED_NAME].lstrip(" \"'[(")
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


def _call_names(words: Sequence[str]) -> set[str]:
    """How a text may shorten a name: complete, without particles, its last word, an organisation's initials."""
    bare = [word for word in words if word.lower() not in PARTICLES] or words
    names = {fold_name("".join(words)), fold_name("".join(bare)), fold_name("".join(bare[-1:]))}
    weighty = [word for word in words if word.lower() not in _SMALL_WORDS]
    if len(weighty) > 2:
        names.add(fold_name("".join(word[0] for word in weighty)))
    return names - {""}
