"""The web application and the HTTP API: the same answers as the command line, to look at."""

from __future__ import annotations
