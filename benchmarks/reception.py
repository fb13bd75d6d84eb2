"""What do citing sentences say of the papers they cite? Run: python benchmarks/reception.py [DATA].

Functions and agreement beside the labels of SciCite's dev file, and agreement in eLife, with sentences to be read.
"""

import io
import json
import os
import random
import sys
import time
from collections import Counter
from itertools import islice
from pathlib import Path

import zstandard

from whycite.cite.reception import agreement
from whycite.documents.reading import stream
from whycite.evidence.citationfunctions import likeliest_functions
from whycite.evidence.groups import quote

DATA = Path(os.environ.get("WHYCITE_DATA", "../shared/data"))
ARTICLES, PRINTED = 150, 20


def scicite(data: Path) -> None:
    """The likeliest function, and agreement, by label."""
    with (data / "citation-intent" / "sci-cite-dev.jsonl.zst").open("rb") as file:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8")
        rows = [json.loads(line) for line in lines]
    start = time.process_time()
    functions = likeliest_functions([row["text"] for row in rows])
    spent = time.process_time() - start
    right = sum(row["label"] == function for row, function in zip(rows, functions, strict=True))
    print(f"SciCite dev: {right} of {len(rows)} functions right, {1000 * spent / len(rows):.1f} ms of CPU a sentence")
    pairs = zip(rows, functions, strict=True)
    counts = Counter((row["label"], (function != "method" and agreement(row["text"])) or "") for row, function in pairs)
    for (label, attitude), number in sorted(counts.items()):
        print(f"  {label:10} {attitude or 'neither':8} {number}")


def elife(data: Path) -> None:
    """How often articles agree or disagree, and sentences in which they do."""
    examples: dict[str, set[str]] = {"agree": set(), "disagree": set()}
    counts: Counter[str | None] = Counter()
    for document in islice(stream(data / "elife" / "elife-08.jsonl.zst"), ARTICLES):
        for sentence in document.sentences:
            written = quote(sentence, document.by_id)
            for key in dict.fromkeys(sentence.cited_keys):
                if key in document.by_id:
                    stance = agreement(written, document.by_id[key].authors)
                    counts[stance] += 1
                    if stance:
                        examples[stance].add(f"[{'; '.join(document.by_id[key].authors[:1])}] {written}")
    print(f"eLife, {ARTICLES} articles: {dict(counts)}")
    for attitude, sentences in examples.items():
        for text in random.Random(4).sample(sorted(sentences), PRINTED):
            print(f"  {attitude}: {text}")


def main() -> None:
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    scicite(data)
    elife(data)


if __name__ == "__main__":
    main()
