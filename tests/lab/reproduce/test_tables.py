"""Published tables, ours beside them, and what is written of both."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from whycite.errors import UserError
from whycite.lab.reproduce.tables import (
    PAPERS,
    ComparedTable,
    Figure,
    FigureStore,
    OurRow,
    PaperName,
    as_dict,
    compare_rows,
    figure_text,
    html,
    markdown,
    mean_figure,
    plot,
    published_tables,
)

NUMBERS = {
    "ilciter": ["2", "4", "5"],
    "scope": ["2", "3", "4", "5", "6", "7", "8", "9", "11", "13", "14"],
    "thesis": ["4.1", "7.1", "7.2", "7.3"],
}


@pytest.mark.parametrize("paper", PAPERS)
def test_every_published_table_is_whole(paper: PaperName) -> None:
    tables = published_tables(paper)
    assert list(tables) == NUMBERS[paper]
    for table in tables.values():
        assert table.plot in table.columns
        assert "data" in table.conditions
        assert {len(figures) for _, _, figures in table.rows} == {len(table.columns)}
        assert len({(group, name) for group, name, _ in table.rows}) == len(table.rows)


def test_published_figures_are_those_of_the_papers() -> None:
    def figure(paper: PaperName, number: str, group: str, name: str, column: str) -> Figure | None:
        table = published_tables(paper)[number]
        figures = next(figures for *names, figures in table.rows if names == [group, name])
        return figures[table.columns.index(column)]

    assert figure("ilciter", "4", "MT", "Conditional Ensembling", "MRR") == Figure(0.44456)
    assert figure("scope", "3", "", "ctx", "all F1") == Figure(0.6854, 0.0025)
    assert figure("scope", "7", "d=0.8", "Co-occurrence baseline", "SciBERT-paragraph MRR") == Figure(0.308, 0.005)
    assert figure("scope", "2", "", "I * C", "learned") == Figure(0.77)
    assert figure("thesis", "7.1", "", "high majority", "rnn") == Figure(0.773)


def _compared() -> ComparedTable:
    published = published_tables("thesis")["7.2"]
    ours = [
        OurRow("", "base", {"accuracy": Figure(0.6, 0.01)}, {"accuracy": 0.00001}),
        OurRow("", "<ours> | alone", {"accuracy": Figure(0.5)}, note="small"),
    ]
    return ComparedTable(
        published,
        compare_rows(published, ours),
        {"data": "a few"},
        "other data",
        "base",
        our_spread="deviation of ours",
    )


def test_ours_stands_beside_the_paper_and_what_only_we_have_comes_last() -> None:
    table = _compared()
    assert [(row.name, row.paper is not None, row.ours is not None) for row in table.rows] == [
        ("base", True, True),
        ("inter-sentence attention", True, False),
        ("<ours> | alone", False, True),
    ]
    content = as_dict(table)
    assert content["rows"][0]["ours"] == {"accuracy": {"value": 0.6, "spread": 0.01}}
    assert content["rows"][1]["ours"] is None
    assert content["comparable"] is False
    json.dumps(content)


def test_rows_that_only_we_have_end_their_group() -> None:
    published = published_tables("thesis")["4.1"]
    ours = [OurRow(kind, "Vote 7", {"F1": Figure(0.5)}) for kind in ("TC", "BC-R", "BR")]
    rows = [(row.group, row.name) for row in compare_rows(published, ours)]
    assert [group for group, _ in rows] == ["BR"] * 6 + ["BC-E"] + ["BC-R"] * 2 + ["TC"]
    assert rows[5] == ("BR", "Vote 7")
    assert rows[-2:] == [("BC-R", "Vote 7"), ("TC", "Vote 7")]


def test_brackets_are_named_only_where_there_are_any() -> None:
    published = published_tables("thesis")["7.2"]
    rows = compare_rows(published, [OurRow("", "base", {"accuracy": Figure(0.6)})])
    table = ComparedTable(published, rows, {}, "", our_spread="deviation of ours")
    assert "In brackets" not in markdown("Title", "Made.", [table])
    assert as_dict(table)["spread"] == ""


def test_markdown_and_page_say_that_figures_are_not_comparable() -> None:
    table = _compared()
    text = markdown("Title", "Made.", [table])
    assert "|  | base | paper | 0.748 |  |\n|  |  | ours | 0.600 (0.010) | <.0001 |\n" in text
    assert "<ours> \\| alone" in text
    assert "Not comparable: other data." in text
    assert "In brackets: deviation of ours." in text  # the paper has no brackets
    page = html("Title", "Made.", [table])
    assert "&lt;ours&gt;" in page
    assert "Not comparable: other data." in page
    assert re.search(r"(src|href)=", page) is None  # nothing is loaded


def test_plots_have_a_bar_per_figure_in_proportion() -> None:
    drawing = ElementTree.fromstring(plot(_compared()).partition("</svg>")[0].removeprefix("<figure>") + "</svg>")
    widths = {bar.get("class"): float(bar.get("width") or 0) for bar in drawing.iter("rect")}
    assert [bar.get("class") for bar in drawing.iter("rect")] == ["paper-bar", "our-bar", "paper-bar", "our-bar"]
    assert widths["our-bar"] / float(next(drawing.iter("rect")).get("width") or 1) == pytest.approx(
        0.5 / 0.748, abs=0.01
    )


def test_what_stands_beside_the_longest_bar_is_not_cut_off() -> None:
    rows = compare_rows(published_tables("thesis")["7.2"], [OurRow("", "base", {"accuracy": Figure(0.9, 0.012)})])
    table = ComparedTable(published_tables("thesis")["7.2"], rows, {}, "")
    drawing = ElementTree.fromstring(plot(table).partition("</svg>")[0].removeprefix("<figure>") + "</svg>")
    label = next(text for text in drawing.iter("text") if text.text == "0.900 (0.012)")
    assert float(label.get("x") or 0) + 7 * len(label.text or "") <= float(drawing.get("width") or 0)


def test_figures_have_the_digits_they_need() -> None:
    figures = [Figure(0.35155), Figure(23803.0), Figure(117.46), Figure(0.5, 0.02), None]
    assert [figure_text(figure) for figure in figures] == ["0.352", "23,803", "117.46", "0.500 (0.020)", ""]
    assert mean_figure([Figure(1, 2), Figure(2)]) == Figure(1.5)
    assert mean_figure([Figure(1), None]) is None


def test_measurements_are_made_once(tmp_path: Path) -> None:
    made = []

    def measure() -> dict[str, float]:
        made.append(1)
        return {"value": 0.1 + 0.2}

    first = FigureStore(tmp_path / "out", {"seed": 0}).measure("Topic: a/b", measure)
    store = FigureStore(tmp_path / "out", {"seed": 0})
    assert store.measure("Topic: a/b", measure) == first == {"value": 0.1 + 0.2}
    assert len(made) == len(store) == 1


def test_a_measurement_that_fails_is_not_kept(tmp_path: Path) -> None:
    store = FigureStore(tmp_path, {})
    with pytest.raises(ZeroDivisionError):
        store.measure("a", lambda: 1 / 0)
    assert len(store) == 0


def test_other_settings_need_another_folder(tmp_path: Path) -> None:
    FigureStore(tmp_path / "out", {"seed": 0})
    with pytest.raises(UserError, match="choose another --out"):
        FigureStore(tmp_path / "out", {"seed": 1})
