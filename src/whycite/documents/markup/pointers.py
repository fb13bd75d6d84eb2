"""Cross references: keys that name a figure or a section of the draft itself, not an entry of a bibliography."""

from __future__ import annotations

import re

__all__ = ["POINTER", "looks_like_pointer"]

POINTER = "REF"  # stands for what a cross reference prints
_PREFIX = re.compile(
    r"(?:fig(?:ure)?|tbl|tab(?:le)?|eqn?|equation|sec(?:tion)?|lst|thm|lem|cor|prp|cnj|def|exm|exr|rem|alg|nte|tip|wrn"
    r"|imp|cau)[-:]",
    re.IGNORECASE,
)


def looks_like_pointer(key: str) -> bool:
    """Whether a key is one of a cross reference by its look: "fig-one", "sec:two"."""
    return _PREFIX.match(key) is not None
