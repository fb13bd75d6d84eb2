"""What a paper is cited for: background, a method, or a result to compare with (citation function).

Who cites a paper for its method claims nothing that the paper could back, so `verify` leaves such citations out. The
weights are fitted to SciCite and ACL-ARC: `python -m whycite.lab.train.functionweights DATA OUT.json`. The bar is such
that at most one in fifty citations for background or a result is taken for one of a method.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.models import Encoder, load_encoder
from whycite.text.wordlists import load_tables

__all__ = [
    "FUNCTIONS",
    "NO_CLAIM",
    "CitationFunction",
    "FunctionWeights",
    "LearnedFunction",
    "citation_functions",
    "function_features",
    "likeliest_functions",
    "make_function_weights",
    "shipped_function_weights",
    "sign_names",
]

LearnedFunction = Literal["background", "method", "result"]
FUNCTIONS: tuple[LearnedFunction, ...] = get_args(LearnedFunction)
CitationFunction = Literal["background", "method", "result", "pointer"]
"""`pointer`: the sentence only sends the reader to the paper."""

NO_CLAIM: Mapping[str, str] = MappingProxyType(
    {"method": "cited for a method, not for a claim", "pointer": "only points to the paper, without a claim"}
)
"""Why a citation of such a function is not judged."""

_METHOD = FUNCTIONS.index("method")
_MAX_SIGNS = 2  # of one kind; more say nothing more
_MAX_WORDS = 60  # longer sentences count as that long
_MAX_POINTER_WORDS = 30  # a longer sentence that begins like a pointer goes on to claim something
_DIGITS = 4  # of weights in the file

_TABLES = load_tables(__name__)
_POINTER = re.compile(_TABLES["pointer"], re.IGNORECASE | re.VERBOSE)
_SIGNS = {name: re.compile(pattern, re.IGNORECASE | re.VERBOSE) for name, pattern in _TABLES["signs"].items()}
_TOOL_NAME = re.compile(r"\b(?:[A-Z][A-Za-z]*[A-Z][A-Za-z0-9-]*|v(?:ersion)? ?\d+(?:\.\d+)*)\b")  # BLAST, version 2.1

Floats = NDArray[np.float64]


def sign_names() -> tuple[str, ...]:
    """The names of the plain features, in order."""
    return (*_SIGNS, "tool name", "length")


def function_features(claims: Sequence[str], encoder: Encoder) -> Floats:
    """A row for each claim: its vector, then the plain features."""
    signs = np.array([_count_signs(claim) for claim in claims], np.float64).reshape(len(claims), len(sign_names()))
    return np.concatenate([encoder.encode(list(claims)).astype(np.float64), signs], axis=1)


def _count_signs(claim: str) -> list[float]:
    counts = [len(pattern.findall(claim)) for pattern in (*_SIGNS.values(), _TOOL_NAME)]
    return [*(float(min(count, _MAX_SIGNS)) for count in counts), min(len(claim.split()), _MAX_WORDS) / _MAX_WORDS]


@dataclass(frozen=True, slots=True)
class FunctionWeights:
    """A logistic model: for each function, the weights of the vector and of the plain features, and the bias."""

    encoder: str  # whose vectors it was fitted to
    bar: float  # the least chance at which a citation counts as one of a method
    vector: Mapping[str, Sequence[float]]
    signs: Mapping[str, Mapping[str, float]]

    def chances(self, features: Floats) -> Floats:
        """The chance of each function, a row for each claim."""
        columns = [
            [*self.vector[function], *(self.signs[function][name] for name in sign_names())] for function in FUNCTIONS
        ]
        logits = features @ np.array(columns, np.float64).T + [self.signs[function]["bias"] for function in FUNCTIONS]
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))

    def write(self, path: Path) -> None:
        """Save the weights."""
        path.write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")


def make_function_weights(columns: Floats, bias: Floats, bar: float, encoder: str) -> FunctionWeights:
    """The weights from a matrix with a column for each function."""
    names = sign_names()
    size = len(columns) - len(names)
    return FunctionWeights(
        encoder,
        round(bar, _DIGITS),
        {function: columns[:size, place].round(_DIGITS).tolist() for place, function in enumerate(FUNCTIONS)},
        {
            function: {
                **dict(zip(names, columns[size:, place].round(_DIGITS).tolist(), strict=True)),
                "bias": round(float(bias[place]), _DIGITS),
            }
            for place, function in enumerate(FUNCTIONS)
        },
    )


@cache
def shipped_function_weights() -> FunctionWeights:
    """The bundled weights."""
    text = files("whycite.evidence").joinpath("citationfunctions.json").read_text("utf-8")
    try:
        weights = FunctionWeights(**json.loads(text))
        weights.chances(np.zeros((1, len(weights.vector[FUNCTIONS[0]]) + len(sign_names()))))
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"citationfunctions.json: not a file of weights ({error}); install whycite again") from error
    return weights


def citation_functions(claims: Sequence[str], weights: FunctionWeights | None = None) -> list[CitationFunction]:
    """What each claim cites its paper for; `method` only if that is nearly certain."""
    weights = weights or shipped_function_weights()
    return [
        "method" if function != "pointer" and chances[_METHOD] >= weights.bar else _but_method(function, chances)
        for function, chances in _judge(claims, weights)
    ]


def likeliest_functions(sentences: Sequence[str]) -> list[CitationFunction]:
    """What each sentence most likely cites its paper for."""
    return [function for function, _ in _judge(sentences, shipped_function_weights())]


def _judge(sentences: Sequence[str], weights: FunctionWeights) -> list[tuple[CitationFunction, Floats]]:
    """The likeliest function of each sentence, and the chance of each that is learned."""
    if not sentences:
        return []
    chances = weights.chances(function_features(sentences, load_encoder()))
    return [
        ("pointer" if _is_pointer(sentence) else FUNCTIONS[int(row.argmax())], row)
        for sentence, row in zip(sentences, chances, strict=True)
    ]


def _is_pointer(sentence: str) -> bool:
    return bool(_POINTER.match(sentence.lstrip(" ("))) and len(sentence.split()) <= _MAX_POINTER_WORDS


def _but_method(function: CitationFunction, chances: Floats) -> CitationFunction:
    """The likeliest function if it is not a method."""
    if function != "method":
        return function
    return max((function for function in FUNCTIONS if function != "method"), key=lambda f: chances[FUNCTIONS.index(f)])
