"""People's names in one form, "Family, Given", from BibTeX and printed author lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whycite.text.accents import untex
from whycite.text.wordlists import load_tables

__all__ = ["is_institution", "names_others", "parse_people", "person"]

# Inside braces, BibTeX treats spaces and commas as letters; these characters replace them meanwhile.
_SPACE, _COMMA = "\ue000", "\ue001"
_UNPROTECT = str.maketrans({_SPACE: " ", _COMMA: ","})

_AND = re.compile(r"(?<= )(?:and|AND|&)(?= )")  # "And" is a name
_OTHERS = re.compile(r"(?:\bet\.? al\b|\band others\b|\bothers\b|…|\.\.\.)[.\s]*$", re.IGNORECASE)
# Not the last word of a name in braces: "{The Medicine Editors}".
_EDITORS = re.compile(rf"(?:\((?:eds?|editors?)\b\.?\)|(?<!{_SPACE})\b(?:eds?\.|editors?))[.\s]*$", re.IGNORECASE)
_TAIL = 40  # characters at the end that are searched for "et al." and "(Eds.)"
_INITIALS = re.compile(r"(?:[^\W\d_]{1,2}\.[-‐]?)+[^\W\d_]?|[^\W\d_]{1,3}|[^\W\d_][-‐][^\W\d_]")
_GLUED = re.compile(r"(?<=[^\W\d_a-z])\.(?=[^\W\d_][^\W\d_A-Z])")  # "J.Smith"
_SUFFIXES = {"jr", "jr.", "sr", "sr.", "ii", "iii", "iv", "2nd", "3rd"}
_TABLES = load_tables(__name__)
_CAPITAL_PARTICLES = frozenset(_TABLES["capital_particles"])
_INSTITUTION = re.compile(rf"^the\b|\b(?:{'|'.join(_TABLES['institution_words'])})\b", re.IGNORECASE)


def person(family: str, given_names: str = "") -> str:
    """A name as documents store it: "Family, Given", or the family name alone."""
    family, given_names = (" ".join(part.split()).strip(" ,;") for part in (family, given_names))
    return f"{family}, {given_names}" if family and given_names else family or given_names


def is_institution(name: str) -> bool:
    """Whether a name has a word that only institutions and groups have: "ATLAS Collaboration"."""
    return _INSTITUTION.search(name) is not None


def names_others(text: str) -> bool:
    """Whether an author list ends in "and others" or "et al."."""
    return _OTHERS.search(text, max(0, len(text) - _TAIL)) is not None


def parse_people(text: str) -> tuple[str, ...]:
    """The people of an author list, BibTeX or printed; without "et al." and "(Eds.)"."""
    text = _without_tail(_without_tail(untex(_protect(text)), _EDITORS), _OTHERS)
    text = _GLUED.sub(". ", text)
    names: list[str] = []
    for run in text.split(";"):
        pieces = [piece.strip() for piece in _AND.split(f" {run} ")]
        # "J. Smith, K. Doe and L. Li" is printed; in BibTeX the last name would have a comma as well, if a person's.
        printed = len(pieces) > 1 and "," not in pieces[-1] and not _is_body(pieces[-1])
        for piece in pieces:
            names += _people(piece, printed)
    return tuple(" ".join(name.translate(_UNPROTECT).split()) for name in names if any(map(str.isalnum, name)))


def _without_tail(text: str, tail: re.Pattern[str]) -> str:
    text = text.strip(" ,;")
    match = tail.search(text, max(0, len(text) - _TAIL))
    return text[: match.start()].rstrip(" ,;") if match else text


def _protect(text: str) -> str:
    """The list with spaces and commas in braces protected, except in TeX accents such as `{\\o}`."""
    if "{" not in text:
        return text
    if text.count("{") != text.count("}"):
        return text.replace("{", "").replace("}", "")
    characters: list[str] = []
    depth = 0
    special = False
    for index, char in enumerate(text):
        if char == "{":
            depth += 1
            special = special or (depth == 1 and text[index + 1 : index + 2] == "\\")
        elif char == "}":
            depth -= 1
            special = special and depth > 0
        elif depth > 0 and not special:
            char = _COMMA if char == "," else _SPACE if char.isspace() else char
        characters.append(char)
    return "".join(characters)


def _people(piece: str, printed: bool) -> Iterator[str]:
    """The people between two "and"s: one in BibTeX, maybe several in print."""
    if _is_body(piece):
        yield piece.strip(" ,")
        return
    parts = [part for part in (part.strip() for part in piece.split(",")) if part]
    if len(parts) == 2 and not _full_names(parts[0], parts[1], printed):
        yield person(*parts)
    elif len(parts) == 3 and parts[1].lower() in _SUFFIXES:
        yield person(parts[0], f"{parts[2]} {parts[1]}")
    else:
        yield from _people_of_list(parts)


def _full_names(before_comma: str, after_comma: str, printed: bool) -> bool:
    """Whether the two sides of a comma are two people, not one person's family and given names."""
    if _is_initials(after_comma):
        return False
    words_before, words_after = before_comma.split(), after_comma.split()
    if len(words_before) < 2 or len(words_after) < 2:
        return False
    leading = _is_initials(words_before[0]) and _is_initials(words_after[0])
    trailing = _is_initials(words_before[-1]) and _is_initials(words_after[-1]) and not _is_initials(words_after[0])
    return (leading and not _is_initials(words_after[-1])) or trailing or printed


def _people_of_list(parts: list[str]) -> Iterator[str]:
    """The people of a comma-separated list, inverted ("Smith, J., Doe, A.") or not ("J. Smith, A. Doe")."""
    single = len(parts) % 2 == 0 and len(parts) > 2 and all(" " not in part for part in parts)
    index = 0
    while index < len(parts):
        part, rest = parts[index], parts[index + 1 : index + 3]
        index += 1
        given_names = ""
        if rest and not _is_initials(part):
            first_inverted = index == 1 and " " not in part and " " not in rest[0]
            if _is_initials(rest[0]) or single or first_inverted:
                given_names = rest.pop(0)
                index += 1
        if rest and rest[0].lower() in _SUFFIXES and given_names:
            given_names = f"{given_names} {rest[0]}"
            index += 1
        yield person(part, given_names) if given_names else _name_without_comma(part)


def _name_without_comma(name: str) -> str:
    """A name without a comma: "Given von Family" or "Family AB"."""
    words = name.split()
    if len(words) < 2 or _is_body(name):
        return name
    suffix = ""
    if len(words) > 2 and words[-1].lower() in _SUFFIXES:
        suffix = " " + words.pop()
    if not _is_initials(words[0]) and _is_initials(words[-1]):
        initials_start = next(index for index in range(len(words), 0, -1) if not _is_initials(words[index - 1]))
        return person(" ".join(words[:initials_start]), " ".join(words[initials_start:]) + suffix)
    family = next(
        (index for index, word in enumerate(words[:-1]) if word[0].islower() and word[-1] != "."), len(words) - 1
    )
    while family > 1 and words[family - 1] in _CAPITAL_PARTICLES:
        family -= 1
    return person(" ".join(words[family:]), " ".join(words[:family]) + suffix)


def _is_initials(text: str) -> bool:
    """Whether this is "J.", "A. B.", "J.-P.", "AB", maybe followed by a particle."""
    words = text.split()
    initials = [word for word in words if _INITIALS.fullmatch(word) and (word[0].isupper() and _capital(word))]
    particles = [word for word in words if word[0].islower()]
    return bool(initials) and len(initials) + len(particles) == len(words) <= 6 and not words[0][0].islower()


def _capital(word: str) -> bool:
    """Whether the letters are initials: all capitals, or abbreviated with a full stop ("Yu.")."""
    return word.isupper() or "." in word


def _is_body(name: str) -> bool:
    """Whether this is the name of an institution, which has no given name."""
    return (_SPACE in name and " " not in name.strip()) or is_institution(name)
