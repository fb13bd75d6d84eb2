"""Reading in a limited process: no document stops the others, whatever its reader does."""

import os
import sys
import threading
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from whycite.documents import stream
from whycite.documents.builder import Builder
from whycite.documents.confined import ConfinedReader, stream_confined
from whycite.documents.jsontext import JsonRecord, read_documents
from whycite.documents.model import Document, Reference
from whycite.documents.reading import list_members
from whycite.documents.sources import MemoryFolder, Source

# A reader that does what its file says, registered as another package registers one.
MISBEHAVING = """
import os, socket, subprocess
from whycite.documents.plain import read_text

class MisbehavingReader:
    name = "misbehaving"
    suffixes = (".def",)

    def sniff(self, head):
        return False

    def read(self, source):
        for line in source.data().decode().splitlines():
            if line == "raise":
                raise ValueError("negative seek value -1")
            if line == "abort":
                os.abort()
            if line == "spin":
                while True:
                    pass
            if line == "hog":
                bytearray(8 << 30)
            if line == "recurse":
                def deeper(): deeper()
                deeper()
            if line == "connect":
                socket.create_connection(("127.0.0.1", 9))
            if line == "start":
                subprocess.run(["true"])
            if line == "grow":
                globals()["kept"] = globals().get("kept", []) + [bytearray(600 << 20)]
            yield read_text(source.path, "Title\\n\\nBees sleep at night, as said before.\\n", None)

READER = MisbehavingReader()
"""


@pytest.fixture(autouse=True)
def misbehaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = tmp_path / "packages"
    facts = packages / "misbehaving-1.0.dist-info"
    facts.mkdir(parents=True)
    (packages / "misbehaving.py").write_text(MISBEHAVING)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: misbehaving\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[whycite.readers]\nmisbehaving = misbehaving:READER\n")
    monkeypatch.syspath_prepend(str(packages))


def _folder(tmp_path: Path, **contents: str) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, content in contents.items():
        (folder / f"{name}.{'md' if content == 'fine' else 'def'}").write_text(
            "# Title\n\nBees sleep at night.\n" if content == "fine" else content
        )
    return folder


def _text(document: Document) -> str:
    return " ".join(sentence.text for sentence in document.sentences) or document.warnings[0]


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("raise", "could not be read (ValueError: negative seek value -1)"),
        ("abort", "crashed"),
        ("spin", "gave up after"),
        ("hog", "memory"),
        ("recurse", "nested too deeply"),
        ("connect", "may not do this: socket."),
        ("start", "may not do this: subprocess.Popen"),
    ],
)
def test_a_document_that_misbehaves_is_told_and_the_others_are_read(tmp_path: Path, deed: str, reason: str) -> None:
    folder = _folder(tmp_path, a="fine", b=deed, c="fine")
    documents = {Path(document.path).name: document for document in stream_confined([folder], seconds=1)}
    assert sorted(documents) == ["a.md", "b.def", "c.md"]
    assert documents["b.def"].sentences == ()
    assert str(folder / "b.def") in documents["b.def"].warnings[0]
    assert reason in documents["b.def"].warnings[0]
    assert _text(documents["a.md"]) == _text(documents["c.md"]) == "Bees sleep at night."


def test_no_document_is_read_twice_or_lost_when_processes_end(tmp_path: Path) -> None:
    folder = _folder(tmp_path, a="fine", b="abort", c="x\nx\nabort\nx", d="fine", e="abort", f="fine")
    archive = tmp_path / "more.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("g.md", "# Title\n\nBees sleep at night.\n")
        file.writestr("h.def", "abort")
        file.writestr("i.md", "# Title\n\nBees sleep at night.\n")
    (folder / "more.zip").write_bytes(archive.read_bytes())
    names = [
        (Path(document.path).name, bool(document.sentences))
        for document in stream_confined([folder, archive, folder / "a.md", folder / "b.def"])
    ]
    packed = [("g.md", True), ("h.def", False), ("i.md", True)]
    loose = [("a.md", True), ("b.def", False), ("c.def", True), ("c.def", True), ("c.def", False)]
    loose += [("d.md", True), ("e.def", False), ("f.md", True)]
    assert sorted(names) == sorted([*loose, *packed, *packed, ("a.md", True), ("b.def", False)])


def test_a_document_is_not_blamed_for_the_memory_that_others_used_up(tmp_path: Path) -> None:
    folder = _folder(tmp_path, a="grow", b="grow", c="grow", d="fine")
    documents = list(stream_confined([folder], memory=1 << 30))
    assert [bool(document.sentences) for document in documents] == [True] * 4


def test_records_after_one_that_cannot_be_read_are_read() -> None:
    def read_record(record: JsonRecord, data: dict[str, Any], builder: Builder) -> Document:
        if data["number"] == 2:
            raise KeyError("body")
        return builder.document(Reference(str(data["number"])))

    file = Source(MemoryFolder({"a.jsonl": b'{"number": 1}\n{"number": 2}\nno record\n{"number": 3}\n'}, ""), "a.jsonl")
    documents = list(read_documents(file, "test", read_record))
    assert [document.paper.id for document in documents] == ["1", "", "a.jsonl:3", "3"]
    assert documents[1].warnings == ("a.jsonl:2: could not be read (KeyError: 'body')",)


def test_the_same_documents_as_without_a_process(tmp_path: Path) -> None:
    folder = _folder(tmp_path, a="fine", b="fine")
    (folder / "project").mkdir()
    (folder / "project" / "main.tex").write_text(r"\documentclass{article}\begin{document}A \cite{b}.\end{document}")
    (folder / "references.bib").write_text("@article{b, title={Bees}, year={2001}}")
    assert list(stream_confined([folder])) == list(stream(folder))


def test_missing_and_empty_paths_are_told(tmp_path: Path) -> None:
    (tmp_path / "empty.md").touch()
    documents = list(stream_confined([tmp_path / "nowhere", tmp_path / "empty.md", "", "https://example.org/a.pdf"]))
    reasons = [document.warnings[0] for document in documents]
    assert [reason.rpartition(": ")[2] for reason in reasons[:2]] == ["no such file or folder", "the file is empty"]
    assert "an empty path" in reasons[2]
    assert "URLs are not read" in reasons[3]


@pytest.mark.skipif(sys.platform == "win32", reason="has no such pipes")
def test_pipes_are_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=lambda: pipe.write_text("# Title\n\nBees sleep at night.\n"), daemon=True).start()
    [document] = stream_confined([pipe], "markdown")
    assert _text(document) == "Bees sleep at night."


def test_members_of_a_folder_can_be_read_apart(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    for name in ("one/main.tex", "two/main.tex"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("\\documentclass{article}\\begin{document}\\input{part}\\end{document}")
        (folder / name).with_name("part.tex").write_text(f"Bees of kind {name} sleep.")
    (folder / "a.md").write_text("Bees sleep.")
    (folder / "notes").mkdir()
    (folder / "notes" / "b.md").write_text("")
    members = list_members(folder)
    assert members is not None
    assert list_members(folder / "a.md") is None
    with closing(ConfinedReader()) as reader:
        apart = [document for member in reversed(members) for document in reader.read(folder, members=[member])]
    assert len(apart) == len(members) == 4
    assert sorted(apart, key=repr) == sorted(stream_confined([folder]), key=repr)
