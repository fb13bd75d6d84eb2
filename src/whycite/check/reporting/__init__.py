"""Reports of findings for code review (GitHub, SARIF viewers) and for a browser."""

from whycite.check.reporting import codereview, html

__all__ = ["codereview", "html"]
