"""Verifications as people read them, and the records of a batch."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from whycite.cli.emphasis import shared
from whycite.cli.terminal import count, printable, say
from whycite.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from whycite.verify import CitationVerdict, Passage, Verification

__all__ = ["answered", "certainty", "show", "table"]

_COLOURS = {"backed": "green", "contradicted": "red", "not found": "yellow", "could not check": "dim"}
_BAR = 10  # columns of a score
_LONGEST = 400  # characters of a passage that are shown
_CLAIM = 120  # characters of a claim in a table
_MOST = 100_000  # sentences of a record
_EXPECTED = 'expected a JSON object such as {"id": "1", "claim": "the claim", "sentences": ["one", "another"]}'


def certainty(verification: Verification) -> str:
    """How sure a verdict is, in words: "probably (71 %)"."""
    sure = verification.confidence
    words = "almost certainly" if sure >= 0.85 else "probably" if sure >= 0.65 else "perhaps"
    return f"{words} ({round(100 * sure)} %)"


def show(verification: Verification, console: Console, n: int) -> None:
    """Print the verdict, why, and the best passages."""
    from rich.text import Text

    line = Text(verification.verdict, style=f"bold {_COLOURS[verification.verdict]}")
    if verification.verdict != "could not check":
        line.append(f", {certainty(verification)}", style="not bold default")
    say(console, line)
    if verification.reason:
        say(console, printable(f"{verification.reason[:1].upper()}{verification.reason[1:]}."))
    for passage in verification.passages[:n]:
        console.print()
        say(console, _passage(passage, verification.claim), indent=4, mark=f"{passage.rank:>2}")
        say(console, Text(printable(_beside(passage)), style="dim"), indent=4)


def _passage(passage: Passage, claim: str) -> Text:
    from rich.text import Text

    shown = printable(passage.text)
    if len(shown) > _LONGEST:
        shown = shown[:_LONGEST].rsplit(" ", 1)[0] + " …"
    text = Text(shown)
    for start, end in shared(shown, claim):
        text.stylize("bold cyan", start, end)
    return Text("“").append_text(text).append("”")


def _beside(passage: Passage) -> str:
    """The score as a bar, the section, and what is to be said of numbers and quotation."""
    full = round(_BAR * passage.score)
    parts = [f"{'█' * full}{'░' * (_BAR - full)} {passage.score:.2f}", passage.section, passage.numbers]
    return "  ".join(part for part in (*parts, "a quotation of the claim: backs nothing" * passage.quotes) if part)


def table(found: Sequence[CitationVerdict], console: Console) -> None:
    """Print the citations of a draft with their verdicts, and how many there are of each."""
    from rich.text import Text

    for checked in found:
        verification = checked.verification
        line = Text(f"{verification.verdict}", style=_COLOURS[verification.verdict])
        if verification.verdict != "could not check":
            line.append(f", {certainty(verification)}", style="default")
        say(console, line)
        say(console, Text(f"“{_cut(printable(checked.claim))}”"), indent=2)
        place = checked.file if checked.line is None else f"{checked.file}:{checked.line}"
        say(console, Text(printable(place), style="cyan"), indent=2)
        title = printable(checked.reference.title) or "(no title)"
        say(console, Text(f"cites {printable(checked.reference.id)}: {title}", style="dim"), indent=2)
        say(console, Text(printable(verification.reason), style="dim"), indent=2)
        if verification.passages and verification.verdict != "could not check":
            best = next((each for each in verification.passages if not each.quotes), verification.passages[0])
            say(console, _passage(best, checked.claim), indent=4)
        console.print()
    verdicts = Counter(checked.verification.verdict for checked in found)
    told = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in _COLOURS if verdicts[verdict])  # type: ignore[index]
    say(console, f"{count(len(found), 'citation')}{': ' if told else ''}{told}")


def _cut(text: str) -> str:
    return text if len(text) <= _CLAIM else text[:_CLAIM].rsplit(" ", 1)[0] + " …"


def answered(line: str, place: str) -> dict[str, Any]:
    """The answer to a record of a batch: a score for each sentence in their order, and the verdict."""
    from whycite.verify import sentences

    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{place}: not JSON; {_EXPECTED}") from error
    if not isinstance(record, dict):
        raise UserError(f"{place}: {_EXPECTED}")
    _check(record, place)
    try:
        found = sentences(record["claim"], record["sentences"], record.get("sections"))
    except UserError as error:
        raise UserError(f"{place}: {error}") from error
    scores = [0.0] * len(record["sentences"])
    for passage in found.passages:
        scores[passage.index] = round(passage.score, 6)
    return {
        "id": record["id"],
        "scores": scores,
        "verdict": found.verdict,
        "confidence": round(found.confidence, 4),
        "chances": {name: round(chance, 4) for name, chance in found.chances.items()},
        "reason": found.reason,
    }


def _check(record: dict[str, Any], place: str) -> None:
    for key in ("id", "claim", "sentences"):
        if record.get(key) is None:
            raise UserError(f'{place}: "{key}" is missing; {_EXPECTED}')
    if type(record["id"]) not in (str, int, float) or record["id"] == "":
        raise UserError(f'{place}: "id" must be a name or a number')
    if not isinstance(record["claim"], str):
        raise UserError(f'{place}: "claim" must be a string, not {json.dumps(record["claim"])[:40]}')
    for key in ("sentences", "sections"):
        given = record.get(key, [])
        if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
            raise UserError(f'{place}: "{key}" must be a list of strings')
    if len(record["sentences"]) > _MOST:
        raise UserError(f"{place}: {len(record['sentences']):,} sentences; give {_MOST:,} at most")
