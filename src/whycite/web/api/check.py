"""Where a draft lacks a citation, and the draft with those that were accepted."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, UploadFile
from fastapi.responses import Response
from pydantic import BaseModel, TypeAdapter, ValidationError

from whycite.errors import UserError
from whycite.serving.problems import Problem
from whycite.web.api.files import received
from whycite.web.api.shared import PROBLEMS, Here, Server
from whycite.web.reading import read_folder
from whycite.web.schemas import CheckAnswer
from whycite.web.uploads import Upload, unpacked
from whycite.web.writable import unwritable

if TYPE_CHECKING:
    from whycite.check import Checked

__all__ = ["router"]

router = APIRouter(prefix="/check", tags=["check"], responses=PROBLEMS)
_PAPERS = 3  # for a sentence
_TOLD = 20  # choices that could not be put in

Threshold = Annotated[float | None, Form(ge=0, le=1)]
Papers = Annotated[int, Form(ge=1, le=20)]


class Choice(BaseModel):
    """A sentence, by file and place, and the key it is to cite."""

    file: str
    start: int
    key: str


_CHOICES = TypeAdapter(list[Choice])


@dataclass(frozen=True, slots=True)
class _Asked:
    """How a draft is checked: from which worthiness on, with how many papers for a sentence."""

    threshold: float | None
    n: int


@router.post("", response_model=CheckAnswer)
async def check(
    here: Here,
    files: list[UploadFile],
    threshold: Threshold = None,
    n: Papers = _PAPERS,
    offset: Annotated[int, Form(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Form(ge=1, le=10_000)] = 2_000,
) -> Response:
    """Findings of a draft; several files, or an archive of them, are one project.

    `findings` are those of the command line, of at most `limit` sentences from `offset` on; each of `sentences` names
    the one that is about it by its number in the list.
    """
    sent = received(files, here.settings.files)
    asked = _Asked(threshold, n)
    return await here.work(lambda: _check(here, sent, asked, slice(offset, offset + limit)))


@router.post("/fix", response_class=Response)
async def fix(
    here: Here,
    files: list[UploadFile],
    choices: Annotated[str, Form(max_length=1_000_000)],
    threshold: Threshold = None,
    n: Papers = _PAPERS,
) -> Response:
    """The changed files of a draft as a .zip; `choices` is a JSON list of {"file", "start", "key"}.

    `threshold` and `n` are to be those of the check that offered the keys. What could not be put in is told in the
    header `x-refused`, percent-encoded JSON; where nothing could be, that is the answer (422).
    """
    sent = received(files, here.settings.files)
    try:
        wanted = _CHOICES.validate_json(choices)
    except ValidationError as error:
        raise Problem(422, 'choices must be a list of {"file": …, "start": …, "key": …}') from error
    if not wanted:
        raise Problem(422, "choices is empty: name at least one citation that is to be put in.")
    packed, refused = await here.work(lambda: _fix(here, sent, wanted, _Asked(threshold, n)))
    headers = {
        "content-disposition": 'attachment; filename="with-citations.zip"',
        "x-refused": quote(json.dumps(refused[:_TOLD])),
    }
    return Response(packed, media_type="application/zip", headers=headers)


def _checked(here: Server, folder: Path, asked: _Asked) -> Checked:
    from whycite.check import check as check_draft

    document = read_folder(folder)
    try:
        library = here.current.library()
    except UserError:  # none yet: the draft's own bibliography is enough
        return check_draft(document, threshold=asked.threshold, n=asked.n, use_library=False)
    return check_draft(document, library, threshold=asked.threshold, n=asked.n)


def _check(here: Server, sent: Sequence[Upload], asked: _Asked, shown: slice) -> Response:
    with unpacked(sent) as folder:
        checked = _checked(here, folder, asked)
        told = json.dumps(_told(checked, shown, unwritable(checked.document, folder)), allow_nan=False)
    return Response(_short(told, json.dumps(str(folder))[1:-1]).encode(), media_type="application/json")


def _told(checked: Checked, shown: slice, unwritable: str) -> dict[str, Any]:
    from whycite.check import as_dict

    document = checked.document
    places = {(each.file, each.start, each.end): at for at, each in enumerate(checked.findings)}
    told = as_dict(checked)
    sentences: list[dict[str, Any]] = []
    findings: list[dict[str, Any]] = []
    for index, sentence in list(enumerate(document.sentences))[shown]:
        at = places.get((sentence.file, sentence.start, sentence.end))
        sentences.append(
            {
                "index": index,
                "text": sentence.text,
                "section": sentence.section,
                "paragraph": sentence.paragraph,
                "kind": sentence.kind,
                "start": sentence.start,
                "finding": len(findings) if at is not None else None,
            }
        )
        if at is not None:
            findings.append(told["findings"][at])
    return told | {
        "findings": findings,
        "total": len(document.sentences),
        "threshold": _usual(checked),
        "unwritable": unwritable,
        "sections": [{"heading": each.heading, "type": each.type, "level": each.level} for each in document.sections],
        "sentences": sentences,
    }


def _usual(checked: Checked) -> float:
    """The threshold of most sentences: sections have their own."""
    thresholds = sorted(finding.threshold for finding in checked.findings)
    return thresholds[len(thresholds) // 2] if thresholds else 0.5


def _short(text: str, folder: Path | str) -> str:
    """A text that names files as they were sent."""
    return text.replace(f"{folder}/", "").replace(str(folder), "the draft")


def _fix(here: Server, sent: Sequence[Upload], wanted: Sequence[Choice], asked: _Asked) -> tuple[bytes, list[str]]:
    from whycite.check.fixing import plan

    with unpacked(sent) as folder:
        checked = _checked(here, folder, asked)
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
        refused = [_short(f"{each.proposal.key}: {each.reason}", folder) for each in made.refused]
        if not made.changes:
            reasons = dict.fromkeys(_short(each.reason, folder) for each in made.refused)
            raise Problem(422, f"Nothing was changed: {'; '.join(list(reasons)[:_TOLD])}.")
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for change in made.changes:
                archive.writestr(_short(change.label, folder), change.after)
        return packed.getvalue(), refused
