"""The weights of an encoder read back out of the graph that `quantised.build` made of them; needs the package onnx."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, helper, numpy_helper

from whycite.encoders.facts import Pooling
from whycite.encoders.quantised import Output, Shape
from whycite.errors import UserError

__all__ = ["shape", "weights"]

Array = NDArray[np.float32]
_MAKER = "whycite"


def shape(model: ModelProto, first_position: int = 0) -> Shape:
    """What else `build` was told; the graph does not hold where positions begin, nor how its states are pooled."""
    graph = _Graph(model)
    attentions = graph.nodes("MultiHeadAttention")
    heads = _attribute(attentions[0], "num_heads")
    epsilon = _attribute(graph.nodes("LayerNormalization")[0], "epsilon")
    # A node holds 32 bits: the shortest number that has them is the one that was meant.
    epsilon = float(str(np.float32(epsilon)))
    pooling: Pooling = "mean" if graph.nodes("MatMul") else "cls"
    return Shape(len(attentions), int(heads), epsilon, first_position, pooling, graph.output)


def weights(model: ModelProto, first_position: int = 0) -> dict[str, Array]:
    """The weights by name, as exact as 8 bits hold them: built again they give the same graph.

    Positions and the first token type were added up, so all is put into the positions. Those before `first_position`
    are not in the graph, since no text has them: they are zero.
    """
    graph = _Graph(model)
    words, scales = (graph.constants[node.input[0]] for node in graph.nodes("Gather"))
    width = words.shape[1]
    before = np.zeros((first_position, width), np.float32)
    places = graph.constants[graph.nodes("Slice")[0].input[0]]
    found = {
        "embeddings.word_embeddings.weight": words * scales,
        "embeddings.position_embeddings.weight": np.concatenate([before, places]),
        "embeddings.token_type_embeddings.weight": np.zeros((1, width), np.float32),
    }
    norms, products, sums = graph.norms(), graph.products(), graph.sums()
    attentions, inners = graph.nodes("MultiHeadAttention"), graph.nodes("FastGelu")
    found |= _norm("embeddings", norms)
    for layer, (attention, inner) in enumerate(zip(attentions, inners, strict=True)):
        name = f"encoder.layer.{layer}"
        parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
        asked = next(products)
        if len(asked) == width:  # of the last layer, which asks for the first token only
            asked = np.concatenate([asked, next(products)])
        found |= _named(parts, "weight", np.split(asked, 3))
        found |= _named(parts, "bias", np.split(graph.constants[attention.input[3]], 3))
        dense = [f"{name}.{part}.dense" for part in ("attention.output", "intermediate", "output")]
        found |= _named(dense, "weight", [next(products) for _ in dense])
        found |= _named(dense, "bias", [next(sums), graph.constants[inner.input[1]], next(sums)])
        found |= _norm(f"{name}.attention.output", norms) | _norm(f"{name}.output", norms)
    if graph.output == "scores":
        found |= {"head.weight": graph.constants[graph.nodes("Mul")[-1].input[1]], "head.bias": next(sums)}
    return found


class _Graph:
    """A graph's nodes by operator, in order, and its constants by name."""

    def __init__(self, model: ModelProto) -> None:
        if model.producer_name != _MAKER:
            raise UserError(f"the graph is by '{model.producer_name}': weights are read only from what whycite exports")
        self.constants = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
        self.output: Output = model.graph.output[0].name
        self._nodes = list(model.graph.node)

    def nodes(self, operator: str) -> list[NodeProto]:
        return [node for node in self._nodes if node.op_type == operator]

    def products(self) -> Iterator[Array]:
        """The weights of each product, a row an output."""
        for node in self.nodes("MatMulIntegerToFloat"):
            values, scales = self.constants[node.input[1]], self.constants[node.input[3]]
            yield np.ascontiguousarray(values.T) * scales[:, None]

    def sums(self) -> Iterator[Array]:
        """Each bias that is added by a node of its own."""
        return (self.constants[node.input[1]] for node in self.nodes("Add") if node.input[1] in self.constants)

    def norms(self) -> Iterator[tuple[Array, Array]]:
        """Weight and bias of each normalisation."""
        for node in self.nodes("LayerNormalization"):
            yield self.constants[node.input[1]], self.constants[node.input[2]]


def _norm(name: str, norms: Iterator[tuple[Array, Array]]) -> dict[str, Array]:
    weight, bias = next(norms)
    return {f"{name}.LayerNorm.weight": weight, f"{name}.LayerNorm.bias": bias}


def _named(names: list[str], kind: str, arrays: list[Array]) -> dict[str, Array]:
    return {f"{name}.{kind}": array for name, array in zip(names, arrays, strict=True)}


def _attribute(node: NodeProto, name: str) -> float:
    (found,) = (helper.get_attribute_value(each) for each in node.attribute if each.name == name)
    return float(found)
