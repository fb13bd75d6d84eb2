"""A pool of papers that a draft or a section may cite next (SCOPE 3.3): one Protocol, the recommenders by name."""

from whycite.candidates.gathering import CitingDocument, Context, Gathered, gather
from whycite.candidates.model import CitedSet, Lessons, Paper, Part, Recommender
from whycite.candidates.pool import Pool
from whycite.candidates.registry import DEFAULT, Factory, recommender, recommenders

__all__ = [
    "DEFAULT",
    "CitedSet",
    "CitingDocument",
    "Context",
    "Factory",
    "Gathered",
    "Lessons",
    "Paper",
    "Part",
    "Pool",
    "Recommender",
    "gather",
    "recommender",
    "recommenders",
]
