"""Small encoders in folders, made on the spot."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

WORDS = {"<unk>": 0, "cells": 1, "divide": 2, "stars": 3, "shine": 4}
Make = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Make:
    """A folder with a table of word vectors as its model and a tokenizer of a few words."""

    def make(facts: dict[str, Any] | None = None, *, pooled: bool = False, inputs: tuple[str, ...] = ()) -> Path:
        made = tmp_path / "tiny"
        made.mkdir()
        tokenizer = Tokenizer(WordLevel(WORDS, unk_token="<unk>"))
        tokenizer.pre_tokenizer = Whitespace()
        tokenizer.enable_padding(length=16)  # as many published ones have
        tokenizer.save(str(made / "tokenizer.json"))
        (made / "model.onnx").write_bytes(_table(pooled, inputs))
        if facts is not None:
            (made / "encoder.json").write_text(json.dumps(facts))
        return made

    return make


def _table(pooled: bool, inputs: tuple[str, ...]) -> bytes:
    table = numpy_helper.from_array(np.eye(5, dtype=np.float32) * 3, "table")
    axis = numpy_helper.from_array(np.array([1]), "axis")
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["tokens"])]
    masked = "tokens"
    if "attention_mask" in inputs:  # a token that is not attended to does not count
        nodes.append(helper.make_node("Cast", ["attention_mask"], ["float"], to=TensorProto.FLOAT))
        nodes.append(helper.make_node("Unsqueeze", ["float", "two"], ["mask"]))
        nodes.append(helper.make_node("Mul", ["tokens", "mask"], ["masked"]))
        masked = "masked"
    nodes.append(
        helper.make_node("ReduceMax", [masked, "axis"], ["out"], keepdims=0)
        if pooled
        else helper.make_node("Identity", [masked], ["out"])
    )
    shape: list[str | int | None] = ["texts", 5] if pooled else ["texts", "tokens", 5]
    graph = helper.make_graph(
        nodes,
        "table",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "n"]) for name in ("input_ids", *inputs)],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, shape)],
        [table, axis, numpy_helper.from_array(np.array([2]), "two")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return bytes(model.SerializeToString())
