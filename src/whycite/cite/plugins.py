"""The methods by name, built-in and added alike."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from whycite.cite.recommendations import Method
from whycite.errors import UserError
from whycite.models import Encoder

if TYPE_CHECKING:
    from whycite.library import Library

_LOG = logging.getLogger("whycite")

__all__ = ["DEFAULT", "MethodFactory", "load_method", "methods"]

DEFAULT = "whycite"
_GROUP = "whycite.methods"

MethodFactory = Callable[[str, "Library", Encoder], Method]
"""What an entry point names: makes the method of that name over a library, with the encoder to use."""


@cache
def methods() -> Mapping[str, MethodFactory]:
    """Every installed method by name."""
    factories: dict[str, MethodFactory] = {}
    for entry in entry_points(group=_GROUP):
        try:
            factories[entry.name] = entry.load()
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one plug-in, the other methods work
            _LOG.warning("the method '%s' (%s) cannot be loaded and is left out: %s", entry.name, entry.value, error)
    return factories


def load_method(name: str, library: Library, encoder: Encoder | None = None) -> Method:
    """The method of that name over a library; by default with the encoder that made the library's vectors."""
    if name not in methods():
        raise UserError(f"no method '{name}'; there are: {', '.join(sorted(methods()))}")
    return methods()[name](name, library, encoder or _encoder_of(library))


def _encoder_of(library: Library) -> Encoder:
    from whycite.library.encoding import encoder_of

    return encoder_of(library.encoder, library.path)
