"""Papers that can end the process that reads them, and processes that can be ended so."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

__all__ = ["start_mortal", "write_papers"]

PAPER = """\
---
title: Report number {number} about growth of cells in cold ponds
year: 2020
references:
- {{id: a, title: Observations number {work} of the growth of cells in ponds, issued: 2001}}
- {{id: b, title: Observations number {next} of the growth of cells in ponds, issued: 2002}}
---
Cells of kind {number} grow in the “ponds” [@a]. It was “seen” {number} times that cells {word} [@b].
"""


def write_papers(folder: Path, number: int) -> Path:
    """Papers in five folders, which cite each other's works."""
    for paper in range(number):
        text = PAPER.format(number=paper, work=paper, next=paper + 1, word="sleep")
        (folder / f"{paper % 5}").mkdir(parents=True, exist_ok=True)
        (folder / f"{paper % 5}" / f"paper{paper}.md").write_text(text)
    return folder


def _become_mortal() -> None:
    """Make the processes of a cluster end at a document that says so, and sleep at another."""
    from whycite.library import cluster

    names = vars(cluster)
    extract = names["extract"]

    def extract_or_die(document: Any) -> Any:
        text = " ".join(sentence.text for sentence in document.sentences)
        if "POISON" in text:
            os._exit(1)
        if "SLOW" in text:
            time.sleep(0.2)
        return extract(document)

    names["extract"] = extract_or_die


def start_mortal(**options: Any) -> Any:
    """Ray, connected to a cluster whose processes can be ended."""
    ray = pytest.importorskip("ray")
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the processes do not find the tests
    environment = {"worker_process_setup_hook": _become_mortal}
    for attempt in range(4):
        try:
            ray.init(log_to_driver=False, runtime_env=environment, **options)
            break
        except Exception as error:
            if (
                "timed out during startup" not in str(error) or attempt == 3
            ):  # a busy machine takes more than 30 seconds
                raise
            ray.shutdown()
    return ray
