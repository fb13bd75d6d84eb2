"""A small library of two papers."""

from pathlib import Path

import pytest

ATTENTION = """\
---
title: Language models in a nutshell
year: 2021
references:
- id: vaswani
  title: Attention Is All You Need
  author: [{family: Vaswani, given: Ashish}, {family: Shazeer, given: Noam}, {family: Parmar, given: Niki}]
  issued: 2017
  DOI: 10.1000/attention
- id: devlin
  title: Pre-training of Deep Bidirectional Transformers
  author: [{family: Devlin, given: Jacob}]
  issued: 2019
---

# Introduction

Transformers made of attention layers alone represent text well [@vaswani].
Models that were trained on plain text are fine-tuned for many tasks [@devlin].
"""
SLEEP = """\
---
title: How bees rest
year: 2023
references:
- id: kaiser
  title: Busy bees need rest, too
  author: [{family: Kaiser, given: Walter}]
  issued: 1988
  container-title: Journal of Comparative Physiology
- id: vaswani
  title: Attention Is All You Need
  author: [{family: Vaswani, given: Ashish}]
  issued: 2017
  DOI: 10.1000/attention
---

# Introduction

Honeybees that forage sleep at night and hang their antennae [@kaiser].
We find the hours of sleep with a transformer, a network of attention layers [@vaswani].
"""


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two papers."""
    folder = tmp_path_factory.mktemp("papers")
    (folder / "attention.md").write_text(ATTENTION, "utf-8")
    (folder / "sleep.md").write_text(SLEEP, "utf-8")
    return folder


@pytest.fixture(scope="session")
def library(papers: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of them; tests only read it."""
    from whycite.library import add

    path = tmp_path_factory.mktemp("libraries") / "library"
    assert add(path, [papers], jobs=1).added == 2
    return path
