"""`whycite reproduce`: every table of the three papers, ours beside the published figures."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whycite.cli.progress import stage_progress
from whycite.cli.terminal import AsJson, CommandGroup, Interruption, count, escape_markup, print_json, printable, say
from whycite.errors import UserError
from whycite.files import shorten_paths
from whycite.lab.cli.evaluate_candidates import consoles, split_names

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.lab.evaluate.topics import Watch
    from whycite.lab.reproduce.tables import ComparedTable, FigureStore, PaperName

__all__ = ["app"]

app = CommandGroup(no_args_is_help=True)

_DATA_VARIABLE = "WHYCITE_DATA"
_WIDTH = 200  # of tables, unless a terminal limits it
_WORD_WIDTH = 200  # of word vectors, as in the thesis
_QUICK_FILES = 300  # files of a folder that --quick reads

Data = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="PATH...", help=f"Files, folders or archives of papers; by default those of ${_DATA_VARIABLE}."
    ),
]
ExtraPaths = Annotated[list[Path] | None, typer.Argument(metavar="PATH", hidden=True)]  # --data *.jsonl
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder for results; a run that was stopped continues there."),
]
Quick = Annotated[bool, typer.Option("--quick", help="Use a small part of the data; minutes instead of hours.")]
Tables = Annotated[str | None, typer.Option(metavar="N1,N2", help="Numbers of the tables to make; all by default.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Random seed.")]
Jobs = Annotated[int | None, typer.Option(metavar="N", min=1, help="Number of processes; one per core by default.")]


@app.callback()
def _reproduce() -> None:
    """Reproduce the tables of the three papers behind whycite."""


@app.command(short_help="Tables 2, 4 and 5 of ILCiteR.")
def ilciter(
    data: Data = None,
    extra_paths: ExtraPaths = None,
    topics: Annotated[
        str | None,
        typer.Option(
            metavar="T1,T2",
            help="Subjects, or NAME=words|ABBREVIATION to search in abstracts; by default the commonest subjects.",
        ),
    ] = None,
    quick: Quick = False,
    tables: Tables = None,
    out: Out = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Reproduce ILCiteR's tables: evidence databases, rankings and ablations, with t-tests."""
    from whycite.lab.evaluate.comparison import check_installed
    from whycite.lab.reproduce import ilcitertables

    check_installed()
    paths = _data_paths([*(data or ()), *(extra_paths or ())], quick)
    numbers = _wanted_tables("ilciter", tables)
    plan = ilcitertables.QUICK if quick else ilcitertables.FULL
    chosen = ilcitertables.choose_topics(topics, paths, plan.topics)
    setup = {"topic_rules": [topic.rule for topic in chosen], **asdict(plan)}
    store = _open_store("ilciter", out, paths, quick, seed, setup)
    with _watched(store) as (watch, errors):
        compared, unread = ilcitertables.ilciter_tables(
            paths, chosen, plan, store, seed, jobs or os.cpu_count() or 1, watch, numbers
        )
    _warn(unread, errors)
    _finish("ilciter", compared, store, quick, {"topics": topics, "tables": tables}, seed, as_json)


@app.command(short_help="Tables 4.1, 7.1, 7.2 and 7.3 of “Why did they cite that?”.")
def thesis(
    data: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help=f"Claims with marked passages; by default clscisumm of ${_DATA_VARIABLE}."),
    ] = None,
    other: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help=f"Claims of another domain, table 7.3; by default scifact of ${_DATA_VARIABLE}."
        ),
    ] = None,
    labelling_tasks: Annotated[
        Path | None, typer.Option("--tasks", metavar="FILE", help="Tasks that people answered (`whycite annotate`).")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Their answers; without them, votes are simulated.")
    ] = None,
    vectors: Annotated[Path | None, typer.Option(metavar="FILE", help="Word vectors in GloVe format.")] = None,
    quick: Quick = False,
    tables: Tables = None,
    out: Out = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Reproduce the thesis's tables: how good labels are, and what models learn from them.

    Votes of simulated labellers stand for people, unless --tasks and --answers give those of people.
    """
    from whycite.lab.cli.train_verify import load_lexicon, require_extra, similarity

    require_extra()
    if (labelling_tasks is None) != (answers is None):
        raise UserError("give both --tasks and --answers, or neither")
    paths = [_dataset_path(data, "clscisumm", "--data"), _dataset_path(other, "scifact", "--other")]
    numbers = _wanted_tables("thesis", tables)
    from whycite.lab.reproduce import thesistables
    from whycite.lab.thesis.casefiles import load_cases
    from whycite.models import DEFAULT, load_encoder
    from whycite.models.cache import CachedEncoder

    plan = thesistables.QUICK if quick else thesistables.FULL
    votes = [path for path in (labelling_tasks, answers) if path is not None]
    cases, other_cases = (load_cases(path) for path in paths)
    texts = [*cases, *other_cases]
    setup = {**asdict(plan), "votes": bool(votes), "vectors": str(vectors or "")}
    store = _open_store("thesis", out, [*paths, *votes], quick, seed, setup)
    encoder = CachedEncoder(load_encoder(DEFAULT))

    answered: thesistables.VotedTasks | None = None
    if labelling_tasks is not None and answers is not None:
        from whycite.lab.cli.annotate import read_answers

        answered = thesistables.VotedTasks(*read_answers(labelling_tasks, answers), "Votes are those of people")
    names = [path.resolve().name for path in paths]
    with _watched(store) as (watch, _):
        compared = thesistables.thesis_tables(
            thesistables.ThesisData(names[0], cases, names[1], other_cases),
            answered,
            encoder.encode,
            load_lexicon(vectors, DEFAULT, _WORD_WIDTH, texts),
            similarity(DEFAULT),
            plan,
            store,
            seed,
            watch,
            numbers,
        )
    _finish("thesis", compared, store, quick, {"tables": tables}, seed, as_json)


@app.command(short_help="Tables 2 to 9, 11, 13 and 14 of SCOPE.")
def scope(
    data: Data = None,
    extra_paths: ExtraPaths = None,
    drafts: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help=f"Folder of drafts, table 8; by default drafts of ${_DATA_VARIABLE}."),
    ] = None,
    base: Annotated[
        str | None, typer.Option(metavar="NAME", help="Base of all models: a folder or Hugging Face name.")
    ] = None,
    quick: Quick = False,
    tables: Tables = None,
    out: Out = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Reproduce SCOPE's tables: structure, cite-worthiness, candidates, rerankers and the pipeline.

    Models are trained by SCOPE's recipes on a base of your choice.
    """
    from whycite.lab.cli.train_verify import require_extra

    require_extra()
    numbers = _wanted_tables("scope", tables)
    paths = _data_paths([*(data or ()), *(extra_paths or ())], quick)
    if drafts is None and data is None:
        drafts = _dataset_path(None, "drafts", "--drafts")
    from whycite.lab.reproduce import scopebench, scopetables
    from whycite.models import DEFAULT

    if drafts is None and "8" in numbers:
        if tables is not None:
            raise UserError("table 8 is made of drafts; give a folder of them with --drafts")
        numbers = tuple(number for number in numbers if number != "8")
    plan = scopebench.QUICK if quick else scopebench.FULL
    setup = {**asdict(plan), "base": base or DEFAULT, "drafts": str(drafts or "")}
    setup["worthiness"] = list(plan.worthiness)
    store = _open_store("scope", out, paths, quick, seed, setup)
    with _watched(store) as (watch, errors):
        compared, unread = scopetables.scope_tables(
            scopebench.ScopeData(paths, drafts, base or DEFAULT), plan, store, seed, watch, numbers
        )
    _warn(unread, errors)
    _finish("scope", compared, store, quick, {"base": base, "tables": tables}, seed, as_json)


def _dataset_path(path: Path | None, name: str, option: str) -> Path:
    """The given data set, or that of the data folder."""
    if path is None:
        folder = os.environ.get(_DATA_VARIABLE)
        if not folder:
            raise UserError(f"give {option}, or set ${_DATA_VARIABLE} to a folder with the folder {name}")
        path = Path(folder, name)
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    return path


def _data_paths(paths: Sequence[Path], quick: bool) -> list[Path]:
    """The files to read: the given ones or those of the data folder; with --quick, a few of them."""
    if not paths:
        folder = os.environ.get(_DATA_VARIABLE)
        if not folder:
            raise UserError(f"give papers with --data, or set ${_DATA_VARIABLE} to a folder with the folder elife")
        paths = sorted(path for path in Path(folder, "elife").glob("elife-[0-9]*.jsonl.zst"))
        if not paths:
            raise UserError(f"{Path(folder, 'elife')}: contains no elife-NN.jsonl.zst; give papers with --data")
    if not quick:
        return list(paths)
    first = paths[0]
    if not first.is_dir():
        return [first]
    return sorted(path for path in first.rglob("*") if path.is_file())[:_QUICK_FILES]


def _wanted_tables(paper: PaperName, text: str | None) -> tuple[str, ...]:
    from whycite.lab.reproduce.tables import published_tables

    published = tuple(published_tables(paper))
    names = split_names(text) or published
    if unknown := [name for name in names if name not in published]:
        raise UserError(f"no table '{unknown[0]}' to make; choose from: {', '.join(published)}")
    return tuple(name for name in published if name in names)


def _open_store(
    paper: PaperName, out: Path | None, paths: Sequence[Path], quick: bool, seed: int, setup: dict[str, Any]
) -> FigureStore:
    from whycite.lab.ilciter.workspace import state_of
    from whycite.lab.reproduce.tables import FigureStore

    folder = out or Path(f"reproduce-{paper}{'-quick' if quick else ''}")
    return FigureStore(folder, {"paper": paper, "quick": quick, "seed": seed, **setup, **state_of(paths)})


@contextmanager
def _watched(store: FigureStore) -> Iterator[tuple[Watch, Console]]:
    """Progress on standard error; if the user stops the run, say what is kept."""
    _, errors = consoles()
    try:
        with stage_progress(errors) as watch:
            yield watch, errors
    except KeyboardInterrupt:
        raise Interruption(
            f"{count(len(store), 'measurement')} kept in {store.folder}; run the command again to continue"
        ) from None


def _warn(unread: Sequence[str], errors: Console) -> None:
    for sentence in unread:
        errors.print(f"warning: {escape_markup(shorten_paths(sentence))}", soft_wrap=True)


def _finish(
    paper: PaperName,
    tables: Sequence[ComparedTable],
    store: FigureStore,
    quick: bool,
    options: Mapping[str, str | None],
    seed: int,
    as_json: bool,
) -> None:
    """Write all formats to the folder with the command that made them but for its files, and print text or JSON."""
    import json
    import shlex
    from datetime import UTC, datetime
    from importlib.metadata import version

    from whycite.files import write_lines
    from whycite.lab.reproduce.tables import as_dict, html, markdown, show_table

    date = datetime.now(UTC).date().isoformat()
    title = f"{tables[0].published.paper}: the published tables and ours"
    given = "".join(f" --{name} {shlex.quote(value)}" for name, value in options.items() if value is not None)
    command = f"whycite reproduce {paper}{' --quick' if quick else ''}{given} --seed {seed}"
    introduction = f"Made by `{command}`, whycite {version('whycite')}, {date}."
    content = {"paper": paper, "quick": quick, "seed": seed, "date": date, "tables": [as_dict(t) for t in tables]}
    write_lines(store.folder / "tables.json", [json.dumps(content, ensure_ascii=False, indent=1) + "\n"])
    write_lines(store.folder / "tables.md", [markdown(title, introduction, tables)])
    write_lines(store.folder / "tables.html", [html(title, introduction.replace("`", ""), tables)])
    if as_json:
        print_json({**content, "out": str(store.folder)})
        return
    console, _ = consoles()
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)
    for table in tables:
        show_table(table, console)
    target = shorten_paths(str(store.folder))
    say(console, printable(f"Wrote tables.html, tables.md and tables.json to {target}."))
