"""How a model of passages is made and trained: all that can be chosen, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from whycite.errors import UserError

__all__ = ["MODELS", "Cell", "Form", "Recipe"]

Cell = Literal["rnn", "gru", "lstm"]


@dataclass(frozen=True, slots=True)
class Form:
    """What a model is made of (the thesis, sections 5.3 and 5.4)."""

    cell: Cell = "lstm"
    both_ways: bool = False  # sentences are read from either end
    attention: bool = False  # between the words of claim and sentence, in place of final states
    document: bool = False  # sentences of a document are read one after another
    among_sentences: bool = False  # attention between the sentences of a document


MODELS: Mapping[str, Form] = MappingProxyType(
    {
        "rnn": Form("rnn"),
        "gru": Form("gru"),
        "lstm": Form("lstm"),
        "bilstm": Form(both_ways=True),
        "bidaf": Form(both_ways=True, attention=True),
        "document": Form(both_ways=True, document=True),
        "document-attention": Form(both_ways=True, document=True, among_sentences=True),
        "document-bidaf": Form(both_ways=True, attention=True, document=True, among_sentences=True),
    }
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """Widths, margin and loss are the thesis's; it names no rate, dropout or number of epochs: those are ours."""

    model: str = "lstm"
    words: int = 200  # numbers in the vector of a word
    hidden: int = 80  # in a state, of both directions together
    margin: float = 1.0
    dropout: float = 0.3
    rate: float = 2e-3
    epochs: int = 12
    patience: int = 3  # epochs without a better one after which training ends
    batch: int = 8  # claims in a step
    longest: int = 60  # words of a sentence that are read
    seed: int = 0

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise UserError(f"no model '{self.model}'; there are: {', '.join(MODELS)}")
        if min(self.words, self.epochs, self.patience, self.batch, self.longest) < 1:
            raise UserError("words, epochs, patience, batch and longest must be 1 or more")
        if self.hidden < 2 or self.hidden % 2:
            raise UserError(f"hidden must be an even number, one half for each direction, not {self.hidden}")
        if self.rate <= 0 or not 0 <= self.dropout < 1:
            raise UserError("the rate must be above 0, and dropout from 0 to below 1")

    @property
    def form(self) -> Form:
        """What the model is made of."""
        return MODELS[self.model]
