"""Heat maps: a document shaded by how well each sentence backs a claim (the thesis, figure 1.1 and chapter 6)."""

from whycite.verify.heatmap.page import heat_map_json, html
from whycite.verify.heatmap.terminal import terminal

__all__ = ["heat_map_json", "html", "terminal"]
