"""What does each part of the default method add? Run: python benchmarks/ablation.py --help.

The weights of each step are fitted anew to claims of some subjects of eLife, and measured on claims of three others.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from whycite.encoders import DEFAULT
from whycite.evaluation.statistics import bootstrap, paired_t_test
from whycite.evaluation.topics import named
from whycite.evaluation.workspace import Prepared, prepare
from whycite.recommend.features import Features
from whycite.recommend.weights import EVIDENCE, PAPER, Weights
from whycite.rerank.ranker import Ranker, load
from whycite.training.fitting import claims_asked
from whycite.training.weights import TITLES, Asked, fit, ranks

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
FITTED = "Developmental Biology,Immunology and Inflammation"
TOPICS = ("Cell Biology", "Microbiology and Infectious Disease", "Neuroscience")
WORDS = ("sentence_coverage", "part", "part_coverage", "part_equal", "lexical")
MEANING = ("sentence_cosine", "part_cosine")
SPANS = (*WORDS, *MEANING, "crowd")
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


def arguments() -> argparse.Namespace:
    """What is asked for."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--work", type=Path, help="where libraries are kept")
    given.add_argument("--base", help="folder of the encoder that ours was trained from, for the first two steps")
    given.add_argument("--ranker", type=Path, help="folder of a ranker, for the last step")
    given.add_argument("--fitted", default=FITTED, help="subjects that weights are fitted to, between commas")
    given.add_argument("--fit-claims", type=int, default=700, help="claims of each of these")
    given.add_argument("--claims", type=int, default=500, help="claims of each topic that is measured on")
    return given.parse_args()


def main() -> None:
    given = arguments()
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    paths = sorted((DATA / "elife").glob("elife-[0-9]*.jsonl.zst"))
    topics = named(f"{given.fitted},{','.join(TOPICS)}")
    first = len(topics) - len(TOPICS)
    sets = []
    for name, ranker in ((given.base, None), (DEFAULT, load(given.ranker) if given.ranker else None)):
        if name:
            folder = given.work / Path(name).name if given.work and name != DEFAULT else given.work
            prepared, _ = prepare(paths, topics, 200, folder, os.cpu_count() or 1, lambda *_: None, name)
            fitted = [each for some in asked_of(prepared[:first], given.fit_claims, ranker) for each in some]
            sets.append((fitted, asked_of(prepared[first:], given.claims, ranker)))
    steps = (
        ("spans by words, the best one", 0, WORDS, False, False),
        ("+ by meaning (hybrid), the base's encoder", 0, SPANS, False, False),
        ("+ our encoder", -1, SPANS, False, False),
        ("+ voting: all spans count", -1, SPANS, False, True),
        ("+ titles as evidence", -1, (*SPANS, *TITLES), True, True),
        ("+ support and age", -1, (*SPANS, *TITLES, *FEATURES), True, True),
        ("+ ranker", -1, (*SPANS, *TITLES, *FEATURES, "ranker"), True, True),
    )
    print(f"MRR (95 %) / R@10, p against the step before; {given.claims} claims a topic")
    print(f"{'step':<44}" + "".join(f"{topic[:22]:>40}" for topic in TOPICS), flush=True)
    before: list[list[float]] = []
    for label, which, free, titles, voting in steps if given.ranker else steps[:-1]:
        fitted, tests = sets[which]
        weights = fit(narrowed(fitted, titles, voting), NOTHING, free)
        found = [
            [1 / rank if rank else 0.0 for rank in ranks(narrowed(asked, titles, voting), weights)] for asked in tests
        ]
        cells = [cell(values, before[at] if before else None) for at, values in enumerate(found)]
        print(f"{label:<44}" + "".join(f"{text:>40}" for text in cells), flush=True)
        before = found


def cell(values: list[float], before: list[float] | None) -> str:
    """What a step is worth on a topic."""
    mean = bootstrap(values)
    text = f"{mean.mean:.3f} ({mean.low:.3f}–{mean.high:.3f}) / {np.mean(np.array(values) >= 0.1):.3f}"
    return text if before is None else f"{text} p {paired_t_test(values, before).p:.3f}"


if __name__ == "__main__":
    main()
