"""Topics: the papers of a subject, or those whose abstract names the topic (ILCiteR, section 5.1)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from whycite.errors import UserError

__all__ = ["Topic", "named", "resolve"]


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic by the subject its papers have, or by words of which their abstracts hold one."""

    name: str
    subject: str = ""
    terms: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        """What makes a paper one of the topic, in words."""
        return f"subject {self.subject}" if self.subject else f"abstract holds {' or '.join(self.terms)}"

    def holds(self, subjects: Collection[str], abstract: str) -> bool:
        """Whether a paper with these subjects and this abstract belongs to the topic."""
        return self.subject in subjects if self.subject else any(_stands_in(term, abstract) for term in self.terms)


def named(text: str) -> tuple[Topic, ...]:
    """The topics a user names, not yet held against the subjects there are: "Ecology,NER=named entity recognition|NER".

    A name alone is a subject, or how one begins; after "=" stand words for abstracts.
    """
    topics = []
    for part in text.split(","):
        name, sign, words = (piece.strip() for piece in part.partition("="))
        terms = tuple(term.strip() for term in words.split("|") if term.strip())
        if not name or (sign and not terms):
            raise UserError(f"'{part.strip()}' is no topic; write a subject, or NAME=words|ABBREVIATION")
        topics.append(Topic(name, "" if sign else name, terms))
    return tuple(topics)


def resolve(topics: Sequence[Topic], subjects: Iterable[str]) -> list[Topic]:
    """The topics with their subjects by the full names that the papers have."""
    there = sorted(set(subjects))
    return [Topic(topic.name, _subject(topic.subject, there)) if topic.subject else topic for topic in topics]


def _subject(name: str, there: Sequence[str]) -> str:
    if not there:
        raise UserError(
            f"the papers have no subjects; say what abstracts on '{name}' hold: --topics '{name}=words|ABBR'"
        )
    low = name.lower()
    exact = [subject for subject in there if subject.lower() == low]
    fitting = exact or [subject for subject in there if subject.lower().startswith(low)]
    if len(fitting) != 1:
        fault = "could be several" if fitting else "is no subject of these papers"
        raise UserError(f"topic '{name}' {fault}; there are: {', '.join(fitting or there)}")
    return fitting[0]


def _stands_in(term: str, text: str) -> bool:
    """Whether a term stands in a text as words; an abbreviation in capitals only so."""
    flags = 0 if term.isupper() else re.IGNORECASE
    pattern = r"\s+".join(map(re.escape, term.split()))
    return re.search(rf"(?<!\w){pattern}(?!\w)", text, flags) is not None
