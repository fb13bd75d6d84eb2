"""The publication of a work as plain fields, and what several sources together know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from whycite.documents.identity.identifiers import family_name, same_family
from whycite.documents.model import Publication, Reference

__all__ = ["fill_gaps", "load_publication", "publication_fields"]

_LISTS = ("editors",)
_NAMES = tuple(field.name for field in fields(Publication))
_OWN_FIELDS = ("title", "year", "venue", "doi", "arxiv", "pmid", "isbn", "abstract")


def publication_fields(publication: Publication) -> dict[str, Any]:
    """The fields that are known, with lists for tuples."""
    values = {name: getattr(publication, name) for name in _NAMES}
    return {name: list(value) if name in _LISTS else value for name, value in values.items() if value}


def load_publication(plain: Mapping[str, Any]) -> Publication:
    """The publication from `publication_fields`; fields of later versions of whycite are ignored."""
    values = {name: value for name, value in plain.items() if name in _NAMES}
    return Publication(**values | {name: tuple(values[name]) for name in _LISTS if name in values})


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
    gaps = {name: getattr(source, name) for name in _NAMES if name != "et_al" and not getattr(publication, name)}
    return replace(publication, **gaps)


def _names_more(source: Reference, reference: Reference) -> bool:
    """Whether a source has more of the authors: all of them where the reference has "et al."."""
    if not reference.authors or not source.authors:
        return bool(source.authors)
    longer = len(source.authors) > len(reference.authors)
    return reference.publication.et_al and longer and _same_first(source.authors, reference.authors)


def _same_first(authors: Sequence[str], other_authors: Sequence[str]) -> bool:
    return same_family(family_name(authors[0]), family_name(other_authors[0]))
