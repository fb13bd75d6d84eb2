"""The user's evidence database on disk: what was said where, and what was cited for it.

- On disk: `paths` (where libraries are), `tables` (their schemas), `store` (commits, one writer at a time),
  `readingcopy` (rows laid out for fast reading), `checksums` (of all these files), `records` (what callers get).
- Add: `adding` (which documents are new, batches), `writer` (their rows), `papers` (which references are one paper),
  `encoding` (the library's encoder), `cluster` (the same with the machines of a Ray cluster).
- Beside the tables: `register` (a file), `notices` (retractions and corrections), `retractionwatch` (a list of them),
  and the items of reference managers, with the keys that they cite by (in `register`, too).
- Search: `reader` (`Library`), `snapshot` (rows at one commit, searches by words and meaning), `export` (all of it).
- Maintain: `maintenance` (indices, old versions, `remove`, `compact`, `reindex`, `inspect`).
- Share: `publishing` (snapshots in object storage, and copies of them).
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from threading import RLock
from typing import TYPE_CHECKING, Any

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
    from whycite.library.cluster import add_on_cluster
    from whycite.library.export import LibraryStatistics, export_ilciter, export_trec, statistics
    from whycite.library.maintenance import (
        Damage,
        Inspection,
        ReindexReport,
        compact,
        inspect,
        reindex,
        remove,
    )
    from whycite.library.publishing import PublishReport, publish
    from whycite.library.reader import Library

__all__ = [
    "REMOTE_CLIENT",
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
    "PublishReport",
    "ReindexReport",
    "SourceDocument",
    "SpanCitation",
    "SpanHit",
    "add",
    "add_documents",
    "add_on_cluster",
    "compact",
    "default_path",
    "defer_import",
    "export_ilciter",
    "export_trec",
    "inspect",
    "publish",
    "reindex",
    "remove",
    "statistics",
]

# The store takes a second to import, and answers that are cached do not need it.
_LAZY = {
    "Damage": "maintenance",
    "Inspection": "maintenance",
    "Library": "reader",
    "LibraryStatistics": "export",
    "PublishReport": "publishing",
    "ReindexReport": "maintenance",
    "add": "adding",
    "add_documents": "adding",
    "add_on_cluster": "cluster",
    "compact": "maintenance",
    "export_ilciter": "export",
    "export_trec": "export",
    "inspect": "maintenance",
    "publish": "publishing",
    "reindex": "maintenance",
    "remove": "maintenance",
    "statistics": "export",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"whycite.library.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'whycite.library' has no attribute '{name}'")


REMOTE_CLIENT = "lance_namespace_urllib3_client"  # half of the time that LanceDB takes to import


def defer_import(name: str = REMOTE_CLIENT) -> None:
    """Make a package importable without running it; it runs on first access to anything but a submodule."""
    spec = find_spec(name) if name not in sys.modules else None
    if spec is None or spec.loader is None:  # already imported, or no longer needed by LanceDB
        return
    package, loader, lock, pending = module_from_spec(spec), spec.loader, RLock(), [True]

    def load_attribute(attribute: str) -> Any:
        with lock:
            if pending and not attribute.startswith("__"):
                pending.clear()
                loader.exec_module(package)
        try:
            return package.__dict__[attribute]
        except KeyError:
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}") from None

    package.__dict__["__getattr__"] = load_attribute
    sys.modules[name] = package


os.environ.setdefault("LANCEDB_LOG", "error")  # read when lancedb is imported; it warns about expected events
defer_import()
