"""Which sentences of a cited paper back a claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Form, UploadFile
from fastapi.responses import Response

from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.serving.problems import Problem
from whycite.web.api.files import received
from whycite.web.api.library import entries
from whycite.web.api.shared import PROBLEMS, Here, Server, answered
from whycite.web.reading import read_draft, read_kept
from whycite.web.schemas import VerifyAnswer
from whycite.web.uploads import Upload

__all__ = ["router"]

router = APIRouter(tags=["verify"])


@router.post("/verify", response_model=VerifyAnswer, responses=PROBLEMS)
async def verify(
    here: Here,
    claim: Annotated[str, Form(min_length=1, max_length=20_000)],
    files: list[UploadFile] | None = None,
    document: Annotated[str | None, Form(pattern=r"^-?[0-9]{1,20}$")] = None,
    n: Annotated[int, Form(ge=1, le=1000)] = 25,
) -> Response:
    """The verdict on a claim, the best `n` passages, and every sentence of the cited paper with its score.

    The paper is sent, or named by the id that it has in the library; then it is read from where it was added.
    """
    if bool(files) == (document is not None):
        raise Problem(422, "Send the cited paper, or name one of the library's documents.")
    sent = received(files, here.settings.files) if files else []
    return await here.work(lambda: _verify(here, claim, sent, document, n))


def _verify(here: Server, claim: str, sent: Sequence[Upload], id: str | None, n: int) -> Response:
    from whycite.verify import verify as verify_claim
    from whycite.verify.heatmap import as_json
    from whycite.verify.heatmap.heat import usual_threshold
    from whycite.verify.jsonform import as_dict
    from whycite.verify.lexical import forms

    document = read_draft(sent) if id is None else _of_library(here, id)
    found = verify_claim(claim, document)
    told = {
        "path": document.path,
        "title": document.paper.title,
        **as_json(document, found),
        "passages": as_dict(found, n)["passages"],
        "threshold": usual_threshold(found),
        "steps": {
            "characters": sum(len(sentence.text) for sentence in document.sentences),
            "sentences": len(document.sentences),
            "normalised": forms(found.claim),
            "compared": len(found.passages),
        },
    }
    return answered(told)


def _of_library(here: Server, id: str) -> Document:
    """The full text of a document, if it is still where it was added from."""
    from whycite.library.paths import file_of

    path = next((entry.path for entry, _ in here.current.known(entries) if str(entry.id) == id), None)
    if path is None:
        raise Problem(404, "The library has no such document.")
    file = file_of(path)
    if file is None:
        raise UserError("the library keeps no full text, and the file it came from is not there: open the file itself")
    return read_kept(file, path)
