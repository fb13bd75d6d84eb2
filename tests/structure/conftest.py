"""Small documents made by hand, and a settings folder of each test's own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from whycite.documents.model import Document, Reference, Section, Sentence

Make = Callable[..., Document]


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings, empty."""
    monkeypatch.setattr("whycite.structure.synonyms.user_config_path", lambda name: tmp_path / "settings" / name)
    return tmp_path / "settings" / "whycite"


@pytest.fixture
def make() -> Make:
    """Makes a document from headings: "Method" is top level, "> Data" one below, "Empty -" has no text."""

    def build(*headings: str, path: str = "draft.tex", title: str = "") -> Document:
        sections, sentences = [], []
        for number, heading in enumerate(headings):
            level = 1 + len(heading) - len(heading.lstrip(">"))
            name = heading.lstrip("> ")
            if name.endswith(" -"):
                name = name.removesuffix(" -")
            else:
                sentences.append(Sentence(f"Text {number}.", number, number, path, 0, 7))
            sections.append(Section(name, level))
        return Document(path, "test", Reference("", title=title), tuple(sections), tuple(sentences))

    return build
