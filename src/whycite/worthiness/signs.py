"""What tells in a draft, beside the model's score, that a citation is missing: its place in the text is empty.

Who leaves a citation for later writes "by, the method", or a sentence without its subject: "showed that …".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["SIGNS", "signs"]

_VERB = re.compile(r"[a-z]+(?:ed|es|s)\b")
_BEFORE = "in|by|of|from|with|see|following|to|and|on|than|like|or|both|de|par|dans|voir|et|em|por|ver"
_DONE = "proven|shown|given|described|presented|introduced|proposed|discussed|defined|used|found|developed|derived"
_GAP = re.compile(
    rf"\b(?:{_BEFORE})\s*[,.;:)]"
    r"|\(\s*(?:e\.g\.|see|cf\.?)?[\s,;]*\)|^[,;:]| ,|\.\."
    r"|\b[Ii]n the authors\b"
    rf"|\b(?:{_DONE}) (?:in|by) (?:that|and|to|is|are|the authors|which|where|we|for)\b"
)

_TELLS: Mapping[str, Callable[[str], bool]] = {
    "small": lambda text: text[:1].islower(),
    "verb": lambda text: bool(_VERB.match(text)),
    "gap": lambda text: bool(_GAP.search(text)),
}
SIGNS = tuple(_TELLS)
"""Their names: it begins with a small letter, and there with what may be a verb; something is missing inside."""


def signs(sentences: Sequence[str]) -> NDArray[np.float64]:
    """Sentences x `SIGNS`, 1 where a sentence has it."""
    rows = [[float(tell(text)) for tell in _TELLS.values()] for text in sentences]
    return np.array(rows, np.float64).reshape(-1, len(SIGNS))
