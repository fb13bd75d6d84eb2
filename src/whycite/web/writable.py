"""Whether citations can be put into a draft: told before anybody chooses one."""

from __future__ import annotations

from pathlib import Path

from whycite.documents.model import Document
from whycite.errors import UserError

__all__ = ["unwritable"]

_WRITTEN = ("latex", "markdown", "typst")


def unwritable(document: Document, folder: Path) -> str:
    """Why no citation can be put into the draft that was read from a folder; empty where some can."""
    from whycite.check.fixing.bibliography import find_bibliography
    from whycite.check.fixing.project import Project
    from whycite.check.fixing.styles import style_of

    if document.format not in _WRITTEN:
        found = style_of(document, {})
        return found if isinstance(found, str) else ""
    if document.references:  # these at least can be cited
        return ""
    try:
        project = Project(document, folder)
        project.read()
    except UserError as error:
        return str(error)
    place = find_bibliography(project, document)
    return f"{place}; or send the bibliography together with the draft" if isinstance(place, str) else ""
