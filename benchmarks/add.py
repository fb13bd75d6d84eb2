"""How many articles a minute are added, and what takes the time? Run: python benchmarks/add.py [ARTICLES ...]."""

import os
import resource
import sys
import tempfile
import time
from contextlib import closing
from itertools import islice
from pathlib import Path

from whycite.documents.confined import stream_confined
from whycite.library import AddReport, add_documents
from whycite.models import load_encoder

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SIZES = (100, 200, 400)
STAGES = ("read", "evidence", "papers", "encode", "store", "index")


def added(library: Path, first: int, number: int) -> tuple[AddReport, float]:
    """What an add of eLife articles reports, and its processor time on all processes."""
    files = sorted((DATA / "elife").glob("elife-[0-9]*.jsonl.zst"))
    start = _processor()
    with closing(stream_confined(files)) as documents:  # as `whycite add` reads them
        report = add_documents(library, islice(documents, first, first + number))
    return report, _processor() - start


def _processor() -> float:
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent)


def show(name: str, report: AddReport, processor: float) -> None:
    speeds = f"{report.seconds:>8.1f}{60 * report.added / report.seconds:>10,.0f}"
    speeds += f"{processor:>8.1f}{120 * report.added / processor:>10,.0f}"
    known = sum(report.stages.values())
    shares = "".join(f"{report.stages[stage] / known:>10.0%}" for stage in STAGES)
    print(f"{name:<14}{report.spans:>8,}{report.papers:>9,}{speeds}{shares}", flush=True)


def main() -> None:
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    sizes = sorted(map(int, sys.argv[1:])) or SIZES
    load_encoder().encode(["text"])  # it is loaded once
    began = time.perf_counter()
    print("eLife articles into a new library; a minute: on the clock, and if two cores had nothing else to do")
    head = "".join(f"{stage:>10}" for stage in STAGES)
    print(f"{'articles':<14}{'spans':>8}{'papers':>9}{'s':>8}{'a minute':>10}{'CPU s':>8}{'a minute':>10}{head}")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "library"
            os.environ["WHYCITE_CACHE"] = folder  # no vector is remembered from before
            show(f"{size:,}", *added(library, 0, size))
            if size == sizes[-1]:
                show(f"{sizes[0]:,} more", *added(library, size, sizes[0]))
    load_average = os.getloadavg()[0]
    print(
        f"{time.perf_counter() - began:.0f} s in all; load of the machine: {load_average:.1f} on {os.cpu_count()} cores"
    )


if __name__ == "__main__":
    main()
