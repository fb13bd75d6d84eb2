"""Are findings right in a reader's eyes? Sentences of five kinds of text, labelled one by one.

    python benchmarks/judged.py [DATA] [--labels FILE] [--part test] [--model DIR]

The parts: "train", which the bundled weights were fitted to; "test", of other documents, set aside; and "second", read
later, of sentences that no weights were fitted to, in documents of "train" and more.

A reader labelled sentences without seeing what the authors cite there or what the model says: 2 plainly needs a
citation, 1 arguable, 0 needs none. "As it is" are sentences without a citation, read with the marks of neighbours that
cite, as in a finished draft; "nothing cited yet" are any, read as if no sentence of the draft cited. Sentences that
rules exempt were not labelled. The less clear a sentence was to the model before, the more often it was drawn, so each
counts for as many as it stands for. The tables have what `check` reports from several thresholds on, and the first
sentences that together are as many as --reports says: of two models, compare the shares there.

The file has no text: DATA is the folder of real data (default: $WHYCITE_DATA or ../shared/data beside the project).
Sentences that are no longer read as they were are left out and counted.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from whycite.check.detector import load_detector
from whycite.check.draftfiles import DraftFiles
from whycite.check.rules import Rulebook
from whycite.check.worthiness import judge
from whycite.documents.model import Sentence
from whycite.lab.train.worthiness.readerlabels import ReaderLabels, read_judged, read_labels
from whycite.models.cache import CachedEncoder
from whycite.models.encoders import load_encoder

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
LABELS = Path(__file__).parent / "data" / "judged-sentences.jsonl"
THRESHOLDS = (0.2, 0.3, 0.39, 0.5, 0.6, 0.7)
REPORTS = (500, 325, 200)  # sentences of the part, as it is; the model before had so many from .39, .5 and .6 on
KINDS = {"A": "as it is", "B": "nothing cited yet"}


@dataclass(frozen=True)
class JudgedSentence:
    """A labelled sentence, how many it stands for, and what `check` says of it without its citations."""

    draft: str
    label: int
    count: float
    worthiness: float


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--labels", type=Path, default=LABELS)
    parser.add_argument("--part", choices=["train", "test", "second"], default="test")
    parser.add_argument("--model")
    parser.add_argument("--reports", type=float, nargs="*", default=REPORTS)
    options = parser.parse_args()
    labels = [own for own in read_labels(options.labels) if own.part == options.part]
    sentences = list(_judged_sentences(labels, options.data, options.model))
    asked = sum(len(own.sentences) for own in labels)
    console = Console(width=120)
    console.print(f"{options.part}: {len(sentences):,} of {asked:,} labelled sentences, {len(labels)} documents")
    for draft, kind in KINDS.items():
        _report(kind, [sentence for sentence in sentences if sentence.draft == draft], options.reports, console)


def _judged_sentences(labels: Iterable[ReaderLabels], data: Path, model: str | None) -> Iterator[JudgedSentence]:
    detector, encoder = load_detector(model), CachedEncoder(load_encoder())
    for document, own in read_judged(labels, data):
        worthiness = judge(document, detector, encoder).worthiness
        rulebook = Rulebook(document, DraftFiles(document.format))
        for label in own.sentences:
            value = float(worthiness[label.index])
            decision = rulebook.decide(label.index, _without_citations(document.sentences[label.index]))
            if decision:
                bound = max if decision.rule.direction == "needs" else min
                value = bound(value, decision.rule.worthiness)
            yield JudgedSentence(label.draft, label.label, label.count, value)


def _without_citations(sentence: Sentence) -> Sentence:
    text = sentence.without_citations() if sentence.citations else sentence.text
    return replace(sentence, text=" ".join(text.split()), citations=(), note_citations=())


def _report(kind: str, sentences: Sequence[JudgedSentence], reports: Sequence[float], console: Console) -> None:
    number = sum(sentence.count for sentence in sentences)
    title = f"{kind}: {len(sentences):,} sentences that stand for {number:,.0f}"
    table = Table("reported", title=title, title_justify="left")
    for column in ("sentences", "right", "arguable", "wrong", "of those that need one"):
        table.add_column(column, justify="right")
    ranked = sorted(sentences, key=lambda sentence: -sentence.worthiness)
    needed = sum(sentence.count for sentence in sentences if sentence.label == 2)
    cuts = [(f"from {limit} on", [one for one in ranked if one.worthiness >= limit]) for limit in THRESHOLDS]
    if kind == KINDS["A"]:
        cuts += [(f"the first {count:,.0f}", _first(ranked, count)) for count in reports]
    for name, reported in cuts:
        total = sum(sentence.count for sentence in reported)
        shares = [
            sum(sentence.count for sentence in reported if sentence.label == label) / max(total, 1e-9)
            for label in (2, 1, 0)
        ]
        table.add_row(name, f"{total:,.0f}", *(f"{share:.3f}" for share in shares), f"{shares[0] * total / needed:.3f}")
    console.print(table)


def _first(ranked: Sequence[JudgedSentence], count: float) -> list[JudgedSentence]:
    """The first sentences that together stand for a number of them."""
    chosen, total = [], 0.0
    for sentence in ranked:
        if total + sentence.count > count:
            break
        chosen.append(sentence)
        total += sentence.count
    return chosen


if __name__ == "__main__":
    main()
