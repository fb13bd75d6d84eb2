"""What the tests of all readers ask: documents from bytes, and whether sentences stand where they say."""

import re
from collections.abc import Callable

import pytest

from whycite.documents.latex import READER as LATEX
from whycite.documents.model import Document
from whycite.documents.reading import Reader
from whycite.documents.sources import MemoryFolder, Source

_WHITE = re.compile(r"\s")


@pytest.fixture(scope="session")
def read_bytes() -> Callable[..., list[Document]]:
    """Reads bytes as a file of that name."""

    def read(reader: Reader, data: bytes, name: str = "paper.xml") -> list[Document]:
        return list(reader.read(Source(MemoryFolder({name: data}, ""), name)))

    return read


@pytest.fixture(scope="session")
def misplaced() -> Callable[[Document, str, Callable[[str], str]], list[str]]:
    """The sentences whose words are not, in order, in their source range once its markup is undone."""

    def check(document: Document, source: str, undo: Callable[[str], str]) -> list[str]:
        wrong = []
        for sentence in (*document.sentences, *document.asides):
            text = _WHITE.sub("", undo(source[sentence.start : sentence.end])).replace("^", "")
            at = 0
            for word in sentence.with_citations(" ").split():
                found = text.find(word.replace("^", ""), at) if word.strip(".,;:()") != "EQUATION" else at
                if found < 0:
                    wrong.append(f"{word!r} of {sentence.text!r}")
                    break
                at = found
        return wrong

    return check


@pytest.fixture(scope="session")
def read_latex() -> Callable[..., Document]:
    """Reads the body of a LaTeX draft, with other files of its folder by name."""

    def read(body: str, files: dict[str, str] | None = None, *, whole: bool = False) -> Document:
        text = body if whole else "\\documentclass{article}\n\\begin{document}\n" + body + "\n\\end{document}\n"
        contents = {"main.tex": text, **(files or {})}
        folder = MemoryFolder({name: content.encode() for name, content in contents.items()}, "")
        return next(LATEX.read(Source(folder, "main.tex")))

    return read
