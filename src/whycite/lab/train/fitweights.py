"""Fit the order of a draft's bibliography, the chances that papers fit claims, and the bars.

They are fitted to masked citations of drafts and to claims on libraries. A claim is looked at twice, with its true
papers among the candidates and without them. All that is measured leaves out the project or topic it is measured on,
also when entries are ranked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whycite.check.bibliography import FEATURES, BibliographyEntries, EntryFeatures, entry_order, entry_scores
from whycite.check.calibration import newton
from whycite.check.proposals import MAX_CANDIDATES, may_cite
from whycite.cite.evidence_sum import EvidenceSum
from whycite.cite.fit import (
    SIGNS,
    FitSigns,
    FitWeights,
    InsertionWeights,
    fit_chance,
    insertion_chance,
    insertion_signs,
)
from whycite.cite.recommendations import Claim
from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.evidence.words import has_content_words
from whycite.files import write_lines
from whycite.lab.ilciter.workspace import ClaimCase
from whycite.models import Encoder
from whycite.text.bm25 import Bm25Index
from whycite.text.tokens import terms

__all__ = [
    "FOLDS",
    "SHOWN",
    "FitCase",
    "FitFigures",
    "MaskedCitation",
    "MaskedCitationOutcome",
    "cross_fit",
    "cross_fit_entries",
    "draft_cases",
    "figures",
    "fit_bar",
    "fit_entry_weights",
    "fit_insertion",
    "fit_weights",
    "library_cases",
    "mask_citations",
    "move_bar",
    "project_folds",
    "project_name",
    "reciprocal_rank",
    "write_weights",
]

Floats = NDArray[np.float64]
_STEPS = 50
_REGULARISATION = 1.0  # keeps weights of rare features small
FOLDS = 5
_FORMATS = ("qmd", "rmd")  # before the name of a draft that is there in another format, too


@dataclass(frozen=True, slots=True)
class MaskedCitation:
    """A masked citation: its true entries, and features of all entries computed without it."""

    project: str
    draft: str
    true: tuple[int, ...]  # rows of `features`
    features: Floats
    bm25: Floats  # of the titles, as baseline


@dataclass(frozen=True, slots=True)
class MaskedCitationOutcome:
    """Reciprocal rank of the best true entry in each case, and the weights fitted to all drafts."""

    cases: Sequence[MaskedCitation]
    reciprocal_ranks: Floats
    bm25: Floats
    weights: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """Ratio of our mean reciprocal rank to BM25's."""
        return float(self.reciprocal_ranks.mean() / self.bm25.mean())


def project_name(name: str) -> str:
    """The name shared by versions of a draft and drafts of one author: "thesis" for "thesis-old" and "qmd-thesis"."""
    first, _, rest = name.partition("-")
    return rest.partition("-")[0] if rest and first in _FORMATS else first


def project_folds(projects: Iterable[str]) -> dict[str, int]:
    """Divide projects into folds with about as many citations; `projects` has one for each citation."""
    folds: dict[str, int] = {}
    filled = [0] * FOLDS
    for name, size in sorted(Counter(projects).items(), key=lambda pair: (-pair[1], pair[0])):
        folds[name] = filled.index(min(filled))
        filled[folds[name]] += size
    return folds


def mask_citations(document: Document, name: str, encoder: Encoder) -> list[MaskedCitation]:
    """Mask every citation with a known entry, together with all others in its sentence."""
    entries = BibliographyEntries(document, encoder)
    citing_sentences = [index for index in entries.citing if has_content_words(entries.texts[index])]
    if not citing_sentences:
        return []
    titles = Bm25Index(terms(entry.title or entry.text) for entry in document.references)
    places = {entry.id: place for place, entry in enumerate(document.references)}
    masked_citations = []
    for sentence_index, entry_features in zip(citing_sentences, entries.features_of(citing_sentences), strict=True):
        rows = {place: row for row, place in enumerate(entry_features.positions.tolist())}
        bm25 = titles.scores(terms(entries.texts[sentence_index]))["okapi"][entry_features.positions]
        for citation in document.sentences[sentence_index].citations:
            true = tuple(dict.fromkeys(rows[places[key]] for key in citation.keys if places.get(key) in rows))
            if true:
                masked_citations.append(MaskedCitation(project_name(name), name, true, entry_features.features, bm25))
    return masked_citations


def reciprocal_rank(values: Floats, true: Sequence[int]) -> float:
    """1 / rank of the best true entry; ties share their mean rank."""
    rounded = values.round(9)
    best = rounded[list(true)].max()
    return float(1 / ((rounded > best).sum() + ((rounded == best).sum() + 1) / 2))


def fit_entry_weights(examples: Sequence[MaskedCitation]) -> dict[str, float]:
    """Fit the weights that make the true entries most likely among all entries of their drafts (conditional logit)."""
    if not examples:
        raise UserError("no citations to fit the weights to")
    often = Counter(case.draft for case in examples)
    spread = np.concatenate([case.features for case in examples]).std(axis=0) + 1e-9
    data = [(case.features / spread, list(case.true), often[case.draft] ** -0.5) for case in examples]
    weights = np.zeros(len(FEATURES))
    loss, slope, bend = _likelihood(data, weights)
    for _ in range(_STEPS):
        step, length = np.linalg.solve(bend, slope), 1.0
        while (new := _likelihood(data, weights - length * step))[0] > loss and length > 1e-6:
            length /= 2
        if loss - new[0] < 1e-6 * loss:
            break
        weights, (loss, slope, bend) = weights - length * step, new
    return dict(zip(FEATURES, (weights / spread).tolist(), strict=True))


def cross_fit_entries(
    examples: Sequence[MaskedCitation], tell: Callable[[str], None] = lambda _: None
) -> MaskedCitationOutcome:
    """Measure each project with weights fitted to the others."""
    folds = project_folds(case.project for case in examples)
    reciprocal_ranks = np.zeros(len(examples))
    for fold in range(FOLDS):
        test_indices = [index for index, case in enumerate(examples) if folds[case.project] == fold]
        training_cases = [case for case in examples if folds[case.project] != fold]
        if not test_indices:
            continue
        tell(f"fold {fold + 1} of {FOLDS}: {len(test_indices)} citations, weights from {len(training_cases)}")
        weights = np.array([fit_entry_weights(training_cases)[name] for name in FEATURES])
        for index in test_indices:
            reciprocal_ranks[index] = reciprocal_rank(
                (examples[index].features * weights).sum(axis=1), examples[index].true
            )
    bm25 = np.array([reciprocal_rank(case.bm25, case.true) for case in examples])
    return MaskedCitationOutcome(examples, reciprocal_ranks, bm25, fit_entry_weights(examples))


def _likelihood(data: Sequence[tuple[Floats, list[int], float]], weights: Floats) -> tuple[float, Floats, Floats]:
    """Regularised negative log-likelihood of the true entries (convex), its gradient and its Hessian."""
    loss = _REGULARISATION * float((weights * weights).sum()) / 2
    slope, bend = _REGULARISATION * weights, _REGULARISATION * np.eye(len(weights))
    for features, true, weight in data:
        values = features @ weights
        values -= values.max()
        chances = np.exp(values)
        total = chances.sum()
        chances /= total
        mean = chances @ features
        loss += weight * float(np.log(total) - values[true].mean())
        slope = slope + weight * (mean - features[true].mean(axis=0))
        bend = bend + weight * ((features * chances[:, None]).T @ features - np.outer(mean, mean))
    return loss, slope, bend


SHOWN = 3  # papers that `check` shows
_SILENT = 0.12  # largest share of answers with a right paper in the first three where nothing fits; the target is .15
_PRECISION = 0.76  # smallest share of inserted papers that are right; the target is .75


@dataclass(frozen=True, slots=True)
class FitCase:
    """A claim and its candidates, best first."""

    project: str  # left out together
    source: str  # a draft or a topic, of which each claim counts less the more it has
    true: NDArray[np.bool_]
    signs: tuple[FitSigns, ...]
    scores: Floats  # logarithms of odds among the candidates; empty if not known
    remote: tuple[FitSigns, ...] = ()  # of a paper on something else

    def first(self, number: int = MAX_CANDIDATES) -> FitCase:
        """The case with its best candidates."""
        return replace(self, true=self.true[:number], signs=self.signs[:number], scores=self.scores[:number])

    def without_true(self) -> FitCase:
        """The case as if the true papers were not at hand."""
        signs = tuple(signs for signs, is_true in zip(self.signs, self.true, strict=True) if not is_true)
        scores = self.scores[~self.true] if len(self.scores) else self.scores
        return replace(self, true=np.zeros(len(signs), bool), signs=signs, scores=scores)

    def chances(self, weights: FitWeights) -> list[float]:
        """The chance of each candidate."""
        return [fit_chance(signs, weights) for signs in self.signs]

    @property
    def share(self) -> float:
        """The share of the best candidate."""
        return float(1 / np.exp(self.scores - self.scores[0]).sum())


@dataclass(frozen=True, slots=True)
class _MaskedSentence:
    """A sentence whose citations are masked, and the features of all entries."""

    index: int
    candidates: EntryFeatures
    true: tuple[int, ...]  # rows


def draft_cases(drafts: Iterable[tuple[str, Document]], encoder: Encoder) -> list[FitCase]:
    """Every citing sentence of drafts, its citations masked, with entries ranked by what other projects teach."""
    masked: dict[str, list[_MaskedSentence]] = {}
    entries: dict[str, BibliographyEntries] = {}
    for name, document in drafts:
        entries[name] = BibliographyEntries(document, encoder)
        masked[name] = _masked_sentences(entries[name])
    folds = project_folds(project_name(name) for name, sentences in masked.items() for _ in sentences)
    cases = []
    for fold in range(FOLDS):
        names = [name for name in masked if folds.get(project_name(name)) == fold]
        examples = [
            MaskedCitation(project_name(name), name, sentence.true, sentence.candidates.features, np.empty(0))
            for name, sentences in masked.items()
            if name not in names
            for sentence in sentences
        ]
        weights = fit_entry_weights(examples) if names else {}
        cases += [_draft_case(name, entries[name], sentence, weights) for name in names for sentence in masked[name]]
    return cases


def _masked_sentences(entries: BibliographyEntries) -> list[_MaskedSentence]:
    document = entries.document
    indices = [index for index in entries.citing if has_content_words(entries.texts[index])]
    places = {entry.id: place for place, entry in enumerate(document.references)}
    sentences = []
    for index, candidates in zip(indices, entries.features_of(indices), strict=True):
        rows = {place: row for row, place in enumerate(candidates.positions.tolist())}
        cited = [places.get(key) for key in document.sentences[index].cited_keys]
        if true := tuple(rows[place] for place in cited if place in rows):
            sentences.append(_MaskedSentence(index, candidates, true))
    return sentences


def _draft_case(
    name: str, entries: BibliographyEntries, sentence: _MaskedSentence, weights: dict[str, float]
) -> FitCase:
    candidates = sentence.candidates
    rows = [
        row
        for row in entry_order(candidates, weights).tolist()
        if may_cite(entries.references[int(candidates.positions[row])], entries.document)
    ]
    remote = [row for row in rows[len(rows) // 2 :][:1] if row not in sentence.true]
    rows = rows[: MAX_CANDIDATES + len(sentence.true)]
    return FitCase(
        project_name(name),
        name,
        np.isin(rows, sentence.true),
        tuple(entries.fit_signs(sentence.index, candidates, rows)),
        entry_scores(candidates, weights)[rows],
        tuple(entries.fit_signs(sentence.index, candidates, remote)),
    )


def library_cases(method: EvidenceSum, claims: Iterable[ClaimCase], topic: str) -> list[FitCase]:
    """Claims with the papers that a library has for them."""
    cases = []
    for claim in claims:
        answer = method.fit_signs(Claim(claim.text))
        true = np.array([key in claim.truth for key, _ in answer], bool)
        remote = tuple(signs for key, signs in answer[-1:] if key not in claim.truth)
        cases.append(FitCase(topic, topic, true, tuple(signs for _, signs in answer), np.empty(0), remote))
    return cases


def fit_weights(cases: Sequence[FitCase]) -> FitWeights:
    """Fit the weights to the first candidate with and without the true papers, and to a remote one.

    Right and wrong papers count equally. Without remote ones, papers on something else would seem to fit as well as
    those that are wrong but near.
    """
    sizes = Counter(case.source for case in cases)
    examples = [
        (version.signs[0], bool(version.true[0]), sizes[case.source] ** -0.5)
        for case in cases
        for version in (case, case.without_true())
        if version.signs
    ]
    examples += [(signs, False, sizes[case.source] ** -0.5) for case in cases for signs in case.remote]
    right = np.array([is_right for _, is_right, _ in examples])
    if right.all() or not right.any():
        raise UserError("too few claims to fit the weights to")
    rows = np.array([(*astuple(signs), 1.0) for signs, _, _ in examples])
    importance = np.array([weight for _, _, weight in examples])
    for label in (right, ~right):
        importance[label] *= len(right) / importance[label].sum()
    *values, bias = newton(rows, right, np.zeros(len(SIGNS) + 1), importance).tolist()
    return FitWeights(dict(zip(SIGNS, values, strict=True)), bias)


def fit_bar(cases: Sequence[FitCase], weights: FitWeights) -> float:
    """The bar below which few of the answers lie that have a right paper in the first three."""
    best = [max(case.first().chances(weights)) for case in cases if case.true[:SHOWN].any()]
    return float(np.quantile(best, _SILENT))


def move_bar(weights: FitWeights, bar: float, new_bar: float) -> FitWeights:
    """The weights with another bias, so that the bar has the new value."""
    return replace(weights, bias=weights.bias + float(np.log(new_bar / (1 - new_bar)) - np.log(bar / (1 - bar))))


def fit_insertion(cases: Sequence[FitCase], weights: FitWeights) -> InsertionWeights:
    """Fit the chance that the first candidate is right, and the bar from which it is right often enough."""
    sizes = Counter(case.source for case in cases)
    present = [case.first() for case in cases if case.signs]
    right = np.array([case.true[0] for case in present])
    features = [_insertion_features(case, weights) for case in present]
    rows = np.array([(*insertion_signs(*values), 1.0) for values in features])
    importance = np.array([sizes[case.source] ** -0.5 for case in present])
    fits, rival, share, bias = newton(rows, right, np.zeros(4), importance).tolist()
    fitted = InsertionWeights(fits, rival, share, bias, bar=1.0)
    chances = np.array([insertion_chance(*values, fitted) for values in features])
    order = np.argsort(-chances, kind="stable")
    often_enough = np.flatnonzero(np.cumsum(right[order]) >= _PRECISION * np.arange(1, len(order) + 1))
    return replace(fitted, bar=float(chances[order][often_enough[-1]])) if len(often_enough) else fitted


def _insertion_features(case: FitCase, weights: FitWeights) -> tuple[float, float, float]:
    first, *others = case.chances(weights)
    return first, max(others, default=0.0), case.share


@dataclass(frozen=True, slots=True)
class FitFigures:
    """What the chances decide, in numbers of claims."""

    claims: int = 0
    shown: int = 0  # with a right paper in the first three
    shown_silent: int = 0  # of these, where nothing fits
    without_silent: int = 0  # of all, without their true papers, where nothing fits
    inserted: int = 0
    right: int = 0  # of these

    def __add__(self, more: FitFigures) -> FitFigures:
        return FitFigures(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(more), strict=True)))


def figures(
    cases: Sequence[FitCase], weights: FitWeights, bar: float, insertion: InsertionWeights | None = None
) -> FitFigures:
    """Measure weights and bars."""
    total = FitFigures()
    for case in cases:
        present, absent = case.first(), case.without_true().first()
        chances = present.chances(weights)
        is_shown = bool(present.true[:SHOWN].any())
        is_silent = max(chances, default=0.0) < bar
        is_inserted = insertion is not None and bool(chances) and chances[0] >= bar
        if is_inserted and insertion:
            is_inserted = insertion_chance(*_insertion_features(present, weights), insertion) >= insertion.bar
        total += FitFigures(
            claims=1,
            shown=is_shown,
            shown_silent=is_shown and is_silent,
            without_silent=max(absent.chances(weights), default=0.0) < bar,
            inserted=is_inserted,
            right=is_inserted and bool(present.true[0]),
        )
    return total


def cross_fit(cases: Sequence[FitCase]) -> FitFigures:
    """Measure each project with weights and bars fitted to the others."""
    folds = project_folds(case.project for case in cases)
    total = FitFigures()
    for fold in sorted({*folds.values()}):
        training = [case for case in cases if folds[case.project] != fold]
        tested = [case for case in cases if folds[case.project] == fold]
        weights = fit_weights(training)
        insertion = fit_insertion(training, weights) if all(len(case.scores) for case in cases) else None
        total += figures(tested, weights, fit_bar(training, weights), insertion)
    return total


def write_weights(
    file: Path,
    bibliography: FitWeights,
    library: FitWeights,
    bar: float,
    insertion: InsertionWeights,
    command: str,
) -> None:
    """Write the weights as the product reads them."""
    lines = [f"# Fitted by `{command}`.", f"bar = {bar:.3f}"]
    for name, weights in (("bibliography", bibliography), ("library", library)):
        values = {**weights.weights, "bias": weights.bias}
        lines += ["", f"[{name}]", *(f"{sign} = {value:.3f}" for sign, value in values.items())]
    lines += ["", "[insertion]", *(f"{name} = {value:.3f}" for name, value in asdict(insertion).items())]
    write_lines(file, [f"{line}\n" for line in lines])
