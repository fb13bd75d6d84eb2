"""JATS XML, as eLife, PLOS, PMC and most publishers of biology and medicine write it."""

from whycite.documents.jats.reader import READER

__all__ = ["READER"]
