"""The report on a whole draft, for a reviewer: as an HTML page, as Markdown, and as data for other forms."""

from whycite.verify.report.html import html
from whycite.verify.report.markdown import markdown
from whycite.verify.report.overview import DraftReport, MissingPaper, UncheckedGroup, draft_report

__all__ = ["DraftReport", "MissingPaper", "UncheckedGroup", "draft_report", "html", "markdown"]
