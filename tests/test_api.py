"""The public API, as a notebook uses it."""

import inspect
from pathlib import Path

import pytest

import whycite
from whycite.cite.recommendations import Claim
from whycite.errors import UserError
from whycite.library import add

_PAPER = """---
title: How bees rest
year: 2023
references:
- {id: kaiser, title: "Busy bees need rest, too", author: [{family: Kaiser, given: Walter}], issued: 1988}
---
Honeybees that forage sleep at night and hang their antennae [@kaiser].
"""


def test_cite_from_python(tmp_path: Path) -> None:
    paper = tmp_path / "bees.md"
    paper.write_text(_PAPER, encoding="utf-8")
    add(tmp_path / "library", [paper], jobs=1)
    library = whycite.Library.open(tmp_path / "library")
    (best,) = whycite.cite("Even busy bees sleep at night.", library, n=1)
    assert best.paper.title == "Busy bees need rest, too"
    assert [found.sentence for found in best.evidence] == [
        "Honeybees that forage sleep at night and hang their antennae (Kaiser 1988)."
    ]
    assert best.evidence[0].source.title == "How bees rest"
    assert whycite.cite(Claim("Even busy bees sleep at night.", year=1980), tmp_path / "library") == []


def test_no_library(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="whycite add"):
        whycite.cite("Bees sleep.", tmp_path / "none")


@pytest.mark.parametrize("name", ["read", "cite", "check", "verify"])
def test_functions_that_editors_and_help_can_show(name: str) -> None:
    function = getattr(whycite, name)
    assert inspect.isfunction(function)
    assert inspect.getdoc(function)
    parameters = inspect.signature(function).parameters.values()
    assert all(parameter.annotation is not parameter.empty for parameter in parameters)
    assert not any(parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) for parameter in parameters)
    assert len(list(parameters)) >= 2


def test_functions_stay_functions_when_their_packages_are_imported() -> None:
    import whycite.check.pipeline
    import whycite.cite.recommendations
    import whycite.verify.claims

    assert all(inspect.isfunction(function) for function in (whycite.check, whycite.cite, whycite.verify))


def test_names() -> None:
    assert set(whycite.__all__) == {"Library", "check", "cite", "read", "verify"}
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = whycite.nonsense


def test_check_and_verify_from_python(tmp_path: Path) -> None:
    paper = tmp_path / "bees.md"
    paper.write_text(_PAPER, encoding="utf-8")
    checked = whycite.check(paper, use_library=False)
    assert [finding.kind for finding in checked.findings] == ["cited"]
    found = whycite.verify("Honeybees that forage sleep at night.", paper)
    assert found.passages[0].text.startswith("Honeybees that forage sleep")
