"""What identifies a paper, from messy fields: DOI, arXiv id, PMID, ISBN, comparable titles and family names.

Every repetition in the patterns is bounded or ends at a fixed character, so all of them take linear time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from urllib.parse import unquote

from whycite.documents.references.names import parse_people
from whycite.text.tokens import clean, fold, spell_greek
from whycite.text.wordlists import load_tables

__all__ = [
    "SHARED_TITLES",
    "bare_title",
    "family_name",
    "is_preprint",
    "normalise_arxiv",
    "normalise_doi",
    "normalise_isbn",
    "normalise_pmcid",
    "normalise_pmid",
    "normalise_title",
    "same_family",
    "tells_paper",
    "title_head",
]


_TABLES = load_tables(__name__)

_SIMPLE_DOI = re.compile(r"10\.\d{4,9}/[a-z0-9.()/:_-]{0,100}[a-z0-9]")
# After "doi" any registrant is accepted; a bare "10.5/x" in running text is a ratio.
_DOI = re.compile(
    r"""(?: ^ | (?<![a-z]) doi (?:\.org)? [:/=\s]{1,3} )  (10\.\d{1,9} (?:\.\d{1,9}){0,3} /) |
        (?<![\d.]) (10\.\d{4,9} (?:\.\d{1,9}){0,3} /)""",
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_SUFFIX = re.compile(r"""(?:[^\s"<>{}|\\^`]|<[\d:][^\s<>]{0,40}>)+""")
_ESCAPED = re.compile(r"\{?\\([_&%#{}$])\}?")
_NEXT_FIELD = re.compile(r"[,;.]?(?:https?:|pmc?id[:=]|(?<=[.,;])pmc\d)")
_PAPER_PART = re.compile(  # a page, a file or a figure of the paper rather than the paper
    r"""(?: /(?:full|fulltext|abstract|pdf|epdf|html|meta|summary) (?:/.{0,200})? | \.full(?:\.pdf)? | \.pdf | \.epub
          | /(?:suppl_file|-/dc|figures?/|tables?/) .{0,200} ) $""",
    re.VERBOSE,
)
_COMPONENT = re.compile(
    r"(10\.1371/journal\.p[a-z]{3}\.\d{7})\.[egst]\d{3}|(10\.7554/elife\.\d{5,6})\.(?:\d{1,3}|sa\d)"
    r"|(10\.3791/\d{2,6})-v"
)
_RXIV = re.compile(r"(10\.(?:1101|64898)/[\d.]{6,24})v\d{1,2}")
_CUT_SICI = re.compile(r"\(sici\)(?!.{0,80}\.co;\d)")
_CLOSERS = {")": "(", "]": "[", ">": "<"}

_PREPRINT = re.compile(
    r"""10\.(?:
        1101/(?:\d{4}\.\d\d\.\d\d\.)?\d{6,9}$        # bioRxiv and medRxiv, not the journals of the same press
      | 64898/ | 48550/arxiv\. | 2139/ssrn\. | 21203/rs\. | 26434/chemrxiv | 20944/preprints | 22541/
      | 312(?:19|22|23|34|35|36)/ | 32942/ | 35542/ | 36227/techrxiv | 33774/ | 1002/essoar\. | 1590/scielopreprints
      | 7287/peerj\.preprints | 2196/preprints | 14293/s2199
      | 12688/[a-z]+\d*[a-z]*\.\d+\.\d+$             # one version of an F1000 paper
      | 5194/(?:egusphere-|[a-z]+d-\d|[a-z]+-\d{4}-\d+$)   # a discussion paper of Copernicus
    )""",
    re.VERBOSE,
)

_ARXIV_OLD = re.compile(
    rf"(?:(?<![\w.-])|(?<=/arxiv\.))({'|'.join(_TABLES['arxiv_archives'])})(?:\.[a-z]{{2}})?/(\d\d(?:0[1-9]|1[0-2])\d{{3}})(?:v\d{{1,3}})?(?!\w)",
    re.IGNORECASE | re.ASCII,
)
_ARXIV_NEW = re.compile(
    r"""(?: ^ | arxiv (?:\.org)? [\s:./]{1,3} (?:(?:abs|pdf|html|format|e-print|src)/)? | \babs/ )
        (\d\d(?:0[1-9]|1[0-2])\.\d{4,5}) (?:v\d{1,3})? (?!\w)""",
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)

_PMCID = re.compile(r"(?:\A|\bPMC)(\d{3,9})(?:\.\d{1,2})?\b", re.IGNORECASE)
_PMID_ALONE = re.compile(r"0{0,8}([1-9]\d{0,7})\.?", re.ASCII)
_PMID = re.compile(
    r"\bp(?:ubmed|mid)(?:\.ncbi\.nlm\.nih\.gov)?(?:[\s:/=]|\?term=|id){0,5}0{0,8}([1-9]\d{0,7})(?!\d)",
    re.IGNORECASE | re.ASCII,
)
_ISBN = re.compile(r"(?<![\d-])\d(?:[ -]?\d){8,11}[ -]?[\dX](?![\d-])", re.IGNORECASE | re.ASCII)


def normalise_doi(text: str) -> str:
    """The first DOI in a field or an address, in lower case; the paper's own if it names a part of one."""
    doi = text.lower()
    if not _SIMPLE_DOI.fullmatch(doi):
        doi = _find_doi(doi)
    if "pm" in doi or "http" in doi:
        doi = _NEXT_FIELD.split(doi, maxsplit=1)[0]
    doi = _PAPER_PART.sub("", doi).replace("//", "/")
    if match := _COMPONENT.fullmatch(doi) or _RXIV.fullmatch(doi):
        return str(match[match.lastindex or 0])
    # A SICI cut off at its "<" names a whole issue of a journal.
    return "" if "(sici)" in doi and _CUT_SICI.search(doi) else doi


def _find_doi(text: str) -> str:
    text = clean(unescape(text)).lower()
    if "\\" in text:
        text = _ESCAPED.sub(r"\1", text)
    if "%" in text:
        text = unquote(text)
    prefix = _DOI.search(text)
    suffix = prefix and _SUFFIX.match(text, prefix.end())
    if not prefix or not suffix:
        return ""
    name = _trim(suffix[0])
    return f"{prefix[1] or prefix[2]}{name}" if name else ""


def _trim(name: str) -> str:
    """The name without what belongs to the surrounding sentence: stops, quotes, unopened brackets."""
    unopened = {close: name.count(close) - name.count(open_) for close, open_ in _CLOSERS.items()}
    end = len(name)
    while end and (name[end - 1] in ".,;:'!?*/" or unopened.get(name[end - 1], 0) > 0):
        end -= 1
        if name[end] in unopened:
            unopened[name[end]] -= 1
    return name[:end]


def is_preprint(doi: str) -> bool:
    """Whether a normalised DOI belongs to a preprint, or to one of several versions of a paper."""
    return bool(_PREPRINT.match(doi))


def normalise_arxiv(text: str) -> str:
    """The arXiv id of a field, an address or a DataCite DOI, without its version and subject class."""
    text = clean(text)
    if match := _ARXIV_NEW.search(text):
        return match[1]
    if match := _ARXIV_OLD.search(text):
        return f"{match[1].lower()}/{match[2]}"
    return ""


def normalise_pmid(text: str) -> str:
    """The PubMed number of a field or an address; a PMC id is not one."""
    text = clean(text)
    match = _PMID_ALONE.fullmatch(text) or _PMID.search(text)
    return match[1] if match else ""


def normalise_pmcid(text: str) -> str:
    """The PubMed Central id of a field or an address, as "PMC1234567"."""
    match = _PMCID.search(clean(text))
    return f"PMC{match[1]}" if match else ""


def normalise_isbn(text: str) -> str:
    """The first ISBN with a correct check digit, as the thirteen digits of ISBN-13."""
    for match in _ISBN.finditer(clean(text)):
        digits = match[0].replace("-", "").replace(" ", "").upper()
        if len(digits) == 10 and digits[9] == _check10(digits):
            return "978" + digits[:9] + _check13("978" + digits)
        if len(digits) == 13 and digits.startswith(("978", "979")) and digits[12] == _check13(digits):
            return digits
    return ""


def _check13(digits: str) -> str:
    return str(-sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(digits[:12])) % 10)


def _check10(digits: str) -> str:
    return "0123456789X"[-sum(int(digit) * (10 - index) for index, digit in enumerate(digits[:9])) % 11]


_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,80}>|\\(?:text|math)?(?:it|bf|rm|sc|tt|sf|cal|bb|emph|em|ensuremath)\b|[{}$]")
_BREAK = re.compile(r"[\W_]+")

# A title this long identifies a paper together with the year; measured, see `identity`.
_MIN_TITLE_WORDS = 7
_MIN_TITLE_SIGNS = 12  # in scripts that do not separate words
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]")
SHARED_TITLES = frozenset(_TABLES["shared_titles"])
_VOLUME = re.compile(rf"\b(?:{'|'.join(_TABLES['volume_titles'])})\b")

_SUBTITLE = re.compile(r":\s|\s[-–—]\s|—")
_PART_NUMBER = re.compile(r"\s*(?:part\b|[ivx]+\b|\d|[a-e][.:)])", re.IGNORECASE)
_MIN_HEAD_WORDS = 4  # a shorter title before its colon is shared by too many papers

_APOSTROPHES = str.maketrans("", "", "'.")
_MAX_NAME = 200  # characters; anything longer is not a name, and parsing it is slow
_UMLAUT = re.compile(r"(?<=[aou])e")
_PARTICLES = frozenset(_TABLES["name_particles"])


def normalise_title(text: str) -> str:
    """The words of a title without case, accents, markup and punctuation, Greek letters by name."""
    text = fold(_MARKUP.sub("", unescape(text) if "&" in text else text))
    return _BREAK.sub(" ", spell_greek(text)).strip()


def bare_title(title: str) -> str:
    """A normalised title without what varies between sources: spaces, a leading article, "and"."""
    words = title.split()
    if len(words) > 1 and words[0] in ("the", "a", "an"):
        del words[0]
    return "".join(word for word in words if word != "and")


def title_head(text: str) -> str:
    """The normalised title up to its colon, where a subtitle is often cut off; "" if that is too short."""
    subtitle = _SUBTITLE.search(text)
    if not subtitle or _PART_NUMBER.match(text, subtitle.end()):
        return ""
    head = normalise_title(text[: subtitle.start()])
    return head if head.count(" ") + 1 >= _MIN_HEAD_WORDS and not _VOLUME.search(head) else ""


def tells_paper(title: str) -> bool:
    """Whether a normalised title and the year identify a paper: long enough, and not the name of a volume."""
    long_enough = title.count(" ") + 1 >= _MIN_TITLE_WORDS or (
        not title.isascii() and len(_UNSPACED.findall(title)) >= _MIN_TITLE_SIGNS
    )
    return long_enough and not _VOLUME.search(title)


def family_name(author: str) -> str:
    """The family name for matching: no accents, no "van der", "Müller" and "Mueller" alike; "" if unknown."""
    return _family_name(author[:_MAX_NAME])


@lru_cache(maxsize=1 << 16)
def _family_name(author: str) -> str:
    people = parse_people(author) if author and "," not in author else (author,)
    name = fold(people[0] if people else "").partition(",")[0]
    words = [word for word in _BREAK.split(name.translate(_APOSTROPHES)) if word]
    name_words = [word for word in words if word not in _PARTICLES] or words
    return _UMLAUT.sub("", " ".join(name_words))


def same_family(family: str, other_family: str) -> bool:
    """Whether two family names may be one person's: "Garcia" and "Garcia Lopez", "Holler" and "Rickauer Holler"."""
    if family == other_family:
        return True
    words, other_words = set(family.split()), set(other_family.split())
    common = words & other_words
    return common in (words, other_words) and any(len(word) > 1 for word in common)
