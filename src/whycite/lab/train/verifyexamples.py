"""What the weights of `whycite verify` are fitted to: claims with passages and verdicts, and recorded judgements.

Verdicts on whole papers are hard when the paper is on the same topic but says something else. So each claim is paired
with the paper it cites and with the most similar other one, and the cited paper with another claim of the same
document, which cites something else.

Other claims are written by hand about articles: what an article says, what it denies, and what it does not say. Each
line of a file of them has an article, a claim, a label, a kind and the sentences that decide it. The articles are read
from the data they come from: eLife, PubMed Central and CL-SciSumm, and PLOS as the demo has them. Models learn from two
thirds of the articles, but from none of PLOS; the weights of `verify` are fitted to one half of the others, and the
other half measures.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from whycite import demo, structure
from whycite.documents import stream
from whycite.documents.identity import paper_key
from whycite.documents.jsontext import as_dict, as_text
from whycite.documents.model import Document, Reference
from whycite.errors import UserError
from whycite.evidence.words import has_content_words
from whycite.lab.jsonlines import as_line, read_objects
from whycite.lab.thesis import datasets
from whycite.lab.thesis.datasets import Label, PassageCase
from whycite.lab.thesis.experiment import split, without_shared_documents
from whycite.models import Encoder
from whycite.models.pairs import EntailmentModel
from whycite.verify.features import PassageWeights
from whycite.verify.passages import PreparedDocument, joint_text, kind_of, own_sentences

__all__ = [
    "CITED_KINDS",
    "DATA_SETS",
    "OTHERS",
    "CachedEntailment",
    "Part",
    "RecordedEntailment",
    "abstract_cases",
    "article_part",
    "cited_texts",
    "load_recorded",
    "load_written",
    "prepare",
    "training_cases",
]

Part = Literal["train", "fit", "test"]
_LABELS: dict[str, Label] = {"S": "backed", "C": "contradicted", "N": "not found"}
OTHERS = "others"  # the kind of claims that an article only reports of others, which is neither backed nor not found
_NOT_READ = (np.nan,) * 4
_ARTICLE_PARTS = 3  # every third article is not learned from
_SCISUMM = "acl:"  # before the ids of CL-SciSumm
_PLOS = "plos:"  # before the names of the demo's articles, whose claims are written as citing authors write


def article_part(article: str) -> Part:
    """The part that an article belongs to."""
    if crc32(article.encode()) % _ARTICLE_PARTS and not article.startswith(_PLOS):
        return "train"
    return "test" if int(hashlib.sha1(article.encode(), usedforsecurity=False).hexdigest(), 16) % 2 else "fit"


def load_written(path: Path, data: Path, part: Part) -> list[PassageCase]:
    """The claims of a part, each against the whole article; `citing` has the kind of the claim."""
    rows = [
        (as_text(row.get("article")), place, row)
        for place, row in read_objects(path)
        if article_part(as_text(row.get("article"))) == part
    ]
    articles = {id: (texts, headings) for id, texts, headings in _articles(data, {id for id, _, _ in rows})}
    cases = []
    for id, place, row in rows:
        if id not in articles:
            raise UserError(f"{place}: article '{id}' is not in {data}")
        if row.get("label") not in _LABELS:
            raise UserError(f"{place}: the label must be one of {', '.join(_LABELS)}")
        texts, headings = articles[id]
        cases.append(
            PassageCase(
                id=f"{id} {row.get('claim')}",
                dataset="written",
                claim=as_text(row.get("claim")),
                citing=as_text(row.get("kind")),
                document=id,
                sentences=texts,
                gold=datasets.numbers(row.get("deciding")),
                label=_LABELS[as_text(row.get("label"))],
                sections=headings,
            )
        )
    return cases


def abstract_cases(cases: Iterable[PassageCase]) -> Iterator[PassageCase]:
    """The claims that the article's abstract decides, against the abstract alone."""
    for case in cases:
        abstract = [index for index, heading in enumerate(case.sections) if _is_abstract(heading)]
        gold = frozenset(place for place, index in enumerate(abstract) if index in case.gold)
        if abstract and (gold or case.label == "not found"):
            sentences = tuple(case.sentences[index] for index in abstract)
            headings = tuple(case.sections[index] for index in abstract)
            yield replace(case, sentences=sentences, sections=headings, gold=gold, dataset="written abstract")


@cache
def _is_abstract(heading: str) -> bool:
    return structure.section_type(heading) == "abstract"


def _articles(data: Path, wanted: set[str]) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The sentences of the wanted articles and the headings above them."""
    if any(id.startswith(_SCISUMM) for id in wanted):
        papers = {case.document: case for case in datasets.load_clscisumm_automatic(data / "clscisumm")}
        for id in sorted(wanted):
            if case := papers.get(id.removeprefix(_SCISUMM)):
                yield id, case.sentences, case.sections
    if any(id.startswith(_PLOS) for id in wanted):
        for path in demo.articles():
            id = _PLOS + path.stem.removeprefix("journal.")
            if id in wanted:
                yield id, *_prose(next(iter(stream(path))))
    others = {id for id in wanted if not id.startswith((_SCISUMM, _PLOS))}
    for document in _documents(data, others) if others else ():
        id = Path(document.path).stem if document.format == "jats" else paper_key(document.paper) or ""
        if id in others:
            texts, headings = _prose(document)
            yield id, texts, headings


def _documents(data: Path, wanted: set[str]) -> Iterator[Document]:
    """The articles whose file or DOI is wanted; the others, many times as many, are not parsed."""
    yield from stream(data / "pmc-rct" / "articles.tar.zst", visit=_WantedFiles(wanted))
    for path in sorted((data / "elife").glob("elife-[0-9]*")):
        records = (row for _, row in read_objects(path))
        lines = [as_line(row) for row in records if paper_key(Reference("", doi=as_text(row.get("doi")))) in wanted]
        if lines:
            yield from stream(path.with_name("wanted.jsonl"), content="".join(lines).encode())


@dataclass(frozen=True, slots=True)
class _WantedFiles:
    """Reads an archive, and of its members those with a wanted name."""

    names: set[str]

    def begin(self, path: str) -> bool:
        return path.endswith(".zst") or Path(path).stem in self.names

    def end(self, path: str) -> None:
        pass


def _prose(document: Document) -> tuple[tuple[str, ...], tuple[str, ...]]:
    labelled = structure.label(document)
    indices, headings, _ = own_sentences(labelled)
    rows = [
        (labelled.sentences[index].text, heading)
        for index, heading in zip(indices, headings, strict=True)
        if labelled.sentences[index].kind == "prose"
    ]
    return tuple(text for text, _ in rows), tuple(heading for _, heading in rows)


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


class RecordedEntailment:
    """Gives the judgements that models trained without a case gave on it; of other claims, those of a model.

    By case id: the indices of the sentences that were read, a row for each, and the row of the most relevant together.
    """

    name = "recorded"

    def __init__(
        self,
        cases: Iterable[PassageCase],
        recorded: Mapping[str, Sequence[Any]],
        otherwise: EntailmentModel | None = None,
    ) -> None:
        self._rows: dict[str, dict[str, Sequence[float]]] = {}
        self._otherwise = otherwise
        for case in cases:
            indices, rows, joint = recorded[case.id]
            texts = [case.sentences[index] for index in indices]
            of_claim = self._rows.setdefault(" ".join(case.claim.split()), {})
            of_claim |= zip(texts, rows, strict=True)
            of_claim[joint_text(texts, np.array(rows), kind_of(case.sentences))] = joint

    def judge(self, claim: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """The recorded rows; with another model at hand, nan for a sentence that was not read when they were made."""
        rows = self._rows.get(" ".join(claim.split()), {})
        if self._otherwise is None:
            if missing := [passage for passage in passages if passage not in rows]:
                raise UserError(f"no judgement was recorded on '{claim}' and '{missing[0]}'; record it anew")
        elif not rows:
            return self._otherwise.judge(claim, passages)
        return np.array([rows.get(passage, _NOT_READ) for passage in passages], np.float64).reshape(-1, 4)


def load_recorded(
    path: Path, cases: Iterable[PassageCase], otherwise: EntailmentModel | None = None
) -> RecordedEntailment:
    """The judgements in a JSON file, for the cases that it has."""
    try:
        recorded = as_dict(json.loads(path.read_text("utf-8")))
        return RecordedEntailment((case for case in cases if case.id in recorded), recorded, otherwise)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UserError(f"{path}: not a file of recorded judgements ({error})") from error


class CachedEntailment:
    """An entailment model that reads each pair once: weights are fitted step by step to the same cases."""

    def __init__(self, model: EntailmentModel) -> None:
        self.name, self._model = model.name, model
        self._rows: dict[tuple[str, str], NDArray[np.float64]] = {}

    def judge(self, claim: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """What the model says of each passage."""
        missing = list(dict.fromkeys(text for text in passages if (claim, text) not in self._rows))
        if missing:
            keys = ((claim, text) for text in missing)
            self._rows |= zip(keys, np.asarray(self._model.judge(claim, missing), np.float64), strict=True)
        return np.array([self._rows[claim, text] for text in passages], np.float64).reshape(-1, 4)


def prepare(
    encoder: Encoder, entailment: EntailmentModel, weights: PassageWeights
) -> Callable[[PassageCase], PreparedDocument]:
    """A function that prepares the sentences of a case, once for all cases that share them."""

    @cache
    def ready(sentences: tuple[str, ...], sections: tuple[str, ...]) -> PreparedDocument:
        types = [_section_type(heading) for heading in sections] or [None] * len(sentences)
        return PreparedDocument(sentences, types, encoder, entailment, weights)

    return lambda case: ready(case.sentences, case.sections)


@cache
def _section_type(heading: str) -> str | None:
    return structure.section_type(heading)
