"""The document that a request is about: it is sent, or one of the library's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Form, UploadFile

from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.serving.problems import Problem
from whycite.web.api.files import received
from whycite.web.api.library import entries
from whycite.web.api.shared import Server
from whycite.web.reading import read_draft, read_kept

__all__ = ["Id", "given"]

Id = Annotated[str | None, Form(pattern=r"^-?[0-9]{1,20}$")]


def given(here: Server, files: list[UploadFile] | None, id: str | None) -> Callable[[], Document]:
    """Reads the files that were sent, or the document of that id from where it was added."""
    if bool(files) == (id is not None):
        raise Problem(422, "Send a document, or name one of the library's.")
    if id is not None:
        return lambda: _of_library(here, id)
    sent = received(files or [], here.settings.files)
    return lambda: read_draft(sent)


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
