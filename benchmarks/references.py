"""Are references whole, and how long does a list of retractions take? Run: python benchmarks/references.py."""

import csv
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from whycite.cite.exports import as_bibtex
from whycite.cite.recommendations import Claim, load_method
from whycite.demo import articles
from whycite.documents import read
from whycite.documents.references.bibtex import read_entries
from whycite.library import Library, Paper, add
from whycite.library.retractionwatch import import_list

PAPERS, CLAIMS, N = 400, 2, 5
ROWS = 50_000
FIELDS = ("author", "year", "journal", "volume", "number", "pages", "publisher", "editor", "doi", "pmid", "url")


def recommended(library: Library) -> Iterator[Paper]:
    """The papers for sentences of the demo's articles that cite."""
    method = load_method("whycite", library)
    for path in articles():
        sentences = [sentence for sentence in read(path).sentences if sentence.cites]
        for sentence in sentences[:CLAIMS]:
            for recommendation in method.recommend(Claim(sentence.without_citations()), N):
                yield recommendation.paper


def completeness(folder: Path) -> None:
    add(folder / "library", articles())
    papers: dict[str, Paper] = {}
    for paper in recommended(Library.open(folder / "library")):
        papers.setdefault(paper.key, paper)
        if len(papers) == PAPERS:
            break
    entries, _ = read_entries(as_bibtex(papers.values()), "recommended.bib")
    counts = Counter(field for entry in entries for field in entry.fields)
    print(f"{len(papers)} recommended papers of the demo's articles, BibTeX entries with")
    print("  ".join(f"{field} {counts[field]}" for field in FIELDS))


def import_time(folder: Path) -> None:
    file = folder / "retraction_watch.csv"
    columns = (
        "Title", "RetractionDate", "RetractionDOI", "OriginalPaperDate", "OriginalPaperDOI", "OriginalPaperPubMedID",
        "RetractionNature", "Reason",
    )  # fmt: skip
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        for n in range(ROWS):
            title = f"The {n}th of many studies on the sleep of honeybees in their hives at night"
            writer.writerow(
                (title, "3/4/2016 0:00", f"10.1000/n.{n}", "1/1/2013 0:00", f"10.1000/p.{n}", n + 1, "Retraction",
                 "+Unreliable Results;+Concerns/Issues About Data;")
            )  # fmt: skip
    began, spent = time.perf_counter(), time.process_time()
    import_list(folder / "library", file)
    print(
        f"a list of {ROWS:,} retractions: {time.perf_counter() - began:.1f} s, "
        f"{time.process_time() - spent:.1f} s of them CPU"
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        completeness(Path(name))
        import_time(Path(name))


if __name__ == "__main__":
    main()
