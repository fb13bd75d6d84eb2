"""Word lists and tables kept as data, in the `data` folder of the package that uses them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = [
    "CONJUNCTIONS",
    "DETERMINERS",
    "FUNCTION_WORDS",
    "PREPOSITIONS",
    "load_tables",
    "load_word_lists",
    "load_words",
]


@cache
def load_words(package: str, name: str) -> frozenset[str]:
    """The words in `data/NAME.txt` of a package, separated by whitespace; lines that start with # are comments."""
    text = files(package).joinpath("data", f"{name}.txt").read_text("utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def load_tables(module: str) -> dict[str, Any]:
    """Everything in `data/NAME.toml` beside the module NAME; call it once, with `__name__`, when the module loads."""
    package, _, name = module.rpartition(".")
    return tomllib.loads(files(package).joinpath("data", f"{name}.toml").read_text("utf-8"))


def load_word_lists(module: str) -> Mapping[str, frozenset[str]]:
    """The lists in a module's data file if it has nothing else: strings of words, or arrays of phrases."""
    return {
        name: frozenset(words.split() if isinstance(words, str) else words)
        for name, words in load_tables(module).items()
    }


CONJUNCTIONS = load_words("whycite.text", "conjunctions")
DETERMINERS = load_words("whycite.text", "determiners")
PREPOSITIONS = load_words("whycite.text", "prepositions")
FUNCTION_WORDS = CONJUNCTIONS | DETERMINERS | PREPOSITIONS | load_words("whycite.text", "other-function-words")
