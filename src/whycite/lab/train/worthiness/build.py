"""Build a worthiness model folder from documents: train, export, compare the export with the model, write the card."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from whycite.check.calibration import BibliographyWeights, Calibration, title_signs
from whycite.check.detector import Decision, DetectorDescription, DetectorHead, FolderDetector, SectionText
from whycite.check.paragraphs import LabelledDocument
from whycite.errors import UserError
from whycite.files import make_folder
from whycite.lab.scope.worthinessmeasures import (
    WorthinessSplit,
    best_threshold,
    learn_bibliography,
    measure,
    split_by_date,
)
from whycite.lab.train.bases import Base, load_base, save_base
from whycite.lab.train.entailmentstages import shorten_vocabulary
from whycite.lab.train.export import PACKED_BITS, check_exportable, mpnet_weights, write_card
from whycite.lab.train.worthiness import WorthinessRecipe
from whycite.lab.train.worthiness.training import JudgedSentences, WorthinessOutcome, frame_of, train
from whycite.models import load_encoder as load_encoder
from whycite.models.folders import CONFIG, ENCODER, MODEL, PACKED, WORTHINESS

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = [
    "build_worthiness_model",
    "detector_parity",
    "export_detector",
    "is_exportable",
]


_MIN_CORRELATION = 0.95  # correlation of scores


def export_detector(
    network: Any, base: Base, recipe: WorthinessRecipe, decisions: Mapping[str, Decision], name: str, out: Path
) -> None:
    """Write model.onnx, weights.npz if they have 4 bits, tokenizer.json, head.npz and worthiness.json into `out`.

    A base that no graph can be built for, such as Longformer, is kept as trained and run by torch.
    """
    limit = frame_of(base, recipe).limit
    save_base(out, network["backbone"].cpu(), base.tokenizer)
    if is_exportable(base):
        graph = _graph(network["backbone"], limit)
        if recipe.bits == PACKED_BITS:
            from whycite.lab.train.quantisation import pack_weights

            np.savez(out / PACKED, **pack_weights(graph))
        (out / MODEL).write_bytes(graph.SerializeToString(deterministic=True))
        for file in [*out.glob("*.safetensors"), out / CONFIG]:
            file.unlink()
    (out / ENCODER.settings_file).unlink()
    _head(network["head"]).write(out)
    section: SectionText = "type" if recipe.heading == "type" else "heading"
    DetectorDescription(name, recipe.variant, recipe.readout, limit, decisions, section).write(out)


def _head(layers: Any) -> DetectorHead:
    """The last layers: what authors cite, and, if a reader's labels were learned, the mean of the outputs for these."""
    hidden, output = layers[1], layers[4]
    weights, bias = _array(output.weight), _array(output.bias)
    if len(weights) > 1:
        weights = np.stack([weights[0], weights[1:].mean(0)])
        bias = np.stack([bias[0], bias[1:].mean()])
    return DetectorHead(_array(hidden.weight), _array(hidden.bias), weights, bias)


def is_exportable(base: Base) -> bool:
    """Whether an 8-bit graph can be built for the base."""
    if base.config.model_type == "mpnet":
        return True
    try:
        check_exportable(base.name, base.config)
    except UserError:
        return False
    return True


def _graph(backbone: Any, limit: int) -> ModelProto:
    from whycite.lab.train.quantisation import EncoderShape, build_graph

    config = backbone.config
    first_position = 0 if config.model_type == "bert" else int(config.pad_token_id) + 1
    if config.model_type == "mpnet":
        weights = mpnet_weights(backbone, limit)
    else:
        weights = {name: _array(weight) for name, weight in backbone.state_dict().items()}
    layers, heads = config.num_hidden_layers, config.num_attention_heads
    return build_graph(weights, EncoderShape(layers, heads, config.layer_norm_eps, first_position, output="states"))


def _array(weight: Any) -> Any:
    return weight.detach().float().cpu().numpy()


def detector_parity(folder: Path, documents: Sequence[LabelledDocument], judged: JudgedSentences) -> dict[str, float]:
    """How well the exported model's sentence scores agree with the trained one's, and the F1 of each."""
    exported = np.concatenate(
        FolderDetector(folder, 1).scores([paragraph for document in documents for paragraph in document.unlabelled()])
    )
    trained = judged.scores[: len(exported)]
    worthy = judged.worthy[: len(exported)]
    correlation = float(np.corrcoef(exported, trained)[0, 1])
    if not correlation >= _MIN_CORRELATION:
        raise UserError(f"{folder}: the exported model differs from the trained one (correlation {correlation:.3f})")
    return {
        "correlation of scores": correlation,
        "F1 in 8 bits": _best_f1(worthy, exported),
        "F1 as trained": _best_f1(worthy, trained),
    }


def _best_f1(worthy: Any, scores: Any) -> float:
    return measure(worthy, scores >= best_threshold(worthy, scores.astype(np.float64))).f1


Tell = Callable[[str], None]
_PARITY_DOCUMENTS = 20  # documents for comparing the export
_DESCRIPTION = "A worthiness model: how likely each sentence of a paragraph needs a citation."


def build_worthiness_model(
    documents: Iterable[LabelledDocument],
    out: Path,
    recipe: WorthinessRecipe,
    tell: Tell,
    dev: int = 100,
    test: int = 200,
    workers: int = 0,
    deadline: float = math.inf,
    judged: Sequence[LabelledDocument] = (),
) -> WorthinessOutcome:
    """Train a worthiness model into the folder `out`; the newest documents are held out as dev and test.

    Of `judged`, a reader's labels are learned as well, but for those of documents that are held out.
    """
    if (make_folder(out) / WORTHINESS.settings_file).exists():
        raise UserError(f"{out} already contains a model; choose another --out, or delete it")
    base = load_base(recipe.base)
    if recipe.judge:
        load_base(recipe.judge)  # fail early if it does not exist
    if recipe.inner and base.config.model_type != "mpnet":
        raise UserError(
            f"--inner: {recipe.base} is a '{base.config.model_type}' model; only an MPNet can be made smaller"
        )
    parts = split_by_date(documents, dev, test)
    held_out = {document.key for document in (*parts.dev, *parts.test)}
    judged = [document for document in judged if document.key not in held_out]
    if recipe.words:
        tokenizer = shorten_vocabulary(base.model, base.tokenizer, _texts([*parts.train, *judged]), recipe.words)
        base = replace(base, tokenizer=tokenizer, config=base.model.config)
    outcome = train(parts.train, parts.dev, parts.test, recipe, tell, workers, deadline, judged, base)
    figures = outcome.report
    calibration = Calibration(**figures["calibration"])
    # One threshold: those by section type were never better on documents they were not chosen on.
    chosen = Decision(
        calibration, {"": figures["thresholds"][""]}, _bibliography(parts.dev, outcome.dev, calibration, tell)
    )
    with TemporaryDirectory(dir=out) as temporary:
        new = Path(temporary)
        export_detector(outcome.network, base, recipe, {"articles": chosen}, out.resolve().name, new)
        parity_figures = detector_parity(new, parts.test[:_PARITY_DOCUMENTS], outcome.test)
        rows = [{key: float(value) for key, value in figures["test"]["all"].items() if key != "holes"}]
        introduction = (
            "All sentences of the documents held out for the test, at the threshold that is best on those before:"
        )
        write_card(
            new, out, _DESCRIPTION, recipe.base, _facts(parts), asdict(recipe), introduction, rows, parity_figures
        )
        for file in sorted(new.iterdir()):
            file.replace(out / file.name)
    tell(f"saved to {out}: " + ", ".join(f"{name} {value:.4f}" for name, value in parity_figures.items()))
    return outcome


def _texts(documents: Sequence[LabelledDocument]) -> list[str]:
    """Everything that a model reads of documents."""
    headings = [" ".join(paragraph.headings) for document in documents for paragraph in document.paragraphs]
    return [*headings, *(text for document in documents for text in document.texts)]


def _bibliography(
    documents: Sequence[LabelledDocument], judged: JudgedSentences, calibration: Calibration, tell: Tell
) -> BibliographyWeights | None:
    """Fit the weights of bibliographies on the dev documents, or None if these have no titles."""
    sizes = [sum(len(paragraph.sentences) for paragraph in document.paragraphs) for document in documents]
    ends = np.cumsum(sizes)[:-1]
    probabilities = np.split(calibration.probabilities(judged.scores), ends)
    if not any(document.titles for document in documents):
        return None
    tell(f"reading the bibliographies of {sum(bool(document.titles) for document in documents)} documents")
    encoder = load_encoder()
    document_signs = [
        title_signs(document_probabilities, document.texts, document.titles, encoder)
        for document, document_probabilities in zip(documents, probabilities, strict=True)
    ]
    return learn_bibliography(probabilities, document_signs, np.split(judged.worthy, ends))


def _facts(parts: WorthinessSplit) -> dict[str, object]:
    def describe(documents: Sequence[LabelledDocument]) -> str:
        dates = [document.date for document in documents if document.date]
        period = f" of {dates[0]} to {dates[-1]}" if dates else ""
        sentences = sum(len(paragraph.sentences) for document in documents for paragraph in document.paragraphs)
        return f"{len(documents):,} documents{period}, {sentences:,} sentences"

    return {"Trained on": describe(parts.train), "Chosen by": describe(parts.dev), "Measured on": describe(parts.test)}
