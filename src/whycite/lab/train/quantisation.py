"""Build 8-bit ONNX graphs of BERT-like encoders, and read their weights back; needs the package onnx.

Weights have one scale per output, activations one per token. The usual dynamic quantisation has one scale for all
activations of a batch, so a text's vector changes with the texts next to it, and one odd token spoils all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from whycite.errors import UserError
from whycite.models.folders import PACKED, PACKED_BLOCK, Pooling

__all__ = ["EncoderShape", "OutputKind", "WeightArrays", "build_graph", "pack_weights", "read_shape", "read_weights"]


OutputKind = Literal["vectors", "scores", "judgements", "states"]
WeightArrays = Mapping[str, NDArray[np.float32]]
_RUNTIME = "com.microsoft"  # domain of the operators that onnxruntime adds to the standard
_OPSET, _OPSET_WITH_ATTENTION = 18, 23
_MAX_INT8 = 127
_MIDDLE = 128  # zero point for values of both signs
_LOW = 40  # zero point after GELU: hardly anything is negative, so most of the range goes to the rest
_GELU_LEAST = 0.17  # GELU never goes below minus this


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """The properties of a BERT-like encoder that its weights do not show."""

    layers: int
    heads: int
    epsilon: float
    first_position: int = 0  # RoBERTa's positions start after that of the padding
    pooling: Pooling = "cls"
    output: OutputKind = "vectors"


@dataclass(frozen=True, slots=True)
class _QuantisedRows:
    """Stacked token vectors, quantised: values, scales, and the zero point."""

    values: str
    scales: str
    zero: str


@dataclass(slots=True)
class _GraphWriter:
    """Collects nodes and constants; values are identified by name."""

    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)

    def constant(self, value: Any, kind: type = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, kind, order="C"), name))
        return name

    def ints(self, *values: int) -> str:
        return self.constant(values, np.int64)

    def add(self, operator: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: Any) -> Any:
        """Add a node; return the name of its output, or a list of names."""
        names = [f"n{len(self.nodes)}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names


def build_graph(weights: WeightArrays, shape: EncoderShape) -> ModelProto:
    """Build a graph from `input_ids` (texts x tokens, unpadded) to the output named by `shape.output`.

    - `vectors`: texts x dimensions, of unit length
    - `scores`: one number per text, by the weights `head` at its first token
    - `judgements`: several numbers per text, likewise

    Weights named `distances` (offset of a token x heads, the middle one for no offset) are added to the attention.
    - `states`: texts x tokens x dimensions
    """
    graph = _GraphWriter()
    layers = _LayerWriter(graph, weights, shape)
    axes = layers.finish(shape.output)
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"])
    output_info = helper.make_tensor_value_info(shape.output, TensorProto.FLOAT, axes)
    opset = _OPSET_WITH_ATTENTION if "distances" in weights else _OPSET
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(_RUNTIME, 1)]
    onnx_graph = helper.make_graph(graph.nodes, "encoder", [ids], [output_info], graph.constants)
    return helper.make_model(onnx_graph, opset_imports=opsets, ir_version=9, producer_name="whycite")


class _LayerWriter:
    """Writes the layers of an encoder into a graph."""

    def __init__(self, graph: _GraphWriter, weights: WeightArrays, shape: EncoderShape) -> None:
        self._graph, self._weights, self._shape = graph, weights, shape
        self.width = weights["embeddings.word_embeddings.weight"].shape[1]
        add = graph.add
        texts, tokens = (
            add("Shape", "input_ids", start=0, end=1),
            add("Shape", "input_ids", start=1, end=2),
        )
        self._tokens = tokens
        self._flat = graph.ints(-1, self.width)
        self._by_text = add("Concat", texts, tokens, graph.ints(-1), axis=0)
        self._first_only = add("Concat", texts, graph.ints(1, -1), axis=0)
        rows = add("Mul", texts, tokens)
        self._zeros = {zero: add("Expand", graph.constant(zero, np.uint8), rows) for zero in (_MIDDLE, _LOW)}
        self._texts = texts
        self._distance_bias = self._distances(weights["distances"]) if "distances" in weights else ""

    def _distances(self, by_offset: NDArray[np.float32]) -> str:
        """What each pair of tokens adds to the attention: 1 x heads x tokens x tokens."""
        add, ints, middle = self._graph.add, self._graph.ints, len(by_offset) // 2
        # Those of the longest text depend on no input: the runtime looks them up once, when it opens the graph.
        places = add("Range", *(self._graph.constant(number, np.int64) for number in (0, middle + 1, 1)))
        offsets = add("Sub", add("Unsqueeze", places, ints(0)), add("Unsqueeze", places, ints(1)))
        offsets = add("Add", offsets, self._graph.constant(middle, np.int64))
        bias = add("Unsqueeze", add("Gather", self._graph.constant(by_offset.T), offsets, axis=1), ints(0))
        both = add("Concat", self._tokens, self._tokens, axis=0)
        return str(add("Slice", bias, ints(0, 0), both, ints(2, 3)))

    def finish(self, output: OutputKind) -> list[str | int]:
        """Write all layers and the output; return the axes of the output."""
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
        if output == "judgements":
            rows = add("Unsqueeze", self._run(only_first=True), self._graph.ints(1))
            weighted = add("Mul", rows, self._graph.constant(self._weights["head.weight"]))
            total = add("ReduceSum", weighted, self._graph.ints(-1), keepdims=0)
            nodes.append(helper.make_node("Add", [total, self._bias("head")], [output]))
            return ["texts", len(self._weights["head.weight"])]
        nodes.append(helper.make_node("LpNormalization", [self._pooled()], [output], axis=-1, p=2))
        return ["texts", self.width]

    def _run(self, *, only_first: bool) -> str:
        """Write all layers; the last skips all but the first token if the others are not read."""
        rows = self._embeddings()
        last_layer = self._shape.layers - 1
        for layer in range(self._shape.layers):
            rows = self._layer(f"encoder.layer.{layer}", rows, only_first=only_first and layer == last_layer)
        return rows

    def _pooled(self) -> str:
        """Pool to one row per text."""
        add = self._graph.add
        if self._shape.pooling == "cls":
            return self._run(only_first=True)
        rows = self._run(only_first=False)
        # The sum works as well as the mean. As a product: a plain sum adds in another order for one text than for many.
        ones = add("Expand", self._graph.constant(1), add("Concat", self._graph.ints(1), self._tokens, axis=0))
        return str(add("Reshape", add("MatMul", ones, add("Reshape", rows, self._by_text)), self._flat))

    def _embeddings(self) -> str:
        add, constant = self._graph.add, self._graph.constant
        words = self._weights["embeddings.word_embeddings.weight"]
        values, scales = _quantise_weights(words)
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
            rows = self._first_rows(rows, self.width)
            asking = _QuantisedRows(
                self._first_rows(every.values, self.width), self._first_rows(every.scales, 1), every.zero
            )
            # From here on there is one row per text.
            self._zeros = {zero: self._beginning(zeros) for zero, zeros in self._zeros.items()}
        seen = self._attention(f"{name}.attention.self", asking, every)
        rows = self._sum(self._quantise(seen), rows, f"{name}.attention.output")
        inner = self._product(self._quantise(rows), [f"{name}.intermediate.dense"])
        # The tanh form differs from GELU by less than quantisation does, and takes two thirds of the time.
        inner = add("FastGelu", inner, self._bias(f"{name}.intermediate.dense"), domain=_RUNTIME)
        return self._sum(self._quantise(inner, _LOW), rows, f"{name}.output")

    def _attention(self, name: str, asking: _QuantisedRows, every: _QuantisedRows) -> str:
        """Attention of each querying row over all rows of its text."""
        add, ints, heads = self._graph.add, self._graph.ints, self._shape.heads
        parts = [f"{name}.{part}" for part in ("query", "key", "value")]
        if asking is every:
            together = add("Reshape", self._projection(every, parts), self._by_text)
            query, key, value = add("Split", together, outputs=3, axis=-1, num_outputs=3)
        else:
            query = add("Reshape", self._projection(asking, parts[:1]), self._first_only)
            together = add("Reshape", self._projection(every, parts[1:]), self._by_text)
            key, value = add("Split", together, outputs=2, axis=-1, num_outputs=2)
        if self._distance_bias:
            near = self._distance_bias
            if asking is not every:
                near = add("Slice", near, ints(0), ints(1), ints(2))
            # Takes a third less time than the runtime's own operator, which is as fast only without distances.
            seen = add("Attention", query, key, value, near, q_num_heads=heads, kv_num_heads=heads)
        else:
            bias = self._biases(parts)
            seen = add("MultiHeadAttention", query, key, value, bias, domain=_RUNTIME, num_heads=heads)
        return str(add("Reshape", seen, self._flat))

    def _projection(self, rows: _QuantisedRows, parts: list[str]) -> str:
        """The product of rows for attention; only the runtime's own operator adds the biases itself."""
        product = self._product(rows, parts)
        return str(self._graph.add("Add", product, self._biases(parts))) if self._distance_bias else product

    def _biases(self, parts: list[str]) -> str:
        return self._graph.constant(np.concatenate([self._weights[f"{part}.bias"] for part in parts]))

    def _first_rows(self, rows: str, width: int) -> str:
        """The rows of each text's first token."""
        add, ints = self._graph.add, self._graph.ints
        first_rows = add("Slice", add("Reshape", rows, self._by_text), ints(0), ints(1), ints(1))
        return str(add("Reshape", first_rows, ints(-1, width)))

    def _beginning(self, rows: str) -> str:
        """The first rows, as many as there are texts."""
        return str(self._graph.add("Slice", rows, self._graph.ints(0), self._texts))

    def _sum(self, inputs: _QuantisedRows, rows: str, name: str) -> str:
        """Add a product to the rows it was made from, and normalise."""
        add = self._graph.add
        change = add("Add", self._product(inputs, [f"{name}.dense"]), self._bias(f"{name}.dense"))
        return self._norm(add("Add", change, rows), f"{name}.LayerNorm")

    def _quantise(self, rows: str, zero: int = _MIDDLE) -> _QuantisedRows:
        """Quantise rows to 8 bits, each with its own scale."""
        add, constant = self._graph.add, self._graph.constant
        if zero == _MIDDLE:
            steps, least = _MAX_INT8, 1e-9
            reach = add("ReduceMax", add("Abs", rows), self._graph.ints(-1), keepdims=0)
        else:
            steps, least = 255 - zero, _GELU_LEAST / zero
            reach = add("ReduceMax", rows, self._graph.ints(-1), keepdims=0)
        scales = add("Max", add("Mul", reach, constant(1 / steps)), constant(least))
        values = add("QuantizeLinear", rows, scales, self._zeros[zero], axis=0)
        return _QuantisedRows(values, add("Unsqueeze", scales, self._graph.ints(1)), constant(zero, np.uint8))

    def _product(self, rows: _QuantisedRows, names: list[str]) -> str:
        """Multiply the rows by the weights of that name, or by several sets side by side."""
        add, constant = self._graph.add, self._graph.constant
        values, scales = _quantise_weights(np.concatenate([self._weights[f"{name}.weight"] for name in names]))
        inputs = (rows.values, constant(values.T, np.int8), constant(1), constant(scales[:, 0]), rows.zero)
        return str(add("Mul", add("MatMulIntegerToFloat", *inputs, domain=_RUNTIME), rows.scales))

    def _norm(self, rows: str, name: str) -> str:
        weight, bias = self._graph.constant(self._weights[f"{name}.weight"]), self._bias(name)
        # The runtime's operator that also adds takes three times as long.
        return str(self._graph.add("LayerNormalization", rows, weight, bias, epsilon=self._shape.epsilon))

    def _bias(self, name: str) -> str:
        return self._graph.constant(self._weights[f"{name}.bias"])


def _quantise_weights(weights: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Integers from -127 to 127, and the scale of each row."""
    scales = np.abs(weights).max(1, keepdims=True) / _MAX_INT8
    scales[scales == 0] = 1
    return np.rint(weights / scales), scales


_LEAST_PACKED = 50_000  # numbers of a matrix that is worth packing
_MOST_STEPS = 7  # on either side of zero, in 4 bits
# Shares of the reach of a block: where its extremes are cut, the rest may fit better.
_NARROWER = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7)


def pack_weights(model: ModelProto) -> dict[str, Any]:
    """Take the large matrices out of an 8-bit graph, and give them in 4 bits as `PACKED` holds them.

    Each block of a column has a step, a whole number, so that its numbers in 8 bits are small multiples of that.
    """
    packed: dict[str, Any] = {}
    for tensor in model.graph.initializer:
        if tensor.data_type != TensorProto.INT8 or np.prod(tensor.dims) < _LEAST_PACKED:
            continue
        matrix = numpy_helper.to_array(tensor)
        steps, multiples = _in_steps(matrix)
        upper, lower = np.split((multiples + _MOST_STEPS + 1).astype(np.uint8), 2)
        packed[f"values.{tensor.name}"] = upper | lower << 4
        packed[f"steps.{tensor.name}"] = steps
        packed[f"rows.{tensor.name}"] = np.array(len(matrix))
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        location = tensor.external_data.add()
        location.key, location.value = "location", PACKED
    return packed


def _in_steps(matrix: NDArray[np.int8]) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
    """The step of each block, and each number as a multiple of it; rows are filled up to two halves of whole blocks."""
    padding = -len(matrix) % (2 * PACKED_BLOCK)
    filled = np.pad(matrix.astype(np.float32), ((0, padding), (0, 0)))
    blocks = filled.reshape(-1, PACKED_BLOCK, matrix.shape[1])
    reach = np.abs(blocks).max(1, keepdims=True) / _MOST_STEPS
    best_steps, best_multiples = np.ones_like(reach), np.zeros_like(blocks)
    least = np.full_like(reach, np.inf)
    for share in _NARROWER:
        steps = np.clip(np.rint(reach * share), 1, _MAX_INT8 // _MOST_STEPS)
        multiples = np.clip(np.rint(blocks / steps), -_MOST_STEPS, _MOST_STEPS)
        error = ((multiples * steps - blocks) ** 2).sum(1, keepdims=True)
        better = error < least
        least = np.where(better, error, least)
        best_steps, best_multiples = np.where(better, steps, best_steps), np.where(better, multiples, best_multiples)
    return best_steps[:, 0].astype(np.uint8), best_multiples.reshape(len(filled), -1).astype(np.int8)


Array = NDArray[np.float32]
_PRODUCER = "whycite"


def read_shape(model: ModelProto, first_position: int = 0) -> EncoderShape:
    """Read the shape given to `build_graph`; the graph lacks the first position and how its states are pooled."""
    graph = _GraphReader(model)
    attentions = graph.nodes("MultiHeadAttention")
    heads = _attribute(attentions[0], "num_heads")
    epsilon = _attribute(graph.nodes("LayerNormalization")[0], "epsilon")
    # A node holds 32 bits: take the shortest number that rounds to them as the one meant.
    epsilon = float(str(np.float32(epsilon)))
    pooling: Pooling = "mean" if graph.nodes("MatMul") else "cls"
    return EncoderShape(len(attentions), int(heads), epsilon, first_position, pooling, graph.output)


def read_weights(model: ModelProto, first_position: int = 0) -> dict[str, Array]:
    """Read the weights by name, to 8-bit precision: building from them gives the same graph.

    Positions and the first token type were summed, so the sum goes into the positions. Those before `first_position`
    are zero: the graph lacks them, since no text uses them.
    """
    graph = _GraphReader(model)
    words, scales = (graph.constants[node.input[0]] for node in graph.nodes("Gather"))
    width = words.shape[1]
    padding = np.zeros((first_position, width), np.float32)
    places = graph.constants[graph.nodes("Slice")[0].input[0]]
    arrays = {
        "embeddings.word_embeddings.weight": words * scales,
        "embeddings.position_embeddings.weight": np.concatenate([padding, places]),
        "embeddings.token_type_embeddings.weight": np.zeros((1, width), np.float32),
    }
    norms, products, sums = graph.norms(), graph.products(), graph.sums()
    attentions, inners = graph.nodes("MultiHeadAttention"), graph.nodes("FastGelu")
    arrays |= _norm_arrays("embeddings", norms)
    for layer, (attention, inner) in enumerate(zip(attentions, inners, strict=True)):
        name = f"encoder.layer.{layer}"
        parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
        projections = next(products)
        if len(projections) == width:  # the last layer, which queries only the first token
            projections = np.concatenate([projections, next(products)])
        arrays |= _name_arrays(parts, "weight", np.split(projections, 3))
        arrays |= _name_arrays(parts, "bias", np.split(graph.constants[attention.input[3]], 3))
        dense = [f"{name}.{part}.dense" for part in ("attention.output", "intermediate", "output")]
        arrays |= _name_arrays(dense, "weight", [next(products) for _ in dense])
        arrays |= _name_arrays(dense, "bias", [next(sums), graph.constants[inner.input[1]], next(sums)])
        arrays |= _norm_arrays(f"{name}.attention.output", norms) | _norm_arrays(f"{name}.output", norms)
    if graph.output == "scores":
        arrays |= {"head.weight": graph.constants[graph.nodes("Mul")[-1].input[1]], "head.bias": next(sums)}
    return arrays


class _GraphReader:
    """A graph's nodes by operator, in order, and its constants by name."""

    def __init__(self, model: ModelProto) -> None:
        if model.producer_name != _PRODUCER:
            raise UserError(
                f"the graph was made by '{model.producer_name}'; only graphs exported by whycite are supported"
            )
        self.constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
        self.output: OutputKind = model.graph.output[0].name
        self._nodes = list(model.graph.node)

    def nodes(self, operator: str) -> list[NodeProto]:
        return [node for node in self._nodes if node.op_type == operator]

    def products(self) -> Iterator[Array]:
        """The weights of each product, one row per output."""
        for node in self.nodes("MatMulIntegerToFloat"):
            values, scales = self.constants[node.input[1]], self.constants[node.input[3]]
            yield np.ascontiguousarray(values.T) * scales[:, None]

    def sums(self) -> Iterator[Array]:
        """Each bias that is added by a node of its own."""
        return (self.constants[node.input[1]] for node in self.nodes("Add") if node.input[1] in self.constants)

    def norms(self) -> Iterator[tuple[Array, Array]]:
        """The weight and bias of each normalisation."""
        for node in self.nodes("LayerNormalization"):
            yield self.constants[node.input[1]], self.constants[node.input[2]]


def _norm_arrays(name: str, norms: Iterator[tuple[Array, Array]]) -> dict[str, Array]:
    weight, bias = next(norms)
    return {f"{name}.LayerNorm.weight": weight, f"{name}.LayerNorm.bias": bias}


def _name_arrays(names: list[str], kind: str, arrays: list[Array]) -> dict[str, Array]:
    return {f"{name}.{kind}": array for name, array in zip(names, arrays, strict=True)}


def _attribute(node: NodeProto, name: str) -> float:
    (number,) = (helper.get_attribute_value(attribute) for attribute in node.attribute if attribute.name == name)
    return float(number)
