"""`whycite library` as a user runs it."""

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest
from rich.console import Console
from typer.testing import Result

from whycite.errors import UserError

Run = Callable[..., Result]


@pytest.fixture
def copy(library: Path, tmp_path: Path) -> Path:
    """A library that a test may change."""
    return copytree(library, tmp_path / "copy")


@pytest.mark.parametrize("arguments", [["library"], ["library", "info"]], ids=" ".join)
def test_info_says_how_much_there_is_and_where(run: Run, library: Path, arguments: list[str]) -> None:
    shown = run(*arguments, "--library", library).stdout
    rows = dict(line.split(maxsplit=1) for line in shown.splitlines())
    assert rows["library"] == str(library)
    assert (rows["documents"], rows["papers"]) == ("2", "5")
    assert rows["size"].endswith("B")
    content = json.loads(run(*arguments, "--library", library, "--json").stdout)
    assert content["documents"] == 2
    assert content["citations"] == int(rows["citations"])
    assert set(content) == {
        "path", "documents", "papers", "spans", "citations", "bytes", "encoder", "version", "schema", "changed"
    }  # fmt: skip


def test_check_names_what_is_damaged_and_mends_it(run: Run, copy: Path) -> None:
    sound = run("library", "check", "--library", copy)
    assert sound.exit_code == 0
    assert "are as they were written; state " in sound.stdout
    heap = next((copy / "reading").glob("spans-*.heap"))
    content = bytearray(heap.read_bytes())
    content[5] ^= 1
    heap.write_bytes(content)
    damaged = run("library", "check", "--library", copy)
    assert damaged.exit_code == 1
    assert damaged.stdout.splitlines() == [
        f"damaged: reading/{heap.name}; mend it with: whycite library check --repair",
        "1 damaged file.",
    ]
    repaired = json.loads(run("library", "check", "--repair", "--library", copy, "--json").stdout)
    assert repaired["sound"]
    assert repaired["damage"] == [{"file": f"reading/{heap.name}", "kind": "copy", "repaired": True}]
    assert run("library", "check", "--library", copy).exit_code == 0


def test_the_library_may_be_named_before_the_command(run: Run, library: Path) -> None:
    assert run("library", "--library", library, "list").stdout == run("library", "list", "--library", library).stdout


def test_list_has_a_line_a_document(run: Run, library: Path, papers: Path) -> None:
    lines = [line.split("\t") for line in run("library", "list", "--library", library).stdout.splitlines()]
    assert [line[2:] for line in lines] == [
        ["2021", "Language models in a nutshell", str(papers / "attention.md")],
        ["2023", "How bees rest", str(papers / "sleep.md")],
    ]
    entries = [json.loads(line) for line in run("library", "list", "--library", library, "--json").stdout.splitlines()]
    assert [[str(entry["id"]), entry["key"]] for entry in entries] == [line[:2] for line in lines]
    assert {"id", "key", "title", "year", "path", "format", "added", "content_hash"} <= set(entries[0])


@pytest.mark.parametrize("width", [30, 60, 120])
def test_list_fits_a_terminal(run: Run, library: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    def terminal(**options: object) -> Console:
        return Console(force_terminal=True, color_system=None, width=width)

    monkeypatch.setattr("rich.console.Console", terminal)
    lines = run("library", "list", "--library", library).stdout.splitlines()
    assert len(lines) == 2
    assert all(len(line) <= width for line in lines)
    assert lines[1].startswith("2023  How bees")


def test_list_names_what_has_no_title_and_counts_records(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [
        {"paper_id": str(number), "title": "", "body_text": [{"text": f"Bees {number}."}]} for number in range(11)
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, records)), "utf-8")
    assert run("add", tmp_path / "x.jsonl", "--jobs", "1").exit_code == 0
    paths = [json.loads(line)["path"] for line in run("library", "list", "--json").stdout.splitlines()]
    assert paths == [f"{tmp_path}/x.jsonl:{number}" for number in range(1, 12)]

    def terminal(**options: object) -> Console:
        return Console(force_terminal=True, color_system=None, width=100)

    monkeypatch.setattr("rich.console.Console", terminal)
    assert all(line.split()[:2] == ["(no", "title)"] for line in run("library", "list").stdout.splitlines())
    assert run("library", "remove", f"{tmp_path}/x.jsonl:2").stdout.split()[:3] == ["removed", "(no", "title)"]


@pytest.mark.parametrize("by", ["key", "path", "id"])
def test_remove_takes_keys_paths_and_ids(run: Run, copy: Path, papers: Path, by: str) -> None:
    entries = [json.loads(line) for line in run("library", "list", "--library", copy, "--json").stdout.splitlines()]
    result = run("library", "remove", entries[0][by], "--library", copy)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"removed Language models in a nutshell ({papers / 'attention.md'})",
        "1 document removed.",
    ]
    left = json.loads(run("library", "list", "--library", copy, "--json").stdout)
    assert left["title"] == "How bees rest"


def test_remove_tells_programs_what_is_gone(run: Run, copy: Path, papers: Path) -> None:
    both = [papers / "attention.md", papers / "sleep.md"]
    content = json.loads(run("library", "remove", *both, "--library", copy, "--json").stdout)
    assert [entry["path"] for entry in content["removed"]] == list(map(str, both))
    assert run("library", "list", "--library", copy).stdout == ""


def test_remove_of_what_is_not_there_removes_nothing(run: Run, copy: Path, papers: Path) -> None:
    result = run("library", "remove", papers / "sleep.md", "gone.pdf", "--library", copy)
    assert isinstance(result.exception, UserError)
    assert "gone.pdf" in str(result.exception)
    assert len(run("library", "list", "--library", copy).stdout.splitlines()) == 2


def test_compact_tells_the_size_before_and_after(run: Run, copy: Path) -> None:
    content = json.loads(run("library", "compact", "--library", copy, "--json").stdout)
    assert content.keys() == {"before", "after"}
    assert all(number > 0 for number in content.values())
    assert run("library", "compact", "--library", copy).stdout.strip().endswith("after.")


def test_compact_that_makes_it_larger_says_why(run: Run, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whycite.library.compact", lambda path: (1_000, 2_000))
    shown = run("library", "compact", "--library", copy).stdout
    assert shown.endswith("2.0 kB after; the old files, which may still be in use, are deleted later.\n")


def test_export_in_ilciters_form(run: Run, library: Path, tmp_path: Path) -> None:
    spans = [json.loads(line) for line in run("library", "export", "--library", library).stdout.splitlines()]
    assert all(span.keys() == {"span", "papers"} for span in spans)
    found = {paper["key"]: paper for span in spans for paper in span["papers"]}
    assert found["doi:10.1000/attention"] == {
        "key": "doi:10.1000/attention",
        "title": "Attention Is All You Need",
        "year": 2017,
        "authors": ["Vaswani, Ashish", "Shazeer, Noam", "Parmar, Niki"],
        "support": 1,
    }
    result = run("library", "export", "--library", library, "-o", tmp_path / "spans.jsonl")
    assert result.stdout == f"Exported {len(spans)} spans to {tmp_path / 'spans.jsonl'}.\n"
    assert list(map(json.loads, (tmp_path / "spans.jsonl").read_text("utf-8").splitlines())) == spans


def test_export_as_trec_documents(run: Run, library: Path, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    (tmp_path / "spans.trec").symlink_to(tmp_path / "old")
    arguments = ["library", "export", "--format", "trec", "--library", library]
    report = json.loads(run(*arguments, "-o", tmp_path / "spans.trec", "--json").stdout)
    written = (tmp_path / "spans.trec").read_text("utf-8")
    assert (tmp_path / "spans.trec").is_symlink()
    assert written == run(*arguments).stdout
    documents = ElementTree.fromstring(f"<all>{written}</all>").findall("DOC")
    assert report == {"path": str(tmp_path / "spans.trec"), "format": "trec", "spans": len(documents)}
    assert any("Honeybees that forage sleep" in (document.findtext("TEXT") or "") for document in documents)
    assert len({document.findtext("DOCNO") for document in documents}) == len(documents)


def test_export_to_where_nothing_can_be_written(run: Run, library: Path, tmp_path: Path) -> None:
    result = run("library", "export", "--library", library, "-o", tmp_path / "gone" / "spans.jsonl")
    assert isinstance(result.exception, UserError)
    assert str(result.exception).startswith(f"{tmp_path}/gone/spans.jsonl: cannot be written: ")
    assert isinstance(run("library", "export", "--format", "trec", "--json").exception, UserError)


@pytest.mark.parametrize("command", ["info", "list", "remove x", "compact", "export"])
def test_without_a_library_the_user_is_told_how_to_make_one(run: Run, command: str) -> None:
    result = run("library", *command.split())
    assert isinstance(result.exception, UserError)
    assert "whycite add FOLDER" in str(result.exception)
