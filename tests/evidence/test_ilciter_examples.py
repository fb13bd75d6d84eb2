"""The worked examples of ILCiteR, section 5.2, give its pairs."""

from collections.abc import Callable

import pytest

Spans = Callable[[str], list[tuple[str, str, str]]]


def pairs(found: list[tuple[str, str, str]]) -> set[tuple[str, str]]:
    return {(text, keys) for text, keys, _ in found}


@pytest.mark.parametrize("end", ["", ".", " ."])
def test_hierarchy_gives_four_pairs(spans: Spans, end: str) -> None:
    text = "They used BERT <a|[1]>, a popular Large Language Model <b|[2]>, to generate text embeddings <c|[3]>"
    found = spans(text + end)
    assert found == [
        ("BERT", "a", "entity"),
        ("popular Large Language Model", "b", "entity"),  # the paper's parser left "popular" out
        ("to generate text embeddings", "c", "piece"),
        ("They used BERT, a popular Large Language Model, to generate text embeddings", "c", "sentence"),
    ]


@pytest.mark.parametrize("rest", ["the text.", "the data streams.", "the input sentences"])
def test_entity_of_two_words(spans: Spans, rest: str) -> None:
    text = "They used an IEX parser {}to encode " + rest
    whole = text.format("").rstrip(".")
    assert spans(text.format("<a|[1]> ")) == [("IEX parser", "a", "entity"), (whole, "a", "sentence")]


@pytest.mark.parametrize(
    "rest", ["", ".", ", where a summary consists of key sentences from the source text.", " and related tasks."]
)
def test_entity_with_adjective(spans: Spans, rest: str) -> None:
    text = "A large majority of work in the past few years has been focused on extractive summarization"
    found = spans(f"{text} <a|[2]>{rest}")
    assert found == [("extractive summarization", "a", "entity"), (text + rest.rstrip("."), "a", "sentence")]


def test_group_at_the_end_is_evidence_for_entity_and_sentence(spans: Spans) -> None:
    found = spans("Context embeddings were generated using Sentence Transformers <a|[1]>")
    assert pairs(found) == {
        ("Sentence Transformers", "a"),
        ("Context embeddings were generated using Sentence Transformers", "a"),
    }


def test_only_group_is_evidence_for_the_sentence(spans: Spans) -> None:
    found = spans("They used ROUGE and METEOR metrics <a|[1]> for evaluating their models")
    assert ("They used ROUGE and METEOR metrics for evaluating their models", "a", "sentence") in found


def test_groups_of_several_citations(spans: Spans) -> None:
    text = "There are two broad types of text summarization approaches, namely, extractive {}and abstractive{}."
    found = spans(text.format("[<a|1>, <b|2>, <c|3>] ", " [<d|4>]"))
    assert pairs(found) == {
        ("extractive", "a,b,c"),
        ("abstractive", "d"),
        (text.format("", "").rstrip("."), "d"),
    }


def test_claim_after_a_narrative_citation(spans: Spans) -> None:
    """As in table 1: the claim without the name of the one who made it."""
    claim = "demonstrated that AL outperformed random sampling for a simulated clinical NER task"
    assert spans(f"<a|Chen et al. (2015)> {claim}.") == [(claim, "a", "sentence")]
