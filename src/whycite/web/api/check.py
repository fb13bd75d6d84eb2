"""Check a draft, and insert the citations that the user accepted."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import mode
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Form, UploadFile
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, TypeAdapter, ValidationError

from whycite.check.findings import (
    CheckedDraft,
    Finding,
    FindingJson,
    Proposal,
    checked_draft_json,
    finding_json,
)
from whycite.check.fix.edits import Refusal
from whycite.documents.jsondocument import section_json
from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.web.guard import Problem
from whycite.web.queues import EventStream
from whycite.web.reading import read_folder
from whycite.web.schemas import CheckAnswer, CheckedSentence
from whycite.web.serverstate import PROBLEMS, CurrentServer, Server, receive_uploads
from whycite.web.uploads import Upload, unpacked_folder

__all__ = ["router", "unwritable_reason"]


router = APIRouter(prefix="/check", tags=["check"], responses=PROBLEMS)
_PAPERS = 3  # per sentence
_MAX_REFUSALS = 20  # refused choices to report

Threshold = Annotated[float | None, Form(ge=0, le=1)]
Papers = Annotated[int, Form(ge=1, le=20)]
WordMarks = Annotated[Literal["changes", "comments"], Form()]


class CitationChoice(BaseModel):
    """A sentence, by file and offset, and the key to cite there."""

    file: str
    start: int
    key: str


_CHOICES = TypeAdapter(list[CitationChoice])


@dataclass(frozen=True, slots=True)
class _CheckOptions:
    """The worthiness threshold, and the number of papers per sentence."""

    threshold: float | None
    n: int


@router.post("", response_model=CheckAnswer)
async def check(
    here: CurrentServer,
    files: list[UploadFile],
    threshold: Threshold = None,
    n: Papers = _PAPERS,
    offset: Annotated[int, Form(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Form(ge=1, le=10_000)] = 2_000,
) -> Response:
    """Check a draft; several files, or an archive, are read as one project.

    `findings` are those of the command line, for at most `limit` sentences starting at `offset`; each of `sentences`
    has the index of its finding in that list.
    """
    uploads = receive_uploads(files, here.settings.files)
    options = _CheckOptions(threshold, n)
    return await here.work(lambda: _check(here, uploads, options, slice(offset, offset + limit)))


@router.post("/stream", response_class=StreamingResponse)
async def stream(
    here: CurrentServer, files: list[UploadFile], threshold: Threshold = None, n: Papers = _PAPERS
) -> StreamingResponse:
    """Check a draft and send findings as they come, as server-sent events; closing the connection stops the check.

    `progress` has a stage, a count and the total if known. `draft` is the answer of a check of the whole draft, without
    papers; each of `findings` replaces the findings from index `start` on, in the order of the text. The last event is
    `done`, with all warnings, or `failed`.
    """
    uploads = receive_uploads(files, here.settings.files)
    stack = ExitStack()
    folder = await here.work(lambda: stack.enter_context(unpacked_folder(uploads)))
    events = EventStream(asyncio.get_running_loop())
    try:
        events.follow(here.start(lambda: _stream_check(here, folder, stack, _CheckOptions(threshold, n), events)))
    except Problem:
        stack.close()
        raise
    return StreamingResponse(events.lines(), media_type="text/event-stream")


@router.post("/fix", response_class=Response)
async def fix(
    here: CurrentServer,
    files: list[UploadFile],
    choices: Annotated[str, Form(max_length=1_000_000)] = "[]",
    marks: WordMarks = "changes",
    threshold: Threshold = None,
    n: Papers = _PAPERS,
) -> Response:
    """Insert citations and return the changed files as a .zip; `choices` is a JSON list of {"file", "start", "key"}.

    A Word document gets them as tracked changes, or with `marks=comments`, which needs no choices, a comment on every
    sentence that needs a citation. `threshold` and `n` must be those of the check that proposed the keys. The header
    `x-refused` lists the choices that could not be inserted as percent-encoded JSON; if none could, the response is an
    error (422).
    """
    uploads = receive_uploads(files, here.settings.files)
    try:
        parsed_choices = _CHOICES.validate_json(choices)
    except ValidationError as error:
        raise Problem(422, 'choices must be a list of {"file": …, "start": …, "key": …}') from error
    options = _CheckOptions(threshold, n)
    if marks == "comments":
        packed, refused = await here.work(lambda: _comment(here, uploads, options)), list[str]()
    elif parsed_choices:
        packed, refused = await here.work(lambda: _fix(here, uploads, parsed_choices, options))
    else:
        raise Problem(422, "choices is empty; name at least one citation to add.")
    headers = {
        "content-disposition": f'attachment; filename="with-{"comments" if marks == "comments" else "citations"}.zip"',
        "x-refused": quote(json.dumps(refused[:_MAX_REFUSALS])),
    }
    return Response(packed, media_type="application/zip", headers=headers)


def _run_check(
    here: Server,
    folder: Path,
    options: _CheckOptions,
    progress: Callable[[str, int, int | None], None] = lambda stage, count, total: None,
    on_findings: Callable[[CheckedDraft, Sequence[Finding]], None] = lambda judged, findings: None,
) -> CheckedDraft:
    from whycite.check.pipeline import check_draft

    document = read_folder(folder)
    library = here.current.library_if_any()  # without one, the draft's own bibliography is enough
    return check_draft(
        document,
        library,
        threshold=options.threshold,
        n=options.n,
        use_library=library is not None,
        progress=progress,
        on_findings=on_findings,
    )


def _stream_check(here: Server, folder: Path, stack: ExitStack, options: _CheckOptions, events: EventStream) -> None:
    """Check the draft in a folder, and send what is known as soon as it is known; `stack` deletes the folder."""
    start = 0

    def send(kind: str, content: Mapping[str, Any]) -> None:
        text = json.dumps(content, allow_nan=False)
        events.send(kind, _shorten_paths(text, json.dumps(str(folder))[1:-1]))

    def send_progress(stage: str, completed: int, total: int | None) -> None:
        send("progress", {"stage": stage, "completed": completed, "total": total})

    def send_findings(judged: CheckedDraft, findings: Sequence[Finding]) -> None:
        nonlocal start
        if findings:
            send("findings", {"start": start, "findings": [finding_json(finding) for finding in findings]})
            start += len(findings)
        else:
            send("draft", _answer(judged, slice(None), unwritable_reason(judged.document, folder), options.threshold))

    with stack:
        send_progress("reading", 0, None)
        checked = _run_check(here, folder, options, send_progress, send_findings)
        send("done", {"warnings": list(checked.warnings)})


def _check(here: Server, uploads: Sequence[Upload], options: _CheckOptions, shown: slice) -> Response:
    with unpacked_folder(uploads) as folder:
        checked = _run_check(here, folder, options)
        answer = _answer(checked, shown, unwritable_reason(checked.document, folder), options.threshold)
        text = json.dumps(answer, allow_nan=False)
    return Response(_shorten_paths(text, json.dumps(str(folder))[1:-1]).encode(), media_type="application/json")


def _answer(checked: CheckedDraft, shown: slice, unwritable: str, threshold: float | None) -> CheckAnswer:
    document, draft = checked.document, checked_draft_json(checked)
    places = {(finding.file, finding.start, finding.end): number for number, finding in enumerate(checked.findings)}
    sentences: list[CheckedSentence] = []
    findings: list[FindingJson] = []
    for index, sentence in list(enumerate(document.sentences))[shown]:
        finding_index = places.get((sentence.file, sentence.start, sentence.end))
        sentences.append(
            {
                "index": index,
                "text": sentence.text,
                "section": sentence.section,
                "paragraph": sentence.paragraph,
                "kind": sentence.kind,
                "start": sentence.start,
                "finding": len(findings) if finding_index is not None else None,
            }
        )
        if finding_index is not None:
            findings.append(draft["findings"][finding_index])
    return {
        **draft,
        "findings": findings,
        "total": len(document.sentences),
        "threshold": _usual_threshold(checked, threshold),
        "unwritable": unwritable,
        "sections": [section_json(section) for section in document.sections],
        "sentences": sentences,
    }


def _usual_threshold(checked: CheckedDraft, chosen: float | None) -> float:
    """The most common threshold, since sections have their own; of a draft without sentences, what one would have."""
    from whycite.check.worthiness import MIN_REPORTED

    if not checked.findings:
        return MIN_REPORTED if chosen is None else chosen
    return mode(finding.threshold for finding in checked.findings)


def _shorten_paths(text: str, folder: Path | str) -> str:
    """The text with file names as they were uploaded."""
    return text.replace(f"{folder}/", "").replace(str(folder), "the draft")


def _fix(
    here: Server, uploads: Sequence[Upload], choices: Sequence[CitationChoice], options: _CheckOptions
) -> tuple[bytes, list[str]]:
    with unpacked_folder(uploads) as folder:
        checked = _run_check(here, folder, options)
        places = {
            (_shorten_paths(finding.file, folder), finding.start): number
            for number, finding in enumerate(checked.findings)
        }
        chosen = {}
        for choice in choices:
            finding_index = places.get((choice.file, choice.start))
            offered = checked.findings[finding_index].recommendations if finding_index is not None else ()
            proposal = next((candidate for candidate in offered if candidate.key == choice.key), None)
            if finding_index is None or proposal is None:
                raise Problem(
                    422, f"{choice.file}: '{choice.key}' was not recommended for this sentence; check the draft again."
                )
            chosen[finding_index] = proposal
        contents, refusals = _changed_files(checked, chosen, folder)
        refused = [_shorten_paths(f"{refusal.proposal.key}: {refusal.reason}", folder) for refusal in refusals]
        if not contents:
            reasons = dict.fromkeys(_shorten_paths(refusal.reason, folder) for refusal in refusals)
            raise Problem(422, f"Nothing was changed: {'; '.join(list(reasons)[:_MAX_REFUSALS])}.")
        return _packed(contents, folder), refused


def _comment(here: Server, uploads: Sequence[Upload], options: _CheckOptions) -> bytes:
    from whycite.check.fix.worddrafts import comment_findings
    from whycite.documents.word.odfediting import is_written

    with unpacked_folder(uploads) as folder:
        checked = _run_check(here, folder, options)
        draft = Path(checked.document.path)
        if not is_written(draft.name):
            raise Problem(422, "Only Word and LibreOffice documents (.docx, .odt) can have comments.")
        commented = comment_findings(checked, draft.read_bytes(), datetime.now(UTC))
        if not commented.comments:
            raise Problem(422, "Nothing was changed: no sentence needs a comment.")
        return _packed({str(draft): commented.content}, folder)


def _packed(contents: Mapping[str, bytes], folder: Path) -> bytes:
    """The changed files of a draft, by path, as a .zip with their names as they were uploaded."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(_shorten_paths(name, folder), content)
    return packed.getvalue()


def _changed_files(
    checked: CheckedDraft, chosen: Mapping[int, Proposal], folder: Path
) -> tuple[dict[str, bytes], Sequence[Refusal]]:
    """The changed files of a draft by path, and what was refused; .docx and .odt have tracked changes."""
    from whycite.check.fix import plan
    from whycite.check.fix.worddrafts import insert_citations
    from whycite.documents.word.odfediting import is_written

    if is_written(checked.document.path):
        data = Path(checked.document.path).read_bytes()
        fixed = insert_citations(checked, data, datetime.now(UTC), chosen)
        return {checked.document.path: fixed.content} if fixed.fixed else {}, fixed.refused
    fix_plan = plan(checked, chosen, folder)
    return {change.label: change.new_content for change in fix_plan.changes}, fix_plan.refused


_WRITABLE_FORMATS = ("latex", "markdown", "typst")


def unwritable_reason(document: Document, folder: Path) -> str:
    """Why no citation can be inserted into the draft in a folder; empty if some can."""
    from whycite.check.fix.citations import citation_style
    from whycite.check.fix.edits import DraftProject
    from whycite.check.fix.entries import find_bibliography
    from whycite.documents.word.odfediting import is_written

    if is_written(document.path):
        return ""
    if document.format not in _WRITABLE_FORMATS:
        style = citation_style(document, {})
        return style if isinstance(style, str) else ""
    if document.references:  # at least these can be cited
        return ""
    try:
        project = DraftProject(document, folder)
        project.read()
    except UserError as error:
        return str(error)
    place = find_bibliography(project, document)
    return f"{place}; or send the bibliography together with the draft" if isinstance(place, str) else ""
