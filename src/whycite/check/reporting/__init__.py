"""Findings for other programs and for a browser."""

from whycite.check.reporting import github, html, sarif

__all__ = ["github", "html", "sarif"]
