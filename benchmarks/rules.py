"""How right are the certain rules of `check`, and what do they miss?

Run: python benchmarks/rules.py [DATA] [--half first|second|even|odd] [--articles N] [--medicine N] [--show N] [--model]
with the folder of real data as DATA (default: $WHYCITE_DATA or ../shared/data beside the project). Drafts are halved
by project (the repository they come from, every other one in the order of their names); patterns were written looking
at the first half. "even" and "odd" halve them by a hash of the project's name instead; `availability` was written
looking at "even". Each sentence that cites is judged without its own citations while all others stay; sentences that
several drafts of a project share count once. --articles adds the first N published articles of elife-09 that are not in
elife-tiny, on which patterns were also tried; --medicine adds N articles of pmc-rct after the first 200, on which
`statistic` was written. --show prints N of the sentences without a citation that rules flag, to be read. --model also
judges with the bundled model, and compares what `check` flags without and with rules, and at several thresholds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table

from whycite import read, structure
from whycite.check.detector import load_detector
from whycite.check.draftfiles import DraftFiles
from whycite.check.paragraphs import UNLABELLED_TYPES
from whycite.check.rules import RULES, Rulebook
from whycite.check.worthiness import judge
from whycite.documents.model import Document, Sentence
from whycite.documents.reading import stream
from whycite.lab.train.fitweights import project_name
from whycite.models.encoders import load_encoder
from whycite.text.language import is_english_draft

DEFAULT = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
LOOKED_AT = 200  # articles of medicine
THRESHOLDS = (0.3, 0.39, 0.45, 0.5, 0.55, 0.6)
DIRECTION = {rule.id: rule.direction for rule in RULES}


@dataclass(frozen=True)
class RuledSentence:
    """A sentence of a draft, what it does, and what rules say of it."""

    draft: str
    text: str
    cites: bool
    is_judged: bool  # prose in a section where citations are expected
    rule: str  # without its citations
    worthiness: float  # by the model alone
    threshold: float
    clause: str  # after its last citation, if a rule flags it


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--half", choices=["first", "second", "even", "odd"])
    parser.add_argument("--articles", type=int, default=0)
    parser.add_argument("--medicine", type=int, default=0)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--model", action="store_true")
    options = parser.parse_args()
    halves = [options.half] if options.half else ["first", "second"]
    for half in halves:
        _report(f"{half} half of the drafts", _drafts(options.data / "drafts", half), options)
    if options.articles:
        _report("articles", _articles(options.data / "elife", options.articles), options)
    if options.medicine:
        _report("medicine", _medicine(options.data / "pmc-rct", options.medicine), options)


def _drafts(data: Path, half: str) -> Iterator[tuple[str, Document]]:
    """The English drafts of half of the projects, with the name of the project."""
    index = json.loads((data / "index.json").read_text())
    projects = sorted({entry["repo"] for entry in index}, key=str.lower)
    for entry in index:
        if half in ("even", "odd"):
            digest = hashlib.sha256(project_name(entry["name"]).encode()).hexdigest()
            is_chosen = int(digest, 16) % 2 == (half == "odd")
        else:
            is_chosen = projects.index(entry["repo"]) % 2 == (half == "second")
        if is_chosen:
            document = read(data / entry["name"])
            if is_english_draft([sentence.text for sentence in document.sentences]):
                yield entry["repo"], document


def _articles(data: Path, number: int) -> Iterator[tuple[str, Document]]:
    seen = {document.paper.title for document in stream(data / "elife-tiny.jsonl.zst")}
    articles = (article for article in stream(data / "elife-09.jsonl.zst") if article.paper.title not in seen)
    for article in islice(articles, number):
        yield article.paper.title, structure.label(article)


def _medicine(data: Path, number: int) -> Iterator[tuple[str, Document]]:
    for article in islice(stream(data / "articles.tar.zst"), LOOKED_AT, LOOKED_AT + number):
        yield article.paper.title, structure.label(article)


def _ruled_sentences(documents: Iterable[tuple[str, Document]], with_model: bool) -> Iterator[RuledSentence]:
    seen: set[tuple[str, str]] = set()
    for project, document in documents:
        rulebook = Rulebook(document, DraftFiles(document.format))
        judgement = judge(document, load_detector(), load_encoder()) if with_model else None
        for number, sentence in enumerate(document.sentences):
            masked = _without_citations(sentence)
            if not masked.text or (project, masked.text) in seen:
                continue
            seen.add((project, masked.text))
            decision, clause = rulebook.decide(number, masked), rulebook.decide(number) if sentence.cites else None
            yield RuledSentence(
                Path(document.path).name,
                masked.text,
                sentence.cites,
                sentence.kind == "prose" and document.sections[sentence.section].type not in UNLABELLED_TYPES,
                decision.rule.id if decision else "",
                float(judgement.worthiness[number]) if judgement else 0.0,
                judgement.reporting_threshold(document.sections[sentence.section].type) if judgement else 1.0,
                clause.clause if clause else "",
            )


def _without_citations(sentence: Sentence) -> Sentence:
    text = sentence.without_citations() if sentence.citations else sentence.text
    return replace(sentence, text=" ".join(text.split()), citations=(), note_citations=())


def _report(name: str, documents: Iterable[tuple[str, Document]], options: argparse.Namespace) -> None:
    console, show = Console(width=120), options.show
    sentences = list(_ruled_sentences(documents, options.model))
    judged = [sentence for sentence in sentences if sentence.is_judged]
    citing = sum(sentence.cites for sentence in judged)
    table = Table(
        "rule",
        title=f"{name}: {len(judged):,} sentences of prose in English, {citing:,} of them cite",
        title_justify="left",
    )
    for column in ("says", "applies to", "of these cite", "share", "of all that cite"):
        table.add_column(column, justify="right")
    applied = Counter(sentence.rule for sentence in judged)
    cited = Counter(sentence.rule for sentence in judged if sentence.cites)
    rows = [(rule.id, rule.direction, [rule.id]) for rule in RULES]
    for direction in ("needs", "exempt"):
        rows.append((f"all {direction}", direction, [id for id, said in DIRECTION.items() if said == direction]))
    for name, direction, ids in rows:
        number, right = sum(applied[id] for id in ids), sum(cited[id] for id in ids)
        share = f"{right / number:.3f}" if number else ""
        table.add_row(name, direction, f"{number:,}", f"{right:,}", share, f"{right / max(1, citing):.3f}")
    console.print(table)
    clauses = [sentence for sentence in sentences if sentence.clause]
    flagged = [sentence for sentence in judged if not sentence.cites and DIRECTION.get(sentence.rule) == "needs"]
    console.print(f"without a citation and flagged: {len(flagged)} of {len(judged) - citing:,}")
    console.print(f"clauses after the last citation that are flagged: {len(clauses)} of {citing:,} sentences that cite")
    if options.model:
        truth = [sentence.cites for sentence in judged]
        by_model = [sentence.worthiness >= sentence.threshold for sentence in judged]
        console.print(f"flagged by the model alone: {_scores(by_model, truth)}")
        console.print(f"flagged with rules: {_scores([_is_flagged(sentence) for sentence in judged], truth)}")
        for threshold in THRESHOLDS:
            flagged_there = [_is_flagged(sentence, threshold) for sentence in judged]
            console.print(f"flagged with rules at {threshold}: {_scores(flagged_there, truth)}")
    for sentence in sorted(random.Random(0).sample(flagged, min(show, len(flagged))), key=lambda shown: shown.rule):
        console.print(f"{sentence.rule}\t{sentence.draft}\t{sentence.text}", markup=False, soft_wrap=True)
    for sentence in clauses[:show]:
        console.print(f"clause\t{sentence.draft}\t{sentence.text}\t{sentence.clause}", markup=False, soft_wrap=True)


def _is_flagged(sentence: RuledSentence, threshold: float | None = None) -> bool:
    """Whether `check` reports the sentence; by default at the threshold that it uses by itself."""
    direction = DIRECTION.get(sentence.rule)
    bar = sentence.threshold if threshold is None else threshold
    return direction == "needs" or (direction is None and sentence.worthiness >= bar)


def _scores(flagged: Sequence[bool], truth: Sequence[bool]) -> str:
    right = sum(flag and cites for flag, cites in zip(flagged, truth, strict=True))
    precision, recall = right / max(1, sum(flagged)), right / max(1, sum(truth))
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    wrong = sum(flagged) - right
    counts = f"{sum(flagged):,} sentences ({wrong:,} without a citation)"
    return f"{counts}, precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f}"


if __name__ == "__main__":
    main()
