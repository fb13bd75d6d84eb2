"""How many of the papers hidden in sets are found again, in pools of several sizes?

Run: python benchmarks/candidates.py [ARTICLES] [FLOOR:K…] [--methods M1,M2]. A paper is in the pool if FLOOR articles
cite it, and K papers are asked for; SCOPE asked for 2,000 of 27,065, 7.4 %.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from whycite.documents import Document, stream
from whycite.lab.evaluate.topics import publication_record, read_publication_records
from whycite.lab.scope.candidates import gather_citations
from whycite.lab.scope.prefetching import METHODS, PrefetchOutcome, PrefetchSetting, run

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SUBJECT = "Neuroscience"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("articles", type=int, nargs="?", default=300)
    parser.add_argument("pools", nargs="*", default=["2:2000"], metavar="FLOOR:K")
    parser.add_argument("--methods", default=",".join(METHODS))
    options = parser.parse_args()
    shards = sorted((DATA / "elife").glob("elife-[0-9]*.jsonl.zst"))
    if not shards:
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    publications = read_publication_records(shards)

    def articles() -> Iterator[Document]:
        documents = (document for shard in shards for document in stream(shard))
        return (
            document for document in documents if SUBJECT in publication_record(document.paper, publications).subjects
        )

    corpus = gather_citations(
        islice(articles(), options.articles), lambda paper: publication_record(paper, publications).date
    )
    for pool in options.pools:
        floor, k = map(int, pool.split(":"))
        start = time.process_time()
        setting = PrefetchSetting(tuple(options.methods.split(",")), floor=floor, k=k, limit=300)
        outcome = run(corpus, setting, lambda what, done, total: None)
        print_outcome(outcome, floor, k)
        print(f"\n{time.process_time() - start:.0f} s of processor time, training included\n", flush=True)


def print_outcome(outcome: PrefetchOutcome, floor: int, k: int) -> None:
    print(f"{outcome.documents} eLife articles on {SUBJECT}, the newest {outcome.held_out} held out; floor {floor}")
    for learned in outcome.learned:
        print(
            f"by {learned.by}: {learned.sets} sets; {k:,} of {learned.papers:,} papers, {k / learned.papers:.1%}; "
            f"{learned.known:.1%} of citations known"
        )
    print(
        f"\n{'':<18}{'by':<9}{'asked':>6}" + "".join(f"{f'MRR {d:g}':>10}{f'R@k {d:g}':>12}" for d in (0.2, 0.5, 0.8))
    )
    for method, by in dict.fromkeys((row.method, row.by) for row in outcome.sets):
        rows = [row for row in outcome.sets if (row.method, row.by) == (method, by)]
        cells = "".join(f"{row.mrr.mean:>10.3f}{row.recall.mean:>12.3f}" for row in rows)
        print(f"{method:<18}{by:<9}{rows[0].asked:>6}{cells}")
    print(f"\nsingle sentences   by       hidden{'MRR':>10}{'R@k':>12}")
    for row in outcome.contexts:
        hidden = "" if row.drop is None else f"{row.drop:g}"
        print(f"{row.method:<18} {row.by:<9}{hidden:>6}{row.mrr.mean:>10.3f}{row.recall.mean:>12.3f}")


if __name__ == "__main__":
    main()
