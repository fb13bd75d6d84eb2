"""A paper and a draft that cites it."""

from pathlib import Path

import pytest

PAPER = """\
---
title: Busy bees need rest, too
author: [Walter Kaiser]
date: 1988
doi: 10.1000/bees
---

# Introduction

Honeybees are known for their work on flowers in the summer.
Little is known about what they do when it is dark.
It was said that “bees never rest and work through all the hours of the night” (Doe, 1950).

# Methods

We filmed 40 foragers of one hive in the dark for ten days.
Antennae were marked with paint, and the temperature of the thorax was measured.

# Results

Foraging honeybees sleep at night and hang their antennae low.
During sleep the temperature of the thorax fell by 7.7 % against the day.
The number of movements was reduced to a third of that at noon.

# Discussion

Sleep of insects is therefore like that of mammals in many ways.

# References

Doe, J. (1950). On the work of bees through all hours of the night. Bee Journal 3, 1-9.
"""
DRAFT = """\
---
title: A draft
references:
- {id: kaiser, title: "Busy bees need rest, too", author: [{family: Kaiser}], issued: 1988, DOI: 10.1000/bees}
- {id: roe, title: A paper that nobody has at hand here, author: [{family: Roe, given: R.}], issued: 2001}
---

# Introduction

Honeybees that forage sleep at night [@kaiser].
The thorax cools by 77 % during the sleep of bees [@kaiser], whereas ants never sleep at all in the dry season [@roe].
Wasps are social insects [@nobody].
"""


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    path = folder / "bees.md"
    path.write_text(PAPER, "utf-8")
    return path


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    path = tmp_path / "draft.md"
    path.write_text(DRAFT, "utf-8")
    return path
