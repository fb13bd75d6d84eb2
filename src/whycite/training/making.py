"""From data to the folder of a model: trained, exported, compared with what was trained, with its card."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import torch

from whycite.encoders.export import check_exportable, export, export_scores
from whycite.encoders.facts import MODEL
from whycite.errors import UserError
from whycite.evaluation.passages.model import Case
from whycite.files import make_folder
from whycite.rerank.inputs import claim_text
from whycite.rerank.ranker import FACTS
from whycite.training import claims, parity, ranker
from whycite.training.bases import Base, load_base, save_base
from whycite.training.cards import named, write_card
from whycite.training.corpus import Corpus
from whycite.training.examples import Examples
from whycite.training.lists import RankList, ask, barer, paper_lists, passage_lists, span_lists
from whycite.training.stance import Stance, altered_stances, marked_stances
from whycite.training.stancepairs import backed, same_spans
from whycite.training.tokens import Tensor, Tokens, encode

__all__ = ["Split", "make_claims", "make_ranker", "split"]

Tell = Callable[[str], None]
_TRAINED = "trained"  # the model as it was trained, to train on from
_CHECKPOINT = "checkpoint.pt"
_COMPARED = 500  # texts or pairs that the export is compared on
_LONG = 30  # a list of candidates
_TWICE = 2  # what people marked is shown
_SPANS = 4  # claims are compared with papers so many times as often as with spans


@dataclass(frozen=True, slots=True)
class Split:
    """What is trained on, and the newest articles before the cut, which are not."""

    trained: Corpus
    held_out: Corpus

    @property
    def facts(self) -> dict[str, object]:
        """What a card says of it."""
        sentences = sum(len(article.sentences) for article in self.trained.articles)
        trained = f"{_told(self.trained)}, {sentences:,} citing sentences, {len(self.trained.papers):,} cited papers"
        return {"Trained on": trained, "Held out": _told(self.held_out)}


def split(corpus: Corpus, held_out: int, until: str = "", without: Iterable[str] = ()) -> Split:
    """The corpus without articles from the day `until` on and those of the given keys; its newest ones apart."""
    kept = (corpus.until(until) if until else corpus).without(without)
    if len(kept.articles) <= held_out:
        found = f"{len(kept.articles)} of {len(corpus.articles)} articles are left"
        raise UserError(f"{found}, too few to hold out {held_out}: give more data, or lower --held-out")
    parts = Split(kept.only(kept.articles[:-held_out]), kept.only(kept.articles[-held_out:]))
    if not parts.trained.papers.keys() & parts.held_out.papers.keys():
        raise UserError("the articles held out cite nothing that the others cite: give more data, or raise --held-out")
    return parts


def make_claims(parts: Split, base_name: str, out: Path, recipe: claims.Recipe, tell: Tell) -> None:
    """A claim encoder in the folder `out`, trained from the base; a stopped run goes on after its last epoch."""
    base = _base(base_name, out)
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
    texts = [sentence.text for article in parts.held_out.articles for sentence in article.sentences][:_COMPARED]
    with _moved(out) as new:
        export(out / _TRAINED, new, name=out.resolve().name)
        like = parity.of_encoder(base, new, texts)
        what = "A claim encoder: texts that cite the same paper, and that paper, lie close together."
        said = "On the held-out articles, before training, after each epoch, and in the end:"
        write_card(new, out, what, base_name, parts.facts, asdict(recipe), said, measured, like)
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
    unseen: Collection[str] = (),
    alike: Sequence[tuple[str, str]] = (),
) -> None:
    """A ranker in the folder `out`, trained from the base on lists that the encoder makes.

    `unseen` are keys of articles that the encoder was not trained on: only these ask, since what an encoder knows by
    heart it finds better than it will find anything else. `alike` are pairs of texts that say the same.
    """
    base = _base(base_name, out)
    lists, held_out = _lists(load_base(encoder), parts, number, Random(recipe.seed), unseen)
    lists = [each for each in lists if each.right]
    marked = [case for case in passages if not case.dataset.endswith("automatic")]
    lists += passage_lists(case for case in passages if case.dataset.endswith("automatic"))
    if not lists:
        raise UserError("the encoder finds no right paper for any claim, so that there is nothing to learn: give more")
    stances = list(altered_stances([*alike, *same_spans(lists)], Random(recipe.seed)))
    tell(f"{len(lists)} lists and {len(stances)} stances to train on, {len(held_out)} lists held out")
    scorer = ranker.train(base, lists, recipe, tell, stances)
    if marked:
        scorer = _settled(base, scorer, marked, lists, stances, recipe, tell)
    measured = _measured(base, scorer, held_out, recipe.longest)
    tell(", ".join(f"{name} {value:.4f}" for name, value in measured.items()))
    scorer.cpu()
    name, longest = out.resolve().name, recipe.longest
    pairs = [(each.claim, text) for each in lists if each.kind == "paper" for text in each.texts[:5]][:_COMPARED]
    with _moved(out) as new:
        export_scores(scorer.model, scorer.head, base.tokenizer, new, name=name, max_tokens=longest, file=FACTS)
        like = parity.of_ranker(base, scorer, new, pairs, longest)
        what = (
            "A ranker: a claim and a paper, a citing span or a passage side by side, one score. Asked for the stance "
            "of a passage it scores above 0 what says so, and below 0 what says otherwise."
        )
        said = f"On {len(held_out)} lists of thirty papers for claims of the held-out articles, a right one in each:"
        facts = {"Lists by": named(encoder), **parts.facts}
        write_card(new, out, what, base_name, facts, asdict(recipe), said, [measured], like)
    tell(f"written to {out}: " + ", ".join(f"{name} {value:.4f}" for name, value in like.items()))


def _settled(
    base: Base,
    scorer: ranker.Scorer,
    marked: Sequence[Case],
    lists: Sequence[RankList],
    stances: Sequence[Stance],
    recipe: ranker.Recipe,
    tell: Tell,
) -> ranker.Scorer:
    """The scorer trained on by smaller steps on what people marked, with some of what it learnt before."""
    chance = Random(recipe.seed)
    own = [*passage_lists(marked)] * _TWICE
    told = [*marked_stances(marked, chance), *altered_stances([*backed(marked)] * _TWICE, chance)]
    own += chance.sample(lists, min(len(lists), len(own)))
    told += chance.sample(stances, min(len(stances), len(told)))
    tell(f"{len(own)} lists and {len(told)} stances to settle on")
    smaller = replace(recipe, epochs=_TWICE, rate=recipe.rate / 2)
    return ranker.train(base, own, smaller, tell, told, scorer)


def _base(name: str, out: Path) -> Base:
    """The base, if what is made of it can be exported into a folder that holds no model yet."""
    if (make_folder(out) / MODEL).exists():
        raise UserError(f"{out} holds a model already: name another --out, or remove it")
    base = load_base(name)
    check_exportable(name, base.config)
    return base


@contextmanager
def _moved(out: Path) -> Iterator[Path]:
    """A new folder whose files are moved to `out` in the end: a model that fails is not kept."""
    with TemporaryDirectory(dir=out) as new:
        yield Path(new)
        for file in sorted(Path(new).iterdir()):
            file.replace(out / file.name)


def _told(corpus: Corpus) -> str:
    dates = [article.date for article in corpus.articles if article.date]
    between = f" of {dates[0]} to {dates[-1]}" if dates else ""
    return f"{len(corpus.articles):,} articles{between}"


def _lists(
    finder: Base, parts: Split, number: int, chance: Random, unseen: Collection[str]
) -> tuple[list[RankList], list[RankList]]:
    """Lists to train on, and lists for claims of the held-out articles over the same papers."""
    finder.model.to("cuda" if torch.cuda.is_available() else "cpu")
    examples = Examples(parts.trained)
    articles = {at for at, article in enumerate(parts.trained.articles) if article.key in unseen} if unseen else None
    asked = ask(examples, number, chance, articles)
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
