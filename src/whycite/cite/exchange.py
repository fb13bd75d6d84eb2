"""Papers as CSL-JSON and RIS, which other programs import."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from whycite.cite.bibtex import keyed_papers, work_type
from whycite.documents.references.names import is_institution
from whycite.documents.references.ris import TYPES

if TYPE_CHECKING:
    from whycite.library import Paper

__all__ = ["as_csl", "as_ris"]

_WHOLE_WORKS = ("book", "thesis", "report")
_NOTICES = ("retraction", "correction", "concern", "reinstatement")
_SUFFIXES = ("Jr.", "Jr", "Sr.", "Sr", "II", "III", "IV", "2nd", "3rd")
# The first RIS type of each type of CSL.
_RIS_TYPES = {type: tag for tag, type in reversed(TYPES.items())}


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
    if paper.year:
        yield "issued", {"date-parts": [[paper.year]]}
    yield "container-title", "" if type in _WHOLE_WORKS else paper.venue
    yield "volume", publication.volume
    yield "number" if type == "report" else "issue", publication.issue
    yield "page", publication.pages
    yield "publisher", _publisher(paper, type)
    yield "publisher-place", publication.place
    yield "edition", publication.edition
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
    yield "abstract", paper.abstract
    yield "note", publication.note


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
    yield "T2", "" if type in _WHOLE_WORKS else paper.venue
    yield "VL", publication.volume
    yield "IS", publication.issue
    first_page, _, last_page = publication.pages.partition("-")
    yield "SP", first_page
    yield "EP", last_page
    yield "PB", _publisher(paper, type)
    yield "CY", publication.place
    yield "ET", publication.edition
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
    yield "AB", paper.abstract
    yield "N1", publication.note


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
