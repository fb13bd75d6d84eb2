"""Every citation of a draft against the full text of what it cites."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whycite import documents
from whycite.documents.model import Document, Reference, Sentence
from whycite.encoders import Encoder
from whycite.errors import UserError
from whycite.evidence.groups import Cut, cut, joined
from whycite.evidence.trimming import piece
from whycite.evidence.words import content_words
from whycite.rerank.ranker import Ranker
from whycite.verify.lines import Lines
from whycite.verify.model import Verification
from whycite.verify.papers import Held, find, in_folder, in_library, open_held
from whycite.verify.verifying import Opened, open_document

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = ["CitationVerdict", "Cited", "citations", "draft"]

_OPEN = 4  # papers kept ready: the next citation is often to one of the last
_CLAIM = 3  # words that a piece of a sentence needs to be a claim of its own


@dataclass(frozen=True, slots=True)
class Cited:
    """A claim of a draft and a reference it cites; `start` and `end` are the marker's, in its file."""

    claim: str
    sentence: int
    section: str
    file: str
    start: int
    end: int
    reference: Reference  # of a marker that was not linked, one that has the marker for a name
    linked: bool = True


@dataclass(frozen=True, slots=True)
class CitationVerdict:
    """A citation of a draft, the paper it was held against ("" where none is at hand), and the verification."""

    claim: str
    sentence: int
    section: str
    file: str
    start: int
    end: int
    reference: Reference
    paper: str
    verification: Verification
    line: int | None = None  # of the marker, counted from 1; None where the file is not on disk


def draft(
    draft: Document | str | Path,
    papers: Path | str | None = None,
    library: Library | None = None,
    *,
    ranker: Ranker | None = None,
    encoder: Encoder | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Iterator[CitationVerdict]:
    """Each citation of a draft with its verdict, in the order of the text; papers of the folder come first."""
    read = draft if isinstance(draft, Document) else documents.read(draft)
    tell = progress or (lambda what, done, total: None)
    held = in_folder(papers, lambda done: tell("reading papers", done, None)) if papers is not None else []
    held = [*held, *(in_library(library) if library is not None else [])]
    cited = citations(read)
    references = list({each.reference.id: each.reference for each in cited}.values())
    found = dict(zip((each.id for each in references), find(references, held), strict=True))
    opened, lines = _Shelf(ranker, encoder), Lines()
    for done, each in enumerate(cited, 1):
        verification, paper = _verified(each, found[each.reference.id], opened, bool(held), read)
        place = (each.claim, each.sentence, each.section, each.file, each.start, each.end)
        yield CitationVerdict(*place, each.reference, paper, verification, lines.of(each.file, each.start))
        tell("checking citations", done, len(cited))


def citations(document: Document) -> list[Cited]:
    """The claims of a draft with what each cites: the sentence, or of one with several groups the piece of each."""
    found = []
    for at, sentence in enumerate(document.sentences):
        if not sentence.citations:
            continue
        parts = cut(sentence, document)
        section = document.sections[sentence.section].heading if sentence.section < len(document.sections) else ""
        for index, group in enumerate(parts.groups):
            claim = _claim(parts, index)
            place = (claim, at, section, sentence.file, group.start, group.end)
            found += [Cited(*place, document.by_id.get(key, Reference(key))) for key in group.keys]
        found += _unlinked(sentence, at, section, parts)
    return found


def _unlinked(sentence: Sentence, at: int, section: str, parts: Cut) -> Iterator[Cited]:
    """The markers that point at no reference: nobody can check them, and nobody should think they were."""
    alone = {group.start: index for index, group in enumerate(parts.groups) if not group.keys}
    for citation in sentence.citations:
        if not citation.keys:
            index = alone.get(citation.start)
            claim = joined(parts.texts) if index is None else _claim(parts, index)
            marker = Reference(sentence.text[citation.text_start : citation.text_end].strip() or "?")
            yield Cited(claim, at, section, sentence.file, citation.start, citation.end, marker, linked=False)


def _claim(parts: Cut, index: int) -> str:
    """What a group is cited for: what stands before it, or behind the names of a group that begins its clause."""
    if len(parts.groups) > 1:
        before, after = _parted(parts.texts, index)
        named = parts.groups[index].named and parts.texts[index + 1][:1].isalpha()
        for text in (after, before) if named else (before, after):
            if content_words(text, enough=_CLAIM):
                return text
    return joined(parts.texts)


def _parted(texts: Sequence[str], index: int) -> tuple[str, str]:
    """What stands before a group and behind it; of a text between two groups that a semicolon parts, the own part."""
    before, after = texts[index], texts[index + 1]
    if index and content_words(own := before.rpartition(";")[2], enough=_CLAIM):
        before = own
    if index + 2 < len(texts) and content_words(own := after.partition(";")[0], enough=_CLAIM):
        after = own
    return piece(before), piece(after)


def _verified(
    cited: Cited, held: Held | None, shelf: _Shelf, any_held: bool, read: Document
) -> tuple[Verification, str]:
    """The verification of a citation, and the paper it was held against."""
    if not cited.linked:
        return _unchecked(cited, f"the marker '{cited.reference.id}' could not be linked to a reference"), ""
    if cited.reference.id not in read.by_id:
        return _unchecked(cited, f"the draft has no reference called '{cited.reference.id}'"), ""
    if held is None:
        what = "no full text of it is at hand" if any_held else "no papers are at hand: name their folder with --papers"
        return _unchecked(cited, what), ""
    try:
        return shelf.opened(held).verify(cited.claim), held.path
    except UserError as error:
        return _unchecked(cited, str(error)), held.path


def _unchecked(cited: Cited, reason: str) -> Verification:
    return Verification(cited.claim, "could not check", 0.0, (), reason)


class _Shelf:
    """Papers made ready, the last few of them."""

    def __init__(self, ranker: Ranker | None, encoder: Encoder | None) -> None:
        self._ranker, self._encoder = ranker, encoder
        self._papers: OrderedDict[str, Opened] = OrderedDict()

    def opened(self, held: Held) -> Opened:
        """The paper, ready for claims."""
        if held.path in self._papers:
            self._papers.move_to_end(held.path)
        else:
            document = open_held(held)
            self._papers[held.path] = open_document(document, ranker=self._ranker, encoder=self._encoder)
            if len(self._papers) > _OPEN:
                self._papers.popitem(last=False)
        return self._papers[held.path]
