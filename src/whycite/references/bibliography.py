"""What entries show together, and beside the citations of a draft: duplicates, doubled keys, what is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from whycite.documents.identity import group_references, normalise_arxiv, normalise_doi, normalise_isbn, normalise_pmid
from whycite.documents.model import Reference
from whycite.references.comparison import authors_agree, titles_agree
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
    entry_keys = {entry.key for entry in bibliography.entries} | {*bibliography.document.by_id}
    missing = [key for key in bibliography.cited_keys or () if key not in entry_keys]
    return [Entry(Reference(key), bibliography.document.path) for key in missing]


def _doubled_keys(entries: Sequence[Entry]) -> Iterator[tuple[int, ReferenceProblem]]:
    by_key: dict[str, Entry] = {}
    for position, entry in enumerate(entries):
        earlier = by_key.setdefault(entry.key, entry)
        if earlier is not entry:
            same = entry.source and earlier.source and entry.source.fields == earlier.source.fields
            what = "the same entry stands" if same else "another entry has this key"
            yield position, ReferenceProblem("doubled-key", "", f"{what} on line {earlier.line} of {earlier.file}")


def _duplicates(entries: Sequence[Entry]) -> Iterator[tuple[int, ReferenceProblem]]:
    """Entries of one paper under two keys, and papers that share an identifier though their titles disagree."""
    by_key: dict[str, Entry] = {}
    by_identifier: dict[str, int] = {}
    by_paper: defaultdict[int, list[Entry]] = defaultdict(list)
    for position, (entry, paper) in enumerate(zip(entries, _papers(entries), strict=True)):
        if by_key.setdefault(entry.key, entry) is not entry:
            continue  # said of its key
        shared = False
        for name, identifier in _identifiers(entry.reference):
            earlier_position = by_identifier.setdefault(f"{name} {identifier}", position)
            earlier = entries[earlier_position]
            if earlier is not entry and not titles_agree(earlier.reference.title, entry.reference.title):
                shared = True
                for owner, twin in ((position, earlier), (earlier_position, entry)):
                    message = f"'{twin.key}' ({twin.place}) has the same {name} and another title"
                    yield owner, ReferenceProblem("shared-identifier", name.lower(), message)
                break
        if by_paper[paper] and not shared:
            yield position, _duplicate(entry.reference, by_paper[paper])
        by_paper[paper].append(entry)


def _duplicate(reference: Reference, earlier_entries: Sequence[Entry]) -> ReferenceProblem:
    """That a reference is the paper of an earlier entry, the one with its title if any, and how they disagree."""
    entry = next(
        (entry for entry in earlier_entries if titles_agree(entry.reference.title, reference.title)), earlier_entries[0]
    )
    message = f"the same paper as '{entry.key}' ({entry.place})"
    stranger = authors_agree(reference.authors, entry.reference.authors)
    if not stranger:
        return ReferenceProblem("duplicate", "", message)
    return ReferenceProblem(
        "duplicate", "author", f"{message}, which does not name “{stranger}” among its authors; one of the two is wrong"
    )


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
