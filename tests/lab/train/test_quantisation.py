"""The graph in 8 bits beside the same encoder in plain numpy."""

from math import erf
from pathlib import Path

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, numpy_helper

from tests.fakes import random_weights
from whycite.lab.train.quantisation import EncoderShape, WeightArrays, build_graph, pack_weights
from whycite.models.folders import ENCODER, PACKED, ModelFolder, Pooling, unpack_weights

Array = NDArray[np.float32]
WIDTH, INNER, VOCABULARY, POSITIONS = 32, 64, 50, 20


def plain(weights: WeightArrays, shape: EncoderShape, ids: NDArray[np.int64]) -> Array:
    """What the encoder is by definition, one text at a time."""
    return np.stack([_text(weights, shape, row) for row in ids])


def _text(w: WeightArrays, shape: EncoderShape, ids: NDArray[np.int64]) -> Array:
    def dense(x: Array, name: str) -> Array:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x: Array, name: str) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + shape.epsilon)
        return np.asarray(scaled * w[f"{name}.weight"] + w[f"{name}.bias"], np.float32)

    places = np.arange(len(ids)) + shape.first_position
    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][places]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(shape.layers):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            dense(x, f"{name}.attention.self.{part}").reshape(len(ids), shape.heads, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1])
        if "distances" in w:
            offsets = np.arange(len(ids))[None] - np.arange(len(ids))[:, None] + len(w["distances"]) // 2
            scores = scores + w["distances"][offsets].transpose(2, 0, 1)
        scores = np.exp(scores)
        seen = (scores / scores.sum(-1, keepdims=True) @ value).swapaxes(0, 1).reshape(len(ids), -1)
        x = norm(x + dense(seen, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        inner = dense(x, f"{name}.intermediate.dense")
        inner = inner * (1 + np.vectorize(erf)(inner / 2**0.5)) / 2
        x = norm(x + dense(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    pooled = x[0] if shape.pooling == "cls" else x.mean(0)
    return np.asarray(pooled / np.linalg.norm(pooled), np.float32)


def run(weights: WeightArrays, shape: EncoderShape, ids: NDArray[np.int64]) -> Array:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    model = build_graph(weights, shape).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"input_ids": ids})
    return np.asarray(found)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("first", [0, 2], ids=["bert", "roberta"])
@pytest.mark.parametrize("layers", [1, 3])
def test_close_to_the_definition(pooling: Pooling, first: int, layers: int) -> None:
    shape = EncoderShape(layers, heads=4, epsilon=1e-5, first_position=first, pooling=pooling)
    weights = random_weights(layers, VOCABULARY, POSITIONS)
    ids = np.random.default_rng(1).integers(0, VOCABULARY, (7, 11))
    found, wanted = run(weights, shape, ids), plain(weights, shape, ids)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    assert (found * wanted).sum(1).min() > 0.995
    assert (found @ wanted.T).argmax(1).tolist() == list(range(7))


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("tokens", [1, 11, POSITIONS])
def test_distances_between_tokens_count(pooling: Pooling, layers: int, tokens: int) -> None:
    shape = EncoderShape(layers, heads=4, epsilon=1e-5, pooling=pooling)
    weights = random_weights(layers, VOCABULARY, POSITIONS)
    ids = np.random.default_rng(1).integers(0, VOCABULARY, (7, tokens))
    without = run(weights, shape, ids)
    weights["distances"] = np.random.default_rng(2).normal(0, 2, (2 * POSITIONS - 1, 4)).astype(np.float32)
    vectors, wanted = run(weights, shape, ids), plain(weights, shape, ids)
    assert (vectors * wanted).sum(1).min() > 0.995
    assert tokens == 1 or (without * wanted).sum(1).min() < 0.99
    np.testing.assert_array_equal(run(weights, shape, ids[:1])[0], vectors[0])


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_rows_do_not_see_each_other(pooling: Pooling) -> None:
    shape, weights = EncoderShape(2, 4, 1e-5, pooling=pooling), random_weights(2, VOCABULARY, POSITIONS)
    ids = np.random.default_rng(2).integers(0, VOCABULARY, (9, 6))
    together = run(weights, shape, ids)
    for row, vector in zip(ids, together, strict=True):
        np.testing.assert_array_equal(run(weights, shape, row[None])[0], vector)


def test_weights_that_are_all_zero() -> None:
    shape, weights = EncoderShape(1, 4, 1e-5), random_weights(1, VOCABULARY, POSITIONS)
    weights["encoder.layer.0.output.dense.weight"][:] = 0
    weights["embeddings.word_embeddings.weight"][0] = 0
    ids = np.array([[0, 1, 2], [3, 0, 0]])
    np.testing.assert_allclose(run(weights, shape, ids), plain(weights, shape, ids), atol=0.02)


def test_same_weights_same_bytes() -> None:
    shape, weights = EncoderShape(2, 4, 1e-5), random_weights(2, VOCABULARY, POSITIONS)
    first, second = (build_graph(weights, shape).SerializeToString(deterministic=True) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("texts", [1, 3, 8])
def test_scores_are_read_at_the_first_token(texts: int) -> None:
    weights = random_weights(2, VOCABULARY, POSITIONS)
    random = np.random.default_rng(5)
    head = random.normal(0, 1, (1, WIDTH)).astype(np.float32)
    weights |= {"head.weight": head, "head.bias": np.array([0.25], np.float32)}
    ids = random.integers(0, VOCABULARY, (texts, 9))
    states = run(weights, EncoderShape(2, 4, 1e-12, output="states"), ids)
    scores = run(weights, EncoderShape(2, 4, 1e-12, output="scores"), ids)
    assert states.shape == (texts, 9, WIDTH)
    assert scores == pytest.approx(states[:, 0] @ head[0] + 0.25, abs=2e-3)
    alone = [run(weights, EncoderShape(2, 4, 1e-12, output="scores"), row[None])[0] for row in ids]
    assert scores.tolist() == alone


@pytest.mark.parametrize("texts", [1, 3, 8])
def test_judgements_are_read_at_the_first_token(texts: int) -> None:
    weights = random_weights(2, VOCABULARY, POSITIONS)
    random = np.random.default_rng(5)
    head, bias = random.normal(0, 1, (4, WIDTH)).astype(np.float32), np.arange(4, dtype=np.float32)
    weights |= {"head.weight": head, "head.bias": bias}
    ids = random.integers(0, VOCABULARY, (texts, 9))
    states = run(weights, EncoderShape(2, 4, 1e-12, output="states"), ids)
    judgements = run(weights, EncoderShape(2, 4, 1e-12, output="judgements"), ids)
    np.testing.assert_allclose(judgements, states[:, 0] @ head.T + bias, atol=5e-3)
    for row, judgement in zip(ids, judgements, strict=True):
        np.testing.assert_array_equal(
            run(weights, EncoderShape(2, 4, 1e-12, output="judgements"), row[None])[0], judgement
        )


def test_states_are_those_of_the_definition() -> None:
    weights, ids = random_weights(2, VOCABULARY, POSITIONS), np.array([[0, 5, 7, 9, 2]])
    states = run(weights, EncoderShape(2, 4, 1e-12, output="states"), ids)[0, 0]
    vector = run(weights, EncoderShape(2, 4, 1e-12), ids)[0]
    assert states / np.linalg.norm(states) == pytest.approx(vector, abs=2e-3)


def test_packed_weights_are_close_to_those_of_the_graph(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    weights = random_weights(layers=1, vocabulary=300, positions=20, width=192, inner=384)
    graph = build_graph(weights, EncoderShape(1, 4, 1e-12))
    matrices = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.graph.initializer}
    whole = len(graph.SerializeToString())
    packed = pack_weights(graph)
    np.savez(tmp_path / PACKED, **packed)
    assert len(graph.SerializeToString()) + (tmp_path / PACKED).stat().st_size < 0.75 * whole
    unpacked = unpack_weights(tmp_path / PACKED)
    assert {name.partition(".")[2] for name in packed} == unpacked.keys()
    for name, matrix in unpacked.items():
        wanted = matrices[name].astype(np.float64)
        assert matrix.dtype == np.int8
        assert matrix.shape == wanted.shape
        assert ((matrix - wanted) ** 2).mean() < 0.02 * (wanted**2).mean()

    session = ModelFolder(_folder(tmp_path, graph), ENCODER).open_session()
    ids = random.integers(5, 300, (2, 9))
    vectors = session.run(None, {"input_ids": ids})[0]
    np.testing.assert_allclose((vectors**2).sum(1), 1, atol=1e-5)


def _folder(path: Path, graph: ModelProto) -> Path:
    (path / "model.onnx").write_bytes(graph.SerializeToString())
    (path / "tokenizer.json").write_text("{}")
    return path
