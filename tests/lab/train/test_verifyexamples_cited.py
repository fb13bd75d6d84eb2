"""Claims with the full text of what they cite."""

from pathlib import Path
from random import Random

from tests.fakes import letter_encoder
from whycite.lab.train.verifyexamples import CITED_KINDS, cited_texts

PAPER = """---
title: {title}
date: 20{year:02}
references:
{references}
---
# Introduction
{said}
"""


def _write(folder: Path, name: str, title: str, said: str, *cited: str) -> None:
    references = "\n".join(f"- {{id: r{at}, title: {each}, issued: 2001}}" for at, each in enumerate(cited)) or "[]"
    year = 1 if not cited else 5
    text = PAPER.format(title=title, year=year, references=references, said=said)
    (folder / f"{name}.md").write_text(text, encoding="utf-8")


def test_a_claim_against_what_it_cites_and_against_a_like_paper(tmp_path: Path) -> None:
    _write(tmp_path, "a", "The long sleep of foraging honeybees in autumn", "Honeybees sleep at night.")
    _write(tmp_path, "b", "The long sleep of foraging bumblebees in summer", "Bumblebees sleep by day.")
    _write(tmp_path, "c", "Quartz clocks kept with zinc boxes and vivid wax", "Clocks tick.")
    claim = "Honeybees that forage all summer sleep long hours during warm quiet nights inside"
    _write(
        tmp_path, "d", "A review of what animals do after dark in gardens",
        f"{claim} [@r0]. Short [@r0]. Two papers say that many animals rest during long warm nights outside "
        "[@r0; @r1]. Others have looked at many kinds of unknown beetles under thick wet bark all winter long [@r1].",
        "The long sleep of foraging honeybees in autumn", "Beetles that nobody has at hand here",
    )  # fmt: skip
    backed, missing, beside = cited_texts([tmp_path], 10, letter_encoder(), Random(0))
    assert backed.claim == missing.claim == f"{claim}."
    assert (backed.label, backed.sentences) == ("backed", ("Honeybees sleep at night.",))
    assert (missing.label, missing.sentences) == ("not found", ("Bumblebees sleep by day.",))
    assert backed.sections == ("Introduction",)
    assert beside.claim.startswith("Others have looked at")
    assert (beside.label, beside.sentences) == ("not found", backed.sentences)
    assert [case.id.split()[-1] for case in (backed, missing, beside)] == list(CITED_KINDS)
    assert cited_texts([tmp_path], 10, letter_encoder(), Random(0), held_out=True) == []


def test_papers_that_cite_nothing_at_hand(tmp_path: Path) -> None:
    _write(tmp_path, "a", "The long sleep of foraging honeybees in summer", "Honeybees sleep at night.")
    assert cited_texts([tmp_path], 10, letter_encoder(), Random(0)) == []
