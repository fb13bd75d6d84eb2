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

    Args:
        path: A file, a folder with a LaTeX project, an archive or a compressed file. Of several documents, the first.
        format: "latex", "markdown", "typst", "jats", "tei", "pdf" and so on; by default recognised from the file.
    """
    from whycite import documents, structure

    return structure.label(documents.read(path, format))


def cite(
    claim: str | Claim, library: Library | str | Path | None = None, n: int = 10, method: str = "whycite"
) -> Recommendations:
    """Recommend papers for a claim, best first, each with the evidence it rests on.

    Args:
        claim: A sentence or phrase, or a `Claim` that also describes the draft.
        library: An open library or the path of one; by default your own.
        n: The number of papers.
        method: The name of a ranking method.
    """
    from whycite.cite.recommendations import Claim, Recommendations, answer_fits, load_method
    from whycite.library import Library

    opened = library if isinstance(library, Library) else Library.open(library)
    recommended = load_method(method, opened).recommend(Claim(claim) if isinstance(claim, str) else claim, n)
    return Recommendations(recommended, answer_fits(recommended))


def check(
    draft: str | Path | Document,
    library: Library | str | Path | None = None,
    *,
    threshold: float | None = None,
    sections: Collection[str] | None = None,
    all: bool = False,
    n: int = 3,
    use_library: bool = True,
    ignore_rules: Collection[str] = (),
    progress: Callable[[str, int, int | None], None] = lambda stage, count, total: None,
) -> CheckedDraft:
    """Find the sentences of a draft that need a citation, with papers for each.

    Papers come from the draft's own bibliography and from the library.

    Args:
        draft: A file, a project folder, or a document that was read before.
        library: An open library or the path of one; by default your own, if there is one.
        threshold: The worthiness from which a sentence is reported, instead of the model's own.
        sections: Section types to check, such as "introduction"; by default all.
        all: Find papers for sentences that already cite, too.
        n: The number of papers per sentence.
        use_library: Set to false to use the bibliography alone.
        ignore_rules: Ids of certain rules that do not apply, such as "own-result".
        progress: Called with the stage, how much of it is done, and the total if it is known.
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
        ignore_rules=ignore_rules,
        progress=progress,
    )


def verify(claim: str, paper: Document | str | Path, k: int | None = None) -> Verification:
    """Find the passages of a paper that back a claim, and judge whether it does.

    Args:
        claim: What the paper is cited for.
        paper: A file, or a document that was read before.
        k: The number of passages, best first; by default all.
    """
    from whycite.verify.claims import verify_claim

    return verify_claim(claim, paper, k=k)


def __getattr__(name: str) -> Any:
    # The store takes a second to import, and reading a paper does not need it.
    if name == "Library":
        from whycite.library import Library

        return Library
    raise AttributeError(f"module 'whycite' has no attribute '{name}'")
