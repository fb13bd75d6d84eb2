"""Training: the hinge loss over comparisons, and the weights that do best on those held out (5.2 and 5.4.1)."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor

from whycite.errors import UserError
from whycite.evaluation.passages.comparisons import Comparison
from whycite.training.passages.networks import Network
from whycite.training.passages.recipe import Recipe
from whycite.training.passages.scoring import PassageModel
from whycite.training.passages.tasks import Task, batches, tasks
from whycite.training.passages.threads import one_thread
from whycite.training.passages.vectors import Lexicon

__all__ = ["Trained", "train"]

_STEEPEST = 5.0


@dataclass(frozen=True, slots=True)
class Trained:
    """A model with its best weights, and what was measured after each epoch."""

    model: PassageModel
    measured: tuple[dict[str, float], ...]

    @property
    def accuracy(self) -> float:
        """The share of held-out comparisons that are right."""
        return max(each["dev accuracy"] for each in self.measured)


def train(
    comparisons: Sequence[Comparison],
    dev: Sequence[Comparison],
    lexicon: Lexicon,
    recipe: Recipe,
    tell: Callable[[str], None] = lambda _: None,
) -> Trained:
    """Learn from comparisons until dev gets no better; the same seed gives the same model on the same machine."""
    if not comparisons or not dev:
        raise UserError("there are too few claims whose gold sentences are among the ten most similar to learn from")
    with one_thread():
        return _train(comparisons, dev, lexicon, recipe, tell)


def _train(
    comparisons: Sequence[Comparison],
    dev: Sequence[Comparison],
    lexicon: Lexicon,
    recipe: Recipe,
    tell: Callable[[str], None],
) -> Trained:
    begun = time.monotonic()
    whole, chance = recipe.form.document, Random(recipe.seed)
    torch.manual_seed(recipe.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = Network(recipe, torch.from_numpy(lexicon.vectors)).to(device)
    model = PassageModel(network, lexicon, recipe)
    optimiser = torch.optim.Adam([each for each in network.parameters() if each.requires_grad], lr=recipe.rate)
    learned, held = tasks(comparisons, whole), batches(tasks(dev, whole), recipe.batch, whole)
    measured: list[dict[str, float]] = []
    best: dict[str, Tensor] = {}
    since = 0
    for epoch in range(1, recipe.epochs + 1):
        network.train()
        total, steps = 0.0, batches(learned, recipe.batch, whole, chance)
        for batch in steps:
            loss = _loss(_compared(model, batch), batch, recipe)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), _STEEPEST)
            optimiser.step()
            total += float(loss.detach())
        accuracy = _accuracy(model, held)
        measured.append({"epoch": epoch, "loss": total / len(steps), "dev accuracy": accuracy})
        tell(
            f"{recipe.model}: epoch {epoch}, loss {total / len(steps):.4f}, dev accuracy {accuracy:.4f}, "
            f"{time.monotonic() - begun:.0f} s"
        )
        since += 1
        if accuracy > max((each["dev accuracy"] for each in measured[:-1]), default=-1.0):
            best, since = copy.deepcopy(network.learned()), 0
        if since >= recipe.patience:
            break
    network.put(best)
    network.eval()
    return Trained(model, tuple(measured))


def _compared(model: PassageModel, batch: Sequence[Task]) -> Tensor:
    """How far each winner is above its loser."""
    scores = model.scores(batch)
    return torch.cat(
        [
            found[[winner for winner, _ in task.pairs]] - found[[loser for _, loser in task.pairs]]
            for found, task in zip(scores, batch, strict=True)
        ]
    )


def _loss(above: Tensor, batch: Sequence[Task], recipe: Recipe) -> Tensor:
    """The mean of max(0, margin - (winner - loser)): over pairs (5.1), of document models over claims first (5.10)."""
    each = torch.relu(recipe.margin - above)
    if not recipe.form.document:
        return each.mean()
    return torch.stack([own.mean() for own in each.split([len(task.pairs) for task in batch])]).mean()


def _accuracy(model: PassageModel, held: Sequence[Sequence[Task]]) -> float:
    model.network.eval()
    with torch.no_grad():
        above = torch.cat([_compared(model, batch) for batch in held])
    return float((torch.sign(above) + 1).mean()) / 2
