"""How fast are evidence spans extracted, and what takes the time? Run: python benchmarks/evidence.py [ARTICLES]."""

import os
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

from whycite.documents import Document, stream
from whycite.evidence import extract, extract_many, spans
from whycite.evidence.groups import split_at_groups

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


class Clock:
    """Adds up the time and the number of sentences of the parser."""

    def __init__(self, model: Any) -> None:
        self.model, self.seconds, self.sentences = model, 0.0, 0

    def pipe(self, texts: list[str], batch_size: int) -> Any:
        start = time.process_time()
        parses = list(self.model.pipe(texts, batch_size=batch_size))
        self.seconds += time.process_time() - start
        self.sentences += len(texts)
        return parses


def measure(papers: list[Document]) -> tuple[float, Clock]:
    """Processor time of extraction in this process, and the parser's part of it."""
    clock = Clock(spans.load_parser())
    with mock.patch.object(spans, "_model", return_value=clock):
        start = time.process_time()
        for paper in papers:
            extract(paper)
        return time.process_time() - start, clock


def main() -> None:
    path = DATA / "elife" / "elife-tiny.jsonl.zst"
    if not path.exists():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    start = time.process_time()
    papers = list(islice(stream(path), int(sys.argv[1]) if len(sys.argv) > 1 else 60))
    reading = time.process_time() - start
    citing = [(paper, sentence) for paper in papers for sentence in paper.sentences if sentence.citations]
    extract(papers[0])  # the model is loaded once

    start = time.process_time()
    for paper, sentence in citing:
        split_at_groups(sentence, paper)
    grouping = time.process_time() - start
    needed, clock = measure(papers)
    with mock.patch.object(spans, "_needs_parse", return_value=True):
        always, _ = measure(papers)

    print(f"{len(papers)} eLife articles, {len(citing)} citing sentences; seconds of processor time")
    print(f"{'stage':<32}{'seconds':>9}{'share':>8}{'sentences':>11}{'a second':>10}")
    for name, seconds, sentences in (
        ("groups", grouping, len(citing)),
        ("parser, only where needed", clock.seconds, clock.sentences),
        ("walk and spans", needed - grouping - clock.seconds, len(citing)),
        ("all", needed, len(citing)),
        ("all, every sentence parsed", always, len(citing)),
    ):
        share = f"{seconds / needed:.0%}"
        print(f"{name:<32}{seconds:>9.2f}{share:>8}{sentences:>11}{sentences / seconds:>10,.0f}")
    print(f"{'(reading the articles)':<32}{reading:>9.2f}\n")
    for jobs in (1, 2):
        start = time.perf_counter()
        span_count = sum(len(found) for _, found in extract_many(papers, jobs))
        wall = time.perf_counter() - start
        print(
            f"{jobs} process(es): {60 * len(papers) / wall:,.0f} articles a minute ({span_count} spans in {wall:.1f} s)"
        )


if __name__ == "__main__":
    main()
