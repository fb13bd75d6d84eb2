"""A file that was added before: its new content replaces the old, and no other document is lost by that."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from whycite.errors import UserError
from whycite.library import AddReport, Library, add, remove

Put = Callable[..., AddReport]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the drafts of a test are; commands run there."""
    (tmp_path / "drafts").mkdir()
    monkeypatch.chdir(tmp_path / "drafts")
    return (tmp_path / "drafts").resolve()


@pytest.fixture
def put(place: Path, encoder: Any) -> Put:
    """Adds files to the library of the test."""
    return lambda *inputs: add(place, inputs, jobs=1, encoder=encoder)


def _draft(words: str, title: str = "Notes") -> str:
    return f"---\ntitle: {title}\n---\n\n{words} in “ponds” [@a].\n"


def _bib(words: str) -> str:
    return f"@article{{a, title={{{words}}}, author={{Doe, J.}}, year={{2010}}}}\n"


def _held(place: Path) -> list[tuple[str, str]]:
    """Path and id of each document."""
    return [(entry.path, entry.content_hash) for entry in Library.open(place).documents()]


@pytest.mark.parametrize(("name", "write"), [("draft.md", _draft), ("refs.bib", _bib), ("notes.txt", str)])
def test_new_content_replaces_the_old(
    place: Path, folder: Path, put: Put, name: str, write: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / name).write_text(write("Cells grow slowly"))
    assert put(name).added == 1
    (folder / name).write_text(write("Stars shine brightly"))
    (folder / "deeper").mkdir()
    monkeypatch.chdir(folder / "deeper")
    report = put(f"../{name}")
    assert (report.added, report.replaced) == (0, 1)
    assert [path for path, _ in _held(place)] == [str(folder / name)]
    assert put(folder / name).unchanged == 1


def test_a_member_of_an_archive_is_a_file(place: Path, folder: Path, put: Put) -> None:
    for words in ("Cells grow", "Stars shine"):
        with ZipFile("papers.zip", "w") as archive:
            archive.writestr("in/a.md", _draft(words))
            archive.writestr("in/b.md", _draft("Ducks swim"))
        put("papers.zip")
    assert [path for path, _ in _held(place)] == [f"{folder}/papers.zip/in/{name}.md" for name in "ab"]


def _record(words: str) -> str:
    return json.dumps({"paper_id": "", "title": "", "pdf_parse": {"body_text": [{"text": f"{words} in ponds."}]}})


def test_records_are_not_told_by_their_place(place: Path, folder: Path, put: Put) -> None:
    """A record that came in front moves all others down."""
    first, second = _record("Cells grow"), _record("Stars shine")
    Path("r.jsonl").write_text(f"{first}\n{second}\n")
    assert put("r.jsonl").added == 2
    before = {hashed: path for path, hashed in _held(place)}
    Path("r.jsonl").write_text(f"{_record('Ducks swim')}\n{first}\n{second}\n")
    report = put("r.jsonl")
    assert (report.added, report.replaced, report.unchanged) == (1, 0, 2)
    after = {hashed: path for path, hashed in _held(place)}
    assert before.keys() < after.keys()
    assert sorted(after.values()) == [f"{folder}/r.jsonl:{line}" for line in (1, 2, 3)]


@pytest.mark.parametrize("copy", ["a copy.md", "z.md"])
def test_what_another_file_has_now_is_kept(place: Path, folder: Path, put: Put, copy: str) -> None:
    """Whichever of them is met first."""
    draft = Path("draft.md")
    draft.write_text(_draft("Cells grow"))
    put(".")
    [(_, old)] = _held(place)
    draft.rename(copy)
    draft.write_text(_draft("Stars shine"))
    put(".")
    held = _held(place)
    assert len(held) == 2
    assert old in {hashed for _, hashed in held}
    report = put(".")
    assert (report.added, report.replaced, report.unchanged) == (0, 0, 2)
    assert _held(place) == held
    draft.write_text(_draft("Ducks swim"))
    assert put(".").replaced == 1
    assert len(_held(place)) == 2
    assert old in {hashed for _, hashed in _held(place)}


def test_a_moved_file_is_followed(place: Path, folder: Path, put: Put) -> None:
    draft = Path("draft.md")
    draft.write_text(_draft("Cells grow"))
    put("draft.md")
    [(_, old)] = _held(place)
    draft.rename("final.md")
    assert put("final.md").unchanged == 1
    assert _held(place) == [(f"{folder}/final.md", old)]
    draft.write_text(_draft("Stars shine"))
    assert put("draft.md").added == 1
    assert (f"{folder}/final.md", old) in _held(place)
    version = Library.open(place).version
    assert put(".").unchanged == 2
    assert Library.open(place).version == version


def test_copies_do_not_take_turns(place: Path, folder: Path, put: Put) -> None:
    Path("r.jsonl").write_text(f"{_record('Cells grow')}\n{_record('Cells grow')}\n")
    for name in ("a.md", "b.md"):
        Path(name).write_text(_draft("Stars shine"))
    put(".")
    held, version = _held(place), Library.open(place).version
    assert [path for path, _ in held] == [f"{folder}/a.md", f"{folder}/r.jsonl:1"]
    put(".")
    put("b.md")
    assert (_held(place), Library.open(place).version) == (held, version)


def test_standard_input_replaces_nothing(
    place: Path, folder: Path, put: Put, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for words in ("Cells grow", "Stars shine"):
        (tmp_path / "in.md").write_text(_draft(words))
        with (tmp_path / "in.md").open() as stream:
            monkeypatch.setattr("sys.stdin", stream)
            assert put("-").added == 1
    assert [path for path, _ in _held(place)] == ["stdin", "stdin"]


def test_names_that_cannot_be_stored_are_not_taken_for_each_other(place: Path, folder: Path, put: Put) -> None:
    for name, words in (("\udcfe.md", "Cells grow"), ("\udcff.md", "Stars shine")):
        Path(name).write_text(_draft(words))
        assert put(name).added == 1
    assert [path for path, _ in _held(place)] == [f"{folder}/?.md"] * 2


def test_removed_by_any_spelling_of_its_path(place: Path, folder: Path, put: Put, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    for spelling in ("draft.md", "./draft.md", "../drafts/draft.md", f"{tmp_path}/link/draft.md", f"{folder}/draft.md"):
        Path("draft.md").write_text(_draft("Cells grow"))
        put(".")
        Path("draft.md").unlink()
        assert [entry.path for entry in remove(place, [spelling])] == [f"{folder}/draft.md"]
    with pytest.raises(UserError, match=r"no document 'draft\.md'"):
        remove(place, ["draft.md"])
