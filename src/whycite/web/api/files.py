"""Files of a request."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import UploadFile

from whycite.serving.problems import Problem
from whycite.web.uploads import Upload, safe_name

__all__ = ["received"]


def received(files: Sequence[UploadFile], most: int) -> list[Upload]:
    """The files under safe names; too many of them are refused, and so are none."""
    if not 0 < len(files) <= most:
        raise Problem(422, f"Send between one and {most} files at once, not {len(files)}.")
    return [Upload(safe_name(file.filename or "file"), file.file) for file in files]
