"""Training data for a ranker: lists of texts for a claim, and passages that agree or disagree with one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

import torch

from whycite.documents import Document
from whycite.lab.thesis.alterations import KINDS, OPPOSITES, AlteredClaim, alter, has_negation, numbers, replace_words
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.train.bases import Tensor, nearest
from whycite.lab.train.claimencoder import ClaimExamples
from whycite.models.pairs import TargetKind, paper_text, passage_text
from whycite.text.sentences import split_sentences
from whycite.text.tokens import terms

__all__ = [
    "TEMPERATURE",
    "DrawnClaim",
    "RankList",
    "Stance",
    "altered_stances",
    "backed_pairs",
    "draw_claims",
    "draw_examples",
    "hide_abstracts",
    "marked_stances",
    "nearest_sentence",
    "paper_lists",
    "passage_lists",
    "restated_pairs",
    "same_span_pairs",
    "span_lists",
]


_SPANS, _TITLES = 100, 50  # spans and titles considered per claim
TEMPERATURE = 0.05  # for summing evidence
_WHOLE = 0.4  # share of claims that are whole sentences
_BARE = 0.2  # share of papers shown by title alone

DrawnClaim = tuple[int, int, frozenset[int]]
"""A claim: its sentence (-1 if not in the corpus), its text by number, and what it cites."""


@dataclass(frozen=True, slots=True)
class RankList:
    """A claim and texts to rank for it, best first by the encoder; `right` are the positions of the right ones."""

    kind: TargetKind
    claim: str
    texts: tuple[str, ...]
    relevant: frozenset[int]
    scores: tuple[float, ...] = ()  # from the encoder


def draw_claims(
    examples: ClaimExamples, number: int, chance: Random, articles: Collection[int] | None = None
) -> list[DrawnClaim]:
    """Draw sentences from the examples, or from some of their articles, as claims: whole, or one of their spans."""
    drawn_claims: list[DrawnClaim] = []
    places = [
        index for index, sentence in enumerate(examples.sentences) if articles is None or sentence.article in articles
    ]
    for index in chance.sample(places, min(number, len(places))):
        sentence = examples.sentences[index]
        text, cited = chance.choice(sentence.views)
        whole = chance.random() < _WHOLE
        drawn_claims.append((index, sentence.text, sentence.papers) if whole else (index, text, frozenset(cited)))
    return drawn_claims


def paper_lists(
    examples: ClaimExamples,
    claims: Sequence[DrawnClaim],
    claim_vectors: Tensor,
    sentences: Tensor,
    titles: Tensor,
    length: int,
) -> Iterator[RankList]:
    """For each claim, list the papers with the most evidence near it.

    Evidence from the claim's own article does not count, and other papers cited by the claim's sentence are left out:
    they may be right for it.
    """
    papers = sorted(examples.titles)
    spans, span_scores = _nearest_with_scores(claim_vectors, sentences, _SPANS)
    title_rows, name_scores = _nearest_with_scores(claim_vectors, titles, _TITLES)
    for row, (sentence_index, text, cited) in enumerate(claims):
        article = examples.sentences[sentence_index].article if sentence_index >= 0 else -1
        co_cited = examples.sentences[sentence_index].papers - cited if sentence_index >= 0 else frozenset()
        best: dict[int, int] = {}  # nearest sentence to the claim, by cited paper
        votes: dict[int, float] = {}
        for place, score in zip(spans[row].tolist(), span_scores[row].tolist(), strict=True):
            if examples.sentences[place].article != article:
                for paper in examples.sentences[place].papers:
                    best.setdefault(paper, place)
                    votes[paper] = votes.get(paper, 0.0) + math.exp((score - 1) / TEMPERATURE)
        for place, score in zip(title_rows[row].tolist(), name_scores[row].tolist(), strict=True):
            paper = papers[place]
            votes[paper] = votes.get(paper, 0.0) + math.exp((score - 1) / TEMPERATURE)
        order = [paper for paper in sorted(votes, key=lambda paper: (-votes[paper], paper)) if paper not in co_cited]
        order = order[:length]
        yield RankList(
            "paper",
            examples.texts[text],
            tuple(_paper(examples, paper, best.get(paper, -1)) for paper in order),
            frozenset(position for position, paper in enumerate(order) if paper in cited),
            tuple(math.log(votes[paper]) for paper in order),
        )


def span_lists(
    examples: ClaimExamples, claims: Sequence[DrawnClaim], claim_vectors: Tensor, sentences: Tensor, length: int
) -> Iterator[RankList]:
    """For each claim, list the nearest sentences of other articles; those citing the same paper are right."""
    spans, scores = _nearest_with_scores(claim_vectors, sentences, 2 * length)
    for row, (sentence_index, text, cited) in enumerate(claims):
        claim_sentence = examples.sentences[sentence_index]
        neighbours = [
            (place, score)
            for place, score in zip(spans[row].tolist(), scores[row].tolist(), strict=True)
            if (neighbour := examples.sentences[place]).article != claim_sentence.article
            and (neighbour.papers & cited or neighbour.papers.isdisjoint(claim_sentence.papers))
        ][:length]
        near_sentences = [examples.sentences[place] for place, _ in neighbours]
        yield RankList(
            "span",
            examples.texts[text],
            tuple(examples.texts[sentence.text] for sentence in near_sentences),
            frozenset(position for position, sentence in enumerate(near_sentences) if sentence.papers & cited),
            tuple(score / TEMPERATURE for _, score in neighbours),
        )


def passage_lists(cases: Iterable[PassageCase]) -> Iterator[RankList]:
    """For each claim, list the sentences of the paper it cites, alone and with their neighbours."""
    for case in cases:
        if case.gold:
            sentences = case.sentences
            neighbours = (
                (*sentences[max(0, index - 1) : index], *sentences[index + 1 : index + 2])
                for index in range(len(sentences))
            )
            in_context = tuple(
                passage_text(text, *context) for text, context in zip(sentences, neighbours, strict=True)
            )
            yield RankList("passage", case.claim, tuple(sentences), case.gold)
            yield RankList("passage", case.claim, in_context, case.gold)


def hide_abstracts(lists: Iterable[RankList], chance: Random) -> Iterator[RankList]:
    """Show some papers in the lists by title alone, since not every paper in a library is cited."""
    for rank_list in lists:
        yield replace(
            rank_list,
            texts=tuple(text.partition("\n")[0] if chance.random() < _BARE else text for text in rank_list.texts),
        )


def _paper(examples: ClaimExamples, paper: int, sentence: int) -> str:
    """The paper with its abstract or, if it has none, with the evidence nearest to the claim."""
    title, _, abstract = examples.texts[examples.abstracts[paper]].partition("\n")
    evidence = examples.texts[examples.sentences[sentence].text] if sentence >= 0 else ""
    return paper_text(title, evidence or abstract)


def _nearest_with_scores(claim_vectors: Tensor, vectors: Tensor, k: int) -> tuple[Tensor, Tensor]:
    places = torch.from_numpy(nearest(claim_vectors, vectors, k)).long()
    if not len(places):
        return places, torch.empty(places.shape)
    rows = [
        torch.bmm(
            vectors[places[start : start + 2_048].to(vectors.device)].float(),
            claim_vectors[start : start + 2_048].float()[:, :, None],
        )
        for start in range(0, len(places), 2_048)
    ]
    return places, torch.cat(rows)[..., 0].cpu()


def draw_examples(
    lists: Iterable[RankList], chance: Random, negatives: int
) -> Iterator[tuple[RankList, int, list[int]]]:
    """From each list with right and wrong texts, draw one right position and some wrong ones."""
    for rank_list in lists:
        wrong = [position for position in range(len(rank_list.texts)) if position not in rank_list.relevant]
        if rank_list.relevant and wrong:
            yield rank_list, chance.choice(sorted(rank_list.relevant)), chance.sample(wrong, min(negatives, len(wrong)))


_LABELS = {"backed": 1.0, "contradicted": 0.0, "not found": 0.5}
_DOUBT = 0.1  # for claims marked by people without a passage
_NEUTRAL_SENTENCES = 2  # sentences per claim that say neither
_UNRELATED = 0.2  # share of pairs also shown with a text from another pair


@dataclass(frozen=True, slots=True)
class Stance:
    """A claim and a text; `agreement` is 1 if the text agrees, 0 if it disagrees, 0.5 if neither."""

    claim: str
    text: str
    agreement: float


def marked_stances(cases: Iterable[PassageCase], chance: Random) -> Iterator[Stance]:
    """Pair labelled cases with their gold sentences, one by one and together, and with others that say neither.

    Without gold, use the sentence with most of the claim's words, and all sentences together, with some doubt.
    """
    for case in cases:
        if case.label is None or not case.sentences:
            continue
        agreement = _LABELS[case.label]
        gold = [case.sentences[index] for index in sorted(case.gold)]
        if gold:
            other_sentences = [sentence for index, sentence in enumerate(case.sentences) if index not in case.gold]
            for text in chance.sample(other_sentences, min(_NEUTRAL_SENTENCES, len(other_sentences))):
                yield Stance(case.claim, text, 0.5)
        else:
            agreement = min(max(agreement, _DOUBT), 1 - _DOUBT)
            gold = [nearest_sentence(case.claim, case.sentences)]
        for text in dict.fromkeys([*gold, " ".join(gold)]):
            yield Stance(case.claim, text, agreement)


def altered_stances(paraphrases: Sequence[tuple[str, str]], chance: Random) -> Iterator[Stance]:
    """Turn pairs of a claim and a text that say the same into stances: as they are, with one altered, with both.

    Altering both makes them agree again, so that neither side alone gives the label away.
    """
    for claim, text in paraphrases:
        if chance.random() < _UNRELATED:
            drawn_pair = chance.choice(paraphrases)
            yield Stance(claim, drawn_pair[1], 1.0 if drawn_pair == (claim, text) else 0.5)
        for kind in KINDS:
            altered = alter(claim, kind, chance)
            if altered and _is_decisive(claim, altered, text):
                yield Stance(claim, text, 1.0)
                yield Stance(altered.text, text, 0.0)
                altered_text = replace_words(text, altered.was.strip(), altered.now.strip())
                if altered_text != text:
                    yield Stance(claim, altered_text, 0.0)
                    yield Stance(altered.text, altered_text, 1.0)


def _is_decisive(claim: str, altered: AlteredClaim, text: str) -> bool:
    """Whether the text clearly disagrees with the altered claim, because it contains what was altered."""
    if altered.kind == "number":
        return replace_words(text, altered.was, altered.now) != text and altered.now not in numbers(text)
    if altered.kind == "negation":
        return has_negation(claim) == has_negation(text)
    words = set(text.lower().split())
    return altered.now.lower() not in words and bool(words & OPPOSITES.keys())


def nearest_sentence(claim: str, sentences: Sequence[str]) -> str:
    """The sentence sharing the most words with the claim, as a share; ties go to the first."""
    claim_words = set(terms(claim))
    return max(
        sentences,
        key=lambda sentence: (
            len(claim_words & (sentence_words := set(terms(sentence)))) / (1 + len(claim_words | sentence_words))
        ),
    )


_COSINE = 0.7  # of two citing sentences that say the same
_WORDS = 8  # minimum in each: names alone say nothing that could be denied
_OVERLAP = 0.4  # of a sentence in the abstract and one in the body
_METHODS = "method"


def same_span_pairs(lists: Iterable[RankList]) -> Iterator[tuple[str, str]]:
    """Pair claims with the nearest text in their list that cites the same paper, if both are long and close enough."""
    for rank_list in lists:
        if rank_list.kind != "span" or not rank_list.relevant or not rank_list.scores:
            continue
        best = max(sorted(rank_list.relevant), key=lambda position: rank_list.scores[position])
        text = rank_list.texts[best]
        long = min(len(rank_list.claim.split()), len(text.split())) >= _WORDS
        if long and rank_list.scores[best] * TEMPERATURE > _COSINE and text != rank_list.claim:
            yield rank_list.claim, text


def backed_pairs(cases: Iterable[PassageCase]) -> Iterator[tuple[str, str]]:
    """Pair claims with each gold sentence and all together; without gold, with the sentence sharing the most words."""
    for case in cases:
        if case.label == "backed" and case.sentences:
            gold = [case.sentences[index] for index in sorted(case.gold)] or [
                nearest_sentence(case.claim, case.sentences)
            ]
            for text in dict.fromkeys([*gold, " ".join(gold)]):
                yield case.claim, text


def restated_pairs(documents: Iterable[Document]) -> Iterator[tuple[str, str]]:
    """Pair sentences of abstracts with the most similar one in the same document's body, methods excluded."""
    for document in documents:
        abstract = document.paper.abstract or ""
        abstract_sentences = [abstract[start:end] for start, end in split_sentences(abstract)]
        body = [
            sentence.without_citations()
            for sentence in document.sentences
            if document.sections[sentence.section].type != _METHODS and sentence.text not in abstract
        ]
        yield from _restated_in_body(abstract_sentences, body)


def _restated_in_body(abstract_sentences: Sequence[str], body: Sequence[str]) -> Iterator[tuple[str, str]]:
    words = [frozenset(terms(text)) for text in body]
    frequencies = Counter(word for sentence_words in words for word in sentence_words)

    def size(word_set: Iterable[str]) -> float:
        """Weigh words by rarity."""
        return sum(math.log((len(body) + 1) / (frequencies[word] + 1)) for word in word_set)

    sizes = [size(sentence_words) for sentence_words in words]
    for text in abstract_sentences:
        abstract_words = frozenset(terms(text))
        abstract_size = size(abstract_words)
        likeness = [
            size(abstract_words & sentence_words) / math.sqrt(abstract_size * body_size)
            if abstract_size * body_size > 0
            else 0.0
            for sentence_words, body_size in zip(words, sizes, strict=True)
        ]
        best = max(range(len(body)), key=likeness.__getitem__, default=-1)
        if best >= 0 and likeness[best] >= _OVERLAP and body[best] != text and len(text.split()) >= _WORDS:
            yield text, body[best]
