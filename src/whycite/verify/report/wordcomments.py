"""The report as comments in a Word document: each citation that was judged, at its sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from whycite.documents.model import Document
from whycite.documents.word.editing import WordComment
from whycite.documents.word.odfediting import open_editor
from whycite.verify.drafts import CitationVerdict
from whycite.verify.report.overview import (
    authors_and_year,
    main_passages,
    passage_facts,
    reference_title,
    sentence_case,
)
from whycite.verify.verification import certainty

__all__ = ["comment_verdicts"]


def comment_verdicts(
    draft: Document, data: bytes, verdicts: Sequence[CitationVerdict], date: datetime
) -> tuple[bytes, int]:
    """The document with a comment on every citation that was judged or has a warning, and how many there are.

    Citations that could not be checked for lack of the paper are left out, unless something else is to be said.
    """
    editor = open_editor(draft, data, date)
    count = 0
    for checked in verdicts:
        if not (checked.missing and not checked.notes and not checked.warning):
            text = "\n".join(_lines(checked))
            count += editor.add_comment(WordComment(checked.start, max(checked.end, checked.start + 1), text))
    return (editor.result() if count else data), count


def _lines(checked: CitationVerdict) -> Iterator[str]:
    verification = checked.verification
    is_judged = verification.verdict != "could not check"
    sure = f", {certainty(verification)}" if is_judged else ""
    yield sentence_case(f"{verification.verdict}{sure}")
    work = " ".join(filter(None, (authors_and_year(checked.reference), reference_title(checked.reference))))
    yield f"Claim: “{checked.claim}” Cited: {work or checked.reference.id}"
    if checked.warning:
        yield checked.warning
    yield from map(sentence_case, checked.notes)
    if verification.reason:
        yield sentence_case(verification.reason)
    for passage in main_passages(verification) if is_judged else ():
        facts = "; ".join(passage_facts(passage))
        yield f"The paper: “{passage.text}”{f' ({facts})' if facts else ''}"
