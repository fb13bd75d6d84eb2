"""Does a sentence need a citation? The detector; examples to learn from, input variants, baselines (SCOPE 3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whycite.worthiness.detector import Detector, Paragraph

if TYPE_CHECKING:
    from whycite.worthiness.reading import paragraphs as paragraphs
    from whycite.worthiness.registry import load as load
    from whycite.worthiness.rules import adjusted as adjusted

__all__ = ["Detector", "Paragraph", "adjusted", "load", "paragraphs"]

_PLACES = {"paragraphs": "reading", "load": "registry", "adjusted": "rules"}


def __getattr__(name: str) -> Any:
    # Training reads packed examples where nothing but torch is installed.
    if name in _PLACES:
        from importlib import import_module

        return getattr(import_module(f"whycite.worthiness.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'whycite.worthiness' has no attribute '{name}'")
