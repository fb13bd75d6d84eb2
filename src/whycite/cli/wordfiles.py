"""Giving Word documents back: `check --fix` and `verify --format docx` write a copy, or the file itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from whycite.cli.terminal import confirm_changes, count, printable, say
from whycite.errors import UserError
from whycite.files import atomic_write, shorten_paths

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.check.findings import CheckedDraft, Finding
    from whycite.check.fix.worddrafts import FixedWord
    from whycite.cli.fixing import PaperBacking
    from whycite.documents.model import Document
    from whycite.verify.drafts import CitationVerdict

__all__ = ["WordMarks", "fix_word", "write_verdicts"]


class WordMarks(StrEnum):
    """How --fix writes into a Word document."""

    comments = "comments"
    changes = "changes"


def fix_word(
    checked: CheckedDraft,
    marks: WordMarks,
    backing: PaperBacking,
    *,
    out: str | None,
    in_place: bool,
    yes: bool,
) -> Sequence[Finding]:
    """Write what a check says into a Word document: comments, or citations as tracked changes.

    Returns the findings that are fixed, which a comment does not do.
    """
    from rich.console import Console
    from rich.text import Text

    from whycite.check.fix import best_choices
    from whycite.check.fix.worddrafts import comment_findings

    console = Console(highlight=False)
    draft = checked.document.path
    target = _target(draft, out, in_place)
    data = _read(draft)
    now = datetime.now(UTC)
    if marks is WordMarks.comments:
        fixed = comment_findings(checked, data, now)
        written = count(fixed.comments, "comment")
    else:
        fixed = _insert(checked, data, now, backing)
        written = count(len(fixed.fixed), "citation")
        for finding, proposal, citation in fixed.fixed:
            say(console, Text(printable(f"{_place(finding)}: {citation} [{proposal.key}]"), style="green"))
        for refusal in fixed.refused:
            note = f"{_place(refusal.finding)}: {refusal.proposal.key} not added: {refusal.reason}"
            say(console, Text(printable(shorten_paths(note)), style="yellow"))
        needed = sum(finding.kind == "needs-citation" for finding in checked.findings)
        if left_out := needed - len(best_choices(checked)):
            remainder = f"{count(left_out, 'sentence')} left unchanged because no paper is certain enough"
            say(console, printable(f"{shorten_paths(draft)}: {remainder}; --as comments shows the closest."))
    if fixed.content == data:
        say(console, printable(f"{shorten_paths(draft)}: nothing to write."))
    elif not in_place or yes or confirm_changes(console):
        _write(target, fixed.content, draft, data, in_place)
        say(console, printable(f"{shorten_paths(draft)}: {written} added in {shorten_paths(str(target))}."))
        return [finding for finding, _, _ in fixed.fixed]
    else:
        say(console, printable(f"{shorten_paths(draft)}: not changed."))
    return ()


def _insert(checked: CheckedDraft, data: bytes, now: datetime, backing: PaperBacking) -> FixedWord:
    from whycite.check.fix import best_choices
    from whycite.check.fix.worddrafts import insert_citations

    choices = best_choices(checked)
    with backing.objections(len(choices)) as objection:
        return insert_citations(checked, data, now, choices, objection)


def write_verdicts(document: Document, verdicts: Sequence[CitationVerdict], out: str | None, console: Console) -> None:
    """Write the verdicts on a draft's citations as comments into a copy."""
    from whycite.verify.report.wordcomments import comment_verdicts

    draft = document.path
    target = _target(draft, out, in_place=False)
    data = _read(draft)
    content, comments = comment_verdicts(document, data, verdicts, datetime.now(UTC))
    if not comments:
        say(console, printable(f"{shorten_paths(draft)}: nothing to write; no citation could be checked."))
        return
    _write(target, content, draft, data, in_place=False)
    say(console, printable(f"{shorten_paths(draft)}: {count(comments, 'comment')} in {shorten_paths(str(target))}."))


def _place(finding: Finding) -> str:
    return f"{shorten_paths(finding.file)}:{finding.line}"


def _target(draft: str, out: str | None, in_place: bool) -> Path:
    """Where to write: the file that was named, the draft itself, or a copy beside it, which must not exist."""
    if in_place:
        return Path(draft)
    if out is not None:
        if Path(out).resolve() == Path(draft).resolve():
            raise UserError(f"{out}: is the draft itself; name another file, or use --in-place")
        return Path(out)
    path = Path(draft)
    copy = path.with_name(f"{path.stem}-whycite{path.suffix}")
    if copy.exists():
        raise UserError(f"{copy}: already exists; move it away, or name another file with --out")
    return copy


def _read(draft: str) -> bytes:
    path = Path(draft)
    if not path.is_file():
        raise UserError(f"{draft}: not a file on disk, so nothing can be written into it; unpack it first")
    return path.read_bytes()


def _write(target: Path, content: bytes, draft: str, data: bytes, in_place: bool) -> None:
    if in_place and _read(draft) != data:
        raise UserError(f"{draft}: changed since it was checked; nothing was written, check it again")
    mode = Path(draft).stat().st_mode & 0o7777
    with atomic_write(target) as stream:
        stream.write(content)
        Path(stream.name).chmod(mode)
