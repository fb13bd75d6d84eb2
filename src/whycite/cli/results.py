"""Printing recommendations, findings and verdicts as text."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from whycite.cli.terminal import count, printable, say
from whycite.errors import UserError
from whycite.files import shorten_paths
from whycite.text.lemmas import lemma
from whycite.text.tokens import terms
from whycite.text.wordlists import FUNCTION_WORDS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from whycite.check.findings import CheckedDraft, Finding, Proposal
    from whycite.cite.recommendations import Evidence, Recommendation
    from whycite.library import Paper
    from whycite.verify.drafts import CitationVerdict
    from whycite.verify.verification import Passage, Verification

__all__ = [
    "answer_record",
    "byline",
    "certainty",
    "shared_words",
    "show_findings",
    "show_recommendations",
    "show_verdicts",
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
_MIN_SHARE = 0.0005  # smaller shares round to 0 in the digits shown


def show_recommendations(
    recommendations: Sequence[Recommendation],
    claim: str,
    console: Console,
    explain: bool = False,
    spans: int = _MAX_SPANS,
    doubt: float | None = None,
) -> None:
    """Print recommendations, highlighting the words that evidence shares with the claim.

    If the best one scores less than `doubt`, a note says that there is no clear match.
    """
    from rich.text import Text

    if recommendations and doubt is not None and recommendations[0].score < doubt:
        say(
            console, Text("No paper in your library is a clear match for this claim. The closest ones:", style="yellow")
        )
    for recommendation in recommendations:
        paper = recommendation.paper
        if recommendation.rank > 1:
            console.print()
        title = Text(printable(paper.title) or "(no title)", style="bold")
        say(console, title, indent=4, mark=f"{recommendation.rank:>2}")
        say(console, Text(printable(byline(paper)), style="dim"), indent=4)
        say(
            console,
            Text(_citation_count(recommendation), style="green" if recommendation.evidence else "yellow"),
            indent=4,
        )
        for evidence in recommendation.evidence[:spans]:
            say(console, _quote_evidence(evidence, claim), indent=6)
            say(console, Text(printable(_source_line(evidence)), style="dim"), indent=8)
        if explain:
            say(console, _score_parts(recommendation), indent=4)


def byline(paper: Paper) -> str:
    """ "Doe et al. (2010), Journal of Things, doi:10.1000/1"; unknown parts are left out."""
    families = [author.split(",")[0] for author in paper.authors]
    if len(families) > 2:
        who = f"{families[0]} et al."
    else:
        who = " and ".join(families)
    parts = [f"{who or 'unknown author'} ({paper.year or 'no year'})", paper.venue]
    if not paper.key.startswith("title:"):  # this key repeats the title
        parts.append(paper.key)
    return ", ".join(part for part in parts if part)


def _citation_count(recommendation: Recommendation) -> str:
    times = {1: "once", 2: "twice"}.get(recommendation.support, f"{recommendation.support:,} times")
    if recommendation.evidence:
        return f"cited {times} in your library:"
    elsewhere = f", though it is cited {times} for other claims" if recommendation.support else ""
    return f"matches by title; not cited for this in your library{elsewhere}"


def _quote_evidence(evidence: Evidence, claim: str) -> Text:
    """Quote the sentence of the span, or only the span if the sentence is long."""
    from rich.text import Text

    whole = len(evidence.sentence) <= _MAX_QUOTATION
    quoted = printable(evidence.sentence if whole and evidence.sentence else evidence.span)
    if len(quoted) > _MAX_QUOTATION:
        quoted = quoted[:_MAX_QUOTATION].rsplit(" ", 1)[0] + " …"
    text = Text(quoted)
    for start, end in shared_words(quoted, claim):
        text.stylize("bold cyan", start, end)
    return Text("“").append_text(text).append("”")


def _source_line(evidence: Evidence) -> str:
    source = evidence.source
    return f"— {source.title or source.key or 'untitled document'} ({source.year or 'no year'})"


def _score_parts(recommendation: Recommendation) -> str:
    shares = sorted(recommendation.shares.items(), key=lambda share: -abs(share[1]))
    parts = ", ".join(f"{printable(name)} {value:+.3f}" for name, value in shares if abs(value) >= _MIN_SHARE)
    return f"score {recommendation.score:.3f} = {parts}" if parts else f"score {recommendation.score:.3f}"


_MAX_SPAN_LENGTH = 300  # characters


def show_findings(reports: Sequence[CheckedDraft], console: Console) -> None:
    """Print the findings of drafts, and a summary of each draft at the end."""
    from whycite.check.reporting.messages import draft_places

    shown = 0
    for checked in reports:
        place = draft_places(checked)
        for finding in checked.findings:
            if finding.kind == "needs-citation" or finding.recommendations:
                if shown:
                    console.print()
                _show_finding(finding, place, console)
                shown += 1
    if shown:
        console.print()
    for checked in reports:
        say(console, printable(_summary(checked)))


def _show_finding(finding: Finding, place: Callable[[Evidence], str], console: Console) -> None:
    from rich.text import Text

    from whycite.check.reporting.messages import NO_CLEAR_FIT, need_phrase

    where = Text(printable(f"{shorten_paths(finding.file)}:{finding.line}:{finding.column}"), style="cyan")
    if finding.kind == "needs-citation":
        label = Text(f": {need_phrase(finding)} (worthiness {finding.worthiness:.2f})", style="yellow")
    else:
        label = Text(printable(f": cites {', '.join(finding.cites) or 'an unknown reference'}"), style="green")
    say(console, where.append_text(label))
    say(console, Text(printable(finding.text), style="bold"), indent=2)
    if finding.doubtful:
        say(console, Text(NO_CLEAR_FIT, style="dim"), indent=4)
    for proposal in finding.recommendations:
        _show_proposal(proposal, finding.text, place, console)
    if not finding.recommendations:
        say(console, Text("no matching papers", style="dim"), indent=4)


def _show_proposal(proposal: Proposal, claim: str, place: Callable[[Evidence], str], console: Console) -> None:
    from rich.text import Text

    recommendation = proposal.recommendation
    paper = recommendation.paper
    head = Text(printable(proposal.key), style="green" if proposal.in_bibliography else "magenta")
    head.append("" if proposal.in_bibliography else " (new)", style="dim")
    head.append(printable(f"  {paper.title or '(no title)'}"), style="default")
    say(console, head, indent=6, mark=f"  {recommendation.rank}")
    say(console, Text(printable(byline(paper)), style="dim"), indent=8)
    if recommendation.evidence:
        evidence = recommendation.evidence[0]
        say(console, _quote_span(evidence.span, claim), indent=8)
        source = evidence.source
        where = shorten_paths(place(evidence)) or f"{source.title or source.key} ({source.year or 'no year'})"
        say(console, Text(printable(f"— {where}"), style="dim"), indent=10)
    else:
        say(console, Text("matches by title", style="dim"), indent=8)


def _quote_span(span: str, claim: str) -> Text:
    """Quote the span that cites the paper, highlighting the words it shares with the claim."""
    from rich.text import Text

    quotation = printable(span)
    if len(quotation) > _MAX_SPAN_LENGTH:
        quotation = quotation[:_MAX_SPAN_LENGTH].rsplit(" ", 1)[0] + " …"
    text = Text(quotation)
    for start, end in shared_words(quotation, claim):
        text.stylize("bold cyan", start, end)
    return Text("“").append_text(text).append("”")


def _summary(checked: CheckedDraft) -> str:
    needed = sum(finding.kind == "needs-citation" for finding in checked.findings)
    cited = sum(finding.kind == "cited" for finding in checked.findings)
    needs = "needs" if needed == 1 else "need"
    return (
        f"{shorten_paths(checked.document.path)}: {needed:,} of {count(len(checked.findings), 'sentence')} {needs} a "
        f"citation; {cited:,} already {'has' if cited == 1 else 'have'} one."
    )


_COLOURS = {"backed": "green", "contradicted": "red", "not found": "yellow", "could not check": "dim"}
_BAR_WIDTH = 10  # columns
_MAX_PASSAGE_LENGTH = 400  # characters
_MAX_CLAIM_LENGTH = 120  # characters
_MAX_SENTENCES = 100_000  # per record
_EXPECTED = 'expected a JSON object such as {"id": "1", "claim": "the claim", "sentences": ["one", "another"]}'


def certainty(verification: Verification) -> str:
    """The confidence of a verdict in words: "probably (71%)"."""
    sure = verification.confidence
    words = "almost certainly" if sure >= 0.85 else "probably" if sure >= 0.65 else "perhaps"
    return f"{words} ({round(100 * sure)}%)"


def show_verification(verification: Verification, console: Console, n: int) -> None:
    """Print the verdict, the reason, and the best passages."""
    from rich.text import Text

    line = Text(verification.verdict, style=f"bold {_COLOURS[verification.verdict]}")
    if verification.verdict != "could not check":
        line.append(f", {certainty(verification)}", style="not bold default")
    say(console, line)
    if verification.reason:
        say(console, printable(f"{verification.reason[:1].upper()}{verification.reason[1:]}."))
    for passage in verification.passages[:n]:
        console.print()
        say(console, _quote_passage(passage, verification.claim), indent=4, mark=f"{passage.rank:>2}")
        say(console, Text(printable(_passage_details(passage)), style="dim"), indent=4)


def _quote_passage(passage: Passage, claim: str) -> Text:
    from rich.text import Text

    shown = printable(passage.text)
    if len(shown) > _MAX_PASSAGE_LENGTH:
        shown = shown[:_MAX_PASSAGE_LENGTH].rsplit(" ", 1)[0] + " …"
    text = Text(shown)
    for start, end in shared_words(shown, claim):
        text.stylize("bold cyan", start, end)
    return Text("“").append_text(text).append("”")


def _passage_details(passage: Passage) -> str:
    """The score as a bar, the section, and notes about numbers and quotations."""
    full = round(_BAR_WIDTH * passage.score)
    parts = [f"{'█' * full}{'░' * (_BAR_WIDTH - full)} {passage.score:.2f}", passage.section, passage.numbers]
    return "  ".join(part for part in (*parts, "quotes the claim, so it is not evidence" * passage.quotes) if part)


def show_verdicts(citation_verdicts: Sequence[CitationVerdict], console: Console) -> None:
    """Print the verdict on every citation of a draft, and the totals."""
    from rich.text import Text

    for checked in citation_verdicts:
        verification = checked.verification
        line = Text(f"{verification.verdict}", style=_COLOURS[verification.verdict])
        if verification.verdict != "could not check":
            line.append(f", {certainty(verification)}", style="default")
        say(console, line)
        say(console, Text(f"“{_shorten_claim(printable(checked.claim))}”"), indent=2)
        place = shorten_paths(checked.file if checked.line is None else f"{checked.file}:{checked.line}")
        say(console, Text(printable(place), style="cyan"), indent=2)
        title = printable(checked.reference.title) or "(no title)"
        say(console, Text(f"cites {printable(checked.reference.id)}: {title}", style="dim"), indent=2)
        say(console, Text(printable(shorten_paths(verification.reason)), style="dim"), indent=2)
        if verification.passages and verification.verdict != "could not check":
            best = next((passage for passage in verification.passages if not passage.quotes), verification.passages[0])
            say(console, _quote_passage(best, checked.claim), indent=4)
        console.print()
    verdicts = Counter(checked.verification.verdict for checked in citation_verdicts)
    totals = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in _COLOURS if verdicts[verdict])  # type: ignore[index]
    say(console, f"{count(len(citation_verdicts), 'citation')}{': ' if totals else ''}{totals}.")


def _shorten_claim(text: str) -> str:
    return text if len(text) <= _MAX_CLAIM_LENGTH else text[:_MAX_CLAIM_LENGTH].rsplit(" ", 1)[0] + " …"


def answer_record(line: str, place: str) -> dict[str, Any]:
    """Answer a record of a batch with the score of every sentence and the verdict."""
    from whycite.verify.claims import verify_sentences
    from whycite.verify.verification import verdict_json

    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{place}: invalid JSON; {_EXPECTED}") from error
    if not isinstance(record, dict):
        raise UserError(f"{place}: {_EXPECTED}")
    _check_record(record, place)
    try:
        verification = verify_sentences(record["claim"], record["sentences"], record.get("sections"))
    except UserError as error:
        raise UserError(f"{place}: {error}") from error
    scores = [0.0] * len(record["sentences"])
    for passage in verification.passages:
        scores[passage.index] = round(passage.score, 6)
    return {"id": record["id"], "scores": scores, **verdict_json(verification)}


def _check_record(record: dict[str, Any], place: str) -> None:
    for key in ("id", "claim", "sentences"):
        if record.get(key) is None:
            raise UserError(f'{place}: "{key}" is missing; {_EXPECTED}')
    if type(record["id"]) not in (str, int, float) or record["id"] == "":
        raise UserError(f'{place}: "id" must be a string or a number')
    if not isinstance(record["claim"], str):
        raise UserError(f'{place}: "claim" must be a string, not {json.dumps(record["claim"])[:40]}')
    for key in ("sentences", "sections"):
        texts = record.get(key, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise UserError(f'{place}: "{key}" must be a list of strings')
    if len(record["sentences"]) > _MAX_SENTENCES:
        raise UserError(f"{place}: {len(record['sentences']):,} sentences, but at most {_MAX_SENTENCES:,} are allowed")
