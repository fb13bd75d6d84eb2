"""Train the model that decides whether a sentence needs a citation; needs only packed examples, torch and numpy."""

from whycite.lab.train.worthiness.recipe import WorthinessRecipe
from whycite.lab.train.worthiness.training import WorthinessOutcome, train

__all__ = ["WorthinessOutcome", "WorthinessRecipe", "train"]
