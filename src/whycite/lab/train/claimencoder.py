"""Train the claim encoder, which places a paper and the texts that cite it close together."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray

from whycite.lab.train.bases import (
    Base,
    Tensor,
    Tokens,
    autocast,
    encode,
    nearest,
    nearest_by_words,
    to_device,
    unit_vectors,
)
from whycite.lab.train.corpus import Corpus, digest
from whycite.lab.train.steps import Checkpoint, TrainingSteps

__all__ = ["ClaimExample", "ClaimExamples", "EncoderRecipe", "HeldOutClaims", "contrast", "sets_overlap", "train"]


_WHOLE = 0.6  # share of claims that are whole sentences where spans are available
_ABSTRACT = 0.5  # how often a paper is shown with its abstract: most papers in a library have none


@dataclass(frozen=True, slots=True)
class IndexedSentence:
    """A citing sentence: its text, its views and what they cite (texts by number), its article, and all it cites."""

    text: int
    views: tuple[tuple[int, tuple[int, ...]], ...]
    article: int
    papers: frozenset[int]


@dataclass(frozen=True, slots=True)
class ClaimExample:
    """A claim from a sentence and the texts that should be near it, by number; -1 if there is none."""

    sentence: int
    claim: int
    paper: int
    span: int
    span_sentence: int  # the sentence the span comes from
    title: int


class ClaimExamples:
    """The sentences of a corpus with all texts numbered; draws examples from them."""

    def __init__(self, corpus: Corpus) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}
        self.titles = {paper: self._number(text.partition("\n")[0]) for paper, text in corpus.papers.items()}
        self.abstracts = {paper: self._number(text) for paper, text in corpus.papers.items()}
        self.sentences: list[IndexedSentence] = []
        self.citing: dict[int, list[int]] = {}  # sentences by what they cite
        for number, article in enumerate(corpus.articles):
            for sentence in article.sentences:
                for paper in sorted(sentence.papers):
                    self.citing.setdefault(paper, []).append(len(self.sentences))
                views = tuple((self._number(view.text), view.papers) for view in sentence.views)
                self.sentences.append(IndexedSentence(self._number(sentence.text), views, number, sentence.papers))

    def _number(self, text: str) -> int:
        number = self._numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    def epoch(self, chance: Random) -> list[ClaimExample]:
        """Yield each sentence once as a claim, in random order."""
        order = list(range(len(self.sentences)))
        chance.shuffle(order)
        return [self._example(index, chance) for index in order]

    def _example(self, sentence_index: int, chance: Random) -> ClaimExample:
        sentence = self.sentences[sentence_index]
        claim, cited = chance.choice(sentence.views)
        if chance.random() < _WHOLE:
            claim = sentence.text
        paper = chance.choice(cited)
        span, span_sentence = self._draw_companion(sentence_index, claim, paper, chance)
        title = self.abstracts[paper] if chance.random() < _ABSTRACT else self.titles[paper]
        return ClaimExample(sentence_index, claim, paper, span, span_sentence, title)

    def _draw_companion(self, sentence_index: int, claim: int, paper: int, chance: Random) -> tuple[int, int]:
        """Draw a text from another article that cites the paper or, if none does, another view of the same citation."""
        sentence = self.sentences[sentence_index]
        other_sentences = [
            index for index in self._sample_citing(paper, chance) if self.sentences[index].article != sentence.article
        ]
        span_sentence = chance.choice(other_sentences) if other_sentences else sentence_index
        texts = (
            self._texts_citing(span_sentence, paper)
            if other_sentences
            else [text for text in self._texts_citing(sentence_index, paper) if text != claim]
        )
        if not texts:
            return -1, -1
        whole = self.sentences[span_sentence].text
        span = whole if whole in texts and chance.random() < _WHOLE else chance.choice(texts)
        return (span, span_sentence) if span != claim else (-1, -1)

    def _sample_citing(self, paper: int, chance: Random) -> Sequence[int]:
        citing_sentences = self.citing[paper]
        return citing_sentences if len(citing_sentences) <= 20 else chance.sample(citing_sentences, 20)

    def _texts_citing(self, sentence_index: int, paper: int) -> list[int]:
        """The views of a sentence that cite the paper, and the whole sentence."""
        sentence = self.sentences[sentence_index]
        return [sentence.text, *(text for text, papers in sentence.views if paper in papers and text != sentence.text)]


def contrast(claims: Tensor, candidates: Tensor, false_negatives: Tensor, temperature: float) -> Tensor:
    """Contrastive loss over the candidates, the first of which are the claims' own, in order.

    `false_negatives` (claims x candidates) marks those left out of the negatives: they cite what the claim cites.
    """
    targets = torch.arange(len(claims), device=claims.device)
    scores = claims @ candidates.T / temperature
    scores = scores.masked_fill(
        false_negatives.index_put((targets, targets), torch.tensor(False, device=false_negatives.device)), float("-inf")
    )
    return torch.nn.functional.cross_entropy(scores, targets)


def sets_overlap(row_sets: Sequence[Collection[int]], column_sets: Sequence[Collection[int]], device: str) -> Tensor:
    """Which sets (of papers) on the left overlap with which on the right."""
    numbers: dict[int, int] = {}
    pairs = [
        [(row, numbers.setdefault(member, len(numbers))) for row, members in enumerate(sets) for member in members]
        for sets in (row_sets, column_sets)
    ]
    tables = []
    for cells, sets in zip(pairs, (row_sets, column_sets), strict=True):
        rows, columns = to_device(torch.tensor(cells, dtype=torch.int64).reshape(-1, 2), device).unbind(1)
        table = torch.zeros(len(sets), len(numbers), device=device)
        tables.append(table.index_put_((rows, columns), torch.ones((), device=device)))
    return tables[0] @ tables[1].T > 0


_SPANS, _TITLES = 100, 50
_TEMPERATURE = 0.05  # for summing evidence


class HeldOutClaims:
    """Claims from held-out articles that a database of sentences and titles can answer."""

    def __init__(self, base: ClaimExamples, held_out: Corpus, number: int, seed: int = 0) -> None:
        self.base = base
        claims = [
            (view.text, frozenset(view.papers))
            for article in held_out.articles
            for sentence in article.sentences
            for view in sentence.views
            if any(paper in base.citing for paper in view.papers)
        ]
        self.claims = Random(seed).sample(claims, min(number, len(claims)))

    def measure(self, claims: Tensor, sentences: Tensor, papers: Tensor) -> dict[str, float]:
        """MRR and R@10 of papers by all the evidence near a claim: sentences that cite them, and titles.

        Takes the vectors of the claims, the sentences, and the papers in the order of their numbers.
        """
        reciprocals = np.array(self.reciprocal_ranks(claims, sentences, papers))
        return {"MRR": float(reciprocals.mean()), "R@10": float((reciprocals >= 0.1).mean())}

    def reciprocal_ranks(
        self, claims: Tensor, sentences: Tensor, papers: Tensor, temperature: float = _TEMPERATURE
    ) -> list[float]:
        """The reciprocal rank of each claim's first right paper by summed evidence, or 0 if it has none."""
        sentence_votes = _votes(
            claims, sentences, [sorted(sentence.papers) for sentence in self.base.sentences], _SPANS, temperature
        )
        title_votes = _votes(claims, papers, [[paper] for paper in sorted(self.base.titles)], _TITLES, temperature)
        return [
            _reciprocal_rank(relevant, spans, titles)
            for (_, relevant), spans, titles in zip(self.claims, sentence_votes, title_votes, strict=True)
        ]


def _reciprocal_rank(relevant: frozenset[int], *votes: dict[int, float]) -> float:
    sums: dict[int, float] = defaultdict(float)
    for vote in votes:
        for paper, value in vote.items():
            sums[paper] += value
    order = sorted(sums, key=lambda paper: (-sums[paper], paper))
    return next((1 / rank for rank, paper in enumerate(order, 1) if paper in relevant), 0.0)


def _votes(
    claims: Tensor, vectors: Tensor, papers: list[list[int]], k: int, temperature: float
) -> list[dict[int, float]]:
    places = torch.from_numpy(nearest(claims, vectors, k)).long().to(vectors.device)
    near = (vectors[places] @ claims[:, :, None])[..., 0].float()
    weights = torch.exp((near - 1) / temperature).cpu().numpy()
    votes = []
    for row, weight in zip(places.cpu().tolist(), weights.tolist(), strict=True):
        sums: dict[int, float] = defaultdict(float)
        for place, value in zip(row, weight, strict=True):
            for paper in papers[place]:
                sums[paper] += value
        votes.append(dict(sums))
    return votes


Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class EncoderRecipe:
    """Everything a trained encoder depends on besides base and corpus."""

    epochs: int = 5
    batch: int = 1_024
    rate: float = 2e-4
    temperature: float = 0.05
    longest: int = 96  # tokens per text
    hard: int = 1  # mined negatives of each kind per claim
    mined: int = 60  # how deep to mine
    spared: int = 3  # skip the nearest: too often they are right and merely not cited
    learnt: float = 0.75  # share of the trained weights in the final ones; the rest is the base's
    seed: int = 0


def train(
    base: Base,
    corpus: Corpus,
    held_out: Corpus,
    recipe: EncoderRecipe,
    tell: Tell,
    checkpoint: Path | None = None,
) -> list[dict[str, float]]:
    """Train the base's model in place; return the held-out measurements before, after each epoch, and at the end."""
    return _EncoderTraining(base, corpus, held_out, recipe, tell, checkpoint).run()


class _EncoderTraining:
    def __init__(
        self, base: Base, corpus: Corpus, held_out: Corpus, recipe: EncoderRecipe, tell: Tell, checkpoint: Path | None
    ) -> None:
        torch.manual_seed(recipe.seed)
        self._base, self._recipe, self._tell = base, recipe, tell
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._model = base.model.to(self._device)
        self._start = {name: value.clone() for name, value in self._model.state_dict().items()}
        self._examples = ClaimExamples(corpus)
        self._tokens = Tokens(base, self._examples.texts, recipe.longest)
        self._held_out = HeldOutClaims(self._examples, held_out, 1_000, recipe.seed)
        self._held_out_tokens = Tokens(base, (text for text, _ in self._held_out.claims), recipe.longest)
        self._papers = sorted(self._examples.titles)
        count = -(-len(self._examples.sentences) // recipe.batch) * recipe.epochs
        self._steps = TrainingSteps(self._model, recipe.rate, count)
        data = {"base": base.name, "trained on": digest(corpus), "held out": digest(held_out)}
        self._checkpoint = Checkpoint(checkpoint, {**asdict(recipe), **data})
        tell(f"{len(corpus.articles)} articles, {len(self._examples.sentences)} sentences, {len(self._papers)} papers")

    def run(self) -> list[dict[str, float]]:
        measured = self._checkpoint.resume(self._model, self._steps)
        if measured:
            self._tell(f"resuming after epoch {len(measured) - 1}")
        self._encode()
        measured = measured or [self._measure(0, 0.0)]
        for epoch in range(len(measured), self._recipe.epochs + 1):
            loss = self._epoch(Random(f"{self._recipe.seed} {epoch}"), *self._mine(by_words=epoch == 1))
            self._encode()
            measured.append(self._measure(epoch, loss))
            self._checkpoint.save(self._model, self._steps, measured)
        self._blend()
        self._encode()
        return [*measured, self._measure(self._recipe.epochs, measured[-1]["loss"])]

    def _encode(self) -> None:
        """Encode all sentences and papers with the current model."""
        self._sentence_vectors = self._vectors([sentence.text for sentence in self._examples.sentences])
        self._paper_vectors = self._vectors([self._examples.abstracts[paper] for paper in self._papers])

    def _vectors(self, texts: Sequence[int]) -> Tensor:
        return encode(self._model, self._tokens, texts, self._base.facts.pooling)

    def _blend(self) -> None:
        """Blend with the base's weights: recovers its knowledge of other fields while keeping what was learnt."""
        learnt = self._recipe.learnt
        new = {
            name: torch.lerp(self._start[name], value, learnt) if value.is_floating_point() else value
            for name, value in self._model.state_dict().items()
        }
        self._model.load_state_dict(new)

    def _epoch(self, chance: Random, spans: NDArray[np.int32], titles: NDArray[np.int32]) -> float:
        self._model.train()
        torch.manual_seed(chance.randrange(2**31))  # so that a resumed run equals an uninterrupted one
        examples = self._examples.epoch(chance)
        losses = []
        for start in range(0, len(examples), self._recipe.batch):
            batch = examples[start : start + self._recipe.batch]
            with autocast(self._model):
                loss = self._loss(batch, chance, spans, titles)
            losses.append(self._steps.take(loss))
        return float(torch.stack(losses).mean())

    def _loss(
        self, batch: Sequence[ClaimExample], chance: Random, spans: NDArray[np.int32], titles: NDArray[np.int32]
    ) -> Tensor:
        sentences = self._examples.sentences
        paired = [example for example in batch if example.span >= 0]
        hard_spans = [
            index for example in batch for index in self._hard_negatives(example, spans, chance, self._cited_by)
        ]
        hard_titles = [
            index for example in batch for index in self._hard_negatives(example, titles, chance, self._paper_at)
        ]
        texts = [
            [example.claim for example in batch],
            [example.span for example in paired],
            [sentences[index].text for index in hard_spans],
            [example.title for example in batch],
            [self._examples.titles[self._papers[index]] for index in hard_titles],
        ]
        text_vectors = unit_vectors(
            self._model, self._tokens, [text for group in texts for text in group], self._base.facts.pooling
        )
        claims, near, hard, positive_titles, hard_title_vectors = text_vectors.split([len(group) for group in texts])
        cited = [sentences[example.sentence].papers for example in batch]
        rows = [row for row, example in enumerate(batch) if example.span >= 0]
        span_papers = [sentences[example.span_sentence].papers for example in paired] + [
            sentences[index].papers for index in hard_spans
        ]
        papers = [{example.paper} for example in batch] + [{self._papers[index]} for index in hard_titles]
        temperature = self._recipe.temperature
        of_titles = contrast(
            claims,
            torch.cat([positive_titles, hard_title_vectors]),
            sets_overlap(cited, papers, self._device),
            temperature,
        )
        if not rows:
            return of_titles
        false = sets_overlap([cited[row] for row in rows], span_papers, self._device)
        of_spans = contrast(claims[rows], torch.cat([near, hard]), false, temperature)
        back = contrast(near, claims[rows], false[:, : len(rows)].T, temperature)
        return of_titles + (of_spans + back) / 2

    def _hard_negatives(
        self, example: ClaimExample, mined: NDArray[np.int32], chance: Random, papers: Callable[[int], Sequence[int]]
    ) -> list[int]:
        """Pick some of the texts mined for an example's sentence that share no citation with it."""
        cited = self._examples.sentences[example.sentence].papers
        negatives: list[int] = []
        row = mined[example.sentence]
        for _ in range(4 * self._recipe.hard if len(row) else 0):
            index = int(row[chance.randrange(len(row))])
            if len(negatives) < self._recipe.hard and cited.isdisjoint(papers(index)):
                negatives.append(index)
        return negatives

    def _cited_by(self, sentence: int) -> Sequence[int]:
        return tuple(self._examples.sentences[sentence].papers)

    def _paper_at(self, place: int) -> Sequence[int]:
        return (self._papers[place],)

    def _mine(self, by_words: bool) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For each sentence, mine sentences and papers that look right: by the model, and at first also by words."""
        began = time.monotonic()
        recipe, examples = self._recipe, self._examples
        spans = nearest(self._sentence_vectors, self._sentence_vectors, recipe.mined)[:, recipe.spared :]
        titles = nearest(self._sentence_vectors, self._paper_vectors, recipe.mined)
        if by_words:
            sentence_texts = [sentence.text for sentence in examples.sentences]
            title_texts = [examples.titles[paper] for paper in self._papers]
            by_bm25 = nearest_by_words(self._tokens, sentence_texts, sentence_texts, recipe.mined, self._device)[:, 1:]
            spans = np.hstack([spans, by_bm25])
            titles = np.hstack(
                [titles, nearest_by_words(self._tokens, sentence_texts, title_texts, recipe.mined, self._device)]
            )
        self._tell(f"hard negatives mined in {time.monotonic() - began:.0f} s")
        return spans, titles

    def _measure(self, epoch: int, loss: float) -> dict[str, float]:
        claims = encode(self._model, self._held_out_tokens, range(len(self._held_out.claims)), self._base.facts.pooling)
        row = {
            "epoch": epoch,
            "loss": loss,
            **self._held_out.measure(claims, self._sentence_vectors, self._paper_vectors),
        }
        self._tell(" ".join(f"{name} {value:.4g}" for name, value in row.items()))
        return row
