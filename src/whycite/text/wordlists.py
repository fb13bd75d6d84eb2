"""Word lists kept as data: one text file each in a package's `data` folder."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

__all__ = ["CONJUNCTIONS", "DETERMINERS", "FUNCTION_WORDS", "PREPOSITIONS", "load_words"]


@cache
def load_words(package: str, name: str) -> frozenset[str]:
    """The words in `data/NAME.txt` of a package, separated by whitespace; lines that start with # are comments."""
    text = files(package).joinpath("data", f"{name}.txt").read_text("utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


CONJUNCTIONS = load_words("whycite.text", "conjunctions")
DETERMINERS = load_words("whycite.text", "determiners")
PREPOSITIONS = load_words("whycite.text", "prepositions")
FUNCTION_WORDS = CONJUNCTIONS | DETERMINERS | PREPOSITIONS | load_words("whycite.text", "other-function-words")
