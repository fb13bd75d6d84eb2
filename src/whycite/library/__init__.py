"""The user's evidence database on disk: what was said where, and what was cited for it.

- On disk: `paths` (where libraries are), `tables` (their schemas), `store` (commits, one writer at a time),
  `readingcopy` (rows laid out for fast reading), `checksums` (of all these files), `records` (what callers get).
- Add: `adding` (which documents are new, batches), `writer` (their rows), `papers` (which references are one paper),
  `encoding` (the library's encoder).
- Beside the tables: `register` (a file), `notices` (retractions and corrections), `retractionwatch` (a list of them),
  `sourceitems` (what reference managers know: citation keys).
- Search: `reader` (`Library`), `search` (by words and meaning), `snapshot` (rows at one commit), `support`, `export`.
- Maintain: `maintenance` (indices, old versions, `remove`, `compact`, `reindex`), `inspection` (is all as written).
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from whycite.library import lazyimport
from whycite.library.paths import default_path
from whycite.library.records import (
    AddProgress,
    AddReport,
    LibraryDocument,
    LibraryInfo,
    Paper,
    PaperHit,
    PaperOutline,
    PassageHit,
    SourceDocument,
    SpanCitation,
    SpanHit,
)

if TYPE_CHECKING:
    from whycite.library.adding import add, add_documents
    from whycite.library.export import export_ilciter, export_trec
    from whycite.library.inspection import Damage, Inspection, inspect
    from whycite.library.maintenance import ReindexReport, compact, reindex, remove
    from whycite.library.reader import Library
    from whycite.library.support import LibraryStatistics, statistics

os.environ.setdefault("LANCEDB_LOG", "error")  # read when lancedb is imported; it warns about expected events
lazyimport.defer_import()

__all__ = [
    "AddProgress",
    "AddReport",
    "Damage",
    "Inspection",
    "Library",
    "LibraryDocument",
    "LibraryInfo",
    "LibraryStatistics",
    "Paper",
    "PaperHit",
    "PaperOutline",
    "PassageHit",
    "ReindexReport",
    "SourceDocument",
    "SpanCitation",
    "SpanHit",
    "add",
    "add_documents",
    "compact",
    "default_path",
    "export_ilciter",
    "export_trec",
    "inspect",
    "reindex",
    "remove",
    "statistics",
]

# The store takes a second to import, and answers that are cached do not need it.
_LAZY = {
    "Damage": "inspection",
    "Inspection": "inspection",
    "Library": "reader",
    "LibraryStatistics": "support",
    "ReindexReport": "maintenance",
    "add": "adding",
    "add_documents": "adding",
    "compact": "maintenance",
    "export_ilciter": "export",
    "export_trec": "export",
    "inspect": "inspection",
    "reindex": "maintenance",
    "remove": "maintenance",
    "statistics": "support",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"whycite.library.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'whycite.library' has no attribute '{name}'")
