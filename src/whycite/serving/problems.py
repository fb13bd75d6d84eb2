"""What goes wrong, as application/problem+json (RFC 9457) with a sentence for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from starlette.exceptions import HTTPException

__all__ = ["MEDIA_TYPE", "Problem", "body"]

MEDIA_TYPE = "application/problem+json"


class Problem(HTTPException):
    """An answer that is an error: its HTTP status and one plain sentence.

    As one of the framework's own it gets through where others, raised while a request is read, would be covered up.
    """

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, detail)
        self.headers: dict[str, str] = dict(headers or {})

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.status_code


def body(status: int, detail: str) -> bytes:
    """The JSON of a problem."""
    return json.dumps({"title": HTTPStatus(status).phrase, "status": status, "detail": detail}).encode()
