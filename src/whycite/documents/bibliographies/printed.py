"""Reads a printed bibliography entry as far as its parts can be told apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

from whycite.documents.bibliographies.bylines import BLOCK, EMPHASIS, find_byline
from whycite.documents.bibliographies.names import parse_people
from whycite.documents.bibliographies.titles import YEAR, flat, split_title
from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_pmid
from whycite.documents.model import Reference
from whycite.text.accents import untex

__all__ = ["BLOCK", "EMPHASIS", "parse_printed"]

_LONGEST = 3000  # an entry is shorter; of a longer text only the beginning is looked at
_TAIL = 300  # identifiers stand there
_OPEN, _CLOSE = EMPHASIS

_TEX = re.compile(r"\\|``|\b[A-Z]\.~")
_NUMBERING = re.compile(r"\A(?:\[[\w+.: -]{1,20}\]|\(\d{1,4}\)|\d{1,4}[.)])\s+")
_NOT_PRINT = re.compile(
    r"""(?: https?://\S+ | www\.\S+ | \bdoi:?\s*10\.\S+ | \b10\.\d{4,9}/\S+ | \[?\barxiv:\s?\S+(?:\s\[[\w.-]+\])?\]?
        | \bPMC?ID:?\s*(?:PMC)?\d+ | \bISSN:?\s[\dX-]+ | \[Online\]\.? | \bAvailable(?:\sat|\sfrom)?:
        | \bURL:?(?=\s|$) | \bMR\s?\d{5,} )""",
    re.VERBOSE | re.IGNORECASE,
)
# A year right behind the authors: "(2010a).", ". 2010.", ", 2010,", " 2010 ".
_LEAD_YEAR = re.compile(
    rf"[\s,.:;{BLOCK}]*\(?({YEAR})[a-z]?(?:[,/]\s?[A-Z][a-z]{{2,8}}[^()]{{0,20}}(?=\)))?(?:\)|(?=[.,:;\s{BLOCK}]))([.,:;]?)\s*"
)
_BRACKET_YEAR = re.compile(rf"\((?:[^()\d]{{1,20}}\s)?({YEAR})[a-z]?\)")
_ISSUE_YEAR = re.compile(rf"(?<![\d–-])({YEAR})[a-z]?(?:\s[A-Z][a-z]{{2,8}}(?:\s\d{{1,2}})?)?;")
_ANY_YEAR = re.compile(rf"(?<![\d–:/.-])({YEAR})[a-z]?(?![\d–:/-])")

_DATE_BEHIND = re.compile(rf",\s*(?:[A-Z][a-z]{{2,8}}\.?\s|\d{{1,2}}\s){{0,2}}{YEAR}[a-z]?$")
_DASHES = re.compile(r"[—–_-]{1,6}[.,]?\s?")
_VOLUME_BEHIND = re.compile(r",\s(?:volume|vol\.|number|no\.)\s\w{1,8}(?:\sof\s.{1,100})?$")
_IN_VENUE = re.compile(
    r"(.{2,200}?)(?=,?\s(?:pages?|pp?\.|vol\b|volume|eds?\b|edited)|,\s\d|\.\s|\s\(|[.,;]?\s?$)", re.IGNORECASE
)
_BRACKET_BEHIND = re.compile(r"\s?[\[(][^\])]{1,60}[\])]$")
_IN = re.compile(r"[\s.,;:]*\b[Ii]n:?\s")
_VENUE = re.compile(
    r"(.{2,150}?)[\s,.;:]*(?=\(|\s[A-Z]?\d|\b(?:vol|no|pp?|pages?|eds?|edited|volume|number|in press|accepted)\b|;|$)",
    re.IGNORECASE,
)
_NOT_VENUE = re.compile(r"(?:vol|no|pp?|v|n|and|eds?|in|preprint|to appear|submitted|available at)\.?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The pieces of an entry, still as printed."""

    authors: str = ""
    year: int | None = None
    title: str = ""
    rest: str = ""


def parse_printed(id: str, text: str) -> Reference:
    """A reference from an entry as printed; parts that cannot be told stay empty, `text` is kept."""
    text = untex(text) if _TEX.search(text) else " ".join(text.split())
    whole = " ".join(flat(text.replace(BLOCK, " ")).split())
    head = text[:_LONGEST]
    body = _NUMBERING.sub("", _NOT_PRINT.sub("", head).strip(f" {BLOCK}"), count=1).strip()
    parts = _quoted(body) or _in_blocks(body) or _in_sentences(body) or _Parts()
    plain = whole if len(whole) < _LONGEST else f"{whole[:_LONGEST]} {whole[-_TAIL:]}"
    return Reference(
        id=id,
        title=_VOLUME_BEHIND.sub("", _tidy(parts.title)),
        authors=parse_people(flat(parts.authors)),
        year=parts.year or _year(flat(parts.rest)) or _year(flat(body)),
        venue=_venue(parts.rest),
        doi=normalise_doi(plain),
        arxiv=normalise_arxiv(plain),
        pmid=normalise_pmid(plain) if "pmid" in plain.lower() or "pubmed" in plain.lower() else "",
        text=whole,
    )


def _quoted(text: str) -> _Parts | None:
    """Authors, “Title,” the rest: IEEE, ACL before 2000, Chicago, MLA."""
    start = min((at for at in (text.find("“"), text.find('"')) if at >= 0), default=-1)
    if start < 0:
        return None
    end = _closing_quote(text, start)
    title, before = text[start + 1 : end], text[:start]
    if end < 0 or not title.strip():
        return None
    closes = title.rstrip()[-1] in ",.?!" or text[end + 1 : end + 2] in (",", ".")
    if not closes and (len(title.split()) < 2 or re.match(r"\s?:|\s(?!in\b)[a-z]", text[end + 1 : end + 5])):
        return None  # a title that begins with a quotation
    authors, year = _byline(before)
    if before and not authors and (not closes or re.search(r"(?:\b[a-z]+\s){3}", before)):
        return None
    return _Parts(authors or before.strip(" ,.:"), year, title, text[end + 1 :])


def _closing_quote(text: str, start: int) -> int:
    if text[start] == '"':
        return text.find('"', start + 1)
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "“") - (text[at] == "”")
        if depth == 0:
            return at
    return -1


def _byline(text: str) -> tuple[str, int | None]:
    """The authors of a text that holds nothing else but perhaps the year; "" where it holds more."""
    text = text.strip(f" ,.:;{BLOCK}")
    found = find_byline(text + ".")
    if found is None:
        return "", None
    rest = text[found.end :].strip(f" ,.:;{BLOCK}")
    if not rest:
        return text[: found.end], None
    year = re.fullmatch(rf"\(?({YEAR})[a-z]?\)?", rest)
    if year:
        return text[: found.end], int(year[1])
    return (text[: found.end], None) if re.fullmatch(r"\(?eds?\.?\)?|editors?", rest) else ("", None)


def _in_blocks(text: str) -> _Parts | None:
    """Authors, title and the rest as BibTeX styles set them apart with \\newblock."""
    first, *blocks = [block.strip() for block in text.split(BLOCK)]
    if not blocks:
        return None
    authors, year = _byline(flat(first))
    if not authors and _like_names(flat(first)):
        authors = flat(first)
    if not authors:
        return None
    if (found := re.fullmatch(rf"\(?({YEAR})[a-z]?\)?\.?", flat(blocks[0]))) and len(blocks) > 1:
        year, blocks = int(found[1]), blocks[1:]
    title, rest = blocks[0], f" {BLOCK}".join(blocks[1:])
    if _IN.match(title):
        return _Parts(authors, year, "", text)
    if title.startswith(_OPEN) and (end := title.find(_CLOSE)) > 0:
        title, rest = title[:end], f"{title[end + 1 :]} {rest}"
    else:
        title = _DATE_BEHIND.sub("", flat(title).rstrip(" ."))
    return _Parts(authors, year, title, rest)


def _like_names(text: str) -> bool:
    """Whether a block can be a list of people that only a stranger's name keeps from being read as one."""
    return not re.search(r"\d|[“”\"]|(?:\b[^\W\d_A-Z]{2,}\s){3}", text)


def _in_sentences(text: str) -> _Parts | None:
    """Authors, then year and title, or title, or nothing but the journal."""
    if same := _DASHES.match(text):  # the authors of the entry before
        authors, rest, firm = "", text[same.end() :], "," not in same[0]
    elif byline := find_byline(text):
        authors, rest, firm = _BRACKET_BEHIND.sub("", text[: byline.end]), text[byline.end :], byline.firm
    else:
        return None
    year = None
    if found := _LEAD_YEAR.match(rest):
        year, rest = int(found[1]), rest[found.end() :]
        by_comma = found[2] == ","
    else:
        by_comma = rest.lstrip().startswith(",") or not firm
        rest = rest.lstrip(" .,:;")
    rest = rest.lstrip(BLOCK)
    title, rest = split_title(rest, by_comma)
    return _Parts(authors, year, title, rest)


def _venue(text: str) -> str:
    inside = _IN.match(text)
    text = text[inside.end() if inside else 0 :].strip(f" .,;:{BLOCK}")
    if text.startswith("(") and (end := text.find(")")) > 0 and not text[1:end].isdigit():
        text = text[1:end]
    start = text.find(_OPEN)
    if 0 <= start <= 3 and (end := text.find(_CLOSE, start)) > 0:
        return _tidy(text[start:end])
    text = flat(text)
    found = (_IN_VENUE if inside else _VENUE).match(text)
    if found and found[1].endswith(("of the", "of")):
        found = _IN_VENUE.match(text)
    venue = _tidy(found[1]) if found else ""
    named = re.search(r"[^\W\d_]{2}", venue) and not _NOT_VENUE.fullmatch(venue) and len(venue.split()) <= 24
    return venue if named else ""


def _year(text: str) -> int | None:
    bracketed = [*_BRACKET_YEAR.finditer(text)]
    found = (bracketed or [*_ISSUE_YEAR.finditer(text)] or [*_ANY_YEAR.finditer(text)])[-1:]
    return int(found[0][1]) if found else None


def _tidy(text: str) -> str:
    return flat(text).strip(' ,.;:“”"') if text else ""
