"""Whatever the sentence and its citations: spans stand in it, no linked citation is lost, nothing raises."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, examples, scaled
from whycite.documents.model import Citation, Document, Reference, Section, Sentence
from whycite.evidence import extract
from whycite.evidence.groups import join_texts, split_at_groups
from whycite.evidence.words import has_content_words

PARTS = """
    cells divide and Doe et al. ( ) [ ] (see [3] , ; . : – — -like 's ’s the by whereas parser BERT third-order 24 hr
    EQUATION REFGROUP0 e.g., 2010 (2010) [0,1) Figure 1D; https://x.org/a RRID:1 İ ß ﬁ \ufff9 \ufffb 日本語
"""
HALVES = ["\ud800", "\udfff", "LS\ud800TM", "parser\udc00"]  # of characters, which broken JSON has
WORDS = st.sampled_from([*PARTS.split(), *HALVES, "\u00a0", "\t", " "])
LETTERS = st.one_of(st.characters(), st.characters(categories=["Cs"]))
TEXTS = st.one_of(st.lists(WORDS, max_size=25).map(" ".join), st.text(LETTERS, max_size=60))
KEYS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=2).map(tuple)
PLACES = st.integers(min_value=-3, max_value=120)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(TEXTS)
    citations = [
        Citation(draw(KEYS), start, start + 4, start, start + draw(st.integers(0, 12)))
        for start in draw(st.lists(PLACES, max_size=6))
    ]
    references = tuple(Reference(key, authors=("Doe, J.", "van der Loos", "")) for key in "ab")
    sentence = Sentence(text, draw(st.integers(-1, 2)), 0, "f", 0, len(text), tuple(citations))
    return Document("f", "plain", Reference(""), (Section("", 1),), (sentence,), references)


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents())
def test_spans_stand_in_the_sentence(document: Document) -> None:
    for span in extract(document):
        assert span.keys
        assert has_content_words(span.text)
        assert " ".join(span.text.split()) == span.text
        assert span.text in span.context
        letters = filter(str.isalnum, document.sentences[0].text)
        assert all(letter in letters for letter in filter(str.isalnum, span.context))  # in this order


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents())
def test_no_linked_citation_is_lost(document: Document) -> None:
    spans = extract(document)
    linked = {key for citation in document.sentences[0].citations for key in citation.keys}
    found = {key for span in spans for key in span.keys}
    assert found in (linked, set())
    if linked and not found:
        assert not has_content_words(join_texts(split_at_groups(document.sentences[0], document).texts))


HOSTILE = {
    "openings": "(" * scaled(200_000),
    "pairs": "()" * scaled(100_000),
    "nested": "(" * scaled(50_000) + "x" + ")" * scaled(50_000),
    "words in brackets": "(a " * scaled(60_000),
    "closings": "b) " * scaled(60_000),
    "dashes": "-" * scaled(200_000),
    "commas": "a, " * scaled(60_000),
    "capitals": "Doe and " * scaled(30_000),
    "years": "Doe, 2010; " * scaled(20_000),
    "spaces": "and " + " " * scaled(200_000),
    "links": "see also " * scaled(30_000),
    "one word": "x" * scaled(400_000),
    "in one bracket": "(cells " + "it is " * scaled(40_000) + ")",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("every", [100_000_000, 50])
def test_hostile_sentences_take_linear_time(name: str, every: int) -> None:
    text = HOSTILE[name]
    places = [*range(every, len(text), every), len(text)]
    citations = tuple(Citation(("a",), at, at, at, min(at + 3, len(text))) for at in places)
    reference = Reference("a", authors=("Doe, J.",))
    sentence = Sentence(text, 0, 0, "f", 0, len(text), citations)
    start = time.process_time()
    extract(Document("f", "plain", Reference(""), (), (sentence,), (reference,)))
    assert time.process_time() - start < MAX_SECONDS
