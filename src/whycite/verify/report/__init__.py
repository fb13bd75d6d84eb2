"""The report on a whole draft, for a reviewer: as an HTML page, as Markdown, and as data for other forms."""

from whycite.verify.report.html import html
from whycite.verify.report.markdown import markdown
from whycite.verify.report.overview import DraftComment, DraftReport, MissingPaper, UncheckedGroup, draft_report

__all__ = ["DraftComment", "DraftReport", "MissingPaper", "UncheckedGroup", "draft_report", "html", "markdown"]
