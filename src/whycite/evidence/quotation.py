"""Sentences as they were written, with their citations in place."""

from __future__ import annotations

import re
from collections.abc import Mapping

from whycite.documents.model import Citation, Reference, Sentence
from whycite.evidence.groups import author_names, is_noun

__all__ = ["quote"]

_AFTER_NOUN = re.compile(r" \(\d{4}\)(?:[,;]|,? (?:and|or|&)) \Z")  # "by Kaiser (1988) and " before another citation


def quote(sentence: Sentence, references: Mapping[str, Reference]) -> str:
    """The sentence with its citations as a reader sees them: keys of the source become authors and year, if known."""
    text, offset = "", 0
    for citation in sorted(sentence.citations, key=lambda citation: citation.text_start):
        text += sentence.text[offset : citation.text_start]
        marker = sentence.text[citation.text_start : citation.text_end]
        text += _spell_out(marker, citation, references, text, sentence.text[citation.text_end :])
        offset = max(offset, citation.text_end)
    return text + sentence.text[offset:]


def _spell_out(marker: str, citation: Citation, references: Mapping[str, Reference], lead: str, following: str) -> str:
    """A marker with authors and year instead of keys, which readers of sources put into square brackets."""
    if not marker.startswith("[") or not (keys := [key for key in citation.keys if _is_word(key)]):
        return marker
    cited = {
        key: (names, reference.year)
        for key in keys
        if (reference := references.get(key)) and (names := author_names(reference))
    }
    pattern = re.compile(rf"(?<![\w:.-])(?:{'|'.join(map(re.escape, sorted(keys, key=len, reverse=True)))})(?![\w:-])")
    if cited.keys().isdisjoint(pattern.findall(marker)):
        return marker
    in_brackets = lead.rfind("(") > lead.rfind(")") or lead.endswith("[")
    # Plain commands are also used where the sentence needs a noun: "as shown by \cite{kaiser1988}".
    textual = citation.textual or (
        not in_brackets and (is_noun(lead, following) or _AFTER_NOUN.search(lead) is not None)
    )

    def label(match: re.Match[str]) -> str:
        if match[0] not in cited:
            return match[0]
        names, year = cited[match[0]]
        if textual:
            return f"{names} ({year})" if year else names
        if len(keys) == 1 and year and lead.rstrip().endswith(names):  # "Kaiser [kaiser1988]"
            return str(year)
        return f"{names} {year}" if year else names

    content = pattern.sub(label, marker.removeprefix("[").removesuffix("]"))
    if textual:
        items = content.split("; ")
        return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))
    return content if in_brackets else f"({content})"


def _is_word(key: str) -> bool:
    """Whether a key is no mere number, which may be the marker itself."""
    return any(map(str.isalpha, key))
