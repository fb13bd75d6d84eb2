"""Check a draft: sections, worthiness, and papers for the sentences that need a citation (SCOPE, figure 1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from whycite import documents, structure
from whycite.check.detector import Detector, load_detector
from whycite.check.draftfiles import DraftFiles
from whycite.check.findings import CITATION_RULES, CheckedDraft, CitationProblem, Finding, FindingKind
from whycite.check.memory import CachedLibrary, Memory
from whycite.check.proposals import (
    DraftProposer,
    Proposer,
    ProposerFactory,
    SentenceProposals,
    searched_references,
)
from whycite.check.rules import Rulebook, RuleDecision, check_rule_ids
from whycite.check.worthiness import judge
from whycite.cite.recommendations import check_number
from whycite.documents.model import Document, Reference, Sentence
from whycite.documents.reading import other_drafts
from whycite.documents.references.reader import BIBLIOGRAPHY_FORMATS
from whycite.errors import UserError
from whycite.library.notices import PaperNotices, look_up
from whycite.library.paths import default_path, library_exists
from whycite.models import Encoder
from whycite.models.encoders import load_encoder
from whycite.models.runtime import thread_count
from whycite.text.language import is_english_draft

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = ["check_draft"]

NO_LIBRARY = "no library, so papers come only from the draft's own bibliography"
FOREIGN = "the draft does not seem to be in English, so which sentences need a citation is little more than a guess"

_SHOWN_DRAFTS = 3  # names in a warning
_SEARCHING = "searching for papers"
_SEARCHES_PER_CORE = 4  # at a time: a second of work, and enough to keep all cores busy


def check_draft(
    draft: str | Path | Document,
    library: Library | str | Path | None = None,
    *,
    threshold: float | None = None,
    thresholds: Mapping[str, float] | None = None,
    sections: Collection[str] | None = None,
    all: bool = False,
    n: int = 3,
    detector: Detector | None = None,
    encoder: Encoder | None = None,
    use_library: bool = True,
    ignore_rules: Collection[str] = (),
    remember: bool = True,
    texts: Mapping[str, str] | None = None,
    make_proposer: ProposerFactory | None = None,
    progress: Callable[[str, int, int | None], None] = lambda stage, count, total: None,
    on_findings: Callable[[CheckedDraft, Sequence[Finding]], None] = lambda judged, findings: None,
) -> CheckedDraft:
    """Find the sentences of a draft that need a citation, and papers that they could cite.

    `library` is an open one or a path; by default it is the user's own, if there is one, and without `use_library`
    none. `threshold` applies to all sections but those whose type has its own in `thresholds`; by default it is
    the detector's own, but at least .6, or .4 in a draft that hardly cites. Only `sections` of these types are checked,
    abstracts only if asked for. With `all`, sentences that cite get recommendations, too. `ignore_rules` turns rules
    off by their ids. `texts` replaces files on disk by unsaved ones. `make_proposer` makes what proposes papers, in
    place of the draft's own bibliography and the library. `remember` caches what was computed. `progress` is called
    with the stage, a count, and the total if known.

    `on_findings` is called as soon as every sentence is judged, with the draft without papers and no findings, and
    then with each next few findings in the order of the text, until it has seen all. An error that it or `progress`
    raises stops the check; what was computed by then stays cached.
    """
    _check_arguments(n, threshold, thresholds or {}, sections or (), ignore_rules)
    clock = _StageClock()
    document = _read_draft(draft)
    unchecked_drafts = _unchecked_drafts(draft, document)
    clock.end("reading")
    memory = Memory() if remember else None
    detector, encoder = detector or load_detector(), encoder or _load_encoder(remember)
    cached_library, warnings = _find_library(library, memory) if use_library else (None, ())
    files = DraftFiles(document.format, texts)
    rulebook = Rulebook(document, files, {*ignore_rules, *({"abstract"} & set(sections or ()))})
    indices = _checked_sentences(document, files, sections)
    progress("judging sentences", 0, None)
    judgement = judge(document, detector, encoder, memory, extra_types=rulebook.extra_types(), progress=progress)
    clock.end("worthiness")
    references = searched_references(document)
    try:
        notices = _entry_notices(references, cached_library, _register_place(library))
    except UserError as error:
        if cached_library is None or library is not None:
            raise
        # Nobody asked for the user's default library, so it may be empty, or fail; its register can still be read.
        cached_library, warnings = None, (_without_library(error),)
        notices = _entry_notices(references, None, _register_place(library))
    decisions = {index: decision for index in indices if (decision := rulebook.decide(index))}
    findings = {}
    for index in indices:
        limit = judgement.reporting_threshold(_section_type(document, index)) if threshold is None else threshold
        limit = (thresholds or {}).get(_section_type(document, index) or "", limit)
        finding = _finding(document, index, files, judgement.worthiness[index], limit, decisions.get(index))
        sentence = document.sentences[index]
        ignored = {*ignore_rules, *files.file_of(sentence).ignored_rules(sentence.start, sentence.end)}
        findings[index] = replace(finding, problems=_citation_problems(sentence, notices, ignored))
    if not is_english_draft([sentence.text for sentence in document.sentences]):
        warnings = (FOREIGN, *warnings)
    warnings = (*document.warnings, *unchecked_drafts, *rulebook.warnings(), *warnings)
    judged = CheckedDraft(document, tuple(findings.values()), warnings)
    on_findings(judged, ())

    clauses = {index: decision.clause for index, decision in decisions.items() if decision.clause}
    unfit = {id for id, notice in notices.items() if notice.status in ("retracted", "notice")}
    make_spare = None
    if make_proposer is not None:
        proposer = make_proposer(document, n, unfit)
    else:
        make = partial(Proposer, document, encoder, n=n, clauses=clauses, unfit=unfit)
        proposer = make(cached_library)
        make_spare = partial(make, None) if cached_library is not None and library is None else None
    searched = {index for index in indices if findings[index].kind in ("needs-citation", *(("cited",) if all else ()))}
    search = _PaperSearch(proposer, make_spare, len(searched), progress)
    complete: list[Finding] = []
    for part in _parts([index in searched for index in indices], _SEARCHES_PER_CORE * thread_count(None)):
        with_papers = search.complete({index: findings[index] for index in indices[part]}, searched)
        complete += with_papers
        judged = replace(judged, warnings=(*warnings, *search.warnings))
        on_findings(judged, with_papers)
    return replace(judged, findings=tuple(complete), stages={**clock.seconds, **search.seconds})


def _check_arguments(
    n: int,
    threshold: float | None,
    thresholds: Mapping[str, float],
    sections: Collection[str],
    ignore_rules: Collection[str],
) -> None:
    """Reject numbers out of range and names that do not exist."""
    check_number(n)
    for number in (*(() if threshold is None else (threshold,)), *thresholds.values()):
        if not 0 <= number <= 1:
            raise UserError(f"the threshold must be between 0 and 1, not {number:g}")
    if unknown := sorted({*sections, *thresholds} - set(structure.SECTION_TYPES)):
        raise UserError(f"unknown section type '{unknown[0]}'; choose one of: {', '.join(structure.SECTION_TYPES)}")
    check_rule_ids(ignore_rules)


def _read_draft(draft: str | Path | Document) -> Document:
    """The draft with types of its sections; a bibliography is none."""
    document = structure.label(draft if isinstance(draft, Document) else documents.read(draft))
    if document.format in BIBLIOGRAPHY_FORMATS:
        place = document.path
        raise UserError(f"{place}: a bibliography, not a draft; check it with: whycite references {place}")
    return document


def _unchecked_drafts(draft: str | Path | Document, document: Document) -> tuple[str, ...]:
    """A warning if a folder has several drafts, of which only the first is checked."""
    drafts = [] if isinstance(draft, Document) else other_drafts(draft, document)
    if not drafts:
        return ()
    shown = ", ".join(name or "." for name in drafts[:_SHOWN_DRAFTS])
    further_drafts = f" and {len(drafts) - _SHOWN_DRAFTS:,} more" if len(drafts) > _SHOWN_DRAFTS else ""
    return (f"{draft}: has other drafts, which are not checked: {shown}{further_drafts}; name each to check it",)


def _checked_sentences(document: Document, files: DraftFiles, sections: Collection[str] | None) -> list[int]:
    """The indices of the sentences that are in the sections asked for, and that no comment excludes."""
    return [
        index
        for index, sentence in enumerate(document.sentences)
        if (not sections or document.sections[sentence.section].type in sections)
        and not files.file_of(sentence).ignores(sentence.start, sentence.end)
    ]


class _PaperSearch:
    """Searches papers for the sentences of a draft, some at a time, and reports how many are done.

    Nobody asked for the user's default library, so it may fail: a spare proposer then goes on without it.
    """

    def __init__(
        self,
        proposer: DraftProposer,
        make_spare: Callable[[], DraftProposer] | None,
        total: int,
        progress: Callable[[str, int, int | None], None],
    ) -> None:
        self._proposer, self._make_spare = proposer, make_spare
        self._progress, self._total = progress, total
        self._done = 0  # sentences for which papers were searched
        self.warnings: tuple[str, ...] = ()
        self._report(0)

    @property
    def seconds(self) -> Mapping[str, float]:
        return self._proposer.seconds

    def complete(self, findings: Mapping[int, Finding], searched: Collection[int]) -> list[Finding]:
        """Findings by the index of their sentence, with papers for those that are searched."""
        proposals = self._propose([index for index in findings if index in searched])
        return [
            replace(finding, recommendations=proposals[index].papers, fits=proposals[index].fits)
            if index in proposals
            else finding
            for index, finding in findings.items()
        ]

    def _propose(self, sentences: Sequence[int]) -> dict[int, SentenceProposals]:
        done_before = self._done
        try:
            proposals = self._proposer.propose(sentences, lambda: self._report(self._done + 1))
        except UserError as error:
            if self._make_spare is None:
                raise
            self.warnings = (_without_library(error),)
            self._proposer, self._make_spare = self._make_spare(), None
            proposals = self._proposer.propose(sentences)
        self._report(done_before + len(sentences))
        return proposals

    def _report(self, done: int) -> None:
        self._done = done
        self._progress(_SEARCHING, done, self._total)


def _without_library(error: UserError) -> str:
    return f"{NO_LIBRARY} ({error})"


def _entry_notices(
    references: Sequence[Reference], library: CachedLibrary | None, register: Path
) -> dict[str, PaperNotices]:
    """What was published about the entries of a bibliography, by id; without a library, by a register alone."""
    notices = library.notices(references) if library is not None else look_up(register, references)
    return {
        reference.id: notice for reference, notice in zip(references, notices, strict=True) if notice != PaperNotices()
    }


def _citation_problems(
    sentence: Sentence, notices: Mapping[str, PaperNotices], ignored: Collection[str]
) -> tuple[CitationProblem, ...]:
    """The problems with the papers that a sentence cites, worst first, without those of ignored rules."""
    problems = [
        CitationProblem(notice.status, key, notice.description)
        for key in sentence.cited_keys
        if (notice := notices.get(key)) and notice.status in CITATION_RULES and notice.status not in ignored
    ]
    return tuple(sorted(problems, key=lambda problem: [*CITATION_RULES].index(problem.rule)))


def _register_place(library: Library | str | Path | None) -> Path:
    """The folder whose register of notices is used if no library is."""
    return Path(library).expanduser() if isinstance(library, str | Path) else default_path()


def _parts(searches: Sequence[bool], size: int) -> Iterator[slice]:
    """Consecutive parts of a list, each with as many searches."""
    start = count = 0
    for place, is_search in enumerate(searches):
        count += is_search
        if count == size:
            yield slice(start, place + 1)
            start, count = place + 1, 0
    if start < len(searches):
        yield slice(start, len(searches))


class _StageClock:
    """The seconds that each stage took."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self.seconds: dict[str, float] = {}

    def end(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = now - self._started
        self._started = now


def _kind(sentence: Sentence, is_ruled: bool, worthiness: float, threshold: float) -> FindingKind:
    # Sentences that are not judged have worthiness 0, and need nothing even if the threshold is 0.
    needs_citation = worthiness >= threshold and worthiness > 0
    if sentence.cites:  # only a rule may ask for another citation
        return "needs-citation" if is_ruled and needs_citation else "cited"
    return "needs-citation" if needs_citation else "ok"


def _finding(
    document: Document,
    index: int,
    files: DraftFiles,
    worthiness: float,
    threshold: float,
    decision: RuleDecision | None,
) -> Finding:
    """What is said of a sentence; one that a rule decides has at least or at most the worthiness of the rule."""
    sentence = document.sentences[index]
    if decision is not None:
        bound = max if decision.rule.direction == "needs" else min
        worthiness = bound(worthiness, decision.rule.worthiness)
    file = files.file_of(sentence)
    line, column = file.position(sentence.start)
    end_line, end_column = file.position(sentence.end)
    return Finding(
        file=sentence.file,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        start=sentence.start,
        end=sentence.end,
        section=document.sections[sentence.section].heading,
        section_type=_section_type(document, index),
        text=sentence.text,
        worthiness=float(worthiness),
        cites=sentence.cited_keys,
        kind=_kind(sentence, decision is not None, worthiness, threshold),
        threshold=threshold,
        rule=decision.rule.id if decision else "",
        clause=decision.clause if decision else "",
    )


def _section_type(document: Document, index: int) -> str | None:
    return document.sections[document.sentences[index].section].type


def _find_library(
    library: Library | str | Path | None, memory: Memory | None
) -> tuple[CachedLibrary | None, tuple[str, ...]]:
    """The library to search and warnings; the default one may be missing, one that was asked for may not."""
    if library is None:
        path = default_path()
        if not library_exists(path):
            return None, (f"{NO_LIBRARY}; create one with: whycite add FOLDER",)
        return CachedLibrary(path, memory), ()
    if isinstance(library, str | Path):
        path = Path(library).expanduser()
        if not library_exists(path):
            raise UserError(f"{path}: no library here yet; create one with: whycite add FOLDER --library {path}")
        return CachedLibrary(path, memory), ()
    return CachedLibrary(library, memory), ()


def _load_encoder(remember: bool) -> Encoder:
    from whycite.models.cache import CachedEncoder

    return CachedEncoder(load_encoder()) if remember else load_encoder()
