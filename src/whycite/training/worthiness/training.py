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
from whycite.training.worthiness.batches import Maker, groups
from whycite.training.worthiness.fitting import Fitting, Watch, loaded, precision
from whycite.training.worthiness.network import make, scores
from whycite.training.worthiness.recipe import Recipe
from whycite.training.worthiness.report import Judged, report
from whycite.training.worthiness.texts import Texts, read
from whycite.worthiness.inputs import Frame
from whycite.worthiness.model import LabelledDocument

__all__ = ["Outcome", "frame_of", "judge", "train"]

_CHUNK = 4096  # paragraphs sorted by length together: some sixty batches


@dataclass(frozen=True, slots=True)
class Outcome:
    """What training made: the network with its best weights, scores of the held-out sentences, all figures."""

    network: Any
    dev: Judged
    test: Judged
    report: dict[str, Any]


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
    import torch

    begun = time.monotonic()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(recipe.seed)
    torch.set_float32_matmul_precision("high")
    base = load_base(recipe.base)
    frame = frame_of(base, recipe)
    learned = read(documents, base.tokenizer, recipe.noise, recipe.seed)
    held = [read(part, base.tokenizer, 0, 0) for part in (dev, test)]
    network = make(base.model, recipe).to(device)
    averaged = _averaged(network, recipe)
    watch(f"{len(learned.worthy)} sentences, {learned.worthy.mean():.3f} worthy; {time.monotonic() - begun:.0f} s")
    fit = Fitting(network, averaged, recipe, device, max(deadline - (time.monotonic() - begun), 1e-9), watch)
    best: dict[str, Any] = {}
    epochs: list[dict[str, float]] = []
    for epoch in range(recipe.epochs):
        if time.monotonic() - begun > deadline:
            break
        maker = Maker(
            learned, frame, recipe, groups(learned, recipe, recipe.seed + epoch), _CHUNK, epoch, learning=True
        )
        loss = fit.epoch(maker, epoch, workers)
        judged = judge(averaged or network, held[0], frame, recipe, device, workers)
        threshold, f1 = judged.best()
        epochs.append({"loss": loss, "dev_f1": f1, "threshold": threshold, "seconds": time.monotonic() - begun})
        watch(f"epoch {epoch + 1}: loss {loss:.4f}, dev F1 {f1:.4f} at {threshold:.2f}, {epochs[-1]['seconds']:.0f} s")
        if f1 >= max(each["dev_f1"] for each in epochs):
            best = {name: value.detach().clone() for name, value in (averaged or network).state_dict().items()}
    if not best:
        raise UserError("the deadline came before the first epoch; give more time")
    (averaged or network).load_state_dict(best)
    final = averaged.module if averaged else network
    on_dev, on_test = (judge(final, texts, frame, recipe, device, workers) for texts in held)
    figures = {"recipe": asdict(recipe), "epochs": epochs, **report(on_dev, on_test)}
    figures["test_by_heading"] = {
        form: judge(final, held[1], frame, replace(recipe, heading=form), device, workers).best()[1]
        for form in (("none", "type", "top", "path") if recipe.heading == "any" else ())
    }
    figures["seconds"] = time.monotonic() - begun
    return Outcome(final, on_dev, on_test, figures)


def frame_of(base: Base, recipe: Recipe) -> Frame:
    """The signs that the base's tokenizer puts around a text."""
    first, *_, separator = base.tokenizer.encode("a").ids
    bert = base.config.model_type == "bert"  # the others count places from that of the padding on
    longest = base.config.max_position_embeddings - (0 if bert else base.config.pad_token_id + 1)
    return Frame(first, separator, min(recipe.limit, longest))


def judge(network: Any, texts: Texts, frame: Frame, recipe: Recipe, device: Any, workers: int = 0) -> Judged:
    """The scores of all sentences, each paragraph read for itself."""
    import torch

    network = getattr(network, "module", network)
    network.eval()
    alone = [np.array([at]) for at in range(len(texts.paragraphs) - 1)]
    maker = Maker(texts, frame, recipe, alone, _CHUNK, 0, learning=False)
    found = np.zeros(len(texts.worthy), np.float32)
    made: list[tuple[NDArray[np.int64], Any]] = []
    with torch.inference_mode(), precision(device):
        for chunk in loaded(maker, workers):
            made += [(batch.sentences, scores(network, batch, recipe.readout, device)) for batch in chunk]
    for sentences, values in made:
        found[sentences] = values.cpu().numpy()
    return Judged(found, texts.worthy, texts.by_sentence(texts.kinds), tuple(texts.by_sentence(texts.types)))


def _averaged(network: Any, recipe: Recipe) -> Any:
    if not recipe.average:
        return None
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    return AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(recipe.average))
