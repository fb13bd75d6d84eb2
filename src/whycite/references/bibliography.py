"""What entries show together, and beside the citations of a draft: duplicates, doubled keys, what is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from whycite.documents.identity import group_references, normalise_arxiv, normalise_doi, normalise_isbn, normalise_pmid
from whycite.documents.model import Reference
from whycite.references.comparison import titles_agree
from whycite.references.entries import Bibliography, Entry
from whycite.references.report import ReferenceProblem

__all__ = ["missing_entries", "problems_between"]


def problems_between(bibliography: Bibliography) -> Mapping[int, list[ReferenceProblem]]:
    """Problems by the position of the entry that has them."""
    problems: defaultdict[int, list[ReferenceProblem]] = defaultdict(list)
    for position, problem in (
        *_doubled_keys(bibliography.entries),
        *_duplicates(bibliography.entries),
        *_uncited(bibliography),
    ):
        problems[position].append(problem)
    return problems


def missing_entries(bibliography: Bibliography) -> list[Entry]:
    """Stand-ins for the keys that a draft cites without an entry."""
    known = {entry.key for entry in bibliography.entries} | {*bibliography.document.by_id}
    missing = [key for key in bibliography.cited_keys or () if key not in known]
    return [Entry(Reference(key), bibliography.document.path) for key in missing]


def _doubled_keys(entries: Sequence[Entry]) -> Iterator[tuple[int, ReferenceProblem]]:
    first: dict[str, Entry] = {}
    for position, entry in enumerate(entries):
        earlier = first.setdefault(entry.key, entry)
        if earlier is not entry:
            same = entry.source and earlier.source and entry.source.fields == earlier.source.fields
            what = "the same entry stands" if same else "another entry has this key"
            yield position, ReferenceProblem("doubled-key", "", f"{what} on line {earlier.line} of {earlier.file}")


def _duplicates(entries: Sequence[Entry]) -> Iterator[tuple[int, ReferenceProblem]]:
    """Entries of one paper under two keys, and papers that share an identifier though their titles disagree."""
    first_by_identifier: dict[str, int] = {}
    first_by_paper: dict[int, int] = {}
    for position, (entry, paper) in enumerate(zip(entries, _papers(entries), strict=True)):
        shared = False
        for name, identifier in _identifiers(entry.reference):
            earlier = entries[first_by_identifier.setdefault(f"{name} {identifier}", position)]
            if earlier.key != entry.key and not titles_agree(earlier.reference.title, entry.reference.title):
                shared = True
                earlier_position = first_by_identifier[f"{name} {identifier}"]
                for owner, twin in ((position, earlier), (earlier_position, entry)):
                    message = f"'{twin.key}' ({twin.place}) has the same {name} and another title"
                    yield owner, ReferenceProblem("shared-identifier", name.lower(), message)
                break
        earlier = entries[first_by_paper.setdefault(paper, position)]
        if earlier.key != entry.key and not shared:
            yield position, ReferenceProblem("duplicate", "", f"the same paper as '{earlier.key}' ({earlier.place})")


def _papers(entries: Sequence[Entry]) -> list[int]:
    return group_references(entry.reference for entry in entries)


def _identifiers(reference: Reference) -> Iterator[tuple[str, str]]:
    if doi := normalise_doi(reference.doi):
        yield "DOI", doi
    if arxiv := normalise_arxiv(reference.arxiv):
        yield "arXiv id", arxiv
    if pmid := normalise_pmid(reference.pmid):
        yield "PubMed id", pmid
    if isbn := normalise_isbn(reference.isbn):
        yield "ISBN", isbn


def _uncited(bibliography: Bibliography) -> Iterator[tuple[int, ReferenceProblem]]:
    if bibliography.cited_keys is None:
        return
    for position, entry in enumerate(bibliography.entries):
        if entry.key not in bibliography.used_keys and entry.key not in bibliography.cited_keys:
            yield position, ReferenceProblem("uncited", "", "the draft never cites this entry")
