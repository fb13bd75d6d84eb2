"""ILCiteR as published: evidence-grounded local citation recommendation without training, all rows of its tables."""

from whycite.lab.ilciter.database import DatabaseStatistics, EvidenceDatabase
from whycite.lab.ilciter.methods import METHODS, Encode, IlciterMethods, IlciterPaper

__all__ = ["METHODS", "DatabaseStatistics", "Encode", "EvidenceDatabase", "IlciterMethods", "IlciterPaper"]
