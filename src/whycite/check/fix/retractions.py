"""Papers that are marked as retracted, in their title or in a note of their entry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from whycite.check.fix.edits import DraftProject, text_of
from whycite.documents.references.bibtex import read_entries

__all__ = ["entry_notes", "is_retracted"]


# In capitals, or set off from the title: "RETRACTED ARTICLE: …", "[Retracted] …", "Retraction: …".
_TITLE = re.compile(
    r"\W*(?:(?:RETRACTED|WITHDRAWN|RETRACTION)\b"
    r"|(?i:retracted|withdrawn|retraction)(?:\s+(?i:article|paper|chapter|note|notice))?\s*[:\])—–-])"
)
_NOTE = re.compile(r"\b(?:retract(?:ed|ion)|withdrawn)\b", re.IGNORECASE)
_NOTE_FIELDS = ("note", "annote", "annotation", "addendum", "pubstate")


def is_retracted(titles: Iterable[str], note: str = "") -> bool:
    """Whether a title or the notes of an entry say that a paper was retracted."""
    return any(_TITLE.match(title) for title in titles) or bool(_NOTE.search(note))


def entry_notes(project: DraftProject) -> Mapping[str, str]:
    """The notes of each entry in the .bib files of a draft, by key."""
    entries = [
        entry
        for name, data in project.contents.items()
        if name.lower().endswith(".bib")
        for entry in read_entries(text_of(data), name)[0]
    ]
    return {entry.key: " ".join(entry.fields.get(field, "") for field in _NOTE_FIELDS) for entry in entries}
