"""What the reader sees of a document."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, UploadFile
from fastapi.responses import Response

from whycite.documents.jsonform import as_dict
from whycite.web.api.files import received
from whycite.web.api.shared import PROBLEMS, Here, answered
from whycite.web.reading import read_draft
from whycite.web.schemas import ReadAnswer
from whycite.web.uploads import Upload

__all__ = ["router"]

router = APIRouter(tags=["read"])


@router.post("/read", response_model=ReadAnswer, responses=PROBLEMS)
async def read(files: list[UploadFile], here: Here) -> Response:
    """Sections with types, sentences, citations and references of a document; several files are one project."""
    sent = received(files, here.settings.files)
    return await here.work(lambda: _read(sent))


def _read(sent: Sequence[Upload]) -> Response:
    """As the command line tells it, with each sentence also as a claim: without its citations."""
    document = read_draft(sent)
    told = as_dict(document)
    for sentence, shown in zip(document.sentences, told["sentences"], strict=True):
        shown["claim"] = sentence.without_citations()
    return answered(told)
