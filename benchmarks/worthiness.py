"""Which sentences need a citation? Run: python benchmarks/worthiness.py articles|drafts [NUMBER [TRAINED]].

articles: SCOPE's table 3 on the NUMBER (200) newest eLife articles, baselines learned from TRAINED (1,000) older ones.
drafts: real drafts with their citations masked, each decided by what drafts of other projects taught.
"""

import json
import os
import sys
import time
from itertools import islice
from pathlib import Path
from typing import cast

from whycite.documents import read
from whycite.evaluation.worthiness import by_date
from whycite.evaluation.worthinessdrafts import cross_fitted, decision, draft
from whycite.evaluation.worthinesstable import table
from whycite.structure import label
from whycite.training.worthiness.making import gathered
from whycite.worthiness import load
from whycite.worthiness.examples import examples
from whycite.worthiness.folder import FolderDetector

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def articles(number: int, trained: int) -> None:
    """Table 3."""
    dev = max(1, number // 2)
    files = sorted((DATA / "elife").glob("elife-[0-9]*.jsonl.zst"))  # the newest first
    documents = list(islice(gathered(files), trained + dev + number))
    print(f"| {'method':<26} | paragraphs  | sentences | P      | R      | F1     |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for row in table(by_date(documents, dev, number), load(decision="articles")):
        scores = f"{row.scores.precision:.4f} | {row.scores.recall:.4f} | {row.scores.f1:.4f}"
        print(f"| {row.method:<26} | {row.kind:<11} | {row.sentences:>9,} | {scores} |")


def drafts(number: int) -> None:
    """The first NUMBER of them, all by default."""
    detector = cast(FolderDetector, load(decision="drafts"))
    found = []
    begun = time.perf_counter()
    for entry in json.loads((DATA / "drafts" / "index.json").read_text(encoding="utf-8"))[:number]:
        name = entry["name"]
        document = examples(label(read(DATA / "drafts" / name / entry["main"])))
        found.append(draft(name, name.partition("-")[0], document, detector))
    taken = time.perf_counter() - begun
    print("| drafts | signs | fitted on | sentences | P | R | F1 |\n| --- | --- | --- | ---: | ---: | ---: | ---: |")
    english = [each for each in found if each.english]
    for signs in (False, True):
        for name, own in (("all", found), ("in English", english)):
            scores = cross_fitted(own, signs).all
            number = sum(len(each.worthy) for each in own)
            values = f"{scores.precision:.4f} | {scores.recall:.4f} | {scores.f1:.4f}"
            print(f"| {len(own)} {name} | {'yes' if signs else 'no'} | others of them | {number:,} | {values} |")
    print(f"\nread and scored in {taken:.0f} s; the decision for drafts in English: {decision(english)}")


if __name__ == "__main__":
    given = [int(value) for value in sys.argv[2:]]
    if sys.argv[1:2] == ["articles"]:
        articles(*(given + [200, 1000][len(given) :]))
    elif sys.argv[1:2] == ["drafts"]:
        drafts(given[0] if given else 10**9)
    else:
        sys.exit(__doc__)
