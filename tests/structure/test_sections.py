"""Section types of whole documents."""

from collections.abc import Callable
from pathlib import Path

import pytest

from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.structure import HeadingRules, label, save_rules, section_type

Make = Callable[..., Document]


def types(document: Document) -> list[str | None]:
    return [section.type for section in label(document).sections]


def test_subsections_inherit(make: Make) -> None:
    document = make("1 Introduction", "2 Methods", "> Mice", "> Statistical analysis", "3 Results", "> Sox2 binds DNA")
    assert types(document) == ["introduction", "method", "method", "method", "result", "result"]


def test_a_plain_name_wins_over_the_section_around(make: Make) -> None:
    document = make("Introduction", "> Related work", "> Overview", "Discussion", "> Limitations", "> Conclusions")
    assert types(document) == ["introduction", "related work", "introduction", "discussion", "discussion", "conclusion"]


def test_experiments_are_told_apart_by_the_section_around(make: Make) -> None:
    document = make("Methods", "> Experiment 1", "Results", "> Experiment 1", "Experiment 2", "> Methods", "> Results")
    assert types(document) == ["method", "method", "result", "result", "experiment", "method", "result"]


def test_what_is_around_the_argument_keeps_its_subsections(make: Make) -> None:
    document = make("Abstract", "> Methods", "> Results", "Introduction", "Appendix", "> Experiments")
    assert types(document) == ["abstract"] * 3 + ["introduction"] + ["appendix"] * 2


def test_sections_after_the_end_are_appendices(make: Make) -> None:
    document = make("Introduction", "Kernels", "Experiments", "Conclusion", "Proofs", "> More proofs", "References")
    assert types(document) == [
        "introduction",
        None,
        "experiment",
        "conclusion",
        "appendix",
        "appendix",
        "references",
    ]


def test_the_end_of_a_chapter_is_not_the_end(make: Make) -> None:
    document = make(
        "Introduction", "Kernels", "> Introduction", "> Conclusion", "> Proofs", "Trees", "Conclusion", "Code"
    )
    assert types(document)[1:] == [None, "introduction", "conclusion", "appendix", None, "conclusion", "appendix"]


def test_an_abstract_above_the_sections_does_not_swallow_them(make: Make) -> None:
    assert types(make("Deep kernels", "Abstract", "> Introduction", "> Kernels")) == [
        None,
        "abstract",
        "introduction",
        None,
    ]
    assert types(make("Abstract", "> Trees", "> Kernels")) == ["abstract", None, None]
    document = make("> Introduction", "> Conclusion", "Acknowledgements", "> Proofs")
    assert types(document) == ["introduction", "conclusion", "acknowledgement", "appendix"]


def test_at_the_front_nothing_ends(make: Make) -> None:
    document = make("Acknowledgements", "References", "Summary", "The problem", "Methods", "Kernels")
    assert types(document) == ["acknowledgement", "references", "conclusion", None, "method", None]


def test_methods_after_the_conclusion_stay_methods(make: Make) -> None:
    assert types(make("Introduction", "Results", "Conclusion", "Methods"))[-1] == "method"


def test_a_title_is_no_section(make: Make) -> None:
    document = make("Experimental evaluation of parsers", "> Introduction", title="Experimental Evaluation of Parsers")
    assert types(document) == [None, "introduction"]


def test_text_without_a_heading_has_no_type(make: Make) -> None:
    assert types(make("", "Introduction")) == [None, "introduction"]


def test_only_types_are_filled(make: Make) -> None:
    document = make("Introduction", "> Aims")
    labelled = label(document)
    assert labelled.sentences == document.sentences
    assert [(s.heading, s.level) for s in labelled.sections] == [("Introduction", 1), ("Aims", 2)]


def test_the_users_rules_count_as_soon_as_they_are_kept(settings: Path) -> None:
    assert section_type("Kernels") is None
    save_rules(settings / "sections.toml", HeadingRules({"kernel": "method"}, frozenset({"introduction"})))
    assert section_type("3 Kernels") == "method"
    assert section_type("Introduction") is None


def test_a_mistake_in_the_users_rules_is_told(settings: Path) -> None:
    settings.mkdir(parents=True)
    (settings / "sections.toml").write_text("[positive]\nmethods = ['x']\n")
    with pytest.raises(UserError, match="unknown section type 'methods'"):
        section_type("Introduction")
