"""The synonym dictionary."""

import tomllib
from importlib.resources import files

import pytest

from whycite.structure.synonyms import BLOCKS, SECTION_TYPES, HeadingRules, dictionary, normalise_heading

# SCOPE, appendix A.2, as printed there.
DEFINED = """
introduction: introduction, intro, overview, motivation, problem motivation
related work: related work, previous work, literature, background, literature review, state of the art
related work: current state of research, requirement
experiment: experiment, experimental result, experimental setup, result, result and analysis, evaluation
experiment: performance evaluation, experiment and result, analysis
method: method, methodology, material and method, proposed method, evaluation methodology, procedure, implementation
method: experimental design, implementation detail, system model
discussion: discussion, limitation, result and discussion
conclusion: conclusion, future work, summary, discussion and conclusion, conclusion and outlook
conclusion: conclusion and future work, concluding remark
"""
LEARNED = """
result: empirical result
experiment: experiment result, experimental evaluation, result and evaluation, evaluation and result
conclusion: conclusion limitation and future work, conclusion and future direction, future work and conclusion
conclusion: conclusion and discussion, related work and conclusion, conclusion and limitation
conclusion: summary and conclusion, conclusion and perspective
related work: relation to prior work, background and related work, technical background, related work and background
related work: motivation and related work, related literature, review of previous method
method: model, proposed approach, proposed methodology
discussion: discussion and future work, discussion and outlook
introduction: introduction and motivation, introduction and related work, introduction and background
"""


def pairs(block: str) -> list[tuple[str, str]]:
    lines = [line.split(": ") for line in block.strip().splitlines()]
    return [(term, type) for type, terms in lines for term in terms.split(", ")]


def test_the_paper_has_42_and_28_terms() -> None:
    assert (len(pairs(DEFINED)), len(pairs(LEARNED))) == (42, 28)


@pytest.mark.parametrize(("term", "type"), pairs(DEFINED))
def test_defined(term: str, type: str) -> None:
    assert dictionary("defined").type(term) == type
    assert dictionary("learned").type(term) == type


@pytest.mark.parametrize(("term", "type"), pairs(LEARNED))
def test_learned(term: str, type: str) -> None:
    assert dictionary("defined").type(term) is None
    assert dictionary("learned").type(term) == type


@pytest.mark.parametrize(("term", "type"), [*pairs(DEFINED), *pairs(LEARNED)])
def test_ours_differs_in_results_only(term: str, type: str) -> None:
    assert dictionary("ours").type(term) == ("result" if term == "result" else type)


def test_without_the_dictionary_only_the_names_of_types_match() -> None:
    exact = dictionary("exact")
    assert [exact.type(heading) for heading in ("3 Methods", "Related Works", "Methodology", "Results")] == [
        "method",
        "related work",
        None,
        None,
    ]
    assert exact.type("Acknowledgements") == "acknowledgement"  # left out of sequences in every block


def test_every_term_is_spelt_as_headings_are_normalised() -> None:
    ours = dictionary()
    assert set(ours.terms.values()) == set(SECTION_TYPES)
    assert [term for term in ours.terms if normalise_heading(term) != term] == []


def test_every_general_term_is_a_term() -> None:
    content = tomllib.loads(files("whycite.structure").joinpath("data", "sections.toml").read_text("utf-8"))
    assert [term for term in content["general"] if normalise_heading(term) not in dictionary().terms] == []


@pytest.mark.parametrize(
    ("heading", "type"),
    [
        ("Detailed experimental setup", "experiment"),
        ("6 Translation Experiments", "experiment"),
        ("Experiment 2: Paraphrase Detection", "experiment"),
        ("Comparison with related work", "related work"),
        ("Data, variables and methods", "method"),
        ("The tagger and the corpora", "method"),
        ("Methods for learning phrase translation", "method"),
        ("Experimental Results and Discussion", "discussion"),
        ("Discussion, limitations and future directions", "discussion"),
        ("Discussion and conclusions", "conclusion"),
        ("Background and motivation", "introduction"),
        ("Introduction: A question of nomenclature", "introduction"),
        ("Introduction to the mammalian zona pellucida", "introduction"),
        ("Appendix A: Instructions to the annotators (second experiment)", "appendix"),
        ("Acknowledgments and Funding", "acknowledgement"),
        ("Data availability statement", "declaration"),
        ("Zusammenfassung und Ausblick", "conclusion"),
        ("État de l’art", "related work"),
    ],
)
def test_terms_inside_headings(heading: str, type: str) -> None:
    assert dictionary().type(heading) == type


@pytest.mark.parametrize(
    "heading",
    [
        "Analysis of the XY gene in a model of disease",
        "Analysis of convergence",
        "A brief introduction to deep learning",
        "Comparison of methods",
        "Background subtraction",
        "Granger causality: intuition, pitfalls, and implementations",
        "Similarity of findings – different conclusions",
        "Why optimize experimental designs?",
        "How did we do? Posterior predictive checks are vital for model evaluation",
        "Everything I know about data analysis, all in one place",
        "Proof of the main result",
        "Inference using variational Bayes",
        "results " * 100,
        "2.",
        "",
    ],
)
def test_general_words_do_not_misfire(heading: str) -> None:
    assert dictionary().type(heading) is None


def test_smaller_blocks_look_at_whole_headings_only() -> None:
    assert [dictionary(block).type("Detailed experimental setup") for block in BLOCKS] == [
        None,
        None,
        None,
        "experiment",
    ]


def test_the_users_rules_come_first() -> None:
    rules = HeadingRules({"apparatus": "method", "kinn framework": "method", "result": "discussion"}, frozenset())
    ours = dictionary("ours", rules)
    assert ours.type("3 The Apparatus") == "method"
    assert ours.type("Apparatus and stimuli") == "method"
    assert ours.type("Apparatus of the state") is None  # one word stands for a whole heading
    assert ours.type("Details of the KINN framework") == "method"
    assert ours.type("Results") == "discussion"


def test_a_negative_rule_keeps_a_heading_without_a_type() -> None:
    rules = HeadingRules({}, frozenset({"detailed experimental setup"}))
    assert dictionary("ours", rules).type("Detailed Experimental Setup") is None
    assert dictionary("ours", rules).type("Experimental setup") == "experiment"
