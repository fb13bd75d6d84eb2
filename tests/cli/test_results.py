"""Recommendations as people read them, on terminals wide and narrow."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from tests.drafts import disputed_draft
from whycite.cite.fit import BAR
from whycite.cite.recommendations import Evidence, Recommendation
from whycite.cli.results import byline, shared_words, show_draft_report, show_recommendations
from whycite.library import Paper, SourceDocument

PAPER = Paper(
    "doi:10.1000/1", "Of Things and Words", ("Doe, Jane", "Roe, R.", "Poe, E."), 2010, "J. Things", "10.1000/1"
)
SOURCE = SourceDocument("doi:10.1000/2", "A Source of Things", 2020)
SENTENCE = "It is well known that words name things, and that naming a thing takes words."


def _recommendation(
    support: int = 3, evidence: tuple[Evidence, ...] = (Evidence("words name things", 0.9, SENTENCE, SOURCE),)
) -> Recommendation:
    return Recommendation(1, 1.5, support, PAPER, evidence, {"evidence": 1.75, "age": -0.25})


def _shown(recommendation: Recommendation, width: int = 80, colour: bool = False, explain: bool = False) -> str:
    file = io.StringIO()
    system = "truecolor" if colour else None
    console = Console(file=file, width=width, force_terminal=True, color_system=system, highlight=False)  # type: ignore[arg-type]
    show_recommendations([recommendation], "Words name a thing", console, explain)
    return file.getvalue()


def test_on_a_terminal() -> None:
    assert [line.rstrip() for line in _shown(_recommendation()).splitlines()] == [
        " 1  Of Things and Words",
        "    Doe et al. (2010), J. Things, doi:10.1000/1",
        "    cited 3 times in your library:",
        "      “It is well known that words name things, and that naming a thing takes",
        "      words.”",
        "        — A Source of Things (2020)",
    ]


@pytest.mark.parametrize("width", [20, 40, 78, 200])
def test_nothing_stands_beyond_the_edge(width: int) -> None:
    shown = _shown(_recommendation(), width, explain=True)
    assert all(len(line) <= width for line in shown.splitlines())
    assert " ".join(shown.split()).replace("- ", "-").count("A Source of Things") == 1


def test_words_of_the_claim_stand_out_in_the_evidence() -> None:
    shown = _shown(_recommendation(), colour=True)
    assert "\x1b[1;36mwords\x1b[0m" in shown
    assert "\x1b[1;36mthings\x1b[0m" in shown
    assert "\x1b" not in _shown(_recommendation())


@pytest.mark.parametrize(
    ("citation", "start", "end"),
    [
        ("as Doe et al. (2010) say", "“… ", "as Doe et al. (2010) say.”"),
        (f"as Doe et al. (2010) say{', and so on' * 20}", "“… ", " …”"),
        ("as others say", "“It is well known", " …”"),
    ],
    ids=["at the end", "within", "of somebody else"],
)
def test_of_a_long_sentence_the_part_with_the_citation_is_quoted(citation: str, start: str, end: str) -> None:
    sentence = f"It is well known that {'words name things, ' * 20}{citation}."
    evidence = Evidence("a wording without citations", 0.9, sentence, SOURCE)
    shown = " ".join(_shown(_recommendation(evidence=(evidence,)), 500).split())
    quoted = shown[shown.index("“") : shown.index("”") + 1]
    assert quoted.startswith(start)
    assert quoted.endswith(end)
    assert ("Doe et al. (2010) say" in quoted) == ("Doe" in citation)
    assert 250 < len(quoted) < 310


def test_a_paper_found_by_its_title_says_so() -> None:
    never = _shown(_recommendation(0, ()))
    assert "matches by title; not cited for this in your library" in never
    elsewhere = _shown(_recommendation(2, ()), 100)
    assert "not cited for this in your library, though it is cited twice for other claims" in elsewhere


@pytest.mark.parametrize(("fits", "said"), [(None, False), (BAR, False), (BAR - 0.01, True)])
def test_when_nothing_clearly_fits_that_is_said(fits: float | None, said: bool) -> None:
    file = io.StringIO()
    show_recommendations([_recommendation()], "claim", Console(file=file, width=80), fits=fits)
    assert (
        file.getvalue().startswith("No paper in your library is a clear match for this claim. The closest ones:\n")
        == said
    )


def test_at_most_three_spans_and_long_sentences_cut() -> None:
    long = Evidence("a span in it", 0.5, f"A sentence with a span in it (Doe, 2010) and {'word ' * 100}", SOURCE)
    longer = Evidence(f"A {'thing ' * 100}", 0.5, f"A (Doe, 2010) {'thing ' * 100}", SOURCE)
    shown = _shown(_recommendation(9, (long, longer, long, long)), 400)
    assert shown.count("“a span in it”") == 2
    assert "“A (Doe, 2010) thing" in shown
    assert "thing thing …”" in shown
    assert "word" not in shown


def test_explanations() -> None:
    assert "score 1.500 = evidence +1.750, age -0.250" in _shown(_recommendation(), explain=True)
    with_nothing = replace(_recommendation(), shares={"age": -0.0004, "evidence": 1.5005, "title": 0.0})
    assert _shown(with_nothing, explain=True).rstrip().endswith("score 1.500 = evidence +1.500")


@pytest.mark.parametrize(
    ("paper", "expected"),
    [
        (PAPER, "Doe et al. (2010), J. Things, doi:10.1000/1"),
        (Paper("title:x", "X", ("Doe, Jane", "Roe, R."), None, "", ""), "Doe and Roe (no year)"),
        (Paper("pmid:5", "X", ("The Consortium",), 1999, "", ""), "The Consortium (1999), pmid:5"),
        (Paper("arxiv:1", "X", (), 1999, "", ""), "unknown author (1999), arxiv:1"),
    ],
    ids=["many", "two", "one", "none"],
)
def test_bylines(paper: Paper, expected: str) -> None:
    assert byline(paper) == expected


def test_control_characters_of_a_document_do_not_reach_the_terminal() -> None:
    paper = Paper("doi:10.1/\x1b[2J", "A \x1b]0;title\x07", ("D\x1boe",), 2000, "V\x1b", "")
    evidence = Evidence("s", 1.0, "S \x1b[31m", SourceDocument("k", "T \x1b[31m", None))
    assert "\x1b" not in _shown(Recommendation(1, 1.0, 1, paper, (evidence,), {}))


@pytest.mark.parametrize(
    ("text", "claim", "expected"),
    [
        ("Many viruses spread, the virus too", "A virus spreads among bees", ["viruses", "spread", "virus"]),
        ("TNF-α and Müller cells", "The role of TNF in Muller cells", ["TNF", "Müller", "cells"]),
        ("It is in the", "It was of the", []),
        ("", "words", []),
    ],
    ids=["number", "spelling", "function words", "nothing"],
)
def test_shared_words(text: str, claim: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in shared_words(text, claim)] == expected


def test_passages_that_disagree_are_both_shown() -> None:
    file = io.StringIO()
    show_draft_report(disputed_draft(), Console(file=file, width=80))
    assert [line.strip() for line in file.getvalue().splitlines() if "▶" in line] == [
        "▶ “Bees sleep.”",
        "▶ “Bees never sleep.”",
    ]
