"""What an entailment model learns from: pairs and lists from the folders of data and from written claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

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
from whycite.lab.train.contrasts import ArticleSentence, comparison_pairs, contrast_pairs, wording_pairs
from whycite.lab.train.entailment import (
    UNLABELLED,
    LabelledPair,
    SentenceList,
    TrainingPack,
)
from whycite.lab.train.verifyexamples import DATA_SETS, article_part
from whycite.text.sentences import split_sentences
from whycite.verify.features import SentenceLexicon
from whycite.verify.passages import own_sentences

__all__ = [
    "CITING_KINDS",
    "SOURCES",
    "ArticleText",
    "EntailmentData",
    "WrittenClaim",
    "WrittenPassage",
    "case_lists",
    "case_pairs",
    "cited_pairs",
    "contrast_rows",
    "entailment_rows",
    "fold_numbers",
    "load_data",
    "load_marked",
    "nearest_sentences",
    "passage_pairs",
    "set_aside",
    "together",
    "whole_abstract_pairs",
    "wording_rows",
    "written_lists",
    "written_pairs",
]

Tell = Callable[[str], None]
SOURCES = ("elife", "pmc-rct", "clscisumm", "scifact", "citint", "entailment")
CITING_KINDS = frozenset({"cited"})  # of written claims: in the words of somebody else who cites the article
_WRITTEN_LABELS: Mapping[str, Label] = {"S": "backed", "C": "contradicted", "N": "not found"}
_ARTICLES_A_FILE = 200  # of eLife, where a file has hundreds of neighbouring topics
_MIN_SENTENCES = 40  # of an article: shorter ones are letters and corrections
_CONTRAST_ARTICLES = 2700  # contrast pairs take a fifth of a second an article
_ABSTRACT_ARTICLES, _ABSTRACT_CLAIMS = 2400, 6  # articles whose abstract is read against the body, and claims of each
_CLAIM_WORDS = (8, 60)  # fewer say nothing by themselves, more say too much
_AUTOMATIC = 3000  # lists with automatic gold, which is noisy
_WORDINGS = 8000
_FOLDS = 5
_SET_ASIDE = frozenset({"scifact", "clscisumm"})
_FEVER = 9000  # rows: general knowledge would crowd out science
_SWAPPED = 500  # rows of a source that get the evidence of another row
_RIVALS = 20  # abstracts of which the one that shares most words with a claim stands beside it
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
    """The claims of SciFact, CL-SciSumm and Citation-Integrity's training part that people marked, if at hand."""
    return [case for name, load in DATA_SETS.items() if (data / name).is_dir() for case in load(data / name)]


def fold_numbers(cases: Sequence[PassageCase], number: int) -> dict[str, int]:
    """The fold of each case by its id; without folds all are in one, which the first stages leave out."""
    if not number:
        return {case.id: 0 for case in cases}
    by_dataset: dict[str, list[PassageCase]] = {}
    for case in cases:
        by_dataset.setdefault(case.dataset, []).append(case)
    splits = [split for dataset in by_dataset.values() for split in enumerate(split_folds(dataset, number))]
    return {case.id: fold for fold, split in splits for case in split.test}


def set_aside(cases: Sequence[PassageCase]) -> list[PassageCase]:
    """Those of SciFact and CL-SciSumm that the bundled model did not learn from: the first fold of each."""
    folds = fold_numbers(cases, _FOLDS)
    return [case for case in cases if folds[case.id] == 0 and case.dataset in _SET_ASIDE]


def load_data(
    data: Path,
    written: Sequence[Path],
    marked: Sequence[PassageCase],
    folds: Mapping[str, int],
    tell: Tell,
    seed: int = 0,
    watch: Callable[[int], None] = lambda read: None,
) -> EntailmentData:
    """Pairs and lists of the folders in `data` (`SOURCES`) and of written claims about their articles or passages."""
    present = [name for name in SOURCES if (data / name).is_dir()]
    if not present:
        raise UserError(f"{data}: has none of the folders {', '.join(SOURCES)}")
    for name in SOURCES:
        if name not in present:
            tell(f"skipped {name}: not in {data}")
    chance = Random(seed)
    rows = [row for path in written for row in _written_rows(path)]
    passages = [passage for path in written for passage in _written_passages(path)]
    articles, citing = _read_articles(data, {claim.article for _, claim in rows}, watch)
    learned, unlearned = _written_claims(rows, articles, tell)
    pairs = [*case_pairs(marked, folds, chance), *written_pairs(learned, articles), *wording_rows(_WORDINGS, seed)]
    pairs += passage_pairs(passages, chance)
    lists = [*case_lists(marked, folds), *written_lists(learned, articles)]
    if "clscisumm" in present:
        automatic = without_shared_documents(datasets.load_clscisumm_automatic(data / "clscisumm"), marked)
        lists += case_lists(chance.sample(automatic, min(_AUTOMATIC, len(automatic))), {})
    if "scifact" in present:
        pairs += whole_abstract_pairs(data / "scifact", chance)
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
    """Written claims about articles with their places in the file, but those that are to measure `verify` with."""
    for place, row in read_objects(path):
        if "passage" in row:
            continue
        label = as_text(row.get("label"))
        deciding = [number for number in as_list(row.get("deciding")) if isinstance(number, int)]
        if label not in _WRITTEN_LABELS or not deciding:
            raise UserError(f'{place}: expected a "label" S, C or N, and the numbers of sentences as "deciding"')
        article, claim, kind = (as_text(row.get(key)) for key in ("article", "claim", "kind"))
        if article_part(article) != "test":
            yield place, WrittenClaim(article, claim, _WRITTEN_LABELS[label], kind, tuple(deciding))


def _written_passages(path: Path) -> Iterator[WrittenPassage]:
    """Passages that were written together with claims about them."""
    for place, row in read_objects(path):
        if "passage" not in row:
            continue
        claims = [datasets.texts(claim) for claim in as_list(row.get("claims"))]
        if not claims or any(len(claim) != 2 or claim[0] not in _WRITTEN_LABELS for claim in claims):
            raise UserError(f'{place}: expected "claims", each a label S, C or N and a text')
        labelled = tuple((claim, _WRITTEN_LABELS[label]) for label, claim in claims)
        yield WrittenPassage(as_text(row["passage"]), as_text(row.get("field")), labelled)


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


def whole_abstract_pairs(folder: Path, chance: Random) -> Iterator[LabelledPair]:
    """Conclusions of abstracts beside the rest of the abstract, and beside one drawn from others, without labels."""
    abstracts = [
        texts for row in read_rows(folder, "corpus.jsonl") if len(texts := datasets.texts(row.get("abstract"))) > 3
    ]
    for abstract in abstracts:
        claim = abstract[-1]
        if _CLAIM_WORDS[0] <= len(claim.split()) <= _CLAIM_WORDS[1]:
            yield LabelledPair(claim, " ".join(abstract[:-1]), UNLABELLED, "whole abstract")
            other = max(chance.sample(abstracts, min(_RIVALS, len(abstracts))), key=partial(_shared_words, claim))
            if other != abstract:
                yield LabelledPair(claim, " ".join(other), UNLABELLED, "whole abstract")


def _shared_words(claim: str, texts: Sequence[str]) -> int:
    return len(set(claim.lower().split()) & set(" ".join(texts).lower().split()))


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


@dataclass(frozen=True, slots=True)
class WrittenPassage:
    """A passage that somebody made up, and claims about it with their labels."""

    passage: str
    field: str  # of science
    claims: tuple[tuple[str, Label], ...]


def written_pairs(claims: Iterable[WrittenClaim], articles: Mapping[str, ArticleText]) -> Iterator[LabelledPair]:
    """Each claim with the sentence that decides it, with that one among others, and with near ones that do not."""
    for claim in claims:
        if claim.kind == "others":
            continue  # the sentence says so, if not as a finding of its own
        source = _style(claim)
        texts = articles[claim.article].texts
        label = LABEL_INDICES[claim.label]
        near = nearest_sentences(claim.claim, texts, _NEAR)
        undecided = [index for index in near if index not in claim.deciding]
        yield LabelledPair(claim.claim, texts[claim.deciding[0]], label, source)
        filled = [*claim.deciding, *undecided][:_TOGETHER]
        yield LabelledPair(claim.claim, together(texts, filled), label, f"{source} together")
        abstract = _abstract(articles[claim.article])
        if abstract and (claim.label == "not found" or claim.deciding[0] in abstract):
            yield LabelledPair(claim.claim, together(texts, abstract), label, f"{source} abstract")
        for index in undecided[:_READ_ALONE]:
            yield LabelledPair(claim.claim, texts[index], UNLABELLED, f"{source} near")
        yield LabelledPair(claim.claim, together(texts, undecided[:_TOGETHER]), UNLABELLED, f"{source} near")


def _style(claim: WrittenClaim) -> str:
    return "citing" if claim.kind in CITING_KINDS else "written"


def _abstract(article: ArticleText) -> list[int]:
    return [index for index, sentence in enumerate(article.sentences) if sentence.section_type == "abstract"]


def written_lists(claims: Iterable[WrittenClaim], articles: Mapping[str, ArticleText]) -> Iterator[SentenceList]:
    """Each claim that is backed or contradicted, with the near sentences of its article."""
    for claim in claims:
        if claim.label != "not found":
            texts = articles[claim.article].texts
            chosen = sorted({*claim.deciding, *nearest_sentences(claim.claim, texts, _NEAR)})
            relevant = tuple(place for place, index in enumerate(chosen) if index in claim.deciding)
            yield SentenceList(claim.claim, tuple(texts[index] for index in chosen), relevant, _style(claim))


def passage_pairs(passages: Sequence[WrittenPassage], chance: Random) -> Iterator[LabelledPair]:
    """Each claim with its passage, with that one beside sentences of another, and with another for the teacher."""
    by_field: dict[str, list[str]] = {}
    for passage in passages:
        by_field.setdefault(passage.field, []).append(passage.passage)
    for passage in passages:
        of_field = by_field[passage.field]
        pool = of_field if len(of_field) > 1 else [other.passage for other in passages]
        others = [text for text in pool if text != passage.passage]
        for claim, label in passage.claims:
            yield LabelledPair(claim, passage.passage, LABEL_INDICES[label], "passage")
            if others:
                other = chance.choice(others)
                end = split_sentences(other)[: chance.randint(1, 2)][-1][1]
                beside = other[:end]
                texts = [passage.passage, beside] if chance.random() < 0.5 else [beside, passage.passage]
                yield LabelledPair(claim, " ".join(texts), LABEL_INDICES[label], "passage together")
                yield LabelledPair(claim, other, UNLABELLED, "passage near")


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
