"""What a field or a content control of a word-processor document is: a citation, a bibliography, or something else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from whycite.documents.word.managers import CitedItem, citavi_items, csl_items, decode_base64, endnote_items

__all__ = ["PLAIN_FIELD", "FieldKind", "WordField", "read_control", "read_field"]

FieldKind = Literal["citation", "bibliography", "contents", "formula", "text"]

_CSL_CITATION = re.compile(r"(?:ADDIN\s+)?(?:ZOTERO_ITEM|Mendeley Citation\{[^{}]{0,80}\}|CSL_CITATION)[^{]{0,40}")
_BIBLIOGRAPHY = re.compile(
    r"(?:ADDIN\s+)?(?:ZOTERO_BIBL\b|Mendeley Bibliography\b|CSL_BIBLIOGRAPHY\b|EN\.REFLIST\b|CITAVI[. ]?BIBLIOGRAPHY"
    r"|BIBLIOGRAPHY\b)",
    re.IGNORECASE,
)
_ENDNOTE = re.compile(r"ADDIN\s+EN\.CITE(?!\.DATA)\b")
_CITAVI = re.compile(r"ADDIN\s+(?:CitaviPlaceholder|CITAVI\.PLACEHOLDER\s+\S+)", re.IGNORECASE)
_CITATION = re.compile(r"CITATION\s+(.*)", re.DOTALL | re.IGNORECASE)
_SWITCH = re.compile(r'\\(\w)\s*("[^"]*"|[^\s\\]*)')
_CONTENTS = re.compile(r"(?:TOC|INDEX|TOA)\b")
_FORMULA = re.compile(r"(?:EQ|EMBED\s+Equation)\b")
_MENDELEY_CONTROL = "MENDELEY_CITATION_v3_"


@dataclass(frozen=True, slots=True)
class WordField:
    """What a field is; a citation has the works it names, if the document has their data."""

    kind: FieldKind
    items: tuple[CitedItem, ...] = ()
    identities: tuple[str, ...] = ()  # works that are described elsewhere in the document


PLAIN_FIELD = WordField("text")


def read_field(instruction: str, data: str = "") -> WordField:
    """What a field is by its instruction and the data beside it."""
    code = instruction.strip()
    if citation := _CSL_CITATION.match(code):
        return WordField("citation", tuple(csl_items(code[citation.end() :])))
    if _BIBLIOGRAPHY.match(code):
        return WordField("bibliography")
    if _ENDNOTE.match(code):
        return WordField("citation", tuple(endnote_items(code, data)))
    if citavi := _CITAVI.match(code):
        return WordField("citation", tuple(citavi_items(code[citavi.end() :])))
    if citation := _CITATION.match(code):
        return WordField("citation", identities=tuple(f"word {tag}" for tag in _tags(citation[1])))
    if _CONTENTS.match(code):
        return WordField("contents")
    return WordField("formula") if _FORMULA.match(code) else PLAIN_FIELD


def _tags(arguments: str) -> list[str]:
    """The tags of Word's sources that a CITATION field names: the first word, and those after \\m."""
    first = arguments.split("\\", 1)[0].strip().strip('"')
    more = [switch[2].strip('"') for switch in _SWITCH.finditer(arguments) if switch[1] == "m"]
    return [tag for tag in (first, *more) if tag]


def read_control(tag: str) -> WordField:
    """What a content control is by its tag."""
    if tag.startswith(_MENDELEY_CONTROL):
        return WordField("citation", tuple(csl_items(decode_base64(tag.removeprefix(_MENDELEY_CONTROL)))))
    if tag.startswith(("MENDELEY_BIBLIOGRAPHY", "CitaviBibliography")):
        return WordField("bibliography")
    return PLAIN_FIELD
