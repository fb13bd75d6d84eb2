"""The claim encoder: texts that cite the same paper, and that paper, come to lie close together."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray

from whycite.training.bases import Base
from whycite.training.contrast import contrast, share
from whycite.training.corpus import Corpus, digest
from whycite.training.examples import Example, Examples
from whycite.training.heldout import HeldOut
from whycite.training.mining import nearest, nearest_by_words
from whycite.training.steps import Checkpoint, Steps
from whycite.training.tokens import Tensor, Tokens, autocast, encode, vectors

__all__ = ["Recipe", "train"]

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that a trained encoder depends on beside base and corpus."""

    epochs: int = 5
    batch: int = 1_024
    rate: float = 2e-4
    temperature: float = 0.05
    longest: int = 96  # tokens of a text
    hard: int = 1  # negatives that are mined, a claim, of each kind
    mined: int = 60  # how deep they are mined for
    spared: int = 3  # the nearest ones are not taken: too often the citation is what is missing
    learnt: float = 0.75  # share of the trained weights in the end; the rest is the base's
    seed: int = 0


def train(
    base: Base,
    corpus: Corpus,
    held_out: Corpus,
    recipe: Recipe,
    tell: Tell,
    checkpoint: Path | None = None,
) -> list[dict[str, float]]:
    """Train the base's model in place; what was measured on held-out articles before, after each epoch, in the end."""
    return _Training(base, corpus, held_out, recipe, tell, checkpoint).run()


class _Training:
    def __init__(
        self, base: Base, corpus: Corpus, held_out: Corpus, recipe: Recipe, tell: Tell, checkpoint: Path | None
    ) -> None:
        torch.manual_seed(recipe.seed)
        self._base, self._recipe, self._tell = base, recipe, tell
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._model = base.model.to(self._device)
        self._start = {name: value.clone() for name, value in self._model.state_dict().items()}
        self._examples = Examples(corpus)
        self._tokens = Tokens(base, self._examples.texts, recipe.longest)
        self._held_out = HeldOut(self._examples, held_out, 1_000, recipe.seed)
        self._asked = Tokens(base, (text for text, _ in self._held_out.claims), recipe.longest)
        self._papers = sorted(self._examples.titles)
        count = -(-len(self._examples.sentences) // recipe.batch) * recipe.epochs
        self._steps = Steps(self._model, recipe.rate, count)
        data = {"base": base.name, "trained on": digest(corpus), "held out": digest(held_out)}
        self._checkpoint = Checkpoint(checkpoint, {**asdict(recipe), **data})
        tell(f"{len(corpus.articles)} articles, {len(self._examples.sentences)} sentences, {len(self._papers)} papers")

    def run(self) -> list[dict[str, float]]:
        measured = self._checkpoint.resume(self._model, self._steps)
        if measured:
            self._tell(f"going on after epoch {len(measured) - 1}")
        self._encode()
        measured = measured or [self._measure(0, 0.0)]
        for epoch in range(len(measured), self._recipe.epochs + 1):
            loss = self._epoch(Random(f"{self._recipe.seed} {epoch}"), *self._mine(by_words=epoch == 1))
            self._encode()
            measured.append(self._measure(epoch, loss))
            self._checkpoint.save(self._model, self._steps, measured)
        self._blend()
        self._encode()
        return [*measured, self._measure(self._recipe.epochs, measured[-1]["loss"])]

    def _encode(self) -> None:
        """The vectors of all sentences and papers as the model is now."""
        self._said = self._vectors([each.text for each in self._examples.sentences])
        self._named = self._vectors([self._examples.abstracts[paper] for paper in self._papers])

    def _vectors(self, texts: Sequence[int]) -> Tensor:
        return encode(self._model, self._tokens, texts, self._base.facts.pooling)

    def _blend(self) -> None:
        """Go back towards the base a little: what it knew of other fields comes back, what was learnt stays."""
        learnt = self._recipe.learnt
        new = {
            name: torch.lerp(self._start[name], value, learnt) if value.is_floating_point() else value
            for name, value in self._model.state_dict().items()
        }
        self._model.load_state_dict(new)

    def _epoch(self, chance: Random, spans: NDArray[np.int32], titles: NDArray[np.int32]) -> float:
        self._model.train()
        torch.manual_seed(chance.randrange(2**31))  # so that a run that was stopped goes on as if it had not been
        examples = self._examples.epoch(chance)
        losses = []
        for at in range(0, len(examples), self._recipe.batch):
            batch = examples[at : at + self._recipe.batch]
            with autocast(self._model):
                loss = self._loss(batch, chance, spans, titles)
            losses.append(self._steps.take(loss))
        return float(torch.stack(losses).mean())

    def _loss(
        self, batch: Sequence[Example], chance: Random, spans: NDArray[np.int32], titles: NDArray[np.int32]
    ) -> Tensor:
        sentences = self._examples.sentences
        paired = [each for each in batch if each.span >= 0]
        hard_spans = [at for each in batch for at in self._hard(each, spans, chance, self._cited_by)]
        hard_titles = [at for each in batch for at in self._hard(each, titles, chance, self._is)]
        texts = [
            [each.claim for each in batch],
            [each.span for each in paired],
            [sentences[at].text for at in hard_spans],
            [each.title for each in batch],
            [self._examples.titles[self._papers[at]] for at in hard_titles],
        ]
        found = vectors(self._model, self._tokens, [text for some in texts for text in some], self._base.facts.pooling)
        claims, near, hard, own, other = found.split([len(some) for some in texts])
        cited = [sentences[each.sentence].papers for each in batch]
        rows = [at for at, each in enumerate(batch) if each.span >= 0]
        said = [sentences[each.home].papers for each in paired] + [sentences[at].papers for at in hard_spans]
        papers = [{each.paper} for each in batch] + [{self._papers[at]} for at in hard_titles]
        temperature = self._recipe.temperature
        of_titles = contrast(claims, torch.cat([own, other]), share(cited, papers, self._device), temperature)
        if not rows:
            return of_titles
        false = share([cited[at] for at in rows], said, self._device)
        of_spans = contrast(claims[rows], torch.cat([near, hard]), false, temperature)
        back = contrast(near, claims[rows], false[:, : len(rows)].T, temperature)
        return of_titles + (of_spans + back) / 2

    def _hard(
        self, example: Example, mined: NDArray[np.int32], chance: Random, papers: Callable[[int], Sequence[int]]
    ) -> list[int]:
        """Some of what was mined for an example's sentence, if it cites nothing that the sentence cites."""
        cited = self._examples.sentences[example.sentence].papers
        found: list[int] = []
        row = mined[example.sentence]
        for _ in range(4 * self._recipe.hard if len(row) else 0):
            at = int(row[chance.randrange(len(row))])
            if len(found) < self._recipe.hard and cited.isdisjoint(papers(at)):
                found.append(at)
        return found

    def _cited_by(self, sentence: int) -> Sequence[int]:
        return tuple(self._examples.sentences[sentence].papers)

    def _is(self, place: int) -> Sequence[int]:
        return (self._papers[place],)

    def _mine(self, by_words: bool) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For each sentence, sentences and papers that look right: by the model, at first also by words."""
        began = time.monotonic()
        recipe, examples = self._recipe, self._examples
        spans = nearest(self._said, self._said, recipe.mined)[:, recipe.spared :]
        titles = nearest(self._said, self._named, recipe.mined)
        if by_words:
            said = [each.text for each in examples.sentences]
            named = [examples.titles[paper] for paper in self._papers]
            like = nearest_by_words(self._tokens, said, said, recipe.mined, self._device)[:, 1:]
            spans = np.hstack([spans, like])
            titles = np.hstack([titles, nearest_by_words(self._tokens, said, named, recipe.mined, self._device)])
        self._tell(f"hard negatives mined in {time.monotonic() - began:.0f} s")
        return spans, titles

    def _measure(self, epoch: int, loss: float) -> dict[str, float]:
        claims = encode(self._model, self._asked, range(len(self._held_out.claims)), self._base.facts.pooling)
        row = {"epoch": epoch, "loss": loss, **self._held_out.measure(claims, self._said, self._named)}
        self._tell(" ".join(f"{name} {value:.4g}" for name, value in row.items()))
        return row
