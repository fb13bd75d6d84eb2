"""What goes wrong, as application/problem+json (RFC 9457) with a sentence for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

__all__ = ["MEDIA_TYPE", "Problem", "body"]

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """An answer that is an error: its HTTP status and one plain sentence."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, dict(headers or {})


def body(status: int, detail: str) -> bytes:
    """The JSON of a problem."""
    return json.dumps({"title": HTTPStatus(status).phrase, "status": status, "detail": detail}).encode()
