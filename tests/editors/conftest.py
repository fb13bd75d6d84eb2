"""A draft and a library for editors that are driven without a screen."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.drafts import STUDIES_TEX
from whycite.library import add

UNRELATED = "@misc{x, title = {Unrelated}}\n"
SENTENCE = "Many studies have shown that bees rest at night."
SLEEP = """---
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
Session = Callable[[Sequence[str]], str]


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    """A draft whose bibliography lacks the paper that its first sentence should cite; the library has it."""
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "sleep.md").write_text(SLEEP, "utf-8")
    assert add(tmp_path / "library", [tmp_path / "papers"], jobs=1).added == 1
    (tmp_path / "draft").mkdir()
    (tmp_path / "draft" / "refs.bib").write_text(UNRELATED, "utf-8")
    (tmp_path / "draft" / "main.tex").write_text(STUDIES_TEX, "utf-8")
    return tmp_path / "draft" / "main.tex"


@pytest.fixture
def run_editor(draft: Path, tmp_path: Path) -> Session:
    """Runs an editor to its end; what it printed."""
    environment = {
        **os.environ,
        "HOME": str(tmp_path / "home"),
        "WHYCITE_LIBRARY": str(tmp_path / "library"),
        "WHYCITE_SERVER": str(Path(sys.executable).with_name("whycite")),
        "WHYCITE_DRAFT": str(draft),
        "WHYCITE_SENTENCE": SENTENCE,
    }
    (tmp_path / "home").mkdir()

    def run(command: Sequence[str]) -> str:
        done = subprocess.run(
            command, env=environment, cwd=draft.parent, capture_output=True, text=True, timeout=280, check=False
        )
        printed = done.stdout + done.stderr
        assert done.returncode == 0, printed
        return printed

    return run


def check_saved(draft: Path) -> None:
    """The sentence cites the paper, its entry is in the bibliography, and nothing else has changed."""
    cited = STUDIES_TEX.replace("bees rest at night.", "bees rest at night~\\cite{kaiser1988busy}.")
    assert draft.read_text("utf-8") == cited
    bibliography = (draft.parent / "refs.bib").read_text("utf-8")
    assert bibliography.startswith(f"{UNRELATED}\n@article{{kaiser1988busy,\n")
    assert "title = {Busy bees need rest, too}" in bibliography
    assert bibliography.count("@") == 2
