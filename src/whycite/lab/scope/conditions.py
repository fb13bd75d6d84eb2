"""Autoencoders by name and the conditions each one uses (SCOPE 3.3)."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from whycite.errors import MissingExtra, UserError
from whycite.lab.scope.candidates import Lessons
from whycite.lab.scope.numpyautoencoder import TitleWords, learn_title_words, vectors_by, vectors_in
from whycite.models import DEFAULT, load_encoder

if TYPE_CHECKING:
    from whycite.lab.scope.numpyautoencoder import Autoencoder

__all__ = ["CONDITIONS", "make"]

CONDITIONS = {
    "aae-none": frozenset[str](),
    "aae-title": frozenset({"title"}),
    "aae-section-title": frozenset({"section", "title"}),
    "aae-section": frozenset({"section"}),
}


def make(name: str, lessons: Lessons) -> Autoencoder:
    """Train the autoencoder of that name."""
    if find_spec("torch") is None:
        raise MissingExtra("Training an autoencoder", "train")
    from whycite.lab.scope.adversarial import AutoencoderRecipe, train

    if name not in CONDITIONS:
        raise UserError(f"unknown autoencoder '{name}'; choose one of: {', '.join(CONDITIONS)}")
    titles = _title_words(lessons) if "title" in CONDITIONS[name] else None
    return train(name, lessons, AutoencoderRecipe(), titles, "section" in CONDITIONS[name])


def _title_words(lessons: Lessons) -> TitleWords:
    look = (
        vectors_in(lessons.word_vectors)
        if lessons.word_vectors
        else vectors_by(load_encoder(lessons.encoder or DEFAULT))
    )
    return learn_title_words({paper_set.document: paper_set.title for paper_set in lessons.sets}.values(), look)
