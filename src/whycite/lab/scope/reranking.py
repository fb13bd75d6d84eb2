"""Compare rerankers with SCOPE's input variants (4.4.4) on citing sentences (5.4, 5.5)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.lab.evaluate.topics import Watch
from whycite.lab.scope.candidates import (
    CandidatePaper,
    CitingCorpus,
    DraftPart,
    Lessons,
    Recommender,
    SetUnit,
    check_recommender,
    cited_sets,
    load_recommender,
    pool_of,
)
from whycite.lab.scope.inputvariants import (
    VARIANTS,
    ClaimPlace,
    RankerVariant,
    claim_input,
    paper_input,
    ranker_variant,
)
from whycite.lab.scope.prefetching import (
    CONTEXT_FREE,
    HeldOutContext,
    check_share,
    draft_part,
    held_out_contexts,
    place_of,
    split,
)
from whycite.lab.scope.recommenders import Bm25, LocalBm25
from whycite.models import Encoder
from whycite.models.folders import RANKER, ModelFolder
from whycite.models.pairs import Ranker, claim_text
from whycite.text.tokens import terms

__all__ = [
    "DROPS",
    "PREFETCH",
    "VARIANT_FILE",
    "Bm25Reranker",
    "CombinedReranker",
    "EncoderReranker",
    "MeanWithError",
    "RankerEntry",
    "RankerReranker",
    "RerankFigures",
    "RerankOutcome",
    "RerankSetting",
    "Reranker",
    "TokenRoom",
    "as_dict",
    "rerankers",
    "room_of",
    "run",
    "trained_variant",
]


_TEMPERATURE = 0.05  # divides cosines before they are added to a ranker's scores
Floats = NDArray[np.floating]


class Reranker(Protocol):
    """Scores papers for a claim and the draft around it; higher is better."""

    @property
    def name(self) -> str: ...

    def score(self, place: ClaimPlace, papers: Sequence[CandidatePaper]) -> Floats: ...


class TokenRoom:
    """How many tokens a ranker reads of a claim and paper together, and the tokens per word."""

    def __init__(self, longest: int, cost: Callable[[str], int]) -> None:
        self.longest, self.cost = longest, cost

    def for_claim(self, texts: Iterable[str]) -> int:
        """Tokens left for a claim next to any of these texts, with longest-first truncation."""
        marks = 3 + self.cost(claim_text("paper", "").strip())
        longest = max((sum(self.cost(word) for word in text.split()) for text in texts), default=0)
        return max(self.longest // 2, self.longest - longest) - marks


def room_of(folder: Path) -> TokenRoom:
    """Token room of the ranker in a folder, by its own tokenizer."""
    files = ModelFolder(folder, RANKER)
    max_tokens = files.settings.max_tokens
    tokenizer = files.open_tokenizer(max_tokens)

    @lru_cache(maxsize=200_000)
    def cost(word: str) -> int:
        return len(tokenizer.encode(f" {word}", add_special_tokens=False).ids)

    return TokenRoom(max_tokens, cost)


VARIANT_FILE = "scope.json"
"""In the folder of a ranker that was trained as in SCOPE: its input variant, and its figures after each epoch."""


def trained_variant(folder: Path) -> RankerVariant | None:
    """The input variant that the ranker in a folder was trained with, if it was trained as in SCOPE."""
    path = folder / VARIANT_FILE
    if not path.is_file():
        return None
    try:
        return ranker_variant(json.loads(path.read_text("utf-8"))["variant"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} does not name an input variant ({error}); train the ranker again") from error


class RankerEntry(NamedTuple):
    """A ranker to compare; one that was trained with an input variant only reads that one."""

    name: str
    ranker: Ranker
    room: TokenRoom | None = None
    variant: RankerVariant | None = None


class RankerReranker:
    """A ranker that reads claim and paper together, in the form of an input variant."""

    def __init__(
        self, ranker: Ranker, variant: RankerVariant, room: TokenRoom | None = None, name: str = "ranker"
    ) -> None:
        self._ranker, self._variant, self._room = ranker, variant, room
        self.name = f"{name}-{variant.name}"
        self._scores: dict[tuple[ClaimPlace, tuple[str, ...]], Floats] = {}

    def score(self, place: ClaimPlace, papers: Sequence[CandidatePaper]) -> Floats:
        """The ranker's scores, cached because combined rerankers reuse them."""
        key = place, tuple(candidate.key for candidate in papers)
        if key not in self._scores:
            self._scores[key] = self._score(place, papers)
        return self._scores[key]

    def _score(self, place: ClaimPlace, papers: Sequence[CandidatePaper]) -> Floats:
        texts = [
            paper_input(self._variant, candidate.title, candidate.abstract, candidate.year) for candidate in papers
        ]
        if self._room is None:
            return self._ranker.score("paper", claim_input(self._variant, place), texts)
        query = claim_input(self._variant, place, self._room.for_claim(texts), self._room.cost)
        return self._ranker.score("paper", query, texts)


class Bm25Reranker:
    """Local BM25, with term weights from all papers rather than only the candidates."""

    def __init__(self, papers: Iterable[CandidatePaper], variant: RankerVariant, masked: bool) -> None:
        self._papers, self._variant, self._masked = list(papers), variant, masked
        masking = "" if variant.context == "abstract" else " (with masking)" if masked else " (no masking)"
        self.name = f"bm25-{variant.name}{masking}"

    def score(self, place: ClaimPlace, papers: Sequence[CandidatePaper]) -> Floats:
        """BM25 scores of title and abstract for the claim's full, untruncated text."""
        index, places = self._index
        scores = index.scores(terms(claim_input(self._variant, place, masked=self._masked)))
        return scores[[places[candidate.key] for candidate in papers]]

    @cached_property
    def _index(self) -> tuple[Bm25, dict[str, int]]:
        texts = (terms(f"{candidate.title} {candidate.abstract}") for candidate in self._papers)
        return Bm25(texts, k1=1.5, b=0.75), {candidate.key: place for place, candidate in enumerate(self._papers)}


class EncoderReranker:
    """Cosine similarity of the encoder's vectors for claim and paper."""

    def __init__(self, encoder: Encoder, variant: RankerVariant) -> None:
        self._encoder, self._variant = encoder, variant
        self.name = f"encoder-{variant.name}"
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def score(self, place: ClaimPlace, papers: Sequence[CandidatePaper]) -> Floats:
        """Cosines of claim and papers; paper vectors are cached."""
        new = {candidate.key: paper_input(self._variant, candidate.title, candidate.abstract) for candidate in papers}
        new = {key: text for key, text in new.items() if key not in self._vectors}
        if new:
            self._vectors |= dict(zip(new, self._encoder.encode(list(new.values())), strict=True))
        claim_vector = self._encoder.encode([claim_input(self._variant, place)])[0]
        return np.array([float((self._vectors[candidate.key] * claim_vector).sum()) for candidate in papers])


class CombinedReranker:
    """A ranker on top of the encoder, the way ours is trained."""

    def __init__(self, ranker: RankerReranker, encoder: EncoderReranker) -> None:
        self._ranker, self._encoder = ranker, encoder
        self.name = f"{ranker.name} + {encoder.name}"

    def score(self, place: ClaimPlace, papers: Sequence[CandidatePaper]) -> Floats:
        """The ranker's scores plus cosines divided by the temperature."""
        scores: Floats = self._ranker.score(place, papers) + self._encoder.score(place, papers) / _TEMPERATURE
        return scores


def rerankers(
    papers: Iterable[CandidatePaper],
    encoder: Encoder | None,
    rankers: Sequence[RankerEntry],
    variants: Sequence[RankerVariant] = VARIANTS,
) -> tuple[list[Reranker], list[Reranker]]:
    """Rerankers of table 6 (all variants) and of table 7 (paragraph variants only).

    BM25 and cosine cannot use section and year, so they have fewer variants.
    """
    everything = list(papers)
    best = ranker_variant("paragraph")
    plain = [input_variant for input_variant in variants if not input_variant.section]
    masking = [
        (input_variant, masked)
        for input_variant in plain
        for masked in (True, False)
        if masked or input_variant.context == "paragraph"
    ]
    lexical = {
        masked_variant: Bm25Reranker(everything, *masked_variant)
        for masked_variant in dict.fromkeys([*masking, (best, False)])
    }
    cosines = (
        {input_variant: EncoderReranker(encoder, input_variant) for input_variant in dict.fromkeys([*plain, best])}
        if encoder
        else {}
    )
    table_6: list[Reranker] = []
    table_7: list[Reranker] = []
    for name, ranker, room, own_variant in rankers:
        read_variants = variants if own_variant is None else (own_variant,)
        ranker_rerankers = {
            input_variant: RankerReranker(ranker, input_variant, room, name)
            for input_variant in dict.fromkeys([*read_variants, *([best] if own_variant is None else [])])
        }
        combined = {
            input_variant: CombinedReranker(ranker_rerankers[input_variant], cosine)
            for input_variant, cosine in cosines.items()
            if input_variant in ranker_rerankers
        }
        table_6 += [
            *(ranker_rerankers[input_variant] for input_variant in read_variants),
            *(combined[input_variant] for input_variant in plain if input_variant in combined),
        ]
        if best in ranker_rerankers:
            table_7 += [ranker_rerankers[best], *([combined[best]] if cosines else [])]
    table_6 += [
        *(lexical[input_variant] for input_variant in masking),
        *(cosines[input_variant] for input_variant in plain if input_variant in cosines),
    ]
    return table_6, [*table_7, lexical[best, False], *([cosines[best]] if cosines else [])]


DROPS = (0.2, 0.5, 0.8)
PREFETCH = ("aae-section-title", "co-occurrence", "most-popular", "local-bm25")


@dataclass(frozen=True, slots=True)
class RerankSetting:
    """What to measure."""

    prefetch: tuple[str, ...] = PREFETCH
    drops: tuple[float, ...] = DROPS
    by: SetUnit = "section"
    k: int = 100  # candidates per sentence; 2,000 in SCOPE
    floor: int = 1
    epochs: int = 20
    held_out: int | None = None
    limit: int = 200
    seed: int = 0
    encoder: str | None = None
    word_vectors: Path | None = None

    def check(self) -> None:
        """Fail early, before any data is read, if something cannot be measured."""
        for name in self.prefetch:
            check_recommender(name)
        for drop in self.drops:
            check_share(drop)


@dataclass(frozen=True, slots=True)
class MeanWithError:
    """A mean over sentences, with its standard error."""

    mean: float
    error: float


@dataclass(frozen=True, slots=True)
class RerankFigures:
    """Results of a reranker on a prefetcher's candidates; `drop` is None if the prefetcher ignores it."""

    prefetch: str  # "oracle" or a recommender
    drop: float | None
    reranker: str
    mrr: MeanWithError
    recall: dict[int, MeanWithError]  # at k: share of true papers
    found: MeanWithError  # share of true papers among the candidates


@dataclass(frozen=True, slots=True)
class RerankOutcome:
    """All results, separately for the oracle's candidates and for real ones."""

    setting: RerankSetting
    documents: int
    held_out: int
    papers: int
    contexts: int
    oracle: tuple[RerankFigures, ...]  # tables 6 and 9
    real: tuple[RerankFigures, ...]  # table 7


_CUTOFFS = (5, 10)


def run(
    gathered: CitingCorpus, setting: RerankSetting, oracle: Sequence[Reranker], real: Sequence[Reranker], watch: Watch
) -> RerankOutcome:
    """Measure rerankers: `oracle` with the true papers among the candidates, `real` on prefetched candidates."""
    setting.check()
    parts = split(gathered.documents, setting.held_out, seed=setting.seed)
    lessons = Lessons(
        cited_sets(parts.learned, setting.by),
        gathered.papers,
        setting.floor,
        setting.seed,
        setting.epochs,
        setting.encoder,
        setting.word_vectors,
    )
    pool_places = pool_of(lessons).place
    questions = held_out_contexts(parts.held_out, pool_places, gathered.papers, setting.seed, setting.limit)
    if not questions:
        raise UserError("no held-out sentence cites a known paper; add data or lower --floor")
    experiment = _RerankExperiment(gathered, lessons, questions, setting, watch)
    oracle_pools = [experiment.oracle(question) for question in questions]
    oracle_figures = [experiment.measure("oracle", None, reranker, oracle_pools) for reranker in oracle]
    real_figures: list[RerankFigures] = []
    for name in setting.prefetch if real else ():
        watch(f"training {name}", 0, None)
        prefetcher = load_recommender(name, lessons)
        drops: Sequence[float | None] = (None,) if name in CONTEXT_FREE else setting.drops
        for drop in drops:
            pools = [experiment.prefetch(prefetcher, question, drop) for question in questions]
            real_figures += [experiment.measure(name, drop, reranker, pools) for reranker in real]
    return RerankOutcome(
        setting,
        len(gathered.documents),
        len(parts.held_out),
        len(pool_places),
        len(questions),
        tuple(oracle_figures),
        tuple(real_figures),
    )


def as_dict(outcome: RerankOutcome) -> dict[str, Any]:
    """Results as plain types."""
    figures = asdict(outcome)
    figures["setting"]["word_vectors"] = str(outcome.setting.word_vectors or "")
    return figures


class _RerankExperiment:
    """Test sentences, with the papers and pool they are ranked against."""

    def __init__(
        self,
        gathered: CitingCorpus,
        lessons: Lessons,
        questions: Sequence[HeldOutContext],
        setting: RerankSetting,
        watch: Watch,
    ) -> None:
        self._papers, self._questions, self._setting, self._watch = gathered.papers, questions, setting, watch
        self._pool = pool_of(lessons)
        self._local = LocalBm25(self._pool)

    def oracle(self, question: HeldOutContext) -> list[str]:
        """BM25's candidates for sentence, title and abstract, with the true papers added (SCOPE 4.4.4)."""
        text = claim_input(ranker_variant("default"), place_of(question))
        part = DraftPart((), question.document.title, (), text, question.document.year)
        keys = [key for key, _ in self._local.recommend(part, self._setting.k) if key not in question.truth]
        return [*sorted(question.truth), *keys][: max(self._setting.k, len(question.truth))]

    def prefetch(self, prefetcher: Recommender, question: HeldOutContext, drop: float | None) -> list[str]:
        """A recommender's candidates for the section or draft, without what the sentence cites."""
        setting = self._setting
        part = draft_part(question, self._pool.place, self._papers, drop, setting.seed, setting.by)
        return [key for key, _ in prefetcher.recommend(part, setting.k)]

    def measure(
        self, prefetch: str, drop: float | None, reranker: Reranker, pools: Sequence[Sequence[str]]
    ) -> RerankFigures:
        """Rerank every sentence's candidates; ties are broken by key, not by prefetching order."""
        ranks, coverages = [], []
        recalls: dict[int, list[float]] = {cutoff: [] for cutoff in _CUTOFFS}
        for number, (question, keys) in enumerate(zip(self._questions, pools, strict=True)):
            self._watch(f"{prefetch}, {reranker.name}", number, len(self._questions))
            keys = sorted(keys)
            scores = reranker.score(place_of(question), [self._papers[key] for key in keys])
            order = [keys[index] for index in np.argsort(-np.asarray(scores), kind="stable")]
            ranks.append(next((1 / rank for rank, key in enumerate(order, start=1) if key in question.truth), 0.0))
            coverages.append(len(question.truth.intersection(keys)) / len(question.truth))
            for cutoff in _CUTOFFS:
                recalls[cutoff].append(len(question.truth.intersection(order[:cutoff])) / len(question.truth))
        recall = {cutoff: _mean_with_error(values) for cutoff, values in recalls.items()}
        return RerankFigures(
            prefetch, drop, reranker.name, _mean_with_error(ranks), recall, _mean_with_error(coverages)
        )


def _mean_with_error(values: Sequence[float]) -> MeanWithError:
    return MeanWithError(float(np.mean(values)), float(np.std(values) / np.sqrt(len(values))))
