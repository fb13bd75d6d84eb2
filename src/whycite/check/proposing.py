"""Which papers sentences of a draft could cite: of its own bibliography, and of a library."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from whycite.check.entries import MOST, Entries, families, naming
from whycite.check.entryscores import WEIGHTS
from whycite.check.keys import Keys
from whycite.check.merging import Ranked, merge
from whycite.check.model import Proposal
from whycite.check.owning import Owned, own_recommendations
from whycite.check.shelf import Shelf
from whycite.documents.model import Document, Reference
from whycite.encoders import Encoder
from whycite.evidence.words import content_words
from whycite.recommend import Claim, Recommendation

__all__ = ["Proposed", "propose"]

_ASKED = 20  # papers that a library is asked for, so that those which both sources know meet
# Fitted to citing sentences of articles of three fields, half of them with what they cite taken out of the bibliography
# (benchmarks/RESULTS.md): a paper whose score is so far above the doubtful ones is as likely as the best entry.
_EVEN = 5.0
_SCALE = 0.6


@dataclass(slots=True)
class Proposed:
    """Proposals by the place of their sentence, and the seconds each source took."""

    by_sentence: dict[int, tuple[Proposal, ...]]
    seconds: dict[str, float] = field(default_factory=dict)


def propose(
    document: Document,
    sentences: Sequence[int],
    encoder: Encoder,
    shelf: Shelf | None = None,
    n: int = 3,
    told: Callable[[], None] = lambda: None,
    *,
    bibliography: bool = True,
    masked: bool = False,
) -> Proposed:
    """The n best papers for each of the sentences, which are given by their places.

    Without `bibliography` the library alone is asked; `masked`: as if each of the sentences cited nothing.
    """
    started = time.perf_counter()
    entries = Entries(document, encoder)
    asked = [at for at in sentences if content_words(entries.texts[at])]
    own = own_recommendations(entries, asked, masked) if bibliography else [Ranked((), ())] * len(asked)
    between = time.perf_counter()
    library = (
        _library(entries, asked, shelf, max(_ASKED, n), told, masked)
        if shelf and asked
        else [Ranked((), ())] * len(asked)
    )
    keys = Keys(document.references, _all_cited(document))
    found = {at: merge(own[i], library[i], n, keys) for i, at in enumerate(asked)}
    return Proposed(found, {"bibliography": between - started, "library": time.perf_counter() - between})


def _library(
    entries: Entries, sentences: Sequence[int], shelf: Shelf, n: int, told: Callable[[], None], masked: bool
) -> list[Ranked]:
    document = entries.document
    known = document.references if len(document.references) <= MOST else _cited(document)
    found = shelf.find(known)
    papers = {reference.id: key for reference, key in zip(known, found, strict=True) if key}
    owned = Owned(document.references, papers)
    answers = shelf.recommend([_claim(entries, at, papers) for at in sentences], n, told)
    ranked = []
    for at, answer in zip(sentences, answers, strict=True):
        cited = set() if masked else {key for citation in document.sentences[at].citations for key in citation.keys}
        choice = [(key, one) for one in answer.papers if (key := owned.key(one)) not in cited]
        odds = _odds(entries.texts[at], [one for _, one in choice], answer.doubt)
        ranked.append(Ranked(choice, odds, answer.doubtful))
    return ranked


def _odds(sentence: str, found: Sequence[Recommendation], doubt: float | None) -> list[float]:
    """The odds of a library's papers, as those of a bibliography count: whom the sentence names is likely meant."""
    if not found:
        return []
    even = found[0].score if doubt is None else doubt + _EVEN
    named = naming(sentence)
    return [_SCALE * (one.score - even) + WEIGHTS["author"] * named(families(one.paper.authors)) for one in found]


def _claim(entries: Entries, at: int, papers: dict[str, str]) -> Claim:
    """The sentence with what is around it; what its section cites elsewhere is cited beside it (SCOPE 3.3)."""
    document, sentence = entries.document, entries.document.sentences[at]
    cited = {
        papers[key]
        for place in entries.citing
        for other in [document.sentences[place]]
        if other.section == sentence.section and place != at
        for citation in other.citations
        for key in citation.keys
        if key in papers
    }
    paragraph = entries.paragraph(at)
    return Claim(
        entries.texts[at],
        title=document.paper.title,
        section_type=document.sections[sentence.section].type,
        paragraph=paragraph if paragraph != entries.texts[at] else "",
        cited=tuple(sorted(cited)),
        year=document.paper.year,
    )


def _cited(document: Document) -> tuple[Reference, ...]:
    cited = _all_cited(document)
    return tuple(reference for reference in document.references if reference.id in cited)


def _all_cited(document: Document) -> set[str]:
    return {key for sentence in document.sentences for citation in sentence.citations for key in citation.keys}
