"""Questions, which change nothing: cite, verify, read, whether the server is up, and what other programs ask.

`whycite lsp --server` and `whycite mcp --server` have no models of their own and let the server's engine answer.
"""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form, UploadFile
from fastapi.responses import Response, StreamingResponse

from whycite.cite.exports import as_bibtex
from whycite.cite.fit import nothing_fits
from whycite.cite.recommendations import Claim, answer_fits, recommendation_json
from whycite.documents.jsondocument import DocumentJson, document_json
from whycite.errors import UserError
from whycite.library.notices import look_up
from whycite.service.loading import CurrentLibrary
from whycite.structure import parse_section_type
from whycite.web.api.library import DocumentId, document_source
from whycite.web.guard import Problem
from whycite.web.queues import EventStream
from whycite.web.schemas import CiteAnswer, CiteAnswers, CiteQuestion, CiteQuestions, Health, VerifyAnswer
from whycite.web.serverstate import EXPOSITION, PROBLEMS, CurrentServer, Server, json_response
from whycite.web.warm import WarmPaper

if TYPE_CHECKING:
    from whycite.service.remote import AnsweringEngine

__all__ = ["metrics_router", "resident_bytes", "router"]

router = APIRouter(responses=PROBLEMS)
metrics_router = APIRouter()  # whose address is not below /api
_STARTED = time.time()
_MAX_ENGINE_BYTES = 32 << 20  # of a question; the text of a thesis takes a few megabytes


@router.get("/health", tags=["health"], response_model=Health)
async def health(here: CurrentServer) -> Response:
    """The version and the library in use; also a check that requests are accepted."""
    return await here.ask(lambda: _health(here))


def _health(here: Server) -> Response:
    documents: int | None = None  # no library yet
    with suppress(UserError):
        documents = here.current.library().info().documents
    path = str(here.current.path)
    answer: Health = {"status": "ok", "version": version("whycite"), "library": path, "documents": documents}
    return json_response(answer)


@metrics_router.get("/metrics", include_in_schema=False)
async def metrics(here: CurrentServer) -> Response:
    """Counts for Prometheus, which asks at this address."""
    gauges = {
        "whycite_questions_unfinished": here.quick.unfinished,
        "whycite_documents_unfinished": here.slow.unfinished,
        "process_start_time_seconds": round(_STARTED, 3),
    }
    if (library := here.current.library_if_open()) is not None:
        gauges["whycite_library_version"] = library.version
    if (memory := resident_bytes()) is not None:
        gauges["process_resident_memory_bytes"] = memory
    return Response(here.counts.exposition(gauges), media_type=EXPOSITION)


def resident_bytes() -> int | None:
    """The memory of this process; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


@router.post("/cite", tags=["cite"], response_model=CiteAnswer)
async def cite(question: CiteQuestion, here: CurrentServer) -> Response:
    """The papers that a claim should cite, with the evidence for each."""
    return await here.ask(lambda: json_response(_cite(here, question)))


@router.post("/cite/batch", tags=["cite"], response_model=CiteAnswers)
async def batch(batch: CiteQuestions, here: CurrentServer) -> Response:
    """The papers that each of several claims should cite, in the order of the claims."""
    return await here.work(lambda: json_response({"answers": [_cite(here, question) for question in batch.questions]}))


def _cite(here: Server, question: CiteQuestion) -> CiteAnswer:
    claim = Claim(
        question.text,
        title=question.title,
        section_type=parse_section_type(question.section) if question.section else None,
        cited=tuple(question.cited),
        year=question.year_max,
        include_retracted=question.include_retracted,
    )
    recommendations = here.current.method(question.method).recommend(claim, question.n)
    fits = answer_fits(recommendations)
    return {
        "text": question.text,
        "fits": fits,
        "doubtful": bool(recommendations) and nothing_fits(fits),
        "recommendations": [
            {**recommendation_json(recommendation, question.explain), "bibtex": as_bibtex([recommendation.paper])}
            for recommendation in recommendations
        ],
    }


@router.post("/verify", tags=["verify"], response_model=VerifyAnswer)
async def verify(
    here: CurrentServer,
    claim: Annotated[str, Form(min_length=1, max_length=20_000, examples=["Orcas stun herring with their tails."])],
    files: list[UploadFile] | None = None,
    document: DocumentId = None,
    n: Annotated[int, Form(ge=1, le=1000)] = 25,
) -> Response:
    """The verdict on a claim, the best `n` passages, and every sentence of the cited paper with its score.

    The paper is uploaded, or given by its id in the library and read from its original path.
    """
    source = document_source(here, files, document)
    return await here.work(
        lambda: _verify(claim, here.papers.open(source.content_hash(), source.read), n, here.current.path)
    )


def _verify(claim: str, paper: WarmPaper, n: int, library: Path) -> Response:
    from whycite.verify.features import forms
    from whycite.verify.heatmap import heat_map_json, usual_threshold

    if not claim.strip():
        raise UserError("the claim is empty; give a sentence")
    document, verification = paper.document, paper.verify(claim)
    [notices] = look_up(library, [document.paper])
    answer: VerifyAnswer = {
        "path": document.path,
        "title": document.paper.title,
        "format": document.format,
        **heat_map_json(document, verification, n),
        "retracted": notices.description,
        "warnings": list(document.warnings),
        "threshold": usual_threshold(verification),
        "steps": {
            "characters": sum(len(sentence.text) for sentence in document.sentences),
            "sentences": len(document.sentences),
            "normalised": forms(verification.claim),
            "compared": len(verification.passages),
        },
    }
    return json_response(answer)


@router.post("/read", tags=["read"], response_model=DocumentJson)
async def read(here: CurrentServer, files: list[UploadFile] | None = None, document: DocumentId = None) -> Response:
    """Sections with types, sentences, citations and references of a document; several files are one project.

    The document is uploaded, or given by its id in the library and read from its original path.
    """
    source = document_source(here, files, document)
    return await here.work(lambda: json_response(document_json(source.read(), claims=True)))


@router.post("/engine", tags=["engine"], include_in_schema=False)  # its questions change with every release
async def engine(
    here: CurrentServer,
    question: Annotated[str, Form(max_length=100)],
    release: Annotated[str, Form(max_length=100)],
    arguments: UploadFile,
    digest: Annotated[str, Form(max_length=100)] = "",
    bibliography: UploadFile | None = None,
) -> StreamingResponse:
    """The answer to a question, after events that say how far it is; `whycite.service.remote` writes and reads both."""
    own_release = version("whycite")
    if release != own_release:
        raise Problem(409, f"The server is whycite {own_release}, and this is {release}.")
    content, entries = await _content(arguments), await _content(bibliography) if bibliography is not None else b""
    events = EventStream(asyncio.get_running_loop())

    def answer() -> None:
        _answering_engine(here.current).answer(question, content, digest, entries, events.send)

    events.follow(here.start(answer))
    return StreamingResponse(events.lines(), media_type="text/event-stream")


async def _content(part: UploadFile) -> bytes:
    content = await part.read(_MAX_ENGINE_BYTES + 1)
    if len(content) > _MAX_ENGINE_BYTES:
        raise Problem(413, f"The question is too large; the limit is {_MAX_ENGINE_BYTES >> 20} MB.")
    return content


@lru_cache(maxsize=1)
def _answering_engine(current: CurrentLibrary) -> AnsweringEngine:
    from whycite.service.remote import AnsweringEngine

    return AnsweringEngine(current)
