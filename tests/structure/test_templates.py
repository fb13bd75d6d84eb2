"""Templates, matching and inclusion."""

import time
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.structure import ANY, TEMPLATES, SectionRun, Template, depths, letters, matching_templates, parents
from whycite.structure.templates import LETTERS, UNTYPED

TEMPLATE = st.lists(st.sampled_from("IMC*_"), max_size=5).map(lambda tokens: Template.parse(" ".join(tokens)))
SEQUENCES = [symbols for length in range(6) for symbols in product("IMC?", repeat=length)]


def test_the_rows_of_table_2_stand_below_the_root() -> None:
    assert len(TEMPLATES) == len(set(TEMPLATES)) == 25
    assert TEMPLATES[0] == ANY


@pytest.mark.parametrize(
    ("template", "sequence", "fits"),
    [
        ("I * C", "IC", True),
        ("I * C", "I??MEC", True),
        ("I * C", "IMD", False),
        ("I * C", "I", False),
        ("I R _ E C", "IR?EC", True),
        ("I R _ E C", "IREC", False),
        ("I R _ E C", "IR??EC", False),
        ("I R * D C", "IRDC", True),
        ("*", "", True),
        ("_", "", False),
        ("_ *", "?", True),
        ("* E *", "IRMEDC", True),
        ("", "", True),
        ("", "I", False),
    ],
)
def test_matches(template: str, sequence: str, fits: bool) -> None:
    assert Template.parse(template).matches(tuple(sequence)) is fits


def test_a_template_is_made_of_its_letters_only() -> None:
    with pytest.raises(ValueError, match="'X' is not a template symbol"):
        Template.parse("I X C")


def test_inclusion_on_the_paper_templates() -> None:
    edges = {(str(parent), str(child)) for child, above in parents().items() for parent in above}
    assert edges == {
        ("[*]", "[I * C]"),
        ("[*]", "[I * D]"),
        ("[I * C]", "[I * R C]"),
        ("[I * C]", "[I R * D C]"),
        ("[I * C]", "[I * E C]"),
        ("[I * C]", "[I _ D C]"),
        ("[I * C]", "[I _ E D C]"),
        ("[I * C]", "[I _ E R D C]"),
        ("[I * R C]", "[I * D R C]"),
        ("[I * R C]", "[I _ E R C]"),
        ("[I * D R C]", "[I _ E D R C]"),
        ("[I R * D C]", "[I R _ E D C]"),
        ("[I R * D C]", "[I R M D C]"),
        ("[I R * D C]", "[I R E D C]"),
        ("[I * E C]", "[I R _ E C]"),
        ("[I * E C]", "[I _ E C]"),
        ("[I R _ E C]", "[I R M E C]"),
        ("[I _ D C]", "[I M D C]"),
        ("[I _ E C]", "[I M E C]"),
        ("[I _ E C]", "[I R E C]"),
        ("[I _ E D C]", "[I M E D C]"),
        ("[I _ E D C]", "[I R E D C]"),
        ("[I _ E R C]", "[I M E R C]"),
        ("[I _ E D R C]", "[I M E D R C]"),
        ("[I _ E R D C]", "[I M E R D C]"),
    }


@given(TEMPLATE, TEMPLATE)
def test_inclusion_agrees_with_matching(one: Template, other: Template) -> None:
    matched = [symbols for symbols in SEQUENCES if other.matches(symbols)]
    # What tells two templates of five tokens apart need not be longer: a star is nothing, or one other section.
    assert one.includes(other) == all(one.matches(symbols) for symbols in matched)


@given(TEMPLATE, TEMPLATE, TEMPLATE)
def test_inclusion_is_an_order(one: Template, two: Template, three: Template) -> None:
    assert one.includes(one)
    assert ANY.includes(one)
    if one.includes(two) and two.includes(three):
        assert one.includes(three)
    if one.includes(two) and two.includes(one):
        assert one == two


@given(st.lists(TEMPLATE, max_size=8, unique=True).map(tuple))
def test_the_graph_without_redundant_edges_says_the_same(templates: tuple[Template, ...]) -> None:
    edges = parents(templates)
    reached: dict[Template, set[Template]] = {}
    for template in sorted(templates, key=lambda template: depths(templates)[template]):
        reached[template] = set().union(*({parent} | reached[parent] for parent in edges[template]))
        assert reached[template] == {o for o in templates if o != template and o.includes(template)}
        for parent in edges[template]:  # and no edge can go
            assert all(parent not in reached[other] for other in edges[template])


@given(st.lists(st.sampled_from([*LETTERS.values(), UNTYPED]), max_size=8).map(tuple))
def test_who_matches_a_template_matches_its_parents(symbols: tuple[str, ...]) -> None:
    found = matching_templates(symbols)
    assert found[-1] == ANY
    for number, template in enumerate(found):
        for parent in parents()[template]:
            assert parent in found[number + 1 :]  # the most specific come first


def test_results_count_as_experiments() -> None:
    runs = [SectionRun(type, ("",)) for type in ("introduction", "experiment", "result", None, None, "conclusion")]
    assert letters(runs) == ("I", "E", UNTYPED, UNTYPED, "C")


def test_matching_does_not_backtrack() -> None:
    template = Template.parse(" ".join(["* M"] * 30))
    start = time.process_time()
    assert not template.matches(("M", "?") * 2_000 + ("C",))
    assert time.process_time() - start < 30
