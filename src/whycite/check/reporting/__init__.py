"""Reports of findings for GitHub, for SARIF viewers and for a browser."""

from whycite.check.reporting import github, html, sarif

__all__ = ["github", "html", "sarif"]
