"""Reads Word documents (.docx): sections, paragraphs, notes, tables, citations of reference managers, references.

Offsets of sentences and citations count code points in the text of the document, as `text_of` gives it: one line for
each paragraph, notes and text boxes after the paragraph that they belong to, tracked changes accepted.
"""

from __future__ import annotations

from collections.abc import Iterator

from whycite.documents.model import Document
from whycite.documents.sources import Source
from whycite.documents.word.outline import build_document
from whycite.documents.word.package import COMPOUND_FILE, MAX_PACKAGE, Package
from whycite.documents.word.wordml import WordText, read_word

__all__ = ["READER", "WordReader", "read_package", "text_of"]


class WordReader:
    """Documents of Word, Google Docs and LibreOffice in Office Open XML."""

    name = "docx"
    suffixes = (".docx", ".docm", ".dotx")

    def sniff(self, head: bytes) -> bool:
        """Whether the file begins like a Word package, or like an old Word file, which `read` refuses."""
        return head.startswith(COMPOUND_FILE) or (head.startswith(b"PK\x03\x04") and b"word/" in head)

    def read(self, source: Source) -> Iterator[Document]:
        """The one document in a package."""
        package = Package(source.data(MAX_PACKAGE), source.path)
        word = read_package(package)
        yield build_document(source.path, self.name, word.flow, word.works, word.title, package.warnings)


def read_package(package: Package) -> WordText:
    """The text of a Word package."""
    return read_word(package, package.main_part())


def text_of(data: bytes, path: str) -> str:
    """The text of a Word document, in which the offsets of its sentences count."""
    return read_package(Package(data, path)).flow.text


READER = WordReader()
