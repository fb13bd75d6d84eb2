"""A detector that goes by words, an encoder that needs no model, and small drafts."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from whycite.check.calibration import Calibration
from whycite.check.detector import Decision, DetectorDescription, DetectorHead, ParagraphText
from whycite.models.folders import MODEL, TOKENIZER
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


WIDTH, WORDS, LONGEST = 16, 60, 64


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a detector with random weights, two layers deep, which reads 64 tokens at most."""
    pytest.importorskip("onnx", reason="building a graph needs onnx")
    from whycite.lab.train.quantisation import EncoderShape, build_graph

    chance = np.random.default_rng(0)

    def draw(*shape: int) -> np.ndarray:
        return chance.normal(0, 0.3, shape).astype(np.float32)

    weights = {
        "embeddings.word_embeddings.weight": draw(WORDS, WIDTH),
        "embeddings.position_embeddings.weight": draw(LONGEST, WIDTH),
        "embeddings.token_type_embeddings.weight": draw(1, WIDTH),
        "embeddings.LayerNorm.weight": np.ones(WIDTH, np.float32),
        "embeddings.LayerNorm.bias": draw(WIDTH),
    }
    for layer in range(2):
        name = f"encoder.layer.{layer}"
        sizes = {
            **{f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")},
            "attention.output.dense": (WIDTH, WIDTH),
            "intermediate.dense": (2 * WIDTH, WIDTH),
            "output.dense": (WIDTH, 2 * WIDTH),
        }
        for part, shape in sizes.items():
            weights |= {f"{name}.{part}.weight": draw(*shape), f"{name}.{part}.bias": draw(shape[0])}
        for part in ("attention.output", "output"):
            weights[f"{name}.{part}.LayerNorm.weight"] = np.ones(WIDTH, np.float32)
            weights[f"{name}.{part}.LayerNorm.bias"] = draw(WIDTH)
    made = tmp_path_factory.mktemp("detector") / "tiny"
    made.mkdir()
    graph = build_graph(weights, EncoderShape(2, 2, 1e-5, output="states"))
    (made / MODEL).write_bytes(graph.SerializeToString(deterministic=True))
    words = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", *(f"w{at}" for at in range(WORDS - 4))]
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    tokenizer.save(str(made / TOKENIZER))
    DetectorHead(draw(WIDTH, WIDTH), draw(WIDTH), draw(WIDTH), draw(1)).write(made)
    drafts = Decision(Calibration(0.5, -1.0), {"": 0.3})
    articles = Decision(Calibration(), {"": 0.4, "method": 0.6})
    DetectorDescription("tiny", "ctx-section-extra", "mean", LONGEST, {"drafts": drafts, "articles": articles}).write(
        made
    )
    return made
