"""A small library about bees."""

from pathlib import Path

import pytest

from tests.drafts import BIB, STUDIES_TEX
from whycite.library import add

SLEEP = """\
---
title: How honeybees sleep in the hive
year: 2023
references:
- id: kaiser
  type: article-journal
  title: Busy bees need rest, too
  author: [{family: Kaiser, given: Walter}]
  issued: 1988
  container-title: Journal of Comparative Physiology
---

# Introduction

Honeybees that forage rest at night and hang their antennae [@kaiser].
"""


@pytest.fixture(scope="session")
def bees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of one paper."""
    folder = tmp_path_factory.mktemp("papers")
    (folder / "sleep.md").write_text(SLEEP, "utf-8")
    path = tmp_path_factory.mktemp("library") / "library"
    assert add(path, [folder], jobs=1).added == 1
    return path


@pytest.fixture
def draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A LaTeX draft with a bibliography, and no library."""
    monkeypatch.setenv("WHYCITE_LIBRARY", str(tmp_path / "no library"))
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    (tmp_path / "main.tex").write_text(STUDIES_TEX, "utf-8")
    return tmp_path / "main.tex"


@pytest.fixture(autouse=True)
def _stays_on_this_machine(no_network: list[str]) -> None:
    """Nothing that an editor asks for leaves the machine."""
