"""How well and how fast are references of the same paper found? Run: python benchmarks/identity.py [MILLIONS]."""

import io
import json
import os
import random
import resource
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import zstandard

from whycite.documents.identity import Papers, group_references
from whycite.documents.identity.identifiers import is_preprint, normalise_doi
from whycite.documents.model import Reference

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def read(data: Path) -> list[Reference]:
    """All references of the eLife pack."""
    references = []
    for path in sorted((data / "elife").glob("elife-[0-9]*.jsonl.zst")):
        with path.open("rb") as file:
            for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), encoding="utf-8"):
                for id, entry in json.loads(line)["bib_entries"].items():
                    names = [name.rpartition(" ") for name in entry["authors"]]
                    authors = tuple(f"{family}, {given}" if family else given for family, _, given in names)
                    doi, pmid = entry.get("doi") or "", entry.get("pmid") or ""
                    venue = entry.get("venue") or ""
                    references.append(Reference(id, entry["title"], authors, entry["year"], venue, doi=doi, pmid=pmid))
    return references


def quality(references: list[Reference]) -> None:
    """Hide the identifiers of a random half: do the hidden ones join those that still show the same DOI?"""
    chance = random.Random(5)
    real = [normalise_doi(reference.doi) for reference in references]
    hidden = [bool(doi) and chance.random() < 0.5 for doi in real]
    groups = group_references(
        replace(reference, doi="", pmid="") if hide else reference
        for reference, hide in zip(references, hidden, strict=True)
    )
    shown: defaultdict[int, set[str]] = defaultdict(set)
    for doi, number, hide in zip(real, groups, hidden, strict=True):
        if doi and not hide:
            shown[number].add(doi)
    known = {doi for dois in shown.values() for doi in dois}
    counts: Counter[str] = Counter()
    for doi, number, hide in zip(real, groups, hidden, strict=True):
        if not hide:
            continue
        dois = shown.get(number, set())
        counts["twin"] += doi in known
        counts["found"] += doi in dois
        counts["joined"] += bool(dois)
        if dois and doi not in dois:
            counts["version" if is_preprint(doi) or all(map(is_preprint, dois)) else "other"] += 1
    print(f"{len(references):,} references, {len(set(groups)):,} papers, {sum(hidden):,} identifiers hidden")
    print(f"recall      {counts['found'] / counts['twin']:.4f}  ({counts['found']:,} of {counts['twin']:,})")
    right = counts["joined"] - counts["other"]
    print(
        f"precision   {right / counts['joined']:.4f}  ({counts['other']:,} joined a paper with another published DOI,"
    )
    print(f"            errata and second DOIs of one work counted as wrong; {counts['version']:,} joined a preprint)")


def many(references: list[Reference], size: int) -> Iterator[Reference]:
    """As many references as asked for: the real ones, then copies with other titles, identifiers and years."""
    for number in range(size):
        copy, at = divmod(number, len(references))
        reference = references[at]
        if copy:
            reference = replace(
                reference,
                title=f"{reference.title} {copy}",
                year=(reference.year or 2000) - copy % 3,
                doi=f"{reference.doi}.{copy}" if reference.doi else "",
                pmid=str(int(reference.pmid) + copy * 3_000_000) if reference.pmid and copy < 20 else "",
            )
        yield reference


def speed(references: list[Reference], size: int) -> None:
    papers, adding, batch = Papers(), 0.0, []
    for reference in many(references, size):
        batch.append(reference)
        if len(batch) == 50_000:
            start = time.process_time()
            for each in batch:
                papers.add(each)
            adding += time.process_time() - start
            batch.clear()
    start = time.process_time()
    for each in batch:
        papers.add(each)
    groups = papers.groups()
    total = adding + time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
    print(f"{size:>12,} {max(groups) + 1:>12,} {total:>9.1f} {size / total:>13,.0f} {memory:>9.2f}")


def main() -> None:
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    references = read(DATA)
    quality(references)
    print(f"\n{'references':>12} {'papers':>12} {'CPU s':>9} {'references/s':>13} {'peak GiB':>9}")
    largest = int(float(sys.argv[1]) * 1e6) if len(sys.argv) > 1 else 1_000_000
    for size in (100_000, 1_000_000, largest):
        if size <= largest:
            speed(references, size)
        if size == largest:
            break


if __name__ == "__main__":
    main()
