"""YAML read safely: no aliases, nothing too large or too deep, and one kind of error."""

from __future__ import annotations

from typing import Any

import yaml

__all__ = ["load_yaml"]

_LARGEST = 1 << 19  # characters; the parser is slow and no paper has more


class _Loader(yaml.SafeLoader):
    """YAML without aliases: merged over and over they grow without bound."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def load_yaml(text: str) -> Any:
    """The value of a YAML text; anything wrong with it is a ValueError that says what."""
    if len(text) > _LARGEST:
        raise ValueError(f"more than {_LARGEST >> 10} thousand characters")
    try:
        return yaml.load(text, _Loader)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, OverflowError) as error:
        problem = getattr(error, "problem", None) or str(error) or "not YAML"
        raise ValueError(str(problem).splitlines()[0]) from error
