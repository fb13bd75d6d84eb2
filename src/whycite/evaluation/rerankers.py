"""Rerankers by name: a ranker, BM25 and the encoder's cosine, each with SCOPE's input variants (4.4.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from whycite.candidates.bm25 import Bm25
from whycite.candidates.model import Paper
from whycite.encoders import Encoder, facts, tokens
from whycite.rerank.inputs import claim_text
from whycite.rerank.ranker import FACTS, Ranker
from whycite.rerank.variants import VARIANTS, Place, Variant, claim, paper, variant
from whycite.text.tokens import terms

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["Bm25Reranker", "Both", "EncoderReranker", "RankerReranker", "Reranker", "Room", "rerankers", "room_of"]

_TEMPERATURE = 0.05  # at which a ranker's scores and cosines are added
Floats = NDArray[np.floating]


class Reranker(Protocol):
    """Scores papers for a claim and the draft around it; higher is better."""

    @property
    def name(self) -> str: ...

    def score(self, place: Place, papers: Sequence[Paper]) -> Floats: ...


class Room:
    """How many tokens a ranker reads of a claim and a paper together, and how many a word takes."""

    def __init__(self, longest: int, cost: Callable[[str], int]) -> None:
        self.longest, self.cost = longest, cost

    def for_claim(self, texts: Iterable[str]) -> int:
        """Tokens for a claim beside any of these texts, where the longer of two is cut (longest-first)."""
        marks = 3 + self.cost(claim_text("paper", "").strip())
        longest = max((sum(self.cost(word) for word in text.split()) for text in texts), default=0)
        return max(self.longest // 2, self.longest - longest) - marks


def room_of(folder: Path) -> Room:
    """What the ranker in a folder has room for, by its own tokenizer."""
    about = facts.read(folder, FACTS)
    tokenizer: Tokenizer = tokens.opened(folder, about.max_tokens)

    @lru_cache(maxsize=200_000)
    def cost(word: str) -> int:
        return len(tokenizer.encode(f" {word}", add_special_tokens=False).ids)

    return Room(about.max_tokens, cost)


class RankerReranker:
    """A ranker that reads claim and paper side by side, as an input variant has them."""

    def __init__(self, ranker: Ranker, variant: Variant, room: Room | None = None, name: str = "ranker") -> None:
        self._ranker, self._variant, self._room = ranker, variant, room
        self.name = f"{name}-{variant.name}"
        self._done: dict[tuple[Place, tuple[str, ...]], Floats] = {}

    def score(self, place: Place, papers: Sequence[Paper]) -> Floats:
        """The ranker's scores; worked out once, since others build on them."""
        asked = place, tuple(each.key for each in papers)
        if asked not in self._done:
            self._done[asked] = self._score(place, papers)
        return self._done[asked]

    def _score(self, place: Place, papers: Sequence[Paper]) -> Floats:
        texts = [paper(self._variant, each.title, each.abstract, each.year) for each in papers]
        if self._room is None:
            return self._ranker.score("paper", claim(self._variant, place), texts)
        read = claim(self._variant, place, self._room.for_claim(texts), self._room.cost)
        return self._ranker.score("paper", read, texts)


class Bm25Reranker:
    """Local BM25: terms weighed over all papers, not only over the candidates."""

    def __init__(self, papers: Iterable[Paper], variant: Variant, masked: bool) -> None:
        self._all, self._variant, self._masked = list(papers), variant, masked
        masking = "" if variant.around == "abstract" else " (with masking)" if masked else " (no masking)"
        self.name = f"bm25-{variant.name}{masking}"

    def score(self, place: Place, papers: Sequence[Paper]) -> Floats:
        """BM25 of title and abstract for all of the claim's text, which is not cut."""
        index, places = self._index
        found = index.scores(terms(claim(self._variant, place, masked=self._masked)))
        return found[[places[each.key] for each in papers]]

    @cached_property
    def _index(self) -> tuple[Bm25, dict[str, int]]:
        texts = (terms(f"{each.title} {each.abstract}") for each in self._all)
        return Bm25(texts, k1=1.5, b=0.75), {each.key: place for place, each in enumerate(self._all)}


class EncoderReranker:
    """The cosine of the encoder's vectors of claim and paper."""

    def __init__(self, encoder: Encoder, variant: Variant) -> None:
        self._encoder, self._variant = encoder, variant
        self.name = f"encoder-{variant.name}"
        self._known: dict[str, NDArray[np.float32]] = {}

    def score(self, place: Place, papers: Sequence[Paper]) -> Floats:
        """Cosines; papers' vectors are made once."""
        new = {each.key: paper(self._variant, each.title, each.abstract) for each in papers}
        new = {key: text for key, text in new.items() if key not in self._known}
        if new:
            self._known |= dict(zip(new, self._encoder.encode(list(new.values())), strict=True))
        asked = self._encoder.encode([claim(self._variant, place)])[0]
        return np.array([float((self._known[each.key] * asked).sum()) for each in papers])


class Both:
    """A ranker on top of the encoder, as ours is trained."""

    def __init__(self, ranker: RankerReranker, encoder: EncoderReranker) -> None:
        self._ranker, self._encoder = ranker, encoder
        self.name = f"{ranker.name} + {encoder.name}"

    def score(self, place: Place, papers: Sequence[Paper]) -> Floats:
        """The ranker's scores, and the cosines by their temperature."""
        found: Floats = self._ranker.score(place, papers) + self._encoder.score(place, papers) / _TEMPERATURE
        return found


def rerankers(
    papers: Iterable[Paper],
    encoder: Encoder | None,
    rankers: Sequence[tuple[str, Ranker, Room | None]],
    variants: Sequence[Variant] = VARIANTS,
) -> tuple[list[Reranker], list[Reranker]]:
    """Those of table 6, all variants, and those of table 7, each with the paragraph.

    BM25 and the cosine have no use for section and year, so they have fewer variants.
    """
    everything = list(papers)
    best = variant("paragraph")
    plain = [each for each in variants if not each.section]
    masking = [(each, masked) for each in plain for masked in (True, False) if masked or each.around == "paragraph"]
    lexical = {each: Bm25Reranker(everything, *each) for each in dict.fromkeys([*masking, (best, False)])}
    cosines = {each: EncoderReranker(encoder, each) for each in dict.fromkeys([*plain, best])} if encoder else {}
    table_6: list[Reranker] = []
    table_7: list[Reranker] = []
    for name, ranker, room in rankers:
        read = {each: RankerReranker(ranker, each, room, name) for each in dict.fromkeys([*variants, best])}
        both = {each: Both(read[each], cosine) for each, cosine in cosines.items()}
        table_6 += [*(read[each] for each in variants), *(both[each] for each in plain if each in both)]
        table_7 += [read[best], *([both[best]] if cosines else [])]
    table_6 += [*(lexical[each] for each in masking), *(cosines[each] for each in plain if each in cosines)]
    return table_6, [*table_7, lexical[best, False], *([cosines[best]] if cosines else [])]
