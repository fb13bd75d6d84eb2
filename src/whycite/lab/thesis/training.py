"""Train passage models on comparisons with a hinge loss (the thesis, 5.2 and 5.4.1)."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from whycite.errors import UserError
from whycite.lab.thesis.measures import SentenceComparison
from whycite.lab.thesis.networks import EncodedSentences, PassageNetwork, PassageRecipe, WordVectors

__all__ = [
    "ComparisonTask",
    "PassageModel",
    "TrainedPassageModel",
    "comparison_tasks",
    "one_thread",
    "task_batches",
    "train",
]


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch to one thread within the context."""
    thread_count = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(thread_count)


@dataclass(frozen=True, slots=True)
class ComparisonTask:
    """A claim, sentences of the cited document, and the indices of winner and loser of each pair."""

    claim: str
    sentences: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]


def comparison_tasks(comparisons: Iterable[SentenceComparison], whole: bool) -> list[ComparisonTask]:
    """One task per case, with all sentences of the document if `whole`, else only those compared."""
    by_case: dict[tuple[str, str], list[SentenceComparison]] = {}
    for comparison in comparisons:
        by_case.setdefault((comparison.case.dataset, comparison.case.id), []).append(comparison)
    return [_task(group, whole) for group in by_case.values()]


def _task(comparisons: Sequence[SentenceComparison], whole: bool) -> ComparisonTask:
    case = comparisons[0].case
    pairs = [(comparison.winner, comparison.loser) for comparison in comparisons]
    if whole:
        return ComparisonTask(case.claim, case.sentences, tuple(pairs))
    places = {index: place for place, index in enumerate(sorted({index for pair in pairs for index in pair}))}
    return ComparisonTask(
        case.claim,
        tuple(case.sentences[index] for index in places),
        tuple((places[winner], places[loser]) for winner, loser in pairs),
    )


def task_batches(
    tasks: Sequence[ComparisonTask], size: int, whole: bool, chance: Random | None = None
) -> list[list[ComparisonTask]]:
    """Batches of tasks, shuffled if `chance` is given.

    If `whole`, tasks about one document share a batch, so that its sentences are read once.
    """
    ordered = list(tasks)
    if chance:
        chance.shuffle(ordered)
    if not whole:
        return [ordered[start : start + size] for start in range(0, len(ordered), size)]
    groups: dict[tuple[str, ...], list[ComparisonTask]] = {}
    for task in ordered:
        groups.setdefault(task.sentences, []).append(task)
    chunks = [group[start : start + size] for group in groups.values() for start in range(0, len(group), size)]
    if chance:
        chance.shuffle(chunks)
    filled_batches: list[list[ComparisonTask]] = []
    for group in chunks:
        if filled_batches and len(filled_batches[-1]) + len(group) <= size:
            filled_batches[-1] += group
        else:
            filled_batches.append(group)
    return filled_batches


_CHUNK = 256  # sentences scored at a time
_CACHED_TEXTS = 65_536  # texts with cached word ids


class PassageModel:
    """A network and its word vectors; call it to score the sentences of a document for a claim."""

    def __init__(self, network: PassageNetwork, lexicon: WordVectors, recipe: PassageRecipe) -> None:
        self.network, self.lexicon, self.recipe = network, lexicon, recipe
        self._ids = lru_cache(_CACHED_TEXTS)(lambda text: lexicon.ids(text, recipe.longest))
        self._document: tuple[tuple[str, ...], EncodedSentences] | None = None  # many claims share a document

    def __call__(self, claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
        """Score each sentence."""
        if not sentences:
            return np.zeros(0, np.float32)
        self.network.eval()
        with one_thread(), torch.no_grad():
            key = tuple(sentences)
            if self._document is None or self._document[0] != key:
                self._document = key, self.network.read_sentences([self._ids(text) for text in key])
            sentence_states = self._document[1]
            claim_states = self.network.read_claims([self._ids(claim)])
            sentence_scores = (
                self.network.documents(claim_states, sentence_states)[0]
                if self.recipe.architecture.document
                else self._score_singly(claim_states, sentence_states)
            )
        scores: NDArray[np.floating] = sentence_scores.float().cpu().numpy()
        return scores

    def scores(self, batch: Sequence[ComparisonTask]) -> list[Tensor]:
        """The scores of each task's sentences; shared sentences are read once."""
        claims = self.network.read_claims([self._ids(task.claim) for task in batch])
        places = {
            text: position
            for position, text in enumerate(dict.fromkeys(text for task in batch for text in task.sentences))
        }
        sentence_states = self.network.read_sentences([self._ids(text) for text in places])
        return (self._score_documents if self.recipe.architecture.document else self._score_pairs)(
            batch, claims, sentence_states, places
        )

    def _score_documents(
        self,
        batch: Sequence[ComparisonTask],
        claims: EncodedSentences,
        sentence_states: EncodedSentences,
        places: Mapping[str, int],
    ) -> list[Tensor]:
        tasks_by_document: dict[tuple[str, ...], list[int]] = {}
        for position, task in enumerate(batch):
            tasks_by_document.setdefault(task.sentences, []).append(position)
        scores_by_task: dict[int, Tensor] = {}
        for sentences, task_indices in tasks_by_document.items():
            rows = sentence_states.rows(self._index_tensor(places[text] for text in sentences))
            scores_by_task |= zip(
                task_indices, self.network.documents(claims.rows(self._index_tensor(task_indices)), rows), strict=True
            )
        return [scores_by_task[position] for position in range(len(batch))]

    def _score_pairs(
        self,
        batch: Sequence[ComparisonTask],
        claims: EncodedSentences,
        sentence_states: EncodedSentences,
        places: Mapping[str, int],
    ) -> list[Tensor]:
        claim_rows = self._index_tensor(position for position, task in enumerate(batch) for _ in task.sentences)
        rows = self._index_tensor(places[text] for task in batch for text in task.sentences)
        scores: Tensor = self.network(claims.rows(claim_rows), sentence_states.rows(rows))
        return list(scores.split([len(task.sentences) for task in batch]))

    def _index_tensor(self, places: Iterable[int]) -> Tensor:
        return torch.tensor(list(places), device=self.network.output.weight.device)

    def _score_singly(self, claim: EncodedSentences, sentences: EncodedSentences) -> Tensor:
        every = torch.arange(len(sentences.final), device=sentences.final.device)
        return torch.cat(
            [self.network(claim.rows(torch.zeros_like(chunk)), sentences.rows(chunk)) for chunk in every.split(_CHUNK)]
        )


_STEEPEST = 5.0


@dataclass(frozen=True, slots=True)
class TrainedPassageModel:
    """A model with its best weights, and the measurements after each epoch."""

    model: PassageModel
    measured: tuple[dict[str, float], ...]

    @property
    def accuracy(self) -> float:
        """The best accuracy on held-out comparisons."""
        return max(row["dev accuracy"] for row in self.measured)


def train(
    comparisons: Sequence[SentenceComparison],
    dev: Sequence[SentenceComparison],
    lexicon: WordVectors,
    recipe: PassageRecipe,
    tell: Callable[[str], None] = lambda _: None,
) -> TrainedPassageModel:
    """Train until dev accuracy stops improving; deterministic for a seed and machine."""
    if not comparisons or not dev:
        raise UserError("too few claims to train on have a gold sentence among their ten most similar sentences")
    with one_thread():
        return _train(comparisons, dev, lexicon, recipe, tell)


def _train(
    comparisons: Sequence[SentenceComparison],
    dev: Sequence[SentenceComparison],
    lexicon: WordVectors,
    recipe: PassageRecipe,
    tell: Callable[[str], None],
) -> TrainedPassageModel:
    start_time = time.monotonic()
    whole, chance = recipe.architecture.document, Random(recipe.seed)
    torch.manual_seed(recipe.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = PassageNetwork(recipe, torch.from_numpy(lexicon.vectors)).to(device)
    model = PassageModel(network, lexicon, recipe)
    optimiser = torch.optim.Adam([weight for weight in network.parameters() if weight.requires_grad], lr=recipe.rate)
    learned, dev_batches = (
        comparison_tasks(comparisons, whole),
        task_batches(comparison_tasks(dev, whole), recipe.batch, whole),
    )
    measured: list[dict[str, float]] = []
    best: dict[str, Tensor] = {}
    stale_epochs = 0
    for epoch in range(1, recipe.epochs + 1):
        network.train()
        total, steps = 0.0, task_batches(learned, recipe.batch, whole, chance)
        for batch in steps:
            loss = _loss(_score_differences(model, batch), batch, recipe)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), _STEEPEST)
            optimiser.step()
            total += float(loss.detach())
        accuracy = _accuracy(model, dev_batches)
        measured.append({"epoch": epoch, "loss": total / len(steps), "dev accuracy": accuracy})
        tell(
            f"{recipe.model}: epoch {epoch}, loss {total / len(steps):.4f}, dev accuracy {accuracy:.4f}, "
            f"{time.monotonic() - start_time:.0f} s"
        )
        stale_epochs += 1
        if accuracy > max((row["dev accuracy"] for row in measured[:-1]), default=-1.0):
            best, stale_epochs = copy.deepcopy(network.learned_weights()), 0
        if stale_epochs >= recipe.patience:
            break
    network.load_learned(best)
    network.eval()
    return TrainedPassageModel(model, tuple(measured))


def _score_differences(model: PassageModel, batch: Sequence[ComparisonTask]) -> Tensor:
    """The score of each winner minus that of its loser."""
    scores = model.scores(batch)
    return torch.cat(
        [
            task_scores[[winner for winner, _ in task.pairs]] - task_scores[[loser for _, loser in task.pairs]]
            for task_scores, task in zip(scores, batch, strict=True)
        ]
    )


def _loss(above: Tensor, batch: Sequence[ComparisonTask], recipe: PassageRecipe) -> Tensor:
    """The mean of max(0, margin - (winner - loser)) over pairs (5.1), in document models per claim first (5.10)."""
    hinges = torch.relu(recipe.margin - above)
    if not recipe.architecture.document:
        return hinges.mean()
    return torch.stack(
        [claim_hinges.mean() for claim_hinges in hinges.split([len(task.pairs) for task in batch])]
    ).mean()


def _accuracy(model: PassageModel, dev_batches: Sequence[Sequence[ComparisonTask]]) -> float:
    model.network.eval()
    with torch.no_grad():
        above = torch.cat([_score_differences(model, batch) for batch in dev_batches])
    return float((torch.sign(above) + 1).mean()) / 2
