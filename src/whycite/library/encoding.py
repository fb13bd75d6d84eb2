"""The encoder that made a library's vectors."""

from __future__ import annotations

from whycite.encoders import Encoder, load
from whycite.errors import UserError

__all__ = ["encoder_of"]


def encoder_of(name: str) -> Encoder:
    """The encoder of that name and version."""
    encoder = load(name.partition("@")[0])
    if encoder.name != name:
        raise UserError(f"the library was made with the encoder {name}, but here is {encoder.name}: make it anew")
    return encoder
