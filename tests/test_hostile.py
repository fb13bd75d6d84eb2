"""Every hostile input of the list, given to `whycite read` as a user would: a clear word, in time, in memory."""

import gzip
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

SECONDS = 5.0  # of work; a busy machine may take longer on the clock
MEMORY = 1 << 30
# A process counts as used what the one that started it had at that moment; so a small one stands in between.
_MEASURED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open(sys.argv[1], "w").write(f"{used.ru_utime + used.ru_stime} {used.ru_maxrss}")
sys.exit(code)
"""
Make = Callable[[Path], Path]


def _file(name: str, content: str | bytes) -> Make:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


def _tar_with_links(folder: Path) -> Path:
    path = folder / "evil.tar"
    with tarfile.open(path, "w") as archive:
        for name in ("../../escaped.tex", "/escaped.tex", "ok.tex"):
            data = b"Fine words. \\input{link}"
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("link.tex")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return path


def _zip_bomb(folder: Path) -> Path:
    path = folder / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(5):
            archive.writestr(f"{number}.tex", bytes(64 << 20))
    return path


def _repeated_inputs(folder: Path) -> Path:
    """A file of 60 KB, included two thousand times."""
    path = folder / "repeated"
    path.mkdir()
    (path / "part.tex").write_text("Bees sleep at night \\cite{bees}. " * 2_000)
    (path / "main.tex").write_text(
        "\\documentclass{article}\\begin{document}" + "\\input{part}\n" * 2_000 + "\\end{document}"
    )
    return path


def _repeated_parts(suffix: str, inclusion: str) -> Make:
    """A file of 600 KB, included two hundred times."""

    def make(folder: Path) -> Path:
        (folder / f"part{suffix}").write_text("Bees sleep at night. " * 30_000)
        main = folder / f"main{suffix}"
        main.write_text(f"{inclusion}\n\n" * 200)
        return main

    return make


def _million_objects(folder: Path) -> Path:
    path = folder / "objects.pdf"
    objects = b"".join(b"%d 0 obj<</A 1>>endobj\n" % number for number in range(4, 1_000_000))
    pages = b"1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    page = b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]>>endobj\n"
    path.write_bytes(b"%PDF-1.4\n" + pages + page + objects + b"trailer<</Root 1 0 R/Size 1000000>>\n%%EOF")
    return path


LAUGHS = '<!DOCTYPE a [<!ENTITY l0 "ha">' + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 11))
CASES: dict[str, tuple[Make, str]] = {
    "external entity": (
        _file(
            "x.xml",
            '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><article><body><p>A &x; b.</p></body></article>',
        ),
        "entit",
    ),
    "billion laughs": (_file("l.xml", f"{LAUGHS}]><article><body><p>A &l10; b.</p></body></article>"), "entit"),
    "external DTD": (
        _file(
            "d.xml",
            '<!DOCTYPE article SYSTEM "http://example.org/a.dtd"><article><body><p>A &b; c.</p></body></article>',
        ),
        "",
    ),
    "input outside": (_file("i.tex", "Text.\n\\input{/etc/passwd}\n\\input{../secret}"), "outside the draft's folder"),
    "repeated input": (_repeated_inputs, "read too many times"),
    "repeated Quarto include": (_repeated_parts(".qmd", "{{< include part.qmd >}}"), "too much text"),
    "repeated Typst include": (_repeated_parts(".typ", '#include "part.typ"'), "too much text"),
    "recursive input": (_file("r.tex", "Text. \\input{r}"), "includes itself"),
    "recursive macro": (_file("m.tex", "Text. \\def\\x{\\x}\\x"), "defined in terms of itself"),
    "nested braces": (_file("b.tex", "{" * 10_000 + "deep" + "}" * 10_000), ""),
    "one line": (_file("o.tex", "Some words here. " * 61_000), ""),
    "environments": (
        _file(
            "e.tex", "".join(f"\\newenvironment{{e{i}}}{{\\begin{{a}}}}{{\\end{{a}}}}\n" for i in range(500)) + "Text."
        ),
        "",
    ),
    "tar with links": (_tar_with_links, "points outside the archive"),
    "zip bomb": (_zip_bomb, "unpacks to more than"),
    "gzip bomb": (_file("g.tex.gz", gzip.compress(bytes(400 << 20))), "too large"),
    "truncated PDF": (_file("t.pdf", b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Ty"), "t.pdf"),
    "million objects": (_million_objects, "objects.pdf"),
    "wrong encoding": (_file("w.tex", "Caf\u00e9 ol\u00e9.".encode("cp1252")), "not UTF-8"),
    "empty": (_file("n.tex", b""), "empty"),
    "binary": (_file("y.tex", bytes(range(256)) * 4000), "binary data"),
    "broken JSON": (_file("j.jsonl", b'{"paper_id": "1", "body_text": [\n{"paper_id": "2"\n'), "j.jsonl"),
    "deep JSON": (_file("k.json", '{"paper_id": ' + "[" * 200_000), "k.json"),
}


@pytest.mark.parametrize(("make", "said"), CASES.values(), ids=CASES.keys())
def test_a_clear_word_in_time_and_memory(tmp_path: Path, make: Make, said: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path = make(folder)
    (tmp_path / "secret.tex").write_text("A secret.")
    before = sorted(tmp_path.rglob("*"))
    with (tmp_path / "out").open("w+b") as out, (tmp_path / "err").open("w+b") as err:
        command = [sys.executable, "-c", "from whycite.cli import main; main()", "read", "--json", str(path)]
        used = tmp_path / "used"
        process = subprocess.run([sys.executable, "-c", _MEASURED, str(used), *command], stdout=out, stderr=err)
        seconds, kilobytes = map(float, used.read_text().split())
        used.unlink()
        out.seek(0)
        err.seek(0)
        printed, complaint = out.read().decode(), err.read().decode()
    (tmp_path / "out").unlink()
    (tmp_path / "err").unlink()
    assert seconds < SECONDS
    assert kilobytes * 1024 < MEMORY
    assert "Traceback" not in complaint
    assert "root:" not in printed
    assert "A secret" not in printed
    assert sorted(tmp_path.rglob("*")) == before
    if process.returncode == 0:
        warnings = [warning for line in printed.splitlines() for warning in json.loads(line)["warnings"]]
        assert not said or any(said in warning for warning in warnings), warnings
    else:
        assert process.returncode == 2
        assert complaint.startswith("whycite: ")
        assert complaint.count("\n") == 1
        assert said in complaint
