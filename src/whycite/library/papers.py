"""The papers of a library, and how references of new documents are matched to them.

A reference is stored under its own key as a version of a paper. Versions of the same work (documents.identity) share
the id of the one with the best key, so that citations need no change when two papers turn out to be one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.documents.identity import Papers, is_preprint_reference, key_rank, paper_key, traits
from whycite.documents.model import Reference
from whycite.documents.references.publication import fill_gaps, load_publication
from whycite.library.store import Store
from whycite.library.tables import identifier, read_columns, rows_by_id

__all__ = ["KnownPapers", "PaperChanges", "complete_reference", "reference_of", "version_of"]

Integers = NDArray[np.int64]
_FIELDS = ("title", "authors", "year", "venue", "doi", "arxiv", "pmid", "isbn", "abstract")
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
    """The versions of papers in a library: ids and traits in memory, everything else on disk."""

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
        """Record documents' own metadata, which takes precedence, and references; those with one key are merged.

        They are merged with what is stored as well, so that the result does not depend on batches.
        """
        own_references = _merge_references(papers, {})
        merged = _merge_references(references, own_references)
        new = {version: reference for version, reference in merged.items() if version not in self}
        old = self.references(merged.keys() - new.keys())
        updated = {
            version: fill_gaps(merged[version], reference)
            if version in own_references
            else fill_gaps(reference, merged[version])
            for version, reference in old.items()
        }
        updated = {
            version: reference for version, reference in updated.items() if not _same_fields(reference, old[version])
        }
        nearby = self._nearby([*new.values(), *updated.values()])
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

    def _nearby(self, references: Iterable[Reference]) -> set[int]:
        """Known versions that share a trait with a reference, and the other versions of their papers."""
        versions = self._sharing(trait for reference in references for trait in traits(reference))
        papers = {self._same_as.get(version, version) for version in versions}
        return papers.union(*(self._versions.get(paper, ()) for paper in papers)) if papers else versions

    def _sharing(self, trait_numbers: Iterable[int]) -> set[int]:
        """Known versions that have one of the traits."""
        versions: set[int] = set()
        trait_ids = np.array(sorted(set(trait_numbers)), np.int64)
        begins, ends = (np.searchsorted(self._traits, trait_ids, side) for side in ("left", "right"))
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            versions.update(self._owners[begin:end].tolist())
        for trait in trait_ids.tolist():
            versions.update(self._added_traits.get(trait, ()))
        return versions

    def _join_versions(self, old: Mapping[int, Reference], new: Mapping[int, Reference]) -> dict[int, int]:
        """The versions whose paper changes: the new ones, and those that the new ones join."""
        everything = {**old, **new}
        judge = Papers()
        for reference in everything.values():
            judge.add(reference)
        families: defaultdict[object, set[int]] = defaultdict(set)
        for version, family in zip(everything, judge.groups(), strict=True):
            families[family].add(version)
        for version in old:  # what was one paper stays one
            families[f"known {self._same_as.get(version, version)}"].add(version)
        moved = {}
        for members in _connected_sets(families.values()):
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
        columns = [name for name in _COLUMNS if name in self._papers.schema.names]
        rows: list[dict[str, Any]] = rows_by_id(self._papers, "id", sorted(versions), columns).to_pylist()
        return sorted(rows, key=lambda row: row["id"])


def reference_of(row: Mapping[str, Any]) -> Reference:
    """A row of the papers table as a reference; a title that is not searched is an entry as printed."""
    fields: dict[str, Any] = {name: row[name] or "" for name in _FIELDS}
    fields |= {"authors": tuple(row["authors"] or ()), "year": row["year"]}
    if not row["text"]:
        fields |= {"title": "", "text": row["title"]}
    publication = load_publication(json.loads(row.get("publication") or "{}"))
    return Reference(row["key"], **fields, publication=publication)


def _merge_references(references: Iterable[Reference], existing: Mapping[int, Reference]) -> dict[int, Reference]:
    """References by version, those of one version merged."""
    merged = dict(existing)
    for reference in references:
        if version := version_of(reference):
            merged[version] = fill_gaps(merged[version], reference) if version in merged else reference
    return merged


def _same_fields(reference: Reference, other_reference: Reference) -> bool:
    return all(getattr(reference, name) == getattr(other_reference, name) for name in (*_FIELDS, "publication"))


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


def _connected_sets(families: Iterable[set[int]]) -> list[set[int]]:
    """The sets, with those that share members joined."""
    home: dict[int, set[int]] = {}
    for family in families:
        joined = set(family)
        for overlapping in {id(home[member]): home[member] for member in family if member in home}.values():
            joined |= overlapping
        for member in joined:
            home[member] = joined
    return list({id(family): family for family in home.values()}.values())
