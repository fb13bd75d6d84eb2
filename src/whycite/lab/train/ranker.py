"""Train the ranker, which reads a claim and a text together and gives one score; starts from the claim encoder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

import torch

from whycite.lab.train.bases import Base, Tensor, autocast, pad_rows, to_device
from whycite.lab.train.rankerexamples import RankList, Stance, draw_examples
from whycite.lab.train.steps import TrainingSteps
from whycite.models.pairs import claim_text
from whycite.models.runtime import side_by_side

__all__ = ["Loss", "PairTokens", "RankerNetwork", "RankerRecipe", "score", "train"]

Loss = Literal["list", "triplet"]
Tell = Callable[[str], None]
_CHUNK = 65_536  # tokens per forward pass
_AHEAD = 3  # batches prepared in advance
_MARGIN = 0.1  # as in SCOPE


@dataclass(frozen=True, slots=True)
class RankerRecipe:
    """Everything a trained ranker depends on besides base and lists; `triplet` is SCOPE's recipe (its section 4.4)."""

    epochs: int = 2
    batch: int = 64  # lists
    negatives: int = 15
    rate: float = 1e-4
    longest: int = 192  # tokens of claim and text together
    loss: Loss = "list"
    on_top: bool = True  # add to the encoder's scores, where lists have them, to learn what these miss
    seed: int = 0


class RankerNetwork(torch.nn.Module):
    """A model with one number read out at its first token."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        self.head = torch.nn.Linear(model.config.hidden_size, 1)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """One score per pair."""
        return self.head(self.model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0].float())[:, 0]


class PairTokens:
    """Tokenizes claims and texts once, and joins them as needed."""

    def __init__(self, base: Base, longest: int) -> None:
        self._facts = replace(base.facts, prefix="")  # the prefix is for texts on their own
        self._tokenizer: Any = type(base.tokenizer).from_str(base.tokenizer.to_str())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)
        self._padding, self._longest = base.config.pad_token_id, longest
        self._ids_by_text: dict[str, list[int]] = {}

    def tokenize(self, texts: Iterable[str]) -> None:
        """Tokenize texts that will be needed, on all cores."""
        new = [text for text in dict.fromkeys(texts) if text not in self._ids_by_text]
        encodings = self._tokenizer.encode_batch_fast([self._facts.clean(text) for text in new])
        self._ids_by_text |= {text: encoding.ids for text, encoding in zip(new, encodings, strict=True)}

    def ids(self, claim: str, text: str) -> list[int]:
        """The token ids of a claim and a text that were tokenized, as the ranker reads them."""
        return side_by_side(self._ids_by_text[claim], self._ids_by_text[text], self._longest)

    def batch(self, rows: Sequence[Sequence[int]], device: Any) -> tuple[Tensor, Tensor]:
        """Pad rows of tokens into one table; also return the mask."""
        return pad_rows(rows, self._padding, device)


@dataclass(frozen=True, slots=True)
class PairTables:
    """Pairs as token tables with masks, grouped by length; `inverse_order` restores their order."""

    parts: tuple[tuple[Tensor, Tensor], ...]
    inverse_order: Tensor


def build_tables(pairs: PairTokens, texts: Sequence[tuple[str, str]], device: Any) -> PairTables:
    """Build the tables for pairs of a claim and a text."""
    pairs.tokenize(text for pair in texts for text in pair)
    rows = [pairs.ids(*pair) for pair in texts]
    order = sorted(range(len(rows)), key=lambda index: len(rows[index]))
    parts, start = [], 0
    while start < len(order):
        window = order[start : start + 16_384]
        fit = max(
            1,
            next((n for n in range(1, len(window) + 1) if n * len(rows[window[n - 1]]) > _CHUNK), len(window) + 1) - 1,
        )
        parts.append(pairs.batch([rows[i] for i in window[:fit]], device))
        start += fit
    inverse_order = torch.empty(len(order), dtype=torch.int64)
    inverse_order[torch.tensor(order)] = torch.arange(len(order))
    return PairTables(tuple(parts), to_device(inverse_order, device))


def score(scorer: RankerNetwork, pairs: PairTokens, texts: Sequence[tuple[str, str]]) -> Tensor:
    """The score of each pair."""
    return _score_tables(scorer, build_tables(pairs, texts, scorer.head.weight.device))


def _score_tables(scorer: RankerNetwork, pair_tables: PairTables) -> Tensor:
    return torch.cat([scorer(*part) for part in pair_tables.parts])[pair_tables.inverse_order]


@dataclass(frozen=True, slots=True)
class _RankerBatch:
    """Lists with a right text and some wrong ones drawn from each, then stances, and all their pairs as tables."""

    lists: Sequence[tuple[RankList, int, list[int]]]
    stances: Sequence[Stance]
    tables: PairTables


def train(
    base: Base,
    lists: Sequence[RankList],
    recipe: RankerRecipe,
    tell: Tell,
    stances: Sequence[Stance] = (),
    scorer: RankerNetwork | None = None,
    after_epoch: Callable[[int, RankerNetwork], None] = lambda epoch, scorer: None,
) -> RankerNetwork:
    """Train a scorer on the base's model, or train the given one further, to rank right texts first.

    From a `stance` it learns whether a passage agrees with a claim (above 0) or disagrees (below 0). `after_epoch` is
    given the scorer as it is after each epoch.
    """
    torch.manual_seed(recipe.seed)
    scorer = scorer or RankerNetwork(base.model)
    scorer.to("cuda" if torch.cuda.is_available() else "cpu")
    pairs = PairTokens(base, recipe.longest)
    pairs.tokenize(
        text for rank_list in lists for text in (claim_text(rank_list.kind, rank_list.claim), *rank_list.texts)
    )
    pairs.tokenize(text for stance in stances for text in (claim_text("stance", stance.claim), stance.text))
    usable = sum(1 for _ in draw_examples(lists, Random(0), 1))
    count = max(-(-usable // recipe.batch), -(-len(stances) // (recipe.batch * (1 + recipe.negatives))))
    steps = TrainingSteps(scorer, recipe.rate, count * recipe.epochs)
    device = scorer.head.weight.device
    for epoch in range(1, recipe.epochs + 1):
        began, losses = time.monotonic(), []
        scorer.train()
        chance = Random(f"{recipe.seed} {epoch}")
        for batch in _prefetch(_batches(pairs, lists, stances, recipe, count, chance, device)):
            with autocast(scorer):
                losses.append(steps.take(_loss(_score_tables(scorer, batch.tables), batch, recipe)))
        tell(f"epoch {epoch} loss {float(torch.stack(losses).mean()):.4f} in {time.monotonic() - began:.0f} s")
        after_epoch(epoch, scorer)
    return scorer


def _batches(
    pairs: PairTokens,
    lists: Sequence[RankList],
    stances: Sequence[Stance],
    recipe: RankerRecipe,
    count: int,
    chance: Random,
    device: Any,
) -> Iterator[_RankerBatch]:
    """Yield `count` batches in random order, each with an equal share of the lists and stances."""
    examples = list(draw_examples(lists, chance, recipe.negatives))
    shuffled_stances = list(stances)
    chance.shuffle(examples)
    chance.shuffle(shuffled_stances)
    for step in range(count):
        drawn = examples[step * len(examples) // count : (step + 1) * len(examples) // count]
        step_stances = shuffled_stances[
            step * len(shuffled_stances) // count : (step + 1) * len(shuffled_stances) // count
        ]
        texts = [
            (claim_text(rank_list.kind, rank_list.claim), rank_list.texts[position])
            for rank_list, positive, negatives in drawn
            for position in (positive, *negatives)
        ]
        texts += [(claim_text("stance", stance.claim), stance.text) for stance in step_stances]
        yield _RankerBatch(drawn, step_stances, build_tables(pairs, texts, device))


def _prefetch(batches: Iterator[_RankerBatch]) -> Iterator[_RankerBatch]:
    """Yield the same batches, preparing the next ones during training."""
    with ThreadPoolExecutor(1) as maker:
        coming = [maker.submit(next, batches, None) for _ in range(_AHEAD)]
        while (batch := coming.pop(0).result()) is not None:
            coming.append(maker.submit(next, batches, None))
            yield batch


def _loss(scores: Tensor, batch: _RankerBatch, recipe: RankerRecipe) -> Tensor:
    """The loss over lists and stances."""
    sizes = [1 + len(negatives) for _, _, negatives in batch.lists]
    of_lists, of_stances = scores.split([sum(sizes), len(batch.stances)])
    loss = of_lists.new_zeros(())
    if sizes:
        loss = loss + _loss_of_lists(of_lists.split(sizes), batch.lists, recipe)
    if batch.stances:
        agreements = to_device(torch.tensor([stance.agreement for stance in batch.stances]), scores.device)
        loss = loss + torch.nn.functional.binary_cross_entropy_with_logits(of_stances, agreements)
    return loss


def _loss_of_lists(
    scores: Sequence[Tensor], lists: Sequence[tuple[RankList, int, list[int]]], recipe: RankerRecipe
) -> Tensor:
    """The loss for the right text of each list (the first score) against the wrong ones."""
    if recipe.loss == "triplet":
        positive_scores = torch.cat([torch.sigmoid(row[:1]).expand(len(row) - 1) for row in scores])
        negative_scores = torch.cat([torch.sigmoid(row[1:]) for row in scores])
        return torch.relu(negative_scores - positive_scores + _MARGIN).mean()
    table = torch.nn.utils.rnn.pad_sequence(list(scores), batch_first=True, padding_value=float("-inf"))
    if recipe.on_top:
        encoder_scores = [
            torch.tensor(
                [rank_list.scores[position] for position in (positive, *negatives)]
                if rank_list.scores
                else [0.0] * (1 + len(negatives))
            )
            for rank_list, positive, negatives in lists
        ]
        table = table + to_device(torch.nn.utils.rnn.pad_sequence(encoder_scores, batch_first=True), table.device)
    return torch.nn.functional.cross_entropy(table, torch.zeros(len(table), dtype=torch.int64, device=table.device))
