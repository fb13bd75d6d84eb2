"""Verify a claim against a cited paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Form, UploadFile
from fastapi.responses import Response

from whycite.errors import UserError
from whycite.library.notices import look_up
from whycite.web.api.library import DocumentId, document_source
from whycite.web.schemas import VerifyAnswer
from whycite.web.server import PROBLEMS, CurrentServer, json_response
from whycite.web.warm import WarmPaper

__all__ = ["router"]

router = APIRouter(tags=["verify"])


@router.post("/verify", response_model=VerifyAnswer, responses=PROBLEMS)
async def verify(
    here: CurrentServer,
    claim: Annotated[str, Form(min_length=1, max_length=20_000)],
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
    document, verification = paper.document, paper.opened.verify(claim)
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
