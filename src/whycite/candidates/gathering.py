"""Documents as what they cite where: sentences that cite, in their paragraphs, and the papers, each known once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from whycite.candidates.model import CitedSet, Paper
from whycite.documents.identity import Papers, paper_key
from whycite.documents.model import Document, Reference, Sentence
from whycite.errors import UserError
from whycite.evidence.groups import cut, joined
from whycite.structure import label

__all__ = ["By", "CitingDocument", "Context", "Gathered", "cited_sets", "gather"]

By = Literal["paper", "section"]
"""Whether a set is all that a paper cites, or what it cites in its sections of one type."""


@dataclass(frozen=True, slots=True)
class Context:
    """A sentence that cites, without its citations, in its paragraph; `papers` are the keys of what it cites."""

    paragraph: tuple[str, ...]
    at: int  # the sentence's place in the paragraph
    section_type: str  # "" where the heading tells none
    papers: frozenset[str]

    @property
    def sentence(self) -> str:
        """The sentence itself."""
        return self.paragraph[self.at]


@dataclass(frozen=True, slots=True)
class CitingDocument:
    """A document and its sentences that cite; `date` as "2025-10-20", "2025" or ""."""

    key: str
    title: str
    abstract: str
    year: int | None
    date: str
    contexts: tuple[Context, ...]


@dataclass(frozen=True, slots=True)
class Gathered:
    """Documents, oldest first, each once, and all papers that they cite."""

    documents: tuple[CitingDocument, ...]
    papers: Mapping[str, Paper]


def gather(documents: Iterable[Document], date: Callable[[Reference], str] | None = None) -> Gathered:
    """What documents cite; references that mean the same paper have one key. `date`: if more than the year is known."""
    identity = Papers()
    references: list[Paper] = []
    found: list[tuple[int, CitingDocument]] = []  # with the number of the document's own reference
    for document in map(label, documents):
        own = len(references)
        numbers = {reference.id: str(own + at) for at, reference in enumerate(document.references, start=1)}
        for reference in (document.paper, *document.references):
            identity.add(reference)
            references.append(
                Paper(
                    paper_key(reference) or f"{document.path}#{reference.id}",
                    reference.title or reference.text,
                    reference.abstract,
                    reference.year,
                )
            )
        year = document.paper.year
        day = (date(document.paper) if date else "") or (f"{year:04}" if year else "")
        paper = references[own]
        contexts = tuple(_contexts(document, numbers))
        found.append((own, CitingDocument(paper.key, paper.title, paper.abstract, year, day, contexts)))
    groups = identity.groups()
    papers = _merged(references, groups, identity.representatives())
    documents_once: dict[int, CitingDocument] = {}
    for own, each in sorted(found, key=lambda pair: (pair[1].date, pair[1].key)):
        contexts = tuple(_keyed(each.contexts, groups, papers, groups[own]))
        if contexts:
            once = replace(each, key=papers[groups[own]].key, contexts=contexts)
            documents_once.setdefault(groups[own], once)
    cited = {key for each in documents_once.values() for context in each.contexts for key in context.papers}
    return Gathered(tuple(documents_once.values()), {paper.key: paper for paper in papers if paper.key in cited})


def cited_sets(documents: Iterable[CitingDocument], by: By) -> list[CitedSet]:
    """The sets of papers that documents cite, all together or by section type (SCOPE 4.2.3)."""
    if by not in ("paper", "section"):
        raise UserError(f"sets are by paper or by section, not by '{by}'")
    found = []
    for each in documents:
        papers: dict[str, set[str]] = {}
        for context in each.contexts:
            papers.setdefault(context.section_type, set()).update(context.papers)
        types = {type: sorted(cited) for type, cited in sorted(papers.items())}
        if by == "section":
            found += [CitedSet(each.key, each.title, (type,), tuple(cited)) for type, cited in types.items()]
        else:
            together = sorted({key for cited in types.values() for key in cited})
            found.append(CitedSet(each.key, each.title, tuple(types), tuple(together)))
    return found


def _contexts(document: Document, numbers: Mapping[str, str]) -> Iterator[Context]:
    """The sentences that cite, with the numbers of references in place of keys."""
    prose = (sentence for sentence in document.sentences if sentence.kind == "prose")
    for (section, _), group in groupby(prose, key=lambda each: (each.section, each.paragraph)):
        sentences = list(group)
        if not any(sentence.citations for sentence in sentences):
            continue
        type = document.sections[section].type if section < len(document.sections) else None
        paragraph = tuple(_unmarked(sentence, document) for sentence in sentences)
        for at, sentence in enumerate(sentences):
            keys = (key for citation in sentence.citations for key in citation.keys)
            papers = frozenset(numbers[key] for key in keys if key in numbers)
            if papers and paragraph[at]:
                yield Context(paragraph, at, type or "", papers)


def _unmarked(sentence: Sentence, document: Document) -> str:
    return joined(cut(sentence, document).texts) if sentence.citations else " ".join(sentence.text.split())


def _merged(references: list[Paper], groups: list[int], representatives: list[int]) -> list[Paper]:
    """Each paper by its best key, with a title, the longest abstract and a year."""
    merged = [references[at] for at in representatives]
    for group, reference in zip(groups, references, strict=True):
        held = merged[group]
        title = held.title or reference.title
        abstract = max(held.abstract, reference.abstract, key=len)
        merged[group] = replace(held, title=title, abstract=abstract, year=held.year or reference.year)
    return merged


def _keyed(contexts: Iterable[Context], groups: list[int], papers: list[Paper], own: int) -> Iterator[Context]:
    for context in contexts:
        cited = frozenset(papers[group].key for number in context.papers if (group := groups[int(number)]) != own)
        if cited:
            yield replace(context, papers=cited)
