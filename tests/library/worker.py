"""A library used in a process of its own, which tests may kill: worker.py WHAT LIBRARY NUMBER.

The number is that of papers; for "reindex", of the dimensions of the encoder.
"""

import importlib.util
import sys
from pathlib import Path
from typing import Any

from whycite.library import AddProgress, Library, adding, compact, maintenance


def main(what: str, place: Path, number: int) -> None:
    """Do what is asked for, and say what is done."""
    tools = _tools()
    encoder = tools.FakeEncoder()
    if what == "add":
        adding._BATCH_DOCUMENTS = 3
        maintenance._MAX_FRAGMENTS = 4  # so that tables are indexed and packed now and then
        documents = (tools.numbered(at) for at in range(number))
        adding.add_documents(place, documents, jobs=1, encoder=encoder, progress=_say)
    elif what == "compact":
        print("begun", flush=True)
        compact(place)
    elif what == "reindex":
        maintenance._PROGRESS_TEXTS = 10
        if number != encoder.dimensions:
            encoder = tools.FakeEncoder("other@1")
            encoder.dimensions = number
        maintenance.reindex(place, encoder=encoder, progress=lambda *told: print(*told, flush=True))
    elif what == "ask":
        library = Library.open(place)
        hits = library.search_spans("growing cells", encoder.encode(["cells"])[0], k=7)
        for citation in library.citations([hit.id for hit in hits]):
            print(citation)
        print(hits)
    elif what == "hold":
        with adding._open_for_writing(place, "add", encoder):
            print("held", flush=True)
            sys.stdin.read()
    print("done", flush=True)


def _say(progress: AddProgress) -> None:
    print(progress.added, progress.reading, flush=True)


def _tools() -> Any:
    spec = importlib.util.spec_from_file_location("tools", Path(__file__).with_name("conftest.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
