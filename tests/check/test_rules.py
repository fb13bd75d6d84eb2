"""Which certain rule decides about a sentence, in every place and order that matters."""

import time
from pathlib import Path

import pytest

from tests.drafts import citing_document
from whycite import read
from whycite.check.draftfiles import DraftFiles
from whycite.check.rules import RULES, Rulebook, check_rule_ids
from whycite.errors import UserError

HEAD = """---
title: How bees rest
references:
- {id: kaiser, title: "Busy bees need rest, too", author: [{family: Kaiser}, {family: Roe}], issued: 1988}
- {id: prefect, title: Prefect, author: [{literal: Prefect}]}
- {id: darwin, title: Darwin, author: [{family: Bowlby}]}
- {id: species, title: On the origin of species by means of natural selection, author: [{family: Darwin}]}
- {id: pytorch, title: "PyTorch: An imperative style, high-performance deep learning library"}
- {id: bert, title: "BERT: Pre-training of deep bidirectional transformers"}
- {id: emcee, title: "emcee: The MCMC code"}
- {id: causality, title: Causality}
---
"""


def decisions(
    tmp_path: Path, text: str, ignored: tuple[str, ...] = (), name: str = "draft.md"
) -> list[tuple[str, str]]:
    """The rule and clause of every sentence of a draft, both empty where no rule decides."""
    (tmp_path / name).write_text(HEAD + text if name.endswith(".md") else text, "utf-8")
    document = read(tmp_path / name)
    rulebook = Rulebook(document, DraftFiles(document.format), ignored)
    decided = [rulebook.decide(index) for index in range(len(document.sentences))]
    return [(decision.rule.id, decision.clause) if decision else ("", "") for decision in decided]


def rule_of(tmp_path: Path, sentence: str, ignored: tuple[str, ...] = ()) -> str:
    [(rule, _), _] = decisions(tmp_path, f"# Introduction\n\n{sentence} It rains.\n", ignored)
    return rule


NEEDS = {
    "named-author": [
        "As shown by Kaiser (1988), bees sleep.",
        "Kaiser (1988) found that bees sleep.",
        "Kaiser's (1988) bees slept at night.",
        "Bees sleep at night (Kaiser, 1988).",
        "Bees sleep at night (see Smith and Jones, 2001).",
        "Kaiser et al. found that bees sleep.",
        "Müller and colleagues let bees sleep.",
        "Smith (2003) argued that bees do not dream.",
        "According to van der Berg (1999), bees dream.",
        "This was seen by Smith et al. [2010] in mice.",
        "Kaiser himself argued that bees dream.",
        "According to Kaiser, bees sleep.",
        "Kaiser and Roe thought that bees dream.",
        "In the hives of New York, Kaiser argued, and nobody else did, that bees dream.",
        "We count bees by the method of Kaiser and Roe.",
        "Kaiser & Roe's bees slept at night.",
    ],
    "previous-work": [
        "Previous studies have shown that bees sleep.",
        "Earlier work on wasps suggests that they dream.",
        "Several studies report that bees sleep.",
        "Studies have shown that bees sleep.",
        "Such a state has been reported for wasps.",
        "It has been shown that bees sleep.",
        "It has long been argued that wasps dream.",
        "In the same study, wasps slept longer.",
        "The same authors let wasps sleep.",
        "In agreement with previous work, bees sleep longer at night.",
        "Many researchers argue that wasps dream.",
        "This was previously reported for wasps.",
        "Our bees slept by day, consistent with reports from warmer regions.",
        "The hives were cold, in good agreement with findings of many keepers.",
        "Critics have noted that bees dream.",
        "Some philosophers argue that wasps think.",
    ],
    "named-entry": [
        "Our scheduler leverages Prefect to run jobs.",
        "The network is implemented in PyTorch.",
        "Samples are drawn with emcee.",
    ],
    "statistic": [
        "Bees pollinate 35 % of all crops.",
        "Wasps kill about 1.5 million bees a year.",
        "In cold winters 20 to 30 percent of all hives are lost.",
    ],
    "common-knowledge": [
        "Bees are known to sleep at night.",
        "Wasps are also well known for their dreams.",
        "It is widely accepted that bees sleep.",
        "It has long been recognised that wasps dream.",
        "The sleep of bees is well documented.",
    ],
}
EXEMPT = {
    "own-result": [
        "I, instead, find that bees sleep by day.",
        "We find that bees sleep by day.",
        "Our results show that bees sleep.",
        "Figure 3 shows that bees sleep.",
        "As shown in Table 2, bees sleep.",
    ],
    "outline": [
        "Section 2 describes the hives.",
        "In Section 3, we present the hives.",
        "The rest of this paper is organised as follows.",
        "This chapter introduces bees.",
        "The hives are described in Section 4.",
        "Sleep depends on light, as described in greater detail in Section 4.",
        "The dance has been described in Section 2.",
        "As has been shown in Section 2, bees sleep.",
    ],
    "acknowledgement": [
        "We thank Walter Kaiser for his bees.",
        "This work was supported by the Bee Foundation.",
        "The authors declare no conflict of interest.",
        "This research made use of the Bee Archive.",
        "All authors have participated in keeping bees.",
        "The work in this chapter was done in collaboration with Walter Kaiser.",
    ],
    "url": ["See https://example.org/bees.", "The code is available at https://example.org/bees."],
    "availability": [
        "Source code to count all bees is available at https://example.org/bees.",
        "The material needed to keep bees is on the disk and can be found online at https://example.org/hive.",
        "Also check https://example.org/bees/115 whether a switch for wasps has been built in.",
        "Bees were counted with a wasp counter (https://example.org/wasps).",
        "More than a million keepers use the hive (see https://example.org/about) by now.",
    ],
    "limitation": [
        "A limitation of our study is that bees were few.",
        "The main strength of this work lies in its hives.",
        "An important caveat about the present analysis is that bees slept.",
        "Our sample is limited to bees.",
    ],
    "caption": ["Figure 3: Bees asleep at night."],
    "own-publications": ["This thesis is based on the following papers."],
}
NOTHING = [
    "Bees sleep at night.",
    "Darwin (1809–1882) kept bees.",
    "The meeting in Paris (2015) was about bees.",
    "The hive was built in May (2019).",
    "No previous study has shown that bees sleep.",
    "To our knowledge, it has been shown for no wasp.",
    "Future studies should show whether wasps dream.",
    "It has been shown by REF that bees sleep.",
    "The previous section has hives.",
    "These studies agree.",
    "These previous studies have shown that bees sleep.",
    "Bees have been found in the hive.",
    "The prefect of the hive is a bee.",
    "A causal effect of light on bees is likely.",
    "Causality is hard to show with bees.",
    "Bees were known to Darwin as well.",
    "Names that are known to the system are left out.",
    "Bees are not known to dream.",
    "We know that bees sleep.",
    "It is known from Section 2 that bees sleep.",
    "Bees slept by day, consistent with our findings on wasps.",
    "Darwinists argue that bees sleep.",
    "Kaiserslautern said nothing of bees.",
    "KAISER calls the next bee.",
    "The Kaiser conjecture holds for bees.",
    "Kaiser's call was heard by all bees.",
    "The bees of Kaiser and Smith were awake.",
    "The Roe and Kaiser hives were cold.",
    "Jobs run on Prefect Cloud only.",
    "The BERT of the hive is old.",
    "Data are described at https://example.org and weigh two tons of honey a year.",
    "The bees of https://example.org/wasps were counted.",
    "The code that counts the bees is available.",
    "We used wasps.",
    "Bees make use of hives.",
    "Light changes the sky as we observe it.",
    "Section 3 of the protein binds zinc.",
    "We find bees asleep, similar to what others see in wasps.",
    "We lost 20 % of our hives.",
    "This gives a relative improvement of 20 % for old hives.",
    "The new hive outperforms the others by 1.8 % to 8.4 % in winter.",
    "Warm hives win 30 % more honey than the baseline model.",
    "Honey gives 20 % lower loss and 2 BLEU points.",
    "If 20 % of all bees slept, the hive would be cold.",
    "Bees have five eyes and six legs.",
    "The strength of this hive is its queen.",
    "A limitation of this method, compared to others, is its price.",
    "Write Author et al. (2001) in such a case.",
    "Bees drink a syrup with 0.02 % honey.",
]


@pytest.mark.parametrize(
    ("rule", "sentence"), [(rule, text) for table in (NEEDS, EXEMPT) for rule, texts in table.items() for text in texts]
)
def test_a_rule_decides(tmp_path: Path, rule: str, sentence: str) -> None:
    assert rule_of(tmp_path, sentence) == rule


@pytest.mark.parametrize("sentence", NOTHING)
def test_the_model_decides(tmp_path: Path, sentence: str) -> None:
    assert rule_of(tmp_path, sentence) == ""


@pytest.mark.parametrize(
    ("sentence", "first", "second"),
    [
        ("We confirm what Kaiser (1988) found.", "named-author", "own-result"),
        ("We find, in line with earlier work, that bees sleep.", "previous-work", ""),
        ("Section 2 reviews previous work on bees.", "outline", ""),
        ("Section 2 describes what Kaiser (1988) found.", "named-author", "outline"),
        ("In Section 2, we present PyTorch.", "outline", "named-entry"),
        ("We show that PyTorch runs on bees.", "named-entry", "own-result"),
        ("We thank Kaiser et al. for bees.", "acknowledgement", "named-author"),
        ("The data of Kaiser (1988) are found at https://example.org/bees.", "named-author", "availability"),
        ("The code of PyTorch is available at https://example.org/torch for all bees.", "named-entry", "availability"),
        ("Studies have shown that bees sleep (https://example.org/bees).", "previous-work", "availability"),
        ("Figure 3: Bees of Kaiser (1988).", "caption", "named-author"),
    ],
)
def test_of_two_rules_the_first_decides(tmp_path: Path, sentence: str, first: str, second: str) -> None:
    assert rule_of(tmp_path, sentence) == first
    assert rule_of(tmp_path, sentence, (first,)) == second


def test_the_place_of_a_sentence_comes_before_its_words() -> None:
    order = [rule.id for rule in RULES]
    assert order.index("quote-lead-in") < order.index("named-author") < order.index("outline")
    assert order.index("outline") < order.index("previous-work") < order.index("own-result")


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("# Abstract\n\nPrevious studies have shown that bees sleep.\n", ["abstract"]),
        ("# Acknowledgements\n\nPrevious studies have shown that bees sleep.\n", ["acknowledgement"]),
        ("# List of Publications\n\nKaiser et al., On the sleep of bees, 1988.\n", ["own-publications"]),
        ("# Introduction\n\nWhy bees sleep\n\nBees sleep.\n", ["heading", ""]),
        ("# Introduction\n\nAs Kaiser (1988) puts it:\n\n> Bees sleep.\n", ["quote-lead-in", ""]),
        ("# Introduction\n\nAs Kaiser (1988) puts it:\n\nBees sleep.\n", ["named-author", ""]),
    ],
    ids=["abstract", "acknowledgement", "publications", "heading", "quotation", "no quotation"],
)
def test_places_that_need_no_citation(tmp_path: Path, text: str, rules: list[str]) -> None:
    assert [rule for rule, _ in decisions(tmp_path, text)] == rules


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "draft.tex",
            "\\documentclass{article}\n\\begin{document}\n\\section{Introduction}\nAs Kaiser (1988) puts it:\n"
            "% a comment\n\\begin{quotation}\nBees sleep.\n\\end{quotation}\n\\end{document}\n",
        ),
        ("draft.typ", "= Introduction\n\nAs Kaiser (1988) puts it:\n\n#quote(block: true)[Bees sleep.]\n"),
    ],
)
def test_quotations_in_other_formats(tmp_path: Path, name: str, text: str) -> None:
    assert decisions(tmp_path, text, name=name)[0] == ("quote-lead-in", "")


def test_what_was_cited_before_may_be_named_again(tmp_path: Path) -> None:
    text = "# Introduction\n\nBees sleep [@kaiser]. Jobs run on Prefect [@prefect].\n\nKaiser et al. found more. {}\n"
    assert decisions(tmp_path, text.format("Prefect is free."))[2:] == [("", ""), ("", "")]
    assert decisions(tmp_path, text.format("Kaiser et al. (1988) found more."))[3] == ("named-author", "")


def test_a_tool_is_asked_for_once_and_not_if_the_paragraph_cites_it(tmp_path: Path) -> None:
    text = "# Introduction\n\nWe use Prefect for jobs. All jobs run on Prefect.\n\n{}\n"
    assert decisions(tmp_path, text.format("So it is."))[:2] == [("named-entry", ""), ("", "")]
    text = "# Introduction\n\nWe use Prefect for jobs. It is a tool [@prefect].\n"
    assert decisions(tmp_path, text)[0] == ("", "")


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("# Introduction\n\nIt rains. Bees pollinate 35 % of all crops.\n", ["", "statistic"]),
        ("# Introduction\n\nIt rains [@kaiser]. Bees pollinate 35 % of all crops.\n", ["", ""]),
        ("# Introduction\n\nIt rains [@kaiser].\n\nBees pollinate 35 % of all crops.\n", ["", "statistic"]),
        ("# Introduction\n\nIt rains [@kaiser], and 35 % of all crops need bees. So it is.\n", ["", ""]),
        ("# Results\n\nIt rains. Bees pollinate 35 % of all crops.\n", ["", ""]),
    ],
    ids=["introduction", "after a citation", "after another paragraph", "clause", "results"],
)
def test_statistics_are_asked_for_where_nothing_near_is_cited(tmp_path: Path, text: str, rules: list[str]) -> None:
    assert [rule for rule, _ in decisions(tmp_path, text)] == rules


@pytest.mark.parametrize(
    ("sentence", "rule", "clause"),
    [
        (
            "Bees dance [@kaiser], and earlier studies show that wasps do.",
            "previous-work",
            "earlier studies show that wasps do.",
        ),
        ("Bees dance [@kaiser]; Smith et al. saw wasps dance.", "named-author", "Smith et al. saw wasps dance."),
        (
            "Bees dance [@kaiser], whereas our wasps run on Prefect.",
            "named-entry",
            "our wasps run on Prefect.",
        ),
        ("Bees dance [@kaiser], and wasps do.", "", ""),
        ("Bees dance [@kaiser], and we find that wasps do.", "", ""),
        ("Earlier studies show that wasps dance, and bees do [@kaiser].", "", ""),
        ("Earlier studies [@kaiser] show that wasps dance.", "", ""),
        ("@kaiser says that bees dance, and that earlier studies show so.", "", ""),
        ("Bees dance [@kaiser], but Kaiser et al. saw none.", "", ""),
    ],
)
def test_a_clause_after_the_last_citation(tmp_path: Path, sentence: str, rule: str, clause: str) -> None:
    assert decisions(tmp_path, f"# Introduction\n\n{sentence} It rains.\n")[0] == (rule, clause)


def test_ids_are_checked() -> None:
    check_rule_ids(["own-result"])
    with pytest.raises(UserError, match="unknown rule 'own-resutl'; choose one of: caption, heading"):
        check_rule_ids(["own-resutl"])


@pytest.mark.parametrize(
    "piece",
    [
        "Aaa, ",
        "Aaa and ",
        "previous ",
        "previous work ",
        "we really ",
        "Figure 1 (",
        "see ",
        "A",
        "AaA1",
        "has been ",
        ", and ",
    ],
)
def test_long_texts_take_linear_time(tmp_path: Path, piece: str) -> None:
    texts = [piece * (length // len(piece)) for length in (5_000, 80_000)]
    seconds = []
    for text in texts:
        document = citing_document("a.md", f"Bees [@kaiser] {text}.", text)
        rulebook = Rulebook(document, DraftFiles("none"))
        start = time.process_time()
        rulebook.decide(0)
        rulebook.decide(1)
        seconds.append(time.process_time() - start)
    assert seconds[1] < max(0.5, 60 * seconds[0])  # 16 times the text; quadratic would be 256 times


@pytest.mark.parametrize(
    "text",
    [
        "Bees sleep [@kaiser]. Kaiser argued that they dream.",
        "Kaiser argued that bees dream. He saw them sleep [@kaiser].",
        "Kaiser argued that bees dream [@kaiser].",
    ],
    ids=["before", "after", "there"],
)
def test_an_author_without_a_year_is_asked_for_once(tmp_path: Path, text: str) -> None:
    assert {rule for rule, _ in decisions(tmp_path, f"# Introduction\n\n{text}\n")} == {""}


def test_what_is_known_has_its_source_in_the_same_sentence(tmp_path: Path) -> None:
    text = "# Introduction\n\nBees sleep [@kaiser], and are known to dream.\n"
    assert decisions(tmp_path, text) == [("", "")]
