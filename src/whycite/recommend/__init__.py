"""Which papers a claim should cite, and the evidence for each."""

from whycite.recommend.bibtex import as_bibtex
from whycite.recommend.jsonform import as_dict
from whycite.recommend.model import Claim, Evidence, Method, Recommendation
from whycite.recommend.registry import DEFAULT, METHODS, method, methods

__all__ = [
    "DEFAULT",
    "METHODS",
    "Claim",
    "Evidence",
    "Method",
    "Recommendation",
    "as_bibtex",
    "as_dict",
    "method",
    "methods",
]
