"""`whycite eval worthiness` and `eval pipeline`: which sentences need a citation, and SCOPE's pipeline on drafts."""

from __future__ import annotations

from dataclasses import asdict, astuple, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from whycite.cli.progress import count_progress, stage_progress
from whycite.cli.terminal import AsJson, count, escape_markup, print_json, say
from whycite.errors import MissingExtra, UserError
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from whycite.check.detector import FolderDetector
    from whycite.lab.scope.pipeline import PipelineOutcome
    from whycite.lab.scope.worthinessmeasures import WorthinessScores

__all__ = ["pipeline", "worthiness"]


_WIDTH = 180  # of tables, unless a terminal limits it


def worthiness(
    data: Annotated[
        list[Path] | None, typer.Option(metavar="PATH...", help="Files, folders or archives of articles, newest first.")
    ] = None,
    extra_paths: Annotated[list[Path] | None, typer.Argument(metavar="PATH", hidden=True)] = None,  # --data *.jsonl
    drafts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of drafts: projects in subfolders, and files.")
    ] = None,
    test: Annotated[int, typer.Option(metavar="N", min=1, help="Newest articles to test on.")] = 200,
    trained: Annotated[int, typer.Option(metavar="N", min=1, help="Older articles to train baselines on.")] = 1000,
    model: Annotated[str | None, typer.Option(metavar="DIR", help="Model made by `whycite train worthiness`.")] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Encoder that compares sentences with bibliographies."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Repeat SCOPE's table 3 on articles, or measure on drafts with masked citations.

    Thresholds for a draft are fitted on drafts of other projects. Versions of one project share the first word of
    their folder names ("thesis-early", "thesis-late").
    """
    from rich.console import Console

    if bool(data) == (drafts is not None) or (extra_paths and not data):
        raise UserError("give either --data with articles or --drafts with a folder of drafts")
    console, errors = Console(highlight=False), Console(stderr=True, highlight=False)
    fitted: dict[str, object] = {}
    if data:
        rows = _measure_articles([*data, *(extra_paths or ())], test, trained, model, encoder, seed, errors)
    else:
        rows, fitted["decision"] = _measure_drafts(cast(Path, drafts), model, encoder, errors)
    if as_json:
        keys = ("method", "sentences_of", "sentences", "P", "R", "F1", *_HOLE_COLUMNS)
        print_json({"seed": seed, "rows": [dict(zip(keys, row, strict=True)) for row in rows], **fitted})
    else:
        _show_worthiness(rows, console)


_HOLE_COLUMNS = {
    "R_clean": "R clean",
    "R_holed": "R holed",
    "F1_clean": "F1 clean",
    "R_clean_at_0.025": "R clean at 2.5 %",
    "R_holed_at_0.025": "R holed at 2.5 %",
}
WorthinessFigures = tuple[str | int | float | None, ...]


def _row(method: str, kind: str, sentences: int, scores: WorthinessScores) -> WorthinessFigures:
    holes = astuple(scores.holes) if scores.holes else (None,) * len(_HOLE_COLUMNS)
    return method, kind, sentences, scores.precision, scores.recall, scores.f1, *holes


def _measure_articles(
    data: Sequence[Path],
    test: int,
    trained: int,
    model: str | None,
    encoder: str | None,
    seed: int,
    errors: Console,
) -> list[WorthinessFigures]:
    from importlib.util import find_spec

    if find_spec("scipy") is None:
        raise MissingExtra("Evaluation", "eval")
    from whycite import models
    from whycite.check.detector import load_detector
    from whycite.lab.scope.worthinessexperiments import worthiness_table
    from whycite.lab.scope.worthinessmeasures import split_by_date
    from whycite.lab.train.worthiness.examples import read_labelled

    dev = max(1, test // 2)
    with count_progress(errors, "article") as tell:
        documents = list(islice(read_labelled(data, tell), trained + dev + test))
    table_rows = worthiness_table(
        split_by_date(documents, dev, test),
        load_detector(model, decision="articles"),
        models.load_encoder(encoder or models.DEFAULT),
        seed,
    )
    return [_row(row.method, row.kind, row.sentences, row.scores) for row in table_rows]


def _measure_drafts(
    folder: Path, model: str | None, encoder: str | None, errors: Console
) -> tuple[list[WorthinessFigures], dict[str, object]]:
    """The rows of the table, and the decision for `worthiness.json` that is fitted to all drafts in English."""
    import whycite
    from whycite import models
    from whycite.check.detector import load_detector
    from whycite.check.paragraphs import labelled_document
    from whycite.lab.scope.pipeline import drafts_in
    from whycite.lab.scope.worthinessexperiments import cross_fit, fit_decision, score_draft
    from whycite.lab.scope.worthinessmeasures import TITLES

    detector = cast("FolderDetector", load_detector(model, decision="drafts"))
    compared = models.load_encoder(encoder or models.DEFAULT)
    drafts = []
    with count_progress(errors, "draft") as tell:
        for path in drafts_in(folder):
            name = path.name
            drafts.append(
                score_draft(name, name.partition("-")[0], labelled_document(whycite.read(path)), detector, compared)
            )
            tell(len(drafts))
    english_drafts = [scored_draft for scored_draft in drafts if scored_draft.english]
    number = sum(len(scored_draft.worthy) for scored_draft in drafts)
    english = sum(len(scored_draft.worthy) for scored_draft in english_drafts)
    alone, informed = cross_fit([replace(scored_draft, signs=None) for scored_draft in drafts]), cross_fit(drafts)
    method = f"{detector.name}, {TITLES}"
    rows = [
        _row(detector.name, "all drafts", number, alone.all),
        _row(detector.name, "drafts in English", english, alone.english),
        _row(method, "all drafts", number, informed.all),
        _row(method, "drafts in English", english, informed.english),
        *(
            _row(method, scored_draft.name, len(scored_draft.worthy), scores)
            for scored_draft, scores in informed.by_draft
        ),
    ]
    fitted = replace(fit_decision(english_drafts or drafts), reader=detector.decision.reader)
    return rows, asdict(fitted)


def _show_worthiness(rows: Sequence[WorthinessFigures], console: Console) -> None:
    from rich import box
    from rich.table import Table

    table = Table("Method", "Sentences of", box=box.SIMPLE)
    for name in ("Sentences", "P", "R", "F1", *_HOLE_COLUMNS.values()):
        table.add_column(name, justify="right")
    for method, kind, sentences, *values in rows:
        table.add_row(
            str(method), str(kind), f"{sentences:,}", *("" if value is None else f"{value:.3f}" for value in values)
        )
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)
    say(
        console,
        "Precision, recall and F1 of sentences with citations. Holed: the citation was part of the grammar; a name or"
        ' "previous work" replaces it. At 2.5 %: where 2.5 % of the sentences without citations are flagged.',
    )
    console.print(table)


def pipeline(
    folder: Annotated[
        Path, typer.Argument(metavar="DRAFTS", help="Folder of drafts: projects in subfolders, and files.")
    ],
    library: Annotated[
        str | None, typer.Option("--library", metavar="PATH", help="Also recommend papers in this library.")
    ] = None,
    bibliography: Annotated[
        bool, typer.Option(help="Recommend papers in the drafts' bibliographies (default).")
    ] = True,
    threshold: Annotated[
        float | None,
        typer.Option(min=0, max=1, metavar="T", help="Lowest worthiness to report (0 to 1)."),
    ] = None,
    papers: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Also run SCOPE's chain over what these papers cite; repeatable."),
    ] = None,
    prefetch: Annotated[
        str | None, typer.Option(metavar="NAME", help="Prefetcher of SCOPE's chain; local-bm25 by default.")
    ] = None,
    ranker: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Reranker of SCOPE's chain; BM25 by default.")
    ] = None,
    variant: Annotated[
        str | None, typer.Option(metavar="V", help="Input variant of the reranker; that of its training by default.")
    ] = None,
    k: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Candidates to rerank: 100 by default, 2000 in SCOPE.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Repeat SCOPE's evaluation of the complete pipeline (section 5.6) on your drafts.

    The citations of each sentence are masked; the pipeline should find the sentence, and a paper that it cites. The
    first row is what `whycite check` does; others have the bibliography alone, the library alone, and nothing asked.
    """
    from rich.console import Console

    from whycite.check.detector import load_detector
    from whycite.errors import UserError
    from whycite.lab.scope.candidates import DEFAULT_RECOMMENDER
    from whycite.lab.scope.chain import CHAIN_DEPTH, load_chain
    from whycite.lab.scope.pipeline import as_dict, ask_nothing, drafts_in, run
    from whycite.models import load_encoder
    from whycite.models.cache import CachedEncoder

    if not bibliography and library is None:
        raise UserError("--no-bibliography requires --library")
    if not papers and any(option is not None for option in (prefetch, ranker, variant, k)):
        raise UserError(
            "--prefetch, --ranker, --variant and --k belong to SCOPE's chain; give the papers it searches with --papers"
        )
    opened = None
    if library is not None:
        from whycite.library import Library

        opened = Library.open(library)
    errors = Console(stderr=True, highlight=False)
    drafts = drafts_in(folder)
    pools = [(opened, bibliography)]
    if opened is not None and bibliography:
        pools += [(None, True), (opened, False)]
    detector, encoder = load_detector(), CachedEncoder(load_encoder())
    chain = None
    with stage_progress(errors) as watch:
        if papers:  # first, so that a mistake is told before minutes of measuring
            chain = load_chain(papers, prefetch or DEFAULT_RECOMMENDER, ranker, variant, k or CHAIN_DEPTH, watch)
        outcomes = [
            run(drafts, detector, encoder, pool, threshold=threshold, bibliography=has_bibliography, watch=watch)
            for pool, has_bibliography in pools
        ]
        if chain is not None:
            outcomes.append(run(drafts, detector, encoder, threshold=threshold, chain=chain, watch=watch))
    outcomes.append(ask_nothing(outcomes[0]))
    for sentence in (*outcomes[0].unread, *(chain.unread if chain is not None else ())):
        errors.print(f"warning: {escape_markup(shorten_paths(sentence))}", soft_wrap=True)
    if as_json:
        print_json({**as_dict(outcomes[0]), "rows": [as_dict(outcome) for outcome in outcomes]})
    else:
        _show_pipeline(outcomes, Console(highlight=False))


def _show_pipeline(outcomes: Sequence[PipelineOutcome], console: Console) -> None:
    from rich import box
    from rich.table import Table

    from whycite.lab.scope.chain import CHAIN_STAGES
    from whycite.lab.scope.pipeline import PUBLISHED, PUBLISHED_MS, as_dict, milliseconds

    outcome = outcomes[0]
    figures = as_dict(outcome)
    worthy = figures["worthy"] / figures["sentences"]
    say(
        console,
        f"{count(outcome.drafts, 'draft')}, {count(figures['sentences'], 'sentence')}, {worthy:.1%} with citations.",
    )
    title = "Complete pipeline (SCOPE, table 8)"
    table = Table("Papers from", "in pool", *PUBLISHED, title=title, box=box.SIMPLE, title_justify="left")
    for row in map(as_dict, outcomes):
        table.add_row(row["pool"], f"{row['in_pool']:.3f}", *(f"{row[name]:.3f}" for name in PUBLISHED))
    table.add_row("SCOPE, on its drafts", "", *(f"{value:.3f}" for value in PUBLISHED.values()))
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)
    console.print(table)
    say(
        console,
        "In pool: citing sentences of which a cited paper can be proposed at all; A@k and R@k leave the others out. "
        "SCOPE chose among 27,065 papers.",
    )
    for measured in outcomes:
        if measured.guessed:
            say(
                console,
                f"{measured.pool}: {measured.guessed:.1%} of the citing sentences cite papers that are only guessed, "
                "by the nearest title, as in SCOPE; where the pool is small, most guesses are wrong.",
            )
    console.print()
    times = Table("Stage", "ms", title="Time by stage (SCOPE, section 5.6)", box=box.SIMPLE, title_justify="left")
    stages = {stage: value for row in reversed(outcomes) for stage, value in milliseconds(row).items()}
    for stage, value in sorted(stages.items(), key=lambda pair: pair[0] in CHAIN_STAGES):
        times.add_row(f"{stage}, {_STAGE_UNITS.get(stage, 'per worthy sentence')}", f"{value:,.1f}")
    for stage, value in PUBLISHED_MS.items():
        unit = "per section" if stage == "prefetcher" else _STAGE_UNITS.get(stage, "per worthy sentence")
        times.add_row(f"SCOPE: {stage}, {unit}", f"{value:,.1f}")
    console.print(times)


_STAGE_UNITS = {"extraction": "per sentence", "worthiness": "per paragraph"}
