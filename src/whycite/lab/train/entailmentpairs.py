"""Pairs and lists that the entailment model learns from: labelled, written, contrast pairs, and many without labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from random import Random
from typing import Any

import numpy as np

from whycite.lab.thesis.datasets import Label, PassageCase
from whycite.lab.train.contrasts import ArticleSentence, comparison_pairs, contrast_pairs, wording_pairs
from whycite.lab.train.entailment import UNLABELLED, LabelledPair, SentenceList
from whycite.verify.features import SentenceLexicon

__all__ = [
    "ArticleText",
    "WrittenClaim",
    "case_lists",
    "case_pairs",
    "cited_pairs",
    "contrast_rows",
    "entailment_rows",
    "nearest_sentences",
    "together",
    "wording_rows",
    "written_lists",
    "written_pairs",
]

LABEL_INDICES: Mapping[Label, int] = {"backed": 0, "contradicted": 1, "not found": 2}
_ROW_LABELS = {"SUPPORT": 0, "CONTRADICT": 1, "NEI": 2}
_TOGETHER = 5  # sentences that are read as one passage
_NEAR = 30  # sentences among which the irrelevant ones of a list are chosen
_READ_ALONE = 3  # near sentences of which each is a pair without a label
_PER_KIND = 2  # contrast pairs of one kind and label from one article
_ALTERED = 12  # claims of an article that come with near sentences
_BURIED = 0.4  # share of contrast pairs whose passage stands among other sentences


@dataclass(frozen=True, slots=True)
class ArticleText:
    """The sentences of an article."""

    id: str
    sentences: tuple[ArticleSentence, ...]

    @property
    def texts(self) -> list[str]:
        """The sentences' texts."""
        return [sentence.text for sentence in self.sentences]


@dataclass(frozen=True, slots=True)
class WrittenClaim:
    """A claim that somebody wrote about an article, and the sentences that decide it."""

    article: str
    claim: str
    label: Label
    kind: str
    deciding: tuple[int, ...]


def entailment_rows(rows: Iterable[Mapping[str, Any]], excluded_claims: frozenset[str]) -> Iterator[LabelledPair]:
    """Rows of claim, evidence and label, by source, but those with the excluded claims."""
    for row in rows:
        if row["claim"] not in excluded_claims:
            yield LabelledPair(row["claim"], row["evidence"], _ROW_LABELS[row["label"]], row["source"])


def case_pairs(cases: Iterable[PassageCase], folds: Mapping[str, int], chance: Random) -> Iterator[LabelledPair]:
    """Each claim with its whole document, with its gold sentences or, if it has none, with the nearest ones."""
    for case in cases:
        if case.label is None or not case.sentences:
            continue
        label, source, fold = LABEL_INDICES[case.label], case.dataset, folds.get(case.id, -1)
        yield LabelledPair(case.claim, " ".join(case.sentences), label, f"{source} whole", fold)
        if not case.gold:
            near = nearest_sentences(case.claim, case.sentences, _READ_ALONE)
            yield LabelledPair(case.claim, together(case.sentences, near), label, source, fold)
            yield LabelledPair(case.claim, case.sentences[near[0]], label, source, fold)
            continue
        for sentences in case.rationales or (case.gold,):
            yield LabelledPair(case.claim, together(case.sentences, sentences), label, source, fold)
        others = [index for index in range(len(case.sentences)) if index not in case.gold]
        filled = {*case.gold, *chance.sample(others, min(len(others), max(0, _TOGETHER - len(case.gold))))}
        yield LabelledPair(case.claim, together(case.sentences, filled), label, source, fold)


def case_lists(cases: Iterable[PassageCase], folds: Mapping[str, int]) -> Iterator[SentenceList]:
    """Each claim with the sentences of its document that are near it, and those that are gold."""
    for case in cases:
        if case.gold:
            chosen = sorted({*case.gold, *nearest_sentences(case.claim, case.sentences, _NEAR)})
            relevant = tuple(place for place, index in enumerate(chosen) if index in case.gold)
            texts = tuple(case.sentences[index] for index in chosen)
            yield SentenceList(case.claim, texts, relevant, case.dataset, folds.get(case.id, -1))


def written_pairs(claims: Iterable[WrittenClaim], articles: Mapping[str, ArticleText]) -> Iterator[LabelledPair]:
    """Each claim with the sentence that decides it, with that one among others, and with near ones that do not."""
    for claim in claims:
        if claim.kind == "others":
            continue  # the sentence says so, if not as a finding of its own
        texts = articles[claim.article].texts
        label = LABEL_INDICES[claim.label]
        near = nearest_sentences(claim.claim, texts, _NEAR)
        undecided = [index for index in near if index not in claim.deciding]
        yield LabelledPair(claim.claim, texts[claim.deciding[0]], label, "written")
        filled = [*claim.deciding, *undecided][:_TOGETHER]
        yield LabelledPair(claim.claim, together(texts, filled), label, "written together")
        abstract = _abstract(articles[claim.article])
        if abstract and (claim.label == "not found" or claim.deciding[0] in abstract):
            yield LabelledPair(claim.claim, together(texts, abstract), label, "written abstract")
        for index in undecided[:_READ_ALONE]:
            yield LabelledPair(claim.claim, texts[index], UNLABELLED, "written near")
        yield LabelledPair(claim.claim, together(texts, undecided[:_TOGETHER]), UNLABELLED, "written near")


def _abstract(article: ArticleText) -> list[int]:
    return [index for index, sentence in enumerate(article.sentences) if sentence.section_type == "abstract"]


def written_lists(claims: Iterable[WrittenClaim], articles: Mapping[str, ArticleText]) -> Iterator[SentenceList]:
    """Each claim that is backed or contradicted, with the near sentences of its article."""
    for claim in claims:
        if claim.label != "not found":
            texts = articles[claim.article].texts
            chosen = sorted({*claim.deciding, *nearest_sentences(claim.claim, texts, _NEAR)})
            relevant = tuple(place for place, index in enumerate(chosen) if index in claim.deciding)
            yield SentenceList(claim.claim, tuple(texts[index] for index in chosen), relevant, "written")


def contrast_rows(articles: Iterable[ArticleText], seed: int = 0) -> Iterator[LabelledPair]:
    """Contrast pairs of articles, a few of each kind and label; some stand among other sentences of the article.

    Some of their claims also come with the near sentences of the article, for the teacher to judge.
    """
    for article in articles:
        chance = Random(f"{seed} {article.id}")
        by_kind: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for pair in contrast_pairs(article.sentences, chance):
            by_kind.setdefault((pair.kind, pair.label), []).append((pair.claim, pair.passage))
        for (kind, label), pairs in by_kind.items():
            for claim, passage in chance.sample(pairs, min(_PER_KIND, len(pairs))):
                text = _bury(passage, article, chance) if chance.random() < _BURIED else passage
                yield LabelledPair(claim, text, _contrast_label(label), f"contrast {kind}")
        altered = sorted({claim for (_, label), pairs in by_kind.items() if label != "backed" for claim, _ in pairs})
        for claim in chance.sample(altered, min(_ALTERED, len(altered))):
            # The nearest is the finding that was altered.
            for index in nearest_sentences(claim, article.texts, _READ_ALONE)[1:]:
                yield LabelledPair(claim, article.sentences[index].text, UNLABELLED, "altered")


def wording_rows(number: int, seed: int = 0) -> Iterator[LabelledPair]:
    """Pairs of short statements, made by rule; half as many of them compare two sides."""
    for pair in chain(wording_pairs(number, Random(seed)), comparison_pairs(number // 2, Random(seed))):
        yield LabelledPair(pair.claim, pair.passage, LABEL_INDICES[pair.label], f"contrast {pair.kind}")


def _contrast_label(label: str) -> int:
    return next(index for name, index in LABEL_INDICES.items() if name == label)


def _bury(passage: str, article: ArticleText, chance: Random) -> str:
    """A passage among sentences of the article that share few words with it."""
    words = set(passage.lower().split())
    drawn = chance.sample(article.texts, min(len(article.sentences), 4 * _TOGETHER))
    strange = [text for text in drawn if len(words & set(text.lower().split())) < len(words) / 4]
    texts = strange[: chance.randint(1, _TOGETHER - 1)]
    texts.insert(chance.randint(0, len(texts)), passage)
    return " ".join(texts)


def cited_pairs(claim: str, sentences: Sequence[str], source: str) -> Iterator[LabelledPair]:
    """A claim with the near sentences of a paper that it cites, or does not: for the teacher to judge."""
    near = nearest_sentences(claim, sentences, _TOGETHER)
    for index in near[:_READ_ALONE]:
        yield LabelledPair(claim, sentences[index], UNLABELLED, source)
    yield LabelledPair(claim, together(sentences, near), UNLABELLED, source)


def nearest_sentences(claim: str, sentences: Sequence[str], number: int) -> list[int]:
    """The sentences that share most words with a claim, best first."""
    order = np.argsort(-_lexicon(tuple(sentences)).bm25(claim), kind="stable")
    return [int(index) for index in order[:number]]


@lru_cache(maxsize=64)
def _lexicon(sentences: tuple[str, ...]) -> SentenceLexicon:
    return SentenceLexicon(sentences)


def together(sentences: Sequence[str], chosen: Iterable[int]) -> str:
    """Sentences as one passage, in their order in the document."""
    return " ".join(sentences[index] for index in sorted(set(chosen)))
