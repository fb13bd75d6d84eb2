"""ILCiteR as published: evidence-grounded local citation recommendation without training, every row of its tables."""

from whycite.recommend.ilciter.database import Database, Statistics
from whycite.recommend.ilciter.methods import METHODS, Methods
from whycite.recommend.ilciter.ranking import Ranked
from whycite.recommend.ilciter.vectors import Encode

__all__ = ["METHODS", "Database", "Encode", "Methods", "Ranked", "Statistics"]
