"""The papers of a library, and how references of new documents are matched to them.

A reference is stored under its own key as a version of a paper. Versions of the same work (documents.identity) share
the id of the one with the best key, so that citations need no change when two papers turn out to be one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.documents.identity import Papers, fill_gaps, is_preprint_reference, key_rank, paper_key, traits
from whycite.documents.jsondocument import load_publication
from whycite.documents.model import Publication, Reference
from whycite.library.store import Store
from whycite.library.tables import identifier, read_columns, rows_by_id

__all__ = ["KnownPapers", "PaperChanges", "complete_reference", "reference_of", "version_of"]

Integers = NDArray[np.int64]
_FIELDS = ("title", "authors", "year", "venue", "doi", "arxiv", "pmid", "isbn", "abstract")
_PUBLICATION_FIELDS = tuple(field.name for field in fields(Publication) if field.name != "et_al")  # with the authors
_FIRST_YEAR = 1000  # what is said to be earlier is a mistake
_COLUMNS = ("id", "key", "text", *_FIELDS, "publication")


def version_of(reference: Reference) -> int:
    """The id under which a reference is stored; 0 if nothing identifies it."""
    key = paper_key(reference)
    return identifier(key) if key else 0


@dataclass(frozen=True, slots=True)
class PaperChanges:
    """Changes that a batch of references makes to the papers of a library."""

    new: Mapping[int, Reference]  # versions not seen before
    updated: Mapping[int, Reference]  # versions with new metadata, in full
    moved: Mapping[int, int]  # versions, old and new, and the version that now stands for their paper


class KnownPapers:
    """The versions of papers in a library: ids and traits in memory, everything else on disk.

    What is stored depends only on the references, not on the order or the batches in which they come.
    """

    def __init__(self, store: Store) -> None:
        self._papers = store["papers"]
        rows = read_columns(self._papers, ["id", "same_as", "traits"])
        ids, same = (rows[name].to_numpy().astype(np.int64) for name in ("id", "same_as"))
        column = rows["traits"].combine_chunks()
        lengths = np.asarray(column.value_lengths()).astype(np.int64)
        trait_ids = np.asarray(column.flatten()).astype(np.int64)
        order = np.argsort(trait_ids, kind="stable")
        self._ids: Integers = np.sort(ids)
        self._traits: Integers = trait_ids[order]
        self._owners: Integers = np.repeat(ids, lengths)[order]
        self._added: set[int] = set()
        self._added_traits: defaultdict[int, list[int]] = defaultdict(list)
        documents = read_columns(store["documents"], ["paper", "title", "year"]).to_pylist()
        self._own_facts = {row["paper"]: (row["title"], row["year"]) for row in documents}
        merged = ids != same
        self._same_as: dict[int, int] = dict(zip(ids[merged].tolist(), same[merged].tolist(), strict=True))
        self._versions: defaultdict[int, set[int]] = defaultdict(set)
        for version, paper in self._same_as.items():
            self._versions[paper].add(version)

    def __contains__(self, version: int) -> bool:
        position = np.searchsorted(self._ids, version)
        return version in self._added or bool(position < len(self._ids) and self._ids[position] == version)

    def paper_of(self, version: int) -> int:
        """The version that stands for the paper of this one."""
        return self._same_as.get(version, version)

    def record_references(self, papers: Iterable[Reference], references: Iterable[Reference]) -> PaperChanges:
        """Record documents' own metadata, whose title and year take precedence, and references.

        Those with one key are merged, with what is stored as well.
        """
        own_references = {version: reference for reference in papers if (version := version_of(reference))}
        for version, reference in own_references.items():
            self._own_facts[version] = (reference.title, reference.year)
        merged = _merge_references((*own_references.values(), *references))
        new = {version: reference for version, reference in merged.items() if version not in self}
        old = self.references(merged.keys() - new.keys())
        new = {version: self._with_own_facts(version, reference) for version, reference in new.items()}
        updated = {
            version: self._with_own_facts(version, _merge(reference, merged[version]))
            for version, reference in old.items()
        }
        updated = {
            version: reference for version, reference in updated.items() if not _same_fields(reference, old[version])
        }
        nearby = self._nearby([*new.values(), *updated.values(), *(old[version] for version in updated)])
        near = old | self.references(nearby - old.keys()) | updated
        moved = self._join_versions({version: near[version] for version in nearby}, new)
        self._added.update(new)
        for version, reference in (new | updated).items():
            for trait in traits(reference):
                self._added_traits[trait].append(version)
        for version, paper in moved.items():
            self._move(version, paper)
        return PaperChanges(new, updated, moved)

    def find(self, references: Sequence[Reference]) -> list[str | None]:
        """The key of each reference's paper, by its own key or as a version of a known work; None if not known."""
        versions = [version_of(reference) for reference in references]
        new = {v: reference for v, reference in zip(versions, references, strict=True) if v and v not in self}
        nearby = self.references(self._nearby(new.values()))
        joined = self._join_versions(nearby, new)
        families: dict[int, int] = {}
        for version, paper in joined.items():
            if version not in new:
                families[paper] = version  # a known version whose paper would get another key
        papers = []
        for version in versions:
            paper = self.paper_of(version) if version in self else joined.get(version, 0)
            papers.append(self.paper_of(families.get(paper, paper)))
        keys = {row["id"]: row["key"] for row in self._rows({paper for paper in papers if paper in self})}
        return [keys.get(paper) for paper in papers]

    def similar(self, references: Sequence[Reference]) -> list[list[Reference]]:
        """For each reference the stored versions that share an identifier or the title with it."""
        owners = [self._sharing(traits(reference)) for reference in references]
        stored = self.references(set().union(*owners)) if owners else {}
        return [[stored[version] for version in sorted(versions) if version in stored] for versions in owners]

    def regroup_without(self, gone: Mapping[int, Reference]) -> dict[int, int]:
        """The versions whose paper changes because others with shared traits are gone."""
        near = self.references(self._nearby(gone.values()) - gone.keys())
        papers = self._join_versions({}, near)  # as if new: one paper may become two
        return {version: paper for version, paper in papers.items() if self.paper_of(version) != paper}

    def references(self, versions: Collection[int]) -> dict[int, Reference]:
        """Stored versions as references."""
        return {row["id"]: reference_of(row) for row in self._rows(versions)}

    def _with_own_facts(self, version: int, reference: Reference) -> Reference:
        """A reference with the title and year that its document gives itself, if it is in the library."""
        title, year = self._own_facts.get(version, ("", None))
        return replace(reference, title=title or reference.title, year=year or reference.year)

    def _nearby(self, references: Iterable[Reference]) -> set[int]:
        """Known versions that share a trait with a reference, those that share one with these, and so on.

        Only all of them tell which are one paper: the same set gives the same papers, whatever came first.
        """
        versions: set[int] = set()
        trait_ids = {trait for reference in references for trait in traits(reference)}
        seen_traits: set[int] = set()
        while trait_ids:
            seen_traits |= trait_ids
            sharing = self._sharing(trait_ids)
            papers = {self._same_as.get(version, version) for version in sharing}
            sharing = sharing.union(papers, *(self._versions.get(paper, ()) for paper in papers)) - versions
            versions |= sharing
            trait_ids = {
                trait for reference in self.references(sharing).values() for trait in traits(reference)
            } - seen_traits
        return versions

    def _sharing(self, trait_numbers: Iterable[int]) -> set[int]:
        """Known versions that have one of these traits."""
        versions: set[int] = set()
        trait_ids = sorted(set(trait_numbers))
        sorted_traits = np.array(trait_ids, np.int64)
        begins, ends = (np.searchsorted(self._traits, sorted_traits, side) for side in ("left", "right"))
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            versions.update(self._owners[begin:end].tolist())
        for trait in trait_ids:
            versions.update(self._added_traits.get(trait, ()))
        return versions

    def _join_versions(self, old: Mapping[int, Reference], new: Mapping[int, Reference]) -> dict[int, int]:
        """The versions whose paper changes: the new ones, and old ones of which these show what they belong to."""
        everything = {**old, **new}
        judge = Papers()
        for reference in everything.values():
            judge.add(reference)
        families: defaultdict[object, set[int]] = defaultdict(set)
        for version, family in zip(everything, judge.groups(), strict=True):
            families[family].add(version)
        moved = {}
        for members in families.values():
            representative = min(
                members, key=lambda version: (key_rank(everything[version]), paper_key(everything[version]))
            )
            for version in members:
                if version in new or self._same_as.get(version, version) != representative:
                    moved[version] = representative
        return moved

    def _move(self, version: int, paper: int) -> None:
        self._versions[self._same_as.get(version, version)].discard(version)
        self._same_as.pop(version, None)
        if version != paper:
            self._same_as[version] = paper
            self._versions[paper].add(version)

    def _rows(self, versions: Collection[int]) -> list[dict[str, Any]]:
        if not versions:
            return []
        columns = [name for name in _COLUMNS if name in self._papers.schema.names]
        rows: list[dict[str, Any]] = rows_by_id(self._papers, "id", sorted(versions), columns).to_pylist()
        return sorted(rows, key=lambda row: row["id"])


def reference_of(row: Mapping[str, Any]) -> Reference:
    """A row of the papers table as a reference; a title that is not searched is an entry as printed."""
    values: dict[str, Any] = {name: row[name] or "" for name in _FIELDS}
    values |= {"authors": tuple(row["authors"] or ()), "year": row["year"]}
    if not row["text"]:
        values |= {"title": "", "text": row["title"]}
    publication = load_publication(json.loads(row.get("publication") or "{}"))
    return Reference(row["key"], **values, publication=publication)


def _merge_references(references: Iterable[Reference]) -> dict[int, Reference]:
    """References by version, those of one version merged."""
    merged: dict[int, Reference] = {}
    for reference in references:
        if version := version_of(reference):
            merged[version] = _merge(merged[version], reference) if version in merged else reference
    return merged


def _same_fields(reference: Reference, other_reference: Reference) -> bool:
    return all(getattr(reference, name) == getattr(other_reference, name) for name in (*_FIELDS, "text", "publication"))


def complete_reference(versions: Sequence[Reference]) -> Reference:
    """What all versions of a paper know together; the first stands for the paper and has the last word.

    Versions of another year and preprints of a published paper add identifiers and the abstract alone, since they
    appeared elsewhere.
    """
    first, *rest = versions
    is_preprint = is_preprint_reference(first)
    complete = first
    for version in sorted(rest, key=lambda version: (key_rank(version), paper_key(version))):
        same_year = None in (first.year, version.year) or first.year == version.year
        if not same_year or is_preprint_reference(version) != is_preprint:
            version = Reference(version.id, arxiv=version.arxiv, pmid=version.pmid, abstract=version.abstract)
        complete = fill_gaps(complete, version)
    return complete


def _merge(reference: Reference, other_reference: Reference) -> Reference:
    """Two references to one paper as one, the same whichever comes first."""
    pair = (reference, other_reference)
    fuller = max(pair, key=_fullness)
    values = _better_values(*pair, (*_FIELDS, "text")) | {"authors": fuller.authors}
    if values["title"]:
        values["text"] = ""  # as it is stored
    facts = _better_values(reference.publication, other_reference.publication, _PUBLICATION_FIELDS)
    publication = Publication(**facts, et_al=fuller.publication.et_al)
    notices = tuple(sorted({*reference.notices, *other_reference.notices}, key=repr))
    return replace(reference, **values, publication=publication, notices=notices)


def _fullness(reference: Reference) -> tuple[bool, bool, int, tuple[str, ...]]:
    """By what the authors of a reference are compared: all of them are better than some."""
    authors = reference.authors
    return bool(authors), not reference.publication.et_al, len(authors), authors


def _better_values(source: object, other_source: object, names: Iterable[str]) -> dict[str, Any]:
    return {name: _better(name, getattr(source, name), getattr(other_source, name)) for name in names}


def _better(name: str, value: Any, other_value: Any) -> Any:
    """One of two values of a field: the fuller, the earlier, or the one with fewer capitals."""
    if not value or not other_value:
        return value or other_value
    if name in ("authors", "editors", "abstract", "date"):
        return max(value, other_value, key=lambda text: (len(text), text))
    if name == "year":
        return min(value, other_value, key=lambda year: (year < _FIRST_YEAR, year))
    if name == "title":
        return min(value, other_value, key=lambda text: (sum(map(str.isupper, text)), text))
    return min(value, other_value, key=lambda text: (text.isupper(), text))
