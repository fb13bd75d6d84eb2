"""What a server is started with."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from whycite.serving.guard import Rules

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Which library, who may ask, and how much at once."""

    library: Path | None = None  # None: the user's own
    rules: Rules = field(default_factory=Rules)
    threads: int = max(2, os.cpu_count() or 1)
    waiting: int = 64
    seconds: float = 60.0  # that a question may take
    patience: float = 600.0  # that a whole document may take
    files: int = 200  # in one upload
    warm: bool = False  # load models before somebody asks
