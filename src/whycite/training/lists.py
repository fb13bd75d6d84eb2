"""What a ranker is shown: a claim, and texts of which some are right."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

import torch

from whycite.evaluation.passages.model import Case
from whycite.rerank.inputs import Kind, paper_text, passage_text
from whycite.training.examples import Examples
from whycite.training.mining import nearest
from whycite.training.tokens import Tensor

__all__ = ["TEMPERATURE", "Asked", "RankList", "ask", "barer", "draw", "paper_lists", "passage_lists", "span_lists"]

_SPANS, _TITLES = 100, 50  # that are looked at for a claim
TEMPERATURE = 0.05  # at which evidence is added up
_WHOLE = 0.4  # share of claims that are whole sentences
_BARE = 0.2  # share of papers that are shown by their title alone

Asked = tuple[int, int, frozenset[int]]
"""A claim: its sentence (-1 if that is not in the corpus), its text by number, what it cites."""


@dataclass(frozen=True, slots=True)
class RankList:
    """A claim and texts to rank for it, best first by the encoder; `right` are the places of the right ones."""

    kind: Kind
    claim: str
    texts: tuple[str, ...]
    right: frozenset[int]
    scores: tuple[float, ...] = ()  # the encoder's


def ask(examples: Examples, number: int, chance: Random, articles: Collection[int] | None = None) -> list[Asked]:
    """Some sentences of the examples, or of some of their articles, as claims: whole, or one of their spans."""
    found: list[Asked] = []
    places = [at for at, each in enumerate(examples.sentences) if articles is None or each.article in articles]
    for at in chance.sample(places, min(number, len(places))):
        here = examples.sentences[at]
        text, cited = chance.choice(here.views)
        whole = chance.random() < _WHOLE
        found.append((at, here.text, here.papers) if whole else (at, text, frozenset(cited)))
    return found


def paper_lists(
    examples: Examples,
    claims: Sequence[Asked],
    asked: Tensor,
    sentences: Tensor,
    titles: Tensor,
    length: int,
) -> Iterator[RankList]:
    """For each claim the papers with most evidence near it.

    Evidence out of the claim's own article does not count, and papers that the claim's sentence also cites are left
    out: they may be right for it.
    """
    papers = sorted(examples.titles)
    spans, span_scores = _near(asked, sentences, _SPANS)
    named, name_scores = _near(asked, titles, _TITLES)
    for at, (home, text, cited) in enumerate(claims):
        own = examples.sentences[home].article if home >= 0 else -1
        beside = examples.sentences[home].papers - cited if home >= 0 else frozenset()
        best: dict[int, int] = {}  # the sentence nearest to the claim, by what it cites
        votes: dict[int, float] = {}
        for place, score in zip(spans[at].tolist(), span_scores[at].tolist(), strict=True):
            if examples.sentences[place].article != own:
                for paper in examples.sentences[place].papers:
                    best.setdefault(paper, place)
                    votes[paper] = votes.get(paper, 0.0) + math.exp((score - 1) / TEMPERATURE)
        for place, score in zip(named[at].tolist(), name_scores[at].tolist(), strict=True):
            paper = papers[place]
            votes[paper] = votes.get(paper, 0.0) + math.exp((score - 1) / TEMPERATURE)
        order = [paper for paper in sorted(votes, key=lambda paper: (-votes[paper], paper)) if paper not in beside]
        order = order[:length]
        yield RankList(
            "paper",
            examples.texts[text],
            tuple(_paper(examples, paper, best.get(paper, -1)) for paper in order),
            frozenset(at for at, paper in enumerate(order) if paper in cited),
            tuple(math.log(votes[paper]) for paper in order),
        )


def span_lists(
    examples: Examples, claims: Sequence[Asked], asked: Tensor, sentences: Tensor, length: int
) -> Iterator[RankList]:
    """For each claim the sentences of other articles that are nearest; right are those that cite the same paper."""
    spans, scores = _near(asked, sentences, 2 * length)
    for at, (home, text, cited) in enumerate(claims):
        here = examples.sentences[home]
        kept = [
            (place, score)
            for place, score in zip(spans[at].tolist(), scores[at].tolist(), strict=True)
            if (there := examples.sentences[place]).article != here.article
            and (there.papers & cited or there.papers.isdisjoint(here.papers))
        ][:length]
        found = [examples.sentences[place] for place, _ in kept]
        yield RankList(
            "span",
            examples.texts[text],
            tuple(examples.texts[each.text] for each in found),
            frozenset(at for at, each in enumerate(found) if each.papers & cited),
            tuple(score / TEMPERATURE for _, score in kept),
        )


def passage_lists(cases: Iterable[Case]) -> Iterator[RankList]:
    """For each claim the sentences of the paper it cites, alone and between their neighbours."""
    for case in cases:
        if case.gold:
            said = case.sentences
            around = ((*said[max(0, at - 1) : at], *said[at + 1 : at + 2]) for at in range(len(said)))
            between = tuple(passage_text(text, *beside) for text, beside in zip(said, around, strict=True))
            yield RankList("passage", case.claim, tuple(said), case.gold)
            yield RankList("passage", case.claim, between, case.gold)


def barer(lists: Iterable[RankList], chance: Random) -> Iterator[RankList]:
    """The lists with some papers shown by their titles alone: not all of a library is cited."""
    for each in lists:
        yield replace(
            each, texts=tuple(text.partition("\n")[0] if chance.random() < _BARE else text for text in each.texts)
        )


def _paper(examples: Examples, paper: int, sentence: int) -> str:
    """The paper with its abstract or, where it has none, the evidence nearest to the claim."""
    title, _, abstract = examples.texts[examples.abstracts[paper]].partition("\n")
    said = examples.texts[examples.sentences[sentence].text] if sentence >= 0 else ""
    return paper_text(title, said or abstract)


def _near(asked: Tensor, held: Tensor, k: int) -> tuple[Tensor, Tensor]:
    places = torch.from_numpy(nearest(asked, held, k)).long()
    if not len(places):
        return places, torch.empty(places.shape)
    rows = [
        torch.bmm(held[places[at : at + 2_048].to(held.device)].float(), asked[at : at + 2_048].float()[:, :, None])
        for at in range(0, len(places), 2_048)
    ]
    return places, torch.cat(rows)[..., 0].cpu()


def draw(lists: Iterable[RankList], chance: Random, negatives: int) -> Iterator[tuple[RankList, int, list[int]]]:
    """Of each list that has something right and something wrong, one right place and some wrong ones."""
    for each in lists:
        wrong = [at for at in range(len(each.texts)) if at not in each.right]
        if each.right and wrong:
            yield each, chance.choice(sorted(each.right)), chance.sample(wrong, min(negatives, len(wrong)))
