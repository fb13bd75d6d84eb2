"""Training what tells whether a sentence needs a citation; reads packed examples, needs torch and numpy alone."""

from whycite.training.worthiness.recipe import Recipe
from whycite.training.worthiness.training import Outcome, train

__all__ = ["Outcome", "Recipe", "train"]
