"""Evidence spans of sentences as readers give them."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from whycite.documents.model import Document
from whycite.evidence import extract

Make = Callable[..., Document]
Spans = Callable[[str], list[tuple[str, str, str]]]


def test_what_a_span_knows(document: Make) -> None:
    made = document("Nothing is cited.", "Cells divide (<a|Doe, 2010>) and grow.", section_type="result")
    piece, sentence = extract(made)
    assert (piece.text, piece.kind, piece.keys) == ("Cells divide", "piece", ("a",))
    assert (sentence.text, sentence.kind) == ("Cells divide and grow", "sentence")
    for span in (piece, sentence):
        assert span.sentence == 1
        assert span.section_type == "result"
        assert span.context == "Cells divide and grow."
        assert (span.start, span.end) == (14, 27)


def test_a_document_without_sections(document: Make) -> None:
    made = replace(document("Cells divide <a|[1]>."), sections=())
    assert [span.section_type for span in extract(made)] == [None]


@pytest.mark.parametrize(
    "citing",
    [
        "<doe|Doe et al. (2010)> showed",
        "Doe et al. (<doe|2010>) showed",
        "Doe and Roe <doe|[3]> showed",
        "<doe|[doe2010]> showed",
        "<doe|Doe et al., 2010>, showed",
    ],
)
def test_narrative_citations_take_what_follows(spans: Spans, citing: str) -> None:
    other = citing.replace("doe|", "loos|").replace("Doe and Roe", "van der Loos")
    found = spans(f"{citing} that cells divide, whereas {other} that viruses never do.")
    assert found[0] == ("showed that cells divide", "doe", "piece")
    assert found[1] == ("showed that viruses never do", "loos", "piece")


def test_a_name_between_commas(spans: Spans) -> None:
    found = spans(
        "In contrast, <doe|Doe et al., 2021>, found similar cells (as measured by NBLAST; <loos|Loos, 2016>)."
    )
    assert found[0] == ("found similar cells", "doe", "piece")


def test_an_introduction_is_no_claim(spans: Spans) -> None:
    found = spans("As suggested by <a|[neal1995, chapter 2]>, the problem goes away with larger inputs.")
    assert found == [("the problem goes away with larger inputs", "a", "sentence")]


def test_an_introduction_to_nothing_stays(spans: Spans) -> None:
    assert ("As suggested by, it is", "a", "sentence") in spans("As suggested by <a|[1]>, it is.")


def test_what_was_done_by_somebody_is_a_claim(spans: Spans) -> None:
    found = spans(
        "The division of human cells was described by <doe|Doe (2010)>, that of viruses by <loos|Loos (2011)>."
    )
    assert found[0] == ("The division of human cells was described", "doe", "piece")
    assert found[1][1:] == ("loos", "piece")


@pytest.mark.parametrize(
    "text",
    [
        "<a|[24]>.",
        "See <a|[3]> and <b|[4]>.",
        "(e.g. <a|Doe>; see also Figure 3)",
        "EQUATION <a|[1]>",
        "",
        "Cells <|[1]>.",
    ],
)
def test_no_words_no_evidence(spans: Spans, text: str) -> None:
    assert spans(text) == []


def test_a_cell_of_a_table_is_given_once(spans: Spans) -> None:
    assert spans("ELMo <a|[Peters2018]>") == [("ELMo", "a", "entity")]


def test_unlinked_groups_take_their_piece_with_them(spans: Spans) -> None:
    found = spans("Unions set wages <|(Katz, 1995)>, firms invest abroad <a|(Pain, 1997)>.")
    assert found == [
        ("firms invest abroad", "a", "piece"),
        ("Unions set wages, firms invest abroad", "a", "sentence"),
    ]


def test_hyphenated_words_stay_whole(spans: Spans) -> None:
    found = spans("The dynamics follow a first-order Hill-type model <a|[3]> of growth.")
    assert found[0] == ("first-order Hill-type model", "a", "entity")


def test_a_quantity_is_no_entity(spans: Spans) -> None:
    kinds = {kind for *_, kind in spans("Proteins were hydrolysed at 95°C for 24 hr (<a|You et al., 2012>).")}
    assert kinds == {"sentence"}


def test_half_a_bracket_is_no_entity(spans: Spans) -> None:
    found = spans("Methods include short nascent strand (SNS)-seq (<a|Foulk et al., 2015>) and Repli-seq (<b|Hansen>).")
    assert found[0] == ("Methods include short nascent strand (SNS)-seq", "a", "piece")


@pytest.mark.parametrize("text", ["They are considered as unjust", "The disk is very stable", "It holds in general"])
def test_an_adjective_alone_is_no_entity(spans: Spans, text: str) -> None:
    assert spans(f"{text} <a|[1]>.") == [(text, "a", "sentence")]


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        (
            "It is better than older payment schemes such as <a|[1]>, we find.",
            "It is better than older payment schemes",
        ),
        ("We have implemented the <a|[1]> method for shielding.", "method for shielding"),
        (
            "We use a global time-incremental approach as proposed in <a|[1]> to find it.",
            "We use a global time-incremental approach as proposed",
        ),
        ("Activity is lower in doing so <a|[1]>, we find.", "Activity is lower in doing so"),
    ],
)
def test_pieces_have_no_loose_ends(spans: Spans, text: str, piece: str) -> None:
    assert spans(text)[0] == (piece, "a", "piece")


def test_neither_have_sentences(spans: Spans) -> None:
    found = spans("A relaxed energy density was recently proposed in <a|[1]>, see also <b|[2]>.")
    assert ("A relaxed energy density was recently proposed in", "b", "sentence") not in found
    assert ("A relaxed energy density was recently proposed", "b", "sentence") in found


def test_a_bracket_behind_a_group_goes_with_it(spans: Spans) -> None:
    found = spans("Ledgers were proposed as in <a|[1]> (which is known to be bad) and <b|[2]>, they say.")
    assert all("bad" not in text for text, keys, kind in found if kind == "piece")


def test_an_entity_ends_at_the_group_before(spans: Spans) -> None:
    for text, _, kind in spans("We train the BERT <a|[1]> model <b|[2]> and the REFGROUP1 parser <c|[3]> on it."):
        assert kind == "sentence" or "BERT model" not in text
    assert ("REFGROUP1 parser", "c", "entity") in spans("We train the REFGROUP1 parser <c|[3]> on it.")


def test_lists_in_brackets(spans: Spans) -> None:
    found = spans("Several tools (BLAST, <a|Alt, 1990>; HMMER, <b|Eddy, 1998>) align sequences.")
    assert found == [("BLAST", "a", "piece"), ("HMMER", "b", "piece")]


def test_an_aside_leads_to_what_stands_before_it(spans: Spans) -> None:
    found = spans("Cells divide slowly (as was shown earlier by <a|Doe, 2010>) and grow (as in <b|Roe, 2011>) in mice.")
    assert found[0] == ("Cells divide slowly", "a", "piece")


def test_formulas_stay(spans: Spans) -> None:
    found = spans("The loss is EQUATION <a|[1]> as usual.")
    assert ("The loss is EQUATION as usual", "a", "sentence") in found


def test_a_marker_behind_the_full_stop(spans: Spans) -> None:
    assert spans("It is so in all known cases.<a|[1]>") == [("It is so in all known cases", "a", "sentence")]
