"""What is in the library: looking, adding, removing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from functools import lru_cache
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, UploadFile
from fastapi.responses import StreamingResponse

from whycite.library import Entry, Library, remove, statistics
from whycite.serving.problems import Problem
from whycite.text.normalise import fold
from whycite.web import schemas
from whycite.web.api.files import received
from whycite.web.api.shared import PROBLEMS, Here, Server

__all__ = ["router"]

router = APIRouter(prefix="/library", tags=["library"], responses=PROBLEMS)


@router.get("", response_model=schemas.Info)
async def info(here: Here) -> Any:
    """How much is in the library, and where it is."""
    return await here.work.do(lambda: asdict(here.current.library().info()))


@router.get("/documents", response_model=schemas.Documents)
async def documents(
    here: Here,
    offset: Annotated[int, Query(ge=0, le=100_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    query: Annotated[str, Query(max_length=200)] = "",
) -> Any:
    """A page of the documents, newest first; `query`: those with all these words in title, path or year."""
    return await here.work.do(_documents, here, offset, limit, query)


@router.post("/documents", status_code=202, response_model=schemas.Accepted)
async def upload(here: Here, files: list[UploadFile]) -> Any:
    """Add papers; how far it is, `/library/uploads/{id}` tells."""
    return {"id": here.adding.begin(await received(files, here.settings.files)).id}


@router.get("/uploads/{id}", response_class=StreamingResponse)
async def follow(here: Here, id: Annotated[str, Path(max_length=64)]) -> StreamingResponse:
    """How far an upload is, as server-sent events: `progress`, and at the end `done` or `failed`."""
    events = here.adding.follow(id)
    first = await anext(events, None)  # an id that is none says so before the stream begins

    async def lines() -> AsyncIterator[str]:
        event = first
        while event is not None:
            yield f"event: {event[0]}\ndata: {json.dumps(event[1])}\n\n"
            event = await anext(events, None)

    return StreamingResponse(lines(), media_type="text/event-stream", headers={"cache-control": "no-store"})


@router.delete("/documents/{id}", response_model=schemas.Removed)
async def delete(here: Here, id: Annotated[str, Path(pattern=r"^-?\d{1,20}$")]) -> Any:
    """Remove a document with everything that only it brought; the file it came from is left alone."""
    return await here.work.do(_remove, here, id)


@router.get("/statistics", response_model=schemas.Statistics)
async def figures(here: Here) -> Any:
    """Papers by year, the most cited, and papers by how often they are cited."""
    return await here.work.do(_statistics, here)


def _documents(here: Server, offset: int, limit: int, query: str) -> dict[str, Any]:
    library = here.current.library()
    words = fold(query).split()
    found = [entry for entry, text in _entries(library) if all(word in text for word in words)]
    return {"total": len(found), "documents": [_entry(entry) for entry in found[offset : offset + limit]]}


@lru_cache(maxsize=2)
def _entries(library: Library) -> list[tuple[Entry, str]]:
    """The documents of a library as it was opened, newest first, each with what is searched."""
    entries = sorted(library.documents(), key=lambda entry: (entry.added, entry.path), reverse=True)
    return [(entry, fold(f"{entry.title} {entry.path} {entry.year or ''}")) for entry in entries]


def _entry(entry: Entry) -> dict[str, Any]:
    return {**asdict(entry), "id": str(entry.id)}


def _remove(here: Server, id: str) -> dict[str, Any]:
    library = here.current.library()
    if not any(str(entry.id) == id for entry, _ in _entries(library)):
        raise Problem(404, "The library has no such document.")
    return {"removed": [_entry(entry) for entry in remove(library.path, [id])]}


def _statistics(here: Server) -> dict[str, Any]:
    return _figures(here.current.library())


@lru_cache(maxsize=2)
def _figures(library: Library) -> dict[str, Any]:
    found = statistics(library)
    most = [{"paper": asdict(paper), "support": support} for paper, support in found.most_cited]
    return {"years": found.years, "support": found.support, "most_cited": most}
