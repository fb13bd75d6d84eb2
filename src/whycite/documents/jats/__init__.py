"""JATS XML, as eLife, PLOS, PMC and most publishers of biology and medicine write it."""

from whycite.documents.jats.article import READER

__all__ = ["READER"]
