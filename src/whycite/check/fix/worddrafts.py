"""A checked Word document given back: with comments on its sentences, or with citations as tracked changes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from whycite.check.findings import CheckedDraft, Finding, Proposal
from whycite.check.fix.edits import Refusal
from whycite.check.fix.planning import Objection, best_choices, first_objection, possible_places
from whycite.check.reporting.messages import is_reported, message, problem_message
from whycite.cite.exports import as_csl
from whycite.documents.model import Document, Sentence
from whycite.documents.word.editing import TextInsertion, WordComment
from whycite.documents.word.odfediting import DocumentEditor, open_editor
from whycite.documents.word.outline import LABEL, NUMBERED, printed_numbers, recognise_paragraphs

if TYPE_CHECKING:
    from whycite.library import Paper

__all__ = ["FixedWord", "comment_findings", "insert_citations"]

_SCHEMA = "https://github.com/citation-style-language/schema/raw/master/csl-citation.json"
_MAX_EVIDENCE = 300  # characters of a sentence that a comment quotes


@dataclass(frozen=True, slots=True)
class FixedWord:
    """A Word document with what a check has to say, and what could not be written."""

    content: bytes
    comments: int = 0
    fixed: tuple[tuple[Finding, Proposal, str], ...] = ()  # with the citation as written
    refused: tuple[Refusal, ...] = ()


def comment_findings(checked: CheckedDraft, data: bytes, date: datetime) -> FixedWord:
    """The document with a comment on every sentence that the check reports: why, the papers, and the evidence."""
    editor = open_editor(checked.document, data, date)
    count = sum(
        editor.add_comment(WordComment(finding.start, finding.end, _comment(finding)))
        for finding in checked.findings
        if is_reported(finding)
    )
    return FixedWord(editor.result() if count else data, count)


def _comment(finding: Finding) -> str:
    """What a finding says, with the best evidence for each paper."""
    if finding.kind != "needs-citation" and not finding.recommendations:
        return problem_message(finding)
    heading, *papers = message(finding).split("\n")
    lines = [heading]
    for line, proposal in zip(papers, finding.recommendations, strict=False):
        lines.append(line)
        for evidence in proposal.recommendation.evidence[:1]:
            sentence = " ".join(evidence.sentence.split())
            quoted = sentence if len(sentence) <= _MAX_EVIDENCE else f"{sentence[:_MAX_EVIDENCE].rsplit(' ', 1)[0]} …"
            source = ", ".join(filter(None, (evidence.source.title or evidence.source.key, evidence.source.facts)))
            lines.append(f"    cited for: “{quoted}”" + (f" ({source})" if source else ""))
    return "\n".join([*lines, *([problem_message(finding)] if finding.problems else [])])


def insert_citations(
    checked: CheckedDraft,
    data: bytes,
    date: datetime,
    choices: Mapping[int, Proposal] | None = None,
    objection: Objection = lambda finding, proposal: "",
) -> FixedWord:
    """The document with the chosen citations as tracked changes, by default the best; new papers join its list."""
    chosen = best_choices(checked) if choices is None else choices
    writer = _CitationWriter(checked.document, open_editor(checked.document, data, date))
    fixed: list[tuple[Finding, Proposal, str]] = []
    refused: list[Refusal] = []
    for index in sorted(chosen):
        finding, proposal = checked.findings[index], chosen[index]
        written, reason = writer.write(finding, proposal, objection)
        if reason:
            refused.append(Refusal(finding, proposal, reason))
        else:
            fixed.append((finding, proposal, written))
    if not fixed:
        return FixedWord(data, refused=tuple(refused))
    return FixedWord(writer.finish(), fixed=tuple(fixed), refused=tuple(refused))


@dataclass(frozen=True, slots=True)
class _PrintedStyle:
    """How the draft shows citations: numbers in brackets or raised, or names and years."""

    numbered: bool = False
    opening: str = "("
    raised: bool = False
    link: str = "&"

    @property
    def closing(self) -> str:
        return {"[": "]", "(": ")"}.get(self.opening, "")


@dataclass(slots=True)
class _CitationWriter:
    """Writes citations one by one, and the entries that they need at the end."""

    document: Document
    editor: DocumentEditor
    entries: dict[str, str] = field(default_factory=dict)  # new ones, by key
    style: _PrintedStyle = field(init=False)
    numbers: dict[str, int] = field(init=False)  # of the draft's references in its list, if they have any
    last_number: int = field(init=False)
    sentences: dict[tuple[int, int], Sentence] = field(init=False)

    def __post_init__(self) -> None:
        self.style = _printed_style(self.document, self.editor.text)
        self.sentences = {(sentence.start, sentence.end): sentence for sentence in self.document.sentences}
        recognise_paragraphs(self.editor.flow, self.editor.text)
        text, sentences = self.editor.text, self.document.sentences
        shown = [(text[c.start : c.end], c.keys) for sentence in sentences for c in sentence.citations]
        self.numbers, self.last_number = printed_numbers(self.editor.flow, text, self.document.references, shown)

    def write(self, finding: Finding, proposal: Proposal, objection: Objection) -> tuple[str, str]:
        """Insert the citation of a paper; what was written, and why not if nothing was."""
        sentence = self.sentences.get((finding.start, finding.end))
        if sentence is None:
            return "", "the sentence is no longer in the draft"
        if reason := first_objection(sentence, proposal, self.document) or objection(finding, proposal):
            return "", reason
        if _cites_in_notes(self.document):
            return "", "the draft cites in footnotes; add the note by hand"
        is_new = proposal.key not in self.document.by_id
        item = self._zotero_item(proposal)
        needs_entry = is_new and item is None
        if needs_entry and not self.editor.flow.listed:
            return "", "the draft has no reference list to add it to"
        if self.style.numbered and not is_new and item is None and proposal.key not in self.numbers:
            return "", "its number in the reference list is not known"
        insertion = self._insertion(finding, proposal, item)
        text = self.editor.text
        pending = False
        for place in possible_places(text, sentence, finding, proposal, self.document.format):
            gap = "" if insertion.raised or text[place.offset - 1 : place.offset].isspace() else " "
            lead = place.lead + gap
            if self.editor.insert(replace(insertion, offset=place.offset, lead=lead)):
                if needs_entry:
                    self.entries.setdefault(proposal.key, _entry(proposal.recommendation.paper))
                return insertion.text, ""
            pending = pending or self.editor.is_pending(place.offset)
        if pending:
            return "", "the sentence is itself a pending change; accept it first"
        return "", "there is no place for a citation in this sentence"

    def finish(self) -> bytes:
        """The document with all citations, and the new entries at the end of the reference list."""
        lines = self.editor.flow.listed
        if self.entries and lines:
            label = LABEL.match(self.editor.text[lines[-1].start : lines[-1].end])
            texts = list(self.entries.values())
            if self.style.numbered and not lines[-1].numbered and label:
                texts = [
                    f"{label[1]}{number}{label[3]}{label[4] or ' '}{text}"
                    for number, text in enumerate(texts, self.last_number + 1)
                ]
            self.editor.append_paragraphs(lines[-1], texts)
        return self.editor.result()

    def _zotero_item(self, proposal: Proposal) -> Mapping[str, Any] | None:
        """The paper as Zotero cites it: as the draft does, or by its address in the user's library.

        Drafts whose reference list was typed, or made by another manager, get no fields: the list would lack the paper.
        """
        paper, cited = proposal.recommendation.paper, self.editor.works.zotero_items
        if item := cited.get(proposal.key):
            return {name: value for name, value in item.items() if name in ("id", "uris", "uri", "itemData")}
        if not paper.address or proposal.key in self.document.by_id or (self.document.references and not cited):
            return None
        [data] = as_csl([paper])
        return {"id": data["id"], "uris": [paper.address], "itemData": data}

    def _insertion(self, finding: Finding, proposal: Proposal, item: Mapping[str, Any] | None) -> TextInsertion:
        """The citation of a paper: a live field if Zotero knows it, else text in the draft's own style."""
        key, paper = proposal.key, proposal.recommendation.paper
        number = self.numbers.get(key) if key in self.document.by_id or item else self._new_number(key)
        is_number = self.style.numbered and number is not None
        shown = f"{self.style.opening}{number}{self.style.closing}" if is_number else ""
        shown = shown or _names_and_year(paper, self.style.link)
        if item is None:
            return TextInsertion(0, shown, raised=is_number and self.style.raised)
        properties = {"formattedCitation": shown, "plainCitation": shown, "noteIndex": 0}
        id = sha256(f"{key} {finding.start} {len(self.editor.text)}".encode()).hexdigest()[:8]
        citation = {"citationID": id, "properties": properties, "citationItems": [item], "schema": _SCHEMA}
        code = json.dumps(citation, ensure_ascii=False, separators=(",", ":"))
        return TextInsertion(0, shown, f"ZOTERO_ITEM CSL_CITATION {code}", raised=is_number and self.style.raised)

    def _new_number(self, key: str) -> int:
        """The number of an entry that joins the list."""
        return self.last_number + [*self.entries, key].index(key) + 1


def _cites_in_notes(document: Document) -> bool:
    """Whether most citations of a draft stand in its footnotes, where none is inserted."""
    places = [sentence.kind == "footnote" for sentence in document.sentences for _ in sentence.citations]
    return 2 * sum(places) > len(places)


def _printed_style(document: Document, text: str) -> _PrintedStyle:
    """How most citations of a draft look."""
    shown = [text[citation.start : citation.end] for sentence in document.sentences for citation in sentence.citations]
    numbers = [match for words in shown if (match := NUMBERED.fullmatch(words.strip()))]
    link = "&" if sum(" & " in words for words in shown) >= sum(" and " in words for words in shown) else "and"
    if 2 * len(numbers) <= len(shown) or not numbers:
        return _PrintedStyle(link=link)
    opening = Counter(match["opening"] for match in numbers).most_common(1)[0][0]
    return _PrintedStyle(numbered=True, opening=opening, raised=not opening, link=link)


def _names_and_year(paper: Paper, link: str) -> str:
    families = [author.partition(",")[0] for author in paper.authors]
    who = f"{families[0]} et al." if len(families) > 2 else f" {link} ".join(families) or paper.title
    return f"({who}, {paper.year or 'n.d.'})"


def _entry(paper: Paper) -> str:
    """A printed entry: names, year, title, where it appeared, DOI."""
    published = paper.publication
    issue = f"({published.issue})" if published.issue else ""
    pages = published.pages.replace("--", "-").replace("-", "–")
    appeared = ", ".join(filter(None, (paper.venue or published.publisher, f"{published.volume}{issue}", pages)))
    names = "; ".join(paper.authors)
    address = f"https://doi.org/{paper.doi}" if paper.doi else ""
    parts = (f"{names} ({paper.year or 'n.d.'})".strip(), paper.title, appeared)
    return " ".join([*(f"{part.rstrip('.')}." for part in parts if part), *([address] if address else [])])
