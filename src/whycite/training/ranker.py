"""The ranker: claim and text read side by side, one score; from the claim encoder's weights."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

import torch

from whycite.encoders.tokens import cleaned
from whycite.rerank.inputs import claim_text, side_by_side
from whycite.training.bases import Base
from whycite.training.lists import RankList, draw
from whycite.training.steps import Steps
from whycite.training.tokens import Tensor, autocast, padded, sent

__all__ = ["Loss", "Pairs", "Recipe", "Scorer", "score", "train"]

Loss = Literal["list", "triplet"]
Tell = Callable[[str], None]
_CHUNK = 65_536  # tokens that go through the model together
_MARGIN = 0.1  # SCOPE's


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that a trained ranker depends on beside base and lists; `triplet` is SCOPE's own recipe (its section 4.4)."""

    epochs: int = 2
    batch: int = 64  # lists
    negatives: int = 15
    rate: float = 1e-4
    longest: int = 160  # tokens of claim and text together
    loss: Loss = "list"
    on_top: bool = True  # of the encoder's scores, where lists have them: it learns what these do not tell
    seed: int = 0


class Scorer(torch.nn.Module):
    """A model with one number read out at its first token."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        self.head = torch.nn.Linear(model.config.hidden_size, 1)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """A score a pair."""
        return self.head(self.model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0].float())[:, 0]


class Pairs:
    """Claims and texts cut into tokens once and put side by side as they are needed."""

    def __init__(self, base: Base, longest: int) -> None:
        self._facts = replace(base.facts, prefix="")  # which is for texts that stand alone
        self._tokenizer: Any = type(base.tokenizer).from_str(base.tokenizer.to_str())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)
        self._padding, self._longest = base.config.pad_token_id, longest
        self._known: dict[str, list[int]] = {}

    def learn(self, texts: Iterable[str]) -> None:
        """Cut texts that will be needed, on all cores at once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        found = self._tokenizer.encode_batch_fast([cleaned(text, self._facts) for text in new])
        self._known |= {text: each.ids for text, each in zip(new, found, strict=True)}

    def ids(self, claim: str, text: str) -> list[int]:
        """The tokens of a claim and a text that were learnt, as the ranker reads them."""
        return side_by_side(self._known[claim], self._known[text], self._longest)

    def batch(self, rows: Sequence[Sequence[int]], device: Any) -> tuple[Tensor, Tensor]:
        """Rows of tokens as one padded table, and the mask."""
        return padded(rows, self._padding, device)


def score(scorer: Scorer, pairs: Pairs, texts: Sequence[tuple[str, str]]) -> Tensor:
    """The score of each pair; those of like length go through the model together."""
    pairs.learn(text for pair in texts for text in pair)
    rows = [pairs.ids(*pair) for pair in texts]
    order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
    device = scorer.head.weight.device
    parts, at = [], 0
    while at < len(order):
        some = order[at : at + 16_384]
        fit = max(
            1, next((n for n in range(1, len(some) + 1) if n * len(rows[some[n - 1]]) > _CHUNK), len(some) + 1) - 1
        )
        parts.append(scorer(*pairs.batch([rows[i] for i in some[:fit]], device)))
        at += fit
    back = torch.empty(len(order), dtype=torch.int64)
    back[torch.tensor(order)] = torch.arange(len(order))
    return torch.cat(parts)[sent(back, device)]


def train(base: Base, lists: Sequence[RankList], recipe: Recipe, tell: Tell) -> Scorer:
    """A scorer on the base's model, trained to put what is right first."""
    torch.manual_seed(recipe.seed)
    scorer = Scorer(base.model)
    scorer.to("cuda" if torch.cuda.is_available() else "cpu")
    pairs = Pairs(base, recipe.longest)
    pairs.learn(text for each in lists for text in (claim_text(each.kind, each.claim), *each.texts))
    usable = sum(1 for _ in draw(lists, Random(0), 1))
    steps = Steps(scorer, recipe.rate, -(-usable // recipe.batch) * recipe.epochs)
    for epoch in range(1, recipe.epochs + 1):
        began, losses = time.monotonic(), []
        scorer.train()
        chance = Random(f"{recipe.seed} {epoch}")
        examples = list(draw(lists, chance, recipe.negatives))
        chance.shuffle(examples)
        for at in range(0, len(examples), recipe.batch):
            batch = examples[at : at + recipe.batch]
            with autocast(scorer):
                losses.append(steps.take(_loss(scorer, pairs, batch, recipe)))
        tell(f"epoch {epoch} loss {float(torch.stack(losses).mean()):.4f} in {time.monotonic() - began:.0f} s")
    return scorer


def _loss(scorer: Scorer, pairs: Pairs, batch: Sequence[tuple[RankList, int, list[int]]], recipe: Recipe) -> Tensor:
    """How badly the right text of each list (listed first) is told from the wrong ones."""
    texts = [
        (claim_text(each.kind, each.claim), each.texts[at]) for each, right, wrong in batch for at in (right, *wrong)
    ]
    found = score(scorer, pairs, texts).split([1 + len(wrong) for _, _, wrong in batch])
    if recipe.loss == "triplet":
        own = torch.cat([torch.sigmoid(row[:1]).expand(len(row) - 1) for row in found])
        other = torch.cat([torch.sigmoid(row[1:]) for row in found])
        return torch.relu(other - own + _MARGIN).mean()
    if recipe.on_top:
        first = [each.scores and [each.scores[at] for at in (right, *wrong)] for each, right, wrong in batch]
        found = [
            row + torch.tensor(own, device=row.device) if own else row for row, own in zip(found, first, strict=True)
        ]
    table = torch.nn.utils.rnn.pad_sequence(list(found), batch_first=True, padding_value=float("-inf"))
    return torch.nn.functional.cross_entropy(table, torch.zeros(len(table), dtype=torch.int64, device=table.device))
