"""From proposals to a plan: every citation is tried on the draft, and kept only if it reads back as meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from whycite.check.fixing.bibliography import Bibliography, find_bibliography, left_over, unnamed
from whycite.check.fixing.encoding import Insertion, text_of
from whycite.check.fixing.model import Change, Plan, Refusal
from whycite.check.fixing.places import places
from whycite.check.fixing.project import Project
from whycite.check.fixing.styles import Style, style_of
from whycite.check.fixing.surroundings import Surroundings
from whycite.check.model import Checked, Finding, Proposal
from whycite.documents.identity import normalise_title
from whycite.documents.model import Document, Sentence
from whycite.errors import UserError

__all__ = ["plan"]

_KINDS = {"table": "the sentence stands in a table", "heading": "the sentence stands in a heading"}
_LOST = "the citation would not be read as one of this sentence"


def plan(checked: Checked, choices: Mapping[int, Proposal] | None = None, root: Path | None = None) -> Plan:
    """What to put into the files of a draft so that it cites what was chosen.

    `choices` gives proposals by the index of their finding; without it, every sentence that needs a citation gets
    the best one, if that clearly fits. `root` is the folder that was checked, where it was a folder; nothing outside
    it is changed.
    """
    if choices is None:
        choices = {
            index: finding.recommendations[0]
            for index, finding in enumerate(checked.findings)
            if finding.kind == "needs-citation" and finding.recommendations and not finding.doubtful
        }
    document = checked.document
    if not choices:
        return Plan(document.path)
    project = Project(document, root)
    now = project.read()
    if now.sentences != document.sentences:
        raise UserError(f"{document.path}: has changed since it was checked; check it again")
    return _Planning(project, now).plan([(checked.findings[index], choices[index]) for index in sorted(choices)])


@dataclass(slots=True)
class _Try:
    """A proposal with the places that are left to try for it, the best first."""

    finding: Finding
    proposal: Proposal
    name: str
    insertions: list[Insertion]


class _Planning:
    """The state of one plan: what is refused, and what new entries look like."""

    def __init__(self, project: Project, document: Document) -> None:
        self._project = project
        self._document = document
        self._refused: list[Refusal] = []
        files = {sentence.file for sentence in document.sentences}
        self._sources = {
            project.label(name): Surroundings(text_of(data))
            for name, data in project.contents.items()
            if project.label(name) in files
        }
        self._sentences = {(s.file, s.start, s.end): s for s in document.sentences}
        self._bibliography: Bibliography | str | None = None
        self._entries: dict[str, str] = {}
        self._titles: dict[str, str] = {}
        self._left = left_over(project)
        self._holders: set[str] | None = None
        self._sound_together = 0  # how many were last found to read back in one reading

    def plan(self, chosen: Sequence[tuple[Finding, Proposal]]) -> Plan:
        texts = {file: source.text for file, source in self._sources.items()}
        style = unnamed(self._project, self._document) or style_of(self._document, texts, self._project.names())
        tries: list[_Try] = []
        seen: set[tuple[str, int, int, str]] = set()
        for finding, proposal in chosen:
            place = finding.file, finding.start, finding.end, proposal.key
            if place in seen:
                continue  # a file that the draft reads twice: what is put in once stands in both places
            seen.add(place)
            found = style if isinstance(style, str) else self._try(finding, proposal, style)
            if isinstance(found, str):
                self._refused.append(Refusal(finding, proposal, found))
            else:
                tries.append(found)
        kept = self._settle(tries)
        return Plan(
            draft=self._document.path,
            changes=tuple(self._changes(kept)),
            fixed=tuple((one.finding, one.proposal) for one in kept),
            refused=tuple(sorted(self._refused, key=lambda refusal: (refusal.finding.file, refusal.finding.start))),
        )

    # -- what to try -------------------------------------------------------

    def _try(self, finding: Finding, proposal: Proposal, style: Style) -> _Try | str:
        """What to put in for a proposal, or why nothing can be."""
        sentence = self._sentences.get((finding.file, finding.start, finding.end))
        name = self._project.name(finding.file)
        if sentence is None or name is None:
            return "the sentence is no longer there"
        if sentence.kind in _KINDS:
            return _KINDS[sentence.kind]
        if any(proposal.key in citation.keys for citation in sentence.citations):
            return f"the sentence cites {proposal.key} already"
        written = style.write(proposal.key)
        if written is None:
            return f"the key {proposal.key!r} cannot be written as a citation of this draft"
        if reason := self._entry(proposal):
            return reason
        source = self._sources[finding.file]
        insertions, reason = [], "the sentence has no end to put a citation at"
        for place in places(source.text, sentence.start, sentence.end, self._document.format):
            against = self._obstacle(source, place.at)
            if against:
                reason = against
                continue
            before = source.text[place.at - 1 : place.at]
            gap = "" if not place.lead and (before.isspace() or before == "~") else style.gap
            insertions.append(Insertion(place.at, place.lead + gap + written))
        return _Try(finding, proposal, name, insertions) if insertions else reason

    def _entry(self, proposal: Proposal) -> str:
        """Make the entry that a proposal needs; the reason where that fails."""
        key = proposal.key
        title = normalise_title(proposal.recommendation.paper.title)
        known = self._document.by_id.get(key)
        if known is not None:
            same = proposal.known or not title or normalise_title(known.title) == title
            if not same:
                return f"the key {key} stands for another work in the bibliography"
            return f"only the .bbl of an earlier run has {key}: put it into the .bib first" if key in self._left else ""
        if proposal.known:
            return f"the bibliography has no entry {key} any more"
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

    def _obstacle(self, source: Surroundings, at: int) -> str:
        """Why a citation must not stand somewhere; commands in which the draft cites elsewhere may hold one."""
        found = source.obstacle(at, self._document.format)
        if found and self._holders is None:
            self._holders = {
                owner
                for sentence in self._document.sentences
                for citation in sentence.citations
                if self._document.format == "latex" and sentence.kind not in _KINDS
                for owner in self._sources[sentence.file].owners(citation.start)
            }
        return source.obstacle(at, self._document.format, self._holders or ()) if found else ""

    # -- whether it reads back ---------------------------------------------

    def _settle(self, tries: list[_Try]) -> list[_Try]:
        """Those that read back as meant, each at the first of its places that does."""
        kept: list[_Try] = []
        waiting = tries
        while waiting:
            sound = self._sound(waiting)
            kept += sound
            failed = [one for one in waiting if all(one is not other for other in sound)]
            waiting = []
            for one in failed:
                one.insertions.pop(0)
                if one.insertions:
                    waiting.append(one)
                else:
                    self._refused.append(Refusal(one.finding, one.proposal, _LOST))
        if kept and len(kept) != self._sound_together and not self._reads_back(kept):
            self._refused += [Refusal(one.finding, one.proposal, _LOST) for one in kept]
            return []
        return sorted(kept, key=lambda one: (one.finding.file, one.finding.start))

    def _sound(self, tries: list[_Try]) -> list[_Try]:
        """Those of some that read back, found by halves: mostly all do."""
        if not tries or self._reads_back(tries):
            self._sound_together = len(tries)
            return tries
        if len(tries) == 1:
            return []
        half = len(tries) // 2
        return self._sound(tries[:half]) + self._sound(tries[half:])

    def _reads_back(self, tries: Sequence[_Try]) -> bool:
        """Whether each sentence then has its citation, and all else reads as before."""
        try:
            then = self._project.read(self._insertions(tries))
        except (UserError, ValueError):  # a file that can no longer be read, or not take the text in
            return False
        added: dict[tuple[str, int, int], list[str]] = {}
        for one in tries:
            added.setdefault((one.finding.file, one.finding.start, one.finding.end), []).append(one.proposal.key)
        if len(then.sentences) != len(self._document.sentences) or then.sections != self._document.sections:
            return False
        return all(one.proposal.key in then.by_id for one in tries) and all(
            _as_meant(old, new, added.get((old.file, old.start, old.end), []))
            for old, new in zip(self._document.sentences, then.sentences, strict=True)
        )

    def _insertions(self, tries: Sequence[_Try]) -> dict[str, list[Insertion]]:
        """The texts by file, new entries too."""
        found: dict[str, list[Insertion]] = {}
        for one in tries:
            found.setdefault(one.name, []).append(one.insertions[0])
        entries = {
            one.proposal.key: self._entries[one.proposal.key] for one in tries if one.proposal.key in self._entries
        }
        if entries and isinstance(self._bibliography, Bibliography):
            found.setdefault(self._bibliography.name, []).append(self._bibliography.insertion(entries))
        return found

    def _changes(self, tries: Sequence[_Try]) -> list[Change]:
        changes: dict[Path, Change] = {}
        for name, insertions in self._insertions(tries).items():
            path = self._project.path(name)
            if path in changes:
                raise UserError(f"{self._project.label(name)}: read under two names; nothing is changed")
            changes[path] = Change(path, self._project.label(name), self._project.contents[name], tuple(insertions))
        return list(changes.values())


def _as_meant(old: Sentence, new: Sentence, keys: Sequence[str]) -> bool:
    """Whether a sentence says what it said and cites these keys besides."""
    if not keys:
        return old.text == new.text and [c.keys for c in old.citations] == [c.keys for c in new.citations]
    cited = [key for citation in old.citations for key in citation.keys]
    then = [key for citation in new.citations for key in citation.keys]
    return sorted([*cited, *keys]) == sorted(then) and _letters(old) == _letters(new)


def _letters(sentence: Sentence) -> str:
    return "".join(filter(str.isalnum, sentence.without_citations()))
