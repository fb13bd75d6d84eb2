"""Which base is worth training, and is another field worse off for it? Run: python benchmarks/bases.py CORPUS BASE...

CORPUS is a file of `whycite train corpus` with the eLife articles. Every BASE (a folder, or a Hugging Face name) is
measured as it is; trained by the recipe of the claim encoder on articles older than any that claims are taken from; and
trained on from there with a part of another field. Measured are 1,000 claims of the 200 newest articles of each of
three topics, over the topic's older ones; and citing sentences of NLP papers of 2011 and later over titles and
abstracts, of which the third stage saw what papers until 2009 say, but nothing that cites a fifth of the papers. Some
three minutes a base on an H200. A name that begins with "=" is not trained on eLife.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from random import Random

import numpy as np
import torch

from whycite.lab.evaluate.abstracts import MaskedContext, load_contexts
from whycite.lab.evaluate.comparison import bootstrap, paired_t_test
from whycite.lab.jsonlines import read_rows
from whycite.lab.train import claimencoder
from whycite.lab.train.bases import Base, Tensor, Tokens, encode, load_base
from whycite.lab.train.claimencoder import ClaimExamples, EncoderRecipe, train
from whycite.lab.train.corpus import Article, CitingSentence, Corpus, View
from whycite.lab.train.corpus import load as load_corpus
from whycite.text.bm25 import Bm25Index
from whycite.text.tokens import words

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
TOPICS = ("Cell Biology", "Microbiology and Infectious Disease", "Neuroscience")
HELD_OUT, CLAIMS = 200, 1_000
TEMPERATURES = (0.02, 0.03, 0.05)  # of which the best counts: bases differ in how far apart they put texts
TRAINED, TESTED = (
    2009,
    2011,
)  # the last year that is trained on, the first that is measured on; the recipe is from between
ON_FIELD = EncoderRecipe(epochs=8, batch=512, longest=128)

Found = dict[str, list[float]]  # 1 / rank of the first right paper for each claim, by what was asked
print_now = partial(print, flush=True)


@dataclass(frozen=True, slots=True)
class Field:
    """Another field: papers, what is trained on, what is asked, and which questions are of papers not trained on."""

    papers: list[str]  # title, and abstract on a second line
    trained: Corpus
    between: Corpus
    asked: list[MaskedContext]
    right: list[list[int]]
    new: list[bool]


def field() -> Field:
    """NLP by years of the citing papers."""
    folder = DATA / "nlp-contexts"
    found = load_contexts(folder, 0, 0)
    by = {
        row["context_id"]: (int(row["citing_year"]), str(row["citing_paper"]))
        for row in read_rows(folder, "contexts.jsonl")
    }
    at = {paper.id: place for place, paper in enumerate(found.papers)}
    right = {each.id: [at[paper] for paper in each.truth] for each in found.contexts}
    unseen = {*Random(0).sample(range(len(at)), len(at) // 5)}
    papers = [f"{paper.title}\n{paper.abstract}" if paper.abstract else paper.title for paper in found.papers]

    def corpus(kept: Sequence[MaskedContext]) -> Corpus:
        ordered = sorted(kept, key=lambda each: by[each.id])
        articles = []
        for (year, citing), some in groupby(ordered, lambda each: by[each.id]):
            sentences = (CitingSentence(each.text, None, (View(each.text, tuple(right[each.id])),)) for each in some)
            articles.append(Article(citing, str(year), ("NLP",), tuple(sentences)))
        return Corpus(tuple(articles), dict(enumerate(papers)))

    old = [each for each in found.contexts if by[each.id][0] <= TRAINED and unseen.isdisjoint(right[each.id])]
    between = [each for each in found.contexts if TRAINED < by[each.id][0] < TESTED]
    asked = [each for each in found.contexts if by[each.id][0] >= TESTED]
    new = [unseen.issuperset(right[each.id]) for each in asked]
    return Field(papers, corpus(old), corpus(between), asked, [right[each.id] for each in asked], new)


class Exam:
    """All that is asked, cut into tokens of a base."""

    def __init__(self, base: Base, topics: dict[str, tuple[Corpus, Corpus]], other: Field) -> None:
        self._base, self._other = base, other
        self._topics = {}
        for name, (older, newer) in topics.items():
            examples = ClaimExamples(older)
            asked = claimencoder.HeldOutClaims(examples, newer, CLAIMS, 1)
            claims = Tokens(base, (text for text, _ in asked.claims), 128)
            self._topics[name] = asked, Tokens(base, examples.texts, 128), claims
        self._papers = Tokens(base, (text.replace("\n", ". ", 1) for text in other.papers), 256)
        self._asked = Tokens(base, (each.text for each in other.asked), 256)

    def take(self) -> Found:
        """What the model as it is now makes of it."""
        found = {name: self._topic(*parts) for name, parts in self._topics.items()}
        places = range(len(self._other.papers))
        near = (
            self._vectors(self._asked, range(len(self._other.asked))).float()
            @ self._vectors(self._papers, places).float().T
        )
        found["NLP"] = [
            1 / (1 + int((row > row[right].max()).sum()))
            for row, right in zip(near.cpu(), self._other.right, strict=True)
        ]
        return found | {
            "NLP, new papers": [value for value, new in zip(found["NLP"], self._other.new, strict=True) if new]
        }

    def _topic(self, asked: claimencoder.HeldOutClaims, tokens: Tokens, claims: Tokens) -> list[float]:
        base = asked.base
        texts = [each.text for each in base.sentences], [base.abstracts[paper] for paper in sorted(base.titles)]
        spans, titles = (self._vectors(tokens, some) for some in texts)
        questions = self._vectors(claims, range(len(asked.claims)))
        return max((asked.reciprocal_ranks(questions, spans, titles, each) for each in TEMPERATURES), key=np.mean)

    def _vectors(self, tokens: Tokens, chosen: Sequence[int]) -> Tensor:
        return encode(self._base.model, tokens, chosen, self._base.facts.pooling)


def by_words(other: Field) -> Found:
    """BM25 over titles and abstracts."""
    index = Bm25Index(words(text) for text in other.papers)
    found = []
    for each, right in zip(other.asked, other.right, strict=True):
        order = index.best(words(each.text), len(other.papers))["okapi"]
        found.append(next((1 / rank for rank, at in enumerate(order, 1) if at in right), 0.0))
    return {"NLP": found, "NLP, new papers": [value for value, new in zip(found, other.new, strict=True) if new]}


def show(label: str, found: Found, before: Found | None = None) -> None:
    """MRR with its interval and R@10, and what was gained."""
    for name, values in found.items():
        mean = bootstrap(values)
        line = f"{mean.mean:.3f} ({mean.low:.3f}–{mean.high:.3f}) / {np.mean(np.array(values) >= 0.1):.3f}"
        if before:
            gain = paired_t_test(values, before[name])
            line += f"   {gain.difference:+.3f}, p {gain.p:.4f}"
        print_now(f"{label:<44}{name:<38}{line}")


def main() -> None:
    if len(sys.argv) < 3:
        print(__doc__)
        return
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    whole = load_corpus(Path(sys.argv[1]))
    topics = {}
    for name in TOPICS:
        articles = [article for article in whole.articles if name in article.subjects]
        topics[name] = whole.only(articles[:-HELD_OUT]), whole.only(articles[-HELD_OUT:])
    old = whole.until(min(article.date for _, newer in topics.values() for article in newer.articles)).articles
    other = field()
    show("BM25", by_words(other))
    for name in sys.argv[2:]:
        base = load_base(name.removeprefix("="))
        base.model.to("cuda" if torch.cuda.is_available() else "cpu")
        exam = Exam(base, topics, other)
        before = exam.take()
        show(f"{name}, as it is", before)
        if not name.startswith("="):
            train(base, whole.only(old[:-60]), whole.only(old[-60:]), EncoderRecipe(epochs=4), print_now)
            before, first = exam.take(), before
            show(f"{name}, trained", before, first)
        train(base, other.trained, other.between, ON_FIELD, print_now)
        show(f"{name}, and with NLP", exam.take(), before)


if __name__ == "__main__":
    main()
