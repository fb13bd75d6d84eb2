"""Small data sets in the form of the real ones, and cases made by hand."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import zstandard

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes rows to a file of the folder that it returns, compressed where the name says so."""

    def write_rows(name: str, rows: Iterable[Any]) -> Path:
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        (tmp_path / name).write_bytes(zstandard.compress(data) if name.endswith(".zst") else data)
        return tmp_path

    return write_rows
