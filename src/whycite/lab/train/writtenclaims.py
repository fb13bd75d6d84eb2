"""Claims written by hand about articles: what an article says, what it denies, and what it does not say.

Each line of a file of them has an article, a claim, a label, a kind and the sentences that decide it. The articles are
read from the data they come from: eLife, PubMed Central and CL-SciSumm. Models learn from two thirds of the articles;
the weights of `verify` are fitted to one half of the others, and the other half measures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Literal
from zlib import crc32

from whycite import structure
from whycite.documents import stream
from whycite.documents.identity import paper_key
from whycite.documents.jsontext import as_text
from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.lab.jsonlines import read_objects
from whycite.lab.thesis import datasets
from whycite.lab.thesis.datasets import Label, PassageCase
from whycite.verify.passages import own_sentences

__all__ = ["OTHERS", "Part", "abstract_cases", "article_part", "load_written"]

Part = Literal["train", "fit", "test"]
_LABELS: dict[str, Label] = {"S": "backed", "C": "contradicted", "N": "not found"}
OTHERS = "others"  # the kind of claims that an article only reports of others, which is neither backed nor not found
_ARTICLE_PARTS = 3  # every third article is not learned from
_SCISUMM = "acl:"  # before the ids of CL-SciSumm


def article_part(article: str) -> Part:
    """The part that an article belongs to."""
    if crc32(article.encode()) % _ARTICLE_PARTS:
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
    for document in _documents(data):
        id = Path(document.path).stem if document.format == "jats" else paper_key(document.paper) or ""
        if id in wanted:
            texts, headings = _prose(document)
            yield id, texts, headings


def _documents(data: Path) -> Iterable[Document]:
    files = [data / "pmc-rct" / "articles.tar.zst", *sorted((data / "elife").glob("elife-[0-9]*"))]
    return chain.from_iterable(map(stream, files))


def _prose(document: Document) -> tuple[tuple[str, ...], tuple[str, ...]]:
    labelled = structure.label(document)
    indices, headings, _ = own_sentences(labelled)
    rows = [
        (labelled.sentences[index].text, heading)
        for index, heading in zip(indices, headings, strict=True)
        if labelled.sentences[index].kind == "prose"
    ]
    return tuple(text for text, _ in rows), tuple(heading for _, heading in rows)
