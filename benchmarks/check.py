"""How long does a check take, stage by stage? Run: python benchmarks/check.py [ARTICLES] [SENTENCES ...].

A library is made of so many eLife articles (700 give some 70,000 spans); drafts are made of sentences of articles that
are not in it. SCOPE's times (its section 5.6) are for one NVIDIA A100 and 2,000 papers to rerank.
"""

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path

from whycite.check.findings import CheckedDraft, Finding
from whycite.check.pipeline import check_draft
from whycite.documents import stream
from whycite.documents.model import Document
from whycite.library import add_documents

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
STAGES = ("reading", "worthiness", "bibliography", "library")
SIZES = (200, 3_000)
_WORTHY = 27.3 / 196.5  # share of the sentences of a paper that SCOPE counts (5.6)


def articles(first: int, number: int) -> list[Document]:
    """Some of the eLife articles, the newest first."""
    files = sorted((DATA / "elife").glob("elife-[0-9]*.jsonl.zst"))
    return list(islice(chain.from_iterable(map(stream, files)), first, first + number))


def draft(sentences: int) -> str:
    """A Markdown draft without citations, of as many sentences of the newest articles."""
    texts: list[str] = ["# Introduction\n"]
    paragraph = -1
    for document in articles(0, 1 + sentences // 100):
        for sentence in document.sentences:
            if sentence.kind == "prose" and sentences > 0:
                texts.append(("\n" if sentence.paragraph != paragraph else "") + sentence.without_citations() + "\n")
                paragraph = sentence.paragraph
                sentences -= 1
    return "".join(texts)


def show(name: str, path: Path, library: Path) -> CheckedDraft:
    start = time.perf_counter()
    shown: list[float] = []  # when each few findings with papers came

    def note(judged: CheckedDraft, findings: Sequence[Finding]) -> None:
        if any(finding.recommendations for finding in findings):
            shown.append(time.perf_counter() - start)

    checked = check_draft(path, library, on_findings=note)
    seconds = time.perf_counter() - start
    worthy = sum(finding.kind == "needs-citation" for finding in checked.findings)
    stages = "".join(f"{checked.stages[stage]:>14.2f}" for stage in STAGES)
    opening = f"{shown[0]:.2f}" if shown else "-"
    print(f"{name:<26}{len(checked.findings):>10,}{worthy:>8,}{stages}{opening:>15}{seconds:>10.2f}", flush=True)
    return checked


def published(sentences: int) -> None:
    """SCOPE's times for a draft of the same length; its paragraphs are taken to have five sentences, sections forty."""
    worthy = sentences * _WORTHY
    times = (0.110 * sentences, 0.100 * sentences / 5, 0.042 * sentences / 40, 0.005 * 2000 * worthy)
    stages = "".join(f"{value:>14.2f}" for value in times)
    print(f"{'SCOPE, by its figures':<26}{sentences:>10,}{worthy:>8,.0f}{stages}{'-':>15}{sum(times):>10.2f}")


def main() -> None:
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    number, *sizes = map(int, sys.argv[1:] or ("700",))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WHYCITE_CACHE"] = folder  # nothing is remembered from before
        library = Path(folder) / "library"
        report = add_documents(library, articles(100, number))
        print(f"A library of {report.added:,} articles, {report.spans:,} spans; load {os.getloadavg()[0]:.1f}")
        head = "".join(f"{stage:>14}" for stage in STAGES)
        print(f"{'seconds':<26}{'sentences':>10}{'worthy':>8}{head}{'first finding':>15}{'all':>10}")
        for size in sizes or SIZES:
            path = Path(folder) / f"draft{size}.md"
            text = draft(size)
            path.write_text(text, "utf-8")
            show("cold", path, library)
            path.write_text(text + "\nA last sentence that was not there before.\n", "utf-8")
            show("after one edit", path, library)
            path.write_text(text, "utf-8")
            show("as before", path, library)
            published(size)


if __name__ == "__main__":
    main()
