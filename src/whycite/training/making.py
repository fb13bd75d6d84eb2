"""From data to the folder of a model: trained, exported, compared with what was trained, with its card."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import numpy as np
import torch

from whycite.encoders.export import export, export_scores
from whycite.errors import UserError
from whycite.evaluation.passages.model import Case
from whycite.rerank.inputs import claim_text
from whycite.rerank.ranker import FACTS
from whycite.training import claims, parity, ranker
from whycite.training.bases import Base, load_base, save_base
from whycite.training.cards import write_card
from whycite.training.corpus import Corpus
from whycite.training.examples import Examples
from whycite.training.lists import RankList, ask, barer, paper_lists, passage_lists, span_lists
from whycite.training.tokens import Tensor, Tokens, encode

__all__ = ["Split", "make_claims", "make_ranker", "split"]

Tell = Callable[[str], None]
_TRAINED = "trained"  # the model as it was trained, to train on from
_CHECKPOINT = "checkpoint.pt"
_COMPARED = 500  # texts or pairs that the export is compared on
_LONG = 30  # a list of candidates
_SPANS = 4  # claims are compared with papers so many times as often as with spans


@dataclass(frozen=True, slots=True)
class Split:
    """What is trained on, and the newest articles before the cut, which are not."""

    trained: Corpus
    held_out: Corpus

    @property
    def facts(self) -> dict[str, object]:
        """What a card says of it."""
        first, last = self.trained.articles[0].date, self.trained.articles[-1].date
        sentences = sum(len(article.sentences) for article in self.trained.articles)
        return {
            "Trained on": f"{len(self.trained.articles):,} articles of {first} to {last}, {sentences:,} citing "
            f"sentences, {len(self.trained.papers):,} cited papers",
            "Held out": f"{len(self.held_out.articles):,} articles of {self.held_out.articles[0].date} to "
            f"{self.held_out.articles[-1].date}",
        }


def split(corpus: Corpus, held_out: int, until: str = "", without: Iterable[str] = ()) -> Split:
    """The corpus without articles from the day `until` on and those of the given keys; its newest ones apart."""
    kept = (corpus.until(until) if until else corpus).without(without)
    if len(kept.articles) <= held_out:
        raise UserError(f"{len(kept.articles)} articles are too few to hold out {held_out}: give more data")
    return Split(kept.only(kept.articles[:-held_out]), kept.only(kept.articles[-held_out:]))


def make_claims(parts: Split, base_name: str, out: Path, recipe: claims.Recipe, tell: Tell) -> None:
    """A claim encoder in the folder `out`, trained from the base; a stopped run goes on after its last epoch."""
    base = load_base(base_name)
    out.mkdir(parents=True, exist_ok=True)
    measured = claims.train(base, parts.trained, parts.held_out, recipe, tell, out / _CHECKPOINT)
    use = base.facts
    save_base(
        out / _TRAINED,
        base.model.cpu(),
        base.tokenizer,
        pooling=use.pooling,
        max_tokens=use.max_tokens,
        prefix=use.prefix,
    )
    export(out / _TRAINED, out, name=out.resolve().name)
    texts = [sentence.text for article in parts.held_out.articles for sentence in article.sentences][:_COMPARED]
    like = parity.of_encoder(base, out, texts)
    what = "A claim encoder: texts that cite the same paper, and that paper, lie close together."
    write_card(out, what, base_name, parts.facts, asdict(recipe), measured, like, _command())
    (out / _CHECKPOINT).unlink()
    tell(f"written to {out}: " + ", ".join(f"{name} {value:.4f}" for name, value in like.items()))


def make_ranker(
    parts: Split,
    passages: Sequence[Case],
    encoder: str,
    base_name: str,
    out: Path,
    number: int,
    recipe: ranker.Recipe,
    tell: Tell,
) -> None:
    """A ranker in the folder `out`, trained from the base on lists that the encoder makes."""
    finder = load_base(encoder)
    finder.model.to("cuda" if torch.cuda.is_available() else "cpu")
    chance = Random(recipe.seed)
    lists, held_out = _lists(finder, parts, number, chance)
    lists += passage_lists(passages)
    tell(f"{len(lists)} lists to train on, {len(held_out)} held out")
    base = load_base(base_name)
    scorer = ranker.train(base, lists, recipe, tell)
    measured = _measured(base, scorer, held_out, recipe.longest)
    tell(", ".join(f"{name} {value:.4f}" for name, value in measured.items()))
    out.mkdir(parents=True, exist_ok=True)
    scorer.cpu()
    name = out.resolve().name
    export_scores(scorer.model, scorer.head, base.tokenizer, out, name=name, max_tokens=recipe.longest, file=FACTS)
    pairs = [(each.claim, text) for each in held_out for text in each.texts[:5]][:_COMPARED]
    like = parity.of_ranker(base, scorer, out, pairs, recipe.longest)
    what = "A ranker: a claim and a paper, a citing span or a passage side by side, one score."
    write_card(out, what, base_name, {"Lists by": encoder, **parts.facts}, asdict(recipe), [measured], like, _command())
    tell(f"written to {out}: " + ", ".join(f"{name} {value:.4f}" for name, value in like.items()))


def _lists(finder: Base, parts: Split, number: int, chance: Random) -> tuple[list[RankList], list[RankList]]:
    """Lists to train on, and lists for claims of the held-out articles over the same papers."""
    examples = Examples(parts.trained)
    asked = ask(examples, number, chance)
    others = [
        (-1, view.text, frozenset(view.papers))
        for article in parts.held_out.articles
        for sentence in article.sentences
        for view in sentence.views
    ]
    others = chance.sample(others, min(len(others), 500))
    texts = [*examples.texts, *(text for _, text, _ in others)]
    tokens = Tokens(finder, texts, finder.facts.max_tokens)

    def vectors(chosen: Sequence[int]) -> Tensor:
        return encode(finder.model, tokens, chosen, finder.facts.pooling)

    said = vectors([each.text for each in examples.sentences])
    named = vectors([examples.abstracts[paper] for paper in sorted(examples.titles)])
    claims = vectors([text for _, text, _ in asked])
    papers = paper_lists(examples, asked, claims, said, named, _LONG)
    few = len(asked) // _SPANS
    spans = span_lists(examples, asked[:few], claims[:few], said, _LONG)
    first = len(examples.texts)
    examples.texts.extend(texts[first:])
    held_out = [(home, first + at, cited) for at, (home, _, cited) in enumerate(others)]
    kept = paper_lists(examples, held_out, vectors(range(first, len(texts))), said, named, _LONG)
    return [*barer(papers, chance), *spans], [each for each in kept if each.right]


def _measured(base: Base, scorer: ranker.Scorer, lists: Sequence[RankList], longest: int) -> dict[str, float]:
    """MRR within the lists: by the encoder, by the ranker, by both."""
    pairs = ranker.Pairs(base, longest)
    ranks: dict[str, list[float]] = {"MRR by the encoder": [], "by the ranker": [], "by both": []}
    scorer.eval()
    with torch.no_grad():
        for each in lists:
            asked = [(claim_text(each.kind, each.claim), text) for text in each.texts]
            found = ranker.score(scorer, pairs, asked).float().cpu().numpy()
            first = np.array(each.scores)
            for name, scores in zip(ranks, (first, found, first + found), strict=True):
                order = np.argsort(-scores, kind="stable").tolist()
                ranks[name].append(next(1 / rank for rank, at in enumerate(order, 1) if at in each.right))
    return {name: float(np.mean(values)) if values else 0.0 for name, values in ranks.items()}


def _command() -> str:
    return " ".join(["whycite", *sys.argv[1:]])
