"""`whycite check --fix`: insert citations into a draft, one at a time on a terminal, or all at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from whycite.cli.terminal import Interruption, confirm_changes, count, printable, say
from whycite.errors import UserError
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.check.findings import CheckedDraft, Finding, Proposal
    from whycite.check.fix import FileChange, FixPlan
    from whycite.check.fix.planning import Objection
    from whycite.documents.model import Reference
    from whycite.verify.claims import OpenDocument
    from whycite.verify.fulltexts import FullText
    from whycite.verify.verification import Verification

__all__ = ["PaperBacking", "fix_draft"]

_HELP = {
    "y": "add this citation",
    "n": "do not add it",
    "c": "choose another paper",
    "a": "add this citation and all others that are certain",
    "q": "quit; do not add this citation or the others",
    "?": "show this help",
}


def fix_draft(checked: CheckedDraft, root: Path | None, yes: bool, backing: PaperBacking) -> Sequence[Finding]:
    """Insert the best citation into every sentence that needs one; on a terminal, ask about each unless `yes`.

    Returns the findings that are fixed.
    """
    from rich.console import Console

    from whycite.check.fix import apply, best_choices

    console = Console(highlight=False)
    draft_name = shorten_paths(checked.document.path)
    asks = not yes and sys.stdin.isatty() and sys.stdout.isatty()
    if asks:
        fix_plan = _review(checked, root, backing, console)
    else:
        fix_plan = _plan_all(checked, root, backing)
        _show_changes(fix_plan.changes, console)
    _show_refusals(fix_plan, console)
    needed = sum(finding.kind == "needs-citation" for finding in checked.findings)
    if left_out := needed - len(best_choices(checked, unsure=asks)):
        why = "no paper is a clear match" if asks else "no paper is certain enough to add without asking"
        say(console, printable(f"{draft_name}: {count(left_out, 'sentence')} left unchanged because {why}."))
    fixed: Sequence[Finding] = ()
    if not fix_plan.changes:
        outcome = "not changed" if needed else "nothing to change"
    elif yes or asks or confirm_changes(console):
        apply(fix_plan)
        added, files = count(len(fix_plan.fixed), "citation"), count(len(fix_plan.changes), "file")
        outcome = f"{added} added, {files} changed"
        fixed = [finding for finding, _ in fix_plan.fixed]
    else:
        outcome = "not changed"
    say(console, printable(f"{draft_name}: {outcome}."))
    return fixed


def _plan_all(checked: CheckedDraft, root: Path | None, backing: PaperBacking) -> FixPlan:
    """The plan for the best citation of every sentence, each verified."""
    from whycite.check.fix import best_choices, plan

    choices = best_choices(checked)
    with backing.objections(len(choices)) as objection:
        return plan(checked, choices, root, objection)


def _review(checked: CheckedDraft, root: Path | None, backing: PaperBacking, console: Console) -> FixPlan:
    """The plan for the citations that the user accepts."""
    from whycite.check.fix import plan

    try:
        accepted = _Review(checked, root, backing, console).run()
    except KeyboardInterrupt:
        raise Interruption(f"{shorten_paths(checked.document.path)} was not changed") from None
    return plan(checked, accepted, root, backing.objection)


class _Review:
    """The changes to a draft, shown one after another; what each would change alone is planned once."""

    def __init__(self, checked: CheckedDraft, root: Path | None, backing: PaperBacking, console: Console) -> None:
        from whycite.check.fix import best_choices, plan
        from whycite.check.reporting.messages import draft_places

        self._checked, self._root = checked, root
        self._backing, self._console = backing, console
        self._place = draft_places(checked)
        self._choices = best_choices(checked, unsure=True)
        self._plan = plan(checked, self._choices, root)

    def run(self) -> dict[int, Proposal]:
        """The proposals that the user accepts, by index of their finding."""
        accepted: dict[int, Proposal] = {}
        # Of a file that the draft reads twice, a sentence is asked about once.
        places = {_place(self._checked.findings[index]): index for index in sorted(self._choices, reverse=True)}
        waiting = sorted(places.values())
        for number, index in enumerate(waiting, 1):
            answer, proposal = self._ask(index, f"({number}/{len(waiting)})")
            if answer in ("y", "a"):
                accepted[index] = proposal
            if answer == "a":
                return accepted | {
                    later: self._choices[later] for later in waiting[number:] if self._choices[later].sure
                }
            if answer == "q":
                break
        return accepted

    def _ask(self, index: int, number: str) -> tuple[str, Proposal]:
        """The answer about the citation for a finding, and the proposal it is about, which the user may change."""
        finding, proposal = self._checked.findings[index], self._choices[index]
        fix_plan = self._plan
        while True:
            refusal = self._show(finding, proposal, fix_plan)
            alternatives = [paper for paper in finding.recommendations if paper.key != proposal.key]
            if refusal and not alternatives:
                return "n", proposal
            question = "Choose another paper" if refusal else "Add this citation"
            answer = self._read_answer(
                f"{number} {question}", ("" if refusal else "y") + "n" + "c" * bool(alternatives)
            )
            if answer != "c":
                return answer, proposal
            proposal = self._choose(finding, proposal)
            fix_plan = self._plan_one(index, proposal)

    def _plan_one(self, index: int, proposal: Proposal) -> FixPlan:
        from whycite.check.fix import plan

        return plan(self._checked, {index: proposal}, self._root)

    def _show(self, finding: Finding, proposal: Proposal, fix_plan: FixPlan) -> str:
        """Show the sentence, the change, the paper and what it says; returns why it cannot be added, or ""."""
        from rich.text import Text

        from whycite.cli.results import show_claim

        self._console.print()
        show_claim(finding, self._console)
        _show_changes(_changes_for(finding, proposal, fix_plan), self._console)
        self._show_paper(finding, proposal)
        if (fits := proposal.recommendation.fits) is not None:
            say(self._console, Text(f"{fits:.0%} likely to fit", style="dim"), indent=8)
        refusal = next((refusal.reason for refusal in fix_plan.refused if refusal.finding == finding), "")
        refusal = refusal or self._backing.objection(finding, proposal)
        if refusal:
            note = Text(printable(f"{proposal.key} cannot be added: {shorten_paths(refusal)}"), style="yellow")
        else:
            note = Text(printable(self._backing.remark(finding, proposal)), style="dim")
        say(self._console, note, indent=8)
        return refusal

    def _show_paper(self, finding: Finding, proposal: Proposal) -> None:
        """Show a paper; the chance that it fits is no part of the order of several."""
        from whycite.cli.results import show_proposal

        show_proposal(proposal, finding.claim, self._place, self._console)

    def _choose(self, finding: Finding, proposal: Proposal) -> Proposal:
        """Another paper for a finding; the same if the user only presses Enter."""
        papers = finding.recommendations
        for paper in papers:
            self._show_paper(finding, paper)
        ranks = {str(paper.recommendation.rank): paper for paper in papers}
        while True:
            answer = self._read_line(f"Which paper [{','.join(ranks)}; Enter for the same]? ")
            if answer in ("", "q"):
                return proposal
            if answer in ranks:
                return ranks[answer]

    def _read_answer(self, question: str, letters: str) -> str:
        """One of the letters, "a" or "q"; other input shows the help."""
        letters += ("a" if "y" in letters else "") + "q"
        while True:
            answer = self._read_line(f"{question} [{','.join(letters)},?]? ").lower()[:1]
            if answer and answer in letters:
                return answer
            for letter in f"{letters}?":
                say(self._console, f"{letter} - {_HELP[letter]}")

    def _read_line(self, question: str) -> str:
        self._console.print(question, end="", markup=False, style="bold blue")
        try:
            return input().strip()
        except EOFError:  # Ctrl-D
            self._console.print()
            return "q"


def _place(finding: Finding) -> tuple[str, int, int]:
    return finding.file, finding.start, finding.end


def _changes_for(finding: Finding, proposal: Proposal, fix_plan: FixPlan) -> Sequence[FileChange]:
    """What the citation alone would change; nothing if the plan refuses it."""
    for (fixed, cited), changes in zip(fix_plan.fixed, fix_plan.separate_changes, strict=True):
        if _place(fixed) == _place(finding) and cited.key == proposal.key:
            return changes
    return ()


_COLOURS: Mapping[str, str] = {"+": "green", "-": "red", "@": "cyan"}


def _show_changes(changes: Sequence[FileChange], console: Console) -> None:
    from rich.text import Text

    from whycite.check.fix.edits import diff

    for line in diff(changes).splitlines():
        say(console, Text(printable(line), style=_COLOURS.get(line[:1], "default")))


def _show_refusals(fix_plan: FixPlan, console: Console) -> None:
    from rich.text import Text

    for refusal in fix_plan.refused:
        finding = refusal.finding
        note = f"{finding.file}:{finding.line}: {refusal.proposal.key} not added: {refusal.reason}"
        say(console, Text(printable(shorten_paths(note)), style="yellow"))


# -- whether a paper backs a sentence ------------------------------------------

_MAX_QUOTATION = 200  # characters of a passage
_OBJECTIONS = {"contradicted": "the paper says otherwise", "not found": "the paper does not say so; closest"}


class PaperBacking:
    """Verifies sentences against the full texts of a folder and of a library, each pair once."""

    def __init__(self, papers: str | None, library: Path | str | None = None, use_library: bool = True) -> None:
        self._papers, self._library, self._use_library = papers, library, use_library
        self._verifications: dict[tuple[str, int, str], Verification | None] = {}
        self._open_papers: dict[str, OpenDocument] = {}

    def objection(self, finding: Finding, proposal: Proposal) -> str:
        """Why the paper must not be cited for the sentence; "" if it backs it or cannot be asked."""
        verification = self._verify(finding, proposal)
        if verification is None or verification.verdict not in _OBJECTIONS:
            return ""
        return _OBJECTIONS[verification.verdict] + _quotation(verification)

    @contextmanager
    def objections(self, number: int) -> Iterator[Objection]:
        """`objection`, with a bar that shows how many of so many papers were verified."""
        from rich.console import Console

        from whycite.cli.progress import stage_progress

        verified_count = 0
        with stage_progress(Console(stderr=True, highlight=False)) as bar:

            def objection(finding: Finding, proposal: Proposal) -> str:
                nonlocal verified_count
                bar("verifying papers", verified_count, number)
                verified_count += 1
                return self.objection(finding, proposal)

            yield objection

    def remark(self, finding: Finding, proposal: Proposal) -> str:
        """What the full text says, in one line."""
        verification = self._verify(finding, proposal)
        if verification is None:
            return "not verified: the full text is not at hand"
        if verification.verdict == "could not check":
            return f"not verified: {verification.reason}"
        return f"verified, {verification.verdict}{_quotation(verification)}"

    def _verify(self, finding: Finding, proposal: Proposal) -> Verification | None:
        place = finding.file, finding.start, proposal.key
        if place not in self._verifications:
            self._verifications[place] = self._ask(finding.claim, proposal)
        return self._verifications[place]

    def _ask(self, claim: str, proposal: Proposal) -> Verification | None:
        from whycite.verify.verification import unchecked

        full_text = self._full_text(proposal)
        if full_text is None:
            return None
        try:
            return self._opened(full_text).verify(claim)
        except UserError as error:  # a file that is gone or cannot be read
            return unchecked(claim, str(error))

    def _full_text(self, proposal: Proposal) -> FullText | None:
        if not self._full_texts:
            return None
        from whycite.verify.fulltexts import match_references

        return match_references([_reference(proposal)], self._full_texts)[0]

    def _opened(self, full_text: FullText) -> OpenDocument:
        from whycite.verify.claims import open_document
        from whycite.verify.fulltexts import open_full_text

        if full_text.path not in self._open_papers:
            self._open_papers[full_text.path] = open_document(open_full_text(full_text))
        return self._open_papers[full_text.path]

    @cached_property
    def _full_texts(self) -> list[FullText]:
        """All full texts; those of the folder come first."""
        from whycite.verify.fulltexts import texts_in_folder, texts_in_library

        full_texts = texts_in_folder(self._papers) if self._papers is not None else []
        if self._use_library:
            from whycite.library import Library
            from whycite.library.paths import default_path, library_exists

            place = Path(self._library).expanduser() if self._library is not None else default_path()
            full_texts += texts_in_library(Library.open(place)) if library_exists(place) else []
        return full_texts


def _reference(proposal: Proposal) -> Reference:
    """What identifies the proposed paper."""
    from whycite.documents.model import Reference

    paper = proposal.recommendation.paper
    kind, _, name = paper.key.partition(":")
    return Reference(
        proposal.key,
        title=paper.title,
        authors=paper.authors,
        year=paper.year,
        doi=paper.doi,
        arxiv=name if kind == "arxiv" else "",
        pmid=name if kind == "pmid" else "",
    )


def _quotation(verification: Verification) -> str:
    """The passage that decides, to go after a verdict."""
    if not verification.passages:
        return ""
    text = " ".join(verification.deciding_first()[0].text.split())
    return f": “{text if len(text) <= _MAX_QUOTATION else text[:_MAX_QUOTATION].rsplit(' ', 1)[0] + ' …'}”"
