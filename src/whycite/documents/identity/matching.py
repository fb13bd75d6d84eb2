"""What of a title and of a name counts when references are compared."""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape

from whycite.documents.bibliographies.names import parse_people
from whycite.text.normalise import fold, spell_greek

__all__ = ["bare_title", "family_name", "normalise_title", "same_family", "tells_paper", "title_head"]

_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,80}>|\\(?:text|math)?(?:it|bf|rm|sc|tt|sf|cal|bb|emph|em|ensuremath)\b|[{}$]")
_BREAK = re.compile(r"[\W_]+")

_ENOUGH_WORDS = 7
_ENOUGH_SIGNS = 12  # of scripts that do not part words
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]")
_CONTAINER = re.compile(
    r"\b(?:proceedings|conference|symposium|workshop|handbook|encyclopa?edia|annual report|advances in neural|"
    r"lecture notes|methods in|supplement(?:al|ary))\b"
)

_SUBTITLE = re.compile(r":\s|\s[-–—]\s|—")
_PART = re.compile(r"\s*(?:part\b|[ivx]+\b|\d|[a-e][.:)])", re.IGNORECASE)
_HEAD_WORDS = 4

_APOSTROPHES = str.maketrans("", "", "'.")
_LONGEST_NAME = 200
_UMLAUT = re.compile(r"(?<=[aou])e")
_PARTICLES = frozenset(
    "af al bin d da dal das de degli dei del della den der des di do dos du el ibn la las le los ten ter the van "
    "vander vom von zu zum zur".split()
)


def normalise_title(text: str) -> str:
    """The words of a title without case, accents, markup and punctuation, Greek letters by name."""
    text = fold(_MARKUP.sub("", unescape(text) if "&" in text else text))
    return _BREAK.sub(" ", spell_greek(text)).strip()


def bare_title(title: str) -> str:
    """A normalised title without what is written now so, now so: spaces, a leading article, "and"."""
    words = title.split()
    if len(words) > 1 and words[0] in ("the", "a", "an"):
        del words[0]
    return "".join(word for word in words if word != "and")


def title_head(text: str) -> str:
    """The normalised title up to its colon, where a subtitle is often cut off; "" if that is too little."""
    found = _SUBTITLE.search(text)
    if not found or _PART.match(text, found.end()):
        return ""
    head = normalise_title(text[: found.start()])
    return head if head.count(" ") + 1 >= _HEAD_WORDS and not _CONTAINER.search(head) else ""


def tells_paper(title: str) -> bool:
    """Whether a normalised title and the year tell a paper: long enough, and not the name of a volume."""
    long_enough = title.count(" ") + 1 >= _ENOUGH_WORDS or (
        not title.isascii() and len(_UNSPACED.findall(title)) >= _ENOUGH_SIGNS
    )
    return long_enough and not _CONTAINER.search(title)


def family_name(author: str) -> str:
    """The family name for matching: no accents, no "van der", "Müller" and "Mueller" alike; "" if unknown."""
    return _family_name(author[:_LONGEST_NAME])


@lru_cache(maxsize=1 << 16)
def _family_name(author: str) -> str:
    people = parse_people(author) if author and "," not in author else (author,)
    name = fold(people[0] if people else "").partition(",")[0]
    words = [word for word in _BREAK.split(name.translate(_APOSTROPHES)) if word]
    kept = [word for word in words if word not in _PARTICLES] or words
    return _UMLAUT.sub("", " ".join(kept))


def same_family(one: str, other: str) -> bool:
    """Whether two family names can be one person's: "Garcia" and "Garcia Lopez", "Holler" and "Rickauer Holler"."""
    if one == other:
        return True
    ours, theirs = set(one.split()), set(other.split())
    common = ours & theirs
    return common in (ours, theirs) and any(len(word) > 1 for word in common)
