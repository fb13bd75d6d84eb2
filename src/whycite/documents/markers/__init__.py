"""Citation markers in plain text, linked to their references."""

from __future__ import annotations

from collections.abc import Sequence

from whycite.documents.markers.author_year import NameIndex, find_author_year
from whycite.documents.markers.numbered import find_labels, find_numbered
from whycite.documents.markers.reference_list import find_reference_list, split_references
from whycite.documents.model import Marker, Reference

__all__ = ["Marker", "find_markers", "find_reference_list", "split_references"]


def find_markers(text: str, references: Sequence[Reference]) -> list[Marker]:
    """The citation markers of a text in order.

    Pass the whole text at once, without the reference list: its style is recognised from all of it. Numbers are
    searched for if the ids of the references are numbers. A marker that is certainly a citation, but of nothing in the
    list, has no keys.
    """
    by_name = list(find_author_year(text, NameIndex(references)))
    by_number, weight = find_numbered(text, [reference.id for reference in references])
    chosen = by_number if weight > sum(bool(marker.keys) for marker in by_name) else by_name
    return _without_overlaps([*chosen, *find_labels(text, [reference.id for reference in references])])


def _without_overlaps(markers: Sequence[Marker]) -> list[Marker]:
    """The markers in order, without those that begin inside another one."""
    separate_markers: list[Marker] = []
    for marker in sorted(markers, key=lambda marker: (marker.start, -marker.end)):
        if not separate_markers or marker.start >= separate_markers[-1].end:
            separate_markers.append(marker)
    return separate_markers
