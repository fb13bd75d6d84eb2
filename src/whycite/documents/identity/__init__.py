"""When two references are the same paper.

1. The same key (`paper_key`) is the same paper: DOI, else arXiv id of any version, else PMID, else normalised
   title and year, plus the first author's family name if the title alone does not identify the paper.
2. The same PMID or arXiv id besides the key is the same paper, and so is the same ISBN with the same title. They join
   two published DOIs only if the titles agree: identifiers are often copied to the wrong entry.
3. The same title joins references unless an identifier keeps them apart: two published DOIs, two PMIDs (except a
   preprint's) or two arXiv ids do; the DOI of a preprint does not.
   - The first author's family name must agree, and the years be within one, or within five if either is a preprint.
   - A title of seven words that is not the name of a volume needs no author if the year is the same. Of real
     references with the same title and year but another first author, 403 of 423 such pairs had the same DOI, but
     only 15 of 29 with titles of four or five words.
   - "Editorial", "Introduction" and the like join nothing.
   - If several papers with a DOI match, the nearest year wins, then the one cited most: a reference without
     identifiers never merges two papers.
   - Without any identifier, "within one year" does not chain: the years of a paper span at most two (six with a
     preprint), so 2010 and 2012 stay apart though 2011 matches both. A title that recurs in four years or more is a
     series (a yearly report, releases of a program): only equal years join.
   - A reference without a year joins if only one paper has its title and author.
   - A title cut off at its colon joins the full one of the same author and year if there is only one.

The result is a partition, hence an equivalence, and depends only on the set of references, not on their order: ties
are broken by counts and by hashes of the content.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from hashlib import blake2b
from typing import Any

from whycite.documents.identity.identifiers import (
    SHARED_TITLES,
    bare_title,
    family_name,
    is_preprint,
    normalise_arxiv,
    normalise_doi,
    normalise_isbn,
    normalise_pmcid,
    normalise_pmid,
    normalise_title,
    same_family,
    tells_paper,
    title_head,
)
from whycite.documents.identity.partition import HEAD, LONG, PREPRINT, KeyRank, KeyTable, join
from whycite.documents.model import Publication, Reference

__all__ = [
    "Papers",
    "fill_gaps",
    "group_references",
    "is_preprint_reference",
    "key_rank",
    "normalise_arxiv",
    "normalise_doi",
    "normalise_isbn",
    "normalise_pmcid",
    "normalise_pmid",
    "normalise_title",
    "paper_key",
    "tells_paper",
    "title_key",
    "traits",
]


def paper_key(reference: Reference) -> str:
    """The key of a paper: DOI, else arXiv id, else PMID, else title and year; "" for an empty reference."""
    return _identify(reference)[0]


def title_key(title: str, year: int | None) -> str:
    """The key of a paper that only a title and a year tell; "" if they do not tell it (`tells_paper`)."""
    title = normalise_title(title)
    return f"title:{title}|{year}" if year and title not in SHARED_TITLES and tells_paper(title) else ""


def group_references(references: Iterable[Reference]) -> list[int]:
    """For each reference the number of its paper, from 0 in order of appearance."""
    papers = Papers()
    for reference in references:
        papers.add(reference)
    return papers.groups()


def key_rank(reference: Reference) -> int:
    """How well a reference represents its paper, 0 is best: published DOI, preprint DOI, arXiv id, PMID, title."""
    return int(_identify(reference)[1])


def is_preprint_reference(reference: Reference) -> bool:
    """Whether a reference is to a preprint, by its identifier or the name of a server."""
    return _is_preprint(reference, key_rank(reference))


def traits(reference: Reference) -> list[int]:
    """Hashes of which two references to one paper share at least one; other papers may share them too."""
    key, _, pmid, arxiv = _identify(reference)
    labels = [key, pmid and f"pmid:{pmid}", arxiv and f"arxiv:{arxiv}"]
    title = normalise_title(reference.title) or normalise_title(reference.text)
    if title and title not in SHARED_TITLES:
        labels.append(bare_title(title))
        if head := title_head(reference.title):
            labels.append(bare_title(head))
    return [_digest(trait) >> 1 for trait in dict.fromkeys(labels) if trait]


class Papers:
    """Takes references one by one, stores only what identifies papers, and groups those that are the same."""

    def __init__(self) -> None:
        self._table = KeyTable()
        self._reference_rows = array("I")  # the row of each reference in the table
        self._rows: dict[int, int] = {}  # hash of a key -> its row
        self._names: dict[str, int] = {}
        self._fingerprints = array("q")  # what each row last learned: most references repeat it
        self._roots: array[int] | None = None

    def __len__(self) -> int:
        return len(self._reference_rows)

    def add(self, reference: Reference) -> None:
        """Add a reference."""
        key, rank, pmid, arxiv = _identify(reference)
        row = self._row(key, rank)
        self._reference_rows.append(row)
        self._table.count[row] += 1
        self._roots = None
        seen = (reference.title, reference.text, reference.authors[:1], reference.year, reference.venue)
        fingerprint = hash((seen, reference.isbn, pmid, arxiv))
        if key and fingerprint != self._fingerprints[row]:
            self._fingerprints[row] = fingerprint
            self._learn(reference, row, pmid, arxiv)

    def groups(self) -> list[int]:
        """For each reference so far the number of its paper, from 0 in order of appearance."""
        roots = self._find_roots()
        numbers: dict[int, int] = {}
        return [numbers.setdefault(roots[row], len(numbers)) for row in self._reference_rows]

    def representatives(self) -> list[int]:
        """For each paper the index of the reference that represents it.

        That is the first with the best key: a published DOI, else a preprint DOI, arXiv id, PMID, title; among
        several such keys, the one most references have, then the one with the smallest hash.
        """
        table, roots = self._table, self._find_roots()
        best: dict[int, tuple[int, int, int, int]] = {}
        for row, root in enumerate(roots):
            merit = (table.rank[row], -table.count[row], table.digest[row], table.first_reference[row])
            best[root] = min(merit, best.get(root, merit))
        return [best[root][3] for root in dict.fromkeys(roots[row] for row in self._reference_rows)]

    def _find_roots(self) -> array[int]:
        if self._roots is None:
            self._roots = join(self._table)
        return self._roots

    def _row(self, key: str, rank: KeyRank) -> int:
        """The row of a key; an empty reference gets its own, since nothing identifies it."""
        digest = _digest(key) if key else 0
        row = self._rows.get(digest) if key else None
        if row is None:
            row = self._table.add_key(rank, digest, len(self._reference_rows))
            self._fingerprints.append(0)
            if key:
                self._rows[digest] = row
        return row

    def _learn(self, reference: Reference, row: int, pmid: str, arxiv: str) -> None:
        """Store the other identifiers of a reference, and how it gives title, author and year."""
        table = self._table
        if pmid:
            table.pmid[row] = min(int(pmid), table.pmid[row] or int(pmid))
            table.add_id(_digest(f"pmid:{pmid}"), row)
        if arxiv:
            digest = _digest(f"arxiv:{arxiv}")
            table.arxiv[row] = min(digest, table.arxiv[row] or digest)
            table.add_id(digest, row)
        title = normalise_title(reference.title) or normalise_title(reference.text)
        if not title or title in SHARED_TITLES:
            return
        bare = bare_title(title)
        if isbn := normalise_isbn(reference.isbn) if reference.isbn else "":
            table.add_id(_digest(f"isbn:{isbn}:{bare}"), row)
        name = family_name(reference.authors[0]) if reference.authors else ""
        author = self._names.setdefault(name, len(self._names))
        if author == len(table.names):
            table.names.append(name)
        flags = LONG if tells_paper(title) else 0
        if _is_preprint(reference, table.rank[row]):
            flags |= PREPRINT
        year = _year(reference)
        table.add_title(_digest(bare), row, author, year, flags)
        if head := title_head(reference.title):
            table.add_title(_digest(bare_title(head)), row, author, year, flags | HEAD)


_PREPRINT_VENUE = re.compile(r"\b(?:\w{0,12}rxiv|preprints?|ssrn|research square|corr|e-?prints?)\b", re.IGNORECASE)


def _identify(reference: Reference) -> tuple[str, KeyRank, str, str]:
    """The key of a reference, its rank, its PMID and its arXiv id."""
    doi = normalise_doi(reference.doi) if reference.doi else ""
    arxiv = normalise_arxiv(reference.arxiv) if reference.arxiv else ""
    # arXiv's DOIs contain its ids, and people also put the bare id in the DOI field.
    if (
        reference.doi
        and (not doi or doi.startswith("10.48550/"))
        and (arxiv_id := normalise_arxiv(doi or reference.doi))
    ):
        arxiv, doi = arxiv_id, ""
    pmid = normalise_pmid(reference.pmid) if reference.pmid else ""
    if doi:
        return f"doi:{doi}", KeyRank.PREPRINT_DOI if is_preprint(doi) else KeyRank.DOI, pmid, arxiv
    if arxiv:
        return f"arxiv:{arxiv}", KeyRank.ARXIV, pmid, arxiv
    if pmid:
        return f"pmid:{pmid}", KeyRank.PMID, pmid, arxiv
    return _title_key(reference), KeyRank.TITLE, pmid, arxiv


def _is_preprint(reference: Reference, rank: int) -> bool:
    if rank in (KeyRank.PREPRINT_DOI, KeyRank.ARXIV):
        return True
    return rank != KeyRank.DOI and bool(_PREPRINT_VENUE.search(reference.venue))


def _title_key(reference: Reference) -> str:
    title = normalise_title(reference.title) or normalise_title(reference.text)
    if not title:
        return ""
    parts = [title, str(_year(reference) or "")]
    if not tells_paper(title):
        parts.append(family_name(reference.authors[0]) if reference.authors else "")
    if title in SHARED_TITLES:
        parts.append(normalise_title(reference.venue))
    return "title:" + "|".join(parts).rstrip("|")


def _year(reference: Reference) -> int:
    """The year, or 0 if it is unknown or impossible."""
    return reference.year if reference.year is not None and 0 < reference.year < 10_000 else 0


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")


_OWN_FIELDS = ("title", "year", "venue", "doi", "arxiv", "pmid", "isbn", "abstract")
_PUBLICATION_FIELDS = tuple(field.name for field in fields(Publication) if field.name != "et_al")


def fill_gaps(reference: Reference, source: Reference) -> Reference:
    """A reference with what it lacks filled from another one to the same paper; it has the last word."""
    gaps: dict[str, Any] = {
        name: getattr(source, name) for name in _OWN_FIELDS if not getattr(reference, name) and getattr(source, name)
    }
    publication = reference.publication
    if _names_more(source, reference):
        gaps["authors"] = source.authors
        publication = replace(publication, et_al=source.publication.et_al)
    publication = _fill_publication(publication, source.publication)
    if publication != reference.publication:
        gaps["publication"] = publication
    if new_notices := [notice for notice in source.notices if notice not in reference.notices]:
        gaps["notices"] = (*reference.notices, *new_notices)
    return replace(reference, **gaps) if gaps else reference


def _fill_publication(publication: Publication, source: Publication) -> Publication:
    if publication == source:
        return publication
    gaps = {name: getattr(source, name) for name in _PUBLICATION_FIELDS if not getattr(publication, name)}
    return replace(publication, **gaps)


def _names_more(source: Reference, reference: Reference) -> bool:
    """Whether a source has more of the authors: all of them where the reference has "et al."."""
    if not reference.authors or not source.authors:
        return bool(source.authors)
    longer = len(source.authors) > len(reference.authors)
    return reference.publication.et_al and longer and _same_first(source.authors, reference.authors)


def _same_first(authors: Sequence[str], other_authors: Sequence[str]) -> bool:
    return same_family(family_name(authors[0]), family_name(other_authors[0]))
