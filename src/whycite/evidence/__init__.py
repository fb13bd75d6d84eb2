"""Evidence spans of documents: citation groups, and the text that each is evidence for."""

from whycite.evidence.many import extract_many
from whycite.evidence.spans import Kind, Span, extract

__all__ = ["Kind", "Span", "extract", "extract_many"]
