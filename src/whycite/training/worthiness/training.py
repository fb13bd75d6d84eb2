"""One training: epochs, held-out F1, the best weights, calibration and the final report."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.training.bases import Base, load_base
from whycite.training.worthiness.batches import Maker, shuffled
from whycite.training.worthiness.fitting import Fitting, Watch, loaded, precision
from whycite.training.worthiness.network import make, scores
from whycite.training.worthiness.recipe import Recipe
from whycite.training.worthiness.report import Judged, report
from whycite.training.worthiness.texts import Texts, read
from whycite.worthiness.calibration import Calibration, fit
from whycite.worthiness.inputs import Frame
from whycite.worthiness.model import LabelledDocument

__all__ = ["Outcome", "Reader", "frame_of", "judge", "learn", "train", "unlearned"]

Numbers = NDArray[np.int64]
_FROM_PADDING = ("roberta", "xlm-roberta", "camembert", "mpnet", "longformer")  # where they count places from


@dataclass(frozen=True, slots=True)
class Reader:
    """A network, and how texts are given to it."""

    network: Any
    frame: Frame
    recipe: Recipe
    workers: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What training made: the network with its best weights, scores of the held-out sentences, all figures."""

    network: Any
    dev: Judged
    test: Judged
    report: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Parts:
    """The numbers of the documents to learn from, to choose by and to measure on."""

    train: Numbers
    dev: Numbers
    test: Numbers


def train(
    documents: Sequence[LabelledDocument],
    dev: Sequence[LabelledDocument],
    test: Sequence[LabelledDocument],
    recipe: Recipe,
    watch: Watch = print,
    workers: int = 0,
    deadline: float = math.inf,
) -> Outcome:
    """Train on documents, keep the weights that do best on dev, measure on test.

    By `deadline`, seconds from the start, it is over whatever it has seen: the rate falls in time.
    """
    begun = time.monotonic()

    def left() -> float:
        return max(deadline - (time.monotonic() - begun), 1e-9)

    every = [*documents, *dev, *test]
    texts = read(every, load_base(recipe.base).tokenizer, recipe.noise, recipe.seed, workers)
    numbers = np.arange(len(every))
    parts = _Parts(*np.split(numbers, np.cumsum([len(documents), len(dev)])))
    watch(f"{len(texts.worthy)} sentences, {texts.worthy.mean():.3f} worthy; {time.monotonic() - begun:.0f} s")
    targets = texts.worthy.astype(np.float32)
    if recipe.folds and recipe.soft:
        theirs = texts
        if recipe.judge:
            theirs = read(every, load_base(recipe.judge).tokenizer, recipe.noise, recipe.seed, workers)
        soft = unlearned(theirs, parts.train, parts.dev, recipe.judging, watch, workers, _share(recipe) * left())
        del theirs  # as large as `texts`
        known = ~np.isnan(soft)
        targets[known] += recipe.soft * (soft - targets)[known]
    made, epochs = learn(texts, targets, parts.train, parts.dev, recipe, watch, workers, left())
    on_dev, on_test = (judge(made, texts, part) for part in (parts.dev, parts.test))
    figures = {"recipe": asdict(recipe), "epochs": epochs, **report(on_dev, on_test)}
    figures["test_by_heading"] = {
        form: judge(replace(made, recipe=replace(recipe, heading=form)), texts, parts.test).best()[1]
        for form in (("none", "type", "top", "path") if recipe.heading == "any" else ())
    }
    figures["seconds"] = time.monotonic() - begun
    return Outcome(made.network, on_dev, on_test, figures)


def _share(recipe: Recipe) -> float:
    """The share of the work that is done by those that judge: by what each learns from, and its size."""

    def size(name: str) -> int:
        return sum(weight.numel() for weight in load_base(name).model.parameters())

    larger = size(recipe.judge) / size(recipe.base) if recipe.judge else 1.0
    work = larger * (recipe.folds - 1) / 2
    return work / (work + 1)


def unlearned(
    texts: Texts,
    documents: Numbers,
    dev: Numbers,
    recipe: Recipe,
    watch: Watch = print,
    workers: int = 0,
    deadline: float = math.inf,
) -> NDArray[np.float32]:
    """How likely each sentence of the documents is worthy, by a model that has not learned from its document."""
    soft = np.full(len(texts.worthy), np.nan, np.float32)
    shorter = replace(recipe, epochs=(recipe.epochs + 1) // 2)
    fold_of = np.arange(len(documents)) % recipe.folds
    for fold in range(recipe.folds):
        watch(f"part {fold + 1} of {recipe.folds}, judged by what the others teach")
        others, own = documents[fold_of != fold], documents[fold_of == fold]
        targets = texts.worthy.astype(np.float32)
        made, _ = learn(texts, targets, others, dev, shorter, watch, workers, deadline / recipe.folds)
        sentences, found = _scores(made, texts, own)
        soft[sentences] = _calibration(judge(made, texts, dev)).probabilities(found)
    return soft


def _calibration(judged: Judged) -> Calibration:
    """What makes scores hold on these sentences, if they tell it: too few may turn scores round."""
    found = fit(judged.scores, judged.worthy) if judged.worthy.any() else Calibration()
    return found if found.scale > 0 else Calibration()


def learn(
    texts: Texts,
    targets: NDArray[np.float32],
    documents: Numbers,
    dev: Numbers,
    recipe: Recipe,
    watch: Watch = print,
    workers: int = 0,
    deadline: float = math.inf,
) -> tuple[Reader, list[dict[str, float]]]:
    """Learn how worthy the sentences of documents are, by `targets`; the weights of the epoch that is best on dev.

    With them comes what was seen after each epoch.
    """
    import torch

    begun = time.monotonic()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(recipe.seed)
    torch.set_float32_matmul_precision("high")
    base = load_base(recipe.base)
    network = make(base.model, recipe).to(device)
    made = Reader(network, frame_of(base, recipe), recipe, workers)
    fitting = Fitting(network, recipe, targets, device, deadline, watch)
    best: dict[str, Any] = {}
    epochs: list[dict[str, float]] = []
    for epoch in range(recipe.epochs):
        if time.monotonic() - begun > deadline:
            break
        order = shuffled(texts, documents, recipe, epoch)
        loss = fitting.epoch(Maker(texts, made.frame, recipe, order, epoch, learning=True), epoch, workers)
        threshold, f1 = judge(made, texts, dev).best()
        epochs.append({"loss": loss, "dev_f1": f1, "threshold": threshold, "seconds": time.monotonic() - begun})
        watch(f"epoch {epoch + 1}: loss {loss:.4f}, dev F1 {f1:.4f} at {threshold:.2f}, {epochs[-1]['seconds']:.0f} s")
        if f1 >= max(each["dev_f1"] for each in epochs):
            best = {name: value.detach().clone() for name, value in network.state_dict().items()}
    if not best:
        raise UserError("the deadline came before the first epoch; give more time")
    network.load_state_dict(best)
    return made, epochs


def frame_of(base: Base, recipe: Recipe) -> Frame:
    """The signs that the base's tokenizer puts around a text."""
    config, signs = base.config, base.tokenizer.encode("a").ids
    longest = getattr(config, "max_position_embeddings", None)
    if longest is None or len(signs) < 3:
        raise UserError(f"'{base.name}' does not read between two signs up to a length: name a BERT or RoBERTa")
    if config.model_type in _FROM_PADDING:
        longest -= config.pad_token_id + 1
    return Frame(signs[0], signs[-1], min(recipe.limit, longest))


def judge(reader: Reader, texts: Texts, documents: Numbers) -> Judged:
    """The scores of all sentences of documents."""
    own, found = _scores(reader, texts, documents)
    kinds, types = texts.by_sentence(texts.kinds)[own], texts.by_sentence(texts.types)[own]
    return Judged(found, texts.worthy[own], kinds, tuple(types))


def _scores(reader: Reader, texts: Texts, documents: Numbers) -> tuple[Numbers, NDArray[np.float32]]:
    """The sentences of documents, in order, and the score of each."""
    import torch

    network = reader.network.eval()
    device = next(network.parameters()).device
    inside = np.flatnonzero(np.isin(texts.documents, documents))
    maker = Maker(texts, reader.frame, reader.recipe, inside, 0, learning=False)
    made, sentences = [], [np.zeros(0, np.int64)]
    with torch.inference_mode(), precision(device):
        for batch in loaded(maker, reader.workers):
            made.append(scores(network, batch, reader.recipe.readout, reader.frame.limit, device)[0])
            sentences.append(batch.sentences)
    return np.concatenate(sentences), torch.cat(made).cpu().numpy() if made else np.zeros(0, np.float32)
