"""The sentences of a document that can back a claim, ranked by how well they do, in three steps (see `features`).

Plug-ins may bring models that order them in place of our own; the verdict stays ours.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whycite import structure
from whycite.documents.model import Document
from whycite.errors import MissingExtra, UserError
from whycite.models import Encoder
from whycite.models.pairs import RELEVANCE, EntailmentModel
from whycite.verify import features, numbers
from whycite.verify.features import PassageWeights, SentenceLexicon
from whycite.verify.numbers import Agreement
from whycite.verify.quantities import Quantity, quantities
from whycite.verify.verification import Verification

__all__ = [
    "MAX_ENCODED",
    "MAX_READ",
    "PassageModelLoader",
    "PassageScorer",
    "PreparedDocument",
    "RankedSentences",
    "joint_text",
    "kind_of",
    "load_passage_model",
    "own_sentences",
    "reorder_passages",
    "with_asides",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_KINDS = frozenset({"prose", "caption", "footnote"})  # of sentences that can back a claim
_TITLE_RUN = 6  # words in a row that only an entry of a reference list shares with a title
_WORD = re.compile(r"[^\W\d_]+")


def with_asides(document: Document) -> Document:
    """The document with its captions, notes, boxes and digest after its sentences: they report findings, too."""
    if not document.asides:
        return document
    return replace(document, sentences=(*document.sentences, *document.asides), asides=())


def own_sentences(document: Document) -> tuple[list[int], list[str], list[str | None]]:
    """The sentences that can back a claim, by index, and the heading and type of each one's section."""
    labelled = document if any(section.type for section in document.sections) else structure.label(document)
    titles = {run for reference in document.references for run in _runs(reference.title)[:1]}
    indices, headings, types = [], [], []
    for index, sentence in enumerate(document.sentences):
        section = labelled.sections[sentence.section] if 0 <= sentence.section < len(labelled.sections) else None
        type = section.type if section else None
        if sentence.kind not in _KINDS or type == "references" or not _WORD.search(sentence.text):
            continue
        if titles and not sentence.citations and not titles.isdisjoint(_runs(sentence.text)):
            continue  # an entry of a reference list that was read as text
        heading = section.heading if section else ""
        indices.append(index)
        headings.append(f"{heading} (caption)".strip() if sentence.kind == "caption" else heading)
        types.append(type)
    return indices, headings, types


def _runs(text: str) -> list[tuple[str, ...]]:
    """All runs of `_TITLE_RUN` words."""
    words = [word.lower() for word in _WORD.findall(text)]
    return [tuple(words[start : start + _TITLE_RUN]) for start in range(len(words) - _TITLE_RUN + 1)]


# How many sentences each step looks at, the best of the step before. They bound the time a document takes.
MAX_ENCODED = 120
MAX_READ = 32
JOINT_SENTENCES = 5  # the most relevant ones of a paper, which are read as one text
_ENCODED_AT_ONCE = 512  # sentences; memory does not grow with the document


@dataclass(frozen=True, slots=True)
class RankedSentences:
    """The logits of all sentences, and the features that the verdict uses again."""

    logits: Floats
    numbers: tuple[Agreement, ...]
    words: Floats  # a row of WORD_COLUMNS per sentence
    cosines: Floats  # nan for sentences that were not encoded
    judgements: Floats  # a row of the entailment model's columns per sentence; nan for sentences that were not read

    @property
    def read(self) -> list[int]:
        """The sentences that the entailment model has read, best first."""
        order = np.argsort(-self.logits, kind="stable")
        return [int(index) for index in order if not np.isnan(self.judgements[index, RELEVANCE])]


class PreparedDocument:
    """A document ready for claims: the words of its sentences, and the vectors of those encoded so far."""

    def __init__(
        self,
        sentences: Sequence[str],
        types: Sequence[str | None],
        encoder: Encoder,
        entailment: EntailmentModel,
        weights: PassageWeights,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.sentences, self.types = tuple(sentences), tuple(types)
        self.encoder, self.entailment, self.weights = encoder, entailment, weights
        self._progress = progress
        self.kind = kind_of(self.sentences)
        self._vectors: dict[int, NDArray[np.float16]] = {}

    @cached_property
    def _lexicon(self) -> SentenceLexicon:
        return SentenceLexicon(self.sentences)

    @cached_property
    def _quantities(self) -> list[list[Quantity]]:
        return [quantities(sentence) for sentence in self.sentences]

    def rank(self, claim: str) -> RankedSentences:
        """Rank all sentences as backing for the claim."""
        agreements, table = self._words(claim)
        logits = self.weights.logits(self.kind, "words", table)
        chosen = _best(logits, MAX_ENCODED)
        cosines = self._cosines(claim, chosen)
        columns = np.concatenate([table, features.meaning_features(cosines)], axis=1)
        logits = _replace_logits(logits, chosen, self.weights.logits(self.kind, "meaning", columns[chosen]))
        chosen = chosen[_best(logits[chosen], MAX_READ)]
        judgements = self._read(claim, chosen)
        columns = _read_columns(logits, chosen, judgements)
        logits = _replace_logits(logits, chosen, self.weights.logits(self.kind, "read", columns))
        return RankedSentences(logits, agreements, table, cosines, judgements)

    def table(self, claim: str, step: str) -> tuple[Floats, Integers]:
        """The features of a step and the sentences it looks at, to fit weights to."""
        _, table = self._words(claim)
        if step == "words":
            return table, np.arange(len(table))
        logits = self.weights.logits(self.kind, "words", table)
        chosen = _best(logits, MAX_ENCODED)
        columns = np.concatenate([table, features.meaning_features(self._cosines(claim, chosen))], axis=1)
        if step == "meaning":
            return columns[chosen], chosen
        logits = _replace_logits(logits, chosen, self.weights.logits(self.kind, "meaning", columns[chosen]))
        chosen = chosen[_best(logits[chosen], MAX_READ)]
        judgements = self._read(claim, chosen)
        chosen = chosen[~np.isnan(judgements[chosen, RELEVANCE])]  # recorded judgements may lack some
        return _read_columns(logits, chosen, judgements), chosen

    def joint(self, claim: str, ranked: RankedSentences, skipped: frozenset[int] = frozenset()) -> Floats:
        """What the entailment model says of the sentences that matter most, as one text in their order.

        Of a paper, those that it finds most relevant; an abstract is read whole, but for what is skipped.
        """
        read = sorted(index for index in ranked.read if index not in skipped)
        text = joint_text([self.sentences[index] for index in read], ranked.judgements[read], self.kind)
        return self._read_text(claim, text)

    def in_context(self, claim: str, index: int) -> Floats:
        """What the entailment model says of a sentence together with its neighbours in the same section."""
        return self._read_text(claim, self._with_neighbours(index))

    def _read_text(self, claim: str, text: str) -> Floats:
        row: Floats = self.entailment.judge(claim, [text])[0]
        return row

    def _with_neighbours(self, index: int) -> str:
        beside = (place for place in (index - 1, index, index + 1) if 0 <= place < len(self.sentences))
        return " ".join(self.sentences[place] for place in beside if self.types[place] == self.types[index])

    def _words(self, claim: str) -> tuple[tuple[Agreement, ...], Floats]:
        claim_quantities = quantities(claim)
        agreements = tuple(
            numbers.compare_quantities(claim_quantities, sentence_quantities) if claim_quantities else Agreement()
            for sentence_quantities in self._quantities
        )
        return agreements, features.word_features(claim, self.sentences, self.types, agreements, self._lexicon)

    def _read(self, claim: str, chosen: Integers) -> Floats:
        """What the entailment model says of the chosen sentences; nan for the others."""
        judgements = np.full((len(self.sentences), 4), np.nan)
        if len(chosen):
            judgements[chosen] = self.entailment.judge(claim, [self.sentences[index] for index in chosen.tolist()])
        return judgements

    def _cosines(self, claim: str, chosen: Integers) -> Floats:
        missing = [index for index in chosen.tolist() if index not in self._vectors]
        for begin in range(0, len(missing), _ENCODED_AT_ONCE):
            batch = missing[begin : begin + _ENCODED_AT_ONCE]
            vectors = self.encoder.encode([self.sentences[index] for index in batch], self._progress)
            self._vectors |= zip(batch, vectors.astype(np.float16), strict=True)
        cosines = np.full(len(self.sentences), np.nan)
        if len(chosen):
            vector = self.encoder.encode([claim])[0].astype(np.float32)
            table = np.stack([self._vectors[index] for index in chosen.tolist()]).astype(np.float32)
            # Not a matrix product: its last digits depend on the number of threads.
            cosines[chosen] = (table * vector).sum(axis=1)
        return cosines


def _read_columns(logits: Floats, chosen: Integers, judgements: Floats) -> Floats:
    """The features of the chosen sentences once they were read."""
    return np.concatenate([logits[chosen, None], features.read_features(judgements[chosen])], axis=1)


def joint_text(sentences: Sequence[str], judgements: Floats, kind: str) -> str:
    """The most relevant sentences of a paper, in their order, or all of an abstract, as one text."""
    if kind != "paper":
        return " ".join(sentences)
    chosen = np.argsort(-judgements[:, RELEVANCE], kind="stable")[:JOINT_SENTENCES]
    return " ".join(sentences[index] for index in sorted(chosen.tolist()))


def kind_of(sentences: Sequence[str]) -> str:
    """Whether sentences are an abstract or a paper, by their number."""
    return "abstract" if len(sentences) <= features.ABSTRACT else "paper"


def _best(logits: Floats, number: int) -> Integers:
    return np.sort(np.argsort(-logits, kind="stable")[:number])


def _replace_logits(logits: Floats, chosen: Integers, better: Floats) -> Floats:
    """The new logits for the chosen sentences; no other sentence ranks above the best of them."""
    combined = np.minimum(logits, better.max(initial=-np.inf)) if len(better) else logits.copy()
    combined[chosen] = better
    return combined


_LOG = logging.getLogger("whycite")
_GROUP = "whycite.passages"

PassageScorer = Callable[[str, Sequence[str]], NDArray[np.floating]]
"""Scores each sentence of a document, given in order, for a claim; higher is better."""

PassageModelLoader = Callable[[Path], PassageScorer | None]
"""What an entry point names: a function that opens the model in a folder, or gives None if it is not of its kind."""


def load_passage_model(folder: Path) -> PassageScorer:
    """Open the model in a folder with the plug-in that knows it."""
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; train a model with `whycite train passages`")
    for entry in entry_points(group=_GROUP):
        try:
            scorer: PassageScorer | None = entry.load()(folder)
        except (UserError, MissingExtra):
            raise
        except Exception as error:  # noqa: BLE001 - one broken plug-in must not disable the others
            _LOG.warning("cannot use the plug-in '%s' (%s): %s", entry.name, entry.value, error)
            continue
        if scorer is not None:
            return scorer
    raise UserError(f"{folder}: not a model of passages; train one with `whycite train passages`")


def reorder_passages(verification: Verification, scorer: PassageScorer) -> Verification:
    """The same verification with its passages ordered by a model, whose scores are brought to 0 to 1."""
    in_order = sorted(verification.passages, key=lambda passage: passage.index)
    if not in_order:
        return verification
    scores = np.asarray(scorer(verification.claim, [passage.text for passage in in_order]), np.float64)
    if scores.shape != (len(in_order),) or not np.isfinite(scores).all():
        raise UserError(f"the model of passages gave no number for each of {len(in_order)} sentences; train it again")
    shares = 1 / (1 + np.exp(-np.clip(scores, -500, 500)))
    order = np.argsort(-scores, kind="stable").tolist()
    passages = tuple(
        replace(in_order[place], rank=rank, score=float(shares[place])) for rank, place in enumerate(order, start=1)
    )
    return replace(verification, passages=passages)
