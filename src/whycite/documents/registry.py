"""The readers by name, built-in and added alike, and which of them a file is for."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Protocol

from whycite.documents.model import Document
from whycite.documents.sources import Source
from whycite.errors import UserError

_LOG = logging.getLogger("whycite")

__all__ = ["Reader", "check_format", "reader_for", "readers"]


class Reader(Protocol):
    """Reads one format; `sniff` tells it by the first bytes where the suffix leaves it open."""

    @property
    def name(self) -> str: ...

    @property
    def suffixes(self) -> tuple[str, ...]: ...

    def sniff(self, head: bytes) -> bool: ...

    def read(self, source: Source) -> Iterator[Document]: ...


@cache
def readers() -> Mapping[str, Reader]:
    """Every installed reader by the name of its format; plain text, which takes any text, comes last."""
    found: dict[str, Reader] = {}
    for entry in sorted(entry_points(group="whycite.readers"), key=lambda entry: entry.name == "plain"):
        try:
            found[entry.name] = entry.load()
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one plug-in, the other readers work
            _LOG.warning("the reader '%s' (%s) cannot be loaded and is left out: %s", entry.name, entry.value, error)
    return found


def check_format(format: str | None) -> None:
    """Refuse a format that no reader has."""
    if format is not None and format not in readers():
        raise UserError(f"no reader for format '{format}'; there are: {', '.join(sorted(readers()))}")


def reader_for(source: Source, format: str | None = None) -> Reader | None:
    """The reader of a file: the one asked for, else by suffix, else by its first bytes, else none."""
    if format is not None:
        check_format(format)
        return readers()[format]
    fitting = [r for r in readers().values() if source.name.lower().endswith(r.suffixes)]
    if len(fitting) == 1:
        return fitting[0]
    head = source.head()
    return next((reader for reader in fitting or readers().values() if reader.sniff(head)), None)
