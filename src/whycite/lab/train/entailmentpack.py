"""What an entailment model learns from: pairs and lists from the folders of data and from written claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from whycite import structure
from whycite.documents import stream
from whycite.documents.identity import paper_key
from whycite.documents.jsontext import as_list, as_text
from whycite.documents.markers import find_markers
from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.lab.jsonlines import read_objects, read_rows
from whycite.lab.thesis import datasets
from whycite.lab.thesis.datasets import Label, PassageCase
from whycite.lab.thesis.experiment import folds as split_folds
from whycite.lab.thesis.experiment import without_shared_documents
from whycite.lab.train.contrasts import ArticleSentence
from whycite.lab.train.entailment import (
    UNLABELLED,
    LabelledPair,
    TrainingPack,
)
from whycite.lab.train.entailmentpairs import (
    ArticleText,
    WrittenClaim,
    case_lists,
    case_pairs,
    cited_pairs,
    contrast_rows,
    entailment_rows,
    wording_rows,
    written_lists,
    written_pairs,
)
from whycite.lab.train.writtenclaims import article_part
from whycite.verify.passages import own_sentences

__all__ = [
    "SOURCES",
    "EntailmentData",
    "fold_numbers",
    "load_data",
    "load_marked",
]

Tell = Callable[[str], None]
SOURCES = ("elife", "pmc-rct", "clscisumm", "scifact", "citint", "entailment")
_WRITTEN_LABELS: Mapping[str, Label] = {"S": "backed", "C": "contradicted", "N": "not found"}
_ARTICLES_A_FILE = 200  # of eLife, where a file has hundreds of neighbouring topics
_MIN_SENTENCES = 40  # of an article: shorter ones are letters and corrections
_CONTRAST_ARTICLES = 2700  # contrast pairs take a fifth of a second an article
_ABSTRACT_ARTICLES, _ABSTRACT_CLAIMS = 2400, 6  # articles whose abstract is read against the body, and claims of each
_CLAIM_WORDS = (8, 60)  # fewer say nothing by themselves, more say too much
_AUTOMATIC = 3000  # lists with automatic gold, which is noisy
_WORDINGS = 8000
_FEVER = 9000  # rows: general knowledge would crowd out science
_SWAPPED = 500  # rows of a source that get the evidence of another row
_OWN_FOLDERS = frozenset({"scifact", "citint"})  # the rows have parts of these that are not to be learned from


@dataclass(frozen=True, slots=True)
class EntailmentData:
    """What a model learns from, and written claims about articles that it does not learn from."""

    pack: TrainingPack
    unlearned: tuple[LabelledPair, ...]

    @property
    def texts(self) -> list[str]:
        """Every text that is learned from, once."""
        pairs = (text for pair in self.pack.pairs for text in (pair.claim, pair.passage))
        lists = (text for item in self.pack.lists for text in (item.claim, *item.sentences))
        return list(dict.fromkeys([*pairs, *lists]))


def load_marked(data: Path) -> list[PassageCase]:
    """The claims of SciFact and CL-SciSumm that people marked, if the data has them."""
    loaders = {"scifact": datasets.load_scifact, "clscisumm": datasets.load_clscisumm}
    return [case for name, load in loaders.items() if (data / name).is_dir() for case in load(data / name)]


def fold_numbers(cases: Sequence[PassageCase], number: int) -> dict[str, int]:
    """The fold of each case by its id; without folds all are in one, which the first stages leave out."""
    if not number:
        return {case.id: 0 for case in cases}
    by_dataset: dict[str, list[PassageCase]] = {}
    for case in cases:
        by_dataset.setdefault(case.dataset, []).append(case)
    splits = [split for dataset in by_dataset.values() for split in enumerate(split_folds(dataset, number))]
    return {case.id: fold for fold, split in splits for case in split.test}


def load_data(
    data: Path,
    written: Path,
    marked: Sequence[PassageCase],
    folds: Mapping[str, int],
    tell: Tell,
    seed: int = 0,
    watch: Callable[[int], None] = lambda read: None,
) -> EntailmentData:
    """Pairs and lists of the folders in `data` (`SOURCES`) and of the written claims about articles in them."""
    present = [name for name in SOURCES if (data / name).is_dir()]
    if not present:
        raise UserError(f"{data}: has none of the folders {', '.join(SOURCES)}")
    for name in SOURCES:
        if name not in present:
            tell(f"skipped {name}: not in {data}")
    chance = Random(seed)
    rows = list(_written_rows(written))
    articles, citing = _read_articles(data, {claim.article for _, claim in rows}, watch)
    learned, unlearned = _written_claims(rows, articles, tell)
    pairs = [*case_pairs(marked, folds, chance), *written_pairs(learned, articles), *wording_rows(_WORDINGS, seed)]
    lists = [*case_lists(marked, folds), *written_lists(learned, articles)]
    if "clscisumm" in present:
        automatic = without_shared_documents(datasets.load_clscisumm_automatic(data / "clscisumm"), marked)
        lists += case_lists(chance.sample(automatic, min(_AUTOMATIC, len(automatic))), {})
    if "citint" in present:
        pairs += case_pairs(datasets.load_citint(data / "citint", "train"), {}, chance)
    if "entailment" in present:
        pairs += _labelled_rows(data / "entailment", chance)
    trained = [article for id, article in articles.items() if article_part(id) == "train"]
    chance.shuffle(trained)
    pairs += contrast_rows(trained[:_CONTRAST_ARTICLES], seed)
    pairs += _abstract_pairs(trained[:_ABSTRACT_ARTICLES], chance)
    for claim, key in citing:
        if key in articles and article_part(key) == "train":
            pairs += cited_pairs(claim, articles[key].texts, "cited")
    tell(f"{len(pairs):,} pairs and {len(lists):,} lists, {len(learned):,} written claims, {len(trained):,} articles")
    measured = tuple(pair for pair in written_pairs(unlearned, articles) if pair.label != UNLABELLED)
    return EntailmentData(TrainingPack(tuple(pairs), tuple(lists)), measured)


def _written_rows(path: Path) -> Iterator[tuple[str, WrittenClaim]]:
    """Written claims with their places in the file, but those that are to measure `verify` with."""
    for place, row in read_objects(path):
        label = as_text(row.get("label"))
        deciding = [number for number in as_list(row.get("deciding")) if isinstance(number, int)]
        if label not in _WRITTEN_LABELS or not deciding:
            raise UserError(f'{place}: expected a "label" S, C or N, and the numbers of sentences as "deciding"')
        article, claim, kind = (as_text(row.get(key)) for key in ("article", "claim", "kind"))
        if article_part(article) != "test":
            yield place, WrittenClaim(article, claim, _WRITTEN_LABELS[label], kind, tuple(deciding))


def _written_claims(
    rows: Iterable[tuple[str, WrittenClaim]], articles: Mapping[str, ArticleText], tell: Tell
) -> tuple[list[WrittenClaim], list[WrittenClaim]]:
    """The claims to learn from and the others; those about articles that are not in the data are left out."""
    learned: list[WrittenClaim] = []
    unlearned: list[WrittenClaim] = []
    missing = 0
    for place, claim in rows:
        if claim.article not in articles:
            missing += 1
        elif max(claim.deciding) >= len(articles[claim.article].sentences):
            raise UserError(f"{place}: article '{claim.article}' has no sentence {max(claim.deciding)}")
        else:
            (learned if article_part(claim.article) == "train" else unlearned).append(claim)
    if missing:
        tell(f"skipped written claims about articles that are not in the data: {missing:,}")
    return learned, unlearned


def _read_articles(
    data: Path, wanted: set[str], watch: Callable[[int], None]
) -> tuple[dict[str, ArticleText], list[tuple[str, str]]]:
    """The wanted articles and some to learn from by id; and claims in these with the key of the paper they cite."""
    articles: dict[str, ArticleText] = {}
    citing: list[tuple[str, str]] = []
    if (data / "clscisumm").is_dir():
        papers = {case.document: case for case in datasets.load_clscisumm_automatic(data / "clscisumm")}
        articles |= {f"acl:{id}": _scisumm_article(case) for id, case in papers.items()}
    for file in [*(data / "pmc-rct").glob("articles.tar*"), *sorted((data / "elife").glob("elife-[0-9]*"))]:
        limit = _ARTICLES_A_FILE if file.parent.name == "elife" else None
        for place, document in enumerate(stream(file)):
            id = Path(document.path).stem if document.format == "jats" else paper_key(document.paper) or ""
            eligible = (limit is None or place < limit) and len(document.sentences) > _MIN_SENTENCES
            if id in wanted or (eligible and id and article_part(id) == "train"):
                labelled = structure.label(document)
                articles[id] = ArticleText(id, tuple(_own_prose(labelled)))
                if article_part(id) == "train":
                    citing += _citing_claims(labelled, id)
                watch(len(articles))
    return articles, citing


def _scisumm_article(case: PassageCase) -> ArticleText:
    types = {heading: structure.section_type(heading) or "" for heading in set(case.sections)}
    sentences = (
        ArticleSentence(text, types[heading], bool(list(find_markers(text, ()))))
        for text, heading in zip(case.sentences, case.sections, strict=True)
    )
    return ArticleText(f"acl:{case.document}", tuple(sentences))


def _own_prose(document: Document) -> Iterator[ArticleSentence]:
    indices, _, types = own_sentences(document)
    for index, type in zip(indices, types, strict=True):
        sentence = document.sentences[index]
        if sentence.kind == "prose":
            yield ArticleSentence(sentence.text, type or "", bool(sentence.citations))


def _citing_claims(document: Document, id: str) -> Iterator[tuple[str, str]]:
    """Sentences that cite a single paper."""
    keys = {reference.id: paper_key(reference) for reference in document.references}
    for sentence in document.sentences:
        cited = {name for citation in sentence.citations for name in citation.keys}
        if len(cited) == 1 and (key := keys.get(cited.pop())) and key != id:
            claim = sentence.without_citations()
            if _CLAIM_WORDS[0] <= len(claim.split()) <= _CLAIM_WORDS[1]:
                yield claim, key


def _labelled_rows(folder: Path, chance: Random) -> Iterator[LabelledPair]:
    """Rows of claim and evidence by source, and some claims with the evidence of another row, which is neither."""
    by_source: dict[str, list[dict[str, Any]]] = {}
    for row in read_rows(folder, "train.jsonl"):
        if row["source"] not in _OWN_FOLDERS and ("article" not in row or article_part(row["article"]) == "train"):
            by_source.setdefault(row["source"], []).append(row)
    for source, rows in by_source.items():
        chosen = chance.sample(rows, min(_FEVER, len(rows))) if source == "fever" else rows
        yield from entailment_rows(chosen, frozenset())
        for row in chance.sample(rows, min(_SWAPPED, len(rows))):
            strange = chance.choice(rows)
            if strange["claim"] != row["claim"]:
                yield LabelledPair(row["claim"], strange["evidence"], 2, "swapped")


def _abstract_pairs(articles: Iterable[ArticleText], chance: Random) -> Iterator[LabelledPair]:
    """Sentences of abstracts against the body of the article: for the teacher to judge."""
    for article in articles:
        claims = [
            sentence.text
            for sentence in article.sentences
            if sentence.section_type == "abstract" and 10 <= len(sentence.text.split()) <= 40
        ]
        body = tuple(sentence.text for sentence in article.sentences if sentence.section_type != "abstract")
        if body:
            for claim in chance.sample(claims, min(_ABSTRACT_CLAIMS, len(claims))):
                yield from cited_pairs(claim, body, "abstract")
