"""What the thesis reports on pairs of its own (tables 7.1 and 7.2), to stand beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["BEST", "DOCUMENT", "PAIRWISE"]

BEST = 0.777
"""The accuracy named in its conclusion; the best figure of table 7.1 is 0.773."""

PAIRWISE: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "majority": {"rnn": 0.56875, "bidirectional": 0.6125, "attention": 0.544},
        "high majority": {"rnn": 0.773, "bidirectional": 0.600, "attention": 0.640},
        "unanimous": {"rnn": 0.677, "bidirectional": 0.754, "attention": 0.646},
        "augmented": {"rnn": 0.625, "bidirectional": 0.625, "attention": 0.725},
    }
)
DOCUMENT: Mapping[str, float] = MappingProxyType({"base": 0.748, "inter-sentence attention": 0.5971})
