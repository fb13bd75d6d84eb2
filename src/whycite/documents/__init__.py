"""Papers and drafts of any format, read into one model."""

from whycite.documents.model import Citation, Document, Reference, Section, Sentence
from whycite.documents.reading import read, stream

__all__ = ["Citation", "Document", "Reference", "Section", "Sentence", "read", "stream"]
