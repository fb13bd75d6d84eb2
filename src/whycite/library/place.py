"""Where libraries are."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

__all__ = ["default_path"]


def default_path() -> Path:
    """The user's library: $WHYCITE_LIBRARY, else a folder where the platform keeps data."""
    named = os.environ.get("WHYCITE_LIBRARY")
    return Path(named).expanduser() if named else platformdirs.user_data_path("whycite", appauthor=False) / "library"
