"""What a DOI says of the journal or conference it belongs to, beside what the entry says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from whycite.documents.identity import normalise_doi, normalise_title
from whycite.documents.model import Reference
from whycite.references.report import ReferenceProblem
from whycite.text.wordlists import load_tables

__all__ = ["venue_problems"]

_YEARS_APART = 1  # proceedings may appear in the year after the conference


@dataclass(frozen=True, slots=True)
class _Venue:
    """A journal or a conference that can be told by its name or its DOIs."""

    label: str
    doi: re.Pattern[str] | None
    name: re.Pattern[str] | None
    titles: frozenset[str]
    year: int | None

    def is_named(self, venue: str) -> bool:
        """Whether a venue field means this one."""
        return bool(self.name and self.name.search(venue)) or normalise_title(venue) in self.titles


def _load() -> tuple[_Venue, ...]:
    venues = []
    for label, row in load_tables(__name__).items():
        names = "|".join(re.escape(name) for name in row.get("names", ()))
        venues.append(
            _Venue(
                label,
                re.compile(row["doi"]) if "doi" in row else None,
                re.compile(rf"(?<![\w-])(?:{names})(?![\w-])") if names else None,
                frozenset(row.get("titles", ())),
                row.get("year"),
            )
        )
    return tuple(venues)


_VENUES = _load()


def venue_problems(reference: Reference) -> Iterator[ReferenceProblem]:
    """A DOI of one journal or conference in an entry that names another, or a year that it did not take place in."""
    doi = normalise_doi(reference.doi)
    for venue in _VENUES if doi else ():
        match = venue.doi.match(doi) if venue.doi else None
        if not match:
            continue
        named = [candidate for candidate in _VENUES if candidate.is_named(reference.venue)]
        if named and venue not in named:
            yield ReferenceProblem("venue-differs", "venue", f"“{reference.venue}”, but the DOI is of {venue.label}")
        if venue.year is not None and reference.year is not None:
            year = int(match["number"]) + venue.year
            if abs(year - reference.year) > _YEARS_APART:
                yield ReferenceProblem(
                    "year-differs", "year", f"{reference.year}, but the DOI is of {venue.label} {year}"
                )
