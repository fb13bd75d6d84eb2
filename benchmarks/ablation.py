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

from whycite.cite.scoring import EVIDENCE, PAPER, RankingFeatures, RankingWeights
from whycite.lab.evaluate.comparison import bootstrap, paired_t_test
from whycite.lab.evaluate.topics import parse_topics
from whycite.lab.ilciter.workspace import PreparedTopic, prepare
from whycite.lab.train.citeweights import TITLES, LabelledFeatures, draw_topic_claims, fit, ranks
from whycite.models import DEFAULT
from whycite.models.pairs import Ranker, load_ranker

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
FITTED = "Developmental Biology,Immunology and Inflammation"
TOPICS = ("Cell Biology", "Microbiology and Infectious Disease", "Neuroscience")
WORDS = ("sentence_coverage", "part", "part_coverage", "part_equal", "lexical")
MEANING = ("sentence_cosine", "part_cosine")
SPANS = (*WORDS, *MEANING, "crowd")
FEATURES = ("support", "age")
NOTHING = RankingWeights(**dict.fromkeys((*EVIDENCE, *PAPER), 0.0))


def best_span(features: RankingFeatures) -> RankingFeatures:
    """Of each paper only the span that is nearest, by meaning or else by words."""
    near = features.evidence[:, [EVIDENCE.index(name) for name in (*MEANING, "lexical")]] @ np.array(
        [100.0, 100.0, 1.0]
    )
    order = np.lexsort((-near, features.paper_index))
    kept = np.sort(order[np.searchsorted(features.paper_index[order], np.arange(len(features.papers)))])
    return replace(
        features, paper_index=features.paper_index[kept], spans=features.spans[kept], evidence=features.evidence[kept]
    )


def without_titles(features: RankingFeatures) -> RankingFeatures:
    """Without papers that are only found by their titles, and without titles as evidence."""
    of_spans = features.evidence[:, EVIDENCE.index("title")] == 0
    kept = np.zeros(len(features.papers), bool)
    kept[features.paper_index[of_spans]] = True
    rows = replace(
        features,
        paper_index=features.paper_index[of_spans],
        spans=features.spans[of_spans],
        evidence=features.evidence[of_spans],
    )
    return rows.select_papers(kept)


def narrowed(asked: Sequence[LabelledFeatures], titles: bool, voting: bool) -> list[LabelledFeatures]:
    """Claims as a lesser method sees them."""
    found = []
    for each in asked:
        features = each.features if titles else without_titles(each.features)
        right = each.relevant[np.isin(each.features.papers, features.papers)]
        found.append(LabelledFeatures(features if voting else best_span(features), right))
    return found


def asked_of(prepared: Sequence[PreparedTopic], claims: int, ranker: Ranker | None) -> list[list[LabelledFeatures]]:
    """The claims of each topic with all their features."""
    weights = replace(RankingWeights(), ranker=0.0)
    return [draw_topic_claims([topic], claims, 0, weights, ranker, "whycite", lambda *_: None) for topic in prepared]


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
    topics = parse_topics(f"{given.fitted},{','.join(TOPICS)}")
    first = len(topics) - len(TOPICS)
    sets = []
    for name, ranker in ((given.base, None), (DEFAULT, load_ranker(given.ranker) if given.ranker else None)):
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
