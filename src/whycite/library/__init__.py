"""The user's evidence database on disk: what was said where, and what was cited for it."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from whycite.library import light
from whycite.library.model import Citation, Entry, Info, Outline, Paper, PaperHit, Progress, Report, Source, SpanHit
from whycite.library.place import default_path

if TYPE_CHECKING:
    from whycite.library.adding import add, add_documents
    from whycite.library.exporting import export_ilciter, export_trec
    from whycite.library.figures import Statistics, statistics
    from whycite.library.library import Library
    from whycite.library.maintenance import compact, remove
    from whycite.library.reindexing import Reindexed, reindex

os.environ.setdefault("LANCEDB_LOG", "error")  # read when lancedb is imported: it warns of what is meant to happen
light.defer()

__all__ = [
    "Citation",
    "Entry",
    "Info",
    "Library",
    "Outline",
    "Paper",
    "PaperHit",
    "Progress",
    "Reindexed",
    "Report",
    "Source",
    "SpanHit",
    "Statistics",
    "add",
    "add_documents",
    "compact",
    "default_path",
    "export_ilciter",
    "export_trec",
    "reindex",
    "remove",
    "statistics",
]

# The store takes a second to import, and papers that were found before do not need it.
_LATER = {
    "Library": "library",
    "Reindexed": "reindexing",
    "Statistics": "figures",
    "add": "adding",
    "add_documents": "adding",
    "compact": "maintenance",
    "export_ilciter": "exporting",
    "export_trec": "exporting",
    "reindex": "reindexing",
    "remove": "maintenance",
    "statistics": "figures",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"whycite.library.{_LATER[name]}"), name)
    raise AttributeError(f"module 'whycite.library' has no attribute '{name}'")
