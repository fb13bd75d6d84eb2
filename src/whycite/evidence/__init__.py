"""Evidence spans of documents: citation groups, and the text that each is evidence for."""

from whycite.evidence.spans import EvidenceSpan, SpanKind, extract, extract_many

__all__ = ["EvidenceSpan", "SpanKind", "extract", "extract_many"]
