"""Train one model: optimiser and loss, epochs, held-out F1, the best weights, calibration and the final report."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.check.calibration import Calibration, fit_calibration
from whycite.check.detector import SequenceFrame
from whycite.check.paragraphs import LabelledDocument
from whycite.errors import UserError
from whycite.lab.scope.worthinessmeasures import KINDS, best_threshold, measure, reliability, thresholds_by_type
from whycite.lab.train.bases import Base, load_base
from whycite.lab.train.entailment import shrink_layers
from whycite.lab.train.worthiness import WorthinessRecipe
from whycite.lab.train.worthiness.batches import (
    PLACE,
    UNKNOWN,
    TokenTexts,
    WorthinessBatch,
    WorthinessBatches,
    shuffled_paragraphs,
    tokenize_documents,
)
from whycite.lab.train.worthiness.network import NetworkOutputs, build_network, judge_sentences, scores

__all__ = [
    "Guidance",
    "JudgedSentences",
    "Watch",
    "WorthinessOptimiser",
    "WorthinessOutcome",
    "WorthinessReader",
    "frame_of",
    "judge",
    "judge_out_of_fold",
    "learn",
    "load_batches",
    "precision",
    "report",
    "score_sentences",
    "train",
]


@dataclass(frozen=True, slots=True)
class JudgedSentences:
    """Sentences with scores, labels, the kinds of their paragraphs, and the types of their sections."""

    scores: NDArray[np.float32]
    worthy: NDArray[np.bool_]
    kinds: NDArray[np.object_]
    types: tuple[str | None, ...]

    def best(self, calibration: Calibration | None = None) -> tuple[float, float]:
        """The best threshold on these same sentences, and its F1."""
        probabilities = (calibration or Calibration()).probabilities(self.scores)
        threshold = best_threshold(self.worthy, probabilities)
        return threshold, measure(self.worthy, probabilities >= threshold).f1


def report(dev: JudgedSentences, test: JudgedSentences) -> dict[str, Any]:
    """Fit calibration and thresholds on dev, and evaluate them on test."""
    calibration = fit_calibration(dev.scores, dev.worthy)
    on_dev, on_test = calibration.probabilities(dev.scores), calibration.probabilities(test.scores)
    thresholds = thresholds_by_type(dev.worthy, on_dev, dev.types)
    threshold = thresholds[""]
    sentence_thresholds = np.array([thresholds.get(type or "", threshold) for type in test.types])
    rows = {"all": np.full(len(test.worthy), True)} | {name: test.kinds == index for index, name in enumerate(KINDS)}
    bins = reliability(test.worthy, on_test)
    return {
        "calibration": asdict(calibration),
        "thresholds": thresholds,
        "dev": asdict(measure(dev.worthy, on_dev >= threshold)),
        "test": {
            name: {
                "sentences": int(mask.sum()),
                "share": float(test.worthy[mask].mean()) if mask.any() else 0.0,
                **asdict(measure(test.worthy[mask], on_test[mask] >= threshold)),
            }
            for name, mask in rows.items()
        },
        "test_by_type": asdict(measure(test.worthy, on_test >= sentence_thresholds)),
        "test_best": test.best(calibration),
        "reliability": [asdict(interval) for interval in bins],
        "calibration_error": sum(interval.number * abs(interval.expected - interval.worthy) for interval in bins)
        / len(test.worthy),
    }


Watch = Callable[[str], None]
"""Called with short progress messages."""

_CLIP = 1.0
_READER_LABELS = (1, 2)  # a network has an output for at least each of these, next to that for what authors cite
_TAUGHT_LABELS = 0.4  # weight of the teacher's judgement by these outputs
_LIKE_UNTIL = 0.7  # share of training in which the states of a student become like those of its teacher
_REPORT_INTERVAL = 20.0  # seconds between progress messages


@dataclass(frozen=True, slots=True)
class Guidance:
    """What a network learns from besides the targets: a reader's labels, -1 for none, and a larger network."""

    reader: NDArray[np.int8] | None = None
    teacher: Any = None

    @property
    def outputs(self) -> int:
        """The number of outputs that a network needs."""
        return 1 if self.reader is None else 1 + len(_READER_LABELS)


class WorthinessOptimiser:
    """Optimiser and schedule over all epochs; `targets` are the target probabilities of sentences, nan if not known."""

    def __init__(
        self,
        network: Any,
        recipe: WorthinessRecipe,
        targets: NDArray[np.float32],
        device: Any,
        deadline: float,
        watch: Watch,
        guidance: Guidance | None = None,
    ) -> None:
        import torch

        self._network, self._recipe, self._targets = network, recipe, targets
        self._guidance, self._progress = guidance or Guidance(), 0.0
        self._device, self._watch = device, watch
        self._start_time, self._deadline = time.monotonic(), deadline
        learning = list(network.parameters())
        plain = [weight for weight in learning if weight.ndim < 2]
        full = [weight for weight in learning if weight.ndim >= 2]
        self._optimizer = torch.optim.AdamW(
            [{"params": full, "weight_decay": recipe.decay}, {"params": plain, "weight_decay": 0.0}],
            lr=recipe.rate,
            fused=device.type == "cuda",
        )

    def advance(self, progress: float, steps: int) -> bool:
        """Set the rate (a linear rise, then a linear fall) at this share of the steps; return whether they are over."""
        self._progress = progress = max(progress, (time.monotonic() - self._start_time) / self._deadline)
        warm = self._recipe.warm_up_steps / steps if self._recipe.warm_up_steps else self._recipe.warm_up
        falling = max(1 - progress, 0) / (1 - warm) if warm < 1 else 1.0
        for group in self._optimizer.param_groups:
            group["lr"] = self._recipe.rate * min(progress / warm, falling)
        return progress >= 1

    @property
    def rate(self) -> float:
        """The learning rate of the next step."""
        return float(self._optimizer.param_groups[0]["lr"])

    def epoch(self, maker: WorthinessBatches, epoch: int, workers: int) -> float:
        """Train on every paragraph once, or until time is up; return the mean loss."""
        import torch

        self._network.train()
        total, number = torch.zeros((), device=self._device), 0
        last_report = time.monotonic()
        for step, batch in enumerate(load_batches(maker, workers)):
            if self.advance((epoch + step / len(maker)) / self._recipe.epochs, len(maker) * self._recipe.epochs):
                break
            total += self._step(batch, maker.frame.limit)
            number += 1
            if time.monotonic() - last_report > _REPORT_INTERVAL:
                last_report = time.monotonic()
                self._watch(f"  epoch {epoch + (step + 1) / len(maker):.2f}, loss {float(total) / number:.4f}")
        return float(total) / max(number, 1)

    def _step(self, batch: WorthinessBatch, limit: int) -> Any:
        import torch
        from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

        device, recipe, guidance = self._device, self._recipe, self._guidance
        with precision(device):
            outputs = judge_sentences(self._network, batch, recipe.readout, limit, device)
        labels = torch.from_numpy(self._targets[batch.sentences]).to(device)
        is_known = ~labels.isnan()
        labels = labels.nan_to_num()
        taught = self._taught(batch, limit)
        if taught is not None:
            judged = taught.sentences.sigmoid()
            labels = torch.where(is_known, labels + recipe.soft * (judged[:, 0] - labels), judged[:, 0])
            is_known = torch.ones_like(is_known)
        losses = cross_entropy(outputs.sentences[:, 0], labels, reduction="none")
        main = (losses * is_known).sum() / is_known.sum().clamp(min=1)
        loss = main + recipe.marks * _place_loss(outputs.marks, torch.from_numpy(batch.marks).to(device))
        if guidance.reader is not None:
            reader_labels = torch.from_numpy(guidance.reader[batch.sentences]).to(device)
            loss = loss + recipe.reader * _reader_loss(outputs.sentences, reader_labels)
        if taught is not None:
            if guidance.reader is not None:
                loss = loss + _TAUGHT_LABELS * cross_entropy(outputs.sentences[:, 1:], judged[:, 1:])
            share = recipe.likeness * max(0.0, 1 - self._progress / _LIKE_UNTIL)
            likeness = torch.nn.functional.cosine_similarity(outputs.states.float(), taught.states.float(), dim=-1)
            loss = loss + share * (1 - likeness).mean()
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), _CLIP)
        self._optimizer.step()
        return main.detach()

    def _taught(self, batch: WorthinessBatch, limit: int) -> NetworkOutputs | None:
        """What the teacher says of a batch, if there is one."""
        import torch

        if self._guidance.teacher is None:
            return None
        with torch.no_grad(), precision(self._device):
            return judge_sentences(self._guidance.teacher, batch, self._recipe.readout, limit, self._device)


def _reader_loss(outputs: Any, labels: Any) -> Any:
    """Cross-entropy by whether a label is at least as high as that of each output; 0 without labels."""
    import torch

    is_labelled = labels >= 0
    wanted = torch.stack([labels >= least for least in _READER_LABELS], 1).float()
    losses = torch.nn.functional.binary_cross_entropy_with_logits(outputs[:, 1:], wanted, reduction="none").mean(1)
    return (losses * is_labelled).sum() / is_labelled.sum().clamp(min=1)


def _place_loss(scores: Any, marks: Any) -> Any:
    """Cross-entropy over tokens known to be followed by citations or not, per token that was."""
    import torch

    is_known = marks != UNKNOWN
    losses = torch.nn.functional.binary_cross_entropy_with_logits(scores, (marks == PLACE).float(), reduction="none")
    return (losses * is_known).sum() / (marks == PLACE).sum().clamp(min=1)


def precision(device: Any) -> Any:
    """16-bit precision where the device supports it."""
    import torch

    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda")


def load_batches(maker: WorthinessBatches, workers: int) -> Any:
    """Load the batches of a maker, in worker processes if any."""
    from torch.utils.data import DataLoader

    return DataLoader(maker, batch_size=None, num_workers=workers, collate_fn=_identity)


def _identity(batch: Any) -> Any:
    return batch


Numbers = NDArray[np.int64]
_FROM_PADDING = ("roberta", "xlm-roberta", "camembert", "mpnet", "longformer")  # position ids start after the padding's


@dataclass(frozen=True, slots=True)
class WorthinessReader:
    """A network and how it is given texts."""

    network: Any
    frame: SequenceFrame
    recipe: WorthinessRecipe
    workers: int = 0


@dataclass(frozen=True, slots=True)
class WorthinessOutcome:
    """The result of training: the network with its best weights, scores of held-out sentences, and all figures."""

    network: Any
    dev: JudgedSentences
    test: JudgedSentences
    report: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _DocumentParts:
    """The numbers of the documents in train, dev and test."""

    train: Numbers
    dev: Numbers
    test: Numbers


def train(
    documents: Sequence[LabelledDocument],
    dev: Sequence[LabelledDocument],
    test: Sequence[LabelledDocument],
    recipe: WorthinessRecipe,
    watch: Watch = print,
    workers: int = 0,
    deadline: float = math.inf,
    judged: Sequence[LabelledDocument] = (),
    base: Base | None = None,
) -> WorthinessOutcome:
    """Train on documents, keep the weights that do best on dev, evaluate on test.

    Training ends by `deadline`, in seconds from the start, whatever it has seen; the rate falls in time. From `judged`,
    documents with a reader's labels, only these are learned. `base` is that of the recipe unless given.
    """
    start_time = time.monotonic()

    def time_left() -> float:
        return max(deadline - (time.monotonic() - start_time), 1e-9)

    every = [*documents, *dev, *test, *judged]
    tokenizer = (base or load_base(recipe.base)).tokenizer
    texts = tokenize_documents(every, tokenizer, recipe.noise, recipe.seed, workers)
    numbers = np.arange(len(every))
    ends = np.cumsum([len(documents), len(dev), len(test)])
    *split, judged_numbers = np.split(numbers, ends)
    parts = _DocumentParts(*split)
    watch(f"{len(texts.worthy)} sentences, {texts.worthy.mean():.3f} worthy; {time.monotonic() - start_time:.0f} s")
    targets = texts.worthy.astype(np.float32)
    targets[texts.by_sentence(texts.documents >= ends[-1])] = np.nan
    learned = np.concatenate([parts.train, judged_numbers])
    reader_labels = texts.reader if judged else None
    if recipe.inner:
        larger = replace(recipe, rate=recipe.judge_rate)
        guidance = Guidance(reader_labels)
        reader, _ = learn(
            texts,
            targets,
            learned,
            parts.dev,
            larger,
            watch,
            workers,
            time_left() / 2,
            guidance=guidance,
            base=base,
        )
        watch(f"a smaller network with an inner width of {recipe.inner}")
        guidance = Guidance(reader_labels, reader.network.eval())
    else:
        guidance = Guidance(reader_labels)
        targets = _softened(targets, texts, every, parts, recipe, watch, workers, time_left)
    reader, epochs = learn(
        texts, targets, learned, parts.dev, recipe, watch, workers, time_left(), guidance=guidance, base=base
    )
    on_dev, on_test = (judge(reader, texts, part) for part in (parts.dev, parts.test))
    figures = {"recipe": asdict(recipe), "epochs": epochs, **report(on_dev, on_test)}
    figures["test_by_heading"] = {
        form: judge(replace(reader, recipe=replace(recipe, heading=form)), texts, parts.test).best()[1]
        for form in (("none", "type", "top", "path") if recipe.heading == "any" else ())
    }
    figures["seconds"] = time.monotonic() - start_time
    return WorthinessOutcome(reader.network, on_dev, on_test, figures)


def _softened(
    targets: NDArray[np.float32],
    texts: TokenTexts,
    every: Sequence[LabelledDocument],
    parts: _DocumentParts,
    recipe: WorthinessRecipe,
    watch: Watch,
    workers: int,
    time_left: Callable[[], float],
) -> NDArray[np.float32]:
    """The targets, a share of them the judgement of models that have not learned from the document."""
    if not (recipe.folds and recipe.soft):
        return targets
    judge_texts = texts
    if recipe.judge:
        judge_texts = tokenize_documents(every, load_base(recipe.judge).tokenizer, recipe.noise, recipe.seed, workers)
    soft = judge_out_of_fold(
        judge_texts, parts.train, parts.dev, recipe.judging, watch, workers, _share(recipe) * time_left()
    )
    is_judged = ~np.isnan(soft)
    targets[is_judged] += recipe.soft * (soft - targets)[is_judged]
    return targets


def _share(recipe: WorthinessRecipe) -> float:
    """The share of the work done by the judging models, from their training data and size."""

    def size(name: str) -> int:
        return sum(weight.numel() for weight in load_base(name).model.parameters())

    larger = size(recipe.judge) / size(recipe.base) if recipe.judge else 1.0
    work = larger * (recipe.folds - 1) / 2
    return work / (work + 1)


def judge_out_of_fold(
    texts: TokenTexts,
    documents: Numbers,
    dev: Numbers,
    recipe: WorthinessRecipe,
    watch: Watch = print,
    workers: int = 0,
    deadline: float = math.inf,
) -> NDArray[np.float32]:
    """The probability that each sentence is worthy, by a model not trained on its document."""
    soft = np.full(len(texts.worthy), np.nan, np.float32)
    shorter = replace(recipe, epochs=(recipe.epochs + 1) // 2)
    fold_of = np.arange(len(documents)) % recipe.folds
    for fold in range(recipe.folds):
        watch(f"fold {fold + 1} of {recipe.folds}: soft labels from the other folds")
        learning_documents, fold_documents = documents[fold_of != fold], documents[fold_of == fold]
        targets = texts.worthy.astype(np.float32)
        reader, _ = learn(texts, targets, learning_documents, dev, shorter, watch, workers, deadline / recipe.folds)
        sentences, fold_scores = score_sentences(reader, texts, fold_documents)
        soft[sentences] = _calibration(judge(reader, texts, dev)).probabilities(fold_scores)
    return soft


def _calibration(judged: JudgedSentences) -> Calibration:
    """Fit a calibration on these sentences; use the default if too few of them would invert the scores."""
    calibration = fit_calibration(judged.scores, judged.worthy) if judged.worthy.any() else Calibration()
    return calibration if calibration.scale > 0 else Calibration()


def learn(
    texts: TokenTexts,
    targets: NDArray[np.float32],
    documents: Numbers,
    dev: Numbers,
    recipe: WorthinessRecipe,
    watch: Watch = print,
    workers: int = 0,
    deadline: float = math.inf,
    guidance: Guidance | None = None,
    base: Base | None = None,
) -> tuple[WorthinessReader, list[dict[str, float]]]:
    """Train on documents with `targets`; return the weights of the epoch that is best on dev.

    Also return the figures of each epoch. With a teacher, the network starts as a smaller copy of it.
    """
    import torch

    start_time = time.monotonic()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(recipe.seed)
    torch.set_float32_matmul_precision("high")
    base, guidance = base or load_base(recipe.base), guidance or Guidance()
    if guidance.teacher is None:
        network = build_network(base.model, recipe, guidance.outputs).to(device)
    else:
        network = copy.deepcopy(guidance.teacher)
        depth = len(network["backbone"].encoder.layer)
        kept = np.linspace(0, depth - 1, recipe.layers or depth).round().astype(int)
        shrink_layers(network["backbone"], kept.tolist(), recipe.inner)
    reader = WorthinessReader(network, frame_of(base, recipe), recipe, workers)
    fitting = WorthinessOptimiser(network, recipe, targets, device, deadline, watch, guidance)
    best: dict[str, Any] = {}
    epochs: list[dict[str, float]] = []
    for epoch in range(recipe.epochs):
        if time.monotonic() - start_time > deadline:
            break
        order = shuffled_paragraphs(texts, documents, recipe, epoch)
        loss = fitting.epoch(
            WorthinessBatches(texts, reader.frame, recipe, order, epoch, learning=True), epoch, workers
        )
        threshold, f1 = judge(reader, texts, dev).best()
        epochs.append({"loss": loss, "dev_f1": f1, "threshold": threshold, "seconds": time.monotonic() - start_time})
        watch(f"epoch {epoch + 1}: loss {loss:.4f}, dev F1 {f1:.4f} at {threshold:.2f}, {epochs[-1]['seconds']:.0f} s")
        if f1 >= max(row["dev_f1"] for row in epochs):
            best = {name: value.detach().clone() for name, value in network.state_dict().items()}
    if not best:
        raise UserError("the deadline passed before the end of the first epoch; raise --deadline")
    network.load_state_dict(best)
    return reader, epochs


def frame_of(base: Base, recipe: WorthinessRecipe) -> SequenceFrame:
    """The special tokens that the base's tokenizer puts around a text."""
    config, signs = base.config, base.tokenizer.encode("a").ids
    longest = getattr(config, "max_position_embeddings", None)
    if longest is None or len(signs) < 3:
        raise UserError(f"'{base.name}' is not supported; use a BERT or RoBERTa model")
    if config.model_type in _FROM_PADDING:
        longest -= config.pad_token_id + 1
    return SequenceFrame(signs[0], signs[-1], min(recipe.limit, longest))


def judge(reader: WorthinessReader, texts: TokenTexts, documents: Numbers) -> JudgedSentences:
    """Score all sentences of documents."""
    sentences, sentence_scores = score_sentences(reader, texts, documents)
    kinds, types = texts.by_sentence(texts.kinds)[sentences], texts.by_sentence(texts.types)[sentences]
    return JudgedSentences(sentence_scores, texts.worthy[sentences], kinds, tuple(types))


def score_sentences(
    reader: WorthinessReader, texts: TokenTexts, documents: Numbers
) -> tuple[Numbers, NDArray[np.float32]]:
    """The sentences of documents, in order, and their scores."""
    import torch

    network = reader.network.eval()
    device = next(network.parameters()).device
    paragraphs = np.flatnonzero(np.isin(texts.documents, documents))
    maker = WorthinessBatches(texts, reader.frame, reader.recipe, paragraphs, 0, learning=False)
    batch_scores, sentences = [], [np.zeros(0, np.int64)]
    with torch.inference_mode(), precision(device):
        for batch in load_batches(maker, reader.workers):
            batch_scores.append(scores(network, batch, reader.recipe.readout, reader.frame.limit, device)[0])
            sentences.append(batch.sentences)
    return np.concatenate(sentences), torch.cat(batch_scores).cpu().numpy() if batch_scores else np.zeros(0, np.float32)
