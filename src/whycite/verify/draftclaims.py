"""The claims of a draft with the references they cite: a sentence, or the part of it that a citation is for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from whycite.documents.model import Document, Reference, Sentence
from whycite.evidence.groups import SplitSentence, claiming_sentences, join_texts, split_at_groups
from whycite.evidence.words import has_content_words, leads_on, trim_piece

__all__ = ["DraftCitation", "citations"]

_CLOSING_SIGNS = ("", *",;:.!?)]’")  # no space comes before them
_AUTHORS = re.compile(r",? ?(?:the authors|they)\b")
_MIN_CLAIM_WORDS = 3  # content words that make part of a sentence a claim in itself


@dataclass(frozen=True, slots=True)
class DraftCitation:
    """A claim of a draft and a reference it cites; `start` and `end` are those of the marker in its file."""

    claim: str
    sentence: int
    section: str
    file: str
    start: int
    end: int
    reference: Reference  # for a marker that points at no reference, one with the marker as its id
    linked: bool = True
    authors_act: bool = False  # the sentence says what the cited authors did: "Doe [3] trained a network"


def citations(document: Document) -> list[DraftCitation]:
    """The claims of a draft with the references they cite.

    A claim is a sentence; in one with several citation groups, each group has its own part.
    """
    draft_citations = []
    for sentence_index, sentence in enumerate(claiming_sentences(document)):
        if not sentence.citations:
            continue
        parts = split_at_groups(sentence, document)
        section = document.sections[sentence.section].heading if sentence.section < len(document.sections) else ""
        for index, group in enumerate(parts.groups):
            claim = _claim(parts, index)
            place = (claim, sentence_index, section, sentence.file, group.start, group.end)
            authors_act = _authors_act(parts, index)
            draft_citations += [
                DraftCitation(*place, document.by_id.get(key, Reference(key)), authors_act=authors_act)
                for key in group.keys
            ]
        draft_citations += _unlinked(sentence, sentence_index, section, parts)
    return draft_citations


def _unlinked(sentence: Sentence, sentence_index: int, section: str, parts: SplitSentence) -> Iterator[DraftCitation]:
    """The markers that point at no reference: they cannot be checked, and the report has to say so."""
    alone = {group.start: index for index, group in enumerate(parts.groups) if not group.keys}
    for citation in sentence.citations:
        if not citation.keys:
            index = alone.get(citation.start)
            claim = join_texts(_with_names(parts)) if index is None else _claim(parts, index)
            marker = Reference(sentence.text[citation.text_start : citation.text_end].strip() or "?")
            yield DraftCitation(
                claim, sentence_index, section, sentence.file, citation.start, citation.end, marker, linked=False
            )


def _claim(parts: SplitSentence, index: int) -> str:
    """What a group is cited for: the text before it, or after it if the group begins its clause.

    A textual citation keeps the names of its authors, and does not divide the phrase that it is in.
    """
    group = parts.groups[index]
    if len(parts.groups) > 1:
        left_text, right_text = _text_before(parts, index), _text_after(parts, index)
        starts_clause = (group.is_textual or group.name) and parts.texts[index + 1][:1].isalpha()
        if _is_inside_phrase(parts, index):
            candidates = [join_texts((left_text, _put_name(group.name, right_text)))]
        elif starts_clause:
            candidates = [_put_name(group.name, right_text), left_text]
        else:
            candidates = [left_text, right_text]
        for text in map(trim_piece, candidates):
            if has_content_words(text, enough=_MIN_CLAIM_WORDS):
                return f"{text}." if text.endswith(" et al") else text
    return join_texts(_with_names(parts))


def _with_names(parts: SplitSentence) -> Iterator[str]:
    """The texts of a sentence with the names of textual citations between them."""
    yield parts.texts[0]
    for group, text in zip(parts.groups, parts.texts[1:], strict=True):
        yield _put_name(group.name, text)


def _put_name(name: str, text: str) -> str:
    """A name in front of the text that follows it: "Doe et al." and ", who" are "Doe et al., who"."""
    if name.endswith(".") and text.startswith("."):
        text = text[1:]
    return name + ("" if not name or text[:1] in _CLOSING_SIGNS else " ") + text


def _is_inside_phrase(parts: SplitSentence, index: int) -> bool:
    """Whether a group is a noun in the middle of a phrase: "the scheme proposed by Doe [3] halves"."""
    return bool(parts.groups[index].name) and leads_on(parts.texts[index])


def _authors_act(parts: SplitSentence, index: int) -> bool:
    """Whether the cited authors are the subject: "Doe [3] trained", "in [3], the authors trained"; not "Doe's"."""
    name, following = parts.groups[index].name, parts.texts[index + 1]
    if not name or name.endswith(("'s", "’s", "s'", "s’")):
        return False
    return bool(_AUTHORS.match(following)) or (not leads_on(parts.texts[index]) and following[:1].islower())


def _text_before(parts: SplitSentence, index: int) -> str:
    """The text before a group, back to where another is cited; a semicolon between two groups separates their parts."""
    text = parts.texts[index]
    earlier = index - 1
    while earlier >= 0 and parts.groups[earlier].name:
        text = _put_name(parts.groups[earlier].name, text)
        if not _is_inside_phrase(parts, earlier):
            break
        text = join_texts((parts.texts[earlier], text))
        earlier -= 1
    own_part = text.rpartition(";")[2]
    return own_part if index and has_content_words(own_part, enough=_MIN_CLAIM_WORDS) else text


def _text_after(parts: SplitSentence, index: int) -> str:
    """The text after a group, up to where another is cited."""
    text = parts.texts[index + 1]
    later = index + 1
    while later < len(parts.groups) and _is_inside_phrase(parts, later):
        text = join_texts((text, _put_name(parts.groups[later].name, parts.texts[later + 1])))
        later += 1
    own_part = text.partition(";")[0]
    is_last = later == len(parts.groups)
    return own_part if not is_last and has_content_words(own_part, enough=_MIN_CLAIM_WORDS) else text
