"""`whycite demo`, on a stand-in for the package with the articles."""

import json
import sys
from collections.abc import Callable
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import Result

from whycite.cite.fit import BAR
from whycite.cli.demo import CLAIMS, VERIFIED_CLAIM, shell_command
from whycite.demo import articles, licences
from whycite.errors import UserError

Run = Callable[..., Result]
pytestmark = pytest.mark.usefixtures("no_network")

ARTICLE = """<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>
<title-group><article-title>{title}</article-title></title-group><pub-date><year>2013</year></pub-date>
<permissions><license><license-p>{licence}</license-p></license></permissions>
</article-meta></front><body><sec><title>Introduction</title>
<p>{claim} <xref ref-type="bibr" rid="r1">1</xref>.</p></sec></body>
<back><ref-list><ref id="r1"><element-citation><person-group person-group-type="author"><name>
<surname>Doe</surname><given-names>J</given-names></name></person-group><article-title>What is known of it: {title}
</article-title><year>2001</year></element-citation></ref></ref-list></back></article>"""
LICENCES = (
    "distributed under the terms of the Creative Commons\n Attribution License, which permits use",
    "This article is free of all copyright",
    "This is an Open Access article in the spirit of openness",
)


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of that name, which must not be imported, with an article for each claim."""
    folder = tmp_path / "packages" / "allofplos" / "starter_corpus"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise RuntimeError('imported')")
    for number, (claim, licence) in enumerate(zip(CLAIMS, LICENCES, strict=True)):
        article = ARTICLE.format(title=f"A long study of matter number {number}", licence=licence, claim=claim[:-1])
        (folder / f"{number}.xml").write_text(article, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0}, raising=False)  # to start no processes
    return folder


def test_the_articles_are_found_without_importing_their_package(corpus: Path) -> None:
    assert articles() == sorted(corpus.glob("*.xml"))
    assert "allofplos" not in sys.modules
    assert licences(articles()) == {"CC BY": 1, "public domain": 1, "other open access": 1}


def test_it_shows_papers_with_evidence_and_is_quick_the_second_time(run: Run, corpus: Path, tmp_path: Path) -> None:
    result = run("demo")
    assert result.exit_code == 0, (result.output, result.exception)
    shown = result.stdout
    assert "3 articles of the Public Library of Science" in shown
    assert "Licences: 1 CC BY, 1 public domain, 1 other open access." in shown
    assert "3 added, 0 unchanged" in shown
    for claim in CLAIMS:
        assert f'whycite cite "{claim}" -n 2' in shown
        assert f"“{claim[:-1]}" in shown
    assert "whycite add FOLDER" in shown
    assert "is a clear match for this claim" not in shown
    assert str(tmp_path / "cache" / "demo-") in shown
    assert not (tmp_path / "own library").exists()
    again = run("demo").stdout
    assert "3 documents added by an earlier run." in again
    assert " added, " not in again
    assert "seminar.tex" in shown
    assert "need a citation" in shown
    assert f'whycite verify --claim "{VERIFIED_CLAIM}"' in shown
    *found, checked, verified = [json.loads(line) for line in run("demo", "--json").stdout.splitlines()]
    assert [answer["text"] for answer in found] == list(CLAIMS)
    assert all(answer["recommendations"][0]["evidence"] and answer["fits"] >= BAR for answer in found)
    assert [each["cites"] for each in checked["findings"] if each["kind"] == "cited"] == [["oliver2013"]]
    assert verified["claim"] == VERIFIED_CLAIM


@pytest.mark.parametrize(
    ("on_path", "here", "expected"),
    [
        (True, ".", "whycite"),
        (False, ".", "'a b/bin/whycite'"),
        (False, "a b/bin", "'{home}/a b/bin/whycite'"),
        (False, "elsewhere", "'{home}/a b/bin/whycite'"),
    ],
    ids=["on PATH", "above", "beside", "elsewhere"],
)
def test_what_to_type_next_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_path: bool, here: str, expected: str
) -> None:
    folder = tmp_path / "a b" / "bin"
    folder.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (folder / "whycite").touch(0o755)
    monkeypatch.setattr("sys.executable", str(folder / "python"))
    monkeypatch.setenv("PATH", str(folder if on_path else tmp_path))
    monkeypatch.chdir(tmp_path / here)
    assert shell_command() == expected.format(home=tmp_path)


def test_without_the_articles_it_says_how_to_get_them(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whycite.demo.find_spec", lambda name: None)
    result = run("demo")
    assert isinstance(result.exception, UserError)
    assert str(result.exception).endswith("install it with: pip install --no-deps allofplos==0.11.1")


def test_the_draft_it_points_at_reads_without_warnings(run: Run) -> None:
    with as_file(files("whycite.demo").joinpath("draft.tex")) as draft:
        shown = run("read", draft).stdout
    assert "Which sentence needs a citation?" in shown
    assert "warning" not in shown
    assert "7 citations (7 linked)" in shown


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(find_spec("allofplos") is None, reason="allofplos is not installed")
def test_the_claims_have_evidence_in_the_real_articles(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path))
    *found, checked, verified = [json.loads(line) for line in run("demo", "--json").stdout.splitlines()]
    words = ("killer whale", "honeybee", "dementia")
    for answer, word in zip(found, words, strict=True):
        best = answer["recommendations"][0]
        assert word in best["paper"]["title"].lower()
        assert best["evidence"]
        assert answer["fits"] >= best["fits"] >= BAR
    assert sum(licences(articles()).values()) == 122
    needing = [finding for finding in checked["findings"] if finding["kind"] == "needs-citation"]
    whales = next(finding for finding in needing if "killer whales" in finding["text"])
    assert "killer whale" in whales["recommendations"][0]["paper"]["title"].lower()
    assert not any(finding["doubtful"] for finding in needing)
    assert verified["verdict"] == "backed"
