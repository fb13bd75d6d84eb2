"""A detector small enough to be made in a test."""

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from whycite.check.calibration import Calibration
from whycite.check.detector import Decision, DetectorDescription, DetectorHead
from whycite.models.runtime import MODEL, TOKENIZER

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
