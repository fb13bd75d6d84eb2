"""Retractions, expressions of concern and corrections: what references say of them, and what they make of a paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from whycite.documents.model import Notice, NoticeKind, Reference

__all__ = ["PaperStatus", "describe_status", "is_notice", "may_state_notice", "paper_status", "stated_notices"]

PaperStatus = Literal["", "retracted", "concern", "corrected", "notice"]
"""What a paper has become: "" if it stands, "notice" if it is itself a notice about another one."""

_KINDS = get_args(NoticeKind)
# In capitals, or set off from the title: "RETRACTED ARTICLE: …", "[Retracted] …", "… (Withdrawn)".
_RETRACTED_TITLE = re.compile(
    r"\W*(?:(?:RETRACTED|WITHDRAWN)\b"
    r"|(?i:retracted|withdrawn)(?:\s+(?i:article|paper|chapter|manuscript|version))?\s*(?:[:\])]|\s[—–-]\s))"
    r"|.{10,}[(\[](?i:retracted|withdrawn)(?:\s(?i:article|paper|version))?[)\]]\W*\Z",
    re.DOTALL,
)
# A colon sets off the title of a notice: "Correction of motion" and "Retraction of the tongue" are papers.
_NOTICE_TITLE = re.compile(
    r"""\W*(?:
        (?:statement|notice)\s+of\s+(?:retraction|withdrawal)\b
      | (?:retraction|withdrawal)\s+(?:note|notice|statement)\b
      | (?:partial\s+)?retraction\s*(?: : | \Z | \s(?:to|of|for|[—–-])\s*: | \s(?:to|for)\s.{0,200}\bet\sal )
      | (?:(?:author|publisher|editorial|author's|publisher's)\s+)?(?:correction|erratum|errata|corrigend(?:um|a))
            (?:\s+(?:notice|note))?\s*(?: : | \Z | \s(?:to|for)\s*: | \s(?:to|for)\s.{0,200}\bet\sal )
      | (?:erratum|corrigendum)\s+(?:to|for)\b
      | (?:editorial\s+)?expressions?\s+of\s+concern\b(?!\s+in\b)
    )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_RETRACTED_NOTE = re.compile(r"\b(?:retract(?:ed|ion)|withdrawn)\b", re.IGNORECASE)
_CONCERN_NOTE = re.compile(r"\bexpressions? of concern\b", re.IGNORECASE)
_MAX_TITLE = 1_000  # characters of a title that are searched
_TITLE_SIGNS = ("retract", "thdraw", "corr", "errat", "concern")  # in every title that one of the patterns matches


def may_state_notice(title: str) -> bool:
    """Whether a title needs a closer look; most do not, and this is fast."""
    title = title.lower()
    return any(sign in title for sign in _TITLE_SIGNS)


def stated_notices(reference: Reference) -> tuple[Notice, ...]:
    """What a reference itself says: its source's notices, and words in its title or its notes."""
    notices = list(reference.notices)
    note = reference.publication.note
    if any(_RETRACTED_TITLE.match(title[:_MAX_TITLE]) for title in (reference.title, reference.text)):
        notices.append(Notice("retraction", source="its title"))
    elif _RETRACTED_NOTE.search(note):
        notices.append(Notice("retraction", source="a note in the bibliography"))
    elif _CONCERN_NOTE.search(note):
        notices.append(Notice("concern", source="a note in the bibliography"))
    return tuple(notices)


def is_notice(reference: Reference) -> bool:
    """Whether a reference is itself a notice about another paper, which nobody should cite in its place."""
    return reference.publication.type in _KINDS or bool(_NOTICE_TITLE.match(reference.title[:_MAX_TITLE]))


def paper_status(notices: Sequence[Notice], itself_notice: bool = False) -> PaperStatus:
    """What notices make of a paper; the worst counts, unless the paper was reinstated later."""
    if itself_notice:
        return "notice"
    reinstated = max((notice.date for notice in notices if notice.kind == "reinstatement"), default=None)
    kinds = {notice.kind for notice in notices if reinstated is None or notice.date > reinstated}
    if "retraction" in kinds:
        return "retracted"
    if "concern" in kinds:
        return "concern"
    return "corrected" if "correction" in kinds else ""


_PHRASES: dict[PaperStatus, str] = {
    "retracted": "Retracted",
    "concern": "Expression of concern",
    "corrected": "Corrected",
    "notice": "A notice about another paper",
}
_KIND_OF_STATUS: dict[PaperStatus, NoticeKind] = {
    "retracted": "retraction",
    "concern": "concern",
    "corrected": "correction",
}


def describe_status(status: PaperStatus, notices: Iterable[Notice]) -> str:
    """What happened to a paper, in a line: "Retracted 2015-10-19: unreliable data (doi:10.1371/x)"; "" if it stands."""
    if not status:
        return ""
    matching = [notice for notice in notices if notice.kind == _KIND_OF_STATUS.get(status)]
    # Several sources may know of one notice; one that says why says most.
    notice = max(matching, key=lambda notice: (bool(notice.reason), bool(notice.date), bool(notice.doi)), default=None)
    phrase = _PHRASES[status]
    if notice is None:
        return phrase
    date = next((source.date for source in (notice, *matching) if source.date), "")
    doi = next((source.doi for source in (notice, *matching) if source.doi), "")
    summary = f"{phrase} {date}".rstrip() + (f": {notice.reason}" if notice.reason else "")
    details = ", ".join(filter(None, (doi and f"doi:{doi}", notice.source and f"according to {notice.source}")))
    return f"{summary} ({details})" if details else summary
