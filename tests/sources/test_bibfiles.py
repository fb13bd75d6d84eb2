"""Bibliographies that name their files: what the field `file` says, and what `add` makes of it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import Result

from tests.sources.test_zotero import SENTENCE, article
from whycite.sources.bibfiles import bibliography_items, file_paths

Run = Callable[..., Result]


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        (":bees.pdf:PDF", ["bees.pdf"]),  # JabRef
        (r":C\:\\Papers\\bees.pdf:PDF;supplement:two.pdf:PDF", ["C:\\Papers\\bees.pdf", "two.pdf"]),
        (":home/me/Mendeley/bees.pdf:pdf", ["home/me/Mendeley/bees.pdf"]),
        ("Full Text PDF:files/12/bees.pdf:application/pdf", ["files/12/bees.pdf"]),  # Zotero
        ("/home/me/Zotero/storage/ABCD2345/bees.pdf;/home/me/note.html", None),  # Better BibTeX
        (r"C:\Users\me\bees.pdf", [r"C:\Users\me\bees.pdf"]),
        (r":a\_b\;c.pdf:PDF", ["a_b;c.pdf"]),
        ("", []),
    ],
)
def test_files_of_a_field(value: str, paths: list[str] | None) -> None:
    assert file_paths(value) == (value.split(";") if paths is None else paths)


@given(st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1), min_size=1))
def test_paths_that_jabref_escapes_come_back(paths: list[str]) -> None:
    def escape(text: str) -> str:
        return "".join(f"\\{sign}" if sign in "\\:;" else sign for sign in text)

    paths = [path.replace("$", "S") for path in paths]  # TeX
    assert file_paths(";".join(f":{escape(path)}:PDF" for path in paths)) == paths


@given(st.text())
def test_any_value_is_read(value: str) -> None:
    assert all(path.strip() == path for path in file_paths(value))


def test_add_a_bibliography_with_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "files" / "1").mkdir(parents=True)
    (tmp_path / "files" / "1" / "bees.pdf").write_bytes(article(SENTENCE))
    (tmp_path / "jabref").mkdir()
    (tmp_path / "jabref" / "moths.pdf").write_bytes(article("Moths fly to the moon in the summer nights."))
    file = tmp_path / "refs.bib"
    file.write_text(
        "@article{kaiser, title = {Busy bees need rest, too}, doi = {10.1/bees}, year = 1988,\r\n"
        "  file = {Full Text PDF:files/1/bees.pdf:application/pdf;Snapshot:files/1/page.html:text/html}}\r\n"
        "@article{moths, title = {On moths and the moon}, doi = {10.1/moths}, file = {:moths.pdf:PDF}}\r\n"
        "@article{wasps, title = {On wasps and the night}, doi = {10.1/wasps}, file = {:lost.pdf:PDF}}\r\n"
        "@comment{jabref-meta: fileDirectory:jabref;}\r\n",
        "utf-8",
    )
    first = json.loads(run("add", file, "--jobs", "1", "--json").stdout)
    assert (first["added"], first["unchanged"], first["skipped"]) == (3, 0, [])
    assert [warning["warning"] for warning in first["warnings"]] == [
        f"{file}: 'wasps' names lost.pdf, which was not found"
    ]
    answer = json.loads(run("cite", "Honeybees sleep in the hive at night.", "--json").stdout)["recommendations"][0]
    assert (answer["paper"]["citation_key"], answer["passages"][0]["text"]) == ("kaiser", SENTENCE)
    assert "@misc{wasps," in run("cite", "wasps and the night", "--format", "bibtex").stdout
    again = json.loads(run("add", file, "--jobs", "1", "--json").stdout)
    assert (again["added"], again["unchanged"]) == (0, 3)


def test_a_bibliography_without_files_is_added_as_before(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "refs.bib"
    file.write_text(
        "@article{a, title = {Busy bees need rest, too}, doi = {10.1/bees}, file = {:lost.pdf:PDF}}", "utf-8"
    )
    assert bibliography_items(file) == []
    assert json.loads(run("add", file, "--jobs", "1", "--json").stdout)["added"] == 1


def test_mendeley_writes_the_signs_of_a_path_as_tex(tmp_path: Path) -> None:
    paper = tmp_path / "Müller & Söhne" / "bees_1.pdf"
    paper.parent.mkdir()
    paper.write_bytes(article(SENTENCE))
    written = str(tmp_path).lstrip("/").replace("_", "{\\_}") + '/M{\\"{u}}ller {\\&} S{\\"{o}}hne/bees{\\_}1.pdf'
    file = tmp_path / "refs.bib"
    file.write_text(f"@article{{a, title = {{Busy bees}}, file = {{:{written}:pdf}}}}", "utf-8")
    [item] = bibliography_items(file)
    assert item.files == (paper,)
    assert item.warnings == ()


def test_a_folder_of_endnote_or_papers(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "My library.Data"
    (data / "PDF" / "0123456789").mkdir(parents=True)
    (data / "sdb").mkdir()
    (data / "sdb" / "sdb.eni").write_bytes(b"SQLite format 3\0")
    (data / "PDF" / "0123456789" / "Kaiser-1988-Busy bees.pdf").write_bytes(article(SENTENCE))
    report = json.loads(run("add", data, "--jobs", "1", "--json").stdout)
    assert (report["added"], report["skipped"]) == (1, [])
