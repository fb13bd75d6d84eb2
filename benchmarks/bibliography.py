"""Citations of real drafts, masked one at a time: how high does the true entry of the draft's bibliography come?

    python benchmarks/bibliography.py [FOLDER]

prints MRR of BM25 over titles and of `whycite check` without a library, each draft measured with weights fitted to the
drafts of others, then the weights fitted to all, as whycite.check.bibliography has them; last, how often the first is
right with these, by its share among the entries.
"""

import argparse
import os
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np

import whycite
from whycite.check.bibliography import FEATURES, WEIGHTS
from whycite.check.proposals import MAX_CANDIDATES
from whycite.lab.train.fitweights import MaskedCitation, cross_fit_entries, mask_citations
from whycite.models import load_encoder
from whycite.models.cache import CachedEncoder

DRAFTS = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "drafts"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DRAFTS, help="drafts, each in a folder of its own")
    folder = parser.parse_args().folder
    if not folder.is_dir():
        sys.exit(f"no drafts at {folder}: name their folder, or set WHYCITE_DATA to that of the data")
    encoder = CachedEncoder(load_encoder())
    examples: list[MaskedCitation] = []
    for path in sorted(path for path in folder.iterdir() if path.is_dir()):
        document = whycite.read(path)
        if document.format in ("latex", "markdown") and document.references:
            examples += mask_citations(document, path.name, encoder)
    found = cross_fit_entries(examples)
    drafts = defaultdict(list)
    for case, ours, bm25 in zip(found.cases, found.reciprocal_ranks, found.bm25, strict=True):
        drafts[case.draft].append((len(case.features), bm25, ours))
    print(f"{'draft':32}{'citations':>10}{'entries':>9}{'BM25':>8}{'ours':>8}")
    for name, rows in drafts.items():
        entries, bm25, ours = np.mean(rows, axis=0)
        print(f"{name:32}{len(rows):>10}{entries:>9.0f}{bm25:>8.3f}{ours:>8.3f}")
    print(
        f"{'all citations':32}{len(examples):>10}{'':9}{found.bm25.mean():>8.3f}{found.reciprocal_ranks.mean():>8.3f}"
    )
    each = np.array([np.mean(rows, axis=0)[1:] for rows in drafts.values()]).mean(axis=0)
    print(f"{'mean of drafts':32}{len(drafts):>10}{'':9}{each[0]:>8.3f}{each[1]:>8.3f}")
    print(f"MRR is {found.ratio:.2f} times that of BM25 over titles.")
    print("weights:", {name: round(value, 2) for name, value in found.weights.items()})
    _print_shares(examples)


def _print_shares(examples: list[MaskedCitation]) -> None:
    """Print how often the first entry is right, by its share among the entries that are considered."""
    weights = np.array([WEIGHTS[name] for name in FEATURES])
    outcomes = []
    for case in examples:
        values = (case.features * weights).sum(axis=1)
        odds = np.exp(np.sort(values)[::-1][:MAX_CANDIDATES] - values.max())
        outcomes.append((1 / odds.sum(), int(values.argmax()) in case.true))
    shares, right = np.array(outcomes).T
    for low, high in pairwise((0, 0.2, 0.3, 0.4, 0.5, 0.7, 1.01)):
        inside = (shares >= low) & (shares < high)
        print(f"share {low:.1f} to {min(high, 1):.1f}: {inside.sum():>5}, {right[inside].mean():.0%} right")


if __name__ == "__main__":
    main()
