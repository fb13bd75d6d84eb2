"""Worthiness on paragraphs next to its baselines (SCOPE, table 3, 4.3.2, 5.2), and on raw drafts (6.2)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from whycite.check.calibration import BibliographyWeights, fit_calibration, title_signs
from whycite.check.detector import Decision, Detector, FolderDetector
from whycite.check.paragraphs import LabelledDocument
from whycite.errors import MissingExtra, UserError
from whycite.lab.scope.worthinessmeasures import (
    KINDS,
    TITLES,
    WorthinessScores,
    WorthinessSplit,
    best_threshold,
    learn_bibliography,
    measure_with_holes,
    paragraph_kind,
)
from whycite.models import Encoder
from whycite.text.language import is_english_draft

__all__ = [
    "BASELINES",
    "DraftScores",
    "Prior",
    "Regression",
    "ScoredDraft",
    "WorthinessRow",
    "chance",
    "class_weighted",
    "cross_fit",
    "draws",
    "fit_decision",
    "fit_regression",
    "score_draft",
    "worthiness_table",
]

Types = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class Prior:
    """How often a sentence is called worthy, in general and by section type."""

    general: float
    by_type: Mapping[str | None, float]

    def probabilities(self, types: Types) -> NDArray[np.float64]:
        """Probabilities for sentences in sections of these types."""
        return np.array([self.by_type.get(type, self.general) for type in types], np.float64)


def chance() -> Prior:
    """A prior that calls half of all sentences worthy."""
    return Prior(0.5, {})


def class_weighted(labels: Iterable[tuple[str | None, bool]], by_section: bool = False) -> Prior:
    """A prior from the share of worthy sentences, optionally by section type; labels are (type, worthy)."""
    seen: Counter[str | None] = Counter()
    worthy: Counter[str | None] = Counter()
    for type, label in labels:
        seen[type] += 1
        worthy[type] += label
    if not seen:
        raise UserError("no sentences to estimate the share of worthy ones from")
    shares = {type: worthy[type] / number for type, number in seen.items()} if by_section else {}
    return Prior(worthy.total() / seen.total(), shares)


def draws(prior: Prior, types: Types, seed: int) -> NDArray[np.bool_]:
    """Decide each sentence at random: SCOPE's baselines sample instead of using a threshold."""
    return np.random.default_rng(seed).random(len(types)) < prior.probabilities(types)


_SLOTS = 1 << 18  # features are hashed into them
_WORD = re.compile(r"\w+|[^\w\s]")
_STEPS = 60


@dataclass(frozen=True, slots=True)
class Regression:
    """Logistic regression: feature weights with the intercept last, and the rarity that scales each feature."""

    weights: NDArray[np.float64]
    rarity: NDArray[np.float64]

    def probabilities(self, texts: Sequence[str], types: Sequence[str | None]) -> NDArray[np.float64]:
        """Probability that each sentence, in a section of that type, is worthy."""
        return _sigmoid(_matrix(texts, types, self.rarity) @ self.weights[:-1] + self.weights[-1])


def fit_regression(
    texts: Sequence[str], types: Sequence[str | None], worthy: Sequence[bool], penalty: float = 1.0
) -> Regression:
    """Fit to sentences; `penalty` weighs half the squared weights relative to the loss of one sentence."""
    if not texts:
        raise UserError("no sentences to train on")
    labels = np.asarray(worthy, np.float64)
    counts = _counts(texts, types)
    seen = np.bincount(counts.indices, minlength=_SLOTS)
    rarity = np.log((1 + len(texts)) / (1 + seen)) + 1
    matrix = _weighted(counts, rarity)
    ridge = penalty / len(texts)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        score = matrix @ weights[:-1] + weights[-1]
        value = np.logaddexp(0, score).mean() - (labels * score).mean() + ridge / 2 * weights[:-1] @ weights[:-1]
        error = (_sigmoid(score) - labels) / len(labels)
        return float(value), np.append(matrix.T @ error + ridge * weights[:-1], error.sum())

    minimize = _scipy("optimize").minimize
    solution = minimize(loss, np.zeros(_SLOTS + 1), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    return Regression(solution.x, rarity)


def _features(text: str, type: str | None) -> Iterator[str]:
    words = _WORD.findall(text.lower())
    yield from words
    yield from (f"{word} {next_word}" for word, next_word in zip(["<", *words], [*words, ">"], strict=True))
    yield f"section: {type}"


def _counts(texts: Sequence[str], types: Sequence[str | None]) -> Any:
    columns: list[NDArray[np.int32]] = []
    ends = [0]
    for text, type in zip(texts, types, strict=True):
        slots = np.array(sorted({crc32(name.encode()) % _SLOTS for name in _features(text, type)}), np.int32)
        columns.append(slots)
        ends.append(ends[-1] + len(slots))
    indices = np.concatenate(columns) if columns else np.zeros(0, np.int32)
    return _scipy("sparse").csr_matrix((np.ones(len(indices)), indices, np.array(ends)), (len(texts), _SLOTS))


def _matrix(texts: Sequence[str], types: Sequence[str | None], rarity: NDArray[np.float64]) -> Any:
    return _weighted(_counts(texts, types), rarity)


def _weighted(counts: Any, rarity: NDArray[np.float64]) -> Any:
    """Weight features by rarity and scale rows to unit length."""
    counts.data = rarity[counts.indices]
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    lengths = np.sqrt(np.bincount(rows, counts.data**2, counts.shape[0]))
    counts.data /= lengths[rows]
    return counts


def _sigmoid(score: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-np.logaddexp(0, -score))


def _scipy(part: str) -> Any:
    from importlib import import_module

    try:
        return import_module(f"scipy.{part}")
    except ImportError as error:
        raise MissingExtra("The word baseline", "eval") from error


Labels = NDArray[np.bool_]
Probabilities = NDArray[np.float64]
_WORDS = "logistic regression"
BASELINES = ("chance", "class-weighted", "class-weighted by section", _WORDS)


@dataclass(frozen=True, slots=True)
class WorthinessRow:
    """A method's scores on sentences of all paragraphs or of one kind."""

    method: str
    kind: str
    sentences: int
    scores: WorthinessScores


@dataclass(frozen=True, slots=True)
class _SentenceColumns:
    texts: list[str]
    types: list[str | None]
    worthy: Labels
    holed: Labels
    kinds: NDArray[np.str_]


def worthiness_table(
    parts: WorthinessSplit,
    detector: Detector | None,
    encoder: Encoder | None = None,
    seed: int = 0,
    tell: Callable[[str], None] = lambda word: None,
) -> list[WorthinessRow]:
    """Score the detector and baselines trained on `parts.train` on `parts.test`; thresholds are chosen on dev.

    The detector uses its own thresholds, chosen when it was made. With an encoder, it is also scored with the titles
    in the articles' bibliographies.
    """
    train, dev, test = (_sentences(documents) for documents in (parts.train, parts.dev, parts.test))
    labels = list(zip(train.types, train.worthy.tolist(), strict=True))
    judged: dict[str, tuple[Labels, Probabilities | None]] = {}
    priors = (
        chance(),
        class_weighted(labels),
        class_weighted(labels, by_section=True),
    )
    for name, prior in zip(BASELINES, priors, strict=False):
        judged[name] = draws(prior, test.types, seed), None
    tell(_WORDS)
    words = fit_regression(train.texts, train.types, train.worthy.tolist())
    threshold = best_threshold(dev.worthy, words.probabilities(dev.texts, dev.types))
    by_words = words.probabilities(test.texts, test.types)
    judged[_WORDS] = by_words >= threshold, by_words
    if detector is not None:
        tell(detector.name)
        worthiness = [
            np.concatenate([*detector.worthiness(document.unlabelled()), np.zeros(0)]) for document in parts.test
        ]
        alone = np.concatenate(worthiness)
        thresholds = detector.thresholds
        limits = np.array([thresholds.get(type or "", thresholds[""]) for type in test.types])
        judged[detector.name] = alone >= limits, alone
        if encoder is not None and detector.bibliography is not None:
            tell(f"{detector.name}, {TITLES}")
            informed = np.concatenate(
                [
                    _informed_worthiness(*scored_document, detector.bibliography, encoder)
                    for scored_document in zip(parts.test, worthiness, strict=True)
                ]
            )
            judged[f"{detector.name}, {TITLES}"] = informed >= detector.bibliography.threshold, informed
    return [row for name, judgement in judged.items() for row in _rows(name, test, *judgement)]


def _informed_worthiness(
    document: LabelledDocument, worthiness: Probabilities, bibliography: BibliographyWeights, encoder: Encoder
) -> Probabilities:
    """The worthiness of a document's sentences, given its bibliography."""
    bibliography_signs = title_signs(worthiness, document.texts, document.titles, encoder)
    return bibliography.informed_worthiness(worthiness, bibliography_signs)


def _rows(
    method: str, test: _SentenceColumns, decided: Labels, probabilities: Probabilities | None
) -> list[WorthinessRow]:
    masks = {"all": np.full(len(test.worthy), True)} | {name: test.kinds == name for name in KINDS}
    return [
        WorthinessRow(
            method,
            name,
            int(mask.sum()),
            measure_with_holes(
                test.worthy[mask],
                test.holed[mask],
                decided[mask],
                None if probabilities is None else probabilities[mask],
            ),
        )
        for name, mask in masks.items()
    ]


def _sentences(documents: Sequence[LabelledDocument]) -> _SentenceColumns:
    pairs = [
        (paragraph, sentence)
        for document in documents
        for paragraph in document.paragraphs
        for sentence in paragraph.sentences
    ]
    return _SentenceColumns(
        [sentence.text for _, sentence in pairs],
        [paragraph.section_type for paragraph, _ in pairs],
        np.array([sentence.worthy for _, sentence in pairs], bool),
        np.array([sentence.had_hole for _, sentence in pairs], bool),
        np.array([paragraph_kind(paragraph) for paragraph, _ in pairs], np.str_),
    )


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScoredDraft:
    """A draft's sentences, whether they cite, and a model's scores; versions of a draft share a `project`."""

    name: str
    project: str
    sentences: tuple[str, ...]
    worthy: Labels
    scores: Floats
    holed: Labels  # citations that were part of the grammar; the sentences are repaired
    signs: Floats | None = None  # from its bibliography, if used; all nan if it says nothing

    @property
    def english(self) -> bool:
        """Whether the draft is in English, the language of the bundled model."""
        return is_english_draft(self.sentences)


@dataclass(frozen=True, slots=True)
class DraftScores:
    """Scores over all sentences and for each draft, with decisions fitted to other projects."""

    all: WorthinessScores
    english: WorthinessScores
    by_draft: tuple[tuple[ScoredDraft, WorthinessScores], ...]


def score_draft(
    name: str, project: str, document: LabelledDocument, detector: FolderDetector, encoder: Encoder | None = None
) -> ScoredDraft:
    """Score a draft with a detector and, given an encoder, its bibliography."""
    labelled = [sentence for paragraph in document.paragraphs for sentence in paragraph.sentences]
    paragraphs = document.unlabelled()
    draft = ScoredDraft(
        name,
        project,
        tuple(sentence.text for sentence in labelled),
        np.array([sentence.worthy for sentence in labelled], bool),
        np.concatenate([*detector.scores(paragraphs), np.zeros(0)]).astype(np.float64),
        np.array([sentence.had_hole for sentence in labelled], bool),
    )
    if encoder is None:
        return draft
    titles = document.titles if draft.english else ()
    return replace(draft, signs=title_signs(detector.probabilities(draft.scores), draft.sentences, titles, encoder))


def fit_decision(drafts: Sequence[ScoredDraft]) -> Decision:
    """Fit the calibration that makes the labels most likely, and the threshold with the highest overall F1."""
    worthy = np.concatenate([*(draft.worthy for draft in drafts), np.zeros(0, bool)])
    scores = np.concatenate([*(draft.scores for draft in drafts), np.zeros(0)])
    if not worthy.any():
        raise UserError("calibration needs drafts with citations")
    calibration = fit_calibration(scores, worthy, shift=True)
    bibliography_inputs = [
        (calibration.probabilities(draft.scores), draft.signs, draft.worthy)
        for draft in drafts
        if draft.signs is not None
    ]
    weights = learn_bibliography(*zip(*bibliography_inputs, strict=True)) if bibliography_inputs else None
    return Decision(calibration, {"": best_threshold(worthy, calibration.probabilities(scores))}, weights)


def cross_fit(drafts: Sequence[ScoredDraft]) -> DraftScores:
    """Measure each draft with a decision fitted to the English drafts of all other projects.

    The bundled model does the same: drafts in other languages do not behave like English ones.
    """
    projects = sorted({draft.project for draft in drafts})
    if len(projects) < 2:
        raise UserError("cross-fitting needs drafts of at least two projects")
    decisions = {
        project: fit_decision(_training_drafts([draft for draft in drafts if draft.project != project]))
        for project in projects
    }
    judged = {draft.name: _judge(draft, decisions[draft.project]) for draft in drafts}
    return DraftScores(
        _pooled_scores(drafts, judged),
        _pooled_scores([draft for draft in drafts if draft.english], judged),
        tuple((draft, _pooled_scores([draft], judged)) for draft in drafts),
    )


def _judge(draft: ScoredDraft, decision: Decision) -> tuple[Labels, Floats]:
    """Which sentences are worthy, and the probabilities."""
    probabilities, threshold = decision.calibration.probabilities(draft.scores), decision.thresholds[""]
    if draft.signs is not None and decision.bibliography is not None:
        probabilities = decision.bibliography.informed_worthiness(probabilities, draft.signs)
        threshold = decision.bibliography.threshold
    return probabilities >= threshold, probabilities


def _training_drafts(drafts: Sequence[ScoredDraft]) -> Sequence[ScoredDraft]:
    return [draft for draft in drafts if draft.english] or drafts


def _pooled_scores(drafts: Sequence[ScoredDraft], judged: dict[str, tuple[Labels, Floats]]) -> WorthinessScores:
    none = np.zeros(0, bool)
    return measure_with_holes(
        np.concatenate([none, *(draft.worthy for draft in drafts)]),
        np.concatenate([none, *(draft.holed for draft in drafts)]),
        np.concatenate([none, *(judged[draft.name][0] for draft in drafts)]),
        np.concatenate([np.zeros(0), *(judged[draft.name][1] for draft in drafts)]),
    )
