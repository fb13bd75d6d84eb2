"""The user's evidence database on disk: what was said where, and what was cited for it."""

import os

os.environ.setdefault("LANCEDB_LOG", "error")  # read when lancedb is imported: it warns of what is meant to happen

from whycite.library.adding import add, add_documents
from whycite.library.exporting import export_ilciter, export_trec
from whycite.library.library import Library
from whycite.library.maintenance import compact, remove
from whycite.library.model import Citation, Entry, Info, Outline, Paper, PaperHit, Progress, Report, Source, SpanHit
from whycite.library.place import default_path
from whycite.library.reindexing import Reindexed, reindex
from whycite.library.statistics import Statistics, statistics

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
