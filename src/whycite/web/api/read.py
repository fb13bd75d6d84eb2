"""What the reader sees of a document."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, UploadFile

from whycite.documents.jsonform import as_dict
from whycite.web.api.files import received
from whycite.web.api.shared import PROBLEMS, Here
from whycite.web.uploads import read_draft

__all__ = ["router"]

router = APIRouter(tags=["read"])


@router.post("/read", responses=PROBLEMS)
async def read(files: list[UploadFile], here: Here) -> dict[str, Any]:
    """Sections with types, sentences, citations and references of a document; several files are one project."""
    sent = await received(files, here.settings.files)
    return await here.work.do(lambda: as_dict(read_draft(sent)))
