"""The methods of `cite` by name; built-in ones and those of plug-ins are registered alike."""

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
"""What an entry point names: a function that makes the method of that name from a library and an encoder."""


@cache
def methods() -> Mapping[str, MethodFactory]:
    """Every installed method by name."""
    factories: dict[str, MethodFactory] = {}
    for entry in entry_points(group=_GROUP):
        try:
            factories[entry.name] = entry.load()
        except Exception as error:  # noqa: BLE001 - one broken plug-in must not disable the other methods
            _LOG.warning("cannot load the method '%s' (%s): %s", entry.name, entry.value, error)
    return factories


def load_method(name: str, library: Library, encoder: Encoder | None = None) -> Method:
    """The method of that name over a library; the default encoder is the one that made the library's vectors."""
    if name not in methods():
        raise UserError(f"no method '{name}'; choose one of: {', '.join(sorted(methods()))}")
    return methods()[name](name, library, encoder or _encoder_of(library))


def _encoder_of(library: Library) -> Encoder:
    from whycite.library.encoding import encoder_of

    return encoder_of(library.encoder, library.path)
