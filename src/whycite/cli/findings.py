"""Findings as people read them: the sentence and where it stands, how sure, the best papers and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from whycite.cli.answers import byline
from whycite.cli.emphasis import shared
from whycite.cli.terminal import count, printable, say

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from whycite.check import Checked, Finding, Proposal
    from whycite.recommend import Evidence

__all__ = ["show"]

_LONGEST = 300  # characters of a quotation


def show(found: Sequence[Checked], console: Console) -> None:
    """Print what was found in drafts, and how much at the end."""
    from whycite.check.reporting.words import own_places

    shown = 0
    for checked in found:
        place = own_places(checked)
        for finding in checked.findings:
            if finding.kind == "needs-citation" or finding.recommendations:
                if shown:
                    console.print()
                _show(finding, place, console)
                shown += 1
    if shown:
        console.print()
    for checked in found:
        say(console, printable(_summary(checked)))


def _show(finding: Finding, place: Callable[[Evidence], str], console: Console) -> None:
    from rich.text import Text

    from whycite.check.reporting.words import POOR, needs

    where = Text(printable(f"{finding.file}:{finding.line}:{finding.column}"), style="cyan")
    if finding.kind == "needs-citation":
        said = Text(f": {needs(finding)} ({finding.worthiness:.0%} sure)", style="yellow")
    else:
        said = Text(printable(f": cites {', '.join(finding.cites) or 'something unknown'}"), style="green")
    say(console, where.append_text(said))
    say(console, Text(printable(finding.text), style="bold"), indent=2)
    if finding.doubtful:
        say(console, Text(POOR, style="dim"), indent=4)
    for proposal in finding.recommendations:
        _paper(proposal, finding.text, place, console)
    if not finding.recommendations:
        say(console, Text("no paper at hand fits it", style="dim"), indent=4)


def _paper(proposal: Proposal, claim: str, place: Callable[[Evidence], str], console: Console) -> None:
    from rich.text import Text

    recommendation = proposal.recommendation
    paper = recommendation.paper
    head = Text(printable(proposal.key), style="green" if proposal.known else "magenta")
    head.append("" if proposal.known else " (new)", style="dim")
    head.append(printable(f"  {paper.title or '(no title)'}"), style="default")
    say(console, head, indent=6, mark=f"  {recommendation.rank}")
    say(console, Text(printable(byline(paper)), style="dim"), indent=8)
    if recommendation.evidence:
        evidence = recommendation.evidence[0]
        say(console, _quoted(evidence.span, claim), indent=8)
        source = evidence.source
        where = place(evidence) or f"{source.title or source.key} ({source.year or 'no year'})"
        say(console, Text(printable(f"— {where}"), style="dim"), indent=10)
    else:
        say(console, Text("its title fits", style="dim"), indent=8)


def _quoted(span: str, claim: str) -> Text:
    """What cites the paper, with the words that it shares with the claim."""
    from rich.text import Text

    said = printable(span)
    if len(said) > _LONGEST:
        said = said[:_LONGEST].rsplit(" ", 1)[0] + " …"
    text = Text(said)
    for start, end in shared(said, claim):
        text.stylize("bold cyan", start, end)
    return Text("“").append_text(text).append("”")


def _summary(checked: Checked) -> str:
    needed = sum(finding.kind == "needs-citation" for finding in checked.findings)
    cited = sum(finding.kind == "cited" for finding in checked.findings)
    needs = "needs" if needed == 1 else "need"
    return (
        f"{checked.document.path}: {count(needed, 'sentence')} of {len(checked.findings):,} {needs} a citation, "
        f"{cited:,} {'cites' if cited == 1 else 'cite'} already."
    )
