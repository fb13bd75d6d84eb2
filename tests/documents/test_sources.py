"""Archives and compression around documents, and archives made to hurt."""

import bz2
import gzip
import io
import json
import lzma
import tarfile
import time
import tracemalloc
import zipfile
from pathlib import Path

import pytest
import zstandard

from whycite.documents import read, sources, stream
from whycite.errors import UserError

TEX = rb"\documentclass{article}\begin{document}\input{part}\end{document}"
PART = rb"A claim \cite{a}. \bibliography{refs}"
BIB = b"@article{a, title={On A}, year={2010}}"
PROJECT = {"src/main.tex": TEX, "src/part.tex": PART, "src/refs.bib": BIB, "src/figure.png": b"\x89PNG"}


def _tar(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def _zip(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("paper.tar", _tar(PROJECT)),
        ("paper.tar.gz", gzip.compress(_tar(PROJECT))),
        ("paper.tgz", gzip.compress(_tar(PROJECT))),
        ("2101.00001.gz", gzip.compress(_tar(PROJECT))),
        ("paper.tar.xz", lzma.compress(_tar(PROJECT))),
        ("paper.tar.zst", zstandard.compress(_tar(PROJECT))),
        ("paper.zip", _zip(PROJECT)),
        ("paper", _zip(PROJECT)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # archives hold the time they were made
)
def test_a_project_in_an_archive(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    document = read(path)
    assert [(s.text, s.file) for s in document.sentences] == [("A claim [a].", f"{path}/src/part.tex")]
    assert document.by_id["a"].title == "On A"
    assert document.warnings == ()


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress), (".zst", zstandard.compress)],
)
def test_one_compressed_file(tmp_path: Path, suffix: str, compress: object) -> None:
    assert callable(compress)
    path = tmp_path / f"paper.md{suffix}"
    path.write_bytes(compress(b"# One\n\nText [@a]."))
    document = read(path)
    assert document.path == str(path)
    assert [(s.text, s.file) for s in document.sentences] == [("Text [a].", str(path))]


def test_a_single_tex_file_as_arxiv_packs_it(tmp_path: Path) -> None:
    path = tmp_path / "2101.00002.gz"
    path.write_bytes(gzip.compress(rb"\documentclass{article}\begin{document}Text.\end{document}"))
    assert [s.text for s in read(path).sentences] == ["Text."]


def test_every_paper_of_a_folder_and_of_an_archive(tmp_path: Path) -> None:
    files = {"a/main.tex": TEX, "a/part.tex": PART, "b/paper.md": b"# B\n\nWords.", "c.txt": b"Plain words here."}
    files["refs.bib"] = BIB
    for name, data in files.items():
        (tmp_path / "papers" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "papers" / name).write_bytes(data)
    (tmp_path / "papers.zip").write_bytes(_zip(files))
    for path in (tmp_path / "papers", tmp_path / "papers.zip"):
        assert sorted(document.format for document in stream(path)) == ["latex", "markdown", "plain"]


def test_the_draft_of_a_folder_comes_first_and_its_chapters_are_no_documents(tmp_path: Path) -> None:
    for name, text in {
        "01-intro.qmd": "# Intro\n\nOne.",
        "appendix.qmd": "# More\n\nThree.",
        "paper.qmd": "# Paper\n\n{{< include 01-intro.qmd >}}\n\nTwo.",
    }.items():
        (tmp_path / name).write_text(text)
    assert [Path(document.path).name for document in stream(tmp_path)] == ["paper.qmd", "appendix.qmd"]
    assert [sentence.text for sentence in read(tmp_path).sentences] == ["One.", "Two."]


def test_one_bad_file_does_not_stop_a_folder(tmp_path: Path) -> None:
    (tmp_path / "bad.md.gz").write_bytes(gzip.compress(b"Some words. " * 1000)[:40])
    (tmp_path / "good.md").write_text("Good words.")
    bad, good = stream(tmp_path)
    assert "the compressed data is damaged" in bad.warnings[0]
    assert [s.text for s in good.sentences] == ["Good words."]


@pytest.mark.parametrize("lost", [1, 5, 3000])
def test_zstandard_that_was_cut_off_is_damaged(tmp_path: Path, lost: int) -> None:
    words = "".join(f"Word {number} of many. " for number in range(40_000)).encode()
    frames = zstandard.compress(words[:100]) + zstandard.compress(words[100:])
    (tmp_path / "whole.txt.zst").write_bytes(frames)
    (tmp_path / "cut.txt.zst").write_bytes(frames[:-lost])
    assert [document.warnings for document in stream(tmp_path / "whole.txt.zst")] == [()]
    assert sources.unwrap(sources.Source(sources.DiskFolder(tmp_path), "whole.txt.zst")).data() == words
    with pytest.raises(UserError, match=r"cut\.txt\.zst: the compressed data is damaged \(it ends too early\)"):
        read(tmp_path / "cut.txt.zst")


def test_an_encrypted_archive_is_called_so(tmp_path: Path) -> None:
    data = bytearray(_zip({"a.md": b"Words."}))
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(UserError, match=r"a\.zip: a\.md is encrypted; unpack it"):
        read(tmp_path / "a.zip")


def test_members_that_lead_out_are_left_out(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in {"../evil.tex": TEX, "/abs.tex": TEX, "ok.tex": b"Fine. \\input{link} \\input{hard}"}.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE):
            info = tarfile.TarInfo({tarfile.SYMTYPE: "link.tex", tarfile.LNKTYPE: "hard.tex"}.get(kind, "dev.tex"))
            info.type = kind
            info.linkname = "/etc/passwd"
            archive.addfile(info)
    path = tmp_path / "evil.tar"
    path.write_bytes(buffer.getvalue())
    before = sorted(tmp_path.parent.rglob("*"))
    document = read(path)
    assert [s.text for s in document.sentences] == ["Fine."]
    assert sum("points outside the archive" in warning for warning in document.warnings) == 2
    assert sum("file not found" in warning for warning in document.warnings) == 2
    assert sorted(tmp_path.parent.rglob("*")) == before


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_a_bomb_is_refused_in_time(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"bomb.{kind}"
    zeros = {f"{i}.tex": bytes(64 << 20) for i in range(5)}
    path.write_bytes(_zip(zeros) if kind == "zip" else gzip.compress(_tar(zeros), 1))
    start = time.process_time()
    with pytest.raises(UserError, match="unpacks to more than 256 MB"):
        read(path)
    assert time.process_time() - start < 30


def test_a_bomb_that_lies_about_its_size_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_UNPACKED", 1 << 20)
    data = bytearray(_zip({"a.tex": bytes(4 << 20)}))
    at = data.rindex(b"PK\x01\x02") + 24  # the declared size in the directory
    data[at : at + 4] = (10).to_bytes(4, "little")
    path = tmp_path / "bomb.zip"
    path.write_bytes(bytes(data))
    with pytest.raises(UserError):
        read(path)


def test_a_bomb_of_one_compressed_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.tex.gz"
    path.write_bytes(gzip.compress(bytes(300 << 20), 9))
    start = time.process_time()
    with pytest.raises(UserError, match="too large for one document"):
        read(path)
    assert time.process_time() - start < 30


def test_too_many_members(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    path.write_bytes(_zip({f"{i}.tex": b"" for i in range(sources.MAX_MEMBERS + 1)}))
    with pytest.raises(UserError, match="more than 20,000 files"):
        read(path)


@pytest.mark.parametrize(
    "data", [b"PK\x03\x04 not a zip", _zip(PROJECT)[:60], _tar(PROJECT)[:700]], ids=["zip", "cut zip", "cut tar"]
)
def test_a_broken_archive_is_one_sentence(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "broken.zip"
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"broken\.zip: .*(cannot read|contains no document)"):
        read(path)


def test_an_empty_file_and_no_file(tmp_path: Path) -> None:
    path = tmp_path / "empty.tex"
    path.touch()
    with pytest.raises(UserError, match=r"empty\.tex: the file is empty"):
        read(path)
    with pytest.raises(UserError, match="no such file or folder"):
        read(tmp_path / "gone.tex")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match="contains no document"):
        read(tmp_path / "folder")


def test_a_link_a_pipe_and_a_long_name_that_a_user_gives(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "paper.md").write_text("Words here.")
    (tmp_path / "link.md").symlink_to(tmp_path / "real" / "paper.md")
    assert [s.text for s in read(tmp_path / "link.md").sentences] == ["Words here."]
    with pytest.raises(UserError):
        read(tmp_path / ("a" * 300))
    with pytest.raises(UserError, match="URLs are not read"):
        read("https://example.org/paper.pdf")


def test_archives_are_opened_only_so_deep(tmp_path: Path) -> None:
    data = _zip({"paper.md": b"Words here."})
    for _ in range(5):
        data = _zip({"inner.zip": data})
    (tmp_path / "deep.zip").write_bytes(data)
    assert any("archives nested this deep" in warning for warning in read(tmp_path / "deep.zip").warnings)


def test_word_processor_files_are_told_apart_from_archives(tmp_path: Path) -> None:
    document = b"<w:document><w:body><w:p><w:r><w:t>Words here.</w:t></w:r></w:p></w:body></w:document>"
    (tmp_path / "paper.zip").write_bytes(_zip({"[Content_Types].xml": b"<t/>", "word/document.xml": document}))
    (tmp_path / "slides.zip").write_bytes(_zip({"[Content_Types].xml": b"<t/>", "ppt/presentation.xml": b"<p/>"}))
    assert [s.text for s in read(tmp_path / "paper.zip").sentences] == ["Words here."]
    with pytest.raises(UserError, match="unknown file format"):
        read(tmp_path / "slides.zip")


def test_papers_beside_a_draft_are_read_but_its_figures_are_not(tmp_path: Path) -> None:
    for name, text in {
        "main.tex": TEX.decode(),
        "part.tex": "Draft.",
        "notes.md": "Notes here.",
        "fig.svg": "<svg/>",
    }.items():
        (tmp_path / name).write_text(text)
    assert [Path(document.path).name for document in stream(tmp_path)] == ["main.tex", "notes.md"]


def test_the_only_project_of_a_folder_may_use_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "tex").mkdir()
    (tmp_path / "tex" / "main.tex").write_text(
        r"\documentclass{a}\begin{document}Text \cite{a}.\bibliography{../refs}\end{document}"
    )
    (tmp_path / "refs.bib").write_bytes(BIB)
    assert read(tmp_path).by_id["a"].title == "On A"


def test_a_format_that_is_asked_for_picks_its_files(tmp_path: Path) -> None:
    for name in ("a.md", "refs.bib", "figure.png"):
        (tmp_path / name).write_text("Some words.")
    assert [Path(document.path).name for document in stream(tmp_path, "markdown")] == ["a.md"]


def test_metadata_beside_parsed_papers_is_joined_to_them(tmp_path: Path) -> None:
    paper: dict[str, object] = {"paper_id": "7", "_pdf_hash": "x", "abstract": [], "bib_entries": {}, "ref_entries": {}}
    paper["body_text"] = [{"section": "Intro", "text": "Words here.", "cite_spans": [], "ref_spans": []}]
    for name, record in {
        "pdf_parses": paper,
        "metadata": {"paper_id": "7", "title": "On Joining", "year": 2007},
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}_0.jsonl.gz").write_bytes(gzip.compress(json.dumps(record).encode()))
    (document,) = stream(tmp_path)
    assert (document.paper.title, document.paper.year) == ("On Joining", 2007)


def test_a_file_takes_memory_by_its_size(tmp_path: Path) -> None:
    (tmp_path / "small.pdf").write_bytes(bytes(43_000))
    source = sources.Source(sources.DiskFolder(tmp_path), "small.pdf")
    tracemalloc.start()
    data = source.data(256 << 20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(data) == 43_000
    assert peak < 4 << 20
