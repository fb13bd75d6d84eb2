"""Fit the weights of `whycite verify` to claims whose passages or verdicts are known.

Run: python -m whycite.lab.train.verifyweights DATA OUT.json [UNSEEN.json]

The order of sentences is learnt from CL-SciSumm and SciFact. Verdicts are learnt from SciFact and Citation-Integrity
(training), from claims altered to say something else, from CL-SciSumm claims paired with papers that they do not cite
(easy cases of "not found"), and from two thirds of the eLife articles that cite each other, paired with similar
articles and with other claims of the same documents (hard cases). The least probability for reporting backing is
fitted last.

A ranker looks better than it is on cases it was trained on, so what it adds is learnt from UNSEEN, the scores of
rankers trained without them: {"passage": {case: [score of each sentence]}, "between": {case: [score of each with its
neighbours]}, "stance": {case: score}, "altered": {case: [[claim, stance], …]}}, where stances are for the gold
sentences joined.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from whycite.check.calibration import fit_calibration as calibrated
from whycite.documents.jsontext import as_dict
from whycite.errors import UserError
from whycite.lab.thesis import datasets
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.experiment import CaseSplit, Fit
from whycite.lab.thesis.measures import Scorer
from whycite.lab.train.verifyexamples import (
    UnseenScores,
    VerdictExample,
    cited_texts,
    examples_with_stances,
    prepare,
    verdict_examples,
)
from whycite.models import Encoder, load_encoder
from whycite.models.cache import CachedEncoder
from whycite.models.rankers import Ranker, ranker_of
from whycite.verify.features import CLASSES, KINDS, STEPS, PassageWeights
from whycite.verify.passages import kind_of
from whycite.verify.verdict import chances_of, collect_signs, stance_features

__all__ = [
    "bar_of",
    "fit_bars",
    "fit_classes",
    "fit_kinds",
    "fit_order",
    "fit_steps",
    "fit_verdicts",
    "load_unseen_scores",
    "refit_weights",
    "verify_fit",
]


Floats = NDArray[np.float64]
Gold = NDArray[np.bool_]

_STEPS, _RATE = 300, 0.1
_PULL = 1e-3  # regularisation towards zero, with features scaled to equal size
_LISTWISE_SHARE = 0.3  # weight of the loss over all sentences next to that over pairs
_MAX_OTHERS = 150  # sentences that a gold one is compared with


def fit_order(tables: Sequence[Floats], gold: Sequence[Gold], names: Sequence[str]) -> dict[str, float]:
    """Fit weights that rank gold sentences above the others of their document, and a bias that makes scores logits."""
    mixed_cases = [
        (table, marked) for table, marked in zip(tables, gold, strict=True) if marked.any() and not marked.all()
    ]
    if not mixed_cases:
        raise UserError("no cases with both gold and other sentences to fit to")
    rows = np.concatenate([table for table, _ in mixed_cases])
    marked = np.concatenate([gold_mask for _, gold_mask in mixed_cases])
    middle, size = rows.mean(0), rows.std(0)
    usable = size > 1e-9
    scaled = np.where(usable, (rows - middle) / np.where(usable, size, 1.0), 0.0)
    starts = np.cumsum([0, *(len(table) for table, _ in mixed_cases)])
    winners, losers, shares = _gold_pairs([gold_mask for _, gold_mask in mixed_cases], starts)
    weights = _descend(scaled, marked, starts, winners, losers, shares)
    scores = scaled @ weights
    logits = calibrated(scores, marked, shift=True)
    unscaled = np.where(usable, weights * logits.scale / np.where(usable, size, 1.0), 0.0)
    bias = logits.shift - float(middle @ unscaled)
    return {**dict(zip(names, unscaled.round(5).tolist(), strict=True)), "bias": round(bias, 5)}


def _gold_pairs(gold: Sequence[Gold], starts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Rows of gold sentences, rows of others, and the weight of each pair, such that every case counts the same."""
    chance = np.random.default_rng(0)
    winners, losers, shares = [], [], []
    for marked, start in zip(gold, starts, strict=False):
        gold_rows, other_rows = np.flatnonzero(marked), np.flatnonzero(~marked)
        if len(other_rows) > _MAX_OTHERS:
            other_rows = chance.choice(other_rows, _MAX_OTHERS, replace=False)
        winners.append(start + np.repeat(gold_rows, len(other_rows)))
        losers.append(start + np.tile(other_rows, len(gold_rows)))
        count = len(gold_rows) * len(other_rows)
        shares.append(np.full(count, 1 / count / len(gold)))
    return np.concatenate(winners), np.concatenate(losers), np.concatenate(shares)


def _descend(
    rows: Floats,
    marked: Gold,
    starts: NDArray[np.int64],
    winners: NDArray[np.int64],
    losers: NDArray[np.int64],
    shares: Floats,
) -> Floats:
    weights = np.zeros(rows.shape[1])
    momentum, variance = np.zeros_like(weights), np.zeros_like(weights)
    cases = len(starts) - 1
    case_of_row = np.repeat(np.arange(cases), np.diff(starts))
    for step in range(1, _STEPS + 1):
        scores = rows @ weights
        wrong = shares / (1 + np.exp(np.clip(scores[winners] - scores[losers], -30, 30)))
        slope = (1 - _LISTWISE_SHARE) * (np.bincount(losers, wrong, len(rows)) - np.bincount(winners, wrong, len(rows)))
        parts = np.exp(scores - np.maximum.reduceat(scores, starts[:-1])[case_of_row])
        total, gold_total = (
            np.add.reduceat(parts, starts[:-1])[case_of_row],
            np.add.reduceat(parts * marked, starts[:-1])[case_of_row],
        )
        slope += _LISTWISE_SHARE * (parts / total - parts * marked / np.maximum(gold_total, 1e-12)) / cases
        gradient = rows.T @ slope + _PULL * weights
        momentum, variance = 0.9 * momentum + 0.1 * gradient, 0.999 * variance + 0.001 * gradient**2
        weights -= _RATE * (momentum / (1 - 0.9**step)) / (np.sqrt(variance / (1 - 0.999**step)) + 1e-8)
    return weights


def fit_classes(
    signs: Sequence[Mapping[str, float]], labels: Sequence[str], classes: Sequence[str], counts: Sequence[float]
) -> dict[str, dict[str, float]]:
    """Fit weights of signs for each class by maximum likelihood; `counts` are the weights of the examples."""
    if not labels or set(labels) - set(classes):
        raise UserError(f"expected examples with these labels: {', '.join(classes)}")
    names = sorted({name for example_signs in signs for name in example_signs})
    rows = np.array([[example_signs.get(name, 0.0) for name in names] for example_signs in signs])
    middle, size = rows.mean(0), np.maximum(rows.std(0), 1e-9)
    scaled = np.concatenate([(rows - middle) / size, np.ones((len(rows), 1))], axis=1)
    targets = np.array([[label == name for name in classes] for label in labels], np.float64)
    share = (np.array(counts) / np.sum(counts))[:, None]
    weights = np.zeros((scaled.shape[1], len(classes)))
    momentum, variance = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, 2 * _STEPS + 1):
        scores = scaled @ weights
        chances = np.exp(scores - scores.max(1, keepdims=True))
        chances /= chances.sum(1, keepdims=True)
        gradient = scaled.T @ ((chances - targets) * share) + _PULL * weights
        momentum, variance = 0.9 * momentum + 0.1 * gradient, 0.999 * variance + 0.001 * gradient**2
        weights -= _RATE * (momentum / (1 - 0.9**step)) / (np.sqrt(variance / (1 - 0.999**step)) + 1e-8)
    unscaled = weights[:-1] / size[:, None]
    bias = weights[-1] - middle @ unscaled
    return {
        name: {
            **dict(zip(names, unscaled[:, column].round(5).tolist(), strict=True)),
            "bias": round(float(bias[column]), 5),
        }
        for column, name in enumerate(classes)
    }


_BARS = tuple(percent / 100 for percent in range(50, 95, 5))  # backing less likely than not is never reported
_VERDICTS = ("not found", "backed")
_WRONGLY = 0.05  # largest share of claims called backed by a paper that they do not cite


def fit_bars(
    labelled: Sequence[VerdictExample], encoder: Encoder, ranker: Ranker | None, weights: PassageWeights
) -> dict[str, float]:
    """Fit the least probability at which backing is reported, by kind of document.

    For whole papers, the lowest at which hardly any claim is called backed by a paper that it does not cite; for
    abstracts, the one with the most correct labels, each data set counting the same.
    """
    # Use only the ranker's stance.
    unread = {kind: {**steps, "read": {}, "between": {}} for kind, steps in weights.steps.items()}
    ready = {
        kind: prepare(encoder, ranker if kind == "paper" else None, replace(weights, steps=unread)) for kind in KINDS
    }
    rows_by_kind: dict[str, list[tuple[str, str, float]]] = {kind: [] for kind in KINDS}
    for example in labelled:
        case, kind = example.case, kind_of(example.case.sentences)
        prepared = ready[kind](case)
        case_signs = collect_signs(case.claim, prepared, prepared.rank(case.claim), stance=example.stance)
        if case_signs is not None:
            chances = chances_of(case_signs, kind, weights)
            backing_chance = (
                0.0 if case_signs.otherwise or chances["backed"] < max(chances.values()) else chances["backed"]
            )
            rows_by_kind[kind].append((case.dataset, example.label, backing_chance))
    return {kind: bar_of(kind, rows) for kind, rows in rows_by_kind.items() if rows}


def bar_of(kind: str, rows: Sequence[tuple[str, str, float]]) -> float:
    """The bar for a kind of document, from the data set, label and backing probability of each case."""

    def false_backing(bar: float) -> float:
        false_alarms = [chance >= bar for _, label, chance in rows if label != "backed"]
        return sum(false_alarms) / max(len(false_alarms), 1)

    def accuracy(bar: float) -> float:
        names = sorted({name for name, _, _ in rows})
        shares = [
            [label == _VERDICTS[chance >= bar] for dataset, label, chance in rows if dataset == name] for name in names
        ]
        return fmean(map(fmean, shares))

    if kind == "paper":
        return next((bar for bar in _BARS if false_backing(bar) <= _WRONGLY), _BARS[-1])
    return max(_BARS, key=accuracy)


def verify_fit(encoder: Encoder, rankers: Sequence[Ranker | None]) -> Fit:
    """Fit the weights to the training and development parts; each fold has its own ranker, or none."""

    def fit(parts: CaseSplit, fold: int) -> Scorer:
        ranker = rankers[fold]
        ready = prepare(encoder, ranker, fit_steps([*parts.train, *parts.dev], encoder, ranker))
        # A scorer gets only sentences; verify also looks at their headings.
        case_by_sentences = {case.sentences: case for case in (*parts.train, *parts.dev, *parts.test)}

        def score(claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
            return ready(case_by_sentences[tuple(sentences)]).rank(claim).logits

        return score

    return fit


def load_unseen_scores(path: Path, cases: Iterable[PassageCase]) -> UnseenScores:
    """Load the scores in a JSON file as a ranker: "passage" has, by id of a case with gold, one score per sentence.

    "between" has the scores of sentences with their neighbours. All come from rankers trained without the cases that
    they score.
    """
    try:
        return UnseenScores((case for case in cases if case.gold), as_dict(json.loads(path.read_text("utf-8"))))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UserError(f"{path}: scores for some sentences of these datasets are missing ({error})") from error


def refit_weights(parts: CaseSplit, encoder: Encoder) -> PassageWeights:
    """Fit weights for order and verdicts without a ranker, on the training and development parts."""
    learnt = [*parts.train, *parts.dev]
    weights = fit_steps(learnt, encoder, None)
    return replace(weights, verdicts=fit_kinds(list(verdict_examples(learnt, (), Random(0))), encoder, weights))


_NO_WEIGHTS = PassageWeights({kind: {step: {} for step in STEPS} for kind in KINDS}, {})
_BACKED_WEIGHT = 1.5  # weight of a backed claim: they are more common in drafts than in the data
_RETRIEVED_CASES, _PAPER_CASES = 800, 300  # cases of Citation-Integrity and CL-SciSumm to learn verdicts from
_ARTICLE_CLAIMS = 250  # claims of articles, each paired with the article it cites and with another (see `cited_texts`)


def fit_steps(cases: Sequence[PassageCase], encoder: Encoder, ranker: Ranker | None) -> PassageWeights:
    """Fit the weights of the steps in turn: each sees what the previous one chose."""
    weights = _NO_WEIGHTS
    for kind in KINDS:
        kind_cases = [case for case in cases if case.gold and kind_of(case.sentences) == kind]
        for step in STEPS:
            if not kind_cases or (ranker is None and step in ("read", "between")):
                continue
            tables, gold, ready = [], [], prepare(encoder, ranker, weights)
            for case in kind_cases:
                table, rows = ready(case).table(case.claim, step)
                tables.append(table)
                gold.append(np.isin(rows, list(case.gold)))
            step_weights = {**weights.steps[kind], step: fit_order(tables, gold, STEPS[step])}
            weights = replace(weights, steps={**weights.steps, kind: step_weights})
    return weights


def fit_kinds(
    labelled: Sequence[VerdictExample], encoder: Encoder, weights: PassageWeights
) -> dict[str, dict[str, dict[str, float]]]:
    """Fit the weights of the signs by kind of document; a kind without examples gets those fitted to all."""
    verdict_weights = {}
    for kind in KINDS:
        kind_examples = [example for example in labelled if kind_of(example.case.sentences) == kind]
        verdict_weights[kind] = fit_verdicts(kind_examples or labelled, encoder, weights)
    return verdict_weights


def fit_verdicts(
    labelled: Iterable[VerdictExample], encoder: Encoder, weights: PassageWeights, stance: bool = False
) -> dict[str, dict[str, float]]:
    """Fit the weights of the signs for each verdict; with `stance`, of those separating backing from contradiction."""
    classes = CLASSES[:2] if stance else CLASSES
    sign_values: list[dict[str, float]] = []
    labels, counts = [], []
    ready = prepare(encoder, None, weights)
    for example in labelled:
        prepared, claim = ready(example.case), example.case.claim
        case_signs = collect_signs(claim, prepared, prepared.rank(claim), stance=example.stance)
        if case_signs is not None:
            sign_values.append(
                stance_features(case_signs.values, prepared.kind, weights) if stance else case_signs.values
            )
            labels.append(example.label)
            counts.append(example.count * (_BACKED_WEIGHT if example.label == "backed" else 1.0))
    return fit_classes(sign_values, labels, classes, counts)


def main(arguments: Sequence[str], tell: Callable[[str], None] = print) -> None:
    """Fit to the data sets in a folder and write the weights."""
    if len(arguments) not in (2, 3):
        raise UserError("expected the folder of the datasets, the file to write and, optionally, a file of scores")
    data, out, plain, chance = Path(arguments[0]), Path(arguments[1]), load_encoder(), Random(0)
    unseen = json.loads(Path(arguments[2]).read_text("utf-8")) if len(arguments) == 3 else None
    papers, abstracts = datasets.load_clscisumm(data / "clscisumm"), datasets.load_scifact(data / "scifact")
    retrieved = datasets.load_citint(data / "citint", "train")
    encoder, cases = CachedEncoder(plain), [*papers, *abstracts]
    scored_cases = [case for case in cases if unseen and case.id in unseen["passage"]]
    scores = UnseenScores(scored_cases, unseen) if unseen else None
    weights = fit_steps(cases, encoder, scores)
    tell("fitted the ranking of sentences")
    shown = chance.sample(papers, min(_PAPER_CASES, len(papers)))
    articles = cited_texts(sorted((data / "elife").glob("elife-[0-9]*")), _ARTICLE_CLAIMS, encoder, chance)
    tell(f"{len(articles)} claims with full texts")
    labelled = [*abstracts, *chance.sample(retrieved, min(_RETRIEVED_CASES, len(retrieved))), *articles]
    verdicts = fit_kinds(list(verdict_examples(labelled, shown, chance)), encoder, weights)
    weights = replace(weights, verdicts=verdicts)
    tell("fitted the verdicts")
    ranker = ranker_of(plain) if unseen else None
    if unseen and ranker is not None:
        stances = fit_verdicts(examples_with_stances(abstracts, unseen), encoder, weights, stance=True)
        weights = replace(weights, verdicts={**verdicts, "stance": stances}, ranker=ranker.name)
    bar_examples = [
        VerdictExample(case, case.label or "", stance=(unseen or {}).get("stance", {}).get(case.id))
        for case in labelled
    ]
    replace(weights, bars=fit_bars(bar_examples, encoder, ranker, weights)).write(out)
    tell(f"{out}: fitted on {len(cases)} claims with passages and {len(labelled)} with verdicts")


if __name__ == "__main__":
    main(sys.argv[1:])
