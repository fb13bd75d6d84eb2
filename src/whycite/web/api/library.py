"""Browse the library, add and remove documents, and read the document that a request refers to."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Form, Path, Query, UploadFile
from fastapi.responses import FileResponse, Response, StreamingResponse
from pydantic import StringConstraints

from whycite.cite.exports import as_bibtex, as_csl, as_ris
from whycite.cite.recommendations import paper_json
from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.library.paths import absolute
from whycite.library.records import LibraryInfo
from whycite.text.tokens import fold
from whycite.web import schemas
from whycite.web.api.collections import collection_keys
from whycite.web.guard import Problem
from whycite.web.queues import UploadJob
from whycite.web.reading import drop_original, library_file, read_draft, read_stored
from whycite.web.serverstate import PROBLEMS, CurrentServer, Server, json_response, receive_uploads
from whycite.web.uploads import write_uploads
from whycite.web.warm import file_hash, upload_hash

if TYPE_CHECKING:
    from whycite.library import Library, LibraryDocument, Paper

__all__ = ["DocumentId", "DocumentSource", "document_source", "router", "searchable_entries"]


router = APIRouter(prefix="/library", tags=["library"], responses=PROBLEMS)
_ID = r"^-?[0-9]{1,20}$"
DocumentOrder = Literal["added", "title", "year", "citations"]
CollectionQuery = Annotated[str, Query(max_length=100, description="only papers of this collection")]


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
    sort: DocumentOrder = "added",
    descending: bool = True,
    collection: CollectionQuery = "",
) -> Response:
    """A page of the documents; `query` selects those with all its words in title, authors, path or year."""
    return await here.ask(lambda: _find_documents(here, offset, limit, query, sort, descending, collection))


@router.post("/documents", status_code=202, response_model=schemas.UploadAnswer)
async def upload(here: CurrentServer, files: list[UploadFile]) -> Any:
    """Add papers; follow the progress at `/library/uploads/{id}`."""
    uploads = receive_uploads(files, here.settings.files)
    loop = asyncio.get_running_loop()
    job = await here.work(lambda: here.uploads.enqueue(write_uploads(uploads), len(uploads), loop))
    return {"id": job.id}


@router.post("/zotero", status_code=202, response_model=schemas.UploadAnswer)
async def add_zotero(here: CurrentServer) -> Any:
    """Add what is new in the Zotero library of this computer; follow the progress at `/library/uploads/{id}`."""
    loop = asyncio.get_running_loop()
    job = await here.work(lambda: _enqueue_zotero(here, loop))
    return {"id": job.id}


@router.get("/uploads/{id}", response_class=StreamingResponse)
async def follow(here: CurrentServer, id: Annotated[str, Path(max_length=64)]) -> StreamingResponse:
    """The progress of an upload as server-sent events: `progress`, and finally `done`, `stopped` or `failed`."""
    events = here.uploads.events(id)
    first_event = await anext(events)  # reports an unknown id before the stream begins

    async def lines() -> AsyncIterator[str]:
        yield _format_event(first_event)
        async for event in events:
            yield _format_event(event)

    return StreamingResponse(lines(), media_type="text/event-stream")


@router.delete("/uploads/{id}", status_code=202, response_model=schemas.UploadAnswer)
async def stop(here: CurrentServer, id: Annotated[str, Path(max_length=64)]) -> Any:
    """Stop adding papers after the one that is being read; those that were added stay. The last event is `stopped`."""
    here.uploads.cancel(id)
    return {"id": id}


@router.delete("/documents/{id}", response_model=schemas.RemoveAnswer)
async def delete(here: CurrentServer, id: Annotated[str, Path(pattern=_ID)]) -> Response:
    """Remove a document and everything that only it contributed; its original file is kept."""
    return await here.work(lambda: _remove(here, [id]))


@router.post("/documents/remove", response_model=schemas.RemoveAnswer)
async def remove_many(here: CurrentServer, selection: schemas.DocumentSelection) -> Response:
    """Remove several documents at once; none of them if one is not in the library."""
    return await here.work(lambda: _remove(here, selection.ids))


@router.get("/export", response_class=Response)
async def export(
    here: CurrentServer,
    format: Literal["bibtex", "ris", "csl", "csv"] = "bibtex",
    id: Annotated[list[Annotated[str, StringConstraints(pattern=_ID)]] | None, Query(max_length=500)] = None,
    key: Annotated[list[Annotated[str, StringConstraints(max_length=2_000)]] | None, Query(max_length=500)] = None,
    query: Annotated[str, Query(max_length=200)] = "",
    collection: CollectionQuery = "",
) -> Response:
    """Papers of the library as BibTeX, RIS, CSL-JSON or CSV.

    Documents by `id`, papers by `key`, or the documents that `query` and `collection` select.
    """
    return await here.work(lambda: _export(here, format, id or [], key or [], query, collection))


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


def _enqueue_zotero(here: Server, loop: asyncio.AbstractEventLoop) -> UploadJob:
    from whycite.sources.zotero import read_zotero

    items, origin = read_zotero()
    if not items:
        raise UserError("Zotero has no items; nothing to add")
    return here.uploads.enqueue(write_uploads([]), len(items), loop, items, origin)


def searchable_entries(library: Library) -> list[tuple[LibraryDocument, str]]:
    """The documents of a library, newest first, each with its searchable text."""
    newest_entries = sorted(library.documents(), key=lambda entry: (entry.added, entry.path), reverse=True)
    papers = library.papers(list({library.paper_id(entry.key) for entry in newest_entries if entry.key}))

    def text(entry: LibraryDocument) -> str:
        paper = papers.get(library.paper_id(entry.key)) if entry.key else None
        authors = " ".join(paper.authors) if paper else ""
        return fold(f"{entry.title} {authors} {entry.path} {entry.year or ''}")

    return [(entry, text(entry)) for entry in newest_entries]


def _matches(here: Server, query: str, collection: str) -> list[LibraryDocument]:
    words = fold(query).split()
    keys = collection_keys(here.current.path, collection) if collection else None
    entries = here.current.answer_once(searchable_entries)
    return [
        entry for entry, text in entries if all(word in text for word in words) and (keys is None or entry.key in keys)
    ]


def _find_documents(
    here: Server, offset: int, limit: int, query: str, sort: DocumentOrder, descending: bool, collection: str
) -> Response:
    keys: dict[DocumentOrder, Callable[[LibraryDocument], Any]] = {
        "added": lambda entry: (entry.added, entry.path),
        "title": lambda entry: fold(entry.title or entry.path),
        "year": lambda entry: entry.year or 0,
        "citations": lambda entry: entry.citations,
    }
    matches = sorted(_matches(here, query, collection), key=keys[sort], reverse=descending)
    shown = [_entry_json(entry) for entry in matches[offset : offset + limit]]
    return json_response({"total": len(matches), "documents": shown})


def _export(here: Server, format: str, ids: list[str], keys: list[str], query: str, collection: str) -> Response:
    library = here.current.library()
    if not ids and not keys:
        keys = [entry.key for entry in _matches(here, query, collection)]
    by_id = {str(entry.id): entry.key for entry, _ in here.current.answer_once(searchable_entries)}
    if unknown := [id for id in ids if id not in by_id]:
        raise Problem(404, f"The library has no such document: {unknown[0]}.")
    paper_ids = list(dict.fromkeys(library.paper_id(key) for key in [*keys, *(by_id[id] for id in ids)] if key))
    papers = library.papers(paper_ids)
    text, suffix, media_type = _FORMATS[format]
    content = text([papers[paper] for paper in paper_ids if paper in papers])
    headers = {"content-disposition": f'attachment; filename="papers.{suffix}"'}
    return Response(content.encode("utf-8", "replace"), media_type=media_type, headers=headers)


def _as_csv(papers: Sequence[Paper]) -> str:
    table = StringIO()
    writer = csv.writer(table)
    writer.writerow(["key", "title", "authors", "year", "venue", "doi"])
    for paper in papers:
        row = [paper.key, paper.title, "; ".join(paper.authors), str(paper.year or ""), paper.venue, paper.doi]
        # A spreadsheet would run what begins like a formula.
        writer.writerow([f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t")) else cell for cell in row])
    return table.getvalue()


_FORMATS: dict[str, tuple[Callable[[Sequence[Paper]], str], str, str]] = {
    "bibtex": (as_bibtex, "bib", "application/x-bibtex"),
    "ris": (as_ris, "ris", "application/x-research-info-systems"),
    "csl": (lambda papers: json.dumps(as_csl(papers), ensure_ascii=False, indent=2), "json", "application/json"),
    "csv": (_as_csv, "csv", "text/csv"),
}


def _entry_json(entry: LibraryDocument) -> dict[str, Any]:
    return {**asdict(entry), "id": str(entry.id)}


def _format_event(event: tuple[str, dict[str, Any]] | None) -> str:
    return ": still here\n\n" if event is None else f"event: {event[0]}\ndata: {json.dumps(event[1])}\n\n"


def _remove(here: Server, ids: list[str]) -> Response:
    from whycite.library import remove

    present = {str(entry.id) for entry, _ in here.current.answer_once(searchable_entries)}
    if not present.issuperset(ids):
        raise Problem(404, "The library has no such document.")
    removed = remove(here.current.path, ids)
    for entry in removed:
        drop_original(here.current.path, entry.path)
    return json_response({"removed": [_entry_json(entry) for entry in removed]})


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
