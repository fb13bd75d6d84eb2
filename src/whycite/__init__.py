"""Know what to cite, where, and why: a local-first, evidence-grounded citation assistant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whycite.documents import Document
    from whycite.library import Library as Library
    from whycite.recommend import Claim, Recommendation

__all__ = ["Library", "cite", "read"]


def __getattr__(name: str) -> Any:
    # The store takes a second to import, and reading a paper does not need it.
    if name == "Library":
        from whycite.library import Library

        return Library
    raise AttributeError(f"module 'whycite' has no attribute '{name}'")


def read(path: str | Path, format: str | None = None) -> Document:
    """The document at a path, with the type of every section that has one."""
    from whycite import documents, structure

    return structure.label(documents.read(path, format))


def cite(
    claim: str | Claim, library: Library | str | Path | None = None, n: int = 10, method: str = "whycite"
) -> list[Recommendation]:
    """What a claim should cite, best first, by a library: one opened before, one at a path, or the user's own."""
    from whycite.library import Library
    from whycite.recommend import Claim
    from whycite.recommend import method as method_of

    opened = library if isinstance(library, Library) else Library.open(library)
    return method_of(method, opened).recommend(Claim(claim) if isinstance(claim, str) else claim, n)
