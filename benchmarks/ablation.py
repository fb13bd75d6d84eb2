"""What does each part of the default method add? Run: python benchmarks/ablation.py [WORK [BASE [RANKER]]].

The weights of each step are fitted anew to 700 claims of each of two subjects of eLife, and measured on 500 claims of
each of three others. WORK is where libraries are kept; BASE the folder of the encoder that ours was trained from, for
the first two steps (without it, these have ours); RANKER that of a ranker, for the last.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from whycite.encoders import DEFAULT
from whycite.evaluation.topics import named
from whycite.evaluation.workspace import Prepared, prepare
from whycite.recommend.features import Features
from whycite.recommend.weights import EVIDENCE, PAPER, Weights
from whycite.rerank.ranker import Ranker, load
from whycite.training.fitting import claims_asked
from whycite.training.weights import Asked, fit, ranks

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
FITTED = "Developmental Biology,Immunology and Inflammation"
TOPICS = ("Cell Biology", "Microbiology and Infectious Disease", "Neuroscience")
WORDS = ("sentence_coverage", "part", "part_coverage", "part_equal", "lexical")
MEANING = ("sentence_cosine", "part_cosine")
SPANS = (*WORDS, *MEANING, "crowd")
TITLES = ("title", "title_cosine", "title_coverage", "about")
FEATURES = ("support", "age")
NOTHING = Weights(**dict.fromkeys((*EVIDENCE, *PAPER), 0.0))


def best_span(features: Features) -> Features:
    """Of each paper only the span that is nearest, by meaning or else by words."""
    near = features.evidence[:, [EVIDENCE.index(name) for name in (*MEANING, "lexical")]] @ np.array(
        [100.0, 100.0, 1.0]
    )
    order = np.lexsort((-near, features.of))
    kept = np.sort(order[np.searchsorted(features.of[order], np.arange(len(features.papers)))])
    return replace(features, of=features.of[kept], spans=features.spans[kept], evidence=features.evidence[kept])


def without_titles(features: Features) -> Features:
    """Without papers that are only found by their titles, and without titles as evidence."""
    of_spans = features.evidence[:, EVIDENCE.index("title")] == 0
    kept = np.zeros(len(features.papers), bool)
    kept[features.of[of_spans]] = True
    rows = replace(
        features, of=features.of[of_spans], spans=features.spans[of_spans], evidence=features.evidence[of_spans]
    )
    return rows.only(kept)


def narrowed(asked: Sequence[Asked], titles: bool, voting: bool) -> list[Asked]:
    """Claims as a lesser method sees them."""
    found = []
    for each in asked:
        features = each.features if titles else without_titles(each.features)
        right = each.right[np.isin(each.features.papers, features.papers)]
        found.append(Asked(features if voting else best_span(features), right))
    return found


def asked_of(prepared: Sequence[Prepared], claims: int, ranker: Ranker | None) -> list[list[Asked]]:
    """The claims of each topic with all their features."""
    weights = replace(Weights(), ranker=0.0)
    return [claims_asked([topic], claims, 0, weights, ranker, "whycite", lambda *_: None) for topic in prepared]


def main() -> None:
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    work = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    paths = sorted((DATA / "elife").glob("elife-[0-9]*.jsonl.zst"))
    topics = named(f"{FITTED},{','.join(TOPICS)}")
    jobs = os.cpu_count() or 1
    sets = []
    base, ranker = [*sys.argv[2:], "", ""][:2]
    for name, reading in ((base, None), (DEFAULT, load(Path(ranker)) if ranker else None)):
        if name:
            folder = work / Path(name).name if work and name != DEFAULT else work
            prepared, _ = prepare(paths, topics, 200, folder, jobs, lambda *_: None, name)
            fitted = [each for some in asked_of(prepared[:2], 700, reading) for each in some]
            sets.append((fitted, asked_of(prepared[2:], 500, reading)))
    steps = (
        ("spans by words, the best one", 0, WORDS, False, False),
        ("+ by meaning (hybrid), the base's encoder", 0, SPANS, False, False),
        ("+ our encoder", -1, SPANS, False, False),
        ("+ voting: all spans count", -1, SPANS, False, True),
        ("+ titles as evidence", -1, (*SPANS, *TITLES), True, True),
        ("+ support and age", -1, (*SPANS, *TITLES, *FEATURES), True, True),
        ("+ ranker", -1, (*SPANS, *TITLES, *FEATURES, "ranker"), True, True),
    )
    print(f"{'step':<44}" + "".join(f"{topic[:18]:>22}" for topic in TOPICS))
    for label, which, free, titles, voting in steps if ranker else steps[:-1]:
        fitted, tests = sets[which]
        weights = fit(narrowed(fitted, titles, voting), NOTHING, free)
        cells = []
        for asked in tests:
            found = np.array(ranks(narrowed(asked, titles, voting), weights))
            reciprocal = np.where(found > 0, 1 / np.maximum(found, 1), 0)
            cells.append(f"{reciprocal.mean():>14.3f} /{(reciprocal >= 0.1).mean():>6.3f}")
        print(f"{label:<44}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
