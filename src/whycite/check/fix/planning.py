"""Plan a fix: every citation is tried on the draft, and kept only if it is read back as intended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from whycite.check.findings import CheckedDraft, Finding, Proposal
from whycite.check.fix.citations import (
    CitationPlace,
    CitationStyle,
    Surroundings,
    citation_places,
    citation_style,
    clause_end,
    name_ends,
)
from whycite.check.fix.edits import DraftProject, FileChange, FixPlan, Insertion, Refusal, text_of
from whycite.check.fix.entries import BibliographyFile, find_bibliography, leftover_keys, unnamed_reason
from whycite.documents.identity import normalise_title
from whycite.documents.model import Document, Reference, Sentence
from whycite.errors import UserError
from whycite.library.notices import stated

__all__ = ["Objection", "best_choices", "first_objection", "plan", "possible_places"]

Objection = Callable[[Finding, Proposal], str]
"""Says why a paper must not be cited for a sentence; "" if it may."""

_FORBIDDEN_KINDS = {"table": "the sentence is in a table", "heading": "the sentence is in a heading"}
_NOT_READ_BACK = "the citation would not be read as part of this sentence"


def best_choices(checked: CheckedDraft, *, unsure: bool = False) -> dict[int, Proposal]:
    """The best paper for every sentence that needs a citation, by index of the finding.

    These are the papers to insert unasked; with `unsure`, also those that fit, but do not clearly lead the others.
    """
    return {
        index: finding.recommendations[0]
        for index, finding in enumerate(checked.findings)
        if finding.kind == "needs-citation"
        and finding.recommendations
        and (finding.recommendations[0].sure or (unsure and not finding.doubtful))
    }


def plan(
    checked: CheckedDraft,
    choices: Mapping[int, Proposal] | None = None,
    root: Path | None = None,
    objection: Objection = lambda finding, proposal: "",
    unsaved: Mapping[Path, bytes] = MappingProxyType({}),
) -> FixPlan:
    """Plan the changes that make a draft cite the chosen papers.

    `choices` maps indices of findings to proposals, by default the best ones. `root` is the folder that was checked, if
    it was a folder; nothing outside it is changed. Retracted papers are refused, and those with an objection.
    `unsaved` has the contents of files that are open in an editor.
    """
    if choices is None:
        choices = best_choices(checked)
    document = checked.document
    if not choices:
        return FixPlan(document.path)
    project = DraftProject(document, root, unsaved)
    current = project.read()
    if current.sentences != document.sentences:
        raise UserError(f"{document.path}: changed since it was checked; check it again")
    return _Planner(project, current, objection).plan(
        [(checked.findings[index], choices[index]) for index in sorted(choices)]
    )


def first_objection(sentence: Sentence, proposal: Proposal, document: Document) -> str:
    """Why a paper cannot be cited in a sentence, whatever the paper says; "" if it can."""
    if sentence.kind in _FORBIDDEN_KINDS:
        return _FORBIDDEN_KINDS[sentence.kind]
    if proposal.key in sentence.cited_keys:
        return f"the sentence already cites {proposal.key}"
    paper = proposal.recommendation.paper
    entry = document.by_id.get(proposal.key, Reference(""))
    statuses = {paper.status, stated(Reference("", title=paper.title)).status, stated(entry).status}
    return "the paper was retracted" if statuses & {"retracted", "notice"} else ""


def possible_places(
    text: str,
    sentence: Sentence,
    finding: Finding,
    proposal: Proposal,
    format: str,
    gap_after_stop: str | None = None,
) -> Iterator[CitationPlace]:
    """Where a citation may go: after its authors' names, at the end of the clause, at the end of the sentence."""
    start, end = sentence.start, sentence.end
    if finding.clause:  # what comes before has its citations
        start = max((citation.end for citation in sentence.citations), default=start)
    yield from map(CitationPlace, name_ends(text, start, end, proposal.recommendation.paper))
    if not sentence.citations and (clause := clause_end(text, start, end)):
        yield CitationPlace(clause)
    yield from citation_places(text, start, end, format, gap_after_stop)


@dataclass(slots=True)
class _Attempt:
    """A proposal and the places that remain to be tried, best first."""

    finding: Finding
    proposal: Proposal
    name: str
    insertions: list[Insertion]


class _Planner:
    """The state of one plan: refusals and new entries."""

    def __init__(self, project: DraftProject, document: Document, objection: Objection) -> None:
        self._project = project
        self._document = document
        self._objection = objection
        self._refused: list[Refusal] = []
        files = {sentence.file for sentence in document.sentences}
        self._sources = {
            project.label(name): Surroundings(text_of(data))
            for name, data in project.contents.items()
            if project.label(name) in files
        }
        self._sentences = {(s.file, s.start, s.end): s for s in document.sentences}
        self._bibliography: BibliographyFile | str | None = None
        self._entries: dict[str, str] = {}
        self._titles: dict[str, str] = {}
        self._leftover_keys = leftover_keys(project)
        self._citing_commands: set[str] | None = None
        self._sound_together = 0  # how many were last read back together

    def plan(self, chosen: Sequence[tuple[Finding, Proposal]]) -> FixPlan:
        texts = {file: source.text for file, source in self._sources.items()}
        style = unnamed_reason(self._project, self._document) or citation_style(
            self._document, texts, self._project.names()
        )
        attempts: list[_Attempt] = []
        seen: set[tuple[str, int, int, str]] = set()
        for finding, proposal in chosen:
            place = finding.file, finding.start, finding.end, proposal.key
            if place in seen:
                continue  # a file that the draft reads twice: one insertion shows in both places
            seen.add(place)
            attempt = style if isinstance(style, str) else self._make_attempt(finding, proposal, style)
            if isinstance(attempt, str):
                self._refused.append(Refusal(finding, proposal, attempt))
            else:
                attempts.append(attempt)
        sound_attempts = self._settle(attempts)
        return FixPlan(
            draft=self._document.path,
            changes=tuple(self._changes(sound_attempts)),
            fixed=tuple((attempt.finding, attempt.proposal) for attempt in sound_attempts),
            refused=tuple(sorted(self._refused, key=lambda refusal: (refusal.finding.file, refusal.finding.start))),
            separate_changes=tuple(tuple(self._changes([attempt])) for attempt in sound_attempts),
        )

    # -- what to try -------------------------------------------------------

    def _make_attempt(self, finding: Finding, proposal: Proposal, style: CitationStyle) -> _Attempt | str:
        """The insertions to try for a proposal, or why there are none."""
        sentence = self._sentences.get((finding.file, finding.start, finding.end))
        name = self._project.name(finding.file)
        if sentence is None or name is None:
            return "the sentence is no longer in the draft"
        if reason := first_objection(sentence, proposal, self._document):
            return reason
        written = style.write(proposal.key)
        if written is None:
            return f"the key {proposal.key!r} cannot be written in the draft's citation style"
        if reason := self._objection(finding, proposal) or self._add_entry(proposal):
            return reason
        source = self._sources[finding.file]
        insertions, reason = [], "there is no place for a citation at the end of the sentence"
        for place in possible_places(
            source.text, sentence, finding, proposal, self._document.format, style.gap_after_stop
        ):
            obstacle = self._obstacle(source, place.offset)
            if obstacle:
                reason = obstacle
                continue
            character = source.text[place.offset - 1 : place.offset]
            usual_gap = "" if not place.lead and (character.isspace() or character == "~") else style.gap
            gap = usual_gap if place.gap is None else place.gap
            insertions.append(Insertion(place.offset, place.lead + gap + written))
        return _Attempt(finding, proposal, name, insertions) if insertions else reason

    def _add_entry(self, proposal: Proposal) -> str:
        """Prepare the entry that a proposal needs; the reason if that fails."""
        key = proposal.key
        title = normalise_title(proposal.recommendation.paper.title)
        reference = self._document.by_id.get(key)
        if reference is not None:
            same = proposal.in_bibliography or not title or normalise_title(reference.title) == title
            if not same:
                return f"the key {key} belongs to another work in the bibliography"
            return (
                f"{key} is only in the .bbl of an earlier run; add it to the .bib first"
                if key in self._leftover_keys
                else ""
            )
        if proposal.in_bibliography:
            return f"the bibliography no longer has the entry {key}"
        if key in self._entries:
            return "" if self._titles[key] == title else f"two new works have the key {key}"
        if self._bibliography is None:
            self._bibliography = find_bibliography(self._project, self._document)
        if isinstance(self._bibliography, str):
            return self._bibliography
        try:
            self._entries[key] = self._bibliography.entry(proposal)
        except UserError as error:
            return str(error)
        self._titles[key] = title
        return ""

    def _obstacle(self, source: Surroundings, offset: int) -> str:
        """Why a citation cannot be inserted at an offset; commands in which the draft cites elsewhere are fine."""
        obstacle = source.obstacle(offset, self._document.format)
        if obstacle and self._citing_commands is None:
            self._citing_commands = {
                owner
                for sentence in self._document.sentences
                for citation in sentence.citations
                if self._document.format == "latex" and sentence.kind not in _FORBIDDEN_KINDS
                for owner in self._sources[sentence.file].owners(citation.start)
            }
        return source.obstacle(offset, self._document.format, self._citing_commands or ()) if obstacle else ""

    # -- whether it reads back ---------------------------------------------

    def _settle(self, attempts: list[_Attempt]) -> list[_Attempt]:
        """The attempts that are read back as intended, each at its first place that works."""
        sound_attempts: list[_Attempt] = []
        waiting = attempts
        while waiting:
            sound = self._sound(waiting)
            sound_attempts += sound
            failed = [attempt for attempt in waiting if all(attempt is not sound_attempt for sound_attempt in sound)]
            waiting = []
            for attempt in failed:
                attempt.insertions.pop(0)
                if attempt.insertions:
                    waiting.append(attempt)
                else:
                    self._refused.append(Refusal(attempt.finding, attempt.proposal, _NOT_READ_BACK))
        if sound_attempts and len(sound_attempts) != self._sound_together and not self._reads_back(sound_attempts):
            self._refused += [Refusal(attempt.finding, attempt.proposal, _NOT_READ_BACK) for attempt in sound_attempts]
            return []
        return sorted(sound_attempts, key=lambda attempt: (attempt.finding.file, attempt.finding.start))

    def _sound(self, attempts: list[_Attempt]) -> list[_Attempt]:
        """The attempts that are read back, found by halving, since usually all are."""
        if not attempts or self._reads_back(attempts):
            self._sound_together = len(attempts)
            return attempts
        if len(attempts) == 1:
            return []
        half = len(attempts) // 2
        return self._sound(attempts[:half]) + self._sound(attempts[half:])

    def _reads_back(self, attempts: Sequence[_Attempt]) -> bool:
        """Whether each sentence then has its citation, and everything else is unchanged."""
        try:
            document = self._project.read(self._insertions(attempts))
        except (UserError, ValueError):  # a file that can no longer be read, or whose encoding lacks a letter
            return False
        added: dict[tuple[str, int, int], list[str]] = {}
        for attempt in attempts:
            added.setdefault((attempt.finding.file, attempt.finding.start, attempt.finding.end), []).append(
                attempt.proposal.key
            )
        if len(document.sentences) != len(self._document.sentences) or document.sections != self._document.sections:
            return False
        return all(attempt.proposal.key in document.by_id for attempt in attempts) and all(
            _reads_as_meant(old, new, added.get((old.file, old.start, old.end), []))
            for old, new in zip(self._document.sentences, document.sentences, strict=True)
        )

    def _insertions(self, attempts: Sequence[_Attempt]) -> dict[str, list[Insertion]]:
        """The insertions by file, with new entries."""
        insertions: dict[str, list[Insertion]] = {}
        for attempt in attempts:
            insertions.setdefault(attempt.name, []).append(attempt.insertions[0])
        entries = {
            attempt.proposal.key: self._entries[attempt.proposal.key]
            for attempt in attempts
            if attempt.proposal.key in self._entries
        }
        if entries and isinstance(self._bibliography, BibliographyFile):
            insertions.setdefault(self._bibliography.name, []).append(self._bibliography.insertion(entries))
        return insertions

    def _changes(self, attempts: Sequence[_Attempt]) -> list[FileChange]:
        changes: dict[Path, FileChange] = {}
        for name, insertions in self._insertions(attempts).items():
            path = self._project.path(name)
            if path in changes:
                raise UserError(f"{self._project.label(name)}: read under two names; nothing was changed")
            changes[path] = FileChange(path, self._project.label(name), self._project.contents[name], tuple(insertions))
        return list(changes.values())


def _reads_as_meant(old: Sentence, new: Sentence, keys: Sequence[str]) -> bool:
    """Whether a sentence has the same text and cites these keys in addition."""
    if not keys:
        return old.text == new.text and [c.keys for c in old.citations] == [c.keys for c in new.citations]
    old_keys = [key for citation in old.citations for key in citation.keys]
    new_keys = [key for citation in new.citations for key in citation.keys]
    return sorted([*old_keys, *keys]) == sorted(new_keys) and _letters(old) == _letters(new)


def _letters(sentence: Sentence) -> str:
    return "".join(filter(str.isalnum, sentence.without_citations()))
