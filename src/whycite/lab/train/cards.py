"""The card written next to the weights of a trained model."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["file_name", "write_card"]


def write_card(
    folder: Path,
    model: Path,
    description: str,
    base: str,
    data: Mapping[str, object],
    recipe: Mapping[str, object],
    introduction: str,
    measured: Sequence[Mapping[str, float]],
    parity: Mapping[str, float],
) -> None:
    """Write README.md: what the model is, what it was made from and how, and its measurements."""
    lines = [
        f"# {model.resolve().name}",
        "",
        description,
        "",
        *_table({"Base": file_name(base), **data}),
        "",
        "## Recipe",
        "",
        *_table({name: file_name(value) if isinstance(value, str) else value for name, value in recipe.items()}),
        "",
        "```",
        shlex.join(["whycite", *map(file_name, sys.argv[1:])]),
        "```",
        "",
        "## Measured",
        "",
        introduction,
        "",
        *_measurements(measured),
        "",
        "The exported model in 8 bits beside the trained one:",
        "",
        *_table({name: f"{value:.4f}" for name, value in parity.items()}),
        "",
    ]
    (folder / "README.md").write_text("\n".join(lines), encoding="utf-8")


def file_name(path_or_name: str) -> str:
    """The bare name of a file, since its folder means nothing to others."""
    return Path(path_or_name).name if Path(path_or_name).is_absolute() else path_or_name


def _table(facts: Mapping[str, object]) -> list[str]:
    return [
        "| | |",
        "| --- | --- |",
        *(f"| {name} | {str(value).replace('|', '/')} |" for name, value in facts.items()),
    ]


def _measurements(measured: Sequence[Mapping[str, float]]) -> list[str]:
    names = list(measured[0])
    return [
        "| " + " | ".join(names) + " |",
        "| " + " | ".join("---:" for _ in names) + " |",
        *("| " + " | ".join(f"{row[name]:.4g}" for name in names) + " |" for row in measured),
    ]
