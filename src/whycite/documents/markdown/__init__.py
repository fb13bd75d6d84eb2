"""Reads Markdown drafts: Pandoc, Quarto, MyST, R Markdown and the papers of JOSS."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whycite.documents.markdown.draft import read_draft
from whycite.documents.model import Document
from whycite.documents.sources import Source

__all__ = ["READER", "MarkdownReader"]

_METADATA = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n")
_TYPST = re.compile(rb"^#(?:set|show|let|import|include|figure|cite)\b", re.MULTILINE)
_SIGNS = re.compile(rb"^#{1,6} \S|\[-?@\w|^```|\]\(https?://", re.MULTILINE)


class MarkdownReader:
    """The reader for Markdown files; included files must be in the draft's folder."""

    name = "markdown"
    suffixes = (".md", ".markdown", ".qmd", ".rmd", ".mdx")

    def sniff(self, head: bytes) -> bool:
        if b"\0" in head or _TYPST.search(head):
            return False
        return bool(_METADATA.match(head) or _SIGNS.search(head))

    def read(self, source: Source) -> Iterator[Document]:
        yield read_draft(source)


READER = MarkdownReader()
