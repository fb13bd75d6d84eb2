"""Completion inside a citation: papers by the meaning of the sentence, then entries by key, authors and title."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from whycite.check.findings import Proposal
from whycite.check.memory import once_per_bibliography
from whycite.check.reporting.messages import byline
from whycite.documents.model import Document, Reference
from whycite.lsp.diagnostics import quotes
from whycite.lsp.evidence import reference_line
from whycite.lsp.workbench import TextMap
from whycite.text.sentences import split_sentences
from whycite.text.tokens import fold

__all__ = ["ADD_ENTRY", "CitationContext", "citation_context", "completion_items"]

ADD_ENTRY = "whycite.addEntry"
_MAX_ENTRIES = 50  # by key and title; the list is asked for again with every letter
_MAX_QUOTES = 2
_REACH = 3_000  # characters around the cursor that may belong to its sentence
_PATTERNS = {
    "latex": re.compile(r"\\[A-Za-z]*cite[A-Za-z]*\*?(?:\s*\[[^\]]*\]){0,2}\s*\{(?:[^{}]*,)?\s*(?P<typed>[^{},\s]*)$"),
    "markdown": re.compile(r"(?:^|[\s\[(;,-])@\{?(?P<typed>[\w:.#$%&+?~/-]*)$"),
    "typst": re.compile(r"(?:#?cite\(\s*(?:label\(\"|<)|(?:^|[\s\[(;,])@)(?P<typed>[\w:./-]*)$"),
}
_CITATIONS = re.compile(
    r"\\[A-Za-z]*cite[A-Za-z]*\*?(?:\[[^\]]*\])*\{[^{}]*\}|\[[^\]]*@[^\]]*\]|@[\w:./-]+|#cite\([^)]*\)"
)
_MARKUP = re.compile(r"\\[A-Za-z]+\*?|[{}$~*`#]|%.*")
_PARAGRAPH_END = re.compile(r"\r?\n\s*\r?\n")


@dataclass(frozen=True, slots=True)
class CitationContext:
    """Where a key is being typed, what of it is there, and the sentence it is for."""

    start: int  # of the key
    end: int
    typed: str
    claim: str


def citation_context(text: str, offset: int, format: str) -> CitationContext | None:
    """The citation at the cursor; None if there is none. Nothing is read: the markup around it is not complete."""
    pattern = _PATTERNS.get(format)
    line_start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    line_text = text[max(line_start, offset - _REACH) : offset]
    match = pattern.search(line_text) if pattern else None
    if match is None:
        return None
    typed = match["typed"]
    return CitationContext(
        offset - len(typed), offset, typed, _claim(text, offset - len(line_text) + match.start(), offset)
    )


def _claim(text: str, start: int, end: int) -> str:
    """The sentence around an unfinished citation, which is between two offsets."""
    head, tail = text[max(0, start - _REACH) : start], text[end : end + _REACH]
    head = _PARAGRAPH_END.split(head)[-1]
    tail = re.sub(r"^[^\s\]})>]*[\]})>]*", "", _PARAGRAPH_END.split(tail)[0])
    head, tail = _plain(head), _plain(tail)
    paragraph = f"{head}{tail}" if tail[:1] in (".", ",", ";", "") else f"{head} {tail}"
    place = max(0, min(len(head.rstrip()), len(paragraph) - 1))
    for sentence in split_sentences(paragraph):
        if sentence[0] <= place <= sentence[1]:
            return paragraph[sentence[0] : sentence[1]].strip()
    return paragraph.strip()


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub(" ", _CITATIONS.sub(" ", text)).split())


def completion_items(
    context: CitationContext, document: Document, proposals: Iterable[Proposal], places: TextMap, uri: str
) -> Iterator[types.CompletionItem]:
    """Papers that fit the sentence, then entries whose key, authors or title have what was typed."""
    span = places.range(context.start, context.end)
    shown: set[str] = set()
    for number, proposal in enumerate(proposals):
        shown.add(proposal.key)
        yield _proposal_item(proposal, context.typed, span, f"0{number:03}", uri)
    typed_words = fold(context.typed).split()
    matching = (
        reference
        for reference, text in zip(document.references, _searched_texts(document.references), strict=True)
        if reference.id not in shown and all(word in text for word in typed_words)
    )
    for number, reference in enumerate(sorted(matching, key=lambda entry: _order(entry, context.typed))[:_MAX_ENTRIES]):
        yield types.CompletionItem(
            reference.id,
            kind=types.CompletionItemKind.Reference,
            detail=reference_line(reference),
            documentation=reference.title or reference.text,
            sort_text=f"1{number:03}",
            filter_text=context.typed or reference.id,
            text_edit=types.TextEdit(span, reference.id),
        )


def _proposal_item(proposal: Proposal, typed: str, span: types.Range, sort_text: str, uri: str) -> types.CompletionItem:
    recommendation = proposal.recommendation
    paper = recommendation.paper
    evidence = "".join(f"\n\n> {text}\n\n{where}" for text, where in quotes(recommendation)[:_MAX_QUOTES])
    where = "" if proposal.in_bibliography else "\n\nNot yet in your bibliography; its entry is added."
    return types.CompletionItem(
        proposal.key,
        kind=types.CompletionItemKind.Reference,
        detail=byline(paper),
        documentation=types.MarkupContent(types.MarkupKind.Markdown, f"**{paper.title}**{evidence}{where}"),
        sort_text=sort_text,
        # Clients drop items that do not match what was typed; these match by their meaning.
        filter_text=typed or proposal.key,
        text_edit=types.TextEdit(span, proposal.key),
        command=None
        if proposal.in_bibliography
        else types.Command("Add the entry", ADD_ENTRY, arguments=[{"uri": uri, "key": proposal.key}]),
    )


@once_per_bibliography
def _searched_texts(references: Sequence[Reference]) -> list[str]:
    """What is typed is looked for in key, authors, year and title."""
    return [fold(f"{entry.id} {' '.join(entry.authors)} {entry.year or ''} {entry.title}") for entry in references]


def _order(reference: Reference, typed: str) -> tuple[bool, str]:
    return not reference.id.lower().startswith(typed.lower()), reference.id.lower()
