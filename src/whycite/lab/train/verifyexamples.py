"""Training data for `whycite verify`: claims with passages and verdicts; real, altered and mixed.

Verdicts on whole papers are hard when the paper is on the same topic but says something else. So each claim is paired
with the paper it cites and with the most similar other one, and the cited paper with another claim of the same
document, which cites something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from whycite import structure
from whycite.documents import stream
from whycite.documents.identity import paper_key
from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.evidence.words import has_content_words
from whycite.lab.thesis import datasets
from whycite.lab.thesis.alterations import KINDS as ALTERATIONS
from whycite.lab.thesis.alterations import alter
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.experiment import split, without_shared_documents
from whycite.models import Encoder
from whycite.models.rankers import Ranker, TargetKind
from whycite.verify.features import PassageWeights
from whycite.verify.passages import PreparedDocument, kind_of, sentence_in_context
from whycite.verify.prose import own_sentences

__all__ = [
    "CITED_KINDS",
    "DATA_SETS",
    "UnseenScores",
    "VerdictExample",
    "cited_texts",
    "examples_with_stances",
    "mix_claims",
    "prepare",
    "training_cases",
    "verdict_examples",
]


DATA_SETS: dict[str, Callable[[Path], Sequence[PassageCase]]] = {
    "citint": partial(datasets.load_citint, part="train"),
    "clscisumm": datasets.load_clscisumm,
    "scifact": datasets.load_scifact,
}
_AUTOMATIC: dict[str, Callable[[Path], Sequence[PassageCase]]] = {"clscisumm": datasets.load_clscisumm_automatic}


def training_cases(folders: Sequence[Path], seed: int = 0, whole: bool = False) -> list[PassageCase]:
    """The training part of each data set, identified by its folder's name, or the whole set.

    Automatically marked cases are for training too, unless they share a document with those marked by people.
    """
    selected: list[PassageCase] = []
    for folder in folders:
        name = folder.resolve().name
        if name not in DATA_SETS:
            raise UserError(f"{folder}: not a dataset of passages; expected a folder named {', '.join(DATA_SETS)}")
        cases = list(DATA_SETS[name](folder))
        selected += cases if whole else split(cases, seed=seed).train
        if name in _AUTOMATIC:
            selected += without_shared_documents(_AUTOMATIC[name](folder), cases)
    return selected


CITED_KINDS = (
    "cited",
    "like",
    "beside",
)  # suffixes of case ids: the cited paper, one like it, or another claim

_PARTS = 3
_WORDS = 8  # minimum for a claim that makes sense by itself


@dataclass(frozen=True, slots=True)
class _ArticleClaim:
    text: str
    citing: str
    cited: str
    document_cites: frozenset[str]  # everything its document cites


def cited_texts(
    paths: Sequence[Path],
    number: int,
    encoder: Encoder,
    chance: Random,
    watch: Callable[[int], None] = lambda read: None,
    held_out: bool = False,
) -> list[PassageCase]:
    """Build "backed" cases for `number` claims whose cited paper is available, and two "not found" cases for each.

    A third of the papers is used only with `held_out`.
    """
    titles: dict[str, str] = {}
    claims: list[_ArticleClaim] = []
    for read, document in enumerate(_stream_documents(paths), 1):
        key = paper_key(document.paper)
        if key and document.sentences:
            if (crc32(key.encode()) % _PARTS == 0) == held_out:
                titles[key] = document.paper.title
            claims += _claims(document, key)
        watch(read)
    claims_by_document: dict[str, list[_ArticleClaim]] = {}
    for claim in claims:
        claims_by_document.setdefault(claim.citing, []).append(claim)
    checkable_claims = [claim for claim in claims if claim.cited in titles and claim.citing != claim.cited]
    checkable_claims = chance.sample(checkable_claims, min(number, len(checkable_claims)))
    if not checkable_claims:
        return []
    similar_papers = _nearest(checkable_claims, titles, encoder)
    needed_keys = {*(claim.cited for claim in checkable_claims), *similar_papers}
    texts = {
        key: document for document in _stream_documents(paths) if (key := paper_key(document.paper)) in needed_keys
    }
    cases = []
    for claim, similar_paper in zip(checkable_claims, similar_papers, strict=True):
        cases.append(_case(claim, texts[claim.cited], "cited"))
        if similar_paper is not None:
            cases.append(_case(claim, texts[similar_paper], "like"))
        if siblings := [sibling for sibling in claims_by_document[claim.citing] if sibling.cited != claim.cited]:
            swapped_claim = replace(claim, text=chance.choice(siblings).text)
            cases.append(_case(swapped_claim, texts[claim.cited], "beside"))
    return cases


def _stream_documents(paths: Sequence[Path]) -> Iterator[Document]:
    return chain.from_iterable(map(stream, paths))


def _claims(document: Document, key: str) -> Iterator[_ArticleClaim]:
    """Sentences that cite exactly one paper."""
    keys = {reference.id: paper_key(reference) for reference in document.references}
    cited = frozenset(filter(None, keys.values()))
    for sentence in document.sentences:
        cited_ids = {name for citation in sentence.citations for name in citation.keys}
        if sentence.kind == "prose" and len(cited_ids) == 1 and (paper := keys.get(cited_ids.pop())):
            text = sentence.without_citations()
            if has_content_words(text, _WORDS):
                yield _ArticleClaim(text, key, paper, cited)


def _nearest(claims: Sequence[_ArticleClaim], titles: dict[str, str], encoder: Encoder) -> list[str | None]:
    """For each claim, the paper with the title most like the cited one's that its document does not cite.

    None if there is no other.
    """
    names = sorted(titles)
    vectors = encoder.encode([titles[name] for name in names])
    places = {name: position for position, name in enumerate(names)}
    nearest_papers = []
    for claim in claims:
        order = np.argsort(-(vectors @ vectors[places[claim.cited]]), kind="stable").tolist()
        excluded = claim.document_cites | {claim.cited, claim.citing}
        nearest_papers.append(next((names[position] for position in order if names[position] not in excluded), None))
    return nearest_papers


def _case(claim: _ArticleClaim, document: Document, kind: str) -> PassageCase:
    document = structure.label(document)
    sentence_indices, headings, _ = own_sentences(document)
    return PassageCase(
        id=f"{claim.citing} {claim.cited} {kind}",
        dataset="cited",
        claim=claim.text,
        citing=claim.citing,
        document=paper_key(document.paper) or document.path,
        sentences=tuple(document.sentences[index].text for index in sentence_indices),
        label="backed" if kind == "cited" else "not found",
        sections=tuple(headings),
    )


_MAX_ALTERED = 2  # altered claims per backed one
_ALTERED_WEIGHT = 0.15  # weight of each: enough to learn the signs, too little to make contradiction seem common
_MIXED_WEIGHT, _LONG_WORD = (
    0.5,
    5,
)  # weight of a claim mixed from two; letters in the words that are mixed


@dataclass(frozen=True, slots=True)
class VerdictExample:
    """A claim, the sentences to check it against, and the verdict."""

    case: PassageCase
    label: str
    count: float = 1.0  # weight in training
    stance: float | None = None  # if already known


class UnseenScores:
    """A ranker that returns scores given by rankers not trained on the cases.

    By case id, "passage" has a score for each sentence, and "between" one for each sentence with its neighbours.
    """

    name = "unseen"

    def __init__(self, cases: Iterable[PassageCase], scores: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
        self._scores: dict[tuple[str, str], float] = {}
        for case in cases:
            in_context = [sentence_in_context(case.sentences, index) for index in range(len(case.sentences))]
            for texts, score_kind in ((in_context, "between"), (case.sentences, "passage")):
                case_scores = map(float, scores[score_kind][case.id])
                self._scores |= zip(((case.claim, text) for text in texts), case_scores, strict=True)

    def score(self, kind: TargetKind, claim: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The score each text was given as a passage for the claim."""
        if kind != "passage":
            raise ValueError(f"no scores of kind {kind}")
        return np.array([self._scores[claim, text] for text in texts], np.float32)


def prepare(
    encoder: Encoder, ranker: Ranker | None, weights: PassageWeights
) -> Callable[[PassageCase], PreparedDocument]:
    """A function that prepares the sentences of a case, once for all cases that share them."""

    @cache
    def ready(sentences: tuple[str, ...], sections: tuple[str, ...]) -> PreparedDocument:
        types = [_section_type(heading) for heading in sections] or [None] * len(sentences)
        return PreparedDocument(sentences, types, encoder, ranker, weights)

    return lambda case: ready(case.sentences, case.sections)


@cache
def _section_type(heading: str) -> str | None:
    return structure.section_type(heading)


def verdict_examples(
    labelled: Sequence[PassageCase], papers: Sequence[PassageCase], chance: Random
) -> Iterator[VerdictExample]:
    """Labelled claims, claims paired with the papers they cite and others, and backed ones altered or mixed."""
    labelled_examples = [
        VerdictExample(case, case.label) for case in labelled if case.label is not None and case.sentences
    ]
    for example in (*labelled_examples, *(VerdictExample(case, "backed") for case in papers)):
        yield example
        if example.label == "backed":
            altered = [alter(example.case.claim, kind, chance) for kind in ALTERATIONS]
            altered_claims = [alteration.text for alteration in altered if alteration is not None]
            for claim in chance.sample(altered_claims, min(_MAX_ALTERED, len(altered_claims))):
                yield VerdictExample(replace(example.case, claim=claim), "contradicted", _ALTERED_WEIGHT)
            if papers and kind_of(example.case.sentences) == "paper":
                made_up = mix_claims(example.case.claim, chance.choice(papers).claim, chance)
                yield VerdictExample(replace(example.case, claim=made_up, gold=frozenset()), "not found", _MIXED_WEIGHT)
    for case in papers:
        unrelated_case = chance.choice([candidate for candidate in papers if candidate.document != case.document])
        yield VerdictExample(replace(unrelated_case, claim=case.claim, gold=frozenset()), "not found")


def mix_claims(claim: str, foreign_claim: str, chance: Random) -> str:
    """A claim with a third of its long words replaced by another's: on the same topic, but made up."""
    words = claim.split()
    long = [position for position, word in enumerate(words) if len(word) >= _LONG_WORD]
    strange = [word for word in foreign_claim.split() if len(word) >= _LONG_WORD]
    for position in chance.sample(long, min(len(long), max(1, len(long) // 3))) if strange else ():
        words[position] = chance.choice(strange)
    return " ".join(words)


def examples_with_stances(cases: Sequence[PassageCase], unseen: Mapping[str, Any]) -> Iterator[VerdictExample]:
    """Cases and altered ones, with stances from rankers that had not seen them."""
    for case in cases:
        if case.label is not None and case.id in unseen["stance"]:
            yield VerdictExample(case, case.label, stance=float(unseen["stance"][case.id]))
            for claim, stance in unseen["altered"].get(case.id, []):
                yield VerdictExample(replace(case, claim=claim), "contradicted", _ALTERED_WEIGHT, float(stance))
