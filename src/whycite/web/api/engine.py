"""Answer the questions of `whycite lsp --server` and `whycite mcp --server`, which have no models of their own."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form, UploadFile
from fastapi.responses import StreamingResponse

from whycite.service.loading import CurrentLibrary
from whycite.web.guard import Problem
from whycite.web.queues import EventStream
from whycite.web.serverstate import CurrentServer

if TYPE_CHECKING:
    from whycite.service.remote import AnsweringEngine

__all__ = ["router"]

router = APIRouter(tags=["engine"])
_MAX_BYTES = 32 << 20  # of a question; the text of a thesis takes a few megabytes


@router.post("/engine", include_in_schema=False)  # its questions change with every release
async def ask(
    here: CurrentServer,
    question: Annotated[str, Form(max_length=100)],
    release: Annotated[str, Form(max_length=100)],
    arguments: UploadFile,
    digest: Annotated[str, Form(max_length=100)] = "",
    bibliography: UploadFile | None = None,
) -> StreamingResponse:
    """The answer to a question, after events that say how far it is; `whycite.service.remote` writes and reads both."""
    own = version("whycite")
    if release != own:
        raise Problem(409, f"The server is whycite {own}, and this is {release}.")
    content, entries = await _read(arguments), await _read(bibliography) if bibliography is not None else b""
    events = EventStream(asyncio.get_running_loop())

    def answer() -> None:
        _answering_engine(here.current).answer(question, content, digest, entries, events.send)

    events.follow(here.start(answer))
    return StreamingResponse(events.lines(), media_type="text/event-stream")


async def _read(part: UploadFile) -> bytes:
    content = await part.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise Problem(413, f"The question is too large; the limit is {_MAX_BYTES >> 20} MB.")
    return content


@lru_cache(maxsize=1)
def _answering_engine(current: CurrentLibrary) -> AnsweringEngine:
    from whycite.service.remote import AnsweringEngine

    return AnsweringEngine(current)
