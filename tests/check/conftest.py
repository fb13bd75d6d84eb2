"""A detector that goes by words, an encoder that needs no model, and small drafts."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from whycite.check.detector import ParagraphText
from whycite.text.tokens import terms


class WordDetector:
    """Takes a sentence that says "known" for worthy; what it was asked is kept."""

    name = "words@1"
    thresholds: Mapping[str, float] = {"": 0.5, "conclusion": 0.95}
    bibliography = None

    def __init__(self) -> None:
        self.asked: list[ParagraphText] = []

    def worthiness(self, paragraphs: Sequence[ParagraphText]) -> list[NDArray[np.float64]]:
        """For each paragraph a probability a sentence."""
        self.asked += paragraphs
        return [np.array([0.9 if "known" in text else 0.1 for text in each.sentences]) for each in paragraphs]


class WordEncoder:
    """Texts that share words lie close together."""

    name = "words@1"
    dimensions = 64

    def __init__(self) -> None:
        self.texts = 0

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """One unit vector a text."""
        self.texts += len(texts)
        vectors = np.full((len(texts), self.dimensions), 1e-6, np.float32)
        for row, text in enumerate(texts):
            for term in terms(text):
                vectors[row, blake2b(term.encode(), digest_size=1).digest()[0] % self.dimensions] += 1
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


BIB = """\
@article{Kaiser1988,
  author = {Kaiser, Walter}, title = {Busy bees need rest, too}, year = {1988}, journal = {Physiology},
}
@article{Vaswani2017,
  author = {Vaswani, Ashish and Shazeer, Noam}, title = {Attention Is All You Need}, year = {2017},
}
@article{Doe2019,
  author = {Doe, Jane}, title = {Granite in the walls of old bridges}, year = {2019},
}
"""
TEX = r"""\documentclass{article}
\title{How bees rest}
\begin{document}
\section{Introduction}
It is known that bees rest at night. Bees fly by day.
Networks made of attention layers represent text~\cite{Vaswani2017}.
It is known that old bridges are made of granite.

\section{Conclusion}
It is known that this is enough.
\bibliographystyle{plain}
\bibliography{refs}
\end{document}
"""


@pytest.fixture
def detector() -> WordDetector:
    return WordDetector()


@pytest.fixture
def encoder() -> WordEncoder:
    return WordEncoder()


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    """A LaTeX draft with a bibliography of three entries, one of them cited."""
    (tmp_path / "draft").mkdir()
    (tmp_path / "draft" / "refs.bib").write_text(BIB, "utf-8")
    (tmp_path / "draft" / "main.tex").write_text(TEX, "utf-8")
    return tmp_path / "draft" / "main.tex"


@pytest.fixture(autouse=True)
def _no_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WHYCITE_LIBRARY", str(tmp_path / "no library"))
    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path / "cache"))
