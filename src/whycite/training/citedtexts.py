"""Claims with the full text of what they cite, where papers at hand cite each other; and with a like one they do not.

A verdict on a whole paper is hard where the paper is about the same thing and says something else: a claim is held
against the paper it cites, and against the most similar other one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from random import Random

import numpy as np

from whycite import structure
from whycite.documents import stream
from whycite.documents.identity import paper_key
from whycite.documents.model import Document
from whycite.encoders import Encoder
from whycite.evaluation.passages.model import Case, Label
from whycite.evidence.words import content_words
from whycite.verify.prose import own_sentences

__all__ = ["cited_texts"]

_WORDS = 8  # of a claim that says something by itself


@dataclass(frozen=True, slots=True)
class _Claim:
    text: str
    citing: str
    cited: str
    beside: frozenset[str]  # all that its document cites


def cited_texts(
    paths: Sequence[Path],
    number: int,
    encoder: Encoder,
    chance: Random,
    watch: Callable[[int], None] = lambda read: None,
) -> list[Case]:
    """Some cases with the label "backed", the cited paper being at hand, and as many "not found" with one like it."""
    titles: dict[str, str] = {}
    claims: list[_Claim] = []
    for read, document in enumerate(_all(paths), 1):
        key = paper_key(document.paper)
        if key and document.sentences:
            titles[key] = document.paper.title
            claims += _claims(document, key)
        watch(read)
    asked = [claim for claim in claims if claim.cited in titles and claim.citing != claim.cited]
    asked = chance.sample(asked, min(number, len(asked)))
    others = _nearest(asked, titles, encoder)
    wanted = {*(claim.cited for claim in asked), *others}
    texts = {key: document for document in _all(paths) if (key := paper_key(document.paper)) in wanted}
    return [
        case
        for claim, other in zip(asked, others, strict=True)
        for case in (_case(claim, texts[claim.cited], "backed"), _case(claim, texts[other], "not found"))
    ]


def _all(paths: Sequence[Path]) -> Iterator[Document]:
    return chain.from_iterable(map(stream, paths))


def _claims(document: Document, key: str) -> Iterator[_Claim]:
    """Sentences that cite one paper alone."""
    keys = {reference.id: paper_key(reference) for reference in document.references}
    cited = frozenset(filter(None, keys.values()))
    for sentence in document.sentences:
        named = {name for citation in sentence.citations for name in citation.keys}
        if sentence.kind == "prose" and len(named) == 1 and (paper := keys.get(named.pop())):
            text = sentence.without_citations()
            if content_words(text, _WORDS):
                yield _Claim(text, key, paper, cited)


def _nearest(claims: Sequence[_Claim], titles: dict[str, str], encoder: Encoder) -> list[str]:
    """For each claim the paper whose title is most like that of the cited one, and which its document does not cite."""
    names = sorted(titles)
    vectors = encoder.encode([titles[name] for name in names])
    places = {name: at for at, name in enumerate(names)}
    found = []
    for claim in claims:
        order = np.argsort(-(vectors @ vectors[places[claim.cited]]), kind="stable").tolist()
        taken = claim.beside | {claim.cited, claim.citing}
        found.append(next(names[at] for at in order if names[at] not in taken))
    return found


def _case(claim: _Claim, document: Document, label: Label) -> Case:
    document = structure.label(document)
    own, headings, _ = own_sentences(document)
    return Case(
        id=f"{claim.citing} {claim.cited} {label}",
        dataset="cited",
        claim=claim.text,
        citing=claim.citing,
        document=paper_key(document.paper) or document.path,
        sentences=tuple(document.sentences[at].text for at in own),
        label=label,
        sections=tuple(headings),
    )
