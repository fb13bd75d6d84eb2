"""Read a document."""

from __future__ import annotations

from fastapi import APIRouter, UploadFile
from fastapi.responses import Response

from whycite.documents.jsondocument import DocumentJson, document_json
from whycite.web.api.library import DocumentId, document_source
from whycite.web.server import PROBLEMS, CurrentServer, json_response

__all__ = ["router"]

router = APIRouter(tags=["read"])


@router.post("/read", response_model=DocumentJson, responses=PROBLEMS)
async def read(here: CurrentServer, files: list[UploadFile] | None = None, document: DocumentId = None) -> Response:
    """Sections with types, sentences, citations and references of a document; several files are one project.

    The document is uploaded, or given by its id in the library and read from its original path.
    """
    source = document_source(here, files, document)
    return await here.work(lambda: json_response(document_json(source.read(), claims=True)))
