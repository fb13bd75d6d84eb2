"""SCOPE's reranker on any base model: inputs, triplets and recipe (3.4, 4.4.4, 4.5.3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from whycite.errors import UserError
from whycite.files import atomic_write, make_folder
from whycite.lab.evaluate.comparison import draw
from whycite.lab.scope.candidates import (
    CandidatePaper,
    CitingCorpus,
    CitingDocument,
    DraftPart,
    Lessons,
    cited_sets,
    pool_of,
)
from whycite.lab.scope.inputvariants import RankerVariant, claim_input, paper_input, ranker_variant
from whycite.lab.scope.prefetching import HeldOutContext, held_out_contexts, place_of, split
from whycite.lab.scope.recommenders import LocalBm25
from whycite.lab.scope.reranking import VARIANT_FILE, TokenRoom
from whycite.lab.train import ranker
from whycite.lab.train.bases import Base, load_base
from whycite.lab.train.build import LEAST_CORRELATION, ranker_parity
from whycite.lab.train.export import check_exportable, export_scores, write_card
from whycite.lab.train.rankerexamples import RankList
from whycite.models.folders import MODEL, RANKER
from whycite.models.pairs import claim_text

__all__ = ["BM25_DEPTH", "RECIPE", "build_scope_ranker", "exclude_documents", "scope_lists"]


BM25_DEPTH = 2000  # BM25 results that negatives are drawn from
_MAX_WRONG = 200  # negatives per list; each epoch draws a new sample of them
_MAX_ASKED = 500  # sentences of documents held out that are measured on after each epoch


def scope_lists(
    gathered: CitingCorpus,
    input_variant: RankerVariant,
    room: TokenRoom,
    number: int,
    held_out: int | None,
    seed: int,
    max_wrong: int = _MAX_WRONG,
    asked: int = _MAX_ASKED,
) -> tuple[list[RankList], list[RankList]]:
    """Training lists, one per cited paper, and held-out lists, one per sentence."""
    parts = split(gathered.documents, held_out)
    local = LocalBm25(pool := pool_of(Lessons(cited_sets(parts.learned, "paper"), gathered.papers)))

    def contexts_of(documents: Sequence[CitingDocument], limit: int) -> list[HeldOutContext]:
        return held_out_contexts(documents, pool.place, gathered.papers, seed, limit)

    def build_list(asked_context: HeldOutContext, cited_keys: Sequence[str]) -> RankList:
        wrong = [key for key in _bm25_papers(local, asked_context) if key not in asked_context.context.papers]
        wrong = draw(wrong, lambda key: f"{asked_context.id} {key}", max_wrong, seed)
        return _rank_list(
            input_variant, room, asked_context, [gathered.papers[key] for key in (*cited_keys, *wrong)], len(cited_keys)
        )

    learned = [
        build_list(asked_context, [key])
        for asked_context in contexts_of(parts.learned, number)
        for key in sorted(asked_context.truth)
    ]
    return learned, [
        build_list(asked_context, sorted(asked_context.truth)) for asked_context in contexts_of(parts.held_out, asked)
    ]


def _bm25_papers(local: LocalBm25, asked_context: HeldOutContext) -> Iterator[str]:
    """BM25's papers for sentence, title and abstract, whatever the ranker's variant."""
    text = claim_input(ranker_variant("default"), place_of(asked_context))
    part = DraftPart((), asked_context.document.title, (), text, asked_context.document.year)
    return (key for key, _ in local.recommend(part, BM25_DEPTH))


def _rank_list(
    input_variant: RankerVariant,
    room: TokenRoom,
    asked_context: HeldOutContext,
    papers: Sequence[CandidatePaper],
    cited_count: int,
) -> RankList:
    texts = tuple(
        paper_input(input_variant, candidate.title, candidate.abstract, candidate.year) for candidate in papers
    )
    claim_text = claim_input(input_variant, place_of(asked_context), room.for_claim(texts), room.cost)
    return RankList("paper", claim_text, texts, frozenset(range(cited_count)))


Tell = Callable[[str], None]

RECIPE = ranker.RankerRecipe(epochs=5, batch=1, negatives=62, rate=1e-5, longest=512, loss="triplet", on_top=False)
"""One positive and 62 negatives per step, margin 0.1, as published; 512 tokens, or fewer if the base reads fewer."""

_COMPARED = 500  # pairs to compare the export on


def exclude_documents(gathered: CitingCorpus, until: str = "", without: Iterable[str] = ()) -> CitingCorpus:
    """Drop documents with the given keys and, if `until` is set, those from that day on or without a date."""
    gone = frozenset(without)
    documents = [document for document in gathered.documents if document.key not in gone]
    if until:
        documents = [
            document for document in documents if document.date and document.date < until[: len(document.date)]
        ]
    return replace(gathered, documents=tuple(documents))


def build_scope_ranker(
    gathered: CitingCorpus,
    variant_name: str,
    base_name: str,
    out: Path,
    number: int,
    held_out: int | None,
    tell: Tell,
    recipe: ranker.RankerRecipe = RECIPE,
    asked: int = _MAX_ASKED,
    max_wrong: int = _MAX_WRONG,
    least_parity: float | None = LEAST_CORRELATION,
) -> list[dict[str, float]]:
    """Train a ranker with the given input variant as in SCOPE, and save it to the folder `out`.

    Scores of the saved ranker must correlate with those of the trained one by at least `least_parity`, if it is given.
    Returns MRR and R@10 on the lists of documents held out, with standard errors, after each epoch (table 9).
    """
    input_variant = ranker_variant(variant_name)
    if (make_folder(out) / MODEL).exists():
        raise UserError(f"{out} already contains a model; choose another --out, or delete it")
    base = load_base(base_name)
    check_exportable(base_name, base.config)
    # RoBERTa's positions start after the padding index.
    recipe = replace(recipe, longest=min(recipe.longest, base.config.max_position_embeddings - 2))
    lists, held_out_lists = scope_lists(
        gathered, input_variant, _room(base, recipe.longest), number, held_out, recipe.seed, max_wrong, asked
    )
    if not any(len(rank_list.texts) > len(rank_list.relevant) for rank_list in lists):
        raise UserError("BM25 finds no wrong papers to train on; add data")
    tell(f"{len(lists)} lists to train on, {len(held_out_lists)} held out")
    epochs: list[dict[str, float]] = []

    def measure(epoch: int, trained: ranker.RankerNetwork) -> None:
        epochs.append({"epoch": epoch, **_measure(base, trained, held_out_lists, recipe.longest)})
        tell(", ".join(f"{name} {value:.4f}" for name, value in epochs[-1].items() if name != "epoch"))

    scorer = ranker.train(base, lists, recipe, tell, after_epoch=measure)
    scorer.cpu()
    pairs = [(rank_list.claim, text) for rank_list in lists for text in rank_list.texts[:5]][:_COMPARED]
    with TemporaryDirectory(dir=out) as folder:
        new, name = Path(folder), out.resolve().name
        export_scores(scorer.model, scorer.head, base.tokenizer, new, name=name, max_tokens=recipe.longest, kind=RANKER)
        parity_figures = ranker_parity(base, scorer, new, pairs, recipe.longest, least_parity)
        description = (
            f"SCOPE's reranker, input variant {input_variant.name}: a claim and a paper side by side, one score."
        )
        facts = {"Documents": f"{len(gathered.documents):,}", "Cited papers": f"{len(gathered.papers):,}"}
        introduction = (
            f"On {len(held_out_lists)} lists for sentences of documents held out, the true papers in each (oracle):"
        )
        write_card(new, out, description, base_name, facts, asdict(recipe), introduction, epochs, parity_figures)
        with atomic_write(new / VARIANT_FILE) as described:
            described.write((json.dumps({"variant": input_variant.name, "epochs": epochs}, indent=1) + "\n").encode())
        for file in sorted(new.iterdir()):
            file.replace(out / file.name)
    tell(f"saved to {out}: " + ", ".join(f"{name} {value:.4f}" for name, value in parity_figures.items()))
    return epochs


def _room(base: Base, longest: int) -> TokenRoom:
    @lru_cache(maxsize=200_000)
    def cost(word: str) -> int:
        return len(base.tokenizer.encode(f" {word}", add_special_tokens=False).ids)

    return TokenRoom(longest, cost)


def _measure(base: Base, scorer: ranker.RankerNetwork, lists: Sequence[RankList], longest: int) -> dict[str, float]:
    """MRR and R@10 within the lists, with their standard errors."""
    pairs = ranker.PairTokens(base, longest)
    ranks, recalls = [], []
    scorer.eval()
    with torch.no_grad():
        for rank_list in lists:
            text_pairs = [(claim_text(rank_list.kind, rank_list.claim), text) for text in rank_list.texts]
            scores = ranker.score(scorer, pairs, text_pairs).float().cpu().numpy()
            order = np.argsort(-scores, kind="stable").tolist()
            ranks.append(next(1 / rank for rank, position in enumerate(order, 1) if position in rank_list.relevant))
            recalls.append(len(rank_list.relevant.intersection(order[:10])) / len(rank_list.relevant))
    figures: dict[str, float] = {}
    for name, values in (("MRR", ranks), ("R@10", recalls)):
        figures[name] = float(np.mean(values)) if values else 0.0
        figures[f"{name} error"] = float(np.std(values) / np.sqrt(len(values))) if values else 0.0
    return figures
