"""The encoder that comes with whycite: what its vectors promise."""

import json
import threading
import time
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import whycite
from tests.thoroughness import examples
from whycite.models import DEFAULT, bundled_encoders, load_encoder
from whycite.models.encoders import OnnxEncoder, OnnxModel
from whycite.models.folders import ModelFolder

MODELS = Path(whycite.__file__).parent / "models"
TEXTS = [
    "Neural stem cells divide asymmetrically in the developing cortex.",
    "BM25",
    "Asymmetric division of cortical progenitors generates neurons during development, as has been shown in mice.",
    "Stars of low mass burn hydrogen for longer than the age of the universe.",
    "olfactory glomeruli",
    "",
    "Die Zellteilung – β-catenin, 37 °C, 神经元, 🧬.",
]


@pytest.mark.parametrize("name", bundled_encoders())
def test_the_files_are_what_encoder_json_says(name: str) -> None:
    folder = MODELS / name
    found = ModelFolder(folder).settings
    assert found.name == name
    assert found.version == ModelFolder(folder).version
    assert load_encoder(name).dimensions == found.dimensions == load_encoder(name).encode(["text"]).shape[1]
    assert "Licence" in (folder / "README.md").read_text(encoding="utf-8")
    assert (folder / "model.onnx").stat().st_size < 40e6


def test_name_and_shape() -> None:
    encoder = load_encoder()
    recorded = json.loads((MODELS / DEFAULT / "encoder.json").read_text(encoding="utf-8"))
    assert encoder.name == f"{DEFAULT}@{recorded['version']}"
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_no_texts() -> None:
    assert load_encoder().encode([]).shape == (0, 384)


def test_one_text_is_refused() -> None:
    with pytest.raises(TypeError, match="not one text"):
        load_encoder().encode("cells divide")


def test_what_means_the_like_lies_close() -> None:
    division, asymmetric, stars = load_encoder().encode([TEXTS[0], TEXTS[2], TEXTS[3]])
    assert division @ asymmetric > 0.8 > 0.65 > division @ stars


def test_close_to_the_model_before_it_was_quantised() -> None:
    division, short, asymmetric, stars = load_encoder().encode(TEXTS[:4])
    found = [division @ asymmetric, division @ stars, division @ short, short @ stars]
    np.testing.assert_allclose(found, [0.8274, 0.0769, 0.1052, 0.1990], atol=0.02)  # by transformers, in 32 bits


# A vector must depend on nothing but its text: not on the texts beside it, nor on their order or number, nor threads.
_WORDS = st.sampled_from("cells divide in the cortex of mice, β-catenin BM25 (2010) stars".split())
_SENTENCES = st.lists(st.lists(_WORDS, max_size=30).map(" ".join), max_size=40)


@settings(max_examples=examples(15), deadline=None)
@given(_SENTENCES, st.randoms(use_true_random=False), st.sampled_from([1, 2, 3]))
def test_vectors_depend_on_the_text_alone(texts: list[str], random: Random, threads: int) -> None:
    together = load_encoder(threads=threads).encode(texts)
    order = list(range(len(texts)))
    random.shuffle(order)
    np.testing.assert_array_equal(load_encoder(threads=2).encode([texts[i] for i in order]), together[order])
    for text, vector in list(zip(texts, together, strict=True))[:3]:
        np.testing.assert_array_equal(load_encoder(threads=1).encode([text])[0], vector)


def test_long_texts_beside_short_ones_change_nothing() -> None:
    alone = load_encoder().encode(["stem cells"])
    np.testing.assert_array_equal(load_encoder().encode(["stem cells", "stem cells divide " * 80, "stars"])[:1], alone)


def test_runs_repeat() -> None:
    again = OnnxEncoder(MODELS / DEFAULT, threads=2)
    np.testing.assert_array_equal(again.encode(TEXTS), load_encoder().encode(TEXTS))


def test_equal_texts_are_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = OnnxEncoder(MODELS / DEFAULT, threads=1)
    seen = 0
    run = OnnxModel.vectors

    def counted(model: OnnxModel, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        nonlocal seen
        seen += len(ids)
        return run(model, ids)

    monkeypatch.setattr(OnnxModel, "vectors", counted)
    vectors = encoder.encode(["stars", "cells", "stars", " stars\n"])
    assert seen == 2
    assert (vectors[0] == vectors[2]).all()
    assert (vectors[0] == vectors[3]).all()
    assert (vectors[0] != vectors[1]).any()


@pytest.mark.parametrize(
    "text", ["", " \n", "\x00", "a\ud800b", "\u202e\u200b", "é" * 300, "<pad> <pad>", "</s><mask>"]
)
def test_odd_texts(text: str) -> None:
    vector = load_encoder().encode([text])[0]
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_only_the_beginning_of_a_long_text_counts() -> None:
    start = time.process_time()
    long, longer, other = load_encoder(threads=1).encode(
        ["cells divide " * 300, "cells divide " * 50_000, "stars " * 20_000]
    )
    assert time.process_time() - start < 30
    np.testing.assert_array_equal(long, longer)
    assert (long != other).any()


def test_progress_adds_up_to_all_texts() -> None:
    told: list[int] = []
    load_encoder().encode([*TEXTS, *TEXTS], told.append)
    assert sum(told) == 2 * len(TEXTS)
    assert len(told) > 1


@pytest.mark.parametrize("threads", [1, 3])
def test_no_more_threads_than_asked_for(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = OnnxEncoder(MODELS / DEFAULT, threads)
    running, most = 0, 0
    used: set[int] = set()
    models: set[OnnxModel] = set()
    lock = threading.Lock()
    run = OnnxModel.vectors

    def watched(model: OnnxModel, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            used.add(threading.get_ident())
            models.add(model)
        found = run(model, ids)
        with lock:
            running -= 1
        return found

    monkeypatch.setattr(OnnxModel, "vectors", watched)
    encoder.encode(["cells divide " * n for n in range(30)])
    assert most <= threads
    assert (used == {threading.get_ident()}) == (threads == 1)
    (model,) = models
    assert model.session.get_session_options().intra_op_num_threads == 1


def test_processor_time_of_one_thread() -> None:
    encoder = load_encoder(threads=1)
    encoder.encode(["warm"])

    def used() -> float:
        clock, start = time.perf_counter(), time.process_time()
        encoder.encode(["cells divide " * n for n in range(40)])
        return (time.process_time() - start) / (time.perf_counter() - clock)

    assert any(used() < 1.3 for _ in range(5))  # threads that other tests have left may be at work for a while


def test_opens_quickly() -> None:
    start = time.process_time()
    OnnxEncoder(MODELS / DEFAULT, 1).encode(["text"])
    assert time.process_time() - start < 30
