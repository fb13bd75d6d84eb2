"""What is written beside the weights of a trained model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["write_card"]


def write_card(
    folder: Path,
    what: str,
    base: str,
    data: Mapping[str, object],
    recipe: Mapping[str, object],
    measured: Sequence[Mapping[str, float]],
    parity: Mapping[str, float],
    command: str,
) -> None:
    """Write README.md: what the model is, what it was made from and how, and what was measured on the way."""
    lines = [
        f"# {folder.resolve().name}",
        "",
        what,
        "",
        *_table({"Base": base, **data, "Command": f"`{command}`"}),
        "",
        "## Recipe",
        "",
        *_table(recipe),
        "",
        "## Measured",
        "",
        "On the held-out articles, before training, after each epoch, and in the end:",
        "",
        *_rows(measured),
        "",
        "The exported model in 8 bits beside the trained one in 32:",
        "",
        *_table({name: f"{value:.4f}" for name, value in parity.items()}),
        "",
    ]
    (folder / "README.md").write_text("\n".join(lines), encoding="utf-8")


def _table(facts: Mapping[str, object]) -> list[str]:
    return ["| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in facts.items())]


def _rows(measured: Sequence[Mapping[str, float]]) -> list[str]:
    names = list(measured[0])
    return [
        "| " + " | ".join(names) + " |",
        "| " + " | ".join("---:" for _ in names) + " |",
        *("| " + " | ".join(f"{row[name]:.4g}" for name in names) + " |" for row in measured),
    ]
