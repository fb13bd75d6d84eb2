"""Reads Typst drafts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whycite.documents.model import Document
from whycite.documents.sources import Source
from whycite.documents.typst.draft import read_draft

__all__ = ["READER", "TypstReader"]

_SIGNS = re.compile(rb"^#(?:set|show|let|import|include|bibliography|cite)\b|^=+ \S", re.MULTILINE)


class TypstReader:
    """The reader for Typst files; included files must be in the draft's folder."""

    name = "typst"
    suffixes = (".typ",)

    def sniff(self, head: bytes) -> bool:
        return b"\0" not in head and _SIGNS.search(head) is not None

    def read(self, source: Source) -> Iterator[Document]:
        yield read_draft(source)


READER = TypstReader()
