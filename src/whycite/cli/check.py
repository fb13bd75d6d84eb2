"""`whycite check`: find missing citations in a draft; `--fix` adds them, `--watch` checks again on every change."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.terminal import AsJson, LibraryPath, draft_errors
from whycite.cli.wordfiles import WordMarks, fix_word
from whycite.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.check.findings import CheckedDraft, Finding
    from whycite.check.proposals import ProposerFactory
    from whycite.check.settings import CheckSettings
    from whycite.cli.progress import LiveReport
    from whycite.documents import Document
    from whycite.references.report import ReferenceReport

__all__ = [
    "CheckFormat",
    "FailOn",
    "check",
]


class CheckFormat(StrEnum):
    """Output formats."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"
    html = "html"


class FailOn(StrEnum):
    """Findings that can make a check fail."""

    needs_citation = "needs-citation"
    retracted = "retracted"
    concern = "concern"
    corrected = "corrected"


def check(
    drafts: Annotated[
        list[str], typer.Argument(metavar="DRAFT...", help="Files or project folders; - reads Markdown or plain text.")
    ],
    format: Annotated[
        CheckFormat | None, typer.Option(help="Output format: text, json, sarif, github or html.")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the report to a file; with --fix, the copy of a .docx or .odt."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="T",
            help="Lowest worthiness to report (0 to 1); 0.6, or 0.4 in a draft that hardly cites yet.",
        ),
    ] = None,
    section: Annotated[
        list[str] | None, typer.Option(metavar="TYPE", help="Check only sections of this type; repeatable.")
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Also recommend papers for sentences with citations.")] = False,
    n: Annotated[
        int | None, typer.Option("-n", metavar="N", min=1, max=100, help="Papers per sentence; 3 by default.")
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Add the best citations to the draft, asking about each on a terminal.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Let --fix write without asking.")] = False,
    marks: Annotated[
        WordMarks | None,
        typer.Option("--as", help="How --fix writes into a .docx or .odt: comments (default) or tracked changes."),
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Let --fix change a .docx or .odt itself, not a copy.")
    ] = False,
    papers: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Folder of full texts; --fix verifies papers by these and by the library's."),
    ] = None,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            metavar="KIND",
            help="Exit with 1 if there is such a finding (with --fix, if one is left): needs-citation, retracted, "
            "concern or corrected.",
        ),
    ] = None,
    worthiness: Annotated[
        str | None, typer.Option(metavar="DIR", help="Worthiness model to use instead of the bundled one.")
    ] = None,
    library: LibraryPath = None,
    no_library: Annotated[
        bool, typer.Option("--no-library", help="Recommend only papers from the draft's bibliography.")
    ] = False,
    pool: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="Propose papers by SCOPE's chain, from all that the papers in this file or folder cite; repeatable.",
        ),
    ] = None,
    prefetch: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --pool: how candidates are chosen; local-bm25 by default."),
    ] = None,
    ranker: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="With --pool: what orders candidates, a trained ranker; BM25 by default."),
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(metavar="V", help="With --pool: what the ranker reads; what it was trained with by default."),
    ] = None,
    references: Annotated[
        bool, typer.Option("--references", help="Also check the bibliography, as whycite references does.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Check again whenever a file is saved.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find sentences in a draft that need a citation, and papers they could cite."""
    _check_options(drafts, format, out, fix, yes, papers, library, no_library, as_json)
    _check_word_options(drafts, out, fix, marks, in_place)
    _check_pool_options(pool, (prefetch, ranker, variant), fix, library, no_library)
    if watch and (fix or fail_on or "-" in drafts or (not out and (as_json or format not in (None, CheckFormat.text)))):
        raise UserError("--watch cannot be used with -, --fix or --fail-on, and only prints text unless --out is given")
    if references and (fix or "-" in drafts or format is CheckFormat.html):
        raise UserError(
            "--references cannot be used with -, --fix or --format html; whycite references --fix mends references"
        )
    from whycite import structure
    from whycite.cli.progress import stage_progress

    errors = _error_console()
    make_proposer = None
    if pool:
        from whycite.check.proposals import open_chain

        with stage_progress(errors) as bar:
            make_proposer = open_chain(pool, prefetch, ranker, variant, bar)
    run = _CheckRun(
        drafts=tuple(drafts),
        format=CheckFormat.json if as_json else format,
        out=out,
        threshold=threshold,
        sections=tuple(structure.parse_section_type(name) for name in section or ()),
        all=all,
        n=n,
        fix=fix,
        fail_on=fail_on,
        worthiness=worthiness,
        library=library,
        no_library=no_library,
        make_proposer=make_proposer,
        references=references,
        watch=watch,
        errors=errors,
    )
    if watch:
        from whycite.cli.watching import watch_drafts

        watch_drafts(drafts, run.check_drafts, out, errors)
    reports, fails = run.check_drafts()
    if fix:
        fails = run.fix_drafts(reports, papers, marks or WordMarks.comments, in_place=in_place, yes=yes)
    if fails:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class _CheckRun:
    """What the user asked for, once its options are known to go together."""

    drafts: tuple[str, ...]
    format: CheckFormat | None
    out: str | None
    threshold: float | None
    sections: tuple[str, ...]
    all: bool
    n: int | None
    fix: bool
    fail_on: FailOn | None
    worthiness: str | None
    library: str | None
    no_library: bool
    make_proposer: ProposerFactory | None  # of the chain that searches a pool; None without --pool
    references: bool
    watch: bool
    errors: Console

    def check_drafts(self) -> tuple[list[CheckedDraft], bool]:
        """Check all drafts and report them, text on the terminal as it comes; whether the command fails."""
        from whycite.cli.progress import LiveReport, stage_progress

        all_settings = [_draft_settings(draft) for draft in self.drafts]
        format = self._output_format(all_settings)
        streams = format is CheckFormat.text and self.out in (None, "-") and not self.fix
        reports: list[CheckedDraft] = []
        with stage_progress(self.errors) as bar:
            live = LiveReport(bar, self.errors, streams)
            for draft, settings in zip(self.drafts, all_settings, strict=True):
                with live.interruptible(draft), draft_errors():
                    reports.append(self._check_draft(draft, settings, live))
            live.finish(reports)
        bibliographies = [
            _check_bibliography(draft, self.library or settings.library, self.no_library)
            for draft, settings in zip(self.drafts if self.references else (), all_settings, strict=False)
        ]
        if streams:
            _show_bibliographies(bibliographies)
        elif not self.fix:
            _write_report(self.drafts, reports, format, self.out, bibliographies)
        fails = any(
            self._fails_on(checked.findings, settings) for checked, settings in zip(reports, all_settings, strict=True)
        )
        return reports, fails

    def fix_drafts(
        self, reports: Sequence[CheckedDraft], papers: str | None, marks: WordMarks, *, in_place: bool, yes: bool
    ) -> bool:
        """Write citations into the drafts; whether the command fails for what is left."""
        from whycite.cli.fixing import PaperBacking, fix_draft
        from whycite.documents.word.odfediting import WRITTEN_FORMATS

        fails = False
        for draft, checked in zip(self.drafts, reports, strict=True):
            settings = _draft_settings(draft)
            backing = PaperBacking(papers, self.library or settings.library, use_library=not self.no_library)
            if checked.document.format in WRITTEN_FORMATS:
                fixed = fix_word(checked, marks, backing, out=self.out, in_place=in_place, yes=yes)
            else:
                fixed = fix_draft(checked, _checked_folder(draft), yes, backing)
            fails = fails or self._fails_on(checked.findings, settings, fixed)
        return fails

    def _output_format(self, all_settings: Sequence[CheckSettings]) -> CheckFormat:
        if self.watch and not self.out:
            return CheckFormat.text
        names = [settings.format for settings in all_settings if settings.format]
        return self.format or CheckFormat([*names, "text"][0])

    def _check_draft(self, draft: str, settings: CheckSettings, live: LiveReport) -> CheckedDraft:
        from whycite.check.detector import load_detector
        from whycite.check.pipeline import check_draft

        document, texts = _read_draft(draft)
        return check_draft(
            document,
            self.library or settings.library,
            threshold=settings.threshold if self.threshold is None else self.threshold,
            thresholds=settings.thresholds if self.threshold is None else None,
            sections=self.sections or settings.sections or None,
            all=self.all,
            n=self.n or settings.n or 3,
            detector=load_detector(self.worthiness) if self.worthiness else None,
            use_library=not self.no_library and self.make_proposer is None,
            make_proposer=self.make_proposer,
            ignore_rules=settings.ignore_rules,
            texts=texts,
            progress=live.progress,
            on_findings=live.show,
        )

    def _fails_on(self, findings: Sequence[Finding], settings: CheckSettings, fixed: Sequence[Finding] = ()) -> bool:
        """Whether the user asked to fail on one of the findings; one that is fixed no longer needs a citation."""
        failing_kind = self.fail_on.value if self.fail_on else settings.fail_on
        kinds = (finding.kind for finding in findings if finding not in fixed)
        return failing_kind in {*kinds, *(problem.rule for finding in findings for problem in finding.problems)}


def _check_options(
    drafts: Sequence[str],
    format: CheckFormat | None,
    out: str | None,
    fix: bool,
    yes: bool,
    papers: str | None,
    library: str | None,
    no_library: bool,
    as_json: bool,
) -> None:
    """Reject options that cannot be combined."""
    if as_json and format not in (None, CheckFormat.json):
        raise UserError(f"--json cannot be used with --format {format.value}")
    if library is not None and no_library:
        raise UserError("--library cannot be used with --no-library")
    if yes and not fix:
        raise UserError("--yes can only be used with --fix")
    if papers is not None and not fix:
        raise UserError("--papers can only be used with --fix; to verify the citations of a draft, use whycite verify")
    if fix and (format not in (None, CheckFormat.text) or as_json):
        raise UserError("--fix cannot be used with --format or --json")
    if out not in (None, "-") and not Path(out).absolute().parent.is_dir():
        raise UserError(f"{out}: cannot be written: its folder does not exist")
    if "-" in drafts and (fix or len(drafts) > 1):
        raise UserError("- (standard input) cannot be used with --fix or with other drafts")


def _check_pool_options(
    pool: Sequence[Path] | None, chain: Sequence[object], fix: bool, library: str | None, no_library: bool
) -> None:
    """Reject options of SCOPE's chain without papers that it can search, and options that a chain does not use."""
    if not pool:
        if any(option is not None for option in chain):
            raise UserError(
                "--prefetch, --ranker and --variant belong to SCOPE's chain; give the papers it searches with --pool"
            )
        return
    if library is not None or no_library:
        raise UserError("--pool cannot be used with --library or --no-library: the chain searches the pool alone")
    if fix:
        raise UserError("--pool cannot be used with --fix: of papers from a pool, too little is known to cite them")


def _check_word_options(
    drafts: Sequence[str], out: str | None, fix: bool, marks: WordMarks | None, in_place: bool
) -> None:
    """Reject options of --fix for Word documents where they mean nothing."""
    from whycite.documents.word.odfediting import is_written

    name = "--as" if marks is not None else "--in-place" if in_place else "--out" if fix and out else ""
    if not name:
        return
    if not fix:
        raise UserError(f"{name} can only be used with --fix")
    if not all(map(is_written, drafts)):
        raise UserError(f"--fix can only be used with {name} if the draft is a Word document (.docx) or an .odt file")
    if out and (in_place or len(drafts) > 1):
        raise UserError("--out names one copy; it cannot be used with --in-place or several drafts")


def _draft_settings(draft: str) -> CheckSettings:
    from whycite.check.settings import settings_for

    return settings_for(Path.cwd() if draft == "-" else Path(draft))


def _read_draft(draft: str) -> tuple[str | Document, dict[str, str] | None]:
    """The draft; standard input is returned as a document together with its text."""
    if draft != "-":
        return draft, None
    from whycite.documents.reading import readers
    from whycite.documents.sources import MemoryFolder, Source, decode

    data = sys.stdin.buffer.read()
    if not data.strip():
        raise UserError("standard input is empty; expected a draft in Markdown or plain text")
    source = Source(MemoryFolder({"stdin": data}, ""), "stdin")
    return next(iter(readers()["markdown"].read(source))), {"stdin": decode(data)[0]}


def _check_bibliography(draft: str, library: str | Path | None, no_library: bool) -> ReferenceReport:
    from whycite.references import check_references

    return check_references(draft, library, use_library=not no_library)


def _show_bibliographies(reports: Sequence[ReferenceReport]) -> None:
    from rich.console import Console

    from whycite.cli.references import show_references

    for report in reports:
        show_references(report, Console(highlight=False))


def _write_report(
    drafts: Sequence[str],
    reports: Sequence[CheckedDraft],
    format: CheckFormat,
    out: str | None,
    bibliographies: Sequence[ReferenceReport],
) -> None:
    from whycite.cli.terminal import open_output

    with open_output(out) as stream:
        if format is CheckFormat.text:
            stream.write(_render_text(reports, bibliographies))
        else:
            stream.write(_render(drafts, reports, format, bibliographies))


def _render(
    drafts: Sequence[str],
    reports: Sequence[CheckedDraft],
    format: CheckFormat,
    bibliographies: Sequence[ReferenceReport],
) -> bytes:
    from whycite.check.findings import checked_draft_json
    from whycite.cli.terminal import json_line
    from whycite.references.report import github_report, report_json, with_sarif_run

    if format is CheckFormat.json:
        rows = [dict(checked_draft_json(checked)) for checked in reports]
        for row, bibliography in zip(rows, bibliographies, strict=False):
            row["references"] = report_json(bibliography)["references"]
        return b"".join(map(json_line, rows))
    from whycite.check.reporting import codereview, html

    if format is CheckFormat.sarif:
        log = codereview.sarif(reports, [_checked_folder(draft) for draft in drafts])
        return with_sarif_run(log, bibliographies).encode("utf-8", "replace")
    if format is CheckFormat.github:
        return (codereview.github(reports) + github_report(bibliographies)).encode("utf-8", "replace")
    return html.report(reports).encode("utf-8", "replace")


def _checked_folder(draft: str) -> Path | None:
    """The folder that was checked, if the draft was given as one."""
    return Path(draft) if Path(draft).is_dir() else None


def _render_text(reports: Sequence[CheckedDraft], bibliographies: Sequence[ReferenceReport]) -> bytes:
    import io

    from rich.console import Console

    from whycite.cli.references import show_references
    from whycite.cli.results import show_findings

    page = io.StringIO()
    console = Console(highlight=False, file=page, force_terminal=False, width=120)
    show_findings(reports, console)
    for bibliography in bibliographies:
        show_references(bibliography, console)
    return page.getvalue().encode("utf-8", "replace")


def _error_console() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False)
