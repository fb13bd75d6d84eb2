"""Know what to cite, where, and why: a local-first, evidence-grounded citation assistant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whycite.check import check as check
    from whycite.documents import Document
    from whycite.library import Library as Library
    from whycite.recommend import Claim
    from whycite.recommend.notebook import Recommendations
    from whycite.verify import verify as verify

__all__ = ["Library", "check", "cite", "read", "verify"]


def __getattr__(name: str) -> Any:
    # The store takes a second to import, and reading a paper does not need it.
    if name == "Library":
        from whycite.library import Library

        return Library
    if name in ("check", "verify"):  # packages that can be called
        from importlib import import_module

        return import_module(f"whycite.{name}")
    raise AttributeError(f"module 'whycite' has no attribute '{name}'")


def read(path: str | Path, format: str | None = None) -> Document:
    """The document at a path, with the type of every section that has one."""
    from whycite import documents, structure

    return structure.label(documents.read(path, format))


def cite(
    claim: str | Claim, library: Library | str | Path | None = None, n: int = 10, method: str = "whycite"
) -> Recommendations:
    """What a claim should cite, best first, by a library: one opened before, one at a path, or the user's own."""
    from whycite.library import Library
    from whycite.recommend import Claim
    from whycite.recommend import method as method_of
    from whycite.recommend.notebook import Recommendations

    opened = library if isinstance(library, Library) else Library.open(library)
    found = method_of(method, opened).recommend(Claim(claim) if isinstance(claim, str) else claim, n)
    return Recommendations(found)
