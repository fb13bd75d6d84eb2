"""How many of the papers hidden in sets are found again? Run: python benchmarks/candidates.py [ARTICLES] [FLOOR]."""

import os
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from whycite.documents import Document, stream
from whycite.lab.evaluate.topics import publication_record, read_publication_records
from whycite.lab.scope.candidates import gather_citations
from whycite.lab.scope.prefetching import PrefetchSetting, run

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SUBJECT = "Neuroscience"


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    floor = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    shards = sorted((DATA / "elife").glob("elife-[0-9]*.jsonl.zst"))
    if not shards:
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    known = read_publication_records(shards)

    def articles() -> Iterator[Document]:
        documents = (document for shard in shards for document in stream(shard))
        return (document for document in documents if SUBJECT in publication_record(document.paper, known).subjects)

    gathered = gather_citations(islice(articles(), number), lambda paper: publication_record(paper, known).date)
    start = time.process_time()
    outcome = run(gathered, PrefetchSetting(floor=floor, limit=300), lambda what, done, total: None)
    seconds = time.process_time() - start
    print(f"{outcome.documents} eLife articles on {SUBJECT}, the newest {outcome.held_out} held out; floor {floor}")
    for learned in outcome.learned:
        print(f"by {learned.by}: {learned.sets} sets, {learned.papers} papers, {learned.known:.1%} of citations known")
    print(
        f"\n{'':<18}{'by':<9}{'asked':>6}"
        + "".join(f"{f'MRR {d:g}':>10}{f'R@2000 {d:g}':>12}" for d in (0.2, 0.5, 0.8))
    )
    for method, by in dict.fromkeys((row.method, row.by) for row in outcome.sets):
        rows = [row for row in outcome.sets if (row.method, row.by) == (method, by)]
        cells = "".join(f"{row.mrr.mean:>10.3f}{row.recall.mean:>12.3f}" for row in rows)
        print(f"{method:<18}{by:<9}{rows[0].asked:>6}{cells}")
    print(f"\nsingle sentences   by       hidden{'MRR':>10}{'R@2000':>12}")
    for row in outcome.contexts:
        hidden = "" if row.drop is None else f"{row.drop:g}"
        print(f"{row.method:<18} {row.by:<9}{hidden:>6}{row.mrr.mean:>10.3f}{row.recall.mean:>12.3f}")
    print(f"\n{seconds:.0f} s of processor time, training included")


if __name__ == "__main__":
    main()
