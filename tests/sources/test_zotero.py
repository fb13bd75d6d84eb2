"""`whycite add --zotero`: what is taken from a Zotero library, under which keys, and what a second run does."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from tests.documents.pdf.test_pdf import Paper
from tests.sources.zoterofolder import GROUP, ZoteroFolder
from whycite.errors import UserError
from whycite.library import Library
from whycite.library.records import identifier
from whycite.sources.zotero import read_zotero

Run = Callable[..., Result]
SENTENCE = "Honeybees that forage by day sleep in the hive at night for many hours."


@pytest.fixture
def zotero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ZoteroFolder]:
    """An empty Zotero library in the user's home."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    made = ZoteroFolder(tmp_path / "home" / "Zotero")
    yield made
    made.close()


def article(*sentences: str) -> bytes:
    """A PDF with a title and some sentences."""
    paper = Paper()
    paper.put(72, 720, "A title that the printer got wrong", 18, "bold")
    paper.column(72, 680, ["Introduction"], 12, "bold")
    paper.column(72, 660, list(sentences))
    return paper.data()


def taken(run: Run, *arguments: str | Path) -> dict[str, Any]:
    result = run("add", "--zotero", *arguments, "--jobs", "1", "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_a_library_with_keys(run: Run, zotero: ZoteroFolder, tmp_path: Path) -> None:
    kaiser = zotero.item(
        title="Busy bees need rest, too",
        authors=["Kaiser, Walter", ("editor", "Roe, Richard")],
        date="1988-09-00 September 1988",
        accessDate="2023-04-05 10:11:12",
        DOI="10.1007/BF00603841",
        publicationTitle="Journal of Comparative Physiology A",
        volume="163",
        pages="565–584",
        abstractNote="Honeybee foragers sleep at night.",
        extra="PMID: 3198487\nCitation Key: kaiserBusyBees",
    )
    zotero.attach(kaiser, article(SENTENCE, "Their antennae hang down while they rest."))
    vaswani = zotero.item(
        "preprint", title="Attention Is All You Need", authors=["Vaswani, Ashish"], date="2017",
        archiveID="arXiv:1706.03762", repository="arXiv",
    )  # fmt: skip
    zotero.better_bibtex({vaswani: "vaswaniAttention2017"})
    answer = taken(run)
    assert answer["zotero"] == {"items": 2, "unchanged": 0, "with_text": 1, "gone": 0}
    assert (answer["added"], answer["skipped"], answer["warnings"]) == (2, [], [])
    entries = run("cite", "Honeybees sleep in the hive at night.", "--format", "bibtex").stdout
    assert entries.startswith("@article{kaiserBusyBees,")
    for line in (
        "volume = {163}",
        "pages = {565--584}",
        "pmid = {3198487}",
        "editor = {Roe, Richard}",
        "year = {1988}",
        "month = sep",
        "urldate = {2023-04-05}",
    ):
        assert line in entries
    recommendation = json.loads(run("cite", "Honeybees sleep in the hive.", "--json").stdout)["recommendations"][0]
    assert recommendation["paper"]["citation_key"] == "kaiserBusyBees"
    assert recommendation["passages"][0]["text"] == SENTENCE  # of the PDF
    assert "doi:10.1007/bf00603841, @kaiserBusyBees" in run("cite", "Honeybees sleep in the hive.").stdout
    (tmp_path / "draft.md").write_text("# Introduction\n\nAttention is all that such models need.\n", "utf-8")
    draft = json.loads(run("check", tmp_path / "draft.md", "--threshold", "0", "--json").stdout)
    proposals = [proposal["cite_key"] for finding in draft["findings"] for proposal in finding["recommendations"]]
    assert "vaswaniAttention2017" in proposals


def test_the_kind_of_a_thesis(run: Run, zotero: ZoteroFolder) -> None:
    zotero.item(
        "thesis", title="The night life of foraging honeybees", authors=["Muster, Anna"], date="2011-00-00 2011",
        thesisType="Diplomarbeit", university="TU Wien",
    )  # fmt: skip
    taken(run)
    entry = run("cite", "The night life of foraging honeybees", "-n", "1", "--format", "bibtex").stdout
    assert entry.startswith("@mastersthesis{")
    assert "  type = {Diplomarbeit},\n  school = {TU Wien},\n" in entry
    assert "month" not in entry  # Zotero's date has a month of 00


def test_papers_know_their_address_in_zotero(run: Run, zotero: ZoteroFolder, tmp_path: Path) -> None:
    library = tmp_path / "papers"
    bees = zotero.item(title="Busy bees need rest, too", DOI="10.1/bees")
    wasps = zotero.item(title="On wasps and the night", DOI="10.1/wasps", library=GROUP)
    keys = zotero.key(bees), zotero.key(wasps)

    def addresses() -> set[str]:
        taken(run, "--library", library)
        opened = Library.open(library)
        papers = opened.papers([identifier(f"doi:10.1/{name}") for name in ("bees", "wasps")])
        return {paper.address for paper in papers.values()}

    group = f"http://zotero.org/groups/4711/items/{keys[1]}"
    assert addresses() == {f"http://zotero.org/users/local/gVY292am/items/{keys[0]}", group}
    zotero.sign_in(4242)
    assert addresses() == {f"http://zotero.org/users/4242/items/{keys[0]}", group}


def test_verify_finds_the_files_of_zotero(run: Run, zotero: ZoteroFolder, tmp_path: Path) -> None:
    zotero.attach(zotero.item(title="Busy bees need rest, too", DOI="10.1007/BF00603841"), article(SENTENCE))
    taken(run)
    draft = tmp_path / "draft.md"
    draft.write_text(
        "---\nreferences:\n- {id: k, title: 'Busy bees need rest, too', DOI: 10.1007/bf00603841, issued: 1988}\n---\n"
        "# Introduction\n\nHoneybees sleep in the hive at night [@k].\n",
        "utf-8",
    )
    [answer] = run("verify", draft, "--json").stdout.splitlines()
    assert json.loads(answer)["verdict"] == "backed"


def test_a_second_run_takes_only_what_changed(run: Run, zotero: ZoteroFolder) -> None:
    bees = zotero.item(title="Busy bees need rest, too", DOI="10.1/bees", extra="Citation Key: bees")
    file = zotero.attach(bees, article(SENTENCE))
    other = zotero.item(title="On wasps and the night", DOI="10.1/wasps", extra="Citation Key: wasps")
    taken(run)
    again = taken(run)
    assert again["zotero"] == {"items": 2, "unchanged": 2, "with_text": 0, "gone": 0}
    assert again["library"]["version"] == taken(run)["library"]["version"]  # nothing was written
    zotero.set(other, "extra", "Citation Key: wasps2001")
    zotero.item(title="On moths and the moon", DOI="10.1/moths", extra="Citation Key: moths")
    third = taken(run)
    assert third["zotero"] == {"items": 3, "unchanged": 1, "with_text": 0, "gone": 0}
    assert "@misc{wasps2001," in run("cite", "wasps and the night", "--format", "bibtex").stdout
    (zotero.folder / "storage" / zotero.key(file) / "paper.pdf").write_bytes(
        article(SENTENCE, "Some dream of flowers.")
    )
    assert taken(run)["zotero"]["with_text"] == 1
    zotero.trash(other)
    assert taken(run)["zotero"] == {"items": 2, "unchanged": 2, "with_text": 0, "gone": 1}
    result = run("add", "--zotero")
    assert result.stdout.startswith("Zotero: 2 items, 0 new or changed, 0 of them with text.\n0 added")
    assert "wasps2001" not in run("cite", "wasps and the night", "--format", "bibtex").stdout


def test_a_file_that_comes_later_replaces_the_reference(run: Run, zotero: ZoteroFolder, tmp_path: Path) -> None:
    bees = zotero.item(title="Busy bees need rest, too", DOI="10.1/bees")
    assert taken(run)["library"]["documents"] == 1
    zotero.attach(bees, article(SENTENCE))
    answer = taken(run)
    assert answer["zotero"]["with_text"] == 1
    [document] = Library.open(tmp_path / "own library").documents()
    assert (document.format, document.title, document.key) == ("pdf", "Busy bees need rest, too", "doi:10.1/bees")


def test_another_file_takes_the_place_of_the_first(run: Run, zotero: ZoteroFolder, tmp_path: Path) -> None:
    bees = zotero.item(title="Busy bees need rest, too", DOI="10.1/bees", citationKey="bees")
    first = zotero.attach(bees, article("A draft of what bees do at night in the hive."))
    taken(run)
    zotero.trash(first)  # its file stays until the bin is emptied
    second = zotero.attach(bees, article(SENTENCE))
    answer = taken(run)
    assert (answer["zotero"]["with_text"], answer["skipped"]) == (1, [])
    [document] = Library.open(tmp_path / "own library").documents()
    assert Path(document.path).parent.name == zotero.key(second)
    assert taken(run)["zotero"]["unchanged"] == 1
    # Two items of one paper: the second is left out, once.
    copy = zotero.item(title="Busy bees need rest, too", DOI="10.1/bees", library=GROUP)
    zotero.attach(copy, article(SENTENCE, "With a note."), library=GROUP)
    assert [entry["reason"].split(" as ")[0] for entry in taken(run)["skipped"]] == ["same paper"]
    assert taken(run)["zotero"]["unchanged"] == 2


def test_what_is_removed_or_forgotten_is_taken_again(run: Run, zotero: ZoteroFolder, tmp_path: Path) -> None:
    zotero.attach(zotero.item(title="Busy bees need rest, too", DOI="10.1/bees", citationKey="bees"), article(SENTENCE))
    zotero.item(title="On wasps and the night", DOI="10.1/wasps", citationKey="wasps")
    taken(run)
    assert run("library", "remove", "doi:10.1/bees").exit_code == 0
    assert "@misc{bees," not in run("cite", "busy bees need rest", "--format", "bibtex").stdout
    assert taken(run)["zotero"] == {"items": 2, "unchanged": 1, "with_text": 1, "gone": 0}
    (tmp_path / "own library" / "notices.sqlite").unlink()
    answer = taken(run)
    assert (answer["added"], answer["unchanged"], answer["library"]["documents"]) == (0, 2, 2)
    assert "@misc{wasps," in run("cite", "wasps and the night", "--format", "bibtex").stdout


def test_text_that_zotero_found_stands_in_for_a_scan(run: Run, zotero: ZoteroFolder) -> None:
    scan = zotero.item(title="A scanned treatise on bees", DOI="10.1/scan", citationKey="scan1901")
    zotero.attach(scan, Paper().data(), text=f"Introduction\n\n{SENTENCE}\n")
    missing = zotero.item(title="A file on another machine", DOI="10.1/missing")
    zotero.attach(missing, None, text="Introduction\n\nMoths fly to the moon in the summer nights.\n")
    assert taken(run)["zotero"]["with_text"] == 2
    recommendation = json.loads(run("cite", "Honeybees sleep in the hive at night.", "--json").stdout)[
        "recommendations"
    ][0]
    assert recommendation["paper"]["citation_key"] == "scan1901"
    assert recommendation["passages"][0]["text"] == SENTENCE


def test_groups_and_collections(run: Run, zotero: ZoteroFolder) -> None:
    mine = zotero.item(title="Busy bees need rest, too", DOI="10.1/bees")
    deep = zotero.item(title="On wasps and the night", DOI="10.1/wasps")
    shared = zotero.item(title="On moths and the moon", DOI="10.1/moths", library=GROUP)
    zotero.better_bibtex({shared: "moths"}, GROUP)
    insects = zotero.collection("Insects", [mine])
    zotero.collection("Night / Day", [deep], insects)
    zotero.collection("Sleep", [shared], library=GROUP)

    def titles(*collections: str) -> list[str]:
        return [item.reference.title.split()[1] for item in read_zotero(str(zotero.folder), collections)[0]]

    assert titles() == ["bees", "wasps", "moths"]
    assert titles("Insects") == ["bees", "wasps"]  # with what is below
    assert titles("insects/Night / Day") == ["wasps"]
    assert titles("Sleep lab") == titles("Sleep lab/Sleep") == ["moths"]
    assert titles("Night / Day", "Sleep") == ["wasps", "moths"]
    with pytest.raises(UserError, match="no collection 'Birds'; it has: My Library, My Library/Insects"):
        titles("Birds")
    assert taken(run, "--collection", "Insects")["zotero"]["items"] == 2
    assert taken(run)["zotero"] == {"items": 3, "unchanged": 2, "with_text": 0, "gone": 0}
    assert "@misc{moths," in run("cite", "moths and the moon", "--format", "bibtex").stdout


@pytest.mark.parametrize("old", [False, True])
def test_where_keys_come_from(zotero: ZoteroFolder, old: bool) -> None:
    native = zotero.item(title="One", citationKey="native", extra="Citation Key: pinned")
    pinned = zotero.item(title="Two", extra="Some note\nCitation Key: pinned\nDOI: 10.1/two")
    made = zotero.item(title="Three")
    unsafe = zotero.item(title="Four", extra="Citation Key: two words")
    zotero.better_bibtex({native: "made1", pinned: "made2", made: "made3", unsafe: "made4"}, old=old)
    items, _ = read_zotero(str(zotero.folder))
    assert [item.key for item in items] == ["native", "pinned", "made3", "made4"]
    assert items[1].reference.doi == "10.1/two"


def test_what_is_left_out(zotero: ZoteroFolder, tmp_path: Path) -> None:
    bees = zotero.item(title="Busy bees need rest, too")
    zotero.item("note")
    zotero.trash(zotero.item(title="Thrown away"))
    zotero.item(title="News of the day", library=3)  # a feed
    zotero.attach(bees, None, path=str(tmp_path / "nowhere.pdf"))
    alone = zotero.attach(None, article(SENTENCE), "alone.pdf")
    items, _ = read_zotero(str(zotero.folder))
    assert [(item.reference.title, len(item.files)) for item in items] == [("Busy bees need rest, too", 0), ("", 1)]
    assert items[1].name.endswith(zotero.key(alone))


def test_linked_files_and_another_folder(zotero: ZoteroFolder, tmp_path: Path) -> None:
    elsewhere = ZoteroFolder(tmp_path / "elsewhere")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "bees.pdf").write_bytes(article(SENTENCE))
    bees = elsewhere.item(title="Busy bees need rest, too")
    elsewhere.attach(bees, None, path="attachments:bees.pdf")
    profile = tmp_path / "home" / ".zotero" / "zotero" / "abc.default"
    profile.mkdir(parents=True)
    settings = {"useDataDir": True, "dataDir": str(elsewhere.folder), "baseAttachmentPath": str(tmp_path / "linked")}
    lines = [f'user_pref("extensions.zotero.{name}", {json.dumps(value)});\n' for name, value in settings.items()]
    (profile / "prefs.js").write_text("// Mozilla User Preferences\n" + "".join(lines), "utf-8")
    [item], origin = read_zotero()
    elsewhere.close()
    assert origin == f"{elsewhere.folder}/zotero.sqlite/"
    assert item.files == (tmp_path / "linked" / "bees.pdf",)


def test_retracted_items_are_not_recommended(run: Run, zotero: ZoteroFolder) -> None:
    zotero.retract(zotero.item(title="Bees that never sleep in the hive", DOI="10.1/false"))
    taken(run)
    assert json.loads(run("cite", "Bees never sleep in the hive.", "--json").stdout)["recommendations"] == []


LOCKER = """
import sqlite3, sys, time
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA locking_mode = exclusive")
database.execute("BEGIN EXCLUSIVE")
database.execute("UPDATE items SET version = version + 1")
database.execute("COMMIT")
database.execute("BEGIN EXCLUSIVE")
database.execute("DELETE FROM items")  # not committed
print("locked", flush=True)
time.sleep(60)
"""


def test_a_database_that_zotero_has_locked(run: Run, zotero: ZoteroFolder) -> None:
    zotero.item(title="Busy bees need rest, too", DOI="10.1/bees")
    zotero.close()  # the changes are in the database now, and the next ones will be in -wal
    before = {file.name for file in zotero.folder.iterdir()}
    file = zotero.folder / "zotero.sqlite"
    with subprocess.Popen([sys.executable, "-c", LOCKER, str(file)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "locked\n"
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                sqlite3.connect(file, timeout=0).execute("SELECT * FROM items").fetchall()
            state = file.stat()
            assert taken(run)["zotero"]["items"] == 1
            assert file.stat() == state  # read, but neither changed nor locked
        finally:
            process.kill()
    assert {entry.name for entry in zotero.folder.iterdir()} - before <= {"zotero.sqlite-wal", "zotero.sqlite-shm"}


def test_changes_that_are_only_in_the_wal(zotero: ZoteroFolder) -> None:
    zotero.database.execute("PRAGMA wal_autocheckpoint = 0")
    zotero.item(title="Busy bees need rest, too")
    assert (zotero.folder / "zotero.sqlite-wal").stat().st_size > 0
    assert len(read_zotero(str(zotero.folder))[0]) == 1


KILLED = """
import sys, typing
from whycite.library import AddProgress
from whycite.sources.items import take_items
from whycite.sources.zotero import read_zotero
items, origin = read_zotero(sys.argv[1])
def tell(progress: AddProgress) -> None:
    print(progress.read, progress.added, flush=True)
take_items(sys.argv[2], items, origin, jobs=1, progress=tell)
"""


SLOW = pytest.mark.slow


@pytest.mark.parametrize("line", [pytest.param(1, marks=SLOW), 30, pytest.param(70, marks=SLOW)])
def test_killed_at_any_moment_it_goes_on(run: Run, zotero: ZoteroFolder, tmp_path: Path, line: int) -> None:
    for number in range(40):
        item = zotero.item(title=f"On the sleep of bees, part {number}", DOI=f"10.1/{number}")
        zotero.attach(item, article(f"In year {number} bees slept in the hive at night."))
    library = tmp_path / "own library"
    arguments = [sys.executable, "-c", KILLED, str(zotero.folder), str(library)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        reported = 0
        for number, text in enumerate(process.stdout, 1):
            reported = int(text.split()[1])
            if number >= line:
                break
        process.send_signal(signal.SIGKILL)
    answer = taken(run)
    assert answer["library"]["documents"] == 40
    assert answer["unchanged"] >= reported
    assert taken(run)["zotero"]["unchanged"] == 40


def test_mistakes(run: Run, zotero: ZoteroFolder, tmp_path: Path) -> None:
    def message(*arguments: str | Path) -> str:
        error = run("add", *arguments).exception
        assert isinstance(error, UserError)
        return str(error)

    assert message("--zotero") == "Zotero has no items; nothing to add"
    assert "no Zotero library here (no zotero.sqlite)" in message("--zotero", tmp_path)
    assert message("--zotero", "a", "b") == "--zotero takes one folder, that of Zotero's data"
    assert message("--zotero", "--format", "pdf") == "--format cannot be used with --zotero"
    assert message("--collection", "Bees", tmp_path) == "--collection can only be used with --zotero"
    assert message() == "give files or folders to add, or --zotero"
    (tmp_path / "zotero.sqlite").write_bytes(b"not a database, but long enough to look like one" * 100)
    assert "cannot be read as a database of Zotero 5 or later" in message("--zotero", tmp_path)
    zotero.attach(None, Paper().data(), "scan.pdf")
    assert "scan.pdf" in message("--zotero", "--jobs", "1")  # the only item, and not readable


@pytest.mark.slow
def test_real_papers(run: Run, zotero: ZoteroFolder, data: Path) -> None:
    files = sorted((data / "pdf").glob("*.pdf"))
    for number, file in enumerate(files):
        item = zotero.item(
            title=f"The title that Zotero has, {number}", DOI=f"10.5555/{file.stem}", citationKey=file.stem
        )
        zotero.attach(item, file.read_bytes(), file.name)
    answer = taken(run)
    assert (answer["zotero"]["with_text"], answer["added"], answer["skipped"]) == (len(files), len(files), [])
    documents = map(json.loads, run("library", "list", "--json").stdout.splitlines())
    assert {document["key"] for document in documents} == {f"doi:10.5555/{file.stem.lower()}" for file in files}
    assert taken(run)["zotero"]["unchanged"] == len(files)


@pytest.mark.slow
def test_five_thousand_items_again_in_five_seconds(zotero: ZoteroFolder, tmp_path: Path) -> None:
    zotero.fill(5000)
    library = tmp_path / "library"
    arguments = [sys.executable, "-m", "whycite", "add", "--zotero", str(zotero.folder), "--library", str(library)]
    subprocess.run(arguments, check=True)
    zotero.set(1234, "title", "On the sleep of bees that were moved")
    zotero.item(title="Busy bees need rest, too", DOI="10.1/bees")
    before = os.times()
    answer = subprocess.run([*arguments, "--json"], check=True, capture_output=True)
    after = os.times()
    assert json.loads(answer.stdout)["zotero"] == {"items": 5001, "unchanged": 4999, "with_text": 0, "gone": 0}
    # Of the processor, since other tests run at the same time.
    seconds = sum(getattr(after, name) - getattr(before, name) for name in ("children_user", "children_system"))
    assert seconds <= 5, f"took {seconds:.1f} s"
