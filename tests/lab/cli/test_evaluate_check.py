"""`whycite eval worthiness`, on articles and on drafts."""

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

from whycite.errors import UserError

Run = Callable[..., Result]
DRAFT = """# Introduction
{0} have been studied for many years [@a]. @c showed how {0} wake. It has been reported that {0} sleep at night [@b].
In this note we count our own {0}. The rest is organised as follows.
"""


def test_drafts_are_decided_by_those_of_other_projects(run: Run, tmp_path: Path) -> None:
    for name, topic in (("one-early", "bees"), ("one-late", "bees"), ("two", "whales"), ("three", "ants")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "draft.md").write_text(DRAFT.format(topic), encoding="utf-8")
    answer = json.loads(run("eval", "worthiness", "--drafts", tmp_path, "--json").stdout)
    told = answer["rows"]
    assert 0 < answer["decision"]["thresholds"][""] < 1
    assert [row["sentences_of"] for row in told[:4]] == ["all drafts", "drafts in English"] * 2
    assert ["titles" in row["method"] for row in told] == [False] * 2 + [True] * 6
    assert [row["sentences_of"] for row in told[4:]] == ["one-early", "one-late", "three", "two"]
    assert (told[0]["sentences"], told[4]["sentences"]) == (20, 5)
    assert told[0]["F1"] > 0.6
    assert all(0 <= told[0][name] <= 1 for name in ("R_clean", "R_holed", "F1_clean", "R_clean_at_0.025"))
    shown = run("eval", "worthiness", "--drafts", tmp_path).stdout
    assert "drafts in English" in shown
    assert "R holed at 2.5 %" in shown


def test_articles_give_table_3(run: Run, data: Path) -> None:
    tiny = data / "elife" / "elife-tiny.jsonl.zst"
    told = run("eval", "worthiness", "--data", tiny, "--test", "3", "--trained", "12", "--json")
    rows = {(row["method"], row["sentences_of"]): row for row in json.loads(told.stdout)["rows"]}
    methods = {method for method, _ in rows}
    assert {"chance", "class-weighted", "class-weighted by section", "logistic regression"} < methods
    ours = next(row for (method, kind), row in rows.items() if method.startswith("worthiness-30m") and kind == "all")
    assert ours["F1"] > rows["logistic regression", "all"]["F1"] > 0
    assert rows[f"{ours['method']}, with the titles of the bibliography", "all"]["F1"] > ours["F1"]


def test_what_is_asked_must_be_clear(run: Run, tmp_path: Path) -> None:
    for options in ((), ("--data", tmp_path, "--drafts", tmp_path)):
        result = run("eval", "worthiness", *options)
        assert isinstance(result.exception, UserError)
    assert "no such folder" in str(run("eval", "worthiness", "--drafts", tmp_path / "none").exception)


PIPELINE_DRAFT = """---
title: A draft on bees
references:
- {id: sleep, title: "Sleep of honeybees at night"}
- {id: rest, title: "How honeybees rest in the hive"}
---
# Introduction

Previous studies have shown that honeybees rest at night [@rest]. Bees dance [@sleep]. We like wax.
"""
POOL_PAPER = PIPELINE_DRAFT.replace("A draft on bees", "What bees do")


def test_the_pipeline_has_a_row_for_the_chain_of_choice(run: Run, tmp_path: Path) -> None:
    for name, text in (("drafts/bees.md", PIPELINE_DRAFT), ("pool/bees.md", POOL_PAPER), ("pool/broken.pdf", "no")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    drafts, pool = tmp_path / "drafts", tmp_path / "pool"
    result = run("eval", "pipeline", drafts, "--papers", pool, "--prefetch", "co-occurrence", "--k", "5", "--json")
    rows = json.loads(result.stdout)["rows"]
    assert "co-occurrence and bm25" in rows[1]["pool"]
    assert "5 of 2 papers" in rows[1]["pool"]
    assert rows[1]["in_pool"] == 1
    assert rows[-1]["R"] == 0  # asks nothing
    assert "broken.pdf" in result.stderr  # what could not be read is not left out in silence
    shown = run("eval", "pipeline", drafts, "--papers", pool).stdout
    for stage in ("reranker, per worthy sentence", "prefetcher, per worthy sentence", "SCOPE: prefetcher, per section"):
        assert stage in shown


def test_options_of_the_chain_need_papers_and_are_looked_at_first(run: Run, tmp_path: Path) -> None:
    def mistake(*arguments: str | Path) -> str:
        exception = run("eval", "pipeline", tmp_path, *arguments).exception
        assert isinstance(exception, UserError), exception
        return str(exception)

    for option in (("--prefetch", "random"), ("--ranker", tmp_path), ("--variant", "default"), ("--k", "5")):
        assert "give the papers it searches with --papers" in mistake(*option)
    papers = ("--papers", tmp_path / "none")  # is not looked for before the names are right
    assert "unknown recommender 'nobody'" in mistake(*papers, "--prefetch", "nobody")
    assert "unknown input variant 'nothing'" in mistake(*papers, "--variant", "nothing")
    assert "no such file" in mistake(*papers)
