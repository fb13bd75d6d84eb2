"""Texts to token ids."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from whycite.encoders.facts import TOKENIZER, Facts
from whycite.errors import UserError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["cleaned", "opened"]

_CHARACTERS_A_TOKEN = 32  # prose has five: no more of a text is looked at than can have a token


def opened(folder: Path, max_tokens: int | None) -> Tokenizer:
    """The folder's tokenizer, cutting at so many tokens."""
    path = folder / TOKENIZER
    try:
        tokenizer = _own(_read(path.read_bytes()))
    except Exception as error:  # it raises nothing more exact
        raise UserError(f"{path} is no tokenizer that can be read ({error}): copy the folder again") from error
    if max_tokens:
        tokenizer.enable_truncation(max_tokens)
    return tokenizer


@lru_cache(maxsize=2)
def _read(content: bytes) -> Tokenizer:
    """A tokenizer's file, read once: models of one family have the same, and it takes longer than the model's."""
    from tokenizers import Tokenizer

    return Tokenizer.from_buffer(content)


def _own(read: Tokenizer) -> Tokenizer:
    """The same tokenizer for one user: words and rules are shared, where it cuts is not; it pads nothing."""
    from tokenizers import Tokenizer

    own = Tokenizer(read.model)
    for part in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
        if (rule := getattr(read, part)) is not None:
            setattr(own, part, rule)
    for _, token in sorted(read.get_added_tokens_decoder().items()):
        (own.add_special_tokens if token.special else own.add_tokens)([token])
    return own


def cleaned(text: str, facts: Facts) -> str:
    """A text as it is encoded: single blanks, no half characters, no longer than can matter, the prefix in front."""
    text = " ".join(text.split())[: facts.max_tokens * _CHARACTERS_A_TOKEN]
    return facts.prefix + text.encode("utf-8", "replace").decode("utf-8")
