"""What the API says of projects."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from whycite.check.findings import ProposalJson
from whycite.documents.jsondocument import SectionJson
from whycite.verify.heatmap import HeatMapJson
from whycite.web.projects.desk import RunState
from whycite.web.projects.store import FileKind
from whycite.web.projects.verdicts import VerdictRecord

__all__ = [
    "CitedPaper",
    "Dismissal",
    "DraftSentence",
    "ProjectAnswer",
    "ProjectDraft",
    "ProjectFileEntry",
    "ProjectProgress",
    "ProjectSummaries",
    "ProjectSummary",
    "RemovedProject",
    "SentencePapers",
]


class ProjectSummary(TypedDict):
    """A project in the list of all."""

    id: str
    name: str
    created: str
    state: RunState
    papers: int


class ProjectSummaries(TypedDict):
    """The projects, newest first."""

    projects: list[ProjectSummary]


class ProjectFileEntry(TypedDict):
    """A file of a project."""

    id: str
    kind: FileKind
    name: str
    size: int


class ProjectAnswer(ProjectSummary):
    """A project with its files."""

    files: list[ProjectFileEntry]


class RemovedProject(TypedDict):
    """The id of a project that was deleted."""

    deleted: str


class DraftSentence(TypedDict):
    """A sentence of the draft, and what is known of it before its citations are verified."""

    index: int
    text: str
    section: int
    paragraph: int
    kind: str
    cites: bool
    needs: bool  # a citation
    claim: str  # the part that needs a citation
    problems: list[str]  # with what it cites: that a paper was retracted, say


class ProjectDraft(TypedDict):
    """The draft of a project as it was read; `judged` says whether its sentences were."""

    title: str
    judged: bool
    warnings: list[str]
    sections: list[SectionJson]
    sentences: list[DraftSentence]


class SentencePapers(TypedDict):
    """The papers that a sentence could cite, best first, with the evidence for each."""

    claim: str
    papers: list[ProposalJson]


class CitedPaper(HeatMapJson):
    """The paper that a verdict rests on, every sentence with its score, and where its file can be had."""

    citation: str
    title: str
    format: str  # "pdf" can be shown as it looks
    original: str  # the address of the file; empty if it cannot be had
    threshold: float


class Dismissal(TypedDict):
    """Why somebody set a verdict aside."""

    reason: str


class ProjectProgress(TypedDict):
    """How far a project is, and the verdicts that came since `seen`."""

    state: RunState
    detail: str  # why it stopped or failed
    stage: str
    completed: int
    total: int | None
    token: str  # to send next time, together with `seen`
    seen: int
    draft: Literal["unread", "read", "judged"]
    draft_hash: str  # changes with the draft
    verdicts: list[VerdictRecord]
    dismissals: dict[str, Dismissal]  # by id of the verdict
