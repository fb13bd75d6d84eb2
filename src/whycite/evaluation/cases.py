"""Claims with known answers: what held-out papers say when they cite (ILCiteR, section 7.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from whycite.documents import Document, Reference
from whycite.errors import UserError
from whycite.evaluation.drawing import draw
from whycite.evidence import Span
from whycite.evidence.words import content_words

__all__ = ["CHOICES", "Case", "Cases", "HeldOut", "answerable", "cases", "choose"]

CHOICES = ("random", "supported")

Find = Callable[[Sequence[Reference]], Sequence[str | None]]
"""The keys that a library has for references, None where it does not know the paper."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A held-out paper, as far as a draft of it would be known to a recommender."""

    key: str
    title: str
    year: int | None
    cited: tuple[str, ...]  # papers of the library, in the order in which they are first cited
    paragraphs: Mapping[str, str]  # without citations, by number


@dataclass(frozen=True, slots=True)
class Case:
    """A claim, where it comes from, and the true papers as far as the library knows them."""

    id: str
    text: str
    source: int  # index into the held-out papers
    section_type: str | None
    paragraph: str  # its number
    earlier: int  # how many of the papers that its source cites are cited in a sentence before it
    truth: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cases:
    """All claims of held-out papers; a text that stands at several places is one claim, with the papers of all."""

    sources: tuple[HeldOut, ...]
    cases: tuple[Case, ...]


def cases(documents: Iterable[tuple[str, Document, Sequence[Span]]], find: Find) -> Cases:
    """The claims of documents, given with their keys and evidence spans (5.2); those that say nothing are left out."""
    read = [_Read.of(*given) for given in documents]
    references = [reference for each in read for reference in each.references]
    keys = iter(find(references))  # all at once: a library is slow to ask and quick to answer
    sources: list[HeldOut] = []
    found: dict[str, Case] = {}
    for each in read:
        own = zip(each.references, islice(keys, len(each.references)), strict=True)
        known = {reference.id: key for reference, key in own if key}
        first: dict[str, int] = {}  # the sentence in which each paper is first cited
        for sentence, ids in each.citing:
            first |= {known[id]: sentence for id in ids if id in known and known[id] not in first}
        for number, (span, paragraph) in enumerate(each.spans):
            truth = {known[id] for id in span.keys if id in known}
            earlier = sum(sentence < span.sentence for sentence in first.values())
            case = Case(f"{each.key}#{number}", span.text, len(sources), span.section_type, paragraph, earlier, ())
            case = found.get(span.text, case)
            found[span.text] = replace(case, truth=tuple(sorted({*case.truth, *truth})))
        sources.append(HeldOut(each.key, each.title, each.year, tuple(first), each.paragraphs))
    return Cases(tuple(sources), tuple(case for case in found.values() if content_words(case.text)))


@dataclass(frozen=True, slots=True)
class _Read:
    """What is needed of a document: the rest need not stay in memory."""

    key: str
    title: str
    year: int | None
    references: tuple[Reference, ...]
    spans: tuple[tuple[Span, str], ...]  # with the number of the paragraph
    paragraphs: Mapping[str, str]
    citing: tuple[tuple[int, tuple[str, ...]], ...]  # sentences with what they cite

    @classmethod
    def of(cls, key: str, document: Document, spans: Sequence[Span]) -> _Read:
        numbers = [str(document.sentences[span.sentence].paragraph) for span in spans]
        paragraphs: dict[str, list[str]] = {number: [] for number in numbers}
        citing = []
        for at, sentence in enumerate(document.sentences):
            if str(sentence.paragraph) in paragraphs:
                paragraphs[str(sentence.paragraph)].append(sentence.without_citations())
            citing.append((at, tuple(key for citation in sentence.citations for key in citation.keys)))
        return cls(
            key,
            document.paper.title,
            document.paper.year,
            document.references,
            tuple(zip(spans, numbers, strict=True)),
            {number: " ".join(sentences) for number, sentences in paragraphs.items()},
            tuple(citing),
        )


def answerable(cases: Iterable[Case], support: Mapping[str, int]) -> list[Case]:
    """The claims of which a true paper is cited in the database, whose papers are given with their support."""
    return [case for case in cases if any(key in support for key in case.truth)]


def choose(cases: Iterable[Case], support: Mapping[str, int], choice: str, number: int, seed: int = 0) -> list[Case]:
    """So many answerable claims, or all where there are fewer.

    - `random`: a draw that the seed decides
    - `supported`: those with the best supported true papers, as the authors of ILCiteR chose; easier
    """
    if number < 2:
        raise UserError(f"at least two claims are needed to compare methods, not {number}")
    found = answerable(cases, support)
    if choice == "random":
        return draw(found, lambda case: case.id, number, seed)
    if choice == "supported":
        return sorted(found, key=lambda case: -max(support.get(key, 0) for key in case.truth))[:number]
    raise UserError(f"no choice '{choice}'; there are: {', '.join(CHOICES)}")
