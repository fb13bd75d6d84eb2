"""Printing recommendations, findings and verdicts as text."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from whycite.cli.terminal import count, printable, say
from whycite.files import shorten_paths
from whycite.text.tokens import lemma, terms
from whycite.text.wordlists import FUNCTION_WORDS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from whycite.check.findings import CheckedDraft, Finding, Proposal
    from whycite.cite.reception import Agreement, CitingExample, Reception
    from whycite.cite.recommendations import Evidence, Recommendation
    from whycite.evidence.citationfunctions import CitationFunction
    from whycite.library import Paper
    from whycite.verify.drafts import CitationVerdict
    from whycite.verify.report import DraftReport
    from whycite.verify.verification import Passage, Verification

__all__ = [
    "FindingPrinter",
    "byline",
    "shared_words",
    "show_claim",
    "show_draft_report",
    "show_findings",
    "show_proposal",
    "show_recommendations",
    "show_status",
    "show_verification",
]


_WORD = re.compile(r"[^\W_]+")


def shared_words(text: str, claim: str) -> list[tuple[int, int]]:
    """The ranges in `text` of words that also occur in `claim`, regardless of inflection, case and accents."""
    claim_words = {_word_form(word) for word in _WORD.findall(claim)} - {""}
    return [match.span() for match in _WORD.finditer(text) if _word_form(match[0]) in claim_words]


@lru_cache(maxsize=4096)
def _word_form(word: str) -> str:
    """The form of a word to compare; empty for function words."""
    folded = "".join(terms(word))
    return "" if folded in FUNCTION_WORDS or len(folded) < 2 else lemma(folded)


_MAX_SPANS = 3  # evidence spans per paper
_MAX_QUOTATION = 300  # characters
_AFTER_CITATION = 60  # characters of a long quotation from the authors' names on, which its year is among
_MIN_SHARE = 0.0005  # smaller shares round to 0 in the digits shown


def show_recommendations(
    recommendations: Sequence[Recommendation],
    claim: str,
    console: Console,
    explain: bool = False,
    spans: int = _MAX_SPANS,
    fits: float | None = None,
) -> None:
    """Print recommendations, highlighting the words that evidence shares with the claim.

    `fits` is the chance that a paper of the library fits; if it is low, a note says so.
    """
    from rich.text import Text

    from whycite.cite.fit import nothing_fits
    from whycite.cite.recommendations import NOTHING_FITS, passage_place

    if recommendations and nothing_fits(fits):
        say(console, Text(NOTHING_FITS, style="yellow"))
    for recommendation in recommendations:
        paper = recommendation.paper
        if recommendation.rank > 1:
            console.print()
        title = Text(printable(paper.title) or "(no title)", style="bold")
        say(console, title, indent=4, mark=f"{recommendation.rank:>2}")
        say(console, Text(printable(byline(paper)), style="dim"), indent=4)
        show_status(paper, console, indent=4)
        say(
            console,
            Text(_citation_count(recommendation), style="green" if recommendation.evidence else "yellow"),
            indent=4,
        )
        for evidence in recommendation.evidence[:spans]:
            say(console, _quote_evidence(evidence, claim, paper), indent=6)
            say(console, Text(printable(_source_line(evidence)), style="dim"), indent=8)
        for passage in recommendation.passages:
            say(console, _quote(passage.text, claim, paper), indent=6)
            say(console, Text(printable(f"— {passage_place(passage)}"), style="dim"), indent=8)
        if recommendation.reception is not None:
            shown = {evidence.sentence for evidence in recommendation.evidence[:spans]}
            _show_reception(recommendation.reception, claim, paper, shown, console)
        if explain:
            say(console, _score_parts(recommendation), indent=4)


_USES: Mapping[CitationFunction, str] = {
    "background": "background",
    "method": "a method",
    "result": "a result",
    "pointer": "further reading",
}
_ATTITUDES: Mapping[Agreement, str] = {"agree": "agreeing", "disagree": "disagreeing"}


def _show_reception(reception: Reception, claim: str, paper: Paper, shown: Collection[str], console: Console) -> None:
    """Print how a paper is cited, with examples that were not shown as evidence."""
    from rich.text import Text

    uses = [f"for {_USES[name]} {_times(number)}" for name, number in reception.functions.items()]
    uses += [f"{_ATTITUDES[name]} with it {_times(number)}" for name, number in reception.agreements.items()]
    if not uses:
        return
    unread = f" ({count(reception.unread, 'more sentence')} not read)" if reception.unread else ""
    say(console, Text(f"cited {', '.join(uses)}{unread}", style="green"), indent=4)
    for name, words in (*_USES.items(), *_ATTITUDES.items()):
        example = reception.examples.get(name)
        if example is not None and example.sentence not in shown:
            say(console, Text(f"{words}: ").append_text(_quote(example.sentence, claim, paper)), indent=6)
            say(console, Text(printable(_source_line(example)), style="dim"), indent=8)


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def show_status(paper: Paper, console: Console, indent: int) -> None:
    """Print in red that a paper was retracted or corrected; nothing if it stands."""
    from rich.text import Text

    from whycite.documents.references.notices import describe_status

    if paper.status:
        say(console, Text(printable(describe_status(paper.status, paper.notices)), style="bold red"), indent=indent)


def byline(paper: Paper) -> str:
    """ "Doe et al. (2010), Journal of Things, doi:10.1000/1, @doe2010"; unknown parts are left out."""
    families = [author.split(",")[0] for author in paper.authors]
    if len(families) > 2:
        who = f"{families[0]} et al."
    else:
        who = " and ".join(families)
    parts = [f"{who or 'unknown author'} ({paper.year or 'no year'})", paper.venue]
    if not paper.key.startswith("title:"):  # this key repeats the title
        parts.append(paper.key)
    if paper.citation_key:
        parts.append(f"@{paper.citation_key}")
    return ", ".join(part for part in parts if part)


def _citation_count(recommendation: Recommendation) -> str:
    from whycite.cite.recommendations import match_reason

    times = _times(recommendation.support)
    if recommendation.citing_documents and recommendation.support > 1:
        times += f" by {count(recommendation.citing_documents, 'article')}"
    if recommendation.evidence:
        return f"cited {times} in your library:"
    elsewhere = f", though it is cited {times} for other claims" if recommendation.support else ""
    return f"{match_reason(recommendation)}; not cited for this in your library{elsewhere}"


def _quote_evidence(evidence: Evidence, claim: str, paper: Paper) -> Text:
    """Quote the sentence as it was written, or only the span if the sentence is long, with the claim's words marked."""

    sentence, span = evidence.sentence or evidence.span, evidence.span
    return _quote(span if len(sentence) > _MAX_QUOTATION and span in sentence else sentence, claim, paper)


def _quote(sentence: str, claim: str, paper: Paper) -> Text:
    from rich.text import Text

    quoted = _shorten_quotation(printable(sentence), paper)
    text = Text(quoted)
    for start, end in shared_words(quoted, claim):
        text.stylize("bold cyan", start, end)
    return Text("“").append_text(text).append("”")


def _shorten_quotation(quoted: str, paper: Paper) -> str:
    """The beginning of a long quotation, or the part that ends with the citation of the paper if that comes later."""
    if len(quoted) <= _MAX_QUOTATION:
        return quoted
    family = paper.authors[0].partition(",")[0] if paper.authors else ""
    end = min(len(quoted), quoted.find(family) + _AFTER_CITATION) if family else 0
    if end <= _MAX_QUOTATION:
        return quoted[:_MAX_QUOTATION].rsplit(" ", 1)[0] + " …"
    part = "… " + quoted[end - _MAX_QUOTATION : end].partition(" ")[2]
    return part if end == len(quoted) else part.rsplit(" ", 1)[0] + " …"


def _source_line(evidence: Evidence | CitingExample) -> str:
    source = evidence.source
    return f"— {source.title or source.key or 'untitled document'} ({source.facts or 'no year'})"


def _score_parts(recommendation: Recommendation) -> str:
    shares = sorted(recommendation.shares.items(), key=lambda share: -abs(share[1]))
    parts = ", ".join(f"{printable(name)} {value:+.3f}" for name, value in shares if abs(value) >= _MIN_SHARE)
    return f"score {recommendation.score:.3f} = {parts}" if parts else f"score {recommendation.score:.3f}"


class FindingPrinter:
    """Prints findings as they come, and a summary of each draft at the end."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._count = 0

    def show(self, judged: CheckedDraft, findings: Sequence[Finding]) -> Iterator[Finding]:
        """Print some findings of a draft, whose other findings may have no papers yet; yields what was printed."""
        from whycite.check.reporting.messages import draft_places, is_reported

        place = draft_places(judged)
        for finding in findings:
            if is_reported(finding):
                if self._count:
                    self._console.print()
                _show_finding(finding, place, self._console)
                self._count += 1
            yield finding

    def summarise(self, reports: Sequence[CheckedDraft]) -> None:
        """Print the numbers of each draft."""
        if self._count:
            self._console.print()
        for checked in reports:
            say(self._console, printable(_summary(checked)))


def show_findings(reports: Sequence[CheckedDraft], console: Console) -> None:
    """Print the findings of drafts, and a summary of each draft at the end."""
    printer = FindingPrinter(console)
    for checked in reports:
        deque(printer.show(checked, checked.findings), maxlen=0)
    printer.summarise(reports)


def _show_finding(finding: Finding, place: Callable[[Evidence], str], console: Console) -> None:
    from rich.text import Text

    from whycite.check.reporting.messages import NO_CLEAR_FIT

    show_claim(finding, console)
    if finding.doubtful:
        say(console, Text(NO_CLEAR_FIT, style="dim"), indent=4)
    for problem in finding.problems:
        say(console, Text(printable(f"{problem.key}: {problem.message}"), style="red"), indent=4)
    for proposal in finding.recommendations:
        show_proposal(proposal, finding.claim, place, console)
    if finding.kind == "needs-citation" and not finding.recommendations:
        say(console, Text("no matching papers", style="dim"), indent=4)


def show_claim(finding: Finding, console: Console) -> None:
    """Print where a finding is, what decided, and the sentence or the clause that it is about."""
    from rich.text import Text

    from whycite.check.reporting.messages import need_phrase, problem_phrase, reason

    where = Text(printable(f"{shorten_paths(finding.file)}:{finding.line}:{finding.column}"), style="cyan")
    if finding.kind == "needs-citation":
        label = Text(f": {need_phrase(finding)} ({reason(finding)})", style="yellow")
    elif finding.problems:
        label = Text(f": {problem_phrase(finding)}", style="bold red")
    else:
        label = Text(printable(f": cites {', '.join(finding.cites) or 'an unknown reference'}"), style="green")
    say(console, where.append_text(label))
    quoted = f"… {finding.clause}" if finding.clause else finding.text
    say(console, Text(printable(quoted), style="bold"), indent=2)


def show_proposal(proposal: Proposal, claim: str, place: Callable[[Evidence], str], console: Console) -> None:
    """Print a paper for a sentence, with the best evidence; `place` locates evidence in the draft itself."""
    from rich.text import Text

    from whycite.cite.recommendations import match_reason

    recommendation = proposal.recommendation
    paper = recommendation.paper
    head = Text(printable(proposal.key), style="green" if proposal.in_bibliography else "magenta")
    head.append("" if proposal.in_bibliography else " (new)", style="dim")
    head.append(printable(f"  {paper.title or '(no title)'}"), style="default")
    say(console, head, indent=6, mark=f"  {recommendation.rank}")
    say(console, Text(printable(byline(paper)), style="dim"), indent=8)
    show_status(paper, console, indent=8)
    if recommendation.evidence:
        evidence = recommendation.evidence[0]
        say(console, _quote_evidence(evidence, claim, paper), indent=8)
        source = evidence.source
        where = shorten_paths(place(evidence)) or f"{source.title or source.key} ({source.facts or 'no year'})"
        say(console, Text(printable(f"— {where}"), style="dim"), indent=10)
    else:
        say(console, Text(match_reason(recommendation), style="dim"), indent=8)


# What to try next: of 61 sentences that need a citation in five new drafts, 9 lie between this and what is reported.
_LOWER_THRESHOLD = 0.3


def _summary(checked: CheckedDraft) -> str:
    needed = sum(finding.kind == "needs-citation" for finding in checked.findings)
    cited = sum(finding.kind == "cited" for finding in checked.findings)
    total = len(checked.findings)
    needs = "needs" if needed == 1 or total == 1 else "need"
    likelier = sum(finding.kind == "ok" and finding.worthiness >= _LOWER_THRESHOLD for finding in checked.findings)
    more_findings = f" {likelier:,} more may need one: --threshold {_LOWER_THRESHOLD:g}." if likelier else ""
    retracted = len({p.key for finding in checked.findings for p in finding.problems if p.rule == "retracted"})
    warning = f" The draft cites {count(retracted, 'retracted paper')}." if retracted else ""
    return (
        f"{shorten_paths(checked.document.path)}: {needed:,} of {count(total, 'sentence')} {needs} a "
        f"citation; {cited:,} already {'has' if cited == 1 else 'have'} one.{warning}{more_findings}"
    )


_COLOURS = {
    "contradicted": "red",
    "secondary": "blue",
    "not found": "yellow",
    "backed": "green",
    "could not check": "dim",
}
_DECIDING_MARK = "▶"
_CONTRARY_COLOUR = "magenta"  # of passages that contradict the claim
_BAR_WIDTH = 10  # columns
_MAX_PASSAGE_LENGTH = 400  # characters
_MAX_PLACES = 10  # of citations that could not be checked for the same reason


def show_verification(verification: Verification, console: Console, n: int) -> None:
    """Print the verdict, the reason, and the best passages, those that decided in front."""
    from rich.text import Text

    from whycite.verify.verification import certainty

    line = Text(verification.verdict, style=f"bold {_COLOURS[verification.verdict]}")
    if verification.verdict != "could not check":
        line.append(f", {certainty(verification)}", style="not bold default")
    say(console, line)
    if verification.reason:
        say(console, printable(f"{verification.reason[:1].upper()}{verification.reason[1:]}."))
    for passage in verification.deciding_first()[:n]:
        console.print()
        mark = f"{_DECIDING_MARK if passage.decides else ' '}{passage.rank}"
        say(console, _quote_passage(passage, verification.claim, _MAX_PASSAGE_LENGTH), indent=4, mark=mark)
        say(console, Text(printable(_passage_details(passage)), style=_details_style(passage)), indent=4)


def _quote_passage(passage: Passage, claim: str, max_length: int | None = None) -> Text:
    from rich.text import Text

    shown = printable(passage.text)
    if max_length is not None and len(shown) > max_length:
        shown = shown[:max_length].rsplit(" ", 1)[0] + " …"
    text = Text(shown)
    for start, end in shared_words(shown, claim):
        text.stylize("bold cyan", start, end)
    return Text("“").append_text(text).append("”")


def _passage_details(passage: Passage) -> str:
    """The score as a bar, and where the passage stands and what is to be said about it."""
    from whycite.verify.report.overview import passage_facts

    full = round(_BAR_WIDTH * passage.score)
    bar = f"{'█' * full}{'░' * (_BAR_WIDTH - full)} {passage.score:.2f}"
    return "  ".join((bar, *passage_facts(passage)))


def _details_style(passage: Passage) -> str:
    return _CONTRARY_COLOUR if passage.stance == "contradicts" else "dim"


def show_draft_report(report: DraftReport, console: Console) -> None:
    """Print the verdicts on the citations of a draft, worst first, what could not be checked, and the totals."""
    from rich.text import Text

    from whycite.verify.report.overview import (
        SHORT_LIST,
        authors_and_year,
        reference_link,
        reference_title,
        sentence_case,
    )

    for checked in (*report.judged, *report.noted):
        _show_citation(checked, console)
        console.print()
    if report.missing:
        papers = count(len(report.missing), "paper")
        say(console, Text(f"No full text of {papers}; put the files into a folder and give it with --papers:"))
        for paper in report.missing[:SHORT_LIST]:
            reference = paper.reference
            about = (authors_and_year(reference), reference_title(reference), reference_link(reference)[0])
            line = Text(printable(". ".join(part for part in about if part)))
            say(console, line, indent=7, mark=f"{len(paper.citations):>4}×")
        if len(report.missing) > SHORT_LIST:
            number = len(report.missing) - SHORT_LIST
            say(console, Text(f"and {number:,} more; --format html lists them all", style="dim"), indent=7)
        console.print()
    for group in report.unchecked:
        say(console, Text(printable(shorten_paths(sentence_case(group.reason)))))
        places = [_place(checked) for checked in group.citations]
        rest = f" and {len(places) - _MAX_PLACES:,} more" if len(places) > _MAX_PLACES else ""
        say(console, Text(printable(", ".join(places[:_MAX_PLACES]) + rest), style="cyan"), indent=2)
    if report.unchecked:
        console.print()
    say(console, report.summary)


def _show_citation(checked: CitationVerdict, console: Console) -> None:
    from rich.text import Text

    from whycite.verify.report.overview import main_passages, passage_facts
    from whycite.verify.verification import certainty

    verification = checked.verification
    is_judged = verification.verdict != "could not check"
    line = Text(verification.verdict, style=_COLOURS[verification.verdict])
    if is_judged:
        line.append(f", {certainty(verification)}", style="default")
    say(console, line)
    say(console, Text(f"“{printable(checked.claim)}”"), indent=2)
    section = f"  {checked.section}" if checked.section else ""
    say(console, Text(printable(_place(checked)), style="cyan").append(printable(section), style="dim"), indent=2)
    title = printable(checked.reference.title) or "(no title)"
    say(console, Text(f"cites {printable(checked.reference.id)}: {title}", style="dim"), indent=2)
    if checked.warning:
        say(console, Text(printable(checked.warning), style="bold red"), indent=2)
    for note in checked.notes:
        say(console, Text(printable(f"note: {note}"), style="yellow"), indent=2)
    say(console, Text(printable(shorten_paths(verification.reason)), style="dim"), indent=2)
    for passage in main_passages(verification) if is_judged else ():
        mark = f"  {_DECIDING_MARK}" if passage.decides else ""
        say(console, _quote_passage(passage, checked.claim), indent=4, mark=mark)
        if facts := passage_facts(passage):
            say(console, Text(printable("  ".join(facts)), style=_details_style(passage)), indent=4)


def _place(checked: CitationVerdict) -> str:
    return shorten_paths(checked.file if checked.line is None else f"{checked.file}:{checked.line}")
