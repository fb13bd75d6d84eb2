"""A recommendation as people read it: the paper, how often it is cited, and the sentences that cite it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from whycite.cli.emphasis import shared
from whycite.cli.terminal import printable, say

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from whycite.library import Paper
    from whycite.recommend import Evidence, Recommendation

__all__ = ["byline", "show"]

_SHOWN = 3  # evidence spans a paper
_LONGEST = 300  # characters of a quotation
_LEAST = 0.0005  # what is less is 0 in the digits shown


def show(
    recommendations: Sequence[Recommendation],
    claim: str,
    console: Console,
    explain: bool = False,
    spans: int = _SHOWN,
    doubt: float | None = None,
) -> None:
    """Print recommendations; on a terminal the words that evidence shares with the claim stand out.

    If the best one scores less than `doubt`, it is said that nothing clearly fits.
    """
    from rich.text import Text

    if recommendations and doubt is not None and recommendations[0].score < doubt:
        say(console, Text("Nothing in your library clearly fits this claim. The nearest:", style="yellow"))
    for recommendation in recommendations:
        paper = recommendation.paper
        if recommendation.rank > 1:
            console.print()
        title = Text(printable(paper.title) or "(no title)", style="bold")
        say(console, title, indent=4, mark=f"{recommendation.rank:>2}")
        say(console, Text(printable(byline(paper)), style="dim"), indent=4)
        say(console, Text(_standing(recommendation), style="green" if recommendation.evidence else "yellow"), indent=4)
        for evidence in recommendation.evidence[:spans]:
            say(console, _quotation(evidence, claim), indent=6)
            say(console, Text(printable(_source(evidence)), style="dim"), indent=8)
        if explain:
            say(console, _explained(recommendation), indent=4)


def byline(paper: Paper) -> str:
    """ "Doe et al. (2010), Journal of Things, doi:10.1000/1"; what is not known is left out."""
    families = [author.split(",")[0] for author in paper.authors]
    if len(families) > 2:
        who = f"{families[0]} et al."
    else:
        who = " and ".join(families)
    parts = [f"{who or 'unknown author'} ({paper.year or 'no year'})", paper.venue]
    if not paper.key.startswith("title:"):  # that key is the title over again
        parts.append(paper.key)
    return ", ".join(part for part in parts if part)


def _standing(recommendation: Recommendation) -> str:
    times = {1: "once", 2: "twice"}.get(recommendation.support, f"{recommendation.support:,} times")
    if recommendation.evidence:
        return f"cited {times} in your library:"
    elsewhere = f", though it is cited {times}" if recommendation.support else ""
    return f"no one in your library cites it for this{elsewhere}; its title matches"


def _quotation(evidence: Evidence, claim: str) -> Text:
    """The sentence the span stands in, or the span alone where that is long."""
    from rich.text import Text

    whole = len(evidence.sentence) <= _LONGEST
    quoted = printable(evidence.sentence if whole and evidence.sentence else evidence.span)
    if len(quoted) > _LONGEST:
        quoted = quoted[:_LONGEST].rsplit(" ", 1)[0] + " …"
    text = Text(quoted)
    for start, end in shared(quoted, claim):
        text.stylize("bold cyan", start, end)
    return Text("“").append_text(text).append("”")


def _source(evidence: Evidence) -> str:
    source = evidence.source
    return f"— {source.title or source.key or 'a document without title'} ({source.year or 'no year'})"


def _explained(recommendation: Recommendation) -> str:
    shares = sorted(recommendation.shares.items(), key=lambda share: -abs(share[1]))
    parts = ", ".join(f"{printable(name)} {value:+.3f}" for name, value in shares if abs(value) >= _LEAST)
    return f"score {recommendation.score:.3f} = {parts}" if parts else f"score {recommendation.score:.3f}"
