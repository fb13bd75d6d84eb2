"""Projects: a draft with its papers, kept by the server, and the verdicts on its citations."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from importlib.resources import files
from io import BytesIO
from pathlib import PurePath
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Form, Path, Query, UploadFile
from fastapi.responses import FileResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, StringConstraints

from whycite.check.findings import proposal_json
from whycite.documents.jsondocument import section_json
from whycite.web.guard import Problem
from whycite.web.projects.store import FileFacts, FileKind, ProjectFile, ProjectFolder
from whycite.web.projects.verdicts import CitationNames, VerdictRecord, sentence_ids
from whycite.web.queues import KEEPALIVE_SECONDS
from whycite.web.schemas import (
    Acceptance,
    CitedPaper,
    Dismissal,
    DraftSentence,
    ProjectAnswer,
    ProjectDraft,
    ProjectFileEntry,
    ProjectProgress,
    ProjectSummaries,
    ProjectSummary,
    RemovedProject,
    SentenceComment,
    SentencePapers,
)
from whycite.web.serverstate import PROBLEMS, CurrentServer, Server, json_response, receive_uploads
from whycite.web.uploads import Upload
from whycite.web.warm import HASH_LENGTH

__all__ = ["router"]

router = APIRouter(prefix="/projects", tags=["projects"], responses=PROBLEMS)
_PAPERS = 3  # per sentence
_PASSAGES = 10  # of a cited paper
_EVENT_SECONDS = 0.5  # between two looks at the progress of a project
_EXAMPLE_DRAFT = "manuscript.md"

ProjectId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="the id of a project")]
ItemId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$")]


class CommentText(BaseModel):
    """A comment on a sentence."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"text": "Which studies?"}]})

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=5_000)]


class DismissalReason(BaseModel):
    """Why a verdict is set aside."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"reason": "They mean another island."}]})

    reason: Annotated[str, StringConstraints(max_length=2_000)] = ""


@router.get("", response_model=ProjectSummaries)
async def projects(here: CurrentServer) -> Response:
    """The projects that the server keeps, newest first."""
    return await here.ask(
        lambda: json_response({"projects": [_summary(here, folder) for folder in here.desk.store.projects()]})
    )


@router.post("", status_code=201, response_model=ProjectAnswer)
async def create(
    here: CurrentServer,
    draft: list[UploadFile],
    papers: list[UploadFile] | None = None,
    name: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Create a project from a draft and the papers it cites, and start to verify its citations.

    The draft is one file, an archive, or the files of a LaTeX project with its bibliography.
    """
    return await here.work(lambda: _create(here, draft, papers or [], name))


@router.post("/example", status_code=201, response_model=ProjectAnswer)
async def create_example(here: CurrentServer) -> Response:
    """Create a project from a short manuscript and papers that come with whycite, or return the one there is."""
    return await here.work(lambda: _create_example(here))


@router.get("/{id}", response_model=ProjectAnswer)
async def project(here: CurrentServer, id: ProjectId) -> Response:
    """A project and its files."""
    return await here.ask(lambda: _answer(here, here.desk.store.open(id)))


@router.delete("/{id}", response_model=RemovedProject)
async def delete(here: CurrentServer, id: ProjectId) -> Response:
    """Delete a project with all its files and verdicts."""

    def remove() -> Response:
        here.desk.delete(here.desk.store.open(id))
        return json_response({"deleted": id})

    return await here.work(remove)


@router.post("/{id}/files", status_code=201, response_model=ProjectAnswer)
async def add_files(
    here: CurrentServer,
    id: ProjectId,
    files: list[UploadFile],
    kind: Annotated[FileKind, Form()] = "paper",
    reference: Annotated[str, Form(max_length=500)] = "",
) -> Response:
    """Add papers to a project, or files to its draft; a file replaces one with the same name.

    `reference` is the draft's key of the paper that a file is, if its own title and DOI do not tell.
    """
    uploads = receive_uploads(files, here.settings.files)

    def add() -> Response:
        folder = here.desk.store.open(id)
        folder.add(uploads, kind)
        if reference:
            added = next(file for file in folder.files() if file.kind == kind and file.name == uploads[0].name)
            folder.update("assigned.json", **{reference: added.id})
        return _answer(here, folder, 201)

    return await here.work(add)


@router.get("/{id}/files/{file}", response_class=FileResponse)
async def download_file(here: CurrentServer, id: ProjectId, file: ItemId) -> Response:
    """A file as it was uploaded."""
    stored = await here.ask(lambda: here.desk.store.open(id).file(file))
    return FileResponse(stored.path, media_type="application/octet-stream", filename=PurePath(stored.name).name)


@router.delete("/{id}/files/{file}", response_model=ProjectAnswer)
async def remove_file(here: CurrentServer, id: ProjectId, file: ItemId) -> Response:
    """Delete a file of a project and what was read from it."""

    def remove() -> Response:
        folder = here.desk.store.open(id)
        folder.remove(file)
        return _answer(here, folder)

    return await here.work(remove)


@router.post("/{id}/run", status_code=202, response_model=ProjectAnswer)
async def start(here: CurrentServer, id: ProjectId) -> Response:
    """Verify every citation in the background; what was verified before is kept. Follow it at `/progress`."""

    def begin() -> Response:
        folder = here.desk.store.open(id)
        here.desk.start(folder)
        return _answer(here, folder, 202)

    return await here.ask(begin)


@router.delete("/{id}/run", status_code=202, response_model=ProjectAnswer)
async def stop(here: CurrentServer, id: ProjectId) -> Response:
    """Stop after the citation that is being checked."""

    def end() -> Response:
        folder = here.desk.store.open(id)
        here.desk.stop(folder)
        return _answer(here, folder, 202)

    return await here.ask(end)


@router.get("/{id}/progress", response_model=ProjectProgress)
async def progress(
    here: CurrentServer,
    id: ProjectId,
    token: Annotated[str, Query(max_length=16)] = "",
    seen: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> Response:
    """How far the verification is, and the verdicts that came since the last time.

    Send `token` and `seen` as they came in the last answer; without them, all verdicts are sent. A later verdict with
    the same id replaces an earlier one.
    """
    return await here.ask(lambda: json_response(_progress(here, here.desk.store.open(id), token, seen)))


@router.get("/{id}/events", response_class=StreamingResponse)
async def events(here: CurrentServer, id: ProjectId) -> StreamingResponse:
    """The same as server-sent events: `progress` whenever something changed, `done` at the end of the run."""
    latest = await here.ask(lambda: _progress(here, here.desk.store.open(id), "", 0))

    async def lines() -> AsyncIterator[str]:
        progress = latest
        while True:
            kind = "progress" if progress["state"] == "running" else "done"
            yield f"event: {kind}\ndata: {json.dumps(progress, allow_nan=False)}\n\n"
            if kind == "done":
                return
            shown, waited = progress, 0.0
            while _same_progress(shown, progress):
                if waited >= KEEPALIVE_SECONDS:
                    yield ": still here\n\n"
                    waited = 0.0
                await asyncio.sleep(_EVENT_SECONDS)
                waited += _EVENT_SECONDS
                folder = await here.ask(lambda: here.desk.store.open(id))
                progress = await here.ask(partial(_progress, here, folder, shown["token"], shown["seen"]))

    return StreamingResponse(lines(), media_type="text/event-stream")


@router.get("/{id}/draft", response_model=ProjectDraft)
async def draft(here: CurrentServer, id: ProjectId) -> Response:
    """The sections and sentences of the draft, and which sentences need a citation."""
    return await here.work(lambda: _draft(here, here.desk.store.open(id)))


@router.get("/{id}/sentences/{number}/papers", response_model=SentencePapers)
async def papers(here: CurrentServer, id: ProjectId, number: Annotated[int, Path(ge=0, le=10_000_000)]) -> Response:
    """The papers that a sentence of the draft could cite, from its bibliography and the library."""
    return await here.work(lambda: _papers(here, here.desk.store.open(id), number))


@router.get("/{id}/citations/{verdict}", response_model=VerdictRecord)
async def citation(here: CurrentServer, id: ProjectId, verdict: ItemId) -> Response:
    """The verdict on one citation."""
    return await here.ask(lambda: json_response(_record(here, here.desk.store.open(id), verdict)))


@router.get("/{id}/citations/{verdict}/paper", response_model=CitedPaper)
async def cited_paper(here: CurrentServer, id: ProjectId, verdict: ItemId) -> Response:
    """The paper that a citation cites: every sentence with its score, and the address of its file."""
    return await here.work(lambda: _cited_paper(here, here.desk.store.open(id), verdict))


@router.put("/{id}/dismissals/{verdict}", response_model=Dismissal)
async def dismiss(here: CurrentServer, id: ProjectId, verdict: ItemId, dismissal: DismissalReason) -> Response:
    """Set a verdict aside, with a reason; reports leave it out. Also a sentence that needs a citation, by its id."""
    record: Dismissal = {"reason": " ".join(dismissal.reason.split())}

    def keep() -> Response:
        folder = here.desk.store.open(id)
        folder.update("dismissals.json", **{verdict: record})
        folder.update("acceptances.json", **{verdict: None})
        return json_response(record)

    return await here.ask(keep)


@router.delete("/{id}/dismissals/{verdict}", response_model=ProjectAnswer)
async def undo(here: CurrentServer, id: ProjectId, verdict: ItemId) -> Response:
    """Take a dismissal back."""

    def restore() -> Response:
        folder = here.desk.store.open(id)
        folder.update("dismissals.json", **{verdict: None})
        return _answer(here, folder)

    return await here.ask(restore)


@router.put("/{id}/acceptances/{verdict}", response_model=Acceptance)
async def accept(here: CurrentServer, id: ProjectId, verdict: ItemId) -> Response:
    """Agree with a verdict, or that a sentence needs a citation, by its id; reports keep what was agreed with."""
    record: Acceptance = {"accepted": verdict}

    def keep() -> Response:
        folder = here.desk.store.open(id)
        folder.update("acceptances.json", **{verdict: True})
        folder.update("dismissals.json", **{verdict: None})
        return json_response(record)

    return await here.ask(keep)


@router.delete("/{id}/acceptances/{verdict}", response_model=ProjectAnswer)
async def reopen(here: CurrentServer, id: ProjectId, verdict: ItemId) -> Response:
    """Take an acceptance back."""

    def restore() -> Response:
        folder = here.desk.store.open(id)
        folder.update("acceptances.json", **{verdict: None})
        return _answer(here, folder)

    return await here.ask(restore)


@router.put("/{id}/comments/{sentence}", response_model=SentenceComment)
async def comment(here: CurrentServer, id: ProjectId, sentence: ItemId, comment: CommentText) -> Response:
    """Write a comment on a sentence of the draft, by the id of the sentence; it replaces an earlier one."""
    record: SentenceComment = {"text": comment.text}

    def keep() -> Response:
        folder = here.desk.store.open(id)
        if sentence not in sentence_ids(here.desk.draft(folder)):
            raise Problem(404, "The draft has no such sentence.")
        folder.update("comments.json", **{sentence: record})
        return json_response(record)

    return await here.work(keep)


@router.delete("/{id}/comments/{sentence}", response_model=ProjectAnswer)
async def remove_comment(here: CurrentServer, id: ProjectId, sentence: ItemId) -> Response:
    """Delete a comment."""

    def remove() -> Response:
        folder = here.desk.store.open(id)
        folder.update("comments.json", **{sentence: None})
        return _answer(here, folder)

    return await here.ask(remove)


@router.get("/{id}/report", response_class=Response)
async def report(here: CurrentServer, id: ProjectId, format: Literal["html", "markdown"] = "html") -> Response:
    """The verdicts as one self-contained HTML page or as Markdown, without those that were dismissed, with comments."""
    return await here.work(lambda: _report(here, here.desk.store.open(id), format))


def _create(here: Server, draft: list[UploadFile], papers: list[UploadFile], name: str) -> Response:
    drafts = receive_uploads(draft, here.settings.files)
    paper_uploads = receive_uploads(papers, here.settings.files) if papers else []
    main = next((upload.name for upload in drafts if not upload.name.lower().endswith(".bib")), drafts[0].name)
    folder = here.desk.store.create(name or PurePath(main).name)
    try:
        folder.add(drafts, "draft")
        folder.add(paper_uploads, "paper")
        here.desk.start(folder)
    except BaseException:
        here.desk.store.delete(folder.id)
        raise
    if name.strip():
        folder.update("project.json", named=True)
    return _answer(here, folder, 201)


def _create_example(here: Server) -> Response:
    present = next(
        (folder for folder in here.desk.store.projects() if folder.load("project.json").get("example")), None
    )
    if present is not None:
        return _answer(here, present, 201)
    texts = sorted(files("whycite.demo").joinpath("review").iterdir(), key=lambda text: text.name)
    uploads = [Upload(text.name, BytesIO(text.read_bytes())) for text in texts]
    folder = here.desk.store.create("Example")
    folder.update("project.json", example=True)
    folder.add([upload for upload in uploads if upload.name == _EXAMPLE_DRAFT], "draft")
    folder.add([upload for upload in uploads if upload.name != _EXAMPLE_DRAFT], "paper")
    here.desk.start(folder)
    return _answer(here, folder, 201)


def _answer(here: Server, folder: ProjectFolder, status: int = 200) -> Response:
    entries = [_file_entry(file, folder.facts_of(file)) for file in folder.files()]
    response = json_response({**_summary(here, folder), "files": entries})
    response.status_code = status
    return response


def _file_entry(file: ProjectFile, facts: FileFacts) -> ProjectFileEntry:
    problem = facts.problem.removeprefix(f"{PurePath(file.name).name}: ")
    return {
        "id": file.id,
        "kind": file.kind,
        "name": file.name,
        "size": file.size,
        "title": facts.title,
        "problem": problem,
    }


def _summary(here: Server, folder: ProjectFolder) -> ProjectSummary:
    record = folder.load("project.json")
    name = record.get("name", "") if record.get("named") else record.get("title") or record.get("name", "")
    state, _, _ = here.desk.state(folder)
    papers = sum(file.kind == "paper" for file in folder.files())
    return {"id": folder.id, "name": name, "created": record.get("created", ""), "state": state, "papers": papers}


def _same_progress(progress: ProjectProgress, later: ProjectProgress) -> bool:
    fields: tuple[Literal["state", "stage", "completed", "token", "seen", "draft"], ...]
    fields = ("state", "stage", "completed", "token", "seen", "draft")
    return all(progress[field] == later[field] for field in fields)


def _progress(here: Server, folder: ProjectFolder, token: str, seen: int) -> ProjectProgress:
    state, detail, run = here.desk.state(folder)
    token, count, records = here.desk.journal(folder).since(token, seen)
    draft_hash = folder.draft_hash()
    is_read = folder.load("draft.json").get("hash") == draft_hash
    is_judged = folder.load("marks.json").get("hash") == draft_hash
    return {
        "state": state,
        "detail": detail,
        "stage": run.stage if run else "",
        "completed": run.completed if run else 0,
        "total": run.total if run else None,
        "token": token,
        "seen": count,
        "draft": "judged" if is_judged else "read" if is_read else "unread",
        "draft_hash": draft_hash,
        "verdicts": [record for record in records if record["draft"] == draft_hash],
        "dismissals": folder.load("dismissals.json"),
        "acceptances": list(folder.load("acceptances.json")),
        "comments": folder.load("comments.json"),
    }


def _draft(here: Server, folder: ProjectFolder) -> Response:
    document = here.desk.draft(folder)
    marks = here.desk.marks(folder)
    sentences: list[DraftSentence] = []
    for index, (sentence, sentence_id) in enumerate(zip(document.sentences, sentence_ids(document), strict=True)):
        mark = marks.get(str(index), {})
        sentences.append(
            {
                "id": sentence_id,
                "index": index,
                "text": sentence.text,
                "section": sentence.section,
                "paragraph": sentence.paragraph,
                "kind": sentence.kind,
                "cites": sentence.cites,
                "needs": mark.get("needs", False),
                "claim": mark.get("claim", ""),
                "problems": mark.get("problems", []),
            }
        )
    answer: ProjectDraft = {
        "title": document.paper.title,
        "judged": folder.load("marks.json").get("hash") == folder.draft_hash(),
        "warnings": [warning.replace(f"{folder.draft_folder}/", "") for warning in document.warnings],
        "sections": [section_json(section) for section in document.sections],
        "sentences": sentences,
    }
    return json_response(answer)


def _papers(here: Server, folder: ProjectFolder, number: int) -> Response:
    from whycite.service.engine import Engine

    document = here.desk.draft(folder)
    if number >= len(document.sentences):
        raise Problem(404, "The draft has no such sentence.")
    sentence = document.sentences[number]
    claim = here.desk.marks(folder).get(str(number), {}).get("claim") or sentence.without_citations()
    proposals = Engine(here.current).propose(document, claim, sentence, _PAPERS)
    papers = [proposal_json(proposal) for proposal in proposals]
    keys = {paper["paper"]["key"] for paper in papers}
    keys |= {evidence["source"]["key"] for paper in papers for evidence in paper["evidence"]}
    library = here.desk.library()
    ids = {library.paper_id(key): key for key in sorted(keys) if key} if library is not None else {}
    present = library.papers(list(ids)) if library is not None else {}
    answer: SentencePapers = {"claim": claim, "papers": papers, "in_library": [ids[id] for id in ids if id in present]}
    return json_response(answer)


def _record(here: Server, folder: ProjectFolder, id: str) -> VerdictRecord:
    record = here.desk.journal(folder).find(folder.draft_hash(), id)
    if record is None:
        raise Problem(404, "The draft has no such citation, or it was not checked yet.")
    return record


def _cited_paper(here: Server, folder: ProjectFolder, id: str) -> Response:
    from whycite.verify.heatmap import heat_map_json, usual_threshold

    record = _record(here, folder, id)
    if not record["paper_file"] and not record["paper_document"]:
        raise Problem(404, "The text of this paper is not at hand; add it to the project.")
    paper = here.desk.cited_paper(folder, record)
    verification = paper.verify(record["claim"])
    heat_map = heat_map_json(paper.document, verification, _PASSAGES)
    heat_map["document"]["path"] = record["paper"]
    answer: CitedPaper = {
        **heat_map,
        "citation": id,
        "title": paper.document.paper.title or record["paper"],
        "format": paper.document.format,
        "original": _original(folder, record),
        "threshold": usual_threshold(verification),
    }
    return json_response(answer)


def _original(folder: ProjectFolder, record: VerdictRecord) -> str:
    if len(record["paper_hash"]) > HASH_LENGTH:  # one of several papers in a file
        return ""
    if record["paper_file"]:
        return f"/api/projects/{folder.id}/files/{record['paper_file']}"
    return f"/api/library/documents/{record['paper_document']}/file"


def _report(here: Server, folder: ProjectFolder, format: Literal["html", "markdown"]) -> Response:
    from whycite.verify.report import DraftComment, draft_report, html, markdown

    document, comments = here.desk.draft(folder), folder.load("comments.json")
    names, dismissals = CitationNames(), folder.load("dismissals.json")
    verdicts = [
        checked
        for checked in here.desk.verdicts(folder)
        if names.name(checked.claim, checked.reference.id) not in dismissals
    ]
    headings = [section.heading for section in document.sections] or [""]
    remarks = [
        DraftComment(comments[sentence_id]["text"], sentence.text, headings[sentence.section])
        for sentence_id, sentence in zip(sentence_ids(document), document.sentences, strict=True)
        if sentence_id in comments
    ]
    overview = draft_report(document, verdicts, remarks)
    text, kind, suffix = (
        (html(overview), "text/html", "html") if format == "html" else (markdown(overview), "text/markdown", "md")
    )
    name = f"{PurePath(_summary(here, folder)['name']).stem or 'report'} - citations.{suffix}"
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    return Response(text.encode("utf-8", "replace"), media_type=kind, headers=headers)
