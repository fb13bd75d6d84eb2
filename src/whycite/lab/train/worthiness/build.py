"""Build a worthiness model folder from documents: train, export, compare the export with the model, write the card.

`python -m whycite.lab.train.worthiness.build DATA LABELS MODEL` teaches the model in the folder MODEL what a reader
would ask about, from labelled sentences. A decision with `"reader": true` uses it, with the calibration and weights of
bibliographies that `whycite eval worthiness --drafts DIR --model MODEL --json` prints.
"""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from whycite.check.calibration import BibliographyWeights, Calibration, logistic, title_signs
from whycite.check.detector import Decision, DetectorDescription, DetectorHead, FolderDetector, SectionText
from whycite.check.paragraphs import LabelledDocument, complete_text, prose_paragraphs
from whycite.documents import read, stream
from whycite.documents.model import Document
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
from whycite.lab.train.export import check_exportable, write_card
from whycite.lab.train.worthiness import WorthinessRecipe
from whycite.lab.train.worthiness.examples import is_sentence_list, stream_sentence_lists
from whycite.lab.train.worthiness.training import JudgedSentences, WorthinessOutcome, frame_of, train
from whycite.models import load_encoder as load_encoder
from whycite.models.folders import CONFIG, ENCODER, MODEL, WORTHINESS
from whycite.structure import label

__all__ = [
    "ReaderLabel",
    "ReaderLabels",
    "build_worthiness_model",
    "detector_parity",
    "export_detector",
    "fit_reader",
    "is_exportable",
    "read_judged",
    "read_labels",
]


_MIN_CORRELATION = 0.95  # correlation of scores


def export_detector(
    network: Any, base: Base, recipe: WorthinessRecipe, decisions: Mapping[str, Decision], name: str, out: Path
) -> None:
    """Write model.onnx (8 bits), tokenizer.json, head.npz and worthiness.json into `out`.

    A base that no graph can be built for, such as Longformer, is kept as trained and run by torch.
    """
    save_base(out, network["backbone"].cpu(), base.tokenizer)
    if is_exportable(base):
        _write_graph(network["backbone"], out / MODEL)
        for file in [*out.glob("*.safetensors"), out / CONFIG]:
            file.unlink()
    (out / ENCODER.settings_file).unlink()
    hidden, output = network["head"][1], network["head"][4]
    DetectorHead(_array(hidden.weight), _array(hidden.bias), _array(output.weight)[0], _array(output.bias)).write(out)
    section: SectionText = "type" if recipe.heading == "type" else "heading"
    DetectorDescription(name, recipe.variant, recipe.readout, frame_of(base, recipe).limit, decisions, section).write(
        out
    )


def is_exportable(base: Base) -> bool:
    """Whether an 8-bit graph can be built for the base."""
    try:
        check_exportable(base.name, base.config)
    except UserError:
        return False
    return True


def _write_graph(backbone: Any, path: Path) -> None:
    from whycite.lab.train.quantisation import EncoderShape, build_graph

    config = backbone.config
    first_position = 0 if config.model_type == "bert" else int(config.pad_token_id) + 1
    weights = {name: _array(weight) for name, weight in backbone.state_dict().items()}
    layers, heads = config.num_hidden_layers, config.num_attention_heads
    shape = EncoderShape(layers, heads, config.layer_norm_eps, first_position, output="states")
    path.write_bytes(build_graph(weights, shape).SerializeToString(deterministic=True))


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
) -> WorthinessOutcome:
    """Train a worthiness model into the folder `out`; the newest documents are held out as dev and test."""
    if (make_folder(out) / WORTHINESS.settings_file).exists():
        raise UserError(f"{out} already contains a model; choose another --out, or delete it")
    base = load_base(recipe.base)
    if recipe.judge:
        load_base(recipe.judge)  # fail early if it does not exist
    parts = split_by_date(documents, dev, test)
    outcome = train(parts.train, parts.dev, parts.test, recipe, tell, workers, deadline)
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


# -- what a reader would ask about ------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReaderLabel:
    """What a reader says of one sentence: 2 if it plainly needs a citation, 1 if one may argue, 0 if not.

    The file with the labels has no text: a sentence is known by its index and the checksum of its text.
    """

    index: int
    checksum: int
    draft: Literal["A", "B"]  # A: the reader saw which neighbours cite; B: nothing around it did, as in a new draft
    label: int
    count: float  # sentences it stands for, as those that are less clear were drawn more often


@dataclass(frozen=True, slots=True)
class ReaderLabels:
    """A reader's labels of sentences of one document; `part` is the one to learn from or the one to measure on."""

    document: str  # a folder or file of the data; of a file with many, "#" and the number or the name of the document
    part: str
    sentences: tuple[ReaderLabel, ...]


def read_labels(path: Path) -> list[ReaderLabels]:
    """Read a file with labels."""
    try:
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return [
            ReaderLabels(
                record["document"], record["part"], tuple(ReaderLabel(*fields) for fields in record["sentences"])
            )
            for record in records
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} cannot be read as labels ({error!r})") from error


def read_judged(labels: Iterable[ReaderLabels], data: Path) -> Iterator[tuple[Document, ReaderLabels]]:
    """The documents with their types of sections, and the labels of those sentences that are read as they were."""
    by_file: dict[str, dict[str, ReaderLabels]] = defaultdict(dict)
    for own in labels:
        file, _, place = own.document.partition("#")
        by_file[file][place] = own
    for file, wanted in by_file.items():
        if "" in wanted:
            yield _judged(read(data / file), wanted[""])
            continue
        path, left = data / file, len(wanted)
        documents = stream_sentence_lists(path) if is_sentence_list(path) else stream(path)
        for number, document in enumerate(documents):
            found = wanted.get(str(number)) or wanted.get(Path(document.path).name)
            if found:
                yield _judged(document, found)
                left -= 1
            if not left:
                break


def _judged(document: Document, own: ReaderLabels) -> tuple[Document, ReaderLabels]:
    sentences = document.sentences
    same = tuple(
        label
        for label in own.sentences
        if label.index < len(sentences)
        and crc32(complete_text(sentences[label.index], document).encode("utf-8", "replace")) == label.checksum
    )
    return label(document), replace(own, sentences=same)


_ARGUABLE = 0.4  # of a sentence that plainly needs a citation
_READER_RIDGE = 1000.0  # cross-fitted by document; with 300 recall of clean citing sentences falls by a point more
_STEPS = 20  # of Newton's method, which needs about eight


def fit_reader(detector: FolderDetector, judged: Iterable[tuple[Document, ReaderLabels]]) -> NDArray[np.float32]:
    """Fit the weights of the score and of the state of a sentence to a reader's labels, by logistic regression.

    The scores that they give spread as wide as those of the model.
    """
    rows, labels = [], []
    for document, own in judged:
        wanted = {label.index: label.label for label in own.sentences}
        prose = [pair for pair in prose_paragraphs(document) if wanted.keys() & set(pair[1])]
        for (_, indices), states in zip(prose, detector.states([paragraph for paragraph, _ in prose]), strict=True):
            for index, state in zip(indices, states, strict=True):
                if index in wanted:
                    rows.append(state)
                    labels.append(wanted[index])
    if len(set(labels)) < 2:
        raise UserError("no sentences with labels that differ to learn from")
    scores = detector.head.scores(np.stack(rows)).astype(np.float64)
    signs = np.column_stack([scores, np.stack(rows).astype(np.float64)])
    spread = signs.std(0) + 1e-9
    weights = _ridge_regression((signs - signs.mean(0)) / spread, np.array([0.0, _ARGUABLE, 1.0])[labels]) / spread
    return np.asarray(weights * scores.std() / (signs @ weights).std(), np.float32)


def _ridge_regression(rows: NDArray[np.float64], targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of standardised rows, the first hardly pulled to 0, by Newton's method; the bias is left out."""
    columns = np.column_stack([rows, np.ones(len(rows))])
    pull = np.array([1.0, *[_READER_RIDGE] * (rows.shape[1] - 1), 0.0])
    weights = np.zeros(columns.shape[1])
    for _ in range(_STEPS):
        chances = logistic(columns @ weights)
        slope = columns.T @ (chances - targets) + pull * weights
        bend = (columns * (chances * (1 - chances))[:, None]).T @ columns + np.diag(pull)
        weights = weights - np.linalg.solve(bend, slope)
    return weights[:-1]


def main(arguments: Sequence[str], tell: Tell = print) -> None:
    """Fit a reader's judgement to the labels to learn from, and store it beside the model."""
    if len(arguments) != 3:
        raise UserError("expected the folder of the data, the file with the labels and the folder of the model")
    data, path, folder = map(Path, arguments)
    detector = FolderDetector(folder, 1)
    labels = [own for own in read_labels(path) if own.part == "train"]
    judged = list(read_judged(labels, data))
    replace(detector.head, reader=fit_reader(detector, judged)).write(folder)
    known, asked = (sum(len(own.sentences) for own in part) for part in ((own for _, own in judged), labels))
    tell(f"{folder}: fitted to {known:,} of {asked:,} labelled sentences of {len(judged)} documents")


if __name__ == "__main__":
    main(sys.argv[1:])
