"""Detectors by name: the one that comes with whycite, and any folder that `whycite train worthiness` made."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from whycite.errors import UserError
from whycite.worthiness.detector import Detector
from whycite.worthiness.facts import FACTS
from whycite.worthiness.folder import FolderDetector

__all__ = ["DEFAULT", "bundled", "load"]

DEFAULT = "worthiness-30m"
_MODELS = Path(__file__).resolve().parents[1] / "models"


def bundled() -> list[str]:
    """The names of the detectors that come with whycite."""
    return sorted(path.parent.name for path in _MODELS.glob(f"*/{FACTS}"))


def load(name: str | Path | None = None, threads: int | None = None, decision: str | None = None) -> Detector:
    """The detector of that name, or in that folder; the same object each time. `threads`: by default all cores.

    `decision` is the kind of text it is to be calibrated for: "drafts" (as the bundled one is) or "articles".
    """
    if threads is not None and threads < 1:
        raise UserError(f"threads must be 1 or more, not {threads}")
    return _load(name or DEFAULT, threads or _cores(), decision)


@cache
def _load(name: str | Path, threads: int, decision: str | None) -> Detector:
    folder = _MODELS / name if name in bundled() else Path(name)
    if not folder.is_dir():
        names = ", ".join(bundled())
        raise UserError(f"no worthiness model '{name}'; there are: {names}, or the path of a folder that holds one")
    return FolderDetector(folder, threads, decision)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
