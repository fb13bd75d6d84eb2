"""Papers as BibTeX entries, CSL-JSON and RIS, and keys for them in the style of a bibliography."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count, product
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from whycite.documents.model import Reference
from whycite.documents.references.names import is_institution, parse_people
from whycite.documents.references.notices import describe_status, stated_notices
from whycite.documents.references.ris import TYPES
from whycite.text.tokens import fold, spell_greek
from whycite.text.wordlists import FUNCTION_WORDS

if TYPE_CHECKING:
    from whycite.library import Paper

__all__ = [
    "CitationKeys",
    "KeyStyle",
    "as_bibtex",
    "as_csl",
    "as_ris",
    "bibtex_entry",
    "key_style",
    "keyed_papers",
    "work_type",
]

_ESCAPED = {
    **{sign: f"\\{sign}" for sign in "&%$#_"},
    # BibTeX also counts braces after a backslash.
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
# "Proceedings of the Royal Society" is a journal: the name of a body, not of a meeting.
_BODY = re.compile(r"\bAcad|\bSoc|\bInst|\bEndowment\b|\bACM on\b|\bIEEE\Z", re.IGNORECASE)
# Types of CSL, and kinds of notices, as types of BibTeX; all others are "misc".
_ENTRY_TYPES = {
    "article-journal": "article", "article-magazine": "article", "article-newspaper": "article",
    "retraction": "article", "correction": "article", "concern": "article", "reinstatement": "article",
    "paper-conference": "inproceedings", "chapter": "incollection", "entry-encyclopedia": "incollection",
    "book": "book", "pamphlet": "booklet", "thesis": "phdthesis", "report": "techreport", "article": "misc",
    "webpage": "misc", "dataset": "misc", "software": "misc", "patent": "misc", "manuscript": "misc",
}  # fmt: skip
_VENUE_FIELDS = {"article": "journal", "inproceedings": "booktitle", "incollection": "booktitle", "book": "series"}
_PUBLISHED_BY = {"book": "publisher", "phdthesis": "school", "mastersthesis": "school", "techreport": "institution"}
_GENRES = {"phdthesis": "phd thesis", "mastersthesis": "master's thesis"}  # what styles print if nothing else is said
_BELOW_DOCTOR = re.compile(
    r"\b(?:master|m\.?\s?sc\b|magister|diplom(?!a[ct])|bachelor|licen[ct]|m\.?\s?phil\b|undergraduate)", re.IGNORECASE
)
_DOCTOR = re.compile(r"\bph\.?\s?d|\bdoctor|\bdissertation", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_JOINED_INITIALS = re.compile(r"(?P<family>[^,]*[^\W\d_A-Z][^,]*), (?P<initials>[A-Z]{1,3})")
_SUFFIXED = re.compile(r"(?P<family>[^,]+), (?P<given>[^,]+) (?P<suffix>Jr\.?|Sr\.?|II|III|IV|2nd|3rd)", re.IGNORECASE)
_UNSAFE_IN_ADDRESS = re.compile(r"[{}\\^\s]")
_NOT_IN_KEY = re.compile(r"[^a-z0-9]+")
_WHOLE_WORKS = ("book", "thesis", "report")
_NOTICES = ("retraction", "correction", "concern", "reinstatement")
_SUFFIXES = ("Jr.", "Jr", "Sr.", "Sr", "II", "III", "IV", "2nd", "3rd")
# The first RIS type of each type of CSL.
_RIS_TYPES = {type: tag for tag, type in reversed(TYPES.items())}


def as_bibtex(papers: Iterable[Paper], used_keys: Collection[str] = ()) -> str:
    """An entry for each paper under an unused key like `dyer2013simple`."""
    return "\n".join(bibtex_entry(key, paper) for key, paper in keyed_papers(papers, used_keys))


def keyed_papers(papers: Iterable[Paper], used_keys: Collection[str] = ()) -> Iterator[tuple[str, Paper]]:
    """Each paper with an unused key: the user's own, if there is one."""
    used = set(used_keys)
    for paper in papers:
        base_key = paper.citation_key or KeyStyle().key(paper.authors, paper.year, paper.title)
        key = next(key for key in chain([base_key], _numbered_keys(base_key)) if key not in used)
        used.add(key)
        yield key, paper


def bibtex_entry(key: str, paper: Paper) -> str:
    """The entry of a paper, with every field that is known."""
    kind = _entry_type(paper)
    fields = {name: value for name, value in _fields(kind, paper) if value}
    # The name of a month is an abbreviation that every style defines.
    lines = [f"  {name} = {value if name == 'month' else f'{{{value}}}'}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}", ""])


def _entry_type(paper: Paper) -> str:
    """The type of an entry: the one of its publication, unless the style would miss a field that this one requires."""
    publication, venue = paper.publication, paper.venue.strip()
    kind = _ENTRY_TYPES.get(work_type(paper), "misc")
    if kind in ("article", "inproceedings", "incollection") and not venue:
        return "misc"
    if kind == "incollection" and venue == publication.publisher:  # the title is the book's
        return "book"
    if kind == "incollection" and not publication.publisher:
        return "inproceedings"
    if kind == "book" and not (publication.publisher or venue):
        return "booklet"
    if kind == "phdthesis" and _BELOW_DOCTOR.search(publication.genre) and not _DOCTOR.search(publication.genre):
        kind = "mastersthesis"
    return (
        "misc"
        if kind in ("phdthesis", "mastersthesis", "techreport") and not (publication.publisher or venue)
        else kind
    )


def work_type(paper: Paper) -> str:
    """The type of a work in CSL's words; if its source does not say, what venue and publisher suggest."""
    venue, publication = paper.venue.strip(), paper.publication
    if publication.type:
        return publication.type
    if _is_meeting(venue):
        return "paper-conference"
    if venue:
        return "chapter" if publication.publisher not in ("", venue) else "article-journal"
    return "book" if paper.isbn else "document"


def _fields(kind: str, paper: Paper) -> Iterator[tuple[str, str]]:
    publication = paper.publication
    scheme, _, identifier = paper.key.partition(":")
    yield "title", _title(paper.title)
    people, editors = (" and ".join(map(_person, names)) for names in (paper.authors, publication.editors))
    if paper.authors != publication.editors:
        yield "author", f"{people} and others" if people and publication.et_al else people
        # A book with authors and editors has more people than styles can name.
        yield "editora" if kind == "book" and people else "editor", editors
    else:
        yield "editor", editors
    yield "year", str(paper.year or "")
    for name, number in zip(("month", "day"), _date_parts(paper)[1:], strict=False):
        yield name, _MONTHS[number - 1] if name == "month" else str(number)
    venue = _IN.sub("", paper.venue.strip())
    publisher = publication.publisher or (venue if kind in _PUBLISHED_BY else "")
    if kind not in _PUBLISHED_BY or venue not in (publisher, publication.series):
        yield _VENUE_FIELDS.get(kind, "howpublished"), _escape(venue)
    yield "volume", _escape(publication.volume)
    yield "number" if kind in ("article", "techreport", "misc") else "issue", _escape(publication.issue)
    yield "pages", _pages(publication.pages)
    if kind in ("phdthesis", "mastersthesis", "techreport", "misc"):
        yield "type", _genre(kind, publication.genre)
    yield _PUBLISHED_BY.get(kind, "publisher"), _escape(publisher)
    yield "address", _escape(publication.place)
    yield "version" if publication.type in ("software", "dataset") else "edition", _escape(publication.edition)
    yield "series", _escape(publication.series)
    yield "doi", _verbatim(paper.doi or (identifier if scheme == "doi" else ""))
    if arxiv := paper.arxiv or (identifier if scheme == "arxiv" else ""):
        yield "eprint", _verbatim(arxiv)
        yield "archiveprefix", "arXiv"
    yield "pmid", _verbatim(paper.pmid or (identifier if scheme == "pmid" else ""))
    yield "pmcid", _verbatim(publication.pmcid)
    yield "isbn", _verbatim(paper.isbn or publication.isbn)
    yield "issn", _verbatim(publication.issn)
    yield "url", _UNSAFE_IN_ADDRESS.sub(lambda sign: quote(sign[0]), publication.url)
    yield "urldate", _escape(publication.accessed)
    yield "note", _escape(_note(paper))


def _genre(kind: str, genre: str) -> str:
    """The kind of a thesis, report or other work; "" if the type of the entry says it."""
    if kind == "phdthesis" and not genre:
        return "Thesis"  # of which kind is not known
    return "" if genre.lower() == _GENRES.get(kind) else _escape(genre)


def _date_parts(paper: Paper) -> list[int]:
    """Year, month and day, as far as they are known."""
    date = paper.publication.date
    if date and date.startswith(f"{paper.year}-"):
        return [int(part) for part in date.split("-")]
    return [paper.year] if paper.year else []


def _note(paper: Paper) -> str:
    """The note of a paper; who cites a retracted one has to say so."""
    note = paper.publication.note
    own_words = Reference("", paper.title, publication=paper.publication)
    if paper.status not in ("retracted", "concern") or stated_notices(own_words):
        return note
    kinds = ("retraction", "concern")
    dois = [notice.doi for notice in paper.notices if notice.kind in kinds and notice.doi not in ("", paper.doi)]
    warning = describe_status(paper.status, ())
    return "; ".join(filter(None, (note, f"{warning}, see doi:{dois[0]}" if dois else warning)))


def _is_meeting(venue: str) -> bool:
    """Whether a venue is the proceedings of a meeting, not a journal."""
    if _MEETING.search(venue):
        return "journal" not in venue.lower()
    return bool(_PROCEEDINGS.match(venue)) and not _BODY.search(venue)


def _title(text: str) -> str:
    """A title with braces around names, which keep their capitals in styles that lower the rest."""
    return " ".join(_word(word) if any(map(str.isupper, word[1:])) else _escape(word) for word in text.split())


def _word(text: str) -> str:
    """A word in braces, and its punctuation outside them."""
    start, end = len(text) - len(text.lstrip(_PUNCTUATION)), len(text.rstrip(_PUNCTUATION))
    return f"{_escape(text[:start])}{{{_escape(text[start:end])}}}{_escape(text[end:])}"


def _pages(text: str) -> str:
    """Pages with the en dash of TeX."""
    return "--".join(map(_escape, text.split("-")))


def _person(name: str) -> str:
    """A name that BibTeX reads as one person, or in braces the name of an organisation."""
    written = _escape(" ".join(name.split()))
    if is_institution(name):
        return f"{{{written}}}"
    if suffixed := _SUFFIXED.fullmatch(written):
        return f"{suffixed['family']}, {suffixed['suffix']}, {suffixed['given']}"
    if joined := _JOINED_INITIALS.fullmatch(written):  # styles print "Lee, K" without a stop, of "RC" only R
        return f"{joined['family']}, {' '.join(f'{initial}.' for initial in joined['initials'])}"
    people = parse_people(written)
    if people == (name,) and ("," in name or " " not in name):
        return written
    if len(people) == 1 and people != (name,) and "," not in name:
        return _escape(people[0])  # "Chris Dyer"
    return f"{{{written}}}"


def _escape(text: str) -> str:
    return _LIGATURE.sub("{}", _SPECIAL.sub(lambda sign: _ESCAPED[sign[0]], " ".join(text.split())))


def _verbatim(text: str) -> str:
    """An identifier, escaped only if necessary, since programs turn it into links."""
    return _escape(text) if _UNSAFE.search(text) else text


_SAMPLE_SIZE = 100  # the last entries of a bibliography: habits change
_MIN_KEYS, _MIN_SHARE = 2, 0.1  # keys of the sample that make a style the bibliography's
_SEPARATOR = "[_:./+-]?"
# What may follow the author in a key.
_RESTS = {
    ("author", "year"): rf"(?P<first>{_SEPARATOR}){{year}}[a-z]?",
    ("author", "year", "word"): rf"(?P<first>{_SEPARATOR}){{year}}(?P<second>{_SEPARATOR})(?P<word>{{word}})",
    ("author", "word", "year"): rf"(?P<first>{_SEPARATOR})(?P<word>{{word}})(?P<second>{_SEPARATOR}){{year}}[a-z]?",
}
_CASES: dict[str, Callable[[str], str]] = {"lower": str.lower, "title": str.capitalize, "upper": str.upper}
_LETTERS = "bcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class KeyStyle:
    """How keys are made: "smith2010deep" has the parts author, year and word, no separators, and lower case."""

    parts: tuple[str, ...] = ("author", "year", "word")
    separators: tuple[str, ...] = ("", "")
    case: str = "lower"
    word_case: str = "lower"
    digits: int = 4  # of the year
    two_authors: bool = False  # whether two authors are both named

    def key(self, authors: Sequence[str], year: int | None, title: str) -> str:
        """The key for a work, without the parts that are unknown."""
        pieces = {
            "author": self._author(authors),
            "year": str(year)[-self.digits :] if year else "",
            "word": _CASES[self.word_case](_title_word(title)),
        }
        key = ""
        for part, separator in zip(self.parts, ("", *self.separators), strict=True):
            if pieces[part]:
                key += (separator if key else "") + pieces[part]
        return key

    def _author(self, authors: Sequence[str]) -> str:
        names = authors[:2] if self.two_authors and len(authors) == 2 else authors[:1]
        families = (_NOT_IN_KEY.sub("", fold(name.partition(",")[0])) for name in names)
        return "".join(_CASES[self.case](family) for family in families) or _CASES[self.case]("anonymous")


def key_style(references: Sequence[Reference]) -> KeyStyle:
    """The style of most keys in a bibliography; the default if they have none."""
    sample = [reference for reference in references if reference.authors and reference.year][-_SAMPLE_SIZE:]
    counted = Counter(style for entry in sample for style in _matching_styles(entry))
    best = max(counted.values(), default=0)
    if best < max(_MIN_KEYS, _MIN_SHARE * len(sample)):
        return KeyStyle()
    # Among equally common styles, the plainest: fewer parts, one author.
    return min((style for style in counted if counted[style] == best), key=lambda style: (len(style.parts), str(style)))


def _matching_styles(entry: Reference) -> set[KeyStyle]:
    """The styles that produce the key of an entry, apart from a letter that separates papers of one year."""
    styles = set()
    year, word = str(entry.year), _title_word(entry.title)
    for case, two_authors, digits in product(_CASES, (False, True), (4, 2)):
        plain = KeyStyle(("author",), (), case, "lower", digits, two_authors)
        rest = entry.id.removeprefix(plain.key(entry.authors, None, ""))
        if rest == entry.id:
            continue
        for parts, pattern in _RESTS.items():
            shape = pattern.format(year=year[-digits:], word=re.escape(word) or "(?!)")
            if match := re.fullmatch(shape, rest, re.IGNORECASE):
                written = match.groupdict().get("word")
                cases = [name for name, change in _CASES.items() if written == change(word)] if written else ["lower"]
                separators = tuple(match[name] for name in ("first", "second")[: len(parts) - 1])
                styles |= {KeyStyle(parts, separators, case, word_case, digits, two_authors) for word_case in cases[:1]}
    return styles


class CitationKeys:
    """Unused keys for new papers in the style of a bibliography; a paper keeps its key."""

    def __init__(
        self,
        references: Sequence[Reference],
        used_keys: Iterable[str] = (),
        style_of: Callable[[Sequence[Reference]], KeyStyle] = key_style,
    ) -> None:
        self._references, self._style_of = references, style_of
        # BibTeX takes "Smith2010" and "smith2010" for the same key.
        self._used_keys = {key.lower() for key in (*(reference.id for reference in references), *used_keys)}
        self._keys_by_paper: dict[str, str] = {}

    @cached_property
    def _style(self) -> KeyStyle:
        return self._style_of(self._references)

    def key_for(self, paper: Paper) -> str:
        """The key of a paper."""
        if paper.key not in self._keys_by_paper:
            base_key = paper.citation_key or self._style.key(paper.authors, paper.year, paper.title)
            key = next(key for key in _candidate_keys(base_key) if key.lower() not in self._used_keys)
            self._used_keys.add(key.lower())
            self._keys_by_paper[paper.key] = key
        return self._keys_by_paper[paper.key]


def _candidate_keys(key: str) -> Iterator[str]:
    yield key
    if key[-1].isdigit():
        yield from (key + letter for letter in _LETTERS)
    yield from _numbered_keys(key)


def _numbered_keys(key: str) -> Iterator[str]:
    yield from (f"{key}-{number}" for number in count(2))


def _title_word(title: str) -> str:
    words = _NOT_IN_KEY.split(spell_greek(fold(title)))
    return next((word for word in words if len(word) > 1 and not word.isdigit() and word not in FUNCTION_WORDS), "")


def as_csl(papers: Iterable[Paper]) -> list[dict[str, Any]]:
    """An item of CSL-JSON for each paper."""
    return [{name: value for name, value in _csl_fields(*keyed) if value} for keyed in keyed_papers(papers)]


def as_ris(papers: Iterable[Paper]) -> str:
    """A record of RIS for each paper."""
    return "".join(_ris_record(key, paper) for key, paper in keyed_papers(papers))


def _type(paper: Paper) -> str:
    type = work_type(paper)
    return "article-journal" if type in _NOTICES else type


def _csl_fields(key: str, paper: Paper) -> Iterator[tuple[str, Any]]:
    publication, type = paper.publication, _type(paper)
    yield "id", key
    yield "type", type
    yield "title", " ".join(paper.title.split())
    if paper.authors != publication.editors:
        et_al = [{"literal": "others"}] if publication.et_al and paper.authors else []
        yield "author", [*map(_csl_person, paper.authors), *et_al]
    yield "editor", [*map(_csl_person, publication.editors)]
    if parts := _date_parts(paper):
        yield "issued", {"date-parts": [parts]}
    yield "container-title", "" if type in _WHOLE_WORKS else paper.venue
    yield "volume", publication.volume
    yield "number" if type == "report" else "issue", publication.issue
    yield "page", publication.pages
    yield "publisher", _publisher(paper, type)
    yield "publisher-place", publication.place
    yield "version" if type in ("software", "dataset") else "edition", publication.edition
    yield "genre", publication.genre
    yield "collection-title", publication.series
    yield "DOI", paper.doi or _identifier(paper, "doi")
    if arxiv := paper.arxiv or _identifier(paper, "arxiv"):
        yield "archive", "arXiv"
        yield "archive_location", arxiv
        if type in ("article", "document"):
            yield "number", f"arXiv:{arxiv}"
    yield "PMID", paper.pmid or _identifier(paper, "pmid")
    yield "PMCID", publication.pmcid
    yield "ISBN", paper.isbn or publication.isbn
    yield "ISSN", publication.issn
    yield "URL", publication.url
    if publication.accessed:
        yield "accessed", {"date-parts": [[int(part) for part in publication.accessed.split("-")]]}
    yield "abstract", paper.abstract
    yield "note", _note(paper)


def _publisher(paper: Paper, type: str) -> str:
    """The publisher; of a book that names only its venue, that is it."""
    publication = paper.publication
    is_venue = type in _WHOLE_WORKS and paper.venue != publication.series
    return publication.publisher or (paper.venue if is_venue else "")


def _csl_person(name: str) -> dict[str, str]:
    family, comma, given = name.partition(", ")
    if not comma or is_institution(name):
        return {"literal": name}
    given_names, _, suffix = given.rpartition(" ")
    if given_names and suffix in _SUFFIXES:
        return {"family": family, "given": given_names, "suffix": suffix}
    return {"family": family, "given": given}


def _ris_record(key: str, paper: Paper) -> str:
    lines = (f"{tag}  - {' '.join(value.split())}" for tag, value in _ris_fields(key, paper) if value)
    return "\n".join([*lines, "ER  - ", "", ""])


def _ris_fields(key: str, paper: Paper) -> Iterator[tuple[str, str]]:
    publication, type = paper.publication, _type(paper)
    yield "TY", _RIS_TYPES.get(type, "GEN")
    yield "ID", key
    yield "TI", paper.title
    if paper.authors != publication.editors:
        yield from (("AU", _ris_person(name)) for name in paper.authors)
        yield "AU", "et al." if publication.et_al and paper.authors else ""
    yield from (("A2", _ris_person(name)) for name in publication.editors)
    yield "PY", str(paper.year or "")
    if len(parts := _date_parts(paper)) > 1:
        yield "DA", "/".join(f"{part:02}" for part in parts) + "/" * (4 - len(parts))
    yield "T2", "" if type in _WHOLE_WORKS else paper.venue
    yield "VL", publication.volume
    yield "IS", publication.issue
    first_page, _, last_page = publication.pages.partition("-")
    yield "SP", first_page
    yield "EP", last_page
    yield "PB", _publisher(paper, type)
    yield "CY", publication.place
    yield "ET", publication.edition
    yield "M3", publication.genre
    yield "T3", publication.series
    yield "SN", paper.isbn or publication.isbn
    yield "SN", publication.issn
    yield "DO", paper.doi or _identifier(paper, "doi")
    if arxiv := paper.arxiv or _identifier(paper, "arxiv"):
        yield "UR", f"https://arxiv.org/abs/{arxiv}"
    if pmid := paper.pmid or _identifier(paper, "pmid"):
        yield "AN", pmid
        yield "DB", "PubMed"
    yield "C2", publication.pmcid
    yield "UR", publication.url
    yield "Y2", publication.accessed.replace("-", "/")
    yield "AB", paper.abstract
    yield "N1", _note(paper)


def _ris_person(name: str) -> str:
    """A name as RIS writes it: "Family, Given, Suffix"."""
    person = _csl_person(name)
    if "literal" in person:
        return name
    return ", ".join(person[part] for part in ("family", "given", "suffix") if part in person)


def _identifier(paper: Paper, scheme: str) -> str:
    """The identifier that the key of a paper has, if it is of this scheme."""
    name, _, identifier = paper.key.partition(":")
    return identifier if name == scheme else ""
