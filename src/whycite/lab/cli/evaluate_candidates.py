"""`whycite eval candidates` and `eval rerank`: SCOPE's candidate pools, and rerankers side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whycite.cli.progress import stage_progress
from whycite.cli.terminal import AsJson, count, escape_markup, print_json, printable, say
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.lab.evaluate.topics import Topic as TopicOf
    from whycite.lab.scope.candidates import Recommender
    from whycite.lab.scope.prefetching import PrefetchFigures, PrefetchOutcome
    from whycite.lab.scope.reranking import MeanWithError, RankerEntry, RerankFigures, RerankOutcome
    from whycite.models import Encoder

__all__ = [
    "Data",
    "Drop",
    "Epochs",
    "ExtraPaths",
    "Floor",
    "HeldOut",
    "Seed",
    "Topic",
    "WordVectors",
    "candidates",
    "consoles",
    "parse_topic",
    "print_table",
    "rerank",
    "split_names",
    "unique_shares",
]


_WIDTH = 132  # of tables, unless a terminal limits it


class CitedSetLevel(StrEnum):
    """Where a set of cited papers is taken from."""

    paper = "paper"
    section = "section"
    combined = "both"


_SETS: Mapping[CitedSetLevel, tuple[Literal["paper", "section"], ...]] = {
    CitedSetLevel.paper: ("paper",),
    CitedSetLevel.section: ("section",),
    CitedSetLevel.combined: ("paper", "section"),
}


class HoldOutMode(StrEnum):
    """Ways to hold out documents."""

    date = "date"
    document = "document"


Data = Annotated[list[Path], typer.Option(metavar="PATH...", help="Files, folders or archives of papers.")]
ExtraPaths = Annotated[list[Path] | None, typer.Argument(metavar="PATH", hidden=True)]  # --data *.jsonl
Drop = Annotated[
    list[float] | None,
    typer.Option(metavar="SHARE", help="Share of cited papers to hide; repeatable; 0.2, 0.5 and 0.8 by default."),
]
Floor = Annotated[
    int, typer.Option(metavar="N", min=1, help="Documents that must cite a paper before it is recommended.")
]
Epochs = Annotated[int, typer.Option(metavar="N", min=1, help="Epochs to train autoencoders for.")]
HeldOut = Annotated[int | None, typer.Option(metavar="N", min=1, help="Documents to hold out; a tenth by default.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Random seed.")]
Topic = Annotated[
    str | None,
    typer.Option(metavar="T", help="Subject of the papers, or NAME=words|ABBREVIATION to search in abstracts."),
]
WordVectors = Annotated[Path | None, typer.Option(metavar="FILE", help="Word vectors for titles in GloVe format.")]


def candidates(
    data: Data,
    extra_paths: ExtraPaths = None,
    by: Annotated[
        CitedSetLevel, typer.Option(metavar="UNIT", help="Unit whose cited papers form a set: paper, section or both.")
    ] = CitedSetLevel.combined,
    drop: Drop = None,
    methods: Annotated[str | None, typer.Option(metavar="M1,M2", help="Recommenders to compare.")] = None,
    k: Annotated[int, typer.Option(metavar="N", min=1, help="Papers per pool.")] = 2000,
    floor: Floor = 1,
    epochs: Epochs = 20,
    held_out: HeldOut = None,
    split: Annotated[
        HoldOutMode,
        typer.Option(metavar="KIND", help="Hold out the newest documents (date) or random ones (document)."),
    ] = HoldOutMode.date,
    again: Annotated[
        bool, typer.Option("--again", help="Also train on the older half of the held-out documents (table 11).")
    ] = False,
    limit: Annotated[int, typer.Option(metavar="N", min=0, help="Sets and sentences to test; 0 for all.")] = 1000,
    topic: Topic = None,
    seed: Seed = 0,
    word_vectors: WordVectors = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder to save the autoencoders in.")] = None,
    as_json: AsJson = False,
) -> None:
    """Repeat SCOPE's experiment on candidate pools (section 5.3) on your papers.

    A share of the papers cited by each held-out document is hidden; a recommender trained on the other documents sees
    the rest, and should find the hidden ones.
    """
    from whycite.lab.scope.prefetching import DROPS, METHODS, PrefetchSetting, as_dict, read_citing_corpus, run

    setting = PrefetchSetting(
        methods=split_names(methods) or METHODS,
        by=_SETS[by],
        drops=unique_shares(drop) or DROPS,
        k=k,
        floor=floor,
        epochs=epochs,
        held_out=held_out,
        by_lot=split is HoldOutMode.document,
        again=again,
        limit=limit,
        seed=seed,
        word_vectors=word_vectors,
    )
    setting.check()
    console, errors = consoles()
    with stage_progress(errors) as watch:
        gathered, unread = read_citing_corpus([*data, *(extra_paths or ())], parse_topic(topic), watch)
        for sentence in unread:
            errors.print(f"warning: {escape_markup(shorten_paths(sentence))}", soft_wrap=True)
        outcome = run(gathered, setting, watch, _make_saver(out) if out else None)
    if as_json:
        print_json(as_dict(outcome))
    else:
        _show_candidates(outcome, console)


def _make_saver(folder: Path) -> Callable[[Recommender, str], None]:
    from whycite.files import make_folder
    from whycite.lab.scope.autoencoder import Autoencoder, save_autoencoder

    make_folder(folder)

    def save_recommender(recommender: Recommender, by: str) -> None:
        if isinstance(recommender, Autoencoder):
            save_autoencoder(recommender, folder / f"{recommender.name}-by-{by}.npz")

    return save_recommender


def _show_candidates(outcome: PrefetchOutcome, console: Console) -> None:
    setting = outcome.setting
    days = f"{outcome.oldest or 'no date'} to {outcome.newest or 'no date'}"
    summary = f"{count(outcome.documents, 'document')} with citations, {outcome.held_out:,} held out ({days})."
    say(console, printable(summary))
    for training_set in outcome.learned:
        coverage = f"{training_set.known:.1%} of the papers cited by held-out documents are among them"
        say(
            console,
            f"By {training_set.by}: {count(training_set.sets, 'set')}, "
            f"{count(training_set.papers, 'paper')}; {coverage}.",
        )
    console.print()
    drops = setting.drops
    for by in setting.by:
        rows = [row for row in outcome.sets if row.by == by]
        _print_sets(f"Hidden papers in sets, by {by} (SCOPE, table 4)", rows, drops, setting.k, console)
    trained = [row for row in outcome.sets if row.method.startswith("aae-")]
    if len(setting.by) > 1 and trained:
        title = "Autoencoders, by paper and by section (SCOPE, table 5)"
        _print_sets(title, trained, drops, setting.k, console, [row.by for row in trained])
    if outcome.later:
        title = "Autoencoders, trained without and with half of the held-out documents (SCOPE, table 11)"
        rows, ends = [*trained, *outcome.later], ["old"] * len(trained) + ["new"] * len(outcome.later)
        _print_sets(title, rows, drops, setting.k, console, [f"{r.by}, {e}" for r, e in zip(rows, ends, strict=True)])
    for by in setting.by:
        rows = [row for row in outcome.contexts if row.by == by]
        _print_sentences(f"Single sentences, by {by} (SCOPE, table 7)", rows, setting.k, console)


def _print_sets(
    title: str,
    rows: Sequence[PrefetchFigures],
    drops: Sequence[float],
    k: int,
    console: Console,
    marks: Sequence[str] = (),
) -> None:
    """One row per recommender and mark; MRR and recall, with standard deviation, per hidden share."""
    lines: dict[tuple[str, ...], dict[float | None, PrefetchFigures]] = {}
    for index, row in enumerate(rows):
        lines.setdefault((row.method, *marks[index : index + 1]), {})[row.drop] = row
    name_heads = ["Recommender", *(["Sets"] if marks else [])]
    heads = [head for drop in drops for head in (f"d = {drop:g}\nMRR", f"\nR@{k}")]
    cells = [
        [*name, *(cell for drop in drops for cell in _deviation_cells(row_by_drop[drop]))]
        for name, row_by_drop in lines.items()
    ]
    set_counts = " and ".join(f"{number:,}" for number in dict.fromkeys(row.asked for row in rows))
    print_table(f"{title}; {set_counts or 0} sets", [*name_heads, *heads], cells, console, name_columns=len(name_heads))


def _deviation_cells(row: PrefetchFigures) -> list[str]:
    return [f"{measure.mean:.3f} ({measure.deviation:.3f})" for measure in (row.mrr, row.recall)]


def _print_sentences(title: str, rows: Sequence[PrefetchFigures], k: int, console: Console) -> None:
    cells = [["" if row.drop is None else f"d = {row.drop:g}", row.method, *_deviation_cells(row)] for row in rows]
    sentence_count = max((row.asked for row in rows), default=0)
    print_table(
        f"{title}; {count(sentence_count, 'sentence')}",
        ["", "Prefetcher", "MRR", f"R@{k}"],
        cells,
        console,
        name_columns=2,
    )


def print_table(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], console: Console, name_columns: int = 1
) -> None:
    """Print a table with names on the left and numbers on the right."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE, padding=(0, 1, 0, 0))
    for column, head in enumerate(heads):
        table.add_column(head, justify="left" if column < name_columns else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def split_names(text: str | None) -> tuple[str, ...]:
    """Names separated by commas, without duplicates."""
    return tuple(dict.fromkeys(name for part in (text or "").split(",") if (name := part.strip())))


def unique_shares(drop: Sequence[float] | None) -> tuple[float, ...]:
    """The shares, without duplicates."""
    return tuple(dict.fromkeys(drop or ()))


def parse_topic(text: str | None) -> TopicOf | None:
    """Parse a single topic."""
    from whycite.errors import UserError
    from whycite.lab.evaluate.topics import parse_topics

    if text is None:
        return None
    topics = parse_topics(text)
    if len(topics) != 1:
        raise UserError(f"--topic takes one topic, not {len(topics)}")
    return topics[0]


def consoles() -> tuple[Console, Console]:
    """Standard output, wide enough for tables unless it is a terminal, and standard error."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)
    return console, Console(stderr=True, highlight=False)


def rerank(
    data: Data,
    extra_paths: ExtraPaths = None,
    ranker: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Folder of a ranker; repeat to compare rankers (table 9)."),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Encoder: a folder or Hugging Face name."),
    ] = None,
    variants: Annotated[str | None, typer.Option(metavar="V1,V2", help="Input variants to compare.")] = None,
    prefetch: Annotated[
        str | None, typer.Option(metavar="M1,M2", help="Recommenders of candidates for table 7, or none.")
    ] = None,
    drop: Drop = None,
    k: Annotated[int, typer.Option(metavar="N", min=1, help="Candidates per sentence; 2000 in SCOPE.")] = 100,
    claims: Annotated[int, typer.Option(metavar="N", min=0, help="Sentences to test; 0 for all.")] = 200,
    floor: Floor = 1,
    epochs: Epochs = 20,
    held_out: HeldOut = None,
    topic: Topic = None,
    seed: Seed = 0,
    word_vectors: WordVectors = None,
    as_json: AsJson = False,
) -> None:
    """Repeat SCOPE's experiments on reranking (sections 5.4 and 5.5) on your papers.

    Rerankers find the papers that sentences of the newest documents cite, among candidates that older documents cite:
    candidates that include the true papers (tables 6 and 9), and candidates from prefetchers (table 7).
    """
    from whycite.lab.scope.inputvariants import VARIANTS, ranker_variant
    from whycite.lab.scope.prefetching import read_citing_corpus
    from whycite.lab.scope.reranking import DROPS, PREFETCH, RerankSetting, as_dict, rerankers, run
    from whycite.models import DEFAULT, load_encoder

    input_variants = tuple(ranker_variant(name) for name in split_names(variants)) or VARIANTS
    encoding = load_encoder(encoder or DEFAULT)
    rankers = _load_rankers(ranker or (), encoding)
    setting = RerankSetting(
        prefetch=() if prefetch == "none" else split_names(prefetch) or PREFETCH,
        drops=unique_shares(drop) or DROPS,
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
        errors.print(
            "The encoder has no ranker, so only BM25 and cosine similarity are measured; use --ranker to add one."
        )
    with stage_progress(errors) as watch:
        gathered, unread = read_citing_corpus([*data, *(extra_paths or ())], parse_topic(topic), watch)
        for sentence in unread:
            errors.print(f"warning: {escape_markup(shorten_paths(sentence))}", soft_wrap=True)
        outcome = run(gathered, setting, *rerankers(gathered.papers.values(), encoding, rankers, input_variants), watch)
    if as_json:
        print_json(as_dict(outcome))
    else:
        _show_rerank(outcome, [name for name, *_ in rankers], console)


def _load_rankers(folders: Sequence[Path], encoder: Encoder) -> list[RankerEntry]:
    """The rankers with their names; by default, the ranker of the encoder."""
    from whycite.lab.scope.reranking import RankerEntry, room_of, trained_variant
    from whycite.models.pairs import RANKER_FOLDER, load_ranker, ranker_of

    if folders:
        several = len(folders) > 1
        return [
            RankerEntry(
                escape_markup(str(path)) if several else "ranker",
                load_ranker(path),
                room_of(path),
                trained_variant(path),
            )
            for path in folders
        ]
    stored = ranker_of(encoder)
    folder: Path | None = getattr(encoder, "folder", None)
    return [RankerEntry("ranker", stored, room_of(folder / RANKER_FOLDER))] if stored and folder else []


def _show_rerank(outcome: RerankOutcome, rankers: Sequence[str], console: Console) -> None:
    setting = outcome.setting
    summary = f"{count(outcome.documents, 'document')} with citations, {outcome.held_out:,} held out; "
    sentence_summary = f"{count(outcome.contexts, 'sentence')}, {count(outcome.papers, 'paper')} to choose from."
    say(console, printable(summary + sentence_summary))
    console.print()
    title = f"Oracle: the best {setting.k} of BM25, including the true papers (SCOPE, table 6)"
    heads = ["MRR", "R@5", "R@10"]
    print_table(title, ["Reranker", *heads], [[row.reranker, *_error_cells(row)] for row in outcome.oracle], console)
    if len(rankers) > 1:
        rows = [
            [row.reranker, *_error_cells(row)] for row in outcome.oracle if row.reranker in _default_rerankers(rankers)
        ]
        print_table("Rankers with default input, oracle (SCOPE, table 9)", ["Ranker", *heads], rows, console)
    if outcome.real:
        rows = [
            [
                "" if row.drop is None else f"d = {row.drop:g}",
                row.prefetch,
                _error_cell(row.found),
                row.reranker,
                *_error_cells(row),
            ]
            for row in outcome.real
        ]
        column_heads = ["", "Prefetcher", f"R@{setting.k}", "Reranker", *heads]
        print_table(
            f"Real prefetchers, {setting.k} candidates (SCOPE, table 7)", column_heads, rows, console, name_columns=2
        )


def _default_rerankers(rankers: Sequence[str]) -> set[str]:
    return {f"{name}-default" for name in rankers}


def _error_cells(row: RerankFigures) -> list[str]:
    return [_error_cell(row.mrr), *(_error_cell(figure) for figure in row.recall.values())]


def _error_cell(figure: MeanWithError) -> str:
    """The mean with its standard error, as in SCOPE."""
    return f"{figure.mean:.3f} ({figure.error:.3f})"
