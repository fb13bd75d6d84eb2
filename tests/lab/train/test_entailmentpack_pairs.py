"""What the entailment model learns from: pairs and lists of labelled cases, written claims and articles."""

from random import Random

import pytest

from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.train.contrasts import ArticleSentence
from whycite.lab.train.entailment import UNLABELLED, LabelledPair
from whycite.lab.train.entailmentpack import (
    ArticleText,
    WrittenClaim,
    WrittenPassage,
    case_lists,
    case_pairs,
    cited_pairs,
    contrast_rows,
    entailment_rows,
    nearest_sentences,
    passage_pairs,
    together,
    wording_rows,
    written_lists,
    written_pairs,
)

TEXTS = (
    "We counted bees in ten hives.",
    "Foragers sleep at night.",
    "Foragers hang their antennae low.",
    "The weather was fine.",
    "Nests of wasps are made of paper.",
    "Ants carry leaves.",
)
CLAIM = "Foragers sleep at night in hives"
SUPPORTS, CONTRADICTS, NEITHER = range(3)


def _article() -> ArticleText:
    types = ("abstract", "abstract", "result", "result", "discussion", "discussion")
    return ArticleText("a", tuple(ArticleSentence(text, type, False) for text, type in zip(TEXTS, types, strict=True)))


def _written(label: str, kind: str = "finding", deciding: tuple[int, ...] = (1,)) -> WrittenClaim:
    return WrittenClaim("a", CLAIM, label, kind, deciding)  # type: ignore[arg-type]


def _case(label: str | None = "backed", gold: tuple[int, ...] = (1,), **settings: object) -> PassageCase:
    return PassageCase("1", "scifact", CLAIM, "c", "d", TEXTS, frozenset(gold), label, **settings)  # type: ignore[arg-type]


def test_nearest_sentences_and_those_read_together() -> None:
    assert nearest_sentences(CLAIM, TEXTS, 2) == [1, 0]
    assert together(TEXTS, [3, 1, 3]) == "Foragers sleep at night. The weather was fine."


def test_rows_but_those_with_excluded_claims() -> None:
    rows = [
        {"claim": claim, "evidence": "e", "label": label, "source": "s"}
        for claim, label in (("a", "SUPPORT"), ("b", "CONTRADICT"), ("c", "NEI"), ("d", "SUPPORT"))
    ]
    pairs = list(entailment_rows(rows, frozenset({"d"})))
    assert [(pair.claim, pair.label) for pair in pairs] == [("a", SUPPORTS), ("b", CONTRADICTS), ("c", NEITHER)]


def test_a_case_with_gold_sentences() -> None:
    whole, rationale, filled = case_pairs([_case("contradicted")], {"1": 3}, Random(0))
    assert (whole.passage, whole.source) == (" ".join(TEXTS), "scifact whole")
    assert rationale == LabelledPair(CLAIM, TEXTS[1], CONTRADICTS, "scifact", 3)
    assert TEXTS[1] in filled.passage
    assert filled.passage.count(".") == 5
    assert {pair.label for pair in (whole, rationale, filled)} == {CONTRADICTS}


def test_a_case_without_gold_is_paired_with_the_nearest_sentences() -> None:
    whole, near, nearest = case_pairs([_case("not found", ())], {}, Random(0))
    assert nearest.passage == TEXTS[1]
    assert near.passage.count(".") == 3
    assert {pair.label for pair in (whole, near, nearest)} == {NEITHER}
    assert {pair.fold for pair in (whole, near, nearest)} == {-1}
    assert list(case_pairs([_case(None)], {}, Random(0))) == []


def test_lists_mark_what_is_gold() -> None:
    (item,) = case_lists([_case(gold=(1, 2)), _case("not found", ())], {"1": 2})
    assert {item.sentences[place] for place in item.relevant} == {TEXTS[1], TEXTS[2]}
    assert item.fold == 2


@pytest.mark.parametrize(("label", "number"), [("backed", 0), ("contradicted", 1), ("not found", 2)])
def test_a_written_claim(label: str, number: int) -> None:
    pairs = list(written_pairs([_written(label)], {"a": _article()}))
    by_source = {source: [pair for pair in pairs if pair.source == source] for source in dict.fromkeys(
        pair.source for pair in pairs
    )}  # fmt: skip
    assert [pair.passage for pair in by_source["written"]] == [TEXTS[1]]
    assert TEXTS[1] in by_source["written together"][0].passage
    assert [pair.passage for pair in by_source["written abstract"]] == [" ".join(TEXTS[:2])]
    for source in ("written", "written together", "written abstract"):
        assert [pair.label for pair in by_source[source]] == [number]
    near = by_source["written near"]
    assert {pair.label for pair in near} == {UNLABELLED}
    assert not any(TEXTS[1] in pair.passage for pair in near)


def test_an_abstract_that_lacks_what_decides_is_not_labelled() -> None:
    articles = {"a": _article()}
    sources = {pair.source for pair in written_pairs([_written("backed", deciding=(2,))], articles)}
    assert "written abstract" not in sources
    sources = {pair.source for pair in written_pairs([_written("not found", deciding=(2,))], articles)}
    assert "written abstract" in sources


def test_what_others_found_is_no_written_pair() -> None:
    assert list(written_pairs([_written("not found", "others")], {"a": _article()})) == []


def test_written_lists_are_of_claims_that_a_sentence_decides() -> None:
    (item,) = written_lists([_written("backed"), _written("not found")], {"a": _article()})
    assert [item.sentences[place] for place in item.relevant] == [TEXTS[1]]


def test_contrasts_of_an_article_are_few_of_each_kind_and_stable() -> None:
    findings = [
        f"Treatment with drug number {number} increased the growth of cultured cells by {number} kg."
        for number in range(2, 12)
    ]
    article = ArticleText("a", tuple(ArticleSentence(text, "result", False) for text in findings))
    rows = list(contrast_rows([article]))
    assert rows == list(contrast_rows([article]))
    assert rows != list(contrast_rows([article], seed=1))
    directions = [row.label for row in rows if row.source == "contrast direction"]
    assert sorted(directions) == [SUPPORTS, SUPPORTS, CONTRADICTS, CONTRADICTS]


def test_a_passage_is_sometimes_buried_among_others() -> None:
    finding = "Treatment with aspirin increased the growth of cultured cells by 20 kg."
    texts = [finding, *(f"Beetle {number} lives under bark." for number in range(30))]
    articles = [
        ArticleText(str(number), tuple(ArticleSentence(text, "result", False) for text in texts))
        for number in range(20)
    ]
    rows = [row for row in contrast_rows(articles) if row.source == "contrast unit"]
    buried = [row for row in rows if "Beetle" in row.passage]
    assert 0 < len(buried) < len(rows)


def test_wordings_are_labelled() -> None:
    rows = list(wording_rows(60))
    assert {row.label for row in rows} == {SUPPORTS, CONTRADICTS, NEITHER}
    assert {row.source for row in rows} == {"contrast wording", "contrast comparison"}


def test_claims_that_cite_are_for_the_teacher() -> None:
    pairs = list(cited_pairs(CLAIM, TEXTS, "cited"))
    assert [pair.passage for pair in pairs[:1]] == [TEXTS[1]]
    assert len(pairs) == 4
    assert {(pair.label, pair.source) for pair in pairs} == {(UNLABELLED, "cited")}


def test_a_passage_written_with_claims() -> None:
    passages = [
        WrittenPassage("Foragers slept at night. Guards did not.", "bees", (("Foragers rest in the dark.", "backed"),)),
        WrittenPassage("Queens slept by day. Drones did, too.", "bees", (("Queens never sleep.", "contradicted"),)),
        WrittenPassage("Rents rose.", "economics", (("Rents fell.", "contradicted"),)),
    ]
    pairs = list(passage_pairs(passages, Random(0)))
    alone = {pair.claim: (pair.passage, pair.label) for pair in pairs if pair.source == "passage"}
    assert alone["Foragers rest in the dark."] == (passages[0].passage, SUPPORTS)
    assert alone["Rents fell."] == ("Rents rose.", CONTRADICTS)
    together_with = {pair.claim: pair for pair in pairs if pair.source == "passage together"}
    assert set(together_with) == set(alone)
    assert passages[1].passage in together_with["Queens never sleep."].passage
    assert len(together_with["Queens never sleep."].passage) > len(passages[1].passage)
    near = [pair for pair in pairs if pair.label == UNLABELLED]
    assert {pair.passage for pair in near if "Rents" not in pair.claim} == {passages[0].passage, passages[1].passage}


def test_claims_as_others_cite_have_a_source_of_their_own() -> None:
    sources = {pair.source for pair in written_pairs([_written("backed", "cited")], {"a": _article()})}
    assert sources == {"citing", "citing together", "citing abstract", "citing near"}
    assert {item.source for item in written_lists([_written("backed", "cited")], {"a": _article()})} == {"citing"}
