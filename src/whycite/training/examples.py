"""What a claim encoder is shown: a claim, another text that cites the same paper, and the paper itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from whycite.training.corpus import Corpus

__all__ = ["Example", "Examples"]

_WHOLE = 0.6  # share of claims that are whole sentences where they could be spans
_ABSTRACT = 0.5  # how often a paper is shown with its abstract: most papers of a library have none


@dataclass(frozen=True, slots=True)
class Cites:
    """A sentence that cites: its text, its views with what they cite (texts by number), its article, all it cites."""

    text: int
    views: tuple[tuple[int, tuple[int, ...]], ...]
    article: int
    papers: frozenset[int]


@dataclass(frozen=True, slots=True)
class Example:
    """A claim out of a sentence and what should be near it; texts by number, -1 where there is none."""

    sentence: int
    claim: int
    paper: int
    span: int
    home: int  # the sentence that the span comes from
    title: int


class Examples:
    """The sentences of a corpus with all their texts by number, and examples drawn from them."""

    def __init__(self, corpus: Corpus) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}
        self.titles = {paper: self._number(text.partition("\n")[0]) for paper, text in corpus.papers.items()}
        self.abstracts = {paper: self._number(text) for paper, text in corpus.papers.items()}
        self.sentences: list[Cites] = []
        self.citing: dict[int, list[int]] = {}  # sentences by what they cite
        for number, article in enumerate(corpus.articles):
            for each in article.sentences:
                for paper in sorted(each.papers):
                    self.citing.setdefault(paper, []).append(len(self.sentences))
                views = tuple((self._number(view.text), view.papers) for view in each.views)
                self.sentences.append(Cites(self._number(each.text), views, number, each.papers))

    def _number(self, text: str) -> int:
        found = self._numbers.setdefault(text, len(self.texts))
        if found == len(self.texts):
            self.texts.append(text)
        return found

    def epoch(self, chance: Random) -> list[Example]:
        """Every sentence once as a claim, in an order that is drawn."""
        order = list(range(len(self.sentences)))
        chance.shuffle(order)
        return [self._example(at, chance) for at in order]

    def _example(self, at: int, chance: Random) -> Example:
        here = self.sentences[at]
        claim, cited = chance.choice(here.views)
        if chance.random() < _WHOLE:
            claim = here.text
        paper = chance.choice(cited)
        span, home = self._other(at, claim, paper, chance)
        title = self.abstracts[paper] if chance.random() < _ABSTRACT else self.titles[paper]
        return Example(at, claim, paper, span, home, title)

    def _other(self, at: int, claim: int, paper: int, chance: Random) -> tuple[int, int]:
        """A text of another article that cites the paper; where no other does, another view of the same citation."""
        here = self.sentences[at]
        others = [each for each in self._some(paper, chance) if self.sentences[each].article != here.article]
        home = chance.choice(others) if others else at
        texts = self._said(home, paper) if others else [text for text in self._said(at, paper) if text != claim]
        if not texts:
            return -1, -1
        whole = self.sentences[home].text
        span = whole if whole in texts and chance.random() < _WHOLE else chance.choice(texts)
        return (span, home) if span != claim else (-1, -1)

    def _some(self, paper: int, chance: Random) -> Sequence[int]:
        found = self.citing[paper]
        return found if len(found) <= 20 else chance.sample(found, 20)

    def _said(self, at: int, paper: int) -> list[int]:
        """The texts of a sentence that cite the paper: views and the whole."""
        here = self.sentences[at]
        return [here.text, *(text for text, papers in here.views if paper in papers and text != here.text)]
