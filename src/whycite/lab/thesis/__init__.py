"""The thesis "Why did they cite that?": datasets, models, measures, verdicts.

`whycite verify --model` finds its models here, without loading PyTorch.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from whycite.errors import MissingExtra

if TYPE_CHECKING:
    from whycite.verify.passages import PassageScorer

__all__ = ["open_passage_model"]

_CONFIG = "passages.json"


def open_passage_model(folder: Path) -> PassageScorer | None:
    """The model that `whycite train passages` wrote into a folder; None for any other folder."""
    if not (folder / _CONFIG).is_file():
        return None
    if find_spec("torch") is None:
        raise MissingExtra("A model of passages", "train")
    from whycite.lab.thesis.modelstore import load

    return load(folder)
