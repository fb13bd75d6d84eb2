"""YAML read safely: strings, lists and mappings, no aliases, nothing too large or too deep."""

from __future__ import annotations

from typing import Any

import yaml

__all__ = ["load_yaml"]

# The events of the parser are enough, and making them needs no recursion that a text could drive.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LARGEST = 1 << 20  # characters
_DEEPEST = 50
_EMPTY = ("", "~", "null")


def load_yaml(text: str) -> Any:
    """The first document of a YAML text, every scalar a string; anything wrong is a ValueError that says what."""
    if len(text) > _LARGEST:
        raise ValueError(f"more than {_LARGEST >> 20} MB")
    try:
        return _value(text)
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or str(error) or "not YAML"
        raise ValueError(str(problem).splitlines()[0]) from error


def _value(text: str) -> Any:
    opened: list[list[Any]] = [[]]
    for event in yaml.parse(text, _LOADER):
        if isinstance(event, yaml.ScalarEvent):
            nothing = not event.style and event.value in _EMPTY
            opened[-1].append(None if nothing else event.value)
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append([])
            if len(opened) > _DEEPEST:
                raise yaml.YAMLError("nested too deep")
        elif isinstance(event, yaml.SequenceEndEvent):
            opened[-2].append(opened.pop())
        elif isinstance(event, yaml.MappingEndEvent):
            items = opened.pop()
            opened[-1].append(
                {
                    str(key): value
                    for key, value in zip(items[::2], items[1::2], strict=True)
                    if not isinstance(key, list)
                }
            )
        elif isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        elif isinstance(event, yaml.DocumentEndEvent):
            break
    return opened[0][0] if opened[0] else None
