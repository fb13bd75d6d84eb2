"""The ONNX graph of a BERT-like encoder in 8-bit integers, made from its weights; needs the package onnx.

Weights have one scale an output, activations one scale a token. The usual dynamic quantisation has one scale for all
activations of a batch: then a text's vector changes with the texts beside it, and one odd token spoils all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from whycite.encoders.facts import Pooling

__all__ = ["Output", "Shape", "Weights", "build"]

Output = Literal["vectors", "scores", "states"]
Weights = Mapping[str, NDArray[np.float32]]
_RUNTIME = "com.microsoft"  # operators that onnxruntime adds to the standard
_LARGEST = 127
_MIDDLE = 128  # what zero becomes where values have both signs
_LOW = 40  # what zero becomes after GELU: hardly anything is negative, so most of the range is for the rest
_GELU_LEAST = 0.17  # GELU is never below minus this


@dataclass(frozen=True, slots=True)
class Shape:
    """What the weights do not say of a BERT-like encoder."""

    layers: int
    heads: int
    epsilon: float
    first_position: int = 0  # RoBERTa's positions begin after that of the padding
    pooling: Pooling = "cls"
    output: Output = "vectors"


@dataclass(frozen=True, slots=True)
class _Rows:
    """Token vectors below each other, quantised: values, scales, and the value of zero."""

    values: str
    scales: str
    zero: str


@dataclass(slots=True)
class _Graph:
    """Nodes and constants as they come; values are known by name."""

    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)

    def constant(self, value: Any, kind: type = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, kind, order="C"), name))
        return name

    def ints(self, *values: int) -> str:
        return self.constant(values, np.int64)

    def add(self, operator: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: Any) -> Any:
        """The name of the node's output, or a list of them."""
        names = [f"n{len(self.nodes)}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names


def build(weights: Weights, shape: Shape) -> ModelProto:
    """A graph from `input_ids` (texts x tokens, none padded) to what `shape.output` says.

    - `vectors`: texts x dimensions, of unit length
    - `scores`: one number a text, by the weights `head` at its first token
    - `states`: texts x tokens x dimensions
    """
    graph = _Graph()
    layers = _Layers(graph, weights, shape)
    axes = layers.finish(shape.output)
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"])
    found = helper.make_tensor_value_info(shape.output, TensorProto.FLOAT, axes)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(_RUNTIME, 1)]
    made = helper.make_graph(graph.nodes, "encoder", [ids], [found], graph.constants)
    return helper.make_model(made, opset_imports=opsets, ir_version=9, producer_name="whycite")


class _Layers:
    """Writes the layers of an encoder into a graph."""

    def __init__(self, graph: _Graph, weights: Weights, shape: Shape) -> None:
        self._graph, self._weights, self._shape = graph, weights, shape
        self.width = weights["embeddings.word_embeddings.weight"].shape[1]
        add = graph.add
        texts, tokens = add("Shape", "input_ids", start=0, end=1), add("Shape", "input_ids", start=1, end=2)
        self._tokens = tokens
        self._flat = graph.ints(-1, self.width)
        self._by_text = add("Concat", texts, tokens, graph.ints(-1), axis=0)
        self._first_only = add("Concat", texts, graph.ints(1, -1), axis=0)
        rows = add("Mul", texts, tokens)
        self._zeros = {zero: add("Expand", graph.constant(zero, np.uint8), rows) for zero in (_MIDDLE, _LOW)}
        self._texts = texts

    def finish(self, output: Output) -> list[str | int]:
        """All layers and what is read out of the last; the axes of that."""
        nodes, add = self._graph.nodes, self._graph.add
        if output == "states":
            rows = self._run(only_first=False)
            nodes.append(helper.make_node("Reshape", [rows, self._by_text], [output]))
            return ["texts", "tokens", self.width]
        if output == "scores":
            rows = add("Mul", self._run(only_first=True), self._graph.constant(self._weights["head.weight"]))
            total = add("ReduceSum", rows, self._graph.ints(-1), keepdims=0)
            nodes.append(helper.make_node("Add", [total, self._bias("head")], [output]))
            return ["texts"]
        nodes.append(helper.make_node("LpNormalization", [self._pooled()], [output], axis=-1, p=2))
        return ["texts", self.width]

    def _run(self, *, only_first: bool) -> str:
        """All layers; what the last one makes of other tokens than the first is left out where nobody reads it."""
        rows = self._embeddings()
        last = self._shape.layers - 1
        for layer in range(self._shape.layers):
            rows = self._layer(f"encoder.layer.{layer}", rows, only_first=only_first and layer == last)
        return rows

    def _pooled(self) -> str:
        """A row for each text."""
        add = self._graph.add
        if self._shape.pooling == "cls":
            return self._run(only_first=True)
        rows = self._run(only_first=False)
        # The sum does as well as the mean. By a product: a plain sum adds in another order for one text than for many.
        ones = add("Expand", self._graph.constant(1), add("Concat", self._graph.ints(1), self._tokens, axis=0))
        return str(add("Reshape", add("MatMul", ones, add("Reshape", rows, self._by_text)), self._flat))

    def _embeddings(self) -> str:
        add, constant = self._graph.add, self._graph.constant
        words = self._weights["embeddings.word_embeddings.weight"]
        values, scales = _quantised(words)
        word = add("Cast", add("Gather", constant(values, np.int8), "input_ids"), to=TensorProto.FLOAT)
        word = add("Mul", word, add("Gather", constant(scales), "input_ids"))
        places = self._weights["embeddings.position_embeddings.weight"][self._shape.first_position :]
        places = places + self._weights["embeddings.token_type_embeddings.weight"][0]
        place = add("Slice", constant(places), self._graph.ints(0), self._tokens)
        return str(add("Reshape", self._norm(add("Add", word, place), "embeddings.LayerNorm"), self._flat))

    def _layer(self, name: str, rows: str, *, only_first: bool) -> str:
        add = self._graph.add
        asking = every = self._quantise(rows)
        if only_first:
            rows = self._first(rows, self.width)
            asking = _Rows(self._first(every.values, self.width), self._first(every.scales, 1), every.zero)
            # From here on there are as many rows as texts.
            self._zeros = {zero: self._beginning(zeros) for zero, zeros in self._zeros.items()}
        seen = self._attention(f"{name}.attention.self", asking, every)
        rows = self._sum(self._quantise(seen), rows, f"{name}.attention.output")
        inner = self._product(self._quantise(rows), [f"{name}.intermediate.dense"])
        # By tanh: it differs from GELU by less than quantisation does, and takes two thirds of the time.
        inner = add("FastGelu", inner, self._bias(f"{name}.intermediate.dense"), domain=_RUNTIME)
        return self._sum(self._quantise(inner, _LOW), rows, f"{name}.output")

    def _attention(self, name: str, asking: _Rows, every: _Rows) -> str:
        """What each row that asks takes from every row of its text."""
        add = self._graph.add
        parts = [f"{name}.{part}" for part in ("query", "key", "value")]
        if asking is every:
            together = add("Reshape", self._product(every, parts), self._by_text)
            query, key, value = add("Split", together, outputs=3, axis=-1, num_outputs=3)
        else:
            query = add("Reshape", self._product(asking, parts[:1]), self._first_only)
            together = add("Reshape", self._product(every, parts[1:]), self._by_text)
            key, value = add("Split", together, outputs=2, axis=-1, num_outputs=2)
        bias = self._graph.constant(np.concatenate([self._weights[f"{part}.bias"] for part in parts]))
        heads = self._shape.heads
        seen = add("MultiHeadAttention", query, key, value, bias, domain=_RUNTIME, num_heads=heads)
        return str(add("Reshape", seen, self._flat))

    def _first(self, rows: str, width: int) -> str:
        """The rows of every text's first token."""
        add, ints = self._graph.add, self._graph.ints
        first = add("Slice", add("Reshape", rows, self._by_text), ints(0), ints(1), ints(1))
        return str(add("Reshape", first, ints(-1, width)))

    def _beginning(self, rows: str) -> str:
        """As many rows as there are texts."""
        return str(self._graph.add("Slice", rows, self._graph.ints(0), self._texts))

    def _sum(self, inputs: _Rows, rows: str, name: str) -> str:
        """A product added to the rows it was made from, normalised."""
        add = self._graph.add
        change = add("Add", self._product(inputs, [f"{name}.dense"]), self._bias(f"{name}.dense"))
        return self._norm(add("Add", change, rows), f"{name}.LayerNorm")

    def _quantise(self, rows: str, zero: int = _MIDDLE) -> _Rows:
        """Rows in 8 bits, each with a scale of its own."""
        add, constant = self._graph.add, self._graph.constant
        if zero == _MIDDLE:
            steps, least = _LARGEST, 1e-9
            reach = add("ReduceMax", add("Abs", rows), self._graph.ints(-1), keepdims=0)
        else:
            steps, least = 255 - zero, _GELU_LEAST / zero
            reach = add("ReduceMax", rows, self._graph.ints(-1), keepdims=0)
        scales = add("Max", add("Mul", reach, constant(1 / steps)), constant(least))
        values = add("QuantizeLinear", rows, scales, self._zeros[zero], axis=0)
        return _Rows(values, add("Unsqueeze", scales, self._graph.ints(1)), constant(zero, np.uint8))

    def _product(self, rows: _Rows, names: list[str]) -> str:
        """The rows times the weights of that name, or of several side by side."""
        add, constant = self._graph.add, self._graph.constant
        values, scales = _quantised(np.concatenate([self._weights[f"{name}.weight"] for name in names]))
        inputs = (rows.values, constant(values.T, np.int8), constant(1), constant(scales[:, 0]), rows.zero)
        return str(add("Mul", add("MatMulIntegerToFloat", *inputs, domain=_RUNTIME), rows.scales))

    def _norm(self, rows: str, name: str) -> str:
        weight, bias = self._graph.constant(self._weights[f"{name}.weight"]), self._bias(name)
        # Not the runtime's operator that also adds: it takes three times as long.
        return str(self._graph.add("LayerNormalization", rows, weight, bias, epsilon=self._shape.epsilon))

    def _bias(self, name: str) -> str:
        return self._graph.constant(self._weights[f"{name}.bias"])


def _quantised(weights: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Whole numbers from -127 to 127 and, for each row, what one of them stands for."""
    scales = np.abs(weights).max(1, keepdims=True) / _LARGEST
    scales[scales == 0] = 1
    return np.rint(weights / scales), scales
