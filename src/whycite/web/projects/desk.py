"""Work on projects: read the draft and its papers, mark sentences, and verify citations in the background."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Literal

from whycite.documents.jsondocument import from_plain, to_plain
from whycite.documents.model import Document
from whycite.errors import MissingExtra, UserError
from whycite.library.paths import original_path
from whycite.web.guard import Problem, defect_detail
from whycite.web.projects.store import FileFacts, ProjectFile, ProjectFolder, ProjectStore
from whycite.web.projects.verdicts import CitationNames, PaperSource, VerdictJournal, VerdictRecord, verdict_record
from whycite.web.queues import WorkQueue
from whycite.web.reading import library_file, read_all, read_folder, read_stored
from whycite.web.warm import HASH_LENGTH, WarmPaper, WarmPapers, file_hash

if TYPE_CHECKING:
    from whycite.check.findings import CheckedDraft, Finding
    from whycite.library import Library
    from whycite.service.loading import CurrentLibrary
    from whycite.verify.drafts import CitationVerdict
    from whycite.verify.fulltexts import FullText
    from whycite.verify.verification import Verification

__all__ = ["ProjectDesk", "ProjectRun", "RunState"]

RunState = Literal["new", "running", "done", "stopped", "failed"]

_LOG = logging.getLogger("whycite")
_AT_ONCE = 2  # projects that are worked on, so that a short one need not wait for a long one
_MAX_WAITING = 15  # projects
_RETRY_SECONDS = 30
_INTERRUPTED = "The server was stopped in the middle. What was checked by then is kept."
_STOPPED = "Stopped. What was checked by then is kept."
_NOT_YET = "not checked yet"
_NO_TEXT = "contains no readable text"
_STAGES = {
    "judging sentences": "Looking for sentences that need a citation",
    "checking citations": "Checking citations",
}


class _Stopped(Exception):
    """Somebody stopped the run."""


@dataclass(slots=True)
class ProjectRun:
    """A run over a project: what it is doing, and how far it is."""

    stage: str = "Waiting for other work to finish"
    completed: int = 0
    total: int | None = None
    stop: Event = field(default_factory=Event)

    def report(self, stage: str, completed: int = 0, total: int | None = None) -> None:
        """Say how far the work is, or end it if it is to stop."""
        if self.stop.is_set():
            raise _Stopped
        self.stage, self.completed, self.total = _STAGES.get(stage, stage), completed, total


class ProjectDesk:
    """The projects of a server; two are worked on at a time."""

    def __init__(self, root: Path, current: CurrentLibrary, papers: WarmPapers, load: Callable[[], None]) -> None:
        """`load` is called before the first run."""
        self.store = ProjectStore(root)
        self._current, self._papers, self._load = current, papers, load
        self._work = WorkQueue(_AT_ONCE, _MAX_WAITING, retry_after=_RETRY_SECONDS)
        self._lock = Lock()
        self._runs: dict[str, ProjectRun] = {}
        self._journals: dict[str, VerdictJournal] = {}

    def journal(self, project: ProjectFolder) -> VerdictJournal:
        """The verdicts of a project."""
        with self._lock:
            if project.id not in self._journals:
                self._journals[project.id] = VerdictJournal(project.path / "verdicts.jsonl")
            return self._journals[project.id]

    def state(self, project: ProjectFolder) -> tuple[RunState, str, ProjectRun | None]:
        """How the last run over a project ended and why, or the one that is going on."""
        with self._lock:
            run = self._runs.get(project.id)
        if run is not None:
            return "running", "", run
        record = project.load("run.json")
        state: RunState = record.get("state", "new")
        if state == "running":  # by a server that is gone
            return "stopped", _INTERRUPTED, None
        return state, record.get("detail", ""), None

    def start(self, project: ProjectFolder) -> None:
        """Verify the citations of a project in the background, unless that is going on."""
        run = ProjectRun()
        with self._lock:
            if project.id in self._runs:
                return
            self._runs[project.id] = run
        try:
            project.save("run.json", {"state": "running"})
            self._work.submit(lambda: self._run(project, run))
        except BaseException:
            self._runs.pop(project.id, None)
            project.save("run.json", {"state": "stopped", "detail": "The server was busy."})
            raise

    def stop(self, project: ProjectFolder) -> None:
        """Stop after the citation that is being checked."""
        with self._lock:
            run = self._runs.get(project.id)
        if run is not None:
            run.stop.set()

    def delete(self, project: ProjectFolder) -> None:
        """Delete a project, even while it is worked on."""
        self.stop(project)
        with self._lock:
            self._journals.pop(project.id, None)
        self.store.delete(project.id)

    def close(self, seconds: float = 0.0) -> bool:
        """Stop all runs; returns whether they ended in time."""
        with self._lock:
            for run in self._runs.values():
                run.stop.set()
        return self._work.close(seconds)

    def draft(self, project: ProjectFolder) -> Document:
        """The draft; it is read once."""
        if not any(file.kind == "draft" for file in project.files()):
            raise UserError("This project has no draft; add one.")
        draft_hash = project.draft_hash()
        record = project.load("draft.json")
        if record.get("hash") != draft_hash:
            record = {"hash": draft_hash, "document": to_plain(read_folder(project.draft_folder))}
            project.save("draft.json", record)
        return from_plain(record["document"])

    def marks(self, project: ProjectFolder) -> dict[str, Any]:
        """Which sentences of the draft need a citation, and what is wrong with what they cite; empty if unknown yet."""
        record = project.load("marks.json")
        return record["sentences"] if record.get("hash") == project.draft_hash() else {}

    def verdicts(self, project: ProjectFolder) -> list[CitationVerdict]:
        """What is known of each citation, without checking any."""
        verifications = self.journal(project).verifications()
        document = self.draft(project)
        papers = _PaperTexts(project, self._papers, verifications, document, self.library(), is_reading=False)
        full_texts = papers.full_texts()
        return list(self._verdicts(document, full_texts, papers))

    def cited_paper(self, project: ProjectFolder, record: VerdictRecord) -> WarmPaper:
        """The paper that a verdict rests on, ready for claims."""
        if record["paper_file"]:
            file = str(project.file(record["paper_file"]).path)
            path = file + record["paper_hash"][HASH_LENGTH:]
        else:
            file, path = library_file(self._current, record["paper_document"])
        return self._papers.open(record["paper_hash"], lambda: _read_again(project, file, path))

    def library(self) -> Library | None:
        """The library; None if there is none yet."""
        return self._current.library_if_any()

    def _run(self, project: ProjectFolder, run: ProjectRun) -> None:
        state, detail = "failed", ""
        try:
            self._load()
            self._verify(project, run)
            state = "done"
        except _Stopped:
            state, detail = "stopped", _STOPPED
        except (UserError, MissingExtra) as error:
            detail = str(error).replace(f"{project.draft_folder}/", "")
        except Exception as error:  # noqa: BLE001 - logged and reported to the client
            if self._work.is_closed:
                _LOG.debug("a run ended with the server", exc_info=error)
                state, detail = "stopped", _INTERRUPTED
            elif project.is_present:  # else it was deleted meanwhile
                _LOG.exception("cannot verify a project")
                detail = defect_detail(error)
        finally:
            try:
                with suppress(Problem):  # it was deleted meanwhile
                    project.save("run.json", {"state": state, "detail": detail})
            finally:  # also on a full disk, or it would be running forever
                with self._lock:
                    self._runs.pop(project.id, None)

    def _verify(self, project: ProjectFolder, run: ProjectRun) -> None:
        from whycite.verify.report.overview import reference_link

        run.report("Reading the draft")
        document, draft_hash = self.draft(project), project.draft_hash()
        if document.paper.title:
            project.update("project.json", title=document.paper.title)
        journal = self.journal(project)
        papers = _PaperTexts(project, self._papers, journal.verifications(), document, self.library())

        def record(full_texts: Sequence[FullText], are_all: bool) -> list[str]:
            """Verify citations and record the verdicts; with `are_all`, also on papers that are missing."""
            names, ids = CitationNames(), []
            progress = run.report if are_all else lambda *_: run.report("Checking the citations of the first paper")
            for checked in self._verdicts(document, full_texts, papers, progress):
                ids.append(names.name(checked.claim, checked.reference.id))
                if are_all or checked.paper:
                    source = papers.sources.get(checked.paper, PaperSource())
                    _, link = reference_link(checked.reference)
                    journal.append(verdict_record(checked, ids[-1], draft_hash, source, link, project.draft_folder))
            return ids

        # Verdicts on the first paper come while people wait for the others to be read.
        full_texts = papers.full_texts(run.report, lambda first_texts: record(first_texts, are_all=False))
        run.report("Checking citations")
        ids = record(full_texts, are_all=True)
        journal.keep_only(ids, draft_hash)
        if not self.marks(project):  # last, since people wait for verdicts
            project.save("marks.json", {"hash": draft_hash, "sentences": self._judge(document, run)})

    def _verdicts(
        self,
        document: Document,
        full_texts: Sequence[FullText],
        papers: _PaperTexts,
        progress: Callable[[str, int, int | None], None] = lambda stage, count, total: None,
    ) -> Iterator[CitationVerdict]:
        from whycite.verify.drafts import verify_citations

        return verify_citations(document, full_texts, papers.open, self.library(), progress=progress)

    def _judge(self, document: Document, run: ProjectRun) -> dict[str, Any]:
        """Which sentences need a citation; papers for them are looked for when somebody asks."""
        from whycite.check.pipeline import check_draft

        judgement: list[CheckedDraft] = []

        def take(judged: CheckedDraft, findings: Sequence[Finding]) -> None:
            judgement.append(judged)
            raise _Judged

        library = self.library()
        with suppress(_Judged):
            check_draft(document, library, use_library=library is not None, progress=run.report, on_findings=take)
        places = {(finding.file, finding.start, finding.end): finding for finding in judgement[0].findings}
        marks = {}
        for index, sentence in enumerate(document.sentences):
            finding = places.get((sentence.file, sentence.start, sentence.end))
            if finding is not None and (finding.kind == "needs-citation" or finding.problems):
                problems = [f"{problem.key}: {problem.message}" for problem in finding.problems]
                needs = finding.kind == "needs-citation"
                marks[str(index)] = {"needs": needs, "claim": finding.claim, "problems": problems}
        return marks


class _Judged(Exception):
    """All sentences are judged, which is all that is wanted of a check."""


class _PaperTexts:
    """The papers of a project, opened for claims; what was verified before is not verified again."""

    def __init__(
        self,
        project: ProjectFolder,
        warm: WarmPapers,
        verifications: dict[tuple[str, str], Verification],
        draft: Document,
        library: Library | None,
        is_reading: bool = True,
    ) -> None:
        # Somebody said that these files are what a reference means, whatever they look like.
        self._assigned = {
            file: draft.by_id[reference]
            for reference, file in project.load("assigned.json").items()
            if reference in draft.by_id
        }
        self.sources: dict[str, PaperSource] = {}  # by path of the document
        self._project, self._warm, self._verifications = project, warm, verifications
        self._library, self._is_reading = library, is_reading

    def full_texts(
        self,
        progress: Callable[[str, int, int | None], None] = lambda stage, count, total: None,
        on_start: Callable[[Sequence[FullText]], object] = lambda full_texts: None,
    ) -> list[FullText]:
        """The documents in the uploaded papers, each file of which is read once, and those of the library.

        `on_start` receives those of the first file that has not been read before, if others follow.
        """
        from whycite.verify.fulltexts import FullText, texts_in_library

        files = [file for file in self._project.files() if file.kind == "paper"]
        full_texts = []
        is_first = True
        for count, file in enumerate(files, 1):
            progress("Reading the papers", count - 1, len(files))
            is_new = not self._project.texts_of(file)
            for document in self._documents(file):
                problem = self._problem_of(document, file)
                paper = self._assigned.get(file.id, document.paper)
                full_texts.append(FullText(str(file.path), document.path, paper, problem))
            if is_first and is_new and count < len(files):
                is_first = False
                on_start(full_texts)
        return [*full_texts, *(texts_in_library(self._library) if self._library is not None else ())]

    @cached_property
    def _library_ids(self) -> dict[str, str]:
        if self._library is None:
            return {}
        return {original_path(self._library.path, entry.path): str(entry.id) for entry in self._library.documents()}

    def open(self, full_text: FullText) -> _RememberedPaper:
        """A paper that remembers what was verified."""
        if full_text.problem:
            raise UserError(full_text.problem)
        paper_hash = file_hash(Path(full_text.file)) + full_text.path.removeprefix(full_text.file)
        file = next((file.id for file in self._project.files() if str(file.path) == full_text.file), "")
        document = "" if file else self._library_ids.get(full_text.path, "")
        self.sources[full_text.path] = PaperSource(paper_hash, file, document)
        return _RememberedPaper(paper_hash, self._verifications, lambda claim: self._verify(full_text, claim))

    def _verify(self, full_text: FullText, claim: str) -> Verification:
        from whycite.verify.verification import unchecked

        if not self._is_reading:
            return unchecked(claim, _NOT_YET)
        paper_hash = self.sources[full_text.path].content_hash
        return self._warm.open(paper_hash, lambda: self._read(full_text)).verify(claim)

    def _read(self, full_text: FullText) -> Document:
        return _read_again(self._project, full_text.file, full_text.path)

    @staticmethod
    def _problem_of(document: Document, file: ProjectFile) -> str:
        """Why a document has no text; empty if it has."""
        problem = "" if document.sentences else next(iter(document.warnings), _NO_TEXT)
        return problem.replace(f"{file.path.parent}/", "")

    def _documents(self, file: ProjectFile) -> list[Document]:
        record = self._project.texts_of(file)
        if record:
            return [from_plain(plain) for plain in record["documents"]]
        if not self._is_reading:
            return []
        documents = _read_paper(file)
        title = documents[0].paper.title if len(documents) == 1 else ""
        problems = [self._problem_of(document, file) for document in documents]
        facts = FileFacts(title, next(iter(problems), _NO_TEXT) if all(problems) else "")
        self._project.keep_texts(file, [to_plain(document) for document in documents], facts)
        return documents


def _read_again(project: ProjectFolder, file: str, path: str) -> Document:
    """A paper whose text was read before, from the project or the library."""
    record = project.load(f"texts/{file_hash(Path(file))}.json")
    for plain in record.get("documents", ()):
        if plain["path"] == path:
            return from_plain(plain)
    return read_stored(file, path)


def _read_paper(file: ProjectFile) -> list[Document]:
    """The documents in a file; one without text says why it cannot be read."""
    from whycite.documents.model import Reference

    try:
        return list(read_all(file.path))
    except UserError as error:
        return [Document(str(file.path), "unknown", Reference(id=""), warnings=(str(error),))]


@dataclass(frozen=True, slots=True)
class _RememberedPaper:
    """A paper that verifies each claim once."""

    paper_hash: str
    verifications: dict[tuple[str, str], Verification]
    verify_anew: Callable[[str], Verification]

    def verify(self, claim: str) -> Verification:
        """The verdict on a claim."""
        key = self.paper_hash, " ".join(claim.split())
        if key not in self.verifications:
            self.verifications[key] = self.verify_anew(claim)
        return self.verifications[key]
