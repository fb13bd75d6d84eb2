"""Section sequences."""

from collections.abc import Callable

from whycite.documents.model import Document
from whycite.structure import SectionRun, dictionary, outline, sequence

Make = Callable[..., Document]


def runs(document: Document) -> list[tuple[str | None, tuple[str, ...]]]:
    return [(run.type, run.headings) for run in sequence(outline(document), dictionary())]


def test_neighbours_of_one_type_are_merged(make: Make) -> None:
    document = make(
        "Abstract", "Introduction", "Methodology", "Implementation", "Evaluation", "Conclusion", "References"
    )
    assert runs(document) == [
        ("introduction", ("Introduction",)),
        ("method", ("Methodology", "Implementation")),
        ("experiment", ("Evaluation",)),
        ("conclusion", ("Conclusion",)),
    ]


def test_headings_without_a_type_stay_as_themselves(make: Make) -> None:
    assert runs(make("Introduction", "Kernels", "Trees", "Trees")) == [
        ("introduction", ("Introduction",)),
        (None, ("Kernels",)),
        (None, ("Trees", "Trees")),
    ]


def test_sections_without_text_are_left_out(make: Make) -> None:
    document = make("Introduction", "Methods -", "> Data", "Results -", "> More -", "Discussion")
    assert [type for type, _ in runs(document)] == ["introduction", "method", "discussion"]


def test_a_single_heading_above_all_is_the_title(make: Make) -> None:
    document = make("Deep kernels", "> Introduction", "> Methods", ">> Data", "> Conclusion")
    assert [type for type, _ in runs(document)] == ["introduction", "method", "conclusion"]


def test_a_document_without_headings_has_no_sequence(make: Make) -> None:
    assert runs(make("")) == []
    assert runs(make()) == []


def test_appendices_are_left_out_beyond_scope_only(make: Make) -> None:
    document = outline(make("Introduction", "Experiments", "Conclusion", "Proofs"))
    assert sequence(document, dictionary("learned"))[-1] == SectionRun(None, ("Proofs",))
    assert sequence(document, dictionary())[-1] == SectionRun("conclusion", ("Conclusion",))
