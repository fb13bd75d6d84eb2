"""Where a draft lacks a citation, and the draft with those that were accepted."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, UploadFile
from fastapi.responses import Response
from pydantic import BaseModel, TypeAdapter, ValidationError

from whycite.check import Checked, Finding, as_dict
from whycite.check import check as check_draft
from whycite.check.fixing import plan
from whycite.check.jsonform import finding_dict
from whycite.errors import UserError
from whycite.serving.problems import Problem
from whycite.web.api.files import received
from whycite.web.api.shared import PROBLEMS, Here, Server
from whycite.web.uploads import Upload, read_folder, unpacked

__all__ = ["router"]

router = APIRouter(prefix="/check", tags=["check"], responses=PROBLEMS)
_PAPERS = 5  # for a sentence


class Choice(BaseModel):
    """A sentence, by file and place, and the key it is to cite."""

    file: str
    start: int
    key: str


_CHOICES = TypeAdapter(list[Choice])


@router.post("")
async def check(
    here: Here, files: list[UploadFile], threshold: Annotated[float | None, Form(ge=0, le=1)] = None
) -> dict[str, Any]:
    """A finding for every sentence of a draft; several files, or an archive of them, are one project."""
    sent = await received(files, here.settings.files)
    return await here.work.do(_check, here, sent, threshold)


@router.post("/fix", response_class=Response)
async def fix(here: Here, files: list[UploadFile], choices: Annotated[str, Form(max_length=1_000_000)]) -> Response:
    """The changed files of a draft as a .zip; `choices` is a JSON list of {"file", "start", "key"}."""
    sent = await received(files, here.settings.files)
    try:
        wanted = _CHOICES.validate_json(choices)
    except ValidationError as error:
        raise Problem(422, 'choices must be a list of {"file": …, "start": …, "key": …}') from error
    packed, refused = await here.work.do(_fix, here, sent, wanted)
    headers = {
        "content-disposition": 'attachment; filename="with-citations.zip"',
        "x-refused": quote(json.dumps(refused)),
    }
    return Response(packed, media_type="application/zip", headers=headers)


def _checked(here: Server, folder: Path, threshold: float | None = None) -> Checked:
    document = read_folder(folder)
    try:
        library = here.current.library()
    except UserError:  # none yet: the draft's own bibliography is enough
        return check_draft(document, threshold=threshold, n=_PAPERS, use_library=False)
    return check_draft(document, library, threshold=threshold, n=_PAPERS)


def _check(here: Server, sent: Sequence[Upload], threshold: float | None) -> Any:
    with unpacked(sent) as folder:
        told = json.dumps(_told(_checked(here, folder, threshold)), ensure_ascii=False)
        return json.loads(_short(told, folder))


def _told(checked: Checked) -> dict[str, Any]:
    document = checked.document
    found = {(finding.file, finding.start, finding.end): _finding(finding) for finding in checked.findings}
    sentences = []
    for index, sentence in enumerate(document.sentences):
        finding = found.get((sentence.file, sentence.start, sentence.end))
        sentences.append(
            {
                "index": index,
                "text": sentence.text,
                "section": sentence.section,
                "paragraph": sentence.paragraph,
                "kind": sentence.kind,
                "score": finding["worthiness"] if finding and finding["kind"] != "cited" else None,
                "finding": finding,
            }
        )
    sections = [{"heading": each.heading, "type": each.type, "level": each.level} for each in document.sections]
    return {**as_dict(checked), "threshold": _usual(checked), "sections": sections, "sentences": sentences}


def _usual(checked: Checked) -> float:
    """The threshold of most sentences: sections have their own."""
    thresholds = sorted(finding.threshold for finding in checked.findings)
    return thresholds[len(thresholds) // 2] if thresholds else 0.5


def _finding(finding: Finding) -> dict[str, Any]:
    return {**finding_dict(finding), "start": finding.start, "end": finding.end}


def _short(text: str, folder: Path) -> str:
    """A text that names files as they were sent."""
    return text.replace(f"{folder}/", "").replace(str(folder), "the draft")


def _fix(here: Server, sent: Sequence[Upload], wanted: Sequence[Choice]) -> tuple[bytes, list[str]]:
    with unpacked(sent) as folder:
        checked = _checked(here, folder)
        places = {(_short(each.file, folder), each.start): at for at, each in enumerate(checked.findings)}
        chosen = {}
        for choice in wanted:
            at = places.get((choice.file, choice.start))
            offered = checked.findings[at].recommendations if at is not None else ()
            proposal = next((each for each in offered if each.key == choice.key), None)
            if at is None or proposal is None:
                raise Problem(
                    422, f"{choice.file}: no sentence there was offered '{choice.key}'; check the draft again."
                )
            chosen[at] = proposal
        made = plan(checked, chosen, folder)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for change in made.changes:
                archive.writestr(_short(change.label, folder), change.after)
        return packed.getvalue(), [f"{each.proposal.key}: {each.reason}" for each in made.refused]
