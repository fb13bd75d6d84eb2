"""Texts to token ids."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from whycite.encoders.facts import TOKENIZER, Facts
from whycite.errors import UserError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["cleaned", "opened"]

_CHARACTERS_A_TOKEN = 32  # prose has five: no more of a text is looked at than can have a token


def opened(folder: Path, facts: Facts) -> Tokenizer:
    """The folder's tokenizer, cutting at `max_tokens`."""
    from tokenizers import Tokenizer

    path = folder / TOKENIZER
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # it raises nothing more exact
        raise UserError(f"{path} is no tokenizer that can be read ({error}): copy the folder again") from error
    tokenizer.no_padding()  # files often come with some
    tokenizer.enable_truncation(facts.max_tokens)
    return tokenizer


def cleaned(text: str, facts: Facts) -> str:
    """A text as it is encoded: single blanks, no half characters, no longer than can matter, the prefix in front."""
    text = " ".join(text.split())[: facts.max_tokens * _CHARACTERS_A_TOKEN]
    return facts.prefix + text.encode("utf-8", "replace").decode("utf-8")
