"""Claims with known answers: the citing text of held-out papers (ILCiteR, section 7.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from whycite.documents import Document, Reference
from whycite.errors import UserError
from whycite.evidence import EvidenceSpan
from whycite.evidence.words import has_content_words
from whycite.lab.evaluate.statistics import draw

__all__ = ["CHOICES", "ClaimCase", "ClaimCases", "HeldOutPaper", "answerable", "choose", "claim_cases"]

CHOICES = ("random", "supported")

Find = Callable[[Sequence[Reference]], Sequence[str | None]]
"""Looks up the library's keys for references; None for unknown papers."""


@dataclass(frozen=True, slots=True)
class HeldOutPaper:
    """What a recommender would know of a held-out paper while it was still a draft."""

    key: str
    title: str
    year: int | None
    cited: tuple[str, ...]  # papers of the library, in order of first citation
    paragraphs: Mapping[str, str]  # without citations, by number


@dataclass(frozen=True, slots=True)
class ClaimCase:
    """A claim, its source, and the true papers that the library knows."""

    id: str
    text: str
    source: int  # index into the held-out papers
    section_type: str | None
    paragraph: str  # its number
    earlier: int  # number of papers its source cites in sentences before it
    truth: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClaimCases:
    """All claims of held-out papers; a text that occurs several times is one claim with all its papers."""

    sources: tuple[HeldOutPaper, ...]
    cases: tuple[ClaimCase, ...]


def claim_cases(documents: Iterable[tuple[str, Document, Sequence[EvidenceSpan]]], find: Find) -> ClaimCases:
    """Collect the claims of documents from their evidence spans (5.2), skipping those without content words."""
    papers = [_CitingPaper.from_document(*document) for document in documents]
    references = [reference for paper in papers for reference in paper.references]
    keys = iter(find(references))  # all at once: each library query has a high fixed cost
    sources: list[HeldOutPaper] = []
    cases_by_text: dict[str, ClaimCase] = {}
    for paper in papers:
        keyed_references = zip(paper.references, islice(keys, len(paper.references)), strict=True)
        keys_by_id = {reference.id: key for reference, key in keyed_references if key}
        first_citing: dict[str, int] = {}  # sentence in which each paper is first cited
        for sentence, ids in paper.citing:
            first_citing |= {
                keys_by_id[id]: sentence for id in ids if id in keys_by_id and keys_by_id[id] not in first_citing
            }
        for number, (span, paragraph) in enumerate(paper.spans):
            truth = {keys_by_id[id] for id in span.keys if id in keys_by_id}
            earlier = sum(sentence < span.sentence for sentence in first_citing.values())
            case = ClaimCase(
                f"{paper.key}#{number}", span.text, len(sources), span.section_type, paragraph, earlier, ()
            )
            case = cases_by_text.get(span.text, case)
            cases_by_text[span.text] = replace(case, truth=tuple(sorted({*case.truth, *truth})))
        sources.append(HeldOutPaper(paper.key, paper.title, paper.year, tuple(first_citing), paper.paragraphs))
    return ClaimCases(tuple(sources), tuple(case for case in cases_by_text.values() if has_content_words(case.text)))


@dataclass(frozen=True, slots=True)
class _CitingPaper:
    """The parts of a document that are needed, so the rest need not stay in memory."""

    key: str
    title: str
    year: int | None
    references: tuple[Reference, ...]
    spans: tuple[tuple[EvidenceSpan, str], ...]  # with paragraph numbers
    paragraphs: Mapping[str, str]
    citing: tuple[tuple[int, tuple[str, ...]], ...]  # sentences with what they cite

    @classmethod
    def from_document(cls, key: str, document: Document, spans: Sequence[EvidenceSpan]) -> _CitingPaper:
        numbers = [str(document.sentences[span.sentence].paragraph) for span in spans]
        paragraphs: dict[str, list[str]] = {number: [] for number in numbers}
        citing = []
        for index, sentence in enumerate(document.sentences):
            if str(sentence.paragraph) in paragraphs:
                paragraphs[str(sentence.paragraph)].append(sentence.without_citations())
            citing.append((index, tuple(key for citation in sentence.citations for key in citation.keys)))
        return cls(
            key,
            document.paper.title,
            document.paper.year,
            document.references,
            tuple(zip(spans, numbers, strict=True)),
            {number: " ".join(sentences) for number, sentences in paragraphs.items()},
            tuple(citing),
        )


def answerable(cases: Iterable[ClaimCase], support: Mapping[str, int]) -> list[ClaimCase]:
    """Claims with a true paper in the database; `support` has the database's papers."""
    return [case for case in cases if any(key in support for key in case.truth)]


def choose(
    cases: Iterable[ClaimCase], support: Mapping[str, int], choice: str, number: int, seed: int = 0
) -> list[ClaimCase]:
    """Choose up to `number` answerable claims.

    - `random`: a random sample
    - `supported`: those with the best supported true papers, as in ILCiteR; easier
    """
    if number < 2:
        raise UserError(f"at least two claims are needed to compare methods, not {number}")
    usable = answerable(cases, support)
    if choice == "random":
        return draw(usable, lambda case: case.id, number, seed)
    if choice == "supported":
        return sorted(usable, key=lambda case: -max(support.get(key, 0) for key in case.truth))[:number]
    raise UserError(f"unknown choice '{choice}'; choose one of: {', '.join(CHOICES)}")
