"""The features of a sentence as backing for a claim, and the weight of each.

Ranking takes three steps, each slower than the one before: the words of all sentences, the meaning of the best ones,
and what the entailment model says of the best of these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.models.pairs import CONTRADICTS, NEITHER, RELEVANCE, SUPPORTS
from whycite.text.bm25 import Bm25Index
from whycite.text.tokens import lemma, terms
from whycite.text.wordlists import FUNCTION_WORDS
from whycite.verify.numbers import Agreement

__all__ = [
    "ABSTRACT",
    "CITATION_MARKER",
    "CLASSES",
    "KINDS",
    "MEANING_COLUMNS",
    "READ_COLUMNS",
    "STEPS",
    "WORD_COLUMNS",
    "PassageWeights",
    "SentenceLexicon",
    "forms",
    "load_weights",
    "meaning_features",
    "neighbour_maximum",
    "read_features",
    "says_in_same_words",
    "shipped_weights",
    "word_features",
]

Floats = NDArray[np.float64]

_ENDINGS = ("ations", "ation", "ings", "ing", "ions", "ion", "edly", "ed", "ively", "ive", "ly", "es", "s", "e")
_MIN_STEM = 4  # letters; a shorter rest is not the same word


def forms(text: str) -> list[str]:
    """The content words of a text without their endings, to compare them."""
    return [_form(term) for term in terms(text) if term not in FUNCTION_WORDS]


@lru_cache(maxsize=1 << 16)
def _form(term: str) -> str:
    word = lemma(term)
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            return word.removesuffix(ending)
    return word


class SentenceLexicon:
    """The words of a document's sentences; how rare a word is depends on these sentences alone."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self._forms = [forms(sentence) for sentence in sentences]
        self._index = Bm25Index(self._forms)
        self.lengths: Floats = np.array([len(sentence_forms) for sentence_forms in self._forms], np.float64)
        counts: dict[str, int] = {}
        for sentence_forms in self._forms:
            for form in set(sentence_forms):
                counts[form] = counts.get(form, 0) + 1
        self._weights = {form: float(np.log1p(len(sentences) / count)) for form, count in counts.items()}
        self._unseen = float(np.log1p(2 * len(sentences)))

    def bm25(self, claim: str) -> Floats:
        """The score of each sentence, relative to a sentence with every word of the claim."""
        claim_forms = forms(claim)
        maximum = sum(self._weights.get(form, self._unseen) for form in set(claim_forms))
        return self._index.scores(claim_forms)["plus"] / max(maximum, 1e-9)

    def coverage(self, claim: str) -> Floats:
        """The share of the claim's words in each sentence; rare words count more."""
        weights = {form: self._weights.get(form, self._unseen) for form in set(forms(claim))}
        total = sum(weights.values()) or 1.0
        return np.array(
            [
                sum(weights[form] for form in weights.keys() & set(sentence_forms)) / total
                for sentence_forms in self._forms
            ]
        )


# Words that decide what a sentence with the same content words says.
_DECIDING = frozenset(
    "not no nor never neither without cannot unable unlikely unknown whether if fail fails failed lack lacks lacked "
    "may might could can will would should must all every each most many several some few only always often sometimes "
    "than before after more less higher lower".split()
)
_LONGEST = 3  # times the claim; a longer sentence says more than the claim


def says_in_same_words(claim: str, sentence: str) -> bool:
    """Whether a sentence has all content words of a claim, and the same words that decide what it says of them."""
    claim_forms, claim_terms, sentence_terms = set(forms(claim)), terms(claim), terms(sentence)
    return (
        bool(claim_forms)
        and claim_forms <= set(forms(sentence))
        and _DECIDING.intersection(claim_terms) == _DECIDING.intersection(sentence_terms)
        and len(sentence_terms) <= _LONGEST * len(claim_terms)
    )


WORD_COLUMNS = (
    "bm25",
    "coverage",
    "bm25_gap",  # to the best sentence of the document
    "bm25_beside",  # of the better neighbour
    "stated",  # quantities of the claim that it states
    "otherwise",  # quantities for which it gives another value
    "length",
    "short",
    # In whole papers: the abstract and the introduction say what is cited most.
    "place",  # 0 for the first sentence to 1 for the last
    "first",  # among the first sentences
    "early",
    # In an abstract: its end says what was found.
    "end",
    "own",  # it says what this paper does
    "cites",
    "abstract",
    "introduction",
    "method",
    "result",
    "conclusion",
    "aside",  # acknowledgements, declarations, appendices
)
MEANING_COLUMNS = ("cosine", "cosine_beside", "cosine_gap")
READ_COLUMNS = (
    "relevance",
    "relevance_gap",  # to the most relevant sentence
    "decided",  # whether it supports or contradicts the claim, against neither
    "decided_gap",
)

_SECTIONS = {
    "abstract": "abstract",
    "introduction": "introduction",
    "related work": "introduction",
    "method": "method",
    "experiment": "result",
    "result": "result",
    "discussion": "conclusion",
    "conclusion": "conclusion",
    "acknowledgement": "aside",
    "declaration": "aside",
    "appendix": "aside",
}
_OWN = re.compile(r"\b(?:we|our|this (?:paper|work|study|article|thesis)|here)\b", re.IGNORECASE)
CITATION_MARKER = re.compile(
    r"[(\[][^()\[\]]{0,120}\b(?:1[89]|20)\d\d[a-z]?[)\]]|\[\d{1,3}(?:[-–,; ]{1,3}\d{1,3}){0,20}\]|\bet al\b"
)
_SHORT = 4  # content words; shorter sentences are headings and fragments
_FIRST, _EARLY = 5, 30  # sentences after which "first" and "early" have fallen to 1/e
_MAX_QUANTITIES = 3  # further numbers in common do not count
ABSTRACT = 30  # sentences of the longest abstract; longer texts are papers


def word_features(
    claim: str,
    sentences: Sequence[str],
    types: Sequence[str | None],
    numbers: Sequence[Agreement],
    lexicon: SentenceLexicon,
) -> Floats:
    """A row of `WORD_COLUMNS` for each sentence."""
    count = len(sentences)
    table = np.zeros((count, len(WORD_COLUMNS)))
    bm25 = lexicon.bm25(claim)
    places = np.arange(count)
    whole = float(count > ABSTRACT)
    columns: dict[str, NDArray[np.floating] | list[bool] | list[int]] = {
        "bm25": bm25,
        "coverage": lexicon.coverage(claim),
        "bm25_gap": bm25 - bm25.max(initial=0.0),
        "bm25_beside": neighbour_maximum(bm25),
        "stated": [min(agreement.stated, _MAX_QUANTITIES) for agreement in numbers],
        "otherwise": [min(agreement.otherwise, _MAX_QUANTITIES) for agreement in numbers],
        "length": np.log1p(lexicon.lengths),
        "short": [length < _SHORT for length in lexicon.lengths.tolist()],
        "place": whole * places / max(count - 1, 1),
        "first": whole * np.exp(-places / _FIRST),
        "early": whole * np.exp(-places / _EARLY),
        "end": (1 - whole) * places / max(count - 1, 1),
        "own": [_OWN.search(sentence) is not None for sentence in sentences],
        "cites": [CITATION_MARKER.search(sentence) is not None for sentence in sentences],
    }
    for name, column in columns.items():
        table[:, WORD_COLUMNS.index(name)] = column
    for row, type in enumerate(types):
        if type in _SECTIONS:
            table[row, WORD_COLUMNS.index(_SECTIONS[type])] = 1
    return table


def meaning_features(cosines: Floats) -> Floats:
    """A row of `MEANING_COLUMNS` for each cosine with the claim; nan stands for a sentence not encoded."""
    own_cosines = np.where(np.isnan(cosines), 0.0, cosines)
    near = neighbour_maximum(np.where(np.isnan(cosines), -1.0, cosines))
    near = np.where(near <= -1, own_cosines, near)
    return np.stack([own_cosines, near, own_cosines - own_cosines.max(initial=0.0)], axis=1)


def read_features(judgements: Floats) -> Floats:
    """A row of `READ_COLUMNS` for each row of the entailment model."""
    relevance = judgements[:, RELEVANCE]
    decided = np.logaddexp(judgements[:, SUPPORTS], judgements[:, CONTRADICTS]) - judgements[:, NEITHER]
    columns = [relevance, relevance - relevance.max(initial=-np.inf), decided, decided - decided.max(initial=-np.inf)]
    return np.stack(columns, axis=1)


def neighbour_maximum(values: Floats) -> Floats:
    """The greater neighbour of each value; 0 if it has none."""
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    near = np.maximum(padded[:-2], padded[2:])
    return np.where(np.isinf(near), 0.0, near)


STEPS: Mapping[str, tuple[str, ...]] = {
    "words": WORD_COLUMNS,
    "meaning": (*WORD_COLUMNS, *MEANING_COLUMNS),
    # The logit of the step before and few columns, so that few cases are enough for fitting.
    "read": ("meaning", *READ_COLUMNS),
}
KINDS = ("paper", "abstract")  # of documents, each with weights of its own
CLASSES = ("backed", "contradicted", "not found")


@dataclass(frozen=True, slots=True)
class PassageWeights:
    """The weights of features by kind of document and step, and of signs by kind and verdict.

    A feature or sign without a weight does not count. Fitted by
    `python -m whycite.lab.train.verifyweights DATA OUT.json RECORDED.json WRITTEN.jsonl`.
    """

    steps: Mapping[str, Mapping[str, Mapping[str, float]]]
    verdicts: Mapping[str, Mapping[str, Mapping[str, float]]]
    bars: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by kind, the least chance of a verdict

    def logits(self, kind: str, step: str, table: Floats) -> Floats:
        """How likely each sentence backs the claim, as logits."""
        feature_weights = self.steps[kind][step]
        columns = np.array([feature_weights.get(name, 0.0) for name in STEPS[step]])
        return np.asarray(table @ columns + feature_weights.get("bias", 0.0))

    def chances(self, kind: str, signs: Mapping[str, float]) -> dict[str, float]:
        """The probability of each verdict of a kind."""
        logits = {
            name: sign_weights.get("bias", 0.0)
            + sum(sign_weights.get(sign, 0.0) * value for sign, value in signs.items())
            for name, sign_weights in self.verdicts[kind].items()
        }
        shifted = np.exp(np.array(list(logits.values())) - max(logits.values()))
        return dict(zip(logits, (shifted / shifted.sum()).tolist(), strict=True))

    def write(self, path: Path) -> None:
        """Save the weights."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


@cache
def shipped_weights() -> PassageWeights:
    """The bundled weights."""
    return _parse_weights(files("whycite.verify").joinpath("weights.json").read_text("utf-8"), "weights.json")


def load_weights(path: Path) -> PassageWeights:
    """The weights in a file."""
    try:
        return _parse_weights(path.read_text("utf-8"), str(path))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error


def _parse_weights(text: str, path: str) -> PassageWeights:
    try:
        content = json.loads(text)
        steps = {kind: {step: _numbers(content["steps"][kind][step]) for step in STEPS} for kind in KINDS}
        verdicts = {
            kind: {name: _numbers(signs) for name, signs in classes.items()}
            for kind, classes in content["verdicts"].items()
        }
        bars = {kind: _numbers(kind_bars) for kind, kind_bars in content.get("bars", {}).items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"{path}: not a file of weights ({error}); fit them again with python -m whycite.lab.train.verifyweights"
        ) from error
    return PassageWeights(steps, verdicts, bars)


def _numbers(weights: Mapping[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in weights.items()}
