"""Which sentences of a cited paper back a claim."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, UploadFile
from fastapi.responses import Response

from whycite.documents.model import Document
from whycite.web.api.papers import Id, given
from whycite.web.api.shared import PROBLEMS, Here, answered
from whycite.web.schemas import VerifyAnswer

__all__ = ["router"]

router = APIRouter(tags=["verify"])


@router.post("/verify", response_model=VerifyAnswer, responses=PROBLEMS)
async def verify(
    here: Here,
    claim: Annotated[str, Form(min_length=1, max_length=20_000)],
    files: list[UploadFile] | None = None,
    document: Id = None,
    n: Annotated[int, Form(ge=1, le=1000)] = 25,
) -> Response:
    """The verdict on a claim, the best `n` passages, and every sentence of the cited paper with its score.

    The paper is sent, or named by the id that it has in the library; then it is read from where it was added.
    """
    paper = given(here, files, document)
    return await here.work(lambda: _verify(claim, paper(), n))


def _verify(claim: str, document: Document, n: int) -> Response:
    from whycite.verify import verify as verify_claim
    from whycite.verify.heatmap import as_json
    from whycite.verify.heatmap.heat import usual_threshold
    from whycite.verify.jsonform import as_dict
    from whycite.verify.lexical import forms

    found = verify_claim(claim, document)
    told = {
        "path": document.path,
        "title": document.paper.title,
        **as_json(document, found),
        "passages": as_dict(found, n)["passages"],
        "warnings": list(document.warnings),
        "threshold": usual_threshold(found),
        "steps": {
            "characters": sum(len(sentence.text) for sentence in document.sentences),
            "sentences": len(document.sentences),
            "normalised": forms(found.claim),
            "compared": len(found.passages),
        },
    }
    return answered(told)
