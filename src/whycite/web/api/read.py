"""What the reader sees of a document."""

from __future__ import annotations

from fastapi import APIRouter, UploadFile
from fastapi.responses import Response

from whycite.documents.jsonform import as_dict
from whycite.documents.model import Document
from whycite.web.api.papers import Id, given
from whycite.web.api.shared import PROBLEMS, Here, answered
from whycite.web.schemas import ReadAnswer

__all__ = ["router"]

router = APIRouter(tags=["read"])


@router.post("/read", response_model=ReadAnswer, responses=PROBLEMS)
async def read(here: Here, files: list[UploadFile] | None = None, document: Id = None) -> Response:
    """Sections with types, sentences, citations and references of a document; several files are one project.

    It is sent, or named by the id that it has in the library; then it is read from where it was added.
    """
    wanted = given(here, files, document)
    return await here.work(lambda: _read(wanted()))


def _read(document: Document) -> Response:
    """As the command line tells it, with each sentence also as a claim: without its citations."""
    told = as_dict(document)
    for sentence, shown in zip(document.sentences, told["sentences"], strict=True):
        shown["claim"] = sentence.without_citations()
    return answered(told)
