"""Train the entailment model: it reads a claim and a passage and says whether the passage is relevant and backs it.

A teacher (a large base) learns from labelled pairs and lists. A student, the teacher with fewer layers or a part of the
inner width of each, learns to judge as the teacher does, on many more pairs than have labels.
"""

from __future__ import annotations

import copy
import json
import lzma
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from whycite.lab.train.bases import Tensor
from whycite.models.runtime import side_by_side

__all__ = [
    "OUTPUTS",
    "EntailmentNetwork",
    "EntailmentRecipe",
    "LabelledPair",
    "PairEncoder",
    "SentenceList",
    "TrainingPack",
    "fused_states",
    "load_pack",
    "predict",
    "save_pack",
    "shrink",
    "shrink_layers",
    "train",
]

OUTPUTS = ("relevance", "supports", "contradicts", "neither")
UNLABELLED = -1
_BUCKET = 32  # lengths of batches are multiples of this, so that few shapes occur
_SORTED_BATCHES = 16  # batches whose pairs are sorted by length together
_WARM = 0.06  # share of the steps in which the rate rises
_SMOOTHING = 0.05
_TEACHER_SHARE = 0.7  # of the loss of a labelled pair, where there is a teacher
_STATE_SHARE = 0.5  # weight of the difference between the states of teacher and student
_LIST_SHARE = 1.0  # weight of the loss over lists
_LIST_EVERY = 4  # steps, with as many more lists: a small batch takes as long as a large one
_RELEVANCE_SHARE = 0.05  # weight of the difference between the relevance that teacher and student see
_STEEPEST = 1.0
_COMPARED = 4  # layers whose states are compared, at equal distances up to the last
_RIDGE = 1e-3  # of the mean variance: neurons that always act together leave the fit open
_HIDDEN = -1e4  # score of padding
_COMPILED_VARIANTS = 64  # of a layer: with and without gradients, by width


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A claim and a passage; the label is an index into supports, contradicts, neither, or `UNLABELLED`."""

    claim: str
    passage: str
    label: int
    source: str
    fold: int = -1  # of the cross-validation that it belongs to; -1 for none


@dataclass(frozen=True, slots=True)
class SentenceList:
    """A claim and sentences, some of which are relevant to it."""

    claim: str
    sentences: tuple[str, ...]
    relevant: tuple[int, ...]
    source: str
    fold: int = -1


@dataclass(frozen=True, slots=True)
class TrainingPack:
    """All pairs and lists."""

    pairs: tuple[LabelledPair, ...]
    lists: tuple[SentenceList, ...]

    def without_fold(self, fold: int | None) -> TrainingPack:
        """What may be learned when a fold is measured; for None, nothing that belongs to any fold."""
        return TrainingPack(
            tuple(pair for pair in self.pairs if _is_allowed(pair.fold, fold)),
            tuple(item for item in self.lists if _is_allowed(item.fold, fold)),
        )

    def allowed_pairs(self, fold: int | None) -> NDArray[np.bool_]:
        """Which pairs `without_fold` leaves."""
        return np.array([_is_allowed(pair.fold, fold) for pair in self.pairs], bool)


def _is_allowed(fold: int, measured: int | None) -> bool:
    return fold < 0 if measured is None else fold != measured


def save_pack(pack: TrainingPack, path: Path) -> None:
    """Write a pack as compressed JSON lines."""
    with lzma.open(path, "wt", encoding="utf-8", preset=6) as file:
        for pair in pack.pairs:
            file.write(json.dumps([pair.claim, pair.passage, pair.label, pair.source, pair.fold]) + "\n")
        for item in pack.lists:
            file.write(json.dumps([item.claim, item.sentences, item.relevant, item.source, item.fold]) + "\n")


def load_pack(path: Path) -> TrainingPack:
    """Read a pack."""
    pairs, lists = [], []
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            claim, text, label, source, fold = json.loads(line)
            if isinstance(text, str):
                pairs.append(LabelledPair(claim, text, label, source, fold))
            else:
                lists.append(SentenceList(claim, tuple(text), tuple(label), source, fold))
    return TrainingPack(tuple(pairs), tuple(lists))


@dataclass(frozen=True, slots=True)
class EntailmentRecipe:
    """Everything a stage of training depends on besides model and data."""

    steps: int
    seconds: float = math.inf  # at most; the schedule ends with whichever comes first
    rate: float = 3e-5
    batch: int = 128  # pairs
    lists: int = 8  # lists a step
    list_size: int = 10  # sentences of a list
    shares: dict[str, float] = field(default_factory=dict)  # by source; others are drawn by the root of their number
    seed: int = 0


class EntailmentNetwork(torch.nn.Module):
    """A model with four numbers read out at its first token (`OUTPUTS`)."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        self.head = torch.nn.Linear(model.config.hidden_size, len(OUTPUTS))
        self.taken_from = tuple(range(model.config.num_hidden_layers))  # the teacher's layers that these were

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, list[Tensor]]:
        """The outputs of each pair, and the states of all tokens after each layer."""
        if ids.is_cuda:
            states = fused_states(self.model, ids, mask)
        else:
            result = self.model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
            states = list(result.hidden_states[1:])
        return self.head(states[-1][:, 0].float()), states


def fused_states(model: Any, ids: Tensor, mask: Tensor) -> list[Tensor]:
    """The states after each layer of an MPNet by fused attention.

    Its own writes a table of scores in every layer, which takes longest.

    The bias by distance is used as it is, not trained.
    """
    states = model.embeddings(input_ids=ids)
    distances = model.encoder.compute_position_bias(states[:1]).detach()
    device = ids.device.type
    precision = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else states.dtype
    bias = (distances + (1 - mask)[:, None, None, :] * _HIDDEN).to(precision)
    run_layer = _compiled_layer() if ids.is_cuda else _layer_states
    after = []
    for layer in model.encoder.layer:
        states = run_layer(layer, states, bias)
        after.append(states)
    return after


@cache
def _compiled_layer() -> Any:
    """One compiled layer serves all layers and all sizes of batches."""
    torch._dynamo.config.cache_size_limit = _COMPILED_VARIANTS
    return torch.compile(_layer_states, dynamic=True)


def _layer_states(layer: Any, states: Tensor, bias: Tensor) -> Tensor:
    attention = layer.attention.attn
    shape = (*states.shape[:2], attention.num_attention_heads, attention.attention_head_size)
    query, key, value = (
        project(states).view(shape).transpose(1, 2) for project in (attention.q, attention.k, attention.v)
    )
    dropped = attention.dropout.p if attention.training else 0.0
    mixed = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=bias, dropout_p=dropped)
    attended = attention.o(mixed.transpose(1, 2).flatten(2))
    states = layer.attention.LayerNorm(layer.attention.dropout(attended) + states)
    return layer.output(layer.intermediate(states), states)


def shrink(
    teacher: EntailmentNetwork, layers: Sequence[int], inner: int, batches: Iterable[tuple[Tensor, Tensor]]
) -> EntailmentNetwork:
    """A copy with only these layers, each with the `inner` neurons that move its output most on batches of pairs.

    What the other neurons did is fitted to those that stay, so that the student starts close to its teacher.
    """
    activities = _activities(teacher, layers, batches)
    student = copy.deepcopy(teacher)
    encoder = student.model.encoder
    encoder.layer = torch.nn.ModuleList([encoder.layer[index] for index in layers])
    student.model.config.num_hidden_layers, student.model.config.intermediate_size = len(layers), inner
    student.taken_from = tuple(layers)
    for layer, (mean, spread) in zip(encoder.layer, activities, strict=True):
        rising, falling = layer.intermediate.dense, layer.output.dense
        weight = falling.weight.detach().double()
        chosen = (spread.diagonal() * weight.square().sum(0)).topk(inner).indices.sort().values
        kept = spread[chosen][:, chosen]
        ridge = _RIDGE * kept.diagonal().mean() * torch.eye(inner, dtype=kept.dtype, device=kept.device)
        fitted = torch.linalg.solve(kept + ridge, spread[chosen] @ weight.T).T
        bias = falling.bias.detach() + weight @ mean - fitted @ mean[chosen]
        layer.intermediate.dense = _linear(rising.weight[chosen], rising.bias[chosen])
        layer.output.dense = _linear(fitted, bias)
    return student


def _activities(
    network: EntailmentNetwork, layers: Sequence[int], batches: Iterable[tuple[Tensor, Tensor]]
) -> list[tuple[Tensor, Tensor]]:
    """Mean and covariance of the inner neurons of these layers, over all tokens of the batches."""
    sums: list[Any] = [0.0] * len(layers)
    products: list[Any] = [0.0] * len(layers)
    seen: dict[int, Tensor] = {}
    inners = [network.model.encoder.layer[index].intermediate for index in layers]
    hooks = [
        inner.register_forward_hook(lambda _, __, output, place=place: seen.__setitem__(place, output))
        for place, inner in enumerate(inners)
    ]
    network.eval()
    count = 0
    with torch.no_grad():
        for ids, mask in batches:
            network.model(input_ids=ids, attention_mask=mask)
            count += int(mask.sum())
            for place, output in seen.items():
                rows = output[mask.bool()].double()
                sums[place], products[place] = sums[place] + rows.sum(0), products[place] + rows.T @ rows
    for hook in hooks:
        hook.remove()
    means = [total / count for total in sums]
    return [(mean, product / count - mean.outer(mean)) for mean, product in zip(means, products, strict=True)]


def shrink_layers(model: Any, layers: Sequence[int], inner: int) -> None:
    """Leave an MPNet that has learned nothing yet only these layers, each with the `inner` neurons that weigh most."""
    encoder = model.encoder
    encoder.layer = torch.nn.ModuleList([encoder.layer[index] for index in layers])
    model.config.num_hidden_layers = len(layers)
    model.config.intermediate_size = inner
    for layer in encoder.layer:
        rising, falling = layer.intermediate.dense, layer.output.dense
        weight = rising.weight.norm(dim=1) * falling.weight.norm(dim=0)
        chosen = weight.topk(inner).indices.sort().values
        layer.intermediate.dense = _linear(rising.weight[chosen], rising.bias[chosen])
        layer.output.dense = _linear(falling.weight[:, chosen], falling.bias)


def _linear(weight: Tensor, bias: Tensor) -> torch.nn.Linear:
    linear = torch.nn.Linear(weight.shape[1], weight.shape[0], device=weight.device)
    with torch.no_grad():
        linear.weight.copy_(weight)
        linear.bias.copy_(bias)
    return linear


class PairEncoder:
    """Tokenizes each text once and joins claims and passages as the model reads them."""

    def __init__(self, tokenizer: Any, longest: int, padding: int) -> None:
        self._tokenizer = type(tokenizer).from_str(tokenizer.to_str())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)
        self.longest, self._padding = longest, padding
        self._ids: dict[str, list[int]] = {}

    def add(self, texts: Sequence[str]) -> None:
        """Tokenize texts that will be needed, on all cores."""
        new = [text for text in dict.fromkeys(texts) if text not in self._ids]
        encodings = self._tokenizer.encode_batch_fast([" ".join(text.split()) for text in new])
        self._ids |= {text: encoding.ids for text, encoding in zip(new, encodings, strict=True)}

    def ids(self, claim: str, passage: str) -> list[int]:
        """The tokens of a pair whose texts were added."""
        return side_by_side(self._ids[claim], self._ids[passage], self.longest)

    def length(self, claim: str, passage: str) -> int:
        """About how many tokens a pair has."""
        return min(self.longest, len(self._ids[claim]) + len(self._ids[passage]))

    def batch(self, rows: Sequence[Sequence[int]], device: Any) -> tuple[Tensor, Tensor]:
        """Rows of tokens as a padded table, and the mask that marks padding."""
        width = -(-max(map(len, rows)) // _BUCKET) * _BUCKET
        ids = np.full((len(rows), width), self._padding, np.int64)
        mask = np.zeros((len(rows), width), np.int64)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = row
            mask[place, : len(row)] = 1
        return _moved(ids, device), _moved(mask, device)


def _moved(table: NDArray[np.int64], device: Any) -> Tensor:
    """A tensor on the device; from pinned memory, so that preparing the next batch need not wait for this one."""
    tensor = torch.from_numpy(table)
    return tensor.pin_memory().to(device, non_blocking=True) if torch.device(device).type == "cuda" else tensor


def train(
    network: EntailmentNetwork,
    encoder: PairEncoder,
    pack: TrainingPack,
    recipe: EntailmentRecipe,
    teacher: EntailmentNetwork | NDArray[np.float32] | None = None,
    tell: Callable[[str], None] = print,
) -> None:
    """Train a network for one stage; unlabelled pairs are learned from the teacher alone.

    A teacher is a network, or what one said of all pairs (`predict`), which is faster but teaches no states.
    """
    torch.manual_seed(recipe.seed)
    device = network.head.weight.device
    decayed = [parameter for parameter in network.parameters() if parameter.ndim > 1]
    undecayed = [parameter for parameter in network.parameters() if parameter.ndim <= 1]
    optimiser = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.01}, {"params": undecayed, "weight_decay": 0.0}],
        lr=recipe.rate,
        fused=device.type == "cuda",
    )
    chance = Random(recipe.seed)
    batches = _draw_pairs(pack.pairs, recipe, encoder, chance, with_unlabelled=teacher is not None)
    lists = _draw_lists(pack.lists, recipe, chance)
    network.train()
    began, losses, step = time.monotonic(), [], 0
    while True:
        done = max(step / recipe.steps, (time.monotonic() - began) / recipe.seconds)
        if done >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate * min(1.0, done / _WARM + 0.01) * max(0.0, 1 - done)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
            indices = next(batches)
            pairs = [pack.pairs[index] for index in indices]
            taught = torch.from_numpy(teacher[indices]) if isinstance(teacher, np.ndarray) else teacher
            loss = _pair_loss(network, taught, encoder, pairs, device)
            if pack.lists and step % _LIST_EVERY == 0:
                loss = loss + _LIST_SHARE * _list_loss(network, encoder, next(lists), device)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), _STEEPEST)
        optimiser.step()
        losses.append(loss.detach())
        step += 1
    network.eval()
    mean = float(torch.stack(losses[-200:]).mean())
    tell(f"{step} steps in {time.monotonic() - began:.0f} s, loss {mean:.4f}")


def _draw_pairs(
    pairs: Sequence[LabelledPair],
    recipe: EntailmentRecipe,
    encoder: PairEncoder,
    chance: Random,
    *,
    with_unlabelled: bool,
) -> Iterator[list[int]]:
    """Batches of indices of pairs of similar length, without end; sources are drawn by their shares."""
    by_source: dict[str, list[int]] = {}
    for index, pair in enumerate(pairs):
        if with_unlabelled or pair.label != UNLABELLED:
            by_source.setdefault(pair.source, []).append(index)
    lengths = [encoder.length(pair.claim, pair.passage) for pair in pairs]
    names = sorted(by_source)
    weights = [recipe.shares.get(name, math.sqrt(len(by_source[name])) / 1000) for name in names]
    while True:
        sources = chance.choices(names, weights, k=recipe.batch * _SORTED_BATCHES)
        drawn = [chance.choice(by_source[source]) for source in sources]
        drawn.sort(key=lengths.__getitem__)
        batches = [drawn[start : start + recipe.batch] for start in range(0, len(drawn), recipe.batch)]
        chance.shuffle(batches)
        yield from batches


def _draw_lists(
    lists: Sequence[SentenceList], recipe: EntailmentRecipe, chance: Random
) -> Iterator[list[tuple[str, list[str]]]]:
    """Batches of a claim with a relevant sentence and some that are not, without end."""
    by_source: dict[str, list[SentenceList]] = {}
    for item in lists:
        if item.relevant and len(item.relevant) < len(item.sentences):
            by_source.setdefault(item.source, []).append(item)
    names = sorted(by_source)
    weights = [recipe.shares.get(f"{name} lists", math.sqrt(len(by_source[name])) / 1000) for name in names]
    while True:
        batch = []
        for source in chance.choices(names, weights, k=recipe.lists * _LIST_EVERY):
            item = chance.choice(by_source[source])
            irrelevant = [index for index in range(len(item.sentences)) if index not in item.relevant]
            chosen = chance.sample(irrelevant, min(len(irrelevant), recipe.list_size - 1))
            indices = [chance.choice(item.relevant), *chosen]
            batch.append((item.claim, [item.sentences[index] for index in indices]))
        yield batch


def _pair_loss(
    network: EntailmentNetwork,
    teacher: EntailmentNetwork | Tensor | None,
    encoder: PairEncoder,
    pairs: Sequence[LabelledPair],
    device: Any,
) -> Tensor:
    """The loss of a batch; the teacher is a network or what one said of each pair."""
    ids, mask = encoder.batch([encoder.ids(pair.claim, pair.passage) for pair in pairs], device)
    outputs, states = network(ids, mask)
    labels = _moved(np.array([pair.label for pair in pairs], np.int64), device)
    logs = outputs[:, 1:].log_softmax(-1)
    targets = torch.nn.functional.one_hot(labels.clamp(min=0), 3) * (1 - _SMOOTHING) + _SMOOTHING / 3
    if teacher is None:
        return -(targets * logs).sum(-1).mean()
    taught_states = None
    if isinstance(teacher, EntailmentNetwork):
        with torch.no_grad():
            taught, taught_states = teacher(ids, mask)
    else:
        taught = teacher.to(device, non_blocking=True)
    judged = taught[:, 1:].softmax(-1)
    share = torch.where(labels == UNLABELLED, 1.0, _TEACHER_SHARE)[:, None]
    loss = -((share * judged + (1 - share) * targets) * logs).sum(-1).mean()
    loss = loss + _RELEVANCE_SHARE * torch.nn.functional.mse_loss(outputs[:, 0], taught[:, 0])
    if taught_states is None:
        return loss
    compared = sorted({max(0, len(states) * part // _COMPARED - 1) for part in range(1, _COMPARED + 1)})
    for place in compared:
        own, other = states[place].float(), taught_states[network.taken_from[place]].float()
        likeness = torch.nn.functional.cosine_similarity(own, other, dim=-1)
        loss = loss + _STATE_SHARE / len(compared) * ((1 - likeness) * mask).sum() / mask.sum()
    return loss


def _list_loss(
    network: EntailmentNetwork, encoder: PairEncoder, lists: Sequence[tuple[str, list[str]]], device: Any
) -> Tensor:
    """Cross-entropy of the first sentence of each list, the relevant one, among all of the list."""
    rows = [encoder.ids(claim, sentence) for claim, sentences in lists for sentence in sentences]
    outputs, _ = network(*encoder.batch(rows, device))
    scores = outputs[:, 0].split([len(sentences) for _, sentences in lists])
    return torch.stack([-row.log_softmax(0)[0] for row in scores]).mean()


def predict(
    network: EntailmentNetwork, encoder: PairEncoder, pairs: Sequence[tuple[str, str]], batch: int = 512
) -> NDArray[np.float32]:
    """The outputs for each claim and passage."""
    network.eval()
    device = network.head.weight.device
    encoder.add([text for pair in pairs for text in pair])
    rows = [encoder.ids(*pair) for pair in pairs]
    order = sorted(range(len(rows)), key=lambda index: len(rows[index]))
    results = np.empty((len(rows), len(OUTPUTS)), np.float32)
    with torch.no_grad(), torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            outputs, _ = network(*encoder.batch([rows[index] for index in chosen], device))
            results[chosen] = outputs.float().cpu().numpy()
    return results
