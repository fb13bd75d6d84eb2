"""Claims with the full text of what they cite, where papers at hand cite each other; and what that does not say.

A verdict on a whole paper is hard where the paper is about the same thing and says something else: a claim is held
against the paper it cites, and against the most similar other one; and the paper is asked for another claim of the same
document, which cites something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from random import Random
from zlib import crc32

import numpy as np

from whycite import structure
from whycite.documents import stream
from whycite.documents.identity import paper_key
from whycite.documents.model import Document
from whycite.encoders import Encoder
from whycite.evaluation.passages.model import Case
from whycite.evidence.words import content_words
from whycite.verify.prose import own_sentences

__all__ = ["KINDS", "cited_texts"]

KINDS = (
    "cited",
    "like",
    "beside",
)  # how the id of a case ends: its paper is the one cited, one like it; its claim another

_PARTS = 3
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
    held_out: bool = False,
) -> list[Case]:
    """For so many claims cases with the label "backed", the cited paper being at hand, and two "not found" for each.

    A third of the papers is held out of all cases but those that ask for it.
    """
    titles: dict[str, str] = {}
    claims: list[_Claim] = []
    for read, document in enumerate(_all(paths), 1):
        key = paper_key(document.paper)
        if key and document.sentences:
            if (crc32(key.encode()) % _PARTS == 0) == held_out:
                titles[key] = document.paper.title
            claims += _claims(document, key)
        watch(read)
    beside: dict[str, list[_Claim]] = {}
    for claim in claims:
        beside.setdefault(claim.citing, []).append(claim)
    asked = [claim for claim in claims if claim.cited in titles and claim.citing != claim.cited]
    asked = chance.sample(asked, min(number, len(asked)))
    if not asked:
        return []
    others = _nearest(asked, titles, encoder)
    wanted = {*(claim.cited for claim in asked), *others}
    texts = {key: document for document in _all(paths) if (key := paper_key(document.paper)) in wanted}
    cases = []
    for claim, other in zip(asked, others, strict=True):
        cases.append(_case(claim, texts[claim.cited], "cited"))
        if other is not None:
            cases.append(_case(claim, texts[other], "like"))
        if elsewhere := [each for each in beside[claim.citing] if each.cited != claim.cited]:
            said = replace(claim, text=chance.choice(elsewhere).text)
            cases.append(_case(said, texts[claim.cited], "beside"))
    return cases


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


def _nearest(claims: Sequence[_Claim], titles: dict[str, str], encoder: Encoder) -> list[str | None]:
    """For each claim the paper whose title is most like that of the cited one, and which its document does not cite.

    None: there is no other.
    """
    names = sorted(titles)
    vectors = encoder.encode([titles[name] for name in names])
    places = {name: at for at, name in enumerate(names)}
    found = []
    for claim in claims:
        order = np.argsort(-(vectors @ vectors[places[claim.cited]]), kind="stable").tolist()
        taken = claim.beside | {claim.cited, claim.citing}
        found.append(next((names[at] for at in order if names[at] not in taken), None))
    return found


def _case(claim: _Claim, document: Document, kind: str) -> Case:
    document = structure.label(document)
    own, headings, _ = own_sentences(document)
    return Case(
        id=f"{claim.citing} {claim.cited} {kind}",
        dataset="cited",
        claim=claim.text,
        citing=claim.citing,
        document=paper_key(document.paper) or document.path,
        sentences=tuple(document.sentences[at].text for at in own),
        label="backed" if kind == "cited" else "not found",
        sections=tuple(headings),
    )
