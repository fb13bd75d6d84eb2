"""The web application and the HTTP API, with the same answers as the command line."""

from __future__ import annotations
