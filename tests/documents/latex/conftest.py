"""A LaTeX project from strings."""

from collections.abc import Callable

import pytest

from whycite.documents import Document
from whycite.documents.latex import READER
from whycite.documents.sources import MemoryFolder, Source

Read = Callable[..., Document]


@pytest.fixture(scope="session")
def read() -> Read:
    """Reads the body of a draft, with other files of its folder by name."""

    def read(body: str, files: dict[str, str] | None = None, *, whole: bool = False) -> Document:
        text = body if whole else "\\documentclass{article}\n\\begin{document}\n" + body + "\n\\end{document}\n"
        contents = {"main.tex": text, **(files or {})}
        folder = MemoryFolder({name: content.encode() for name, content in contents.items()}, "")
        return next(READER.read(Source(folder, "main.tex")))

    return read
