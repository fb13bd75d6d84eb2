"""Claims about papers of which nothing but title and abstract is known: in a new library most are such.

What titles and abstracts say counts more where no one has cited a paper than beside what others say of it, and words of
an abstract more than those of a title; weights that are fitted to cited papers alone do not know that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from whycite.documents import Reference
from whycite.evaluation.abstracts import library_of
from whycite.evaluation.corpus import Watch
from whycite.evaluation.drawing import draw
from whycite.evaluation.workspace import Prepared
from whycite.library import Library
from whycite.library.encoding import encoder_of
from whycite.library.schema import identifier
from whycite.recommend.evidence_sum import EvidenceSum
from whycite.recommend.features import TITLE
from whycite.recommend.weights import PAPER, Weights
from whycite.training.weights import Asked, ask

__all__ = ["abstracts_asked", "uncited"]

_FOLDER = "abstracts"  # beside a topic's library


def uncited(asked: Sequence[Asked]) -> list[Asked]:
    """The claims as if no document of the library cited any paper."""
    return [_uncited(each) for each in asked]


def _uncited(asked: Asked) -> Asked:
    features = asked.features
    titles = features.spans == TITLE
    kept = np.zeros(len(features.papers), bool)
    kept[features.of[titles]] = True
    bare = replace(
        features, of=features.of[titles], spans=features.spans[titles], evidence=features.evidence[titles]
    ).only(kept)
    paper = bare.paper.copy()
    paper[:, [PAPER.index(name) for name in ("support", "cocited")]] = 0
    return Asked(replace(bare, paper=paper), asked.right[kept])


def abstracts_asked(
    prepared: Sequence[Prepared], claims: int, seed: int, weights: Weights, watch: Watch
) -> list[Asked]:
    """Some claims of every topic that cite a document of its library, found among these by title and abstract."""
    found: list[Asked] = []
    for topic in prepared:
        library = Library.open(topic.library)
        papers = _documents(library)
        cases = [case for case in topic.claims.cases if papers.keys() & {*case.truth}]
        if not cases:
            continue
        watch(f"{topic.topic}: abstracts", 0, None)
        encoder = encoder_of(library.encoder, library.path)
        place = topic.library.parent / _FOLDER
        alone = library_of(place, str(topic.library), [*papers.values()], encoder)
        keys = {key: known for key, known in zip(papers, alone.find([*papers.values()]), strict=True) if known}
        known = [replace(case, truth=tuple(keys[key] for key in case.truth if key in keys)) for case in cases]
        found += ask(
            EvidenceSum(alone, encoder, weights),
            draw(known, lambda case: case.id, claims, seed),
            topic.claims.sources,
        )
    return found


def _documents(library: Library) -> dict[str, Reference]:
    """The documents that have an abstract, by key."""
    keys = [entry.key for entry in library.documents() if entry.key]
    papers = library.papers(sorted({identifier(key) for key in keys}))
    return {
        key: Reference(key, paper.title, paper.authors, paper.year, doi=paper.doi, abstract=paper.abstract)
        for key in dict.fromkeys(keys)
        if (paper := papers.get(identifier(key))) and paper.abstract
    }
