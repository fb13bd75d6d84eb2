"""Recommendations from the draft's own bibliography, and which papers of a library it has already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from whycite.check.entries import FEATURES, Entries, Held
from whycite.check.entryscores import DOUBT, order, scores
from whycite.check.merging import Ranked
from whycite.documents.identity import normalise_title, paper_key
from whycite.documents.model import Document, Reference
from whycite.recommend import Evidence, Recommendation
from whycite.recommend.model import same_title

__all__ = ["Owned", "own_recommendations"]

MOST = 20  # entries that are considered for a sentence
_SHOWN = 5  # sentences of the draft shown for an entry
_WORDS = 4  # of a title that needs no year to tell a paper


def own_recommendations(entries: Entries, sentences: Sequence[int], masked: bool = False) -> list[Ranked]:
    """The entries that fit sentences, best first; none from the future.

    What a sentence cites itself is left out, unless it is `masked`: then it is as if it cited nothing.
    """
    return [_ranked(entries, at, held, masked) for at, held in zip(sentences, entries.hold(sentences), strict=True)]


def _ranked(entries: Entries, at: int, held: Held, masked: bool) -> Ranked:
    from whycite.library.model import Paper, Source

    document = entries.document
    cited = set() if masked else {key for citation in document.sentences[at].citations for key in citation.keys}
    source = Source(paper_key(document.paper) or "", document.paper.title or document.path, document.paper.year)
    values = scores(held)
    meanings, authors = (held.features[:, FEATURES.index(name)] for name in ("meaning", "author"))
    found: list[tuple[str | None, Recommendation]] = []
    doubtful = True
    for row in order(held).tolist():
        place = int(held.entries[row])
        entry = entries.references[place]
        if entry.id in cited or not _may(entry, document):
            continue
        doubtful = bool(meanings[row] < DOUBT and not authors[row]) if not found else doubtful
        said = [one for one, of in entries.pairs if of == place and entries.citing[one] != at]
        best = sorted(said, key=lambda one: (-held.cosines[one].round(6), one))[:_SHOWN]
        evidence = tuple(
            Evidence(text, float(np.clip(held.cosines[one], 0, 1)), text, source)
            for one in best
            for text in [entries.texts[entries.citing[one]]]
        )
        paper = Paper(
            paper_key(entry) or f"entry:{entry.id}",
            entry.title or entry.text,
            entry.authors,
            entry.year,
            entry.venue,
            entry.doi,
            entry.abstract,
        )
        value = float(values[row])
        found.append((entry.id, Recommendation(len(found) + 1, value, len(said), paper, evidence, {"fit": value})))
        if len(found) == MOST:
            break
    # A conditional logit: scores differ as the logarithms of odds do.
    return Ranked(tuple(found), tuple(one.score - found[0][1].score for _, one in found), doubtful)


def _may(entry: Reference, document: Document) -> bool:
    """Whether a draft may cite an entry: not newer than itself, and not itself."""
    year = document.paper.year
    if year is not None and entry.year is not None and entry.year > year:
        return False
    return not same_title(entry.title, document.paper.title)


class Owned:
    """Tells the entry of the draft's bibliography that is a paper of a library."""

    def __init__(self, references: Sequence[Reference], papers: Mapping[str, str]) -> None:
        """`papers`: the library's key for the ids of entries, as far as they were looked up."""
        self._by_key = {key: id for id, key in papers.items()}
        self._by_title: dict[str, Reference] = {}
        for each in references:
            if key := paper_key(each):
                self._by_key.setdefault(key, each.id)
            if title := normalise_title(each.title):
                self._by_title.setdefault(title, each)

    def key(self, recommendation: Recommendation) -> str | None:
        """The entry's key, where the bibliography has the paper."""
        paper = recommendation.paper
        if paper.key in self._by_key:
            return self._by_key[paper.key]
        title = normalise_title(paper.title)
        entry = self._by_title.get(title) if title else None
        if entry is None:
            return None
        years = paper.year is not None and entry.year is not None
        near = years and abs((paper.year or 0) - (entry.year or 0)) <= 1
        return entry.id if near or len(title.split()) >= _WORDS else None
