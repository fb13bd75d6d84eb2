"""Training what tells whether a sentence needs a citation; reads packed examples, needs torch and numpy alone."""

from whycite.lab.train.worthiness.recipe import WorthinessRecipe
from whycite.lab.train.worthiness.training import WorthinessOutcome, train

__all__ = ["WorthinessOutcome", "WorthinessRecipe", "train"]
