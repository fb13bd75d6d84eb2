"""Fit the weights of `whycite verify` to claims whose passages or verdicts are known.

Run: python -m whycite.lab.train.verifyweights DATA OUT.json RECORDED.json WRITTEN.jsonl

The order of sentences is learnt from CL-SciSumm, SciFact and written claims. The entailment model looks better than it
is on cases it was trained on, so what it adds is learnt from claims written about articles that no model has seen, and
from RECORDED, the judgements of models trained without the cases (see `RecordedEntailment`). With "-" for RECORDED the
model at hand is the bundled one, which has not seen a fifth of CL-SciSumm and SciFact (`set_aside`): these take the
place of all, and the order before the model reads stays that of the shipped weights. Verdicts are learnt from written
claims, against the whole article and against its abstract, and from citing sentences of eLife against the paper they
cite and others (`cited_texts`). The least chance of each verdict on papers comes last.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from whycite.check.calibration import fit_calibration as calibrated
from whycite.errors import UserError
from whycite.lab.thesis import datasets
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.experiment import CaseSplit, Fit
from whycite.lab.thesis.measures import Scorer
from whycite.lab.train.entailmentpack import CITING_KINDS, set_aside
from whycite.lab.train.verifyexamples import (
    OTHERS,
    CachedEntailment,
    abstract_cases,
    cited_texts,
    load_recorded,
    load_written,
    prepare,
)
from whycite.models import Encoder, load_encoder
from whycite.models.cache import CachedEncoder
from whycite.models.pairs import EntailmentModel, load_entailment
from whycite.verify.features import CLASSES, KINDS, STEPS, PassageWeights, shipped_weights
from whycite.verify.passages import kind_of
from whycite.verify.roles import cited_source, role_of
from whycite.verify.verdict import collect_signs, is_safe_contradiction, stance_of

__all__ = [
    "SignExample",
    "fit_bars",
    "fit_classes",
    "fit_order",
    "fit_steps",
    "fit_verdicts",
    "sign_examples",
    "verify_fit",
]

Floats = NDArray[np.float64]
Gold = NDArray[np.bool_]

_STEPS, _RATE = 300, 0.1
_PULL = 1e-3  # regularisation towards zero, with features scaled to equal size
_LISTWISE_SHARE = 0.3  # weight of the loss over all sentences next to that over pairs
_SIGN_PULL = 0.03  # the same for signs: with less, chances are too high on claims of other kinds (SciFact)
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
    signs: Sequence[Mapping[str, float]], labels: Sequence[str], classes: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Fit weights of signs for each class by maximum likelihood."""
    if not labels or set(labels) - set(classes):
        raise UserError(f"expected examples with these labels: {', '.join(classes)}")
    names = sorted({name for example_signs in signs for name in example_signs})
    rows = np.array([[example_signs.get(name, 0.0) for name in names] for example_signs in signs])
    middle, size = rows.mean(0), np.maximum(rows.std(0), 1e-9)
    scaled = np.concatenate([(rows - middle) / size, np.ones((len(rows), 1))], axis=1)
    targets = np.array([[label == name for name in classes] for label in labels], np.float64)
    weights = np.zeros((scaled.shape[1], len(classes)))
    momentum, variance = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, 2 * _STEPS + 1):
        scores = scaled @ weights
        chances = np.exp(scores - scores.max(1, keepdims=True))
        chances /= chances.sum(1, keepdims=True)
        gradient = scaled.T @ (chances - targets) / len(labels) + _SIGN_PULL * weights
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


_BARS = tuple(percent / 100 for percent in range(50, 95, 5))  # a verdict is more likely than not
# The share of other claims that may get a verdict: a wrong contradiction does more harm.
_MOST_WRONG = {"backed": 0.04, "contradicted": 0.02}
_ABSTRACT_BAR = 0.5  # an abstract is read whole, so what is more likely than not is said
_CITED = 50  # citing sentences whose cited paper is at hand, each with two other papers or claims
_CITING_ARTICLES = 80  # about as many claims as CL-SciSumm has, which are mostly about the first pages
_ITSELF = Path("-")
_NO_WEIGHTS = PassageWeights({kind: {step: {} for step in STEPS} for kind in KINDS}, {})


@dataclass(frozen=True, slots=True)
class SignExample:
    """The signs of a claim against a document, and the verdict."""

    signs: Mapping[str, float]
    label: str
    kind: str  # of document
    may_contradict: bool = True  # whether the passages allow a contradiction


def sign_examples(
    cases: Iterable[PassageCase], encoder: Encoder, entailment: EntailmentModel, weights: PassageWeights
) -> Iterator[SignExample]:
    """The signs of labelled cases, as `verify` collects them."""
    ready = prepare(encoder, entailment, weights)
    for case in cases:
        if case.label is None or not case.sentences:
            continue
        prepared = ready(case)
        roles = [
            role_of(sentence, section_type, bool(cited_source(sentence)))
            for sentence, section_type in zip(prepared.sentences, prepared.types, strict=True)
        ]
        ranked = prepared.rank(case.claim)
        signs = collect_signs(case.claim, prepared, ranked, roles)
        if signs is not None and not np.isnan([*signs.values.values()]).any():  # recorded judgements may lack some
            alone = stance_of(ranked.judgements[signs.contradicting[0]])
            safe = is_safe_contradiction(signs, prepared.kind, alone)
            yield SignExample(signs.values, case.label, prepared.kind, may_contradict=safe)


def fit_verdicts(examples: Sequence[SignExample]) -> dict[str, dict[str, dict[str, float]]]:
    """Fit the weights of the signs for each verdict by kind of document; a kind without examples gets those of all."""
    fitted = {}
    for kind in KINDS:
        chosen = [example for example in examples if example.kind == kind] or examples
        signs, labels = [example.signs for example in chosen], [example.label for example in chosen]
        fitted[kind] = fit_classes(signs, labels, CLASSES)
    return fitted


def fit_bars(examples: Sequence[SignExample], weights: PassageWeights) -> dict[str, dict[str, float]]:
    """The least chance of each verdict by kind of document: of papers, the lowest at which few other claims get it."""
    papers = [example for example in examples if example.kind == "paper"]
    paper_bars: dict[str, float] = {}
    for verdict, most in _MOST_WRONG.items():
        others = [example for example in papers if example.label != verdict]
        possible = [example for example in others if example.may_contradict or verdict != "contradicted"]
        likely = [weights.chances("paper", example.signs) for example in possible]
        wrong = {bar: sum(chances[verdict] == max(chances.values()) >= bar for chances in likely) for bar in _BARS}
        paper_bars[verdict] = next((bar for bar in _BARS if wrong[bar] <= most * len(others)), _BARS[-1])
    return {"paper": paper_bars, "abstract": dict.fromkeys(_MOST_WRONG, _ABSTRACT_BAR)}


def fit_steps(
    cases: Sequence[PassageCase],
    encoder: Encoder,
    entailment: EntailmentModel,
    learned: Sequence[PassageCase] = (),
    before: PassageWeights | None = None,
) -> PassageWeights:
    """Fit the weights of the steps in turn: each sees what the previous one chose.

    The entailment model may have learned from the cases in `learned`: only the steps before it are fitted to them.
    These steps stay as they are in `before`, if given.
    """
    weights = before or _NO_WEIGHTS
    for kind in KINDS:
        for step in ("read",) if before else STEPS:
            known = cases if step == "read" else [*cases, *learned]
            kind_cases = [case for case in known if case.gold and kind_of(case.sentences) == kind]
            if not kind_cases:
                continue
            tables, gold, ready = [], [], prepare(encoder, entailment, weights)
            for case in kind_cases:
                table, rows = ready(case).table(case.claim, step)
                tables.append(table)
                gold.append(np.isin(rows, list(case.gold)))
            step_weights = {**weights.steps[kind], step: fit_order(tables, gold, STEPS[step])}
            weights = replace(weights, steps={**weights.steps, kind: step_weights})
    return weights


def verify_fit(encoder: Encoder, entailment: EntailmentModel) -> Fit:
    """Fit the weights of the order to the training and development parts of a fold."""

    def fit(parts: CaseSplit, fold: int) -> Scorer:
        ready = prepare(encoder, entailment, fit_steps([*parts.train, *parts.dev], encoder, entailment))
        # A scorer gets only sentences; verify also looks at their headings.
        case_by_sentences = {case.sentences: case for case in (*parts.train, *parts.dev, *parts.test)}

        def score(claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
            return ready(case_by_sentences[tuple(sentences)]).rank(claim).logits

        return score

    return fit


def main(arguments: Sequence[str], tell: Callable[[str], None] = print) -> None:
    """Fit to the data sets in a folder and write the weights."""
    if len(arguments) != 4:
        raise UserError(
            "expected the folder of the datasets, the file to write, recorded judgements and written claims"
        )
    data, out, recorded_path, written_path = map(Path, arguments)
    marked = [*datasets.load_clscisumm(data / "clscisumm"), *datasets.load_scifact(data / "scifact")]
    encoder, entailment = CachedEncoder(load_encoder()), CachedEntailment(load_entailment())
    alone = recorded_path == _ITSELF
    unseen = set_aside(marked) if alone else marked
    reader = entailment if alone else load_recorded(recorded_path, marked, entailment)
    written = [case for case in load_written(written_path, data, "fit") if case.citing != OTHERS]
    decided = [case for case in written if case.label != "not found"]
    citing = [] if alone else _citing_claims(written_path, data)
    weights = fit_steps([*unseen, *decided], encoder, reader, citing, shipped_weights() if alone else None)
    cited = cited_texts(sorted((data / "elife").glob("elife-[0-9]*")), _CITED, encoder, Random(0))
    examples = list(sign_examples([*written, *cited, *abstract_cases(written)], encoder, entailment, weights))
    weights = replace(weights, verdicts=fit_verdicts(examples))
    replace(weights, bars=fit_bars(examples, weights)).write(out)
    tell(f"{out}: fitted to {len(unseen)} claims with passages and {len(examples)} with verdicts")


def _citing_claims(path: Path, data: Path) -> list[PassageCase]:
    """Claims as other authors write them, about articles that models learn from."""
    claims = [
        case
        for case in load_written(path, data, "train")
        if case.citing in CITING_KINDS and case.label != "not found" and kind_of(case.sentences) == "paper"
    ]
    documents = sorted({case.document for case in claims})
    chosen = {*Random(0).sample(documents, min(_CITING_ARTICLES, len(documents)))}
    return [case for case in claims if case.document in chosen]


if __name__ == "__main__":
    main(sys.argv[1:])
