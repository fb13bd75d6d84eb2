"""Whether a proposed paper backs a sentence: `check --fix` verifies it where the full text is at hand."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from whycite.errors import UserError

if TYPE_CHECKING:
    from whycite.check.findings import Finding, Proposal
    from whycite.documents.model import Reference
    from whycite.verify.claims import OpenDocument
    from whycite.verify.fulltexts import FullText
    from whycite.verify.verification import Verification

__all__ = ["PaperBacking"]

_MAX_QUOTATION = 200  # characters of a passage
_OBJECTIONS = {"contradicted": "the paper says otherwise", "not found": "the paper does not say so; closest"}


class PaperBacking:
    """Verifies sentences against the full texts of a folder and of a library, each pair once."""

    def __init__(self, papers: str | None, library: Path | str | None = None, use_library: bool = True) -> None:
        self._papers, self._library, self._use_library = papers, library, use_library
        self._verifications: dict[tuple[str, int, str], Verification | None] = {}
        self._open_papers: dict[str, OpenDocument] = {}

    def objection(self, finding: Finding, proposal: Proposal) -> str:
        """Why the paper must not be cited for the sentence; "" if it backs it or cannot be asked."""
        verification = self._verify(finding, proposal)
        if verification is None or verification.verdict not in _OBJECTIONS:
            return ""
        return _OBJECTIONS[verification.verdict] + _quotation(verification)

    def remark(self, finding: Finding, proposal: Proposal) -> str:
        """What the full text says, in one line."""
        verification = self._verify(finding, proposal)
        if verification is None:
            return "not verified: the full text is not at hand"
        if verification.verdict == "could not check":
            return f"not verified: {verification.reason}"
        return f"verified, {verification.verdict}{_quotation(verification)}"

    def _verify(self, finding: Finding, proposal: Proposal) -> Verification | None:
        place = finding.file, finding.start, proposal.key
        if place not in self._verifications:
            self._verifications[place] = self._ask(finding.claim, proposal)
        return self._verifications[place]

    def _ask(self, claim: str, proposal: Proposal) -> Verification | None:
        from whycite.verify.verification import unchecked

        full_text = self._full_text(proposal)
        if full_text is None:
            return None
        try:
            return self._opened(full_text).verify(claim)
        except UserError as error:  # a file that is gone or cannot be read
            return unchecked(claim, str(error))

    def _full_text(self, proposal: Proposal) -> FullText | None:
        if not self._full_texts:
            return None
        from whycite.verify.fulltexts import match_references

        return match_references([_reference(proposal)], self._full_texts)[0]

    def _opened(self, full_text: FullText) -> OpenDocument:
        from whycite.verify.claims import open_document
        from whycite.verify.fulltexts import open_full_text

        if full_text.path not in self._open_papers:
            self._open_papers[full_text.path] = open_document(open_full_text(full_text))
        return self._open_papers[full_text.path]

    @cached_property
    def _full_texts(self) -> list[FullText]:
        """All full texts; those of the folder come first."""
        from whycite.verify.fulltexts import texts_in_folder, texts_in_library

        full_texts = texts_in_folder(self._papers) if self._papers is not None else []
        if self._use_library:
            from whycite.library import Library
            from whycite.library.paths import default_path, library_exists

            place = Path(self._library).expanduser() if self._library is not None else default_path()
            full_texts += texts_in_library(Library.open(place)) if library_exists(place) else []
        return full_texts


def _reference(proposal: Proposal) -> Reference:
    """What identifies the proposed paper."""
    from whycite.documents.model import Reference

    paper = proposal.recommendation.paper
    kind, _, name = paper.key.partition(":")
    return Reference(
        proposal.key,
        title=paper.title,
        authors=paper.authors,
        year=paper.year,
        doi=paper.doi,
        arxiv=name if kind == "arxiv" else "",
        pmid=name if kind == "pmid" else "",
    )


def _quotation(verification: Verification) -> str:
    """The passage that decides, to go after a verdict."""
    if not verification.passages:
        return ""
    text = " ".join(verification.deciding_first()[0].text.split())
    return f": “{text if len(text) <= _MAX_QUOTATION else text[:_MAX_QUOTATION].rsplit(' ', 1)[0] + ' …'}”"
