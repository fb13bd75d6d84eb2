"""Where the title of a printed bibliography entry ends, once its authors are known."""

from __future__ import annotations

import re

from whycite.documents.bibliographies.bylines import BLOCK, CAPITAL, EMPHASIS

__all__ = ["YEAR", "flat", "split_title"]

YEAR = r"(?:1[5-9]\d\d|20\d\d)"

_OPEN, _CLOSE = EMPHASIS
_MARKS = re.compile(f"[{BLOCK}{_OPEN}{_CLOSE}]")

_SENTENCE_END = re.compile(rf"[.?!](?=[\s{BLOCK}{_OPEN}{_CLOSE}”\"]|$)|{BLOCK}")
_ABBREVIATION = re.compile(
    rf"(?:\b{CAPITAL}|\b(?:vs|e\.g|i\.e|spp?|subsp|var|cf|ca|al|no|vol|St|Dr|Mr|Mrs|approx|Fig|Eq|nov|str|resp|U\.S|I[IVX]+|VI+)|"
    r"\d\.\d)$"
)
_STARTS_ANEW = re.compile(
    rf"[\s{_CLOSE}{BLOCK}”\"]*(?:{_OPEN}|{CAPITAL}|[\d(\[“\"]|in[ :]|(?:[a-z]{{1,3}}{CAPITAL}|bioRxiv\b|medRxiv\b|npj\b"
    r"|pp?\.|doi\b|vol\b)|$)"
)
_EMPHASISED_VENUE = re.compile(rf",\s*{_OPEN}[^{_CLOSE}]{{1,200}}{_CLOSE}[\s,]*\d")
_PART_NUMBER = re.compile(r"\s(?:Part\s)?[IVX]{1,4}[.:]\s")
_TRAILING_DATE = re.compile(rf"[,.]?\s*(?:[A-Z][a-z]{{2,8}}\.?\s)?(?:\d{{1,2}}\s)?\(?{YEAR}[a-z]?\)?$")
_UNPUBLISHED = re.compile(
    r"\b(?:private comm|personal comm|in prep|unpublished|submitted|to be published|to appear)", re.IGNORECASE
)
_PUBLISHER = re.compile(rf"([^()]{{3,300}}),?\s(\([^()]{{3,100}}?,?\s{YEAR}\))$")  # "Title (Publisher, 2010)"
_DATED = re.compile(rf"\s\({YEAR}[a-z]?\)$")  # "Authors: Title (2010)"
_NUMBERS = re.compile(rf"\d,\s\d|\d:\d{{2}}|\d\s?\({YEAR}|\bvol\.|\bpp\.|,\s\d{{1,4}}\b")
_VOLUME_YEAR = re.compile(rf"\b[A-Z]?\d+(?:\s?\([\w–/-]{{1,9}}\))?\s?\({YEAR}[a-z]?\)")
_ENDS_IN_NUMBER = re.compile(r"\s[A-Z]?\d+[\s\d():;–.-]*$")
_PLACE_WORD = re.compile(
    r"(?:in(?!\s(?:vitro|vivo|silico|situ))|vol\.?|no\.?|pp?\.|pages|preprint|arxiv|ph\.?\s?d|proc\b|proceedings|springer|cambridge|oxford|wiley|"
    r"elsevier|academic press)\b",
    re.IGNORECASE,
)
_VENUE_WORD = re.compile(
    r"\s*(?:In\b|Proc|Journal|Annals|Annual|Advances|Handbook|Trans|International|European|American|Lecture|PhD|Ph\.D)"
)
_JOURNAL_NEXT = re.compile(
    rf"\s*{_OPEN}?[a-z]{{0,4}}(?={CAPITAL})"
    r"(?:(?:[^.;\d]{1,12}\.\s?){1,6}[^.;\d]{0,30}|[^.;\d]{2,80}(?:\.\s[^.;\d]{1,40})?)[.,;]?\s?[\d(]"
)
_SMALL = {"of", "the", "and", "in", "for", "on", "de", "der", "und", "et", "la", "des"}
_BARE_NUMBER = re.compile(r"(?:vol|no|pp?|pages|art)?\.?\s?[A-Z]?\d[\s\d()–:.-]*$", re.IGNORECASE)
_ABBREVIATED = re.compile(rf"(?:^|\s){CAPITAL}\w{{0,9}}\.(?=\s|$)")


def flat(text: str) -> str:
    """The text without marks."""
    return _MARKS.sub("", text)


def split_title(text: str, by_comma: bool) -> tuple[str, str]:
    """The title at the beginning of `text` and what follows; "" and all of it where there is none to be told."""
    return _before_comma(text) if by_comma else _sentence(text)


def _sentence(text: str) -> tuple[str, str]:
    """The first sentence, a title, and what follows; no title where no sentence ends."""
    if text.startswith(_OPEN) and (end := text.find(_CLOSE)) > 0 and not _is_journal(text[:end], text[end:]):
        return text[1:end], text[end + 1 :]
    doubtful = -1
    for stop in _SENTENCE_END.finditer(text):
        if not _STARTS_ANEW.match(text, stop.end()) or _PART_NUMBER.match(text, stop.end()):
            continue
        before, after = text[: stop.start()], text[stop.end() :]
        if stop[0] == "." and _ABBREVIATION.search(before[-8:]):
            doubtful = stop.start()
            continue
        if _goes_on(after, stop[0]):
            continue
        if venue := _EMPHASISED_VENUE.search(before):
            return before[: venue.start()], text[venue.start() :]
        if doubtful > 0 and _NUMBERS.search(before):
            before, after = text[:doubtful], text[doubtful + 1 :]
        if _is_journal(before, after):
            return "", text
        return before + (stop[0] if stop[0] in "?!" else ""), after
    if (dated := _DATED.search(text)) and not _is_journal(text[: dated.start()], "") and not _NUMBERS.search(text):
        return text[: dated.start()], text[dated.start() :]
    return "", text


def _goes_on(after: str, stop: str) -> bool:
    """Whether a title has a second sentence: one more piece of prose follows before the journal."""
    end = _SENTENCE_END.search(after)
    if end is None or _VENUE_WORD.match(after) or not _JOURNAL_NEXT.match(after, end.end()):
        return False
    piece = after[: end.start()]
    plain = [word for word in piece.split() if word[0].islower() and len(word) > 3]
    return len(plain) >= (1 if stop in "?!" else 3) and not _NUMBERS.search(piece) and _OPEN not in piece


def _before_comma(text: str) -> tuple[str, str]:
    """The title where commas set the parts off ("Title, J. Name 12 (2010) 3"); none in "Nature 12, 345"."""
    if text.startswith(_OPEN) and (end := text.find(_CLOSE)) > 0:
        if _is_journal(text[:end], text[end + 1 :]):
            return "", text
        return text[1:end], text[end + 1 :]
    text = text.rstrip(" .,")
    book = _PUBLISHER.match(text)
    if book and not re.search(r"\d", book[1]) and not _is_journal(book[1], ""):
        return book[1], book[2]
    # Science puts a comma behind the authors and a full stop behind the title.
    sentence, after = _sentence(text)
    if _is_title(sentence) and _journal_first(after):
        return sentence, after
    pieces = text.split(", ")
    plain = [flat(piece) for piece in pieces]
    if (dated := _DATED.search(plain[0])) and _has_prose(plain[0]) and not _NUMBERS.search(plain[0]):
        return plain[0][: dated.start()], ", ".join(pieces[1:])
    place = next((at for at, piece in enumerate(plain) if _VOLUME_YEAR.search(piece)), None)
    if place is None:
        place = next((at for at, p in enumerate(pieces) if _OPEN in p or _is_place(plain[at])), None)
    if place is None:
        prose = sum(word.islower() for word in text.split()) > 1 and not _UNPUBLISHED.search(text)
        return (_TRAILING_DATE.sub("", text), "") if prose and not _MARKS.search(text) else ("", text)
    if place and _BARE_NUMBER.match(plain[place]) and not _TRAILING_DATE.fullmatch(plain[place]):
        place -= 1
    while place and _is_place(plain[place - 1]):
        place -= 1
    title, rest = ", ".join(plain[:place]), ", ".join(pieces[place:])
    if (len(title.split()) < 3 and len(title) < 15) or _is_journal(title, rest):
        return "", text
    return title, rest


def _is_title(sentence: str) -> bool:
    words, pieces = sentence.split(), sentence.split(", ")
    wordy = (len(words) > 4 and len(pieces) == 1) or (len(words) > 1 and _has_prose(pieces[-1]))
    return wordy and not _NUMBERS.search(sentence) and len(_ABBREVIATED.findall(sentence)) * 3 < len(words)


def _journal_first(text: str) -> bool:
    """Whether a text begins with the name of a journal and a number."""
    found = _JOURNAL_NEXT.match(text)
    return found is not None and (len(found[0].split()) <= 5 or not _has_prose(flat(found[0])))


def _is_place(piece: str) -> bool:
    """Whether a piece between commas says where a paper stands: "vol. 3", "263", "Nature 12", "in Proc. …"."""
    if _PLACE_WORD.match(piece) or _BARE_NUMBER.match(piece):
        return True
    return bool(_ENDS_IN_NUMBER.search(piece)) and not _has_prose(piece)


def _has_prose(piece: str) -> bool:
    return any(word.islower() and word not in _SMALL for word in piece.split())


def _is_journal(text: str, after: str) -> bool:
    """Whether a piece is the name of a journal: mostly abbreviations, or short and a number behind it."""
    words = flat(text).split()
    if len(_ABBREVIATED.findall(flat(text))) * 2 >= len(words):
        return True
    if len(words) <= 2 and _ABBREVIATED.match(after):
        return True
    short = len(words) <= 5 and not _has_prose(flat(text))
    return short and bool(re.match(rf"[\s.,{_CLOSE}]*(?:vol\.?\s)?[A-Z]?\d{{1,4}}\b(?!\s?[a-z])", after))
