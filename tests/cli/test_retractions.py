"""Retracted papers, as a user meets them: an article and its notice in the library, or the list of Retraction Watch."""

import csv
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from typer.testing import Result

from tests import wordfiles
from tests.wordfiles import docx, paragraph, zotero_field
from whycite.documents.model import Reference
from whycite.library import Library, add, remove

Run = Callable[..., Result]

COLUMNS = (
    "Record ID,Title,Subject,Institution,Journal,Publisher,Country,Author,URLS,ArticleType,RetractionDate,"
    "RetractionDOI,RetractionPubMedID,OriginalPaperDate,OriginalPaperDOI,OriginalPaperPubMedID,RetractionNature,Reason,"
    "Paywalled,Notes"
).split(",")
CLAIM = "Honeybees that forage sleep at night."
DRAFT = """\\documentclass{article}
\\begin{document}
\\section{Introduction}
Foraging bees sleep at night~\\cite{bad}.
Bees were counted in our own hives~\\cite{good}.
\\bibliography{refs}
\\end{document}
"""
BIB = """@article{bad, title = {Honeybees that forage sleep at night}, author = {Doe, J.}, year = 2013,
 journal = {Bees}, doi = {10.1000/bad}}
@article{good, title = {How to count bees in a hive}, author = {Roe, R.}, year = 2001, journal = {Bees},
 doi = {10.1000/good}}
"""


def _article(
    doi: str, title: str, body: str = "", type: str = "research-article", meta: str = "", refs: str = ""
) -> str:
    return (
        f'<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="{type}"><front><journal-meta>'
        "<journal-title>PLOS Bees</journal-title></journal-meta><article-meta>"
        f'<article-id pub-id-type="doi">{doi}</article-id>'
        f"<title-group><article-title>{title}</article-title></title-group><pub-date><day>19</day><month>10</month>"
        f"<year>2015</year></pub-date>{meta}</article-meta></front><body><p>{body}</p></body>"
        f"<back><ref-list>{refs}</ref-list></back></article>"
    )


def _entry(id: str, doi: str, title: str) -> str:
    return (
        f'<ref id="{id}"><element-citation publication-type="journal"><article-title>{title}</article-title>'
        f'<source>Bees</source><year>2013</year><pub-id pub-id-type="doi">{doi}</pub-id></element-citation></ref>'
    )


def _cite(*ids: str) -> str:
    return "".join(f' <xref ref-type="bibr" rid="{id}">{id}</xref>' for id in ids)


NOTICE = _article(
    "10.1000/notice", "Retraction: Honeybees that forage sleep at night", "The data on sleeping bees were made up.",
    type="retraction",
    meta='<related-article related-article-type="retracted-article" ext-link-type="uri" '
    'xlink:href="info:doi/10.1000/bad"/>',
)  # fmt: skip
ARTICLE = _article(
    "10.1000/bad", "Honeybees that forage sleep at night", "We watched foraging honeybees sleep at night."
)
REVIEW = _article(
    "10.1000/review", "The rest of animals",
    f"Honeybees that forage sleep at night{_cite('B1')}. Honeybees also rest at noon{_cite('B2')}.",
    refs=_entry("B1", "10.1000/bad", "Honeybees that forage sleep at night")
    + _entry("B2", "10.1000/noon", "Foraging honeybees sleep at noon and at night"),
)  # fmt: skip


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    for name, text in {"article": ARTICLE, "notice": NOTICE, "review": REVIEW}.items():
        (folder / f"{name}.xml").write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def libraries(papers: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The retracted article and a review that cites it, with the notice ("all") and without it ("unaware")."""
    folder = tmp_path_factory.mktemp("libraries")
    assert add(folder / "unaware", [papers / "article.xml", papers / "review.xml"], jobs=1).added == 2
    shutil.copytree(folder / "unaware", folder / "all")
    assert add(folder / "all", [papers], jobs=1).added == 1
    return folder


@pytest.fixture
def library(libraries: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(libraries / "all", tmp_path / "library"))


@pytest.fixture
def unaware(libraries: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(libraries / "unaware", tmp_path / "library"))


def _row(**fields: str) -> dict[str, str]:
    row = dict.fromkeys(COLUMNS, "") | {
        "Record ID": "1",
        "Title": "Honeybees that forage sleep at night",
        "RetractionDate": "3/4/2016 0:00",
        "RetractionDOI": "10.1000/other-notice",
        "OriginalPaperDate": "1/1/2013 0:00",
        "OriginalPaperDOI": "10.1000/BAD",
        "OriginalPaperPubMedID": "0",
        "RetractionNature": "Retraction",
        "Reason": "+Falsification/Fabrication of Data;+Unreliable Results;",
    }
    return row | fields


@pytest.fixture
def watch_list(tmp_path: Path) -> Callable[..., Path]:
    def write(*rows: dict[str, str]) -> Path:
        with (tmp_path / "retraction_watch.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
        return tmp_path / "retraction_watch.csv"

    return write


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    (tmp_path / "draft").mkdir()
    (tmp_path / "draft" / "refs.bib").write_text(BIB, "utf-8")
    (tmp_path / "draft" / "main.tex").write_text(DRAFT, "utf-8")
    return tmp_path / "draft" / "main.tex"


def _papers(run: Run, library: Path, *options: str) -> dict[str, dict[str, Any]]:
    result = run("cite", CLAIM, "--library", library, "--json", *options)
    assert result.exit_code == 0, result.output
    return {one["paper"]["key"]: one["paper"] for one in json.loads(result.stdout)["recommendations"]}


@pytest.mark.parametrize("method", ["whycite", "ilciter"])
def test_neither_a_retracted_paper_nor_its_notice_is_recommended(run: Run, library: Path, method: str) -> None:
    keys = _papers(run, library, "--method", method)
    assert "doi:10.1000/noon" in keys
    assert not keys.keys() & {"doi:10.1000/bad", "doi:10.1000/notice"}


def test_who_asks_for_retracted_papers_is_told_so(run: Run, library: Path) -> None:
    keys = _papers(run, library, "--include-retracted")
    assert "doi:10.1000/notice" not in keys
    assert keys["doi:10.1000/bad"]["status"] == "retracted"
    assert keys["doi:10.1000/bad"]["notices"] == [
        {"kind": "retraction", "doi": "10.1000/notice", "date": "2015-10-19", "reason": "", "source": "PLOS Bees"}
    ]
    shown = run("cite", CLAIM, "--library", library, "--include-retracted").stdout
    assert "Retracted 2015-10-19 (doi:10.1000/notice, according to PLOS Bees)" in " ".join(shown.split())


@pytest.mark.parametrize("format", ["bibtex", "csl", "ris"])
def test_an_entry_of_a_retracted_paper_says_so(run: Run, library: Path, format: str) -> None:
    options = ("--library", library, "--include-retracted", "--format", format)
    assert run("cite", CLAIM, *options).stdout.count("Retracted, see doi:10.1000/notice") == 1


def test_without_its_notice_the_article_stands(run: Run, library: Path, papers: Path) -> None:
    remove(library, [str(papers / "notice.xml")])
    assert "status" not in _papers(run, library)["doi:10.1000/bad"]


def test_the_list_of_retraction_watch(run: Run, unaware: Path, watch_list: Callable[..., Path]) -> None:
    assert "doi:10.1000/bad" in _papers(run, unaware)
    rows = [
        _row(),
        _row(RetractionNature="Correction", OriginalPaperDOI="10.1000/noon", RetractionDOI="10.1000/noon", Title="?"),
        _row(OriginalPaperDOI="unavailable", Title="?"),
    ]
    result = run("retractions", "import", watch_list(*rows), "--library", unaware)
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    assert said.startswith("Imported 1 retraction, 1 correction; skipped 1 row without an identifiable paper.")
    assert "2 papers in your library are on the list: Honeybees that forage sleep at night" in said
    assert "Retracted 2016-03-04: Falsification/Fabrication of Data, Unreliable Results" in said
    keys = _papers(run, unaware)
    assert "doi:10.1000/bad" not in keys
    assert keys["doi:10.1000/noon"]["status"] == "corrected"
    # A later list takes the place of the earlier one.
    later = watch_list(_row(OriginalPaperDOI="10.1000/x", Title="?"))
    assert run("retractions", "import", later, "--library", unaware).exit_code == 0
    assert "doi:10.1000/bad" in _papers(run, unaware)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"RetractionNature": "Expression of concern"}, "concern"),
        ({"RetractionNature": "Reinstatement"}, None),
    ],
    ids=["concern", "reinstatement"],
)
def test_kinds_of_notices(
    run: Run, unaware: Path, watch_list: Callable[..., Path], fields: dict[str, str], status: str | None
) -> None:
    older = _row(RetractionDate="1/1/2014 0:00") if fields == {"RetractionNature": "Reinstatement"} else None
    file = watch_list(*filter(None, [older, _row(**fields)]))
    assert run("retractions", "import", file, "--library", unaware).exit_code == 0
    assert _papers(run, unaware)["doi:10.1000/bad"].get("status") == status


def test_evidence_from_a_retracted_article_is_marked(run: Run, unaware: Path, watch_list: Callable[..., Path]) -> None:
    claim = "Honeybees also rest at noon."

    def evidence() -> tuple[dict[str, Any], str]:
        answer = json.loads(run("cite", claim, "--library", unaware, "--json").stdout)
        [paper] = [one for one in answer["recommendations"] if one["paper"]["key"] == "doi:10.1000/noon"]
        return paper["evidence"][0]["source"], " ".join(run("cite", claim, "--library", unaware).stdout.split())

    source, shown = evidence()
    assert "status" not in source
    assert "— The rest of animals (2015)" in shown
    rows = watch_list(_row(OriginalPaperDOI="10.1000/review", Title="The rest of animals"))
    assert run("retractions", "import", rows, "--library", unaware).exit_code == 0
    source, shown = evidence()
    assert source["status"] == "retracted"
    assert "— The rest of animals (2015, retracted)" in shown


def test_a_file_that_is_not_the_list(run: Run, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", "utf-8")
    result = run("retractions", "import", tmp_path / "other.csv")
    assert "not the list of Retraction Watch (no column Title)" in str(result.exception)
    (tmp_path / "none.csv").write_text("\n", "utf-8")
    assert "none.csv: the file is empty" in str(run("retractions", "import", tmp_path / "none.csv").exception)


def test_a_list_with_fewer_columns_and_a_row_that_is_cut_off(run: Run, unaware: Path, tmp_path: Path) -> None:
    columns = "OriginalPaperDOI,RetractionNature,RetractionDOI,RetractionDate,OriginalPaperPubMedID,Title\n"
    rows = "10.1000/BAD,Retraction,10.1000/notice,3/4/2016 0:00\n\n10.1000/noon,Correction,,,0,Some title,more,cells\n"
    (tmp_path / "list.csv").write_text(columns + rows, "utf-8")
    assert run("retractions", "import", tmp_path / "list.csv", "--library", unaware).exit_code == 0
    papers = _papers(run, unaware, "--include-retracted")
    assert {key: papers[f"doi:10.1000/{key}"].get("status") for key in ("bad", "noon")} == {
        "bad": "retracted",
        "noon": "corrected",
    }


def test_a_draft_that_cites_a_retracted_paper(run: Run, library: Path, draft: Path) -> None:
    result = run("check", draft, "--library", library, "--fail-on", "retracted")
    assert result.exit_code == 1, result.output
    said = " ".join(result.stdout.split())
    assert "main.tex:4:1: cites a retracted paper Foraging bees sleep at night" in said
    assert "bad: Retracted 2015-10-19 (doi:10.1000/notice, according to PLOS Bees)" in said
    assert "The draft cites 1 retracted paper." in said
    [finding] = [f for f in _findings(run, library, draft) if f["cites"] == ["bad"]]
    assert finding["kind"] == "cited"
    assert finding["problems"] == [
        {
            "rule": "retracted",
            "key": "bad",
            "message": "Retracted 2015-10-19 (doi:10.1000/notice, according to PLOS Bees)",
        }
    ]


def _findings(run: Run, library: Path, draft: Path) -> list[dict[str, Any]]:
    result = run("check", draft, "--library", library, "--json")
    assert result.exit_code == 0, result.output
    findings: list[dict[str, Any]] = json.loads(result.stdout)["findings"]
    return findings


def test_every_report_tells_it(run: Run, library: Path, draft: Path) -> None:
    github = run("check", draft, "--library", library, "--format", "github").stdout
    assert "::error file=" in github
    assert "title=whycite%3A cites a retracted paper" in github
    sarif = json.loads(run("check", draft, "--library", library, "--format", "sarif").stdout)
    assert [(r["ruleId"], r["level"]) for r in sarif["runs"][0]["results"]] == [("retracted", "error")]
    assert "Retracted 2015-10-19" in run("check", draft, "--library", library, "--format", "html").stdout


def test_comments_in_word_tell_it(run: Run, library: Path, tmp_path: Path, judged_by_words: None) -> None:
    paper = Reference("bad", "Honeybees that forage sleep at night", ("Doe, J.",), 2013, "Bees", doi="10.1000/bad")
    text = paragraph(
        wordfiles.run("Foraging bees sleep at night "), zotero_field([paper], "(Doe 2013)"), wordfiles.run(".")
    )
    draft = tmp_path / "draft.docx"
    draft.write_bytes(docx(text))
    commands = (("check", draft, "--fix", "--yes"), ("verify", draft, "--format", "docx"))
    for arguments in commands:
        result = run(*arguments, "--out", tmp_path / "commented.docx", "--library", library)
        assert result.exit_code == 0, result.output
        with ZipFile(tmp_path / "commented.docx") as archive:
            assert "Retracted 2015-10-19" in archive.read("word/comments.xml").decode()
        (tmp_path / "commented.docx").unlink()


def test_the_rule_can_be_ignored(run: Run, library: Path, draft: Path) -> None:
    draft.write_text(DRAFT.replace("\\cite{bad}.", "\\cite{bad}. % whycite: ignore[retracted]"), "utf-8")
    assert not any("problems" in finding for finding in _findings(run, library, draft))


def test_the_list_alone_is_enough_for_a_draft(run: Run, draft: Path, watch_list: Callable[..., Path]) -> None:
    """Without any library, and for entries without identifiers by title and year."""
    title = "Honeybees that forage sleep at night but rarely in the rain of May"
    draft.with_name("refs.bib").write_text(
        f"@article{{bad, title = {{{title}}}, author = {{Doe, J.}}, year = 2013, journal = {{Bees}}}}", "utf-8"
    )
    assert run("retractions", "import", watch_list(_row(Title=title, Author="Jane Doe;Rita Roe"))).exit_code == 0
    result = run("check", draft)
    assert "cites a retracted paper" in result.stdout


@pytest.mark.parametrize("mark", ["note = {Retracted in 2015}", "title = {RETRACTED: Sleep of bees}"])
def test_the_bibliography_itself_says_so(run: Run, draft: Path, mark: str) -> None:
    draft.with_name("refs.bib").write_text(f"@article{{bad, {mark}, author = {{Doe, J.}}, year = 2013}}", "utf-8")
    assert "cites a retracted paper" in run("check", draft, "--no-library").stdout


def test_verify_says_so(run: Run, library: Path, draft: Path, papers: Path, judged_by_words: None) -> None:
    said = "Retracted 2015-10-19 (doi:10.1000/notice, according to PLOS Bees)"
    text = run("verify", draft, "--library", library)
    assert text.exit_code == 0, text.exception
    assert said in " ".join(text.stdout.split())
    lines = [json.loads(line) for line in run("verify", draft, "--library", library, "--json").stdout.splitlines()]
    assert [line.get("warning") for line in lines] == [said, None]
    for format in ("html", "markdown"):
        out = draft.with_name(f"report.{format}")
        assert run("verify", draft, "--library", library, "--format", format, "--out", out).exit_code == 0
        assert "Retracted 2015" in out.read_text("utf-8")


def test_commands_that_show_one_paper_say_so(
    run: Run, papers: Path, draft: Path, watch_list: Callable[..., Path], judged_by_words: None
) -> None:
    """By the register beside the user's own library, even if that has no documents."""
    assert run("retractions", "import", watch_list(_row())).exit_code == 0
    said = "Retracted 2016-03-04: Falsification/Fabrication of Data, Unreliable Results"
    assert said in " ".join(run("verify", "--claim", CLAIM, papers / "article.xml").stdout.split())
    assert json.loads(run("verify", "--claim", CLAIM, papers / "article.xml", "--json").stdout)["warning"].startswith(
        said
    )
    assert said in " ".join(run("read", draft).stdout.split())


def test_documents_of_the_library_are_marked(run: Run, library: Path) -> None:
    lines = run("library", "list", "--library", library, "--json").stdout.splitlines()
    assert {entry["key"]: entry["status"] for entry in map(json.loads, lines)} == {
        "doi:10.1000/bad": "retracted",
        "doi:10.1000/notice": "notice",
        "doi:10.1000/review": "",
    }


@pytest.mark.slow
def test_a_list_of_fifty_thousand_rows_takes_seconds(library: Path, watch_list: Callable[..., Path], run: Run) -> None:
    rows = (
        _row(Title=f"The {n}th long title of a paper about the sleep of honeybees", OriginalPaperDOI=f"10.1000/{n}",
             OriginalPaperPubMedID=str(n + 1))
        for n in range(50_000)
    )  # fmt: skip
    file = watch_list(*rows)
    started = time.process_time()  # whatever else runs on the machine
    assert run("retractions", "import", file, "--library", library).exit_code == 0
    assert time.process_time() - started < 5
    assert Library.open(library).info().papers


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    ("first", "second", "date"),
    [
        ("2/1/2020", "2/14/2020", "2020-02-01"),
        ("1/2/2020", "14/2/2020", "2020-02-01"),
        ("01.02.2020", "14.02.2020 00:00", "2020-02-01"),
        ("1-2-2020", "14-2-2020", "2020-02-01"),
        ("13/13/2020", "2/3/2020", ""),
    ],
    ids=["month first", "day first", "with dots", "with hyphens", "neither"],
)
def test_a_list_that_a_spreadsheet_saved(
    run: Run, unaware: Path, tmp_path: Path, delimiter: str, first: str, second: str, date: str
) -> None:
    header = "Title,RetractionDate,RetractionDOI,OriginalPaperDOI,OriginalPaperPubMedID,RetractionNature".split(",")
    rows = [["x", first, "", "10.1000/bad", "0", "Retraction"], ["y", second, "", "10.1000/y", "0", "Correction"]]
    saved = tmp_path / "saved.csv"
    saved.write_text("".join(f"{delimiter.join(row)}\r\n" for row in (header, *rows)), "utf-8")
    result = run("retractions", "import", saved, "--library", unaware)
    assert "Imported 1 retraction, 1 correction." in result.stdout
    shown = f"Retracted {date} (" if date else "Retracted ("
    assert shown in result.stdout
