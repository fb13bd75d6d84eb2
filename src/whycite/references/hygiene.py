"""What an entry shows by itself, without a record of its paper and without other entries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from html import unescape
from urllib.parse import unquote

from whycite.documents.identity import (
    normalise_arxiv,
    normalise_doi,
    normalise_isbn,
    normalise_pmid,
    normalise_title,
)
from whycite.documents.model import Reference
from whycite.documents.references.names import is_institution
from whycite.documents.references.reader import iso_date
from whycite.references.comparison import VENUES, has_many_dois
from whycite.references.entries import Entry
from whycite.references.report import ReferenceProblem
from whycite.text.accents import untex
from whycite.text.wordlists import load_tables

__all__ = ["arxiv_year", "entry_problems", "venue_problems"]

_TABLES = load_tables(__name__)
_PLACEHOLDER_NAMES = frozenset(_TABLES["placeholder_names"])
_PLACEHOLDER_TITLES = frozenset(_TABLES["placeholder_titles"])
_PLACEHOLDER_VENUES = frozenset(_TABLES["placeholder_venues"])
_REQUIRED: Mapping[str, list[str]] = _TABLES["required"]

_DOI_ALONE = re.compile(r"10\.\d{4,9}(?:\.\d+)*/\S+")
_ESCAPED_SLASH = re.compile(r"10\.\d{4,9}(?:\.\d+)*%2f", re.IGNORECASE)
_SHORT_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/)?10/[a-z0-9]{3,12}", re.IGNORECASE)
_DOI_ADDRESS = re.compile(r"(?:https?://(?:www\.|dx\.)?doi\.org/|(?:dx\.)?doi\.org/|doi:\s*)+(10\.\S+)", re.IGNORECASE)
_CUT_DOI = re.compile(r"10\.\d{4,9}(?:/\s|\s+/|\s+\d*/)")
# How an address begins; "htp:" and "http:/" are mistakes, not schemes of their own.
_SCHEME = re.compile(
    r"(?:https?|ftps?)://(?=[\w\[])(?!https?:)|(?!h?t{0,3}p{0,2}s?:|localhost:)[a-z][a-z0-9+.-]{1,20}:(?=\S)",
    re.IGNORECASE,
)
_OWN_ADDRESS = re.compile(r"https?://(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?=[:/]|$)|file:", re.IGNORECASE)
_DATE_NUMBERS = re.compile(r"\d+")
_URL_COMMAND = re.compile(r"\\(?:url|path|nolinkurl)\s*\{(.*)\}", re.DOTALL)
_MACRO = re.compile(r"(\\text[a-z]{4,20}) ")  # TeX drops the blank after it
# What biblatex takes for a date: a range of days, months or seasons, which may be unsure or open.
_BIBLATEX_DATE = re.compile(
    r"(?:-?[\dX]{4}(?:-(?P<month>\d\d|XX)(?:-(?P<day>\d\d|XX)(?:T[\d:]{4,8}(?:Z|[+-][\d:]{2,5})?)?)?)?[~?%]?|\.\.|y-?\d{5,})?",
    re.IGNORECASE,
)
_SEASONS = range(21, 42)  # in the place of a month, from biblatex 3.8 on
_ISSN = re.compile(r"\b(\d{4})[-‐–]?(\d{3}[\dX])\b", re.IGNORECASE)
_ORCID = re.compile(r"(?:orcid\.org/|orcid[:=\s]*)(\d[\dX -]{10,24}[\dX])", re.IGNORECASE)
_ORCID_ALONE = re.compile(r"[\dX -]{12,25}", re.IGNORECASE)
_UNSURE = re.compile(r"\?{3,}|^(?:TODO|TBD|FIXME)\b(?! list)")
_UNSURE_TITLE = re.compile(r"\?{4,}|^\?{3}|^(?:TODO|TBD|FIXME)\b(?! list)")  # a title may end in "???"
_X_ALONE = re.compile(r"(?:x{2,}|y{2,}|z{2,})(?: (?:x{2,}|y{2,}|z{2,}))*")  # for what is not known yet
_X_YEAR = re.compile(r"(?:19|20)?xx|x{3,}|yyyy", re.IGNORECASE)
# What a template has in brackets; titles in brackets are translated, and libraries supply small words so.
_BLANK = re.compile(
    r"[\[<](?!(?:of|the| )+[\]>])"
    r"(?:(?:the|your|insert|name|names|of|journal|conference|proceedings|field|topic|subject|venue|year|publication)"
    r"(?: |(?=[\]>])))+[\]>]",
    re.IGNORECASE,
)
_BLANK_NAME = re.compile(
    r"(?:last ?name|sur ?name|family ?name)\d? [a-z]|[a-z] (?:last ?name|sur ?name|family ?name)\d?"
)
_RESERVED_ADDRESS = re.compile(r"https?://(?:[\w-]{1,63}\.){0,3}example\.(?:com|org|net)(?![\w.-])", re.IGNORECASE)
_X_DOI = re.compile(r"10\.\d{4,9}/(?:x{3,}|xyz\d*|example|placeholder|insert[-_]?doi|todo)(?:[./-]x+)*", re.IGNORECASE)
_MALFORMED_YEAR = re.compile(r"'?\d{1,2}|\d{5,}", re.ASCII)  # three digits may be a year of antiquity
_ARXIV_NUMBER = re.compile(
    r"\barxiv(?:\.org/(?:abs|pdf)/|[\s:]{1,3})(\d{3,4}\.\d{3,})(?:v\d{1,3})?(?!\w)", re.IGNORECASE
)
_NEW_ARXIV_ID = re.compile(r"(\d\d)(0[1-9]|1[0-2])\.(\d{4,5})")
_OLD_ARXIV_ID = re.compile(r"[a-z-]+/(\d\d)\d{5}")
_ARXIV_FIELDS = ("eprint", "journal", "journaltitle", "note", "howpublished", "url")
_ARXIV_NAMES = ("eprint", "journal", "journaltitle", "url")
_ARXIV_VENUE = re.compile(r"arxiv\b|corr\b|computing research repository", re.IGNORECASE)
_POSTED_DOI = re.compile(r"10\.1101/(20\d\d)\.[01]\d\.[0-3]\d\.\d")  # of bioRxiv and medRxiv
_OTHER_IDENTIFIERS = (
    "doi", "eprint", "url", "mrnumber", "zbl", "zblnumber", "adsurl", "bibcode", "jstor", "handle", "hal_id", "ee",
)  # fmt: skip
_MAX_SEARCHED = 2000  # characters of a field
_MAX_COMMAS = 2  # in a name: "von Family, Jr., Given"
_MAX_QUOTED = 60  # characters of an author list or an address that are quoted
_ET_AL = re.compile(r"(?:\s+and|,)?\s+et\.?\s+al\b\.?\s*$", re.IGNORECASE)
_YEARS_AHEAD = 1  # journals date issues into the next year
_YEARS_APART = 1  # proceedings may appear in the year after the conference


def entry_problems(entry: Entry, today: date) -> Iterator[ReferenceProblem]:
    """The problems of an entry that need no other source."""
    yield from _placeholders(entry)
    yield from _year(entry, today.year)
    yield from _arxiv(entry, today.year)
    yield from _dates(entry, today)
    for check in (
        _identifiers_differ,
        _doi,
        _pmid,
        _isbn,
        _issn,
        _orcid,
        _url,
        _et_al,
        _author_list,
        _missing_fields,
        _no_identifier,
    ):
        yield from check(entry)


def _value(entry: Entry, name: str) -> str:
    return " ".join(untex(entry.fields.get(name, "")).split())


def _placeholders(entry: Entry) -> Iterator[ReferenceProblem]:
    title = entry.reference.title
    if title and (normalise_title(title) in _PLACEHOLDER_TITLES or _UNSURE_TITLE.search(title)):
        yield ReferenceProblem("placeholder", "title", f"“{title}” is not a title")
    # A reader leaves out authors without a letter, such as "???".
    names = [
        name for name in (*entry.reference.authors, _value(entry, "author")) if name and _is_placeholder_name(name)
    ]
    if names:
        yield ReferenceProblem("placeholder", "author", f"“{names[0]}” is not an author")
    venue = entry.reference.venue
    if venue and (normalise_title(venue) in _PLACEHOLDER_VENUES or _UNSURE.fullmatch(venue) or _BLANK.search(venue)):
        yield ReferenceProblem("placeholder", "venue", f"“{venue}” is not a journal or a conference")
    year = _value(entry, "year")
    if _X_YEAR.fullmatch(year) or _UNSURE.fullmatch(year) or _BLANK.fullmatch(year):
        yield ReferenceProblem("placeholder", "year", f"“{year}” is not a year")
    address = _value(entry, "url") or entry.reference.publication.url
    if _RESERVED_ADDRESS.match(address):  # by RFC 2606, nothing is there
        yield ReferenceProblem("placeholder", "url", f"“{address}” is an address for examples, where no paper is")


def _is_placeholder_name(author: str) -> bool:
    name = normalise_title(author)
    if not name or name in _PLACEHOLDER_NAMES:
        return True
    return bool(_X_ALONE.fullmatch(name) or _BLANK_NAME.fullmatch(name) or _UNSURE.search(author))


def _year(entry: Entry, this_year: int) -> Iterator[ReferenceProblem]:
    value = _value(entry, "year")
    year = int(value) if re.fullmatch(r"[1-9]\d{3}", value, re.ASCII) else entry.reference.year
    if year is not None and year > this_year + _YEARS_AHEAD:
        yield ReferenceProblem("future-year", "year", f"{year} is in the future")
    elif year is None and _MALFORMED_YEAR.fullmatch(value):
        yield ReferenceProblem("malformed-year", "year", f"“{value}” is not a year; one has four digits")


def _doi(entry: Entry) -> Iterator[ReferenceProblem]:
    value = _value(entry, "doi")
    if not value or normalise_arxiv(value) or _SHORT_DOI.fullmatch(value):  # people put bare arXiv ids there
        return
    if _X_DOI.fullmatch(normalise_doi(value)):
        yield ReferenceProblem("placeholder", "doi", f"“{value}” is not the DOI of a paper")
    elif not normalise_doi(value):
        reason = "it has a blank in it" if _CUT_DOI.match(value) else "one begins with 10. and has a slash"
        yield ReferenceProblem("malformed-doi", "doi", f"“{value}” is not a DOI; {reason}")
    elif (doi := _doi_alone(value)) != value and _DOI_ALONE.fullmatch(doi):
        yield ReferenceProblem("doi-form", "doi", f"the field should be the DOI alone: {doi}", correction=doi)


def _doi_alone(value: str) -> str:
    """A DOI without the address of its resolver, a stop after it, and the escapes of an address."""
    address = _DOI_ADDRESS.fullmatch(value)
    doi = address[1] if address else value
    if address or _ESCAPED_SLASH.match(doi):
        doi = unquote(doi)
    return doi.rstrip(".,;") if normalise_doi(doi) == doi.rstrip(".,;").lower() else doi


def _arxiv(entry: Entry, this_year: int) -> Iterator[ReferenceProblem]:
    archive = (_value(entry, "archiveprefix") or _value(entry, "eprinttype")).lower()
    for name in _ARXIV_FIELDS:
        text = entry.fields.get(name, "")[:_MAX_SEARCHED]
        if name == "eprint" and text and archive == "arxiv" and not entry.reference.arxiv:
            yield ReferenceProblem("malformed-arxiv", name, _no_arxiv_id(_value(entry, name)))
            return
        match = _ARXIV_NUMBER.search(f"arXiv:{text}" if name == "eprint" and archive == "arxiv" else text)
        number = match[1] if match else ""
        if fault := _arxiv_fault(number, this_year):
            yield ReferenceProblem("malformed-arxiv", name, _no_arxiv_id(number) + fault)
            return
    doi = _value(entry, "doi").lower()
    if "10.48550/" in doi and not normalise_arxiv(doi):
        yield ReferenceProblem("malformed-arxiv", "doi", f"“{doi}” is not the DOI of an arXiv paper")


def _identifiers_differ(entry: Entry) -> Iterator[ReferenceProblem]:
    """Two identifiers of one kind in one entry, of which one belongs to another paper."""
    archive = (_value(entry, "archiveprefix") or _value(entry, "eprinttype")).lower()
    texts = {name: _value(entry, name)[:_MAX_SEARCHED] for name in _ARXIV_NAMES}
    texts["eprint"] = f"arXiv:{texts['eprint']}" if archive == "arxiv" else ""
    numbers = {name: match[1] for name, text in texts.items() if (match := _ARXIV_NUMBER.search(text))}
    doi, linked_doi = (normalise_doi(_value(entry, name)) for name in ("doi", "url"))
    if "10.48550/" in doi and (number := normalise_arxiv(doi)):
        numbers["doi"] = number
    for name, number in numbers.items():
        first_name, first_number = next(iter(numbers.items()))
        if number != first_number:
            message = f"arXiv id {first_number} in the field {first_name}, but {number} in the field {name}"
            yield ReferenceProblem("identifiers-differ", name, message)
            return
    is_part = doi.startswith(linked_doi) or linked_doi.startswith(doi)  # one of them may be ""
    if not is_part and not has_many_dois(doi) and not has_many_dois(linked_doi):
        message = f"the DOI is {doi}, but the address is that of {linked_doi}"
        yield ReferenceProblem("identifiers-differ", "url", message)


def _no_arxiv_id(text: str) -> str:
    return f"“{text}” is not an arXiv id, such as 2101.00001 or hep-th/9901001"


def _arxiv_fault(number: str, this_year: int) -> str:
    """What is wrong with a number of arXiv's present form; "" if nothing is."""
    if not number:
        return ""
    match = _NEW_ARXIV_ID.fullmatch(number)
    if not match:
        return "; it begins with year and month, and has four or five digits after the dot"
    if 2000 + int(match[1]) > this_year:
        return f"; it would be of {2000 + int(match[1])}"
    is_long = match[1] + match[2] >= "1501"
    if len(match[3]) != (5 if is_long else 4):
        return f"; {'since 2015 five' if is_long else 'until 2014 four'} digits follow the dot"
    return ""


def _pmid(entry: Entry) -> Iterator[ReferenceProblem]:
    value = _value(entry, "pmid")
    if value and not normalise_pmid(value):
        yield ReferenceProblem(
            "malformed-pmid", "pmid", f"“{value}” is not a PubMed id, which is a number of up to 8 digits"
        )


def _isbn(entry: Entry) -> Iterator[ReferenceProblem]:
    value = _value(entry, "isbn")
    digits = re.sub(r"[^\dX]", "", value.upper())
    if not digits or normalise_isbn(value):
        return
    reason = "its check digit is wrong" if len(digits) in (10, 13) else "it needs 10 or 13 digits"
    if any(map(_is_issn, _issn_numbers(value))):
        reason = "it is an ISSN, which has a field of its own"
    yield ReferenceProblem("malformed-isbn", "isbn", f"“{value}” is not an ISBN: {reason}")


def _issn(entry: Entry) -> Iterator[ReferenceProblem]:
    value = _value(entry, "issn")
    numbers = _issn_numbers(value)
    if not re.search(r"\d", value) or any(map(_is_issn, numbers)):
        return
    reason = "its check digit is wrong" if numbers else "it needs 8 digits"
    if normalise_isbn(value):
        reason = "it is an ISBN, which has a field of its own"
    yield ReferenceProblem("malformed-issn", "issn", f"“{value}” is not an ISSN: {reason}")


def _issn_numbers(value: str) -> list[str]:
    return [match[1] + match[2].upper() for match in _ISSN.finditer(value)]


def _is_issn(number: str) -> bool:
    total = sum(int(digit) * (8 - index) for index, digit in enumerate(number[:7]))
    return number[7] == "0123456789X"[-total % 11]


def _orcid(entry: Entry) -> Iterator[ReferenceProblem]:
    for name, value in entry.fields.items():
        if name == "orcid" or name.startswith("orcid-"):
            numbers = _ORCID.findall(value) or [
                part for part in value.split(",") if _ORCID_ALONE.fullmatch(part.strip())
            ]
        elif name in ("author", "authorid", "note") and "orcid" in value.lower():
            numbers = _ORCID.findall(value)
        else:
            continue
        for number in numbers:
            if not _is_orcid(re.sub(r"[^\dX]", "", number.upper())):
                yield ReferenceProblem(
                    "malformed-orcid", name, f"“{number.strip()}” is not an ORCID: its check digit is wrong"
                )


def _is_orcid(digits: str) -> bool:
    """Whether sixteen digits end in the right one (ISO 7064, MOD 11-2)."""
    if len(digits) != 16 or not digits[:15].isdigit():
        return False
    total = 0
    for digit in digits[:15]:
        total = (total + int(digit)) * 2
    return digits[15] == "0123456789X"[(12 - total % 11) % 11]


def _url(entry: Entry) -> Iterator[ReferenceProblem]:
    """An address that is none, or is one of the author's own machine."""
    value = entry.fields.get("url", "").strip()[:_MAX_SEARCHED]
    command = _URL_COMMAND.fullmatch(value)
    value = _MACRO.sub(r"\1", " ".join((command[1] if command else value).strip("{}<> ").split()))
    if not value or ("\\" in value and not _SCHEME.match(value)):
        return  # a macro
    reason = ""
    if not _SCHEME.match(value):
        reason = "is not a whole address; one begins with https://"
    elif _OWN_ADDRESS.match(value):
        reason = "is an address that only your own computer has"
    elif " " in value:
        reason = "is more than one address" if "http" in value[1:] else "has a blank in it, where the link will end"
    if reason:
        yield ReferenceProblem("malformed-url", "url", f"“{_quoted(value)}” {reason}")


def _dates(entry: Entry, today: date) -> Iterator[ReferenceProblem]:
    """Days that no calendar has, and visits to an address that are still to come."""
    is_biblatex = "date" in entry.fields or "journaltitle" in entry.fields
    for name in ("date", "origdate", "eventdate", "urldate"):
        value = _value(entry, name)
        if not value or (name == "date" and "year" in entry.fields):  # BibTeX does not know it
            continue
        written = iso_date(value)
        if name == "urldate" and written > today.isoformat():
            yield ReferenceProblem("malformed-date", name, f"the visit of {value} is in the future")
        elif not _is_date(value) and (is_biblatex or not written):
            # A second number is the end of a range, which must not be lost.
            is_one_date = len(_DATE_NUMBERS.findall(value)) <= len(written.split("-"))
            correction = written if len(written) > len("2019") and is_one_date else ""
            advice = f"; write {written}" if correction else ""
            reason = "is in no calendar" if _BIBLATEX_DATE.fullmatch(value) else "is not a date as 2019-06-05 is one"
            message = f"“{value}” {reason}{advice}"
            yield ReferenceProblem("malformed-date", name, message, correction=correction)


def _is_date(value: str) -> bool:
    """Whether biblatex reads a date, or a range of two."""
    for text in value.split("/", 1):
        match = _BIBLATEX_DATE.fullmatch(text.strip())
        if not match:
            return False
        month, day = match["month"] or "01", match["day"] or "01"
        if month.isdigit() and not (day == "01" and int(month) in _SEASONS):
            year = text.strip()[:4]
            day = day if day.isdigit() else "01"
            if not iso_date(f"{year if year.isdigit() else 2000}-{month}-{day}"):
                return False
    return True


def _et_al(entry: Entry) -> Iterator[ReferenceProblem]:
    for name in ("author", "editor"):
        value = entry.source.fields.get(name, "") if entry.source else ""
        if _ET_AL.search(value):
            correction = _ET_AL.sub(" and others", value)
            yield ReferenceProblem(
                "et-al", name, "write “and others” instead of “et al.”", correction=" ".join(correction.split())
            )


def _author_list(entry: Entry) -> Iterator[ReferenceProblem]:
    """Names that BibTeX takes for one, since there is no "and" between them."""
    for field in ("author", "editor"):
        for name in re.split(r"\sand\s", _outside_braces(entry.source.fields.get(field, "") if entry.source else "")):
            inner = name.strip(" ,;\n")
            if "=" not in name and (inner.count(",") > _MAX_COMMAS or ";" in inner or _is_list(inner)):
                advice = "put “and” between names"
                if "&" in name and "," not in name:
                    advice = "put “and” between names, or the name of an institution in braces"
                elif is_institution(name):
                    advice = "put the name of an institution in braces"
                yield ReferenceProblem("author-list", field, f"“{_quoted(name)}” is read as one person; {advice}")
                break


def _quoted(text: str) -> str:
    """A value of a field for a message, cut if it is long."""
    text = " ".join(text.split())
    return text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}…"


def _is_list(name: str) -> bool:
    """Whether what BibTeX takes for one name is several: "John Doe, Jane Roe, Jim Poe", "John Doe & Jane Roe"."""
    parts = [part.split() for part in name.split(",")]
    if len(parts) == 1 + _MAX_COMMAS:  # the part between the commas should be "Jr."
        return all(len(part) > 1 and not any("." in word for word in part) for part in parts)
    return bool(re.search(r"\s\\?&\s", name))


def _outside_braces(value: str) -> str:
    """TeX without the commas, semicolons and words that braces protect."""
    depth, characters = 0, []
    for character in unescape(value):
        depth += (character == "{") - (character == "}")
        characters.append("." if depth and character in ",; \n=" else character)
    return "".join(character for character in characters if character not in "{}")


def _missing_fields(entry: Entry) -> Iterator[ReferenceProblem]:
    """Fields that the styles need; an entry without any field is reported once."""
    for alternatives in _REQUIRED.get(entry.type, ()):
        names = alternatives.split("|")
        if not any(entry.fields.get(name, "").strip() for name in names):
            yield ReferenceProblem("missing-field", names[0], f"@{entry.type} needs the field {names[0]}")


def _no_identifier(entry: Entry) -> Iterator[ReferenceProblem]:
    """An article of a journal that can only be looked up by its title; books, talks and theses often can."""
    reference = entry.reference
    identifiers = (reference.doi, reference.arxiv, reference.pmid, reference.publication.pmcid)
    others = (entry.fields.get(name) for name in _OTHER_IDENTIFIERS)
    is_article = entry.type == "article" and reference.title and reference.venue
    if is_article and not any(identifiers) and not any(others):
        yield ReferenceProblem("no-identifier", "doi", "no DOI, so the article can only be looked up by its title")


def venue_problems(reference: Reference) -> Iterator[ReferenceProblem]:
    """A DOI of one journal or conference in an entry that names another, or a year in which it cannot have appeared."""
    posted_year = arxiv_year(normalise_arxiv(reference.arxiv)) if _ARXIV_VENUE.match(reference.venue) else 0
    if reference.year and posted_year - reference.year > _YEARS_APART:
        yield ReferenceProblem("year-differs", "year", f"{reference.year}, but the arXiv id is of {posted_year}")
    doi = normalise_doi(reference.doi)
    posted = _POSTED_DOI.match(doi)
    if posted and reference.year and reference.year < int(posted[1]):
        yield ReferenceProblem("year-differs", "year", f"{reference.year}, but the DOI is of {posted[1]}")
    for venue in VENUES if doi else ():
        match = venue.doi.match(doi) if venue.doi else None
        if not match:
            continue
        named = [candidate for candidate in VENUES if candidate.is_named(reference.venue)]
        if named and venue not in named:
            yield ReferenceProblem("venue-differs", "venue", f"“{reference.venue}”, but the DOI is of {venue.label}")
        if venue.year is not None and reference.year is not None:
            year = int(match["number"]) + venue.year
            if abs(year - reference.year) > _YEARS_APART:
                yield ReferenceProblem(
                    "year-differs", "year", f"{reference.year}, but the DOI is of {venue.label} {year}"
                )


def arxiv_year(number: str) -> int:
    """The year that an arXiv id names; 0 if it is none."""
    if match := _NEW_ARXIV_ID.fullmatch(number):
        return 2000 + int(match[1])
    match = _OLD_ARXIV_ID.fullmatch(number)
    return int(match[1]) + (1900 if match[1] > "90" else 2000) if match else 0
