"""A library used in a process of its own, which tests may kill: worker.py WHAT LIBRARY NUMBER.

The number is that of papers; for "reindex", of the dimensions of the encoder.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # started by its path, it knows no other tests

from tests.drafts import numbered_document
from tests.fakes import hashing_encoder
from whycite.library import AddProgress, Library, adding, compact, maintenance
from whycite.library.store import writing


def main(what: str, place: Path, number: int) -> None:
    """Do what is asked for, and say what is done."""
    encoder = hashing_encoder()
    if what == "add":
        adding.BATCH_DOCUMENTS = 3
        maintenance.MAX_FRAGMENTS = 4  # so that tables are indexed and packed now and then
        documents = (numbered_document(paper) for paper in range(number))
        adding.add_documents(place, documents, jobs=1, encoder=encoder, progress=_say)
    elif what == "compact":
        print("begun", flush=True)
        compact(place)
    elif what == "reindex":
        maintenance.PROGRESS_TEXTS = 10
        if number != encoder.dimensions:
            encoder = hashing_encoder("other@1", number)
        maintenance.reindex(place, encoder=encoder, progress=lambda *told: print(*told, flush=True))
    elif what == "ask":
        library = Library.open(place)
        hits = library.search_spans("growing cells", encoder.encode(["cells"])[0], k=7)
        for citation in library.citations([hit.id for hit in hits]):
            print(citation)
        print(hits)
    elif what == "hold":
        place.mkdir(parents=True, exist_ok=True)
        with writing(place, "add"):
            print("held", flush=True)
            sys.stdin.read()
    print("done", flush=True)


def _say(progress: AddProgress) -> None:
    print(progress.added, progress.reading, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
