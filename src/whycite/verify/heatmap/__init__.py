"""A document in the colours of how well each sentence backs a claim (the thesis, figure 1.1 and chapter 6)."""

from whycite.verify.heatmap.jsonform import as_json
from whycite.verify.heatmap.page import html
from whycite.verify.heatmap.terminal import terminal

__all__ = ["as_json", "html", "terminal"]
