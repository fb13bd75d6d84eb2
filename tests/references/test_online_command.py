"""`whycite references --online`: what it says beforehand, what it sends, and what it does when services fail."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from tests.references.conftest import Failure, LocalServices

BIBLIOGRAPHY = """\
@article{bees, title = {Busy bees need rest, too}, author = {Kaiser, Walter}, journal = {J. Comp. Physiol. A},
  year = 1988}
@misc{attention, title = {Attention is all you need}, author = {Smith, Ann and Shazeer, Noam}, year = 2017,
  eprint = {1706.03762}, archiveprefix = {arXiv}}
"""


@pytest.fixture
def bibliography(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local_services: LocalServices) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("WHYCITE_OPENALEX_KEY", raising=False)
    local_services.answers["crossref/works"] = "crossref-search.json"
    local_services.answers["datacite/dois/10.48550/arxiv.1706.03762"] = "datacite-arxiv.json"
    file = tmp_path / "refs.bib"
    file.write_text(BIBLIOGRAPHY, "utf-8")
    return file


def test_references_online(run: Callable[..., Result], bibliography: Path, local_services: LocalServices) -> None:
    (bibliography.parent / ".whycite.toml").write_text('contact = "me@example.org"', "utf-8")
    result = run("references", "refs.bib", "--online", "--json")
    assert "Sending the identifiers and titles of 2 references to Crossref, DataCite, doi.org, arXiv" in result.stderr
    assert "with your address me@example.org" in result.stderr
    assert "OpenAlex" not in result.stderr  # without a key
    bees, attention = json.loads(result.stdout)["references"]
    assert (bees["verdict"], bees["sources"], bees["problems"][0]["rule"]) == ("confirmed", ["Crossref"], "missing-doi")
    assert (attention["verdict"], attention["problems"][0]["rule"]) == ("differs", "author-differs")
    number = len(local_services.asked)
    assert run("references", "refs.bib", "--online", "--json").stdout == result.stdout
    assert len(local_services.asked) == number  # the second time nothing is sent


def test_fix_online(run: Callable[..., Result], bibliography: Path) -> None:
    result = run("references", "refs.bib", "--online", "--fix", "--yes")
    assert "Services prefer to know whom to write to" in result.stderr
    assert "year = 1988,\n  doi = {10.1007/bf00603841}}" in bibliography.read_text("utf-8")


def test_services_that_fail_are_named(
    run: Callable[..., Result], bibliography: Path, local_services: LocalServices
) -> None:
    page = Failure(200, b"<html>Please log in</html>")
    names = ("crossref", "datacite", "europepmc", "semanticscholar", "arxiv")
    local_services.failures = {name: [page] * 9 for name in names}
    result = run("references", "refs.bib", "--online", "--json")
    assert result.exit_code == 0
    assert "warning: Crossref answered with something else than JSON; what it would know is missing" in result.stderr
    assert {reference["verdict"] for reference in json.loads(result.stdout)["references"]} == {"unknown"}


def test_nothing_is_sent_without_the_option(
    run: Callable[..., Result], bibliography: Path, local_services: LocalServices
) -> None:
    run("references", "refs.bib")
    assert local_services.asked == []


def test_a_doi_of_another_journal_is_told_but_not_written(run: Callable[..., Result], bibliography: Path) -> None:
    bibliography.write_text(BIBLIOGRAPHY.replace("J. Comp. Physiol. A", "Nature Medicine"), "utf-8")
    result = run("references", "refs.bib", "--online")
    assert "the DOI may be 10.1007/bf00603841 of “Journal of Comparative Physiology A”" in result.stdout
    run("references", "refs.bib", "--online", "--fix", "--yes")
    assert "bf00603841" not in bibliography.read_text("utf-8")
