"""`whycite eval rerank`: rerankers and their inputs side by side, by SCOPE's experiments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.evalcandidates import (
    Data,
    Drop,
    Epochs,
    Floor,
    HeldOut,
    More,
    Seed,
    Topic,
    WordVectors,
    consoles,
    names,
    print_table,
    shares,
    topic_of,
)
from whycite.cli.options import AsJson
from whycite.cli.progress import watched
from whycite.cli.terminal import count, plain, print_json, printable, say

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.encoders import Encoder
    from whycite.evaluation.rerank import Figure, Measured, Outcome
    from whycite.evaluation.rerankers import Room
    from whycite.rerank.ranker import Ranker

__all__ = ["rerank"]


def rerank(
    data: Data,
    more: More = None,
    ranker: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="A ranker's folder, if not the encoder's own; several for table 9."),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="An encoder's folder or Hugging Face name, if not the bundled one."),
    ] = None,
    variants: Annotated[str | None, typer.Option(metavar="V1,V2", help="Input variants, if not all six.")] = None,
    prefetch: Annotated[
        str | None, typer.Option(metavar="M1,M2", help="Recommenders of candidates for table 7; 'none' leaves it out.")
    ] = None,
    drop: Drop = None,
    k: Annotated[int, typer.Option(min=1, help="Candidates a sentence; SCOPE has 2000.")] = 100,
    claims: Annotated[int, typer.Option(min=0, help="Sentences that are asked; 0 for all.")] = 200,
    floor: Floor = 1,
    epochs: Epochs = 20,
    held_out: HeldOut = None,
    topic: Topic = None,
    seed: Seed = 0,
    word_vectors: WordVectors = None,
    as_json: AsJson = False,
) -> None:
    """Repeat SCOPE's experiments on reranking (its sections 5.4 and 5.5) on your papers.

    Sentences of the newest documents are asked for what they cite among candidates out of what older documents cite,
    none newer than the document: with the true papers put among them (tables 6 and 9), and as prefetchers find them.
    """
    from whycite.encoders import DEFAULT, load
    from whycite.evaluation.candidatesets import read
    from whycite.evaluation.rerank import DROPS, PREFETCH, Setting, as_dict, run
    from whycite.evaluation.rerankers import rerankers
    from whycite.rerank.variants import VARIANTS, variant

    read_as = tuple(variant(name) for name in names(variants)) or VARIANTS
    encoding = load(encoder or DEFAULT)
    rankers = _rankers(ranker or (), encoding)
    setting = Setting(
        prefetch=() if prefetch == "none" else names(prefetch) or PREFETCH,
        drops=shares(drop) or DROPS,
        k=k,
        floor=floor,
        epochs=epochs,
        held_out=held_out,
        limit=claims,
        seed=seed,
        encoder=encoder,
        word_vectors=word_vectors,
    )
    setting.check()
    console, errors = consoles()
    if not rankers:
        errors.print("no ranker lies with the encoder: BM25 and cosines alone are measured; name one with --ranker")
    with watched(errors) as watch:
        gathered, unread = read([*data, *(more or ())], topic_of(topic), watch)
        for sentence in unread:
            errors.print(f"warning: {plain(sentence)}", soft_wrap=True)
        outcome = run(gathered, setting, *rerankers(gathered.papers.values(), encoding, rankers, read_as), watch)
    if as_json:
        print_json(as_dict(outcome))
    else:
        _show(outcome, [name for name, *_ in rankers], console)


def _rankers(folders: Sequence[Path], encoder: Encoder) -> list[tuple[str, Ranker, Room | None]]:
    """The rankers asked for with their names, or the one that lies with the encoder."""
    from whycite.evaluation.rerankers import room_of
    from whycite.rerank.ranker import FOLDER, load, stored_with

    if folders:
        several = len(folders) > 1
        return [(plain(str(each)) if several else "ranker", load(each), room_of(each)) for each in folders]
    stored = stored_with(encoder)
    folder: Path | None = getattr(encoder, "folder", None)
    return [("ranker", stored, room_of(folder / FOLDER))] if stored and folder else []


def _show(outcome: Outcome, rankers: Sequence[str], console: Console) -> None:
    setting = outcome.setting
    told = f"{count(outcome.documents, 'document')} that cite, {outcome.held_out:,} of them held out; "
    asked = f"{count(outcome.contexts, 'sentence')} asked, {count(outcome.papers, 'paper')} to choose from."
    say(console, printable(told + asked))
    console.print()
    title = f"Oracle: the best {setting.k} of BM25, true papers put among them (SCOPE's table 6)"
    heads = ["MRR", "R@5", "R@10"]
    print_table(title, ["Reranker", *heads], [[row.reranker, *_cells(row)] for row in outcome.oracle], console)
    if len(rankers) > 1:
        rows = [[row.reranker, *_cells(row)] for row in outcome.oracle if row.reranker in _defaults(rankers)]
        print_table("Rankers side by side, default input, oracle (table 9)", ["Ranker", *heads], rows, console)
    if outcome.real:
        rows = [
            [
                "" if row.drop is None else f"d = {row.drop:g}",
                row.prefetch,
                _cell(row.found),
                row.reranker,
                *_cells(row),
            ]
            for row in outcome.real
        ]
        names_of = ["", "Prefetcher", f"R@{setting.k}", "Reranker", *heads]
        print_table(f"Real prefetchers, {setting.k} candidates (table 7)", names_of, rows, console, left=2)


def _defaults(rankers: Sequence[str]) -> set[str]:
    return {f"{name}-default" for name in rankers}


def _drop(row: Measured) -> str:
    return "" if row.drop is None else f"d = {row.drop:g}"


def _cells(row: Measured) -> list[str]:
    return [_cell(row.mrr), *(_cell(figure) for figure in row.recall.values())]


def _cell(figure: Figure) -> str:
    """The mean, and the standard error as SCOPE has it."""
    return f"{figure.mean:.3f} ({figure.error:.3f})"
