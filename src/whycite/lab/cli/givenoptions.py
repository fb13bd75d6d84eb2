"""Which options a user gave, so that one that has no effect is refused instead of ignored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from whycite.errors import UserError

__all__ = ["given_options", "refuse_options"]


def refuse_options(ctx: typer.Context, names: Sequence[str], reason: str) -> None:
    """Raise an error if the user gave an option that is not used for a reason, such as another option."""
    for name in names:
        if _is_given(ctx, name):
            parameter = next(parameter for parameter in ctx.command.params if parameter.name == name)
            raise UserError(f"{parameter.opts[0]} is not used with {reason}; leave it out")


def given_options(ctx: typer.Context, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values whose options the user gave."""
    return {name: value for name, value in values.items() if _is_given(ctx, name)}


def _is_given(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")
