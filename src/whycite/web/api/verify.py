"""Which sentences of a cited paper back a claim."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Form, UploadFile

from whycite.documents.model import Document
from whycite.serving.problems import Problem
from whycite.verify import verify as verify_claim
from whycite.verify.heatmap import as_json
from whycite.verify.heatmap.heat import usual_threshold
from whycite.web.api.files import received
from whycite.web.api.shared import PROBLEMS, Here, Server
from whycite.web.uploads import Upload, read_draft

__all__ = ["router"]

router = APIRouter(tags=["verify"])


@router.post("/verify", responses=PROBLEMS)
async def verify(
    here: Here,
    claim: Annotated[str, Form(min_length=1, max_length=20_000)],
    files: list[UploadFile] | None = None,
    document: Annotated[str | None, Form(pattern=r"^-?\d{1,20}$")] = None,
) -> dict[str, Any]:
    """The verdict on a claim and every sentence of the cited paper with its score.

    The paper is sent, or named by the id that it has in the library; then it is read from where it was added.
    """
    if bool(files) == (document is not None):
        raise Problem(422, "Send the cited paper, or name one of the library's documents.")
    sent = await received(files, here.settings.files) if files else []
    return await here.work.do(_verify, here, claim, sent, document)


def _verify(here: Server, claim: str, sent: Sequence[Upload], id: str | None) -> dict[str, Any]:
    document = read_draft(sent) if id is None else _of_library(here, id)
    found = verify_claim(claim, document)
    return {
        **as_json(document, found),
        "threshold": usual_threshold(found),
        "steps": {
            "characters": sum(len(sentence.text) for sentence in document.sentences),
            "normalised": " ".join(claim.split()),
        },
    }


def _of_library(here: Server, id: str) -> Document:
    """The full text of a document, if it is still where it was added from."""
    entry = next((entry for entry in here.current.library().documents() if str(entry.id) == id), None)
    if entry is None:
        raise Problem(404, "The library has no such document.")
    path = Path(entry.path)
    if not path.is_absolute() or not path.is_file():
        raise Problem(422, "The library keeps no full text, and the file it came from is not there: open the file.")
    return read_draft([Upload(path.name, path.read_bytes())])
