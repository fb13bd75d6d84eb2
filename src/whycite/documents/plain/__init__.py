"""Reads plain text: paragraphs between blank lines, headings as people type them, a reference list at the end."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from whycite.documents.model import Document
from whycite.documents.plain.draft import read_text
from whycite.documents.sources import Source, decode
from whycite.errors import UserError

__all__ = ["READER", "PlainReader"]

_MARKED = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_HTML = re.compile(rb"\s{0,99}(?:<!doctype html|<html)\b", re.IGNORECASE)
_HEAD = 1 << 16


class PlainReader:
    """The reader of plain text, and of any text that no other reader knows."""

    name = "plain"
    suffixes = (".txt", ".text")

    def sniff(self, head: bytes) -> bool:
        return not _is_binary(head)

    def read(self, source: Source) -> Iterator[Document]:
        data = source.data()
        if _is_binary(data[:_HEAD]):
            raise UserError(f"{source.path}: not a text file; give its format with --format if it is a paper")
        if _HTML.match(data):
            raise UserError(f"{source.path}: web pages are not read; save the paper as PDF or plain text")
        text, warning = decode(data)
        yield read_text(source.path, text, warning)


def _is_binary(head: bytes) -> bool:
    """Whether bytes are no text: zeros among them, or more than a few other control characters."""
    if head.startswith(_MARKED):
        return False
    return b"\0" in head or len(_CONTROL.findall(head)) > len(head) // 50


READER = PlainReader()
