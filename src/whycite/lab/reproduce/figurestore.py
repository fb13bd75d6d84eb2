"""Measurements kept in a folder, so that a run that was stopped continues where it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from whycite.errors import UserError
from whycite.files import make_folder, write_lines
from whycite.lab.ilciter.workspace import check_setup, slug

__all__ = ["FigureStore"]


class FigureStore:
    """Figures by name, each in a file of its own; all were made from the same data with the same settings."""

    def __init__(self, folder: Path, setup: dict[str, Any]) -> None:
        check_setup(make_folder(folder), setup, "--out")
        self.folder = folder
        self._figures = make_folder(folder / "figures")

    def __len__(self) -> int:
        return len(list(self._figures.glob("*.json")))

    def measure(self, name: str, compute: Callable[[], Any]) -> Any:
        """The figures of that name: what is kept of them, or what `compute` gives, which must be plain types."""
        path = self._figures / f"{slug(name)}.json"
        if path.exists():
            try:
                return json.loads(path.read_text("utf-8"))
            except ValueError as error:
                raise UserError(f"{path}: not what was written there ({error}); delete the file") from error
        figures = compute()
        write_lines(path, [json.dumps(figures) + "\n"])
        return json.loads(path.read_text("utf-8"))  # the same types, whether it was kept or not

    def folder_for(self, name: str) -> Path:
        """A folder for models or libraries."""
        return make_folder(self.folder / slug(name))
