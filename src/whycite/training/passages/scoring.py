"""A trained model at work: scores for the sentences of a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from whycite.training.passages.networks import Network, Read
from whycite.training.passages.recipe import Recipe
from whycite.training.passages.tasks import Task
from whycite.training.passages.threads import one_thread
from whycite.training.passages.vectors import Lexicon

__all__ = ["PassageModel"]

_AT_ONCE = 256  # sentences that are joined with a claim at a time
_KNOWN = 65_536  # texts whose words are remembered


class PassageModel:
    """A network with its words. Called with a claim and the sentences of a document it gives each a score."""

    def __init__(self, network: Network, lexicon: Lexicon, recipe: Recipe) -> None:
        self.network, self.lexicon, self.recipe = network, lexicon, recipe
        self._ids = lru_cache(_KNOWN)(lambda text: lexicon.ids(text, recipe.longest))
        self._document: tuple[tuple[str, ...], Read] | None = None  # many claims are asked of one document

    def __call__(self, claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
        """One score a sentence, in order."""
        if not sentences:
            return np.zeros(0, np.float32)
        self.network.eval()
        with one_thread(), torch.no_grad():
            key = tuple(sentences)
            if self._document is None or self._document[0] != key:
                self._document = key, self.network.read_sentences([self._ids(text) for text in key])
            read = self._document[1]
            asked = self.network.read_claims([self._ids(claim)])
            found = self.network.documents(asked, read)[0] if self.recipe.form.document else self._each(asked, read)
        scores: NDArray[np.floating] = found.float().cpu().numpy()
        return scores

    def scores(self, batch: Sequence[Task]) -> list[Tensor]:
        """The scores of each task's sentences; what several tasks share is read once."""
        claims = self.network.read_claims([self._ids(task.claim) for task in batch])
        places = {text: at for at, text in enumerate(dict.fromkeys(text for task in batch for text in task.sentences))}
        read = self.network.read_sentences([self._ids(text) for text in places])
        return (self._documents if self.recipe.form.document else self._pairs)(batch, claims, read, places)

    def _documents(self, batch: Sequence[Task], claims: Read, read: Read, places: Mapping[str, int]) -> list[Tensor]:
        own: dict[tuple[str, ...], list[int]] = {}
        for at, task in enumerate(batch):
            own.setdefault(task.sentences, []).append(at)
        found: dict[int, Tensor] = {}
        for sentences, asked in own.items():
            rows = read.rows(self._at(places[text] for text in sentences))
            found |= zip(asked, self.network.documents(claims.rows(self._at(asked)), rows), strict=True)
        return [found[at] for at in range(len(batch))]

    def _pairs(self, batch: Sequence[Task], claims: Read, read: Read, places: Mapping[str, int]) -> list[Tensor]:
        asked = self._at(at for at, task in enumerate(batch) for _ in task.sentences)
        rows = self._at(places[text] for task in batch for text in task.sentences)
        found: Tensor = self.network(claims.rows(asked), read.rows(rows))
        return list(found.split([len(task.sentences) for task in batch]))

    def _at(self, places: Iterable[int]) -> Tensor:
        return torch.tensor(list(places), device=self.network.output.weight.device)

    def _each(self, claim: Read, sentences: Read) -> Tensor:
        every = torch.arange(len(sentences.last), device=sentences.last.device)
        return torch.cat(
            [self.network(claim.rows(torch.zeros_like(some)), sentences.rows(some)) for some in every.split(_AT_ONCE)]
        )
