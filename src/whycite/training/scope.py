"""SCOPE's reranker by name: its inputs, its triplets and its recipe, on any base (3.4, 4.4.4, 4.5.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from whycite.candidates.gathering import Gathered
from whycite.encoders.export import check_exportable, export_scores
from whycite.encoders.facts import MODEL
from whycite.errors import UserError
from whycite.evaluation.rerankers import Room
from whycite.files import make_folder
from whycite.rerank.inputs import claim_text
from whycite.rerank.ranker import FACTS
from whycite.rerank.variants import variant
from whycite.training import parity, ranker
from whycite.training.bases import Base, load_base
from whycite.training.cards import write_card
from whycite.training.lists import RankList
from whycite.training.scopelists import scope_lists

__all__ = ["RECIPE", "left", "make_scope"]

Tell = Callable[[str], None]

RECIPE = ranker.Recipe(epochs=5, batch=1, negatives=62, rate=1e-5, longest=512, loss="triplet", on_top=False)
"""One positive and 62 negatives a step, margin 0.1, as published; a base that reads less than 512 tokens sets less."""

_COMPARED = 500  # pairs that the export is compared on


def left(gathered: Gathered, until: str = "", without: Iterable[str] = ()) -> Gathered:
    """Without documents from the day `until` on, or of which no date is known then, and those of the given keys."""
    gone = frozenset(without)
    kept = [each for each in gathered.documents if each.key not in gone]
    if until:
        kept = [each for each in kept if each.date and each.date < until[: len(each.date)]]
    return replace(gathered, documents=tuple(kept))


def make_scope(
    gathered: Gathered,
    variant_name: str,
    base_name: str,
    out: Path,
    number: int,
    held_out: int | None,
    tell: Tell,
    recipe: ranker.Recipe = RECIPE,
) -> None:
    """A ranker in the folder `out` that reads claims and papers as the variant says, trained as SCOPE's was."""
    wanted = variant(variant_name)
    if (make_folder(out) / MODEL).exists():
        raise UserError(f"{out} holds a model already: name another --out, or remove it")
    base = load_base(base_name)
    check_exportable(base_name, base.config)
    # RoBERTa's positions begin after that of the padding.
    recipe = replace(recipe, longest=min(recipe.longest, base.config.max_position_embeddings - 2))
    lists, kept = scope_lists(gathered, wanted, _room(base, recipe.longest), number, held_out, recipe.seed)
    if not any(len(each.texts) > len(each.right) for each in lists):
        raise UserError("BM25 finds no wrong paper for any claim, so that there is nothing to learn: give more data")
    tell(f"{len(lists)} lists to train on, {len(kept)} held out")
    scorer = ranker.train(base, lists, recipe, tell)
    measured = _measured(base, scorer, kept, recipe.longest)
    tell(", ".join(f"{name} {value:.4f}" for name, value in measured.items()))
    scorer.cpu()
    pairs = [(each.claim, text) for each in lists for text in each.texts[:5]][:_COMPARED]
    with TemporaryDirectory(dir=out) as folder:
        new, name = Path(folder), out.resolve().name
        export_scores(scorer.model, scorer.head, base.tokenizer, new, name=name, max_tokens=recipe.longest, file=FACTS)
        like = parity.of_ranker(base, scorer, new, pairs, recipe.longest)
        what = f"SCOPE's reranker, input variant {wanted.name}: a claim and a paper side by side, one score."
        facts = {"Documents": f"{len(gathered.documents):,}", "Cited papers": f"{len(gathered.papers):,}"}
        said = f"On {len(kept)} lists for sentences of documents held out, the true papers in each (oracle):"
        write_card(new, out, what, base_name, facts, asdict(recipe), said, [measured], like)
        for file in sorted(new.iterdir()):
            file.replace(out / file.name)
    tell(f"written to {out}: " + ", ".join(f"{name} {value:.4f}" for name, value in like.items()))


def _room(base: Base, longest: int) -> Room:
    @lru_cache(maxsize=200_000)
    def cost(word: str) -> int:
        return len(base.tokenizer.encode(f" {word}", add_special_tokens=False).ids)

    return Room(longest, cost)


def _measured(base: Base, scorer: ranker.Scorer, lists: Sequence[RankList], longest: int) -> dict[str, float]:
    """MRR and R@10 within the lists."""
    pairs = ranker.Pairs(base, longest)
    ranks, recalls = [], []
    scorer.eval()
    with torch.no_grad():
        for each in lists:
            asked = [(claim_text(each.kind, each.claim), text) for text in each.texts]
            found = ranker.score(scorer, pairs, asked).float().cpu().numpy()
            order = np.argsort(-found, kind="stable").tolist()
            ranks.append(next(1 / rank for rank, at in enumerate(order, 1) if at in each.right))
            recalls.append(len(each.right.intersection(order[:10])) / len(each.right))
    return {"MRR": float(np.mean(ranks)) if ranks else 0.0, "R@10": float(np.mean(recalls)) if recalls else 0.0}
