"""What the reader sees of a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, UploadFile

from whycite.documents.jsonform import as_dict
from whycite.web.api.files import received
from whycite.web.api.shared import PROBLEMS, Here
from whycite.web.uploads import Upload, read_draft

__all__ = ["router"]

router = APIRouter(tags=["read"])


@router.post("/read", responses=PROBLEMS)
async def read(files: list[UploadFile], here: Here) -> dict[str, Any]:
    """Sections with types, sentences, citations and references of a document; several files are one project."""
    sent = await received(files, here.settings.files)
    return await here.work.do(_read, sent)


def _read(sent: Sequence[Upload]) -> dict[str, Any]:
    """As the command line tells it, with each sentence also as a claim: without its citations."""
    document = read_draft(sent)
    told = as_dict(document)
    for sentence, shown in zip(document.sentences, told["sentences"], strict=True):
        shown["claim"] = sentence.without_citations()
    return told
