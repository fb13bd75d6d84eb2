"""Browse the library, add and remove documents, and read the document that a request refers to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form, Path, Query, UploadFile
from fastapi.responses import FileResponse, Response, StreamingResponse

from whycite.cite.recommendations import paper_json
from whycite.documents.model import Document
from whycite.library.paths import absolute
from whycite.library.records import LibraryInfo
from whycite.text.tokens import fold
from whycite.web import schemas
from whycite.web.guard import Problem
from whycite.web.reading import library_file, read_draft, read_stored
from whycite.web.server import PROBLEMS, CurrentServer, Server, json_response, receive_uploads
from whycite.web.uploads import write_uploads
from whycite.web.warm import file_hash, upload_hash

if TYPE_CHECKING:
    from whycite.library import Library, LibraryDocument

__all__ = ["DocumentId", "DocumentSource", "document_source", "router", "searchable_entries"]


router = APIRouter(prefix="/library", tags=["library"], responses=PROBLEMS)
_ID = r"^-?[0-9]{1,20}$"


@router.get("", response_model=LibraryInfo)
async def info(here: CurrentServer) -> Response:
    """The size and path of the library."""
    return await here.ask(lambda: json_response(asdict(here.current.library().info())))


@router.get("/documents", response_model=schemas.DocumentPage)
async def documents(
    here: CurrentServer,
    offset: Annotated[int, Query(ge=0, le=100_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    query: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """A page of the documents, newest first; `query` selects those with all its words in title, path or year."""
    return await here.ask(lambda: _find_documents(here, offset, limit, query))


@router.post("/documents", status_code=202, response_model=schemas.UploadAnswer)
async def upload(here: CurrentServer, files: list[UploadFile]) -> Any:
    """Add papers; follow the progress at `/library/uploads/{id}`."""
    uploads = receive_uploads(files, here.settings.files)
    loop = asyncio.get_running_loop()
    job = await here.work(lambda: here.uploads.enqueue(write_uploads(uploads), len(uploads), loop))
    return {"id": job.id}


@router.get("/uploads/{id}", response_class=StreamingResponse)
async def follow(here: CurrentServer, id: Annotated[str, Path(max_length=64)]) -> StreamingResponse:
    """The progress of an upload as server-sent events: `progress`, and finally `done` or `failed`."""
    events = here.uploads.events(id)
    first_event = await anext(events)  # reports an unknown id before the stream begins

    async def lines() -> AsyncIterator[str]:
        yield _format_event(first_event)
        async for event in events:
            yield _format_event(event)

    return StreamingResponse(lines(), media_type="text/event-stream")


@router.delete("/documents/{id}", response_model=schemas.RemoveAnswer)
async def delete(here: CurrentServer, id: Annotated[str, Path(pattern=_ID)]) -> Response:
    """Remove a document and everything that only it contributed; its original file is kept."""
    return await here.work(lambda: _remove(here, id))


@router.get("/documents/{id}/file", response_class=FileResponse)
async def download(here: CurrentServer, id: Annotated[str, Path(pattern=_ID)]) -> Response:
    """The file of a document as it was added."""
    file, path = await here.ask(lambda: library_file(here.current, id))
    if file != absolute(path):
        raise Problem(404, "This document is part of an archive; unpack it to see its file.")
    return FileResponse(file, media_type="application/octet-stream", filename=FilePath(file).name)


@router.get("/statistics", response_model=schemas.Statistics)
async def figures(here: CurrentServer) -> Response:
    """The most cited papers, and the number of papers by year and by how often they are cited."""
    return await here.ask(lambda: json_response(here.current.answer_once(_statistics_json)))


def searchable_entries(library: Library) -> list[tuple[LibraryDocument, str]]:
    """The documents of a library, newest first, each with its searchable text."""
    newest_entries = sorted(library.documents(), key=lambda entry: (entry.added, entry.path), reverse=True)
    return [(entry, fold(f"{entry.title} {entry.path} {entry.year or ''}")) for entry in newest_entries]


def _find_documents(here: Server, offset: int, limit: int, query: str) -> Response:
    words = fold(query).split()
    matches = [
        entry for entry, text in here.current.answer_once(searchable_entries) if all(word in text for word in words)
    ]
    shown = [_entry_json(entry) for entry in matches[offset : offset + limit]]
    return json_response({"total": len(matches), "documents": shown})


def _entry_json(entry: LibraryDocument) -> dict[str, Any]:
    return {**asdict(entry), "id": str(entry.id)}


def _format_event(event: tuple[str, dict[str, Any]] | None) -> str:
    return ": still here\n\n" if event is None else f"event: {event[0]}\ndata: {json.dumps(event[1])}\n\n"


def _remove(here: Server, id: str) -> Response:
    from whycite.library import remove

    if not any(str(entry.id) == id for entry, _ in here.current.answer_once(searchable_entries)):
        raise Problem(404, "The library has no such document.")
    return json_response({"removed": [_entry_json(entry) for entry in remove(here.current.path, [id])]})


def _statistics_json(library: Library) -> schemas.Statistics:
    from whycite.library import statistics

    library_statistics = statistics(library)
    return {
        "years": library_statistics.years,
        "support": library_statistics.support,
        "most_cited": [
            {"paper": paper_json(paper), "support": support} for paper, support in library_statistics.most_cited
        ],
    }


DocumentId = Annotated[str | None, Form(pattern=_ID)]


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """A document that a request refers to: how to read it, and the hash of its content."""

    read: Callable[[], Document]
    content_hash: Callable[[], str]


def document_source(here: Server, files: list[UploadFile] | None, id: str | None) -> DocumentSource:
    """The uploaded files, or the library's document with that id at its original path."""
    if bool(files) == (id is not None):
        raise Problem(422, "Upload a document, or name one in the library.")
    if id is not None:
        return DocumentSource(
            lambda: read_stored(*library_file(here.current, id)),
            lambda: _library_hash(*library_file(here.current, id)),
        )
    uploads = receive_uploads(files or [], here.settings.files)
    return DocumentSource(lambda: read_draft(uploads), lambda: upload_hash(uploads))


def _library_hash(file: str, path: str) -> str:
    return f"{file_hash(FilePath(file))} {path}"
