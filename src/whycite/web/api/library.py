"""What is in the library: looking, adding, removing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Query, UploadFile
from fastapi.responses import Response, StreamingResponse

from whycite.serving.problems import Problem
from whycite.text.normalise import fold
from whycite.web import schemas
from whycite.web.api.files import received
from whycite.web.api.shared import PROBLEMS, Here, Server, answered
from whycite.web.uploads import lay_out

if TYPE_CHECKING:
    from whycite.library import Entry, Library, Paper

__all__ = ["entries", "router"]

router = APIRouter(prefix="/library", tags=["library"], responses=PROBLEMS)


@router.get("", response_model=schemas.Info)
async def info(here: Here) -> Response:
    """How much is in the library, and where it is."""
    return await here.ask(lambda: answered(asdict(here.current.library().info())))


@router.get("/documents", response_model=schemas.Documents)
async def documents(
    here: Here,
    offset: Annotated[int, Query(ge=0, le=100_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    query: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """A page of the documents, newest first; `query`: those with all these words in title, path or year."""
    return await here.ask(lambda: _documents(here, offset, limit, query))


@router.post("/documents", status_code=202, response_model=schemas.Accepted)
async def upload(here: Here, files: list[UploadFile]) -> Any:
    """Add papers; how far it is, `/library/uploads/{id}` tells."""
    sent = received(files, here.settings.files)
    loop = asyncio.get_running_loop()
    job = await here.work(lambda: here.adding.begin(lay_out(sent), len(sent), loop))
    return {"id": job.id}


@router.get("/uploads/{id}", response_class=StreamingResponse)
async def follow(here: Here, id: Annotated[str, Path(max_length=64)]) -> StreamingResponse:
    """How far an upload is, as server-sent events: `progress`, and at the end `done` or `failed`."""
    events = here.adding.follow(id)
    first = await anext(events)  # an id that is none says so before the stream begins

    async def lines() -> AsyncIterator[str]:
        yield _event(first)
        async for event in events:
            yield _event(event)

    return StreamingResponse(lines(), media_type="text/event-stream")


@router.delete("/documents/{id}", response_model=schemas.Removed)
async def delete(here: Here, id: Annotated[str, Path(pattern=r"^-?[0-9]{1,20}$")]) -> Response:
    """Remove a document with everything that only it brought; the file it came from is left alone."""
    return await here.work(lambda: _remove(here, id))


@router.get("/statistics", response_model=schemas.Statistics)
async def figures(here: Here) -> Response:
    """Papers by year, the most cited, and papers by how often they are cited."""
    return await here.ask(lambda: answered(here.current.known(_figures)))


def entries(library: Library) -> list[tuple[Entry, str]]:
    """The documents of a library, newest first, each with what is searched."""
    found = sorted(library.documents(), key=lambda entry: (entry.added, entry.path), reverse=True)
    return [(entry, fold(f"{entry.title} {entry.path} {entry.year or ''}")) for entry in found]


def _documents(here: Server, offset: int, limit: int, query: str) -> Response:
    words = fold(query).split()
    found = [entry for entry, text in here.current.known(entries) if all(word in text for word in words)]
    shown = [_entry(entry) for entry in found[offset : offset + limit]]
    return answered({"total": len(found), "documents": shown})


def _paper(paper: Paper) -> dict[str, Any]:
    return {name: value for name, value in asdict(paper).items() if name != "abstract"}


def _entry(entry: Entry) -> dict[str, Any]:
    return {**asdict(entry), "id": str(entry.id)}


def _event(event: tuple[str, dict[str, Any]] | None) -> str:
    return ": still here\n\n" if event is None else f"event: {event[0]}\ndata: {json.dumps(event[1])}\n\n"


def _remove(here: Server, id: str) -> Response:
    from whycite.library import remove

    if not any(str(entry.id) == id for entry, _ in here.current.known(entries)):
        raise Problem(404, "The library has no such document.")
    return answered({"removed": [_entry(entry) for entry in remove(here.current.path, [id])]})


def _figures(library: Library) -> dict[str, Any]:
    from whycite.library import statistics

    found = statistics(library)
    most = [{"paper": _paper(paper), "support": support} for paper, support in found.most_cited]
    return {"years": found.years, "support": found.support, "most_cited": most}
