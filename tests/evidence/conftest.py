"""Documents of one sentence, written with their citations."""

import re
from collections.abc import Callable

import pytest

from whycite.documents.model import Citation, Document, Reference, Section, Sentence
from whycite.evidence import extract

Make = Callable[..., Document]
REFERENCES = (
    Reference("doe", authors=("Doe, Jane", "Roe, R.", "Müller, K.")),
    Reference("loos", authors=("van der Loos, H.",)),
    Reference("team", authors=("R Core Team",)),
)


@pytest.fixture
def document() -> Make:
    """Makes a document of sentences in which "<doe,roe|Doe, 2010>" is a citation of two keys shown as "Doe, 2010"."""

    def make(*texts: str, section_type: str | None = "introduction") -> Document:
        sentences = tuple(_sentence(text) for text in texts)
        return Document(
            "paper.txt", "plain", Reference("paper"), (Section("Introduction", 1, section_type),), sentences, REFERENCES
        )

    return make


@pytest.fixture
def spans(document: Make) -> Callable[[str], list[tuple[str, str, str]]]:
    """The spans of a sentence as (text, keys, kind)."""

    def make(text: str) -> list[tuple[str, str, str]]:
        return [(span.text, ",".join(span.keys), span.kind) for span in extract(document(text))]

    return make


def _sentence(text: str) -> Sentence:
    clean, at = "", 0
    citations = []
    for marker in re.finditer(r"<([^|<>]*)\|([^<>]*)>", text):
        clean += text[at : marker.start()]
        start = len(clean)
        clean += marker[2]
        keys = tuple(key for key in marker[1].split(",") if key)
        citations.append(Citation(keys, marker.start(), marker.end(), start, len(clean)))
        at = marker.end()
    return Sentence(clean + text[at:], 0, 0, "paper.txt", 0, len(text), tuple(citations))
