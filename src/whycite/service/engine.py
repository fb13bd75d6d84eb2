"""What needs models or the library, for editors and assistants: checks, papers to cite, verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from whycite import structure
from whycite.check.findings import CheckedDraft, Finding, Proposal
from whycite.cite.recommendations import Claim, Recommendation, answer_fits
from whycite.documents.model import Document, Reference, Section, Sentence
from whycite.errors import NoLibrary
from whycite.library.paths import library_exists
from whycite.references.checking import PaperKnowledge, library_knowledge
from whycite.service.papers import PaperLookup
from whycite.verify.verification import Verification

__all__ = ["DraftOptions", "Engine", "OnJudged", "Progress", "no_progress", "show_nothing"]

Progress = Callable[[str, int, int | None], None]
OnJudged = Callable[[CheckedDraft], None]


def no_progress(stage: str, count: int, total: int | None) -> None:
    """For work whose progress nobody sees."""


def show_nothing(judged: CheckedDraft) -> None:
    """For checks whose findings are wanted all at once."""


@dataclass(frozen=True, slots=True)
class DraftOptions:
    """How a draft is checked, according to the settings of its project."""

    n: int = 3  # papers per sentence
    threshold: float | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    sections: tuple[str, ...] = ()
    ignore_rules: tuple[str, ...] = ()


class Engine(PaperLookup):
    """Answers from one library in this process; nothing is loaded before it is needed."""

    def check(
        self,
        document: Document,
        texts: Mapping[str, str],
        options: DraftOptions,
        progress: Progress = no_progress,
        on_judged: OnJudged = show_nothing,
    ) -> CheckedDraft:
        """Check a draft; `texts` replaces files on disk, and `on_judged` gets what is known before papers are searched.

        An error that a callback raises stops the check.
        """
        from whycite.check.pipeline import check_draft

        def show(judged: CheckedDraft, findings: Sequence[Finding]) -> None:
            if not findings:
                on_judged(judged)

        return check_draft(
            document,
            self._current.library_if_open() or self._current.stated_path,
            threshold=options.threshold,
            thresholds=options.thresholds,
            sections=options.sections or None,
            n=options.n,
            ignore_rules=options.ignore_rules,
            texts=texts,
            progress=progress,
            on_findings=show,
        )

    def propose(self, document: Document, claim: str, place: Sentence | None, n: int) -> list[Proposal]:
        """Papers for a sentence that is being written, from the draft's bibliography and the library, best first.

        `place` is a sentence near it, whose section and paragraph it shares.
        """
        from whycite.check.memory import CachedLibrary, Memory
        from whycite.check.proposals import Proposer
        from whycite.models.cache import CachedEncoder
        from whycite.models.encoders import load_encoder

        path = self._current.path
        library = CachedLibrary(self._current.library_if_open() or path, Memory()) if library_exists(path) else None
        neighbour = place or Sentence("", 0, 0, document.path, 0, 0)
        sentence = replace(neighbour, text=claim, citations=(), note_citations=())
        sections = document.sections or (Section("", 1),)
        draft = structure.label(replace(document, sentences=(*document.sentences, sentence), sections=sections))
        index = len(draft.sentences) - 1
        encoder = CachedEncoder(load_encoder())
        try:
            proposals = Proposer(draft, encoder, library, n).propose([index])
        except NoLibrary:  # it was created, but nothing was added yet
            proposals = Proposer(draft, encoder, None, n).propose([index])
        return list(proposals[index].papers) if index in proposals else []

    def recommend(self, claim: Claim, n: int) -> tuple[list[Recommendation], float | None]:
        """Papers of the library to cite for a claim, best first, and the chance that any fits."""
        recommendations = self._current.method().recommend(claim, n)
        return [*recommendations], answer_fits(recommendations)

    def verify(self, document: Document, claim: str) -> Verification:
        """Whether a paper backs a claim."""
        return self.ready(document).verify(claim)

    def knowledge(self, references: Sequence[Reference]) -> list[PaperKnowledge]:
        """What the library knows of the papers of references."""
        library = self._current.library_if_any() or self._current.stated_path
        return library_knowledge(references, library)
