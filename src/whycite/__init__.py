"""Know what to cite, where, and why: a local-first, evidence-grounded citation assistant."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

# The functions below share their names with packages. Python binds a package to its name here when the package is
# first imported, so that happens now, before the functions take the names. The packages themselves import nothing.
import whycite.check
import whycite.cite
import whycite.verify  # noqa: F401

if TYPE_CHECKING:
    from whycite.check.findings import CheckedDraft
    from whycite.cite.recommendations import Claim, Recommendations
    from whycite.documents import Document
    from whycite.library import Library as Library
    from whycite.verify.verification import Verification

__all__ = ["Library", "check", "cite", "read", "verify"]


def read(path: str | Path, format: str | None = None) -> Document:
    """Read a paper or a draft: its sections with their types, sentences, citations and references.

    The format is told from the file unless you name it: "latex", "markdown", "typst", "jats", "tei", "pdf", …
    """
    from whycite import documents, structure

    return structure.label(documents.read(path, format))


def cite(
    claim: str | Claim, library: Library | str | Path | None = None, n: int = 10, method: str = "whycite"
) -> Recommendations:
    """Recommend up to `n` papers for a claim, best first, each with the evidence it rests on.

    `library` is an open library or the path of one; by default it is the user's own.
    """
    from whycite.cite.plugins import load_method
    from whycite.cite.recommendations import Claim, Recommendations
    from whycite.library import Library

    opened = library if isinstance(library, Library) else Library.open(library)
    recommended = load_method(method, opened).recommend(Claim(claim) if isinstance(claim, str) else claim, n)
    return Recommendations(recommended)


def check(
    draft: str | Path | Document,
    library: Library | str | Path | None = None,
    *,
    threshold: float | None = None,
    sections: Collection[str] | None = None,
    all: bool = False,
    n: int = 3,
    use_library: bool = True,
    progress: Callable[[str, int, int | None], None] = lambda stage, count, total: None,
) -> CheckedDraft:
    """Find the sentences of a draft that need a citation, with up to `n` papers for each.

    Papers come from the draft's own bibliography and from the library: an open one, the path of one, or by default
    the user's own if there is one. Set `use_library` to false to use the bibliography alone.

    `threshold` replaces the model's own worthiness threshold. `sections` limits the check to section types such as
    "introduction". With `all`, sentences that already cite get papers too. `progress` is called with the stage, how
    much of it is done, and the total if it is known.
    """
    from whycite.check.pipeline import check_draft

    return check_draft(
        draft,
        library,
        threshold=threshold,
        sections=sections,
        all=all,
        n=n,
        use_library=use_library,
        progress=progress,
    )


def verify(claim: str, paper: Document | str | Path, k: int | None = None) -> Verification:
    """Find the passages of a paper that back a claim, and judge whether it does.

    Passages come best first: all of them, or the best `k`.
    """
    from whycite.verify.claims import verify_claim

    return verify_claim(claim, paper, k=k)


def __getattr__(name: str) -> Any:
    # The store takes a second to import, and reading a paper does not need it.
    if name == "Library":
        from whycite.library import Library

        return Library
    raise AttributeError(f"module 'whycite' has no attribute '{name}'")
