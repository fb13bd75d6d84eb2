"""Papers as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING

from whycite.documents.references.names import parse_people
from whycite.text.normalise import fold, spell_greek
from whycite.text.wordlists import FUNCTION_WORDS

if TYPE_CHECKING:
    from whycite.library import Paper

__all__ = ["as_bibtex", "bibtex_entry"]

_ESCAPED = {
    **{sign: f"\\{sign}" for sign in "&%$#_"},
    # BibTeX counts braces, those behind a backslash too.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_SPECIAL = re.compile(r"[&%$#_{}\\~^]")
_UNSAFE = re.compile(r"[%#{}\\~^&$\s]")
_PUNCTUATION = "()[].,;:!?…\"'`“”„‘’‚«»"
_LIGATURE = re.compile(r"(?<=-)(?=-)|(?<=`)(?=`)|(?<=')(?=')|(?<=[!?])(?=`)")
_IN = re.compile(r"\Ain:?\s+(?=proc(?:eedings\s|\.))", re.IGNORECASE)
_PROCEEDINGS = re.compile(r"(?:the\s+)?(?:\d{4}\s+)?proc(?:eedings\s|\.)", re.IGNORECASE)
_MEETING = re.compile(
    r"\b(?:conference|workshop|symposium|congress|colloquium|(?:annual|joint) meeting)\b", re.IGNORECASE
)
# "Proceedings of the Royal Society": journals of a body that has no meeting in its name.
_BODY = re.compile(r"\bAcad|\bSoc|\bInst|\bEndowment\b|\bACM on\b|\bIEEE\Z", re.IGNORECASE)
_NOT_IN_KEY = re.compile(r"[^a-z0-9]+")


def as_bibtex(papers: Iterable[Paper], used_keys: Collection[str] = ()) -> str:
    """An entry for each paper; keys are like `dyer2013simple`, all different and none of those `taken`."""
    used = set(used_keys)
    entries = []
    for paper in papers:
        key = next(key for key in _keys(paper) if key not in used)
        used.add(key)
        entries.append(bibtex_entry(key, paper))
    return "\n".join(entries)


def bibtex_entry(key: str, paper: Paper) -> str:
    """The entry of a paper under a key."""
    fields = {name: value for name, value in _fields(paper) if value}
    kind = "article" if "journal" in fields else "inproceedings" if "booktitle" in fields else "misc"
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}", ""])


def _fields(paper: Paper) -> Iterator[tuple[str, str]]:
    scheme, _, identifier = paper.key.partition(":")
    yield "title", _title(paper.title)
    yield "author", " and ".join(map(_person, paper.authors))
    yield "year", str(paper.year or "")
    venue = _IN.sub("", paper.venue.strip())
    yield "booktitle" if _is_meeting(venue) else "journal", _escape(venue)
    yield "doi", _verbatim(paper.doi or (identifier if scheme == "doi" else ""))
    if scheme == "arxiv":
        yield "eprint", _verbatim(identifier)
        yield "archiveprefix", "arXiv"
    elif scheme == "pmid":
        yield "pmid", _verbatim(identifier)


def _is_meeting(venue: str) -> bool:
    """Whether a venue is the proceedings of a meeting, not a journal."""
    if _MEETING.search(venue):
        return "journal" not in venue.lower()
    return bool(_PROCEEDINGS.match(venue)) and not _BODY.search(venue)


def _title(text: str) -> str:
    """A title whose names keep their capitals: styles make small letters of the others."""
    return " ".join(_word(word) if any(map(str.isupper, word[1:])) else _escape(word) for word in text.split())


def _word(text: str) -> str:
    """A word in braces, without what stands around it."""
    start, end = len(text) - len(text.lstrip(_PUNCTUATION)), len(text.rstrip(_PUNCTUATION))
    return f"{_escape(text[:start])}{{{_escape(text[start:end])}}}{_escape(text[end:])}"


def _person(name: str) -> str:
    """A name that is read as one person, or in braces where it is that of a body."""
    written = _escape(" ".join(name.split()))
    people = parse_people(written)
    if people == (name,) and ("," in name or " " not in name):
        return written
    if len(people) == 1 and people != (name,) and "," not in name:
        return _escape(people[0])  # "Chris Dyer"
    return f"{{{written}}}"


def _escape(text: str) -> str:
    return _LIGATURE.sub("{}", _SPECIAL.sub(lambda sign: _ESCAPED[sign[0]], " ".join(text.split())))


def _verbatim(text: str) -> str:
    """An identifier as it is: programs make links of it, and do so with what they find."""
    return _escape(text) if _UNSAFE.search(text) else text


def _keys(paper: Paper) -> Iterator[str]:
    author = _NOT_IN_KEY.sub("", fold(paper.authors[0].partition(",")[0])) if paper.authors else ""
    words = _NOT_IN_KEY.split(spell_greek(fold(paper.title)))
    word = next((word for word in words if len(word) > 1 and not word.isdigit() and word not in FUNCTION_WORDS), "")
    key = f"{author or 'anonymous'}{paper.year or ''}{word}"
    yield key
    yield from (f"{key}-{number}" for number in count(2))
