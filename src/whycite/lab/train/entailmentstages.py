"""Make an entailment model: a shorter vocabulary, the stages of its training, and the card."""

from __future__ import annotations

import copy
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.files import make_folder
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.train.bases import load_base
from whycite.lab.train.contrasts import CONTRAST_KINDS
from whycite.lab.train.entailment import (
    EntailmentNetwork,
    EntailmentRecipe,
    LabelledPair,
    PairEncoder,
    TrainingPack,
    predict,
    shrink,
    train,
)
from whycite.lab.train.entailmentpack import EntailmentData, fold_numbers, load_data, load_marked
from whycite.lab.train.export import PACKED_BITS, export_judgements, write_card
from whycite.lab.train.verifyexamples import prepare
from whycite.models import load_encoder
from whycite.models.cache import CachedEncoder
from whycite.models.folders import MODEL
from whycite.models.pairs import OnnxEntailment
from whycite.verify.features import shipped_weights

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["EntailmentPlan", "build_entailment_model", "shorten_vocabulary"]

Tell = Callable[[str], None]


def shorten_vocabulary(model: Any, tokenizer: Tokenizer, texts: Sequence[str], words: int) -> Tokenizer:
    """A tokenizer with only the `words` pieces that occur most often in texts; the model's table is cut in place.

    Special tokens stay, and single characters that occur, so that no word becomes unknown.
    """
    content = json.loads(tokenizer.to_str())
    pieces = content["model"]["vocab"]
    if content["model"]["type"] not in ("WordPiece", "WordLevel"):
        raise UserError(f"cannot shorten the vocabulary of a {content['model']['type']} tokenizer, only of WordPiece")
    numbers = tokenizer.get_vocab(with_added_tokens=True)
    if words >= len(numbers):
        return tokenizer
    counts = Counter(
        number for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False) for number in encoding.ids
    )
    processor, padding = content["post_processor"] or {}, int(model.config.pad_token_id)
    special = {content["model"]["unk_token"], *(token["content"] for token in content["added_tokens"])}
    special |= {processor[end][0] for end in ("sep", "cls") if end in processor}
    special |= {*processor.get("special_tokens", ())}
    chosen = {number for piece, number in numbers.items() if piece in special or number <= padding}
    chosen |= {number for piece, number in numbers.items() if len(piece.removeprefix("##")) == 1 and counts[number]}
    common = sorted(counts.keys() - chosen, key=lambda number: (-counts[number], number))
    # By their old numbers: that of the padding, which positions are counted from, stays.
    order = sorted(chosen | {*common[: max(0, words - len(chosen))]})
    new = {number: place for place, number in enumerate(order)}
    content["model"]["vocab"] = {piece: new[number] for piece, number in pieces.items() if number in new}
    for token in content["added_tokens"]:
        token["id"] = new[token["id"]]
    for end in ("sep", "cls"):
        if end in processor:
            processor[end][1] = new[processor[end][1]]
    for token in processor.get("special_tokens", {}).values():
        token["ids"] = [new[number] for number in token["ids"]]
    table = model.get_input_embeddings().weight.detach()[order].clone()
    model.set_input_embeddings(torch.nn.Embedding.from_pretrained(table, freeze=False, padding_idx=padding))
    model.config.vocab_size = len(order)
    return type(tokenizer).from_str(json.dumps(content))


@dataclass(frozen=True, slots=True)
class _Stage:
    """A stage of training; `shares` say how often pairs and lists of a source are drawn."""

    name: str
    steps: int  # of the recipe; `EntailmentPlan.steps` scales them
    rate: float
    batch: int
    lists: int
    list_size: int
    shares: Mapping[str, float]
    seed: int = 0


def _contrast_shares(total: float) -> dict[str, float]:
    """All kinds of contrast alike, or the commonest would crowd out the others."""
    return {f"contrast {kind}": total / len(CONTRAST_KINDS) for kind in CONTRAST_KINDS}


# General knowledge teaches what a contradiction is; written claims are what the model is for.
_BROAD = {
    "fever": 0.08, "breaking-nli": 0.04, "evidence-inference": 0.08, "healthver": 0.04, "covidfact": 0.03,
    "climate-fever": 0.04, "nli4ct": 0.03, "wice": 0.01, "wice-partial": 0.01, "citint": 0.05, "citint whole": 0.06,
    "swapped": 0.03, "written": 0.12, "written together": 0.12, "written abstract": 0.07, "written lists": 0.5,
    "citing": 0.10, "citing together": 0.16, "citing abstract": 0.03, "citing lists": 0.5, "passage": 0.10,
    "passage together": 0.10, "clscisumm-automatic lists": 0.3, "scifact lists": 0.3, "clscisumm lists": 0.5,
    **_contrast_shares(0.18),
}  # fmt: skip
# Then science alone.
_SCIENCE = _BROAD | {
    "fever": 0.01, "breaking-nli": 0.01, "climate-fever": 0.03, "written": 0.16, "written together": 0.16,
    "written abstract": 0.1,
}  # fmt: skip
# Almost half without labels: a student learns to judge as its teacher from what `verify` will read.
_TAUGHT = _SCIENCE | {
    "cited": 0.03, "abstract": 0.25, "written near": 0.2, "altered": 0.12, "citing near": 0.13,
    "passage near": 0.06, "whole abstract": 0.12,
}  # fmt: skip
# What people marked is little and precise: often, but last, so that it is not learned by heart.
_MARKED = _TAUGHT | {
    "scifact": 0.25, "scifact whole": 0.25, "citint": 0.08, "citint whole": 0.12, "clscisumm lists": 1.2,
    "scifact lists": 0.6,
}  # fmt: skip
_TEACHER = (
    _Stage("teacher", 1494, 5e-5, 256, 8, 10, _BROAD),
    _Stage("teacher on science", 362, 2e-5, 256, 8, 10, _SCIENCE, 1),
)
_STUDENT_STATES = _Stage("student beside the teacher", 232, 2e-4, 512, 10, 10, _TAUGHT)
_STUDENT = _Stage("student", 2949, 2e-4, 512, 10, 10, _TAUGHT, 1)
_STUDENT_MARKED = _Stage("student with marked claims", 38, 7e-5, 384, 16, 12, _MARKED, 10)
_STAGES = (*_TEACHER, _STUDENT_STATES, _STUDENT, _STUDENT_MARKED)
# What a teacher would say of a marked claim that is sure of its label: the logit of the label and of the others.
_MARKED_LOGITS = (2.5, -1.0)
_CUT_PAIRS = 12_288  # by which the student's neurons are chosen
_LONGEST = 320  # tokens of a pair: an abstract and a claim
_LEAST_CORRELATION = 0.95
_PARITY_SAMPLE = 200  # pairs for comparing the export
_RECORDED = "recorded.json"
_DESCRIPTION = (
    "An entailment model: a claim and a passage side by side, four numbers. The first says how relevant the passage "
    "is to the claim; the others are the logits of `supports`, `contradicts` and `neither`."
)


@dataclass(frozen=True, slots=True)
class EntailmentPlan:
    """The size of the model, and how long it is trained."""

    words: int = 13_000
    layers: int = 12
    inner: int = 1024
    steps: int = sum(stage.steps for stage in _STAGES)
    deadline: float = math.inf  # seconds of training, which ends with whichever comes first
    folds: int = 5
    seed: int = 0
    bits: int = 8  # of the weights that are written, or 4


def build_entailment_model(
    data: Path,
    written: Sequence[Path],
    base_name: str,
    out: Path,
    plan: EntailmentPlan,
    tell: Tell,
    progress: Callable[[], AbstractContextManager[Callable[[int], None]]],
) -> None:
    """Train an entailment model from an MPNet into the folder `out`; nothing is written there before the end."""
    if (make_folder(out) / MODEL).exists():
        raise UserError(f"{out} already contains a model; choose another --out, or delete it")
    base = load_base(base_name)
    _check_plan(base_name, base.config, plan)
    marked = load_marked(data)
    folds = fold_numbers(marked, plan.folds)
    with progress() as watch:
        loaded = load_data(data, written, marked, folds, tell, plan.seed, watch)
    tokenizer = shorten_vocabulary(base.model, base.tokenizer, loaded.texts, plan.words)
    padding = int(base.config.pad_token_id)
    longest = min(_LONGEST, base.config.max_position_embeddings - padding - 1)
    encoder = PairEncoder(tokenizer, longest, padding)
    encoder.add(loaded.texts)
    trainer = _Trainer(loaded, encoder, plan if marked else replace(plan, folds=0), tell)
    network, recorded = trainer.train_all(base.model, marked, folds)
    network.cpu()
    with TemporaryDirectory(dir=out) as temporary:
        new = Path(temporary)
        export_judgements(network, tokenizer, new, name=out.resolve().name, max_tokens=longest, bits=plan.bits)
        parity = _parity(network, encoder, new, Random(plan.seed).sample(loaded.pack.pairs, _PARITY_SAMPLE))
        if recorded:
            (new / _RECORDED).write_text(json.dumps(recorded), encoding="utf-8")
        introduction = (
            f"Share of {len(loaded.unlearned):,} pairs judged right, of written claims about articles that nothing was "
            "learned from, after each stage:"
        )
        facts = _facts(loaded.pack)
        write_card(new, out, _DESCRIPTION, base_name, facts, asdict(plan), introduction, [trainer.measured], parity)
        for file in sorted(new.iterdir()):
            file.replace(out / file.name)
    tell(f"saved to {out}: " + ", ".join(f"{name} {value:.4f}" for name, value in parity.items()))


def _check_plan(name: str, config: Any, plan: EntailmentPlan) -> None:
    if config.model_type != "mpnet":
        raise UserError(f"{name} is a '{config.model_type}' model; an entailment model is made from MPNet")
    for option, wanted, most in (
        ("--layers", plan.layers, config.num_hidden_layers),
        ("--inner", plan.inner, config.intermediate_size),
    ):
        if wanted > most:
            raise UserError(f"{option} {wanted}: {name} has only {most}")
    if plan.bits not in (8, PACKED_BITS):
        raise UserError(f"--bits {plan.bits}: weights have 8 bits or {PACKED_BITS}")
    if plan.folds == 1:
        raise UserError("--folds 1: use 0 for none, or at least 2")


class _Trainer:
    """Runs the stages, each with its part of steps and time, and measures after each."""

    def __init__(self, data: EntailmentData, encoder: PairEncoder, plan: EntailmentPlan, tell: Tell) -> None:
        self._data, self._encoder, self._plan, self._tell = data, encoder, plan, tell
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._ends = time.monotonic() + plan.deadline
        self._steps_left = sum(stage.steps for stage in _STAGES) + plan.folds * _STUDENT_MARKED.steps
        self.measured: dict[str, float] = {}

    def train_all(
        self, model: Any, marked: Sequence[PassageCase], folds: Mapping[str, int]
    ) -> tuple[EntailmentNetwork, dict[str, Any]]:
        """The trained model, and judgements of marked claims by models that did not learn from their fold."""
        torch.manual_seed(self._plan.seed)
        pack = self._data.pack
        unmarked = pack.without_fold(None)
        teacher = EntailmentNetwork(model).to(self._device)
        for stage in _TEACHER:
            self._train(teacher, stage, unmarked)
        chosen = np.linspace(0, len(model.encoder.layer) - 1, self._plan.layers).round().astype(int)
        student = shrink(teacher, chosen.tolist(), self._plan.inner, self._examples(unmarked)).to(self._device)
        self._train(student, _STUDENT_STATES, unmarked, teacher)
        judged = predict(teacher, self._encoder, [(pair.claim, pair.passage) for pair in pack.pairs])
        self._train(student, _STUDENT, unmarked, judged[pack.allowed_pairs(None)])
        for row, pair in zip(judged, pack.pairs, strict=True):
            if pair.fold >= 0:
                row[1:] = _MARKED_LOGITS[1]
                row[1 + pair.label] = _MARKED_LOGITS[0]
        recorded: dict[str, Any] = {}
        for fold in range(self._plan.folds):
            partial = copy.deepcopy(student)
            judgements = judged[pack.allowed_pairs(fold)]
            self._train(partial, _STUDENT_MARKED, pack.without_fold(fold), judgements, f" without fold {fold + 1}")
            recorded |= self._record(partial, [case for case in marked if folds[case.id] == fold])
        self._train(student, _STUDENT_MARKED, pack, judged)
        return student, recorded

    def _examples(self, pack: TrainingPack) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Batches of some of the pairs."""
        chosen = Random(self._plan.seed).sample(pack.pairs, min(_CUT_PAIRS, len(pack.pairs)))
        rows = [self._encoder.ids(pair.claim, pair.passage) for pair in chosen]
        rows.sort(key=len)
        for start in range(0, len(rows), _STUDENT.batch):
            yield self._encoder.batch(rows[start : start + _STUDENT.batch], self._device)

    def _train(
        self,
        network: EntailmentNetwork,
        stage: _Stage,
        pack: TrainingPack,
        teacher: EntailmentNetwork | NDArray[np.float32] | None = None,
        name: str = "",
    ) -> None:
        steps = max(1, round(stage.steps * self._plan.steps / EntailmentPlan().steps))
        seconds = max(1.0, (self._ends - time.monotonic()) * stage.steps / self._steps_left)
        self._steps_left -= stage.steps
        seed = self._plan.seed + stage.seed
        recipe = EntailmentRecipe(
            steps, seconds, stage.rate, stage.batch, stage.lists, stage.list_size, dict(stage.shares), seed
        )
        train(network, self._encoder, pack, recipe, teacher, lambda text: self._tell(f"{stage.name}{name}: {text}"))
        if not name:
            self._measure(stage.name, network)

    def _measure(self, name: str, network: EntailmentNetwork) -> None:
        pairs = self._data.unlearned
        if pairs:
            outputs = predict(network, self._encoder, [(pair.claim, pair.passage) for pair in pairs])
            self.measured[name] = float(np.mean(outputs[:, 1:].argmax(1) == [pair.label for pair in pairs]))
            self._tell(f"{name}: {self.measured[name]:.3f} of {len(pairs):,} pairs right")
        else:
            self.measured[name] = math.nan

    def _record(self, network: EntailmentNetwork, cases: Iterable[PassageCase]) -> dict[str, Any]:
        """What a network says of each case, in the form of `verifyexamples.RecordedEntailment`."""
        model = _NetworkEntailment(network, self._encoder)
        ready = prepare(CachedEncoder(load_encoder()), model, shipped_weights())
        recorded = {}
        for case in cases:
            prepared = ready(case)
            ranked = prepared.rank(case.claim)
            read = sorted(ranked.read)
            joint = prepared.joint(case.claim, ranked)
            recorded[case.id] = [read, ranked.judgements[read].tolist(), joint.tolist()]
        return recorded


class _NetworkEntailment:
    """A network as `verify` uses an entailment model."""

    name = "trained"

    def __init__(self, network: EntailmentNetwork, encoder: PairEncoder) -> None:
        self._network, self._encoder = network, encoder

    def judge(self, claim: str, passages: Sequence[str]) -> NDArray[np.float64]:
        return predict(self._network, self._encoder, [(claim, text) for text in passages]).astype(np.float64)


def _facts(pack: TrainingPack) -> dict[str, object]:
    """What the card says that the model saw."""
    pairs = Counter(pair.source.split()[0] for pair in pack.pairs)
    lists = Counter(item.source for item in pack.lists)
    described = {
        "Pairs": ", ".join(f"{source} {number:,}" for source, number in pairs.most_common()),
        "Lists": ", ".join(f"{source} {number:,}" for source, number in lists.most_common()),
    }
    return {name: text for name, text in described.items() if text}


def _parity(
    network: EntailmentNetwork, encoder: PairEncoder, folder: Path, pairs: Sequence[LabelledPair]
) -> dict[str, float]:
    """How well the judgements of the exported model agree with those of the trained one."""
    model = OnnxEntailment(folder, 1)
    exported = np.concatenate([model.judge(pair.claim, [pair.passage]) for pair in pairs])
    trained = predict(network, encoder, [(pair.claim, pair.passage) for pair in pairs])
    correlation = float(np.corrcoef(exported[:, 1:].ravel(), trained[:, 1:].ravel())[0, 1])
    if not correlation >= _LEAST_CORRELATION:
        raise UserError(f"the exported model differs from the trained one (correlation {correlation:.3f})")
    same = float((exported[:, 1:].argmax(1) == trained[:, 1:].argmax(1)).mean())
    return {"correlation of logits": correlation, "same answer": same}
