"""Citation groups and the text around them."""

from collections.abc import Callable

import pytest

from whycite.documents.model import Document
from whycite.evidence.groups import join_texts, split_at_groups

Make = Callable[..., Document]


@pytest.fixture
def groups(document: Make) -> Callable[[str], tuple[list[str], list[str]]]:
    """The texts around the groups, and the keys of these."""

    def make(text: str) -> tuple[list[str], list[str]]:
        made = document(text)
        parts = split_at_groups(made.sentences[0], made)
        return list(parts.texts), [",".join(group.keys) for group in parts.groups]

    return make


Groups = Callable[[str], tuple[list[str], list[str]]]


@pytest.mark.parametrize(
    "citations",
    [
        "<a,b,c|[3-5]>",
        "[<a|3>, <b|4>–<c|5>]",
        "(<a|Smith, 2010>; <b|Lee, 2011>; <c|Lee, 2012>)",
        "(<a|Smith, 2010>; Ikeda and Bekkers, 2006; van der Berg et al. 2007a,b; <b|Lee>, <c|2012>)",
        "<a|[smith]><b,c|[lee; lee2012]>",
        "<a|[3]>, <b|[4]> and <c|[5]>",
        "(see e.g. <a|Smith, 2010>, but also <b|Lee, 2011>; reviewed in <c|Lee, 2012>)",
        "(e.g., <a|[3]>; see <b|[4]>) [<c|5>]",
        "<a|(Smith 2010;> <b|Lee 2011;> <c|Lee 2012)>",
        "(see also [<a|3>, <b|4>] and references therein; <c|[5]>)",
        "<a|3>,<b|4>,<c|5>",
    ],
)
def test_side_by_side_is_one_group(groups: Groups, citations: str) -> None:
    assert groups(f"Cells divide {citations} and grow.") == (["Cells divide", "and grow."], ["a,b,c"])


@pytest.mark.parametrize(
    "text",
    ["BERT <a|[1]> and GPT <b|[2]>", "BERT <a|[1]>. And <b|[2]>", "BERT <a|[1]>, unlike <b|[2]>"],
)
def test_with_words_between_they_are_two(groups: Groups, text: str) -> None:
    assert groups(text)[1] == ["a", "b"]


def test_a_key_twice_counts_once(groups: Groups) -> None:
    assert groups("Cells divide (<a|Smith, 2010>, <b,a|2011>).")[1] == ["a,b"]


def test_unlinked_citations_cut_but_have_no_keys(groups: Groups) -> None:
    assert groups("Cells divide <|(5)> and grow <a|(6)>.") == (["Cells divide", "and grow", "."], ["", "a"])


@pytest.mark.parametrize(
    ("text", "around"),
    [
        ("In CATMAID (RRID:SCR_1; <a|Doe, 2009>; Figure 1D) we", ["In CATMAID", "(RRID:SCR_1; Figure 1D) we"]),
        ("glomerulus (VA1v; <a|Dweck et al., 2015>) for", ["glomerulus", "(VA1v) for"]),
        ("A chart (see <a|[1]> for more details) is", ["A chart", "is"]),
        ("Firms (see <a|Caves>, for the effects of FDI) do", ["Firms (", ", for the effects of FDI) do"]),
        ("Theorem 3 (Theorem 1.7 of <a|[12]>) There is", ["Theorem 3", "(Theorem 1.7) There is"]),
        ("commissure (ALC: <a|Doe, 2012>) and", ["commissure", "(ALC) and"]),
        ("connectome (<a|Doe>; neuprint.org; <b|Roe>) shows", ["connectome", "(neuprint.org) shows"]),
        ("cells (as an aside on their growth, <a|Alt, 1990>) and", ["cells (as an aside on their growth,", ") and"]),
        ("remain <a|(Wu, 2014>), so", ["remain", ", so"]),
        ("remain (<a|Wu, 2014>, so", ["remain", ", so"]),
        ("is close <a|Wu, 2014>), so", ["is close", ", so"]),
    ],
)
def test_what_else_the_bracket_held(groups: Groups, text: str, around: list[str]) -> None:
    assert groups(text)[0] == around


@pytest.mark.parametrize(
    ("text", "around"),
    [
        ("as Doe et al. (<doe|2010>) showed", ["as", "showed"]),
        ("as Doe, Roe and Müller <doe|[3]> showed", ["as", "showed"]),
        ("as van der Loos <loos|[3]> showed", ["as", "showed"]),
        ("Doe (<doe|2014>) 's notion", ["", "notion"]),
        ("of Doe's <doe|[4]> notion", ["of", "notion"]),
        ("by Doe and colleagues <doe|[4]>.", ["by", "."]),
        ("by Creutz et al. <doe|[4]>, who", ["by", ", who"]),  # "et al." says enough, whoever it is
        ("cells of Smith <doe|[4]>", ["cells of Smith", ""]),  # none of the authors
        ("we used R <team|[4]>", ["we used R", ""]),
    ],
)
def test_names_belong_to_the_citation(groups: Groups, text: str, around: list[str]) -> None:
    assert groups(text)[0] == around


def test_source_range_of_a_group(document: Make) -> None:
    made = document("Cells divide (<a|A>; <b|B>; <|C>).")
    (group,) = split_at_groups(made.sentences[0], made).groups
    assert (group.start, group.end) == (14, 26)


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (["Cells divide", ", and grow", "."], "Cells divide, and grow."),
        (["Cells,", ", grow;", "."], "Cells, grow."),
        (["Cells (see", ") grow"], "Cells (see) grow"),
        (["tools (BLAST,", "; HMMER,", ") and"], "tools (BLAST; HMMER) and"),
        (["Firms (", ", for effects) do"], "Firms (for effects) do"),
        (["Cells (", ") divide"], "Cells divide"),
        (["It is so.", "."], "It is so."),
        (["", "showed"], "showed"),
        (["", ""], ""),
    ],
)
def test_joined(texts: list[str], sentence: str) -> None:
    assert join_texts(texts) == sentence
