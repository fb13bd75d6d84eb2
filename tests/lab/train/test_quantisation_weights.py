"""Weights read back out of graphs in 8 bits."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import ModelProto, helper

import whycite
from tests.thoroughness import examples
from whycite.errors import UserError
from whycite.lab.train.quantisation import EncoderShape, OutputKind, build_graph, read_shape, read_weights
from whycite.models.folders import ENCODER, PACKED, WORTHINESS, Pooling

Array = NDArray[np.float32]
WIDTH, INNER, VOCABULARY, POSITIONS = 8, 16, 11, 7
MODELS = Path(whycite.__file__).parent / "models"
# A graph whose matrices have 4 bits does not hold them itself.
BUNDLED = [
    MODELS / name / "model.onnx"
    for name in (*ENCODER.bundled(), *WORTHINESS.bundled())
    if not (MODELS / name / PACKED).is_file()
]


def random_weights(layers: int, seed: int = 0, spread: float = 1) -> dict[str, Array]:
    """Weights of an encoder; rows differ in size by the spread's powers of ten, and some are zero."""
    random = np.random.default_rng(seed)
    sizes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (VOCABULARY, WIDTH),
        "embeddings.position_embeddings.weight": (POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    dense = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
    dense |= {"attention.output.dense": (WIDTH, WIDTH), "intermediate.dense": (INNER, WIDTH)}
    dense |= {"output.dense": (WIDTH, INNER)}
    norms = {"attention.output.LayerNorm", "output.LayerNorm"}
    for layer in (f"encoder.layer.{number}" for number in range(layers)):
        sizes |= {f"{layer}.{part}.weight": size for part, size in dense.items()}
        sizes |= {f"{layer}.{part}.bias": size[:1] for part, size in dense.items()}
        sizes |= {f"{layer}.{part}.{kind}": (WIDTH,) for part in sorted(norms) for kind in ("weight", "bias")}
    sizes |= {f"embeddings.LayerNorm.{kind}": (WIDTH,) for kind in ("weight", "bias")}
    sizes |= {"head.weight": (1, WIDTH), "head.bias": (1,)}
    made = {}
    for name, size in sizes.items():
        scales = 10 ** random.uniform(-spread, spread, size[:1]) * (random.random(size[:1]) > 0.1)
        rows = random.normal(size=size) * scales.reshape(-1, *[1] * (len(size) - 1))
        made[name] = (rows + 0.0).astype(np.float32)  # no zero has a sign: a sum would lose it
    return made


def stored(model: ModelProto) -> bytes:
    return bytes(model.SerializeToString(deterministic=True))


@settings(max_examples=examples(30))
@given(
    st.integers(0, 2**32 - 1),
    st.floats(0, 15),
    st.integers(1, 3),
    st.sampled_from([0, 2]),
    st.sampled_from(["cls", "mean"]),
    st.sampled_from([1e-12, 1e-7, 1e-5]),
    st.sampled_from(["vectors", "scores", "states"]),
)
def test_built_again_they_give_the_same_graph(
    seed: int, spread: float, layers: int, first: int, pooling: Pooling, epsilon: float, output: OutputKind
) -> None:
    told = EncoderShape(layers, 4, epsilon, first, pooling if output == "vectors" else "cls", output)
    graph = build_graph(random_weights(layers, seed, spread), told)
    assert read_shape(graph, first) == told
    assert stored(build_graph(read_weights(graph, first), told)) == stored(graph)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("first", [0, 2], ids=["bert", "roberta"])
def test_close_to_those_it_was_built_from(pooling: Pooling, first: int) -> None:
    given = random_weights(2)
    found = read_weights(build_graph(given, EncoderShape(2, 4, 1e-5, first, pooling)), first)
    for name in ("head.weight", "head.bias"):  # which vectors have no use for
        del given[name]
    assert {name: weight.shape for name, weight in found.items() if "token_type" not in name} == {
        name: weight.shape for name, weight in given.items() if "token_type" not in name
    }
    places, kinds = (f"embeddings.{part}_embeddings.weight" for part in ("position", "token_type"))
    assert (found[places][:first] == 0).all()
    np.testing.assert_array_equal(found[places][first:] + found[kinds][0], given[places][first:] + given[kinds][0])
    for name in given.keys() - {places, kinds}:
        assert found[name].dtype == np.float32
        if given[name].ndim == 1:
            np.testing.assert_array_equal(found[name], given[name])
        else:
            step = np.abs(given[name]).max(1, keepdims=True) / 127
            assert (np.abs(found[name] - given[name]) <= step * 0.5001).all()


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.parent.name)
def test_bundled_encoders(path: Path) -> None:
    graph = onnx.load(path)
    assert stored(build_graph(read_weights(graph), read_shape(graph))) == path.read_bytes()


def test_graphs_of_others() -> None:
    foreign = helper.make_model(helper.make_graph([], "table", [], []), producer_name="somebody")
    with pytest.raises(UserError, match="the graph was made by 'somebody'"):
        read_weights(foreign)
