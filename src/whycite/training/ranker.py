"""The ranker: claim and text read side by side, one score; from the claim encoder's weights."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

import torch

from whycite.encoders.tokens import cleaned
from whycite.rerank.inputs import claim_text, side_by_side
from whycite.training.bases import Base
from whycite.training.lists import RankList, draw
from whycite.training.stance import Stance
from whycite.training.steps import Steps
from whycite.training.tokens import Tensor, autocast, padded, sent

__all__ = ["Loss", "Pairs", "Recipe", "Scorer", "score", "train"]

Loss = Literal["list", "triplet"]
Tell = Callable[[str], None]
_CHUNK = 65_536  # tokens that go through the model together
_AHEAD = 3  # batches that are made in advance
_MARGIN = 0.1  # SCOPE's


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that a trained ranker depends on beside base and lists; `triplet` is SCOPE's own recipe (its section 4.4)."""

    epochs: int = 2
    batch: int = 64  # lists
    negatives: int = 15
    rate: float = 1e-4
    longest: int = 192  # tokens of claim and text together
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


@dataclass(frozen=True, slots=True)
class Tables:
    """Pairs as tables of tokens with their masks, those of like length together; `back` brings them into order."""

    parts: tuple[tuple[Tensor, Tensor], ...]
    back: Tensor


def tables(pairs: Pairs, texts: Sequence[tuple[str, str]], device: Any) -> Tables:
    """Pairs of a claim and a text, as the scorer takes them."""
    pairs.learn(text for pair in texts for text in pair)
    rows = [pairs.ids(*pair) for pair in texts]
    order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
    parts, at = [], 0
    while at < len(order):
        some = order[at : at + 16_384]
        fit = max(
            1, next((n for n in range(1, len(some) + 1) if n * len(rows[some[n - 1]]) > _CHUNK), len(some) + 1) - 1
        )
        parts.append(pairs.batch([rows[i] for i in some[:fit]], device))
        at += fit
    back = torch.empty(len(order), dtype=torch.int64)
    back[torch.tensor(order)] = torch.arange(len(order))
    return Tables(tuple(parts), sent(back, device))


def score(scorer: Scorer, pairs: Pairs, texts: Sequence[tuple[str, str]]) -> Tensor:
    """The score of each pair."""
    return _scored(scorer, tables(pairs, texts, scorer.head.weight.device))


def _scored(scorer: Scorer, given: Tables) -> Tensor:
    return torch.cat([scorer(*part) for part in given.parts])[given.back]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Lists of which a right text and some wrong ones were drawn, then stances; and all their pairs as tables."""

    lists: Sequence[tuple[RankList, int, list[int]]]
    stances: Sequence[Stance]
    tables: Tables


def train(
    base: Base,
    lists: Sequence[RankList],
    recipe: Recipe,
    tell: Tell,
    stances: Sequence[Stance] = (),
    scorer: Scorer | None = None,
) -> Scorer:
    """A scorer on the base's model (or the one that is given, further) that puts what is right first.

    Of a claim and a passage as a `stance` it learns whether the passage says so: above 0, or otherwise: below.
    """
    torch.manual_seed(recipe.seed)
    scorer = scorer or Scorer(base.model)
    scorer.to("cuda" if torch.cuda.is_available() else "cpu")
    pairs = Pairs(base, recipe.longest)
    pairs.learn(text for each in lists for text in (claim_text(each.kind, each.claim), *each.texts))
    pairs.learn(text for each in stances for text in (claim_text("stance", each.claim), each.text))
    usable = sum(1 for _ in draw(lists, Random(0), 1))
    count = max(-(-usable // recipe.batch), -(-len(stances) // (recipe.batch * (1 + recipe.negatives))))
    steps = Steps(scorer, recipe.rate, count * recipe.epochs)
    device = scorer.head.weight.device
    for epoch in range(1, recipe.epochs + 1):
        began, losses = time.monotonic(), []
        scorer.train()
        chance = Random(f"{recipe.seed} {epoch}")
        for batch in _ahead(_batches(pairs, lists, stances, recipe, count, chance, device)):
            with autocast(scorer):
                losses.append(steps.take(_loss(_scored(scorer, batch.tables), batch, recipe)))
        tell(f"epoch {epoch} loss {float(torch.stack(losses).mean()):.4f} in {time.monotonic() - began:.0f} s")
    return scorer


def _batches(
    pairs: Pairs,
    lists: Sequence[RankList],
    stances: Sequence[Stance],
    recipe: Recipe,
    count: int,
    chance: Random,
    device: Any,
) -> Iterator[_Batch]:
    """So many batches, each with an even share of the lists and of the stances, in an order that is drawn."""
    examples = list(draw(lists, chance, recipe.negatives))
    others = list(stances)
    chance.shuffle(examples)
    chance.shuffle(others)
    for at in range(count):
        some = examples[at * len(examples) // count : (at + 1) * len(examples) // count]
        told = others[at * len(others) // count : (at + 1) * len(others) // count]
        texts = [
            (claim_text(each.kind, each.claim), each.texts[at]) for each, right, wrong in some for at in (right, *wrong)
        ]
        texts += [(claim_text("stance", each.claim), each.text) for each in told]
        yield _Batch(some, told, tables(pairs, texts, device))


def _ahead(batches: Iterator[_Batch]) -> Iterator[_Batch]:
    """The same batches, each made while the one before is learnt from."""
    with ThreadPoolExecutor(1) as maker:
        coming = [maker.submit(next, batches, None) for _ in range(_AHEAD)]
        while (batch := coming.pop(0).result()) is not None:
            coming.append(maker.submit(next, batches, None))
            yield batch


def _loss(found: Tensor, batch: _Batch, recipe: Recipe) -> Tensor:
    """How badly what is right is told from what is wrong, in lists and in stances."""
    sizes = [1 + len(wrong) for _, _, wrong in batch.lists]
    of_lists, of_stances = found.split([sum(sizes), len(batch.stances)])
    loss = of_lists.new_zeros(())
    if sizes:
        loss = loss + _loss_of_lists(of_lists.split(sizes), batch.lists, recipe)
    if batch.stances:
        said = sent(torch.tensor([each.said for each in batch.stances]), found.device)
        loss = loss + torch.nn.functional.binary_cross_entropy_with_logits(of_stances, said)
    return loss


def _loss_of_lists(found: Sequence[Tensor], lists: Sequence[tuple[RankList, int, list[int]]], recipe: Recipe) -> Tensor:
    """How badly the right text of each list (the first score) is told from the wrong ones."""
    if recipe.loss == "triplet":
        own = torch.cat([torch.sigmoid(row[:1]).expand(len(row) - 1) for row in found])
        other = torch.cat([torch.sigmoid(row[1:]) for row in found])
        return torch.relu(other - own + _MARGIN).mean()
    table = torch.nn.utils.rnn.pad_sequence(list(found), batch_first=True, padding_value=float("-inf"))
    if recipe.on_top:
        first = [
            torch.tensor([each.scores[at] for at in (right, *wrong)] if each.scores else [0.0] * (1 + len(wrong)))
            for each, right, wrong in lists
        ]
        table = table + sent(torch.nn.utils.rnn.pad_sequence(first, batch_first=True), table.device)
    return torch.nn.functional.cross_entropy(table, torch.zeros(len(table), dtype=torch.int64, device=table.device))
