"""Parses a printed bibliography entry: authors, year, title and venue, as far as they can be identified."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace

from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_pmid
from whycite.documents.model import Reference
from whycite.documents.references.names import parse_people
from whycite.text.accents import untex
from whycite.text.wordlists import load_tables

__all__ = [
    "BLOCK",
    "CAPITAL",
    "EMPHASIS",
    "YEAR",
    "Byline",
    "find_byline",
    "parse_list",
    "parse_printed",
    "split_title",
    "strip_marks",
]


# Marks a caller may put in the text: between blocks, and around emphasised words.
BLOCK = "\ue010"
EMPHASIS = ("\ue011", "\ue012")

# `re` has no class for capital letters: Latin, Greek, Cyrillic and their neighbours.
CAPITAL = "[" + "".join(filter(str.isupper, map(chr, [*range(0x590), *range(0x1E00, 0x2000)]))) + "]"
YEAR = r"(?:1[5-9]\d\d|20\d\d)"
_OPEN, _CLOSE = EMPHASIS


_MAX_ENTRY = 3000  # characters; real entries are shorter, and of a longer text only the beginning is parsed
_TAIL = 300  # characters at the end of a longer text that are searched for identifiers

_TEX = re.compile(r"\\|``|\b[A-Z]\.~")
_NUMBERING = re.compile(r"\A(?:\[[\w+.: -]{1,20}\]|\(\d{1,4}\)|\d{1,4}[.)])\s+")
_NOT_PRINT = re.compile(
    r"""(?: https?://\S+ | www\.\S+ | \bdoi:?\s*10\.\S+ | \b10\.\d{4,9}/\S+ | \[?\barxiv:\s?\S+(?:\s\[[\w.-]+\])?\]?
        | \bPMC?ID:?\s*(?:PMC)?\d+ | \bISSN:?\s[\dX-]+ | \[Online\]\.? | \bAvailable(?:\sat|\sfrom)?:
        | \bURL:?(?=\s|$) | \bMR\s?\d{5,} )""",
    re.VERBOSE | re.IGNORECASE,
)
# A year right after the authors: "(2010a).", ". 2010.", ", 2010,", " 2010 ".
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
class _PrintedParts:
    """The pieces of an entry, still as printed."""

    authors: str = ""
    year: int | None = None
    title: str = ""
    rest: str = ""


def parse_printed(id: str, text: str) -> Reference:
    """The reference for a printed entry; unidentified parts stay empty, and `text` is the whole entry."""
    text = unicodedata.normalize("NFC", untex(text) if _TEX.search(text) else " ".join(text.split()))
    whole = " ".join(strip_marks(text.replace(BLOCK, " ")).split())
    head = text[:_MAX_ENTRY]
    body = _NUMBERING.sub("", _NOT_PRINT.sub("", head).strip(f" {BLOCK}"), count=1).strip().replace(" ,", ",")
    parts = _quoted(body) or _in_blocks(body) or _in_sentences(body) or _PrintedParts()
    plain = whole if len(whole) < _MAX_ENTRY else f"{whole[:_MAX_ENTRY]} {whole[-_TAIL:]}"
    return Reference(
        id=id,
        title=_VOLUME_BEHIND.sub("", _tidy(parts.title)),
        authors=parse_people(strip_marks(parts.authors)),
        year=parts.year or _year(strip_marks(parts.rest)) or _year(strip_marks(body)),
        venue=_venue(parts.rest),
        doi=normalise_doi(plain),
        arxiv=normalise_arxiv(plain),
        pmid=normalise_pmid(plain) if "pmid" in plain.lower() or "pubmed" in plain.lower() else "",
        text=whole,
    )


def parse_list(entries: Iterable[tuple[str, str]]) -> list[Reference]:
    """The references for the ids and printed entries of a list; a dash stands for the authors of the entry before."""
    references: list[Reference] = []
    for id, text in entries:
        reference = parse_printed(id, text)
        if references and not reference.authors and _DASHES.match(reference.text):
            reference = replace(reference, authors=references[-1].authors)
        references.append(reference)
    return references


def _quoted(text: str) -> _PrintedParts | None:
    """Authors, “Title,” the rest: IEEE, ACL before 2000, Chicago, MLA."""
    start = min((position for position in (text.find("“"), text.find('"')) if position >= 0), default=-1)
    if start < 0:
        return None
    end = _closing_quote(text, start)
    title, prefix = text[start + 1 : end], text[:start]
    if end < 0 or not title.strip():
        return None
    closes = title.rstrip()[-1] in ",.?!" or text[end + 1 : end + 2] in (",", ".")
    if not closes and (len(title.split()) < 2 or re.match(r"\s?:|\s(?!in\b)[a-z]", text[end + 1 : end + 5])):
        return None  # a title that begins with quoted words
    authors, year = _byline(prefix)
    if prefix and not authors and (not closes or re.search(r"(?:\b[a-z]+\s){3}", prefix)):
        return None
    return _PrintedParts(authors or prefix.strip(" ,.:"), year, title, text[end + 1 :])


def _closing_quote(text: str, start: int) -> int:
    if text[start] == '"':
        return text.find('"', start + 1)
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == "“") - (text[index] == "”")
        if depth == 0:
            return index
    return -1


def _byline(text: str) -> tuple[str, int | None]:
    """The authors and year of a text with nothing else in it; no authors if there is more."""
    text = text.strip(f" ,.:;{BLOCK}")
    byline = find_byline(text + ".")
    if byline is None:
        return "", None
    rest = text[byline.end :].strip(f" ,.:;{BLOCK}")
    if not rest:
        return text[: byline.end], None
    year = re.fullmatch(rf"\(?({YEAR})[a-z]?\)?", rest)
    if year:
        return text[: byline.end], int(year[1])
    return (text[: byline.end], None) if re.fullmatch(r"\(?eds?\.?\)?|editors?", rest) else ("", None)


def _in_blocks(text: str) -> _PrintedParts | None:
    """Authors, title and the rest, separated by \\newblock in BibTeX styles."""
    head, *blocks = [block.strip() for block in text.split(BLOCK)]
    if not blocks:
        return None
    authors, year = _byline(strip_marks(head))
    if not authors and _looks_like_names(strip_marks(head)):
        authors = strip_marks(head)
    if not authors:
        return None
    if (year_match := re.fullmatch(rf"\(?({YEAR})[a-z]?\)?\.?", strip_marks(blocks[0]))) and len(blocks) > 1:
        year, blocks = int(year_match[1]), blocks[1:]
    title, rest = blocks[0], f" {BLOCK}".join(blocks[1:])
    if _IN.match(title):
        return _PrintedParts(authors, year, "", text)
    if title.startswith(_OPEN) and (end := title.find(_CLOSE)) > 0:
        title, rest = title[:end], f"{title[end + 1 :]} {rest}"
    else:
        title = _DATE_BEHIND.sub("", strip_marks(title).rstrip(" ."))
    return _PrintedParts(authors, year, title, rest)


def _looks_like_names(text: str) -> bool:
    """Whether a block may be a list of people although not every name in it was recognised."""
    return not re.search(r"\d|[“”\"]|(?:\b[^\W\d_A-Z]{2,}\s){3}", text)


def _in_sentences(text: str) -> _PrintedParts | None:
    """Authors, then year and title, or title, or nothing but the journal."""
    if dashes := _DASHES.match(text):  # the same authors as in the entry before
        authors, rest, firm = "", text[dashes.end() :], "," not in dashes[0]
    elif byline := find_byline(text):
        authors, rest, firm = _BRACKET_BEHIND.sub("", text[: byline.end]), text[byline.end :], byline.firm
    else:
        return None
    year = None
    if year_match := _LEAD_YEAR.match(rest):
        year, rest = int(year_match[1]), rest[year_match.end() :]
        by_comma = year_match[2] == ","
    else:
        by_comma = rest.lstrip().startswith(",") or not firm
        rest = rest.lstrip(" .,:;")
    rest = rest.lstrip(BLOCK)
    title, rest = split_title(rest, by_comma)
    return _PrintedParts(authors, year, title, rest)


def _venue(text: str) -> str:
    in_match = _IN.match(text)
    text = text[in_match.end() if in_match else 0 :].strip(f" .,;:{BLOCK}")
    if text.startswith("(") and (end := text.find(")")) > 0 and not text[1:end].isdigit():
        text = text[1:end]
    start = text.find(_OPEN)
    if 0 <= start <= 3 and (end := text.find(_CLOSE, start)) > 0:
        return _tidy(text[start:end])
    text = strip_marks(text)
    match = (_IN_VENUE if in_match else _VENUE).match(text)
    if match and match[1].endswith(("of the", "of")):
        match = _IN_VENUE.match(text)
    venue = _tidy(match[1]) if match else ""
    is_name = re.search(r"[^\W\d_]{2}", venue) and not _NOT_VENUE.fullmatch(venue) and len(venue.split()) <= 24
    return venue if is_name else ""


def _year(text: str) -> int | None:
    bracketed = [*_BRACKET_YEAR.finditer(text)]
    matches = (bracketed or [*_ISSUE_YEAR.finditer(text)] or [*_ANY_YEAR.finditer(text)])[-1:]
    return int(matches[0][1]) if matches else None


def _tidy(text: str) -> str:
    return strip_marks(text).strip(' ,.;:“”"') if text else ""


_PARTICLE = (
    r"(?:(?!and |und |et |in |for |of |the |on |to |by |a |an |via |as |at )(?:[a-z]{1,3}|[Vv]ander|della|"
    r"(?:Van|Von|De|Del|Della|Di|Da|Dos|Das|Du|La|Le|El|Al|Bin|Ibn|Mac)) |[’'][ts] |St\. |[Dd][’']|O[’'])"
)
_WORD = rf"{CAPITAL}[\w'’ʼ´-]{{1,40}}"
_SURNAME = rf"(?:{_PARTICLE}{{0,3}}{_WORD}(?:[ -]{_PARTICLE}{{0,2}}{_WORD}){{0,2}})"
_INITIAL = rf"(?:{CAPITAL}(?:[-‐]{CAPITAL})?|Yu|Ya|Ju|Th|Ch|Ph|Zs|Sz|Cs|Gy|Dz|St|Wm|Fr|Kh|Sh|Ts)\."
_DOTTED = rf"{_INITIAL}(?: ?[-‐–]?[^\W\d_]\.| ?{_INITIAL}){{0,5}}"
_CAPS = rf"{CAPITAL}{{1,5}}(?:[- ]{CAPITAL}){{0,3}}(?!\w)"
_SUFFIX = r"(?:,? (?:Jr|Sr|II|III|IV|2nd|3rd)\b\.?)?"
_GIVEN = rf"{_WORD}(?: {_WORD})?(?: {CAPITAL}\.?(?!\w)){{0,3}}"

_INVERTED = re.compile(
    rf"{_SURNAME}(?:, ?(?:Jr|Sr|II|III|IV)\b\.?)?, ?(?:{_DOTTED}|{_CAPS})"
    rf"(?: {_PARTICLE}{{1,2}}(?=[,;.&]| and))?{_SUFFIX}"
)
_TRAILING = re.compile(rf"{_SURNAME} (?:{_DOTTED}|{_CAPS}){_SUFFIX}")
_LEADING = re.compile(rf"(?:{_DOTTED} ?(?:{CAPITAL} )?|{CAPITAL}{{1,3}}(?: {CAPITAL}){{0,2}} ){_SURNAME}{_SUFFIX}")
_FULL = re.compile(rf"{_GIVEN} {_SURNAME}{_SUFFIX}")
_INVERTED_FULL = re.compile(rf"{_SURNAME}, {_GIVEN}{_SUFFIX}")
_BODY = re.compile(
    rf"(?:[Tt]he )?(?:(?:{CAPITAL}|\d)[\w.&/-]{{0,30}} |(?:of|for|the|and|on) ){{1,9}}"
    r"(?:Collaborations?|Consortium|Team|Group|Project|Investigators|Network|Organi[sz]ation|Committee|Association|"
    r"Society|Institute|Foundation|Agency|Council|Initiative)(?![\w])(?: Team| Consortium)?"
)
_NOT_PEOPLE = re.compile(rf"\b(?:{'|'.join(load_tables(__name__)['not_people'])})\b")
_HEADING = re.compile(r"(?:The|A|An|On|In|Why|How|What|Some|Towards?|Is|Are|Do|Does|From|For|Using|Two|Three|New)\b")
_SEPARATOR = re.compile(r" ?(?:[,;] ?(?:and|&|und|et|y|e) |; ?| (?:and|&|und|et|y|e) |, ?)")
_AND = re.compile(r"(?:and|&|und|et|y|e) $")
_ET_AL = re.compile(r"[,;]? ?(?:and )?(?:et\.? al\b\.?|(?:and|&) others\b\.?|(?:\. ?){3}|…)", re.IGNORECASE)
_NAME_OVER = re.compile(
    rf"[,;.:)\]]| ?[“\"{BLOCK}{EMPHASIS[0]}&]| (?:and|&|und|et|y|e) | ?et\.? al"
    r"|,? ?[(\[]?(?:1[5-9]|20)\d\d|,? \(?[Ee]ds?\b| ?$"
)
_IN_BRACKETS = re.compile(rf" ?[\[(]{CAPITAL}[\w /-]{{1,40}}[\])](?=,)")  # "S. Acharya et al. (ALICE), "
_YEAR_NEXT = re.compile(r"\. ?\(?(?:1[5-9]|20)\d\d\b")
_NUMBER_NEXT = re.compile(r",? \d{1,3}\b|:\d")
_FIRM = re.compile(rf"[.“\"{BLOCK}{EMPHASIS[0]}]|,? ?[(\[]?(?:1[5-9]|20)\d\d|, ?[“\"]|$")

_STYLES = (
    (_INVERTED, _BODY),
    (_TRAILING, _BODY),
    (_LEADING, _BODY),
    (_LEADING, _FULL, _BODY),
    (_INVERTED_FULL, _FULL, _LEADING, _BODY),
    (_FULL, _LEADING, _BODY),
    (_INVERTED, _LEADING, _BODY),
)


@dataclass(frozen=True, slots=True)
class Byline:
    """The authors of an entry, up to `end`; `firm` if what follows cannot be a name."""

    end: int
    count: int
    firm: bool


def find_byline(text: str) -> Byline | None:
    """The authors at the start of `text`: the style of names with most names and a firm end, else the first."""
    bylines = [byline for style in _STYLES if (byline := _match_style(text, style)) is not None]
    best = max((b for b in bylines if b.firm), key=lambda b: (b.count, b.end), default=bylines[0] if bylines else None)
    if best is not None and (body := _IN_BRACKETS.match(text, best.end)):
        return Byline(body.end(), best.count, firm=False)
    return best


def _match_style(text: str, style: tuple[re.Pattern[str], ...]) -> Byline | None:
    position = end = count = 0
    is_last = False
    while True:
        if count and (et_al := _ET_AL.match(text, end)):
            return Byline(et_al.end(), count + 1, firm=True)
        name = next(
            (
                m
                for pattern in style
                if (m := pattern.match(text, position)) and _is_complete_name(text, m, count, is_last)
            ),
            None,
        )
        if name is None:
            break
        end, count = name.end(), count + 1
        separator = _SEPARATOR.match(text, end)
        if separator is None or (is_last and not _AND.search(separator[0])):
            break
        is_last = bool(_AND.search(separator[0]))
        position = separator.end()
    if not count:
        return None
    return Byline(end, count, firm=_ends_firmly(text, end, colon=style[0] in (_INVERTED, _TRAILING)))


def _is_complete_name(text: str, name: re.Match[str], count: int, is_last: bool) -> bool:
    """Whether a name ends where names can end, and is not the start of a title or a journal."""
    tail = text[name.end() : name.end() + 60]
    if not (_NAME_OVER.match(tail) or (name[0].endswith(".") and tail.startswith(" "))) or _NUMBER_NEXT.match(tail):
        return False
    if name.re is _BODY:
        return True
    if (name.re in (_FULL, _INVERTED_FULL) and _HEADING.match(name[0])) or (count and _NOT_PEOPLE.search(name[0])):
        return False
    if tail.startswith(".") and count and not is_last and name.re in (_LEADING, _FULL):
        return _looks_like_title(tail[1:]) or bool(_YEAR_NEXT.match(tail))
    return True


def _looks_like_title(text: str) -> bool:
    words = re.split(r"[.,;:]", text.strip(), maxsplit=1)[0].split()
    return sum(word[0].islower() for word in words) >= 1 and len(words) >= 3


def _ends_firmly(text: str, end: int, colon: bool) -> bool:
    """Whether the authors certainly end here: full stop, bracket, quote, mark, year, or in some styles a colon."""
    tail = text[end : end + 12].lstrip()
    if text[end - 1] == "." and text[end : end + 1] == " " and not tail.startswith(","):
        return True
    return bool(_FIRM.match(tail)) or (colon and tail.startswith(":"))


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
_SMALL_WORDS = {"of", "the", "and", "in", "for", "on", "de", "der", "und", "et", "la", "des"}
_BARE_NUMBER = re.compile(r"(?:vol|no|pp?|pages|art)?\.?\s?[A-Z]?\d[\s\d()–:.-]*$", re.IGNORECASE)
_ABBREVIATED = re.compile(rf"(?:^|\s){CAPITAL}\w{{0,9}}\.(?=\s|$)")


def strip_marks(text: str) -> str:
    """The text without block and emphasis marks."""
    return _MARKS.sub("", text)


def split_title(text: str, by_comma: bool) -> tuple[str, str]:
    """The title at the start of `text` and what follows; "" and the whole text if no title is recognised."""
    return _before_comma(text) if by_comma else _sentence(text)


def _sentence(text: str) -> tuple[str, str]:
    """The first sentence as the title, and what follows; no title if no sentence ends."""
    if text.startswith(_OPEN) and (end := text.find(_CLOSE)) > 0 and not _is_journal(text[:end], text[end:]):
        return text[1:end], text[end + 1 :]
    doubtful = -1
    for stop in _SENTENCE_END.finditer(text):
        if not _STARTS_ANEW.match(text, stop.end()) or _PART_NUMBER.match(text, stop.end()):
            continue
        head, rest = text[: stop.start()], text[stop.end() :]
        if stop[0] == "." and _ABBREVIATION.search(head[-8:]):
            doubtful = stop.start()
            continue
        if _has_second_sentence(rest, stop[0]):
            continue
        if venue := _EMPHASISED_VENUE.search(head):
            return head[: venue.start()], text[venue.start() :]
        if doubtful > 0 and _NUMBERS.search(head):
            head, rest = text[:doubtful], text[doubtful + 1 :]
        if _is_journal(head, rest):
            return "", text
        return head + (stop[0] if stop[0] in "?!" else ""), rest
    if (dated := _DATED.search(text)) and not _is_journal(text[: dated.start()], "") and not _NUMBERS.search(text):
        return text[: dated.start()], text[dated.start() :]
    return "", text


def _has_second_sentence(rest: str, stop: str) -> bool:
    """Whether the title has a second sentence: more prose comes before the journal."""
    end = _SENTENCE_END.search(rest)
    if end is None or _VENUE_WORD.match(rest) or not _JOURNAL_NEXT.match(rest, end.end()):
        return False
    piece = rest[: end.start()]
    plain = [word for word in piece.split() if word[0].islower() and len(word) > 3]
    return len(plain) >= (1 if stop in "?!" else 3) and not _NUMBERS.search(piece) and _OPEN not in piece


def _before_comma(text: str) -> tuple[str, str]:
    """The title if commas separate the parts ("Title, J. Name 12 (2010) 3"); none in "Nature 12, 345"."""
    if text.startswith(_OPEN) and (end := text.find(_CLOSE)) > 0:
        if _is_journal(text[:end], text[end + 1 :]):
            return "", text
        return text[1:end], text[end + 1 :]
    text = text.rstrip(" .,")
    book = _PUBLISHER.match(text)
    if book and not re.search(r"\d", book[1]) and not _is_journal(book[1], ""):
        return book[1], book[2]
    # Science puts a comma after the authors and a full stop after the title.
    sentence, remainder = _sentence(text)
    if _is_title(sentence) and _journal_first(remainder):
        return sentence, remainder
    pieces = text.split(", ")
    plain = [strip_marks(piece) for piece in pieces]
    if (dated := _DATED.search(plain[0])) and _has_prose(plain[0]) and not _NUMBERS.search(plain[0]):
        return plain[0][: dated.start()], ", ".join(pieces[1:])
    place = next((index for index, piece in enumerate(plain) if _VOLUME_YEAR.search(piece)), None)
    if place is None:
        place = next((index for index, p in enumerate(pieces) if _OPEN in p or _is_place(plain[index])), None)
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
    """Whether a text begins with a journal name and a number."""
    journal = _JOURNAL_NEXT.match(text)
    return journal is not None and (len(journal[0].split()) <= 5 or not _has_prose(strip_marks(journal[0])))


def _is_place(piece: str) -> bool:
    """Whether a piece between commas says where a paper appeared: "vol. 3", "263", "Nature 12", "in Proc. …"."""
    if _PLACE_WORD.match(piece) or _BARE_NUMBER.match(piece):
        return True
    return bool(_ENDS_IN_NUMBER.search(piece)) and not _has_prose(piece)


def _has_prose(piece: str) -> bool:
    return any(word.islower() and word not in _SMALL_WORDS for word in piece.split())


def _is_journal(text: str, rest: str) -> bool:
    """Whether a piece is the name of a journal: mostly abbreviations, or short and followed by a number."""
    words = strip_marks(text).split()
    if len(_ABBREVIATED.findall(strip_marks(text))) * 2 >= len(words):
        return True
    if len(words) <= 2 and _ABBREVIATED.match(rest):
        return True
    short = len(words) <= 5 and not _has_prose(strip_marks(text))
    return short and bool(re.match(rf"[\s.,{_CLOSE}]*(?:vol\.?\s)?[A-Z]?\d{{1,4}}\b(?!\s?[a-z])", rest))
