"""Torture: kill writers, fill disks, flip bits and read damaged files, for as long as one likes; `make torture`.

    python tests/torture.py --minutes 60 --seed 1 --report torture

Rounds take turns. Each has a seed of its own, which the report names: `--seed N --rounds 1` repeats one. What breaks a
promise (something lost, a traceback, a wrong answer without a word) is a failure, and the exit status is 1. A reader
that meets an error it did not expect skips the file and says so, which is no failure but a find: its input is shortened
and kept in the report's folder.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import json
import logging
import lzma
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

sys.path.insert(0, str(Path(__file__).parents[1]))  # started by its path, it knows no other tests

from tests.drafts import numbered_document
from tests.fakes import hashing_encoder
from tests.library.conftest import content
from tests.wordfiles import docx, paragraph
from whycite.documents.confined import stream_confined
from whycite.errors import UserError
from whycite.library import Library, add, add_documents, adding, compact, inspect

WORKER = Path(__file__).with_name("library") / "worker.py"
FILES_PER_ROUND = 100
_UNEXPECTED = re.compile(r"could not be read \((\w+): ")
_SHORTEN_SECONDS = 20.0


def _archive(name: str, data: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return target.getvalue()


def _tarball(name: str, data: bytes) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return target.getvalue()


def _pdf() -> bytes:
    lines = ["On the sleep of bees", "1 Introduction", "Bees sleep at night [1].", "References", "[1] A. Kaiser. 1988."]
    page = b"BT /F1 12 Tf 50 700 Td 16 TL " + b"".join(b"(%s) Tj T* " % line.encode() for line in lines) + b"ET"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(page), page),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, item) for number, item in enumerate(objects, 1))
    return b"%PDF-1.4\n" + body + b"trailer<</Size 6/Root 1 0 R>>\n%%EOF"


_TEX = rb"""\documentclass{article}\newcommand{\bee}[1]{\emph{#1}}\title{Bees}\begin{document}\section{Introduction}
\bee{Bees} sleep \cite[p.~3]{a,b}. They wake at $6^{am}$.\footnote{See \citet{b}.}
\begin{figure}\caption{A bee \cite{a}.}\end{figure}\begin{thebibliography}{9}\bibitem{a} A. Kaiser. Sleep of bees. 1988.
\bibitem[B(1990)]{b} B. Other. Wake. 1990.\end{thebibliography}\end{document}"""
_BIB = b"""@article{a, title = {Sleep of {B}ees}, author = "Kaiser, A. and {The Hive}", year = 1988, doi = {10.1000/a}}
@string{j = "Journal"} @misc{b, title = {Wake}, journal = j # " of Bees", crossref = {a}}"""
_JATS = b"""<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta><title-group><article-title>Bees
</article-title></title-group></article-meta></front><body><sec><title>Introduction</title><p>Bees sleep
<xref ref-type="bibr" rid="r1">[1]</xref>.</p></sec></body><back><ref-list><ref id="r1"><element-citation>
<article-title>Sleep</article-title><year>1988</year></element-citation></ref></ref-list></back></article>"""
_TEI = b"""<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>Bees</title></titleStmt>
</fileDesc></teiHeader><text><body><div><head>Introduction</head><p>Bees sleep <ref type="bibr" target="#b0">[1]</ref>.
</p></div></body><back><listBibl>
<biblStruct xml:id="b0"><monogr><title>Sleep</title></monogr></biblStruct></listBibl></back></text>
</TEI>"""
_S2ORC: dict[str, Any] = {
    "paper_id": "1", "title": "Bees", "abstract": "On bees.",
    "body_text": [{
        "text": "Bees sleep [1].", "section": "Introduction",
        "cite_spans": [{"start": 11, "end": 14, "text": "[1]", "ref_id": "BIBREF0"}],
    }],
    "bib_entries": {"BIBREF0": {"title": "Sleep", "authors": [{"first": "A", "last": "Kaiser"}], "year": 1988}},
}  # fmt: skip
_UNARXIVE: dict[str, Any] = {
    "paper_id": "1", "metadata": {"title": "Bees"}, "abstract": {"text": "On bees."},
    "body_text": [{"section": "Introduction", "sec_number": "1", "content_type": "paragraph",
                   "text": "Bees {{cite:a}}.",
                   "cite_spans": [], "ref_spans": []}],
    "bib_entries": {"a": {"bib_entry_raw": "A. Kaiser, Sleep, 1988.", "ids": {"doi": "10.1000/a"}}},
}  # fmt: skip
_CSL = [{"id": "a", "type": "article-journal", "title": "Sleep", "author": [{"family": "Kaiser", "given": "A."}],
         "issued": {"date-parts": [[1988]]}, "DOI": "10.1000/a"}]  # fmt: skip
_ODT = b"""<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text><text:h text:outline-level="1">
Introduction</text:h><text:p>Bees sleep (Kaiser 1988).</text:p></office:text></office:body></office:document-content>"""
SEEDS: dict[str, bytes] = {
    "a.tex": _TEX,
    "a.md": b"---\ntitle: Bees\nauthor: [{name: A}]\n---\n# Introduction\n\nBees sleep [@a, p. 3; -@b].^[Note @a.]\n\n"
    b"| a | b |\n|---|---|\n| x | y |\n\n```{r}\n#| fig-cap: Bee\n```\n\n# References\n\nKaiser, A. (1988). Sleep.\n",
    "a.typ": b'#set document(title: "Bees")\n#let x(y) = [*#y*]\n= Introduction\nBees #x[sleep] @a. '
    b'#cite(<b>, form: "prose")\n'
    b'#figure(caption: [A bee @a.])[]\n#bibliography("a.bib")\n',
    "a.txt": b"On the sleep of bees\n\nIntroduction\n\nBees sleep [1].\n\nReferences\n\n[1] A. Kaiser. 1988.\n",
    "a.bib": _BIB,
    "a.bbl": rb"\begin{thebibliography}{9}\bibitem[Kaiser(1988)]{a} A. Kaiser. \newblock Sleep.\end{thebibliography}",
    "a.ris": b"TY  - JOUR\nTI  - Sleep\nAU  - Kaiser, A.\nPY  - 1988\nDO  - 10.1000/a\nER  - \n",
    "a.xml": _JATS,
    "b.tei.xml": _TEI,
    "a.json": json.dumps(_CSL).encode(),
    "s2orc.jsonl": json.dumps(_S2ORC).encode() + b"\n",
    "unarxive.jsonl": json.dumps(_UNARXIVE).encode() + b"\n",
    "a.docx": docx(paragraph("Introduction", style="Heading1") + paragraph("Bees sleep (Kaiser 1988).")),
    "a.odt": _archive("content.xml", _ODT),
    "a.pdf": _pdf(),
    "a.zip": _archive("a.tex", _TEX),
    "a.tar.gz": _tarball("a.tex", _TEX),
    "a.tex.gz": gzip.compress(_TEX),
    "b.tex.zst": zstandard.compress(_TEX),
    "c.tex.xz": lzma.compress(_TEX),
    "d.tex.bz2": bz2.compress(_TEX),
}


def mutate(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """The data with a few accidents."""
    mutated = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 8, 32))):
        start = chance.randrange(len(mutated) + 1)
        end = min(len(mutated), start + chance.choice((1, 1, 2, 8, 64, 1024)))
        kind = chance.randrange(7)
        if kind == 0 and start < len(mutated):
            mutated[start] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del mutated[start:end]
        elif kind == 2:
            mutated[start:start] = mutated[start:end] * chance.choice((1, 2, 50))
        elif kind == 3:
            del mutated[start:]
        elif kind == 4:
            mutated[start:end] = chance.randbytes(end - start)
        elif kind == 5:
            other = chance.choice(others)
            place = chance.randrange(len(other))
            mutated[start:start] = other[place : place + chance.choice((4, 32, 256))]
        else:
            mutated[start:start] = chance.choice(
                (b"\0", b"{", b"}", b"[", b"<", b"\xff\xfe", b"\\input{a}", b"-1", b"null")
            )
    return bytes(mutated)


@dataclass
class Report:
    """What happened."""

    seed: int
    seconds: float = 0.0
    rounds: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)
    finds: dict[str, dict[str, Any]] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write the report as JSON."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.json").write_text(json.dumps(vars(self), indent=2), encoding="utf-8")


class BrokenPromise(Exception):
    """Something that must never happen."""


def _promise(is_kept: object, message: str) -> None:
    if not is_kept:
        raise BrokenPromise(message)


def fuzz(chance: random.Random, work: Path, report: Report, out: Path) -> None:
    """Damaged files of every format: each is added or skipped with a reason, and those between them are added."""
    files = []
    for number in range(FILES_PER_ROUND):
        name = chance.choice(sorted(SEEDS))
        file = work / f"{number}" / name
        file.parent.mkdir()
        file.write_bytes(mutate(SEEDS[name], list(SEEDS.values()), chance))
        files.append(file)
        if number % 10 == 5:
            sound = work / f"sound{number}.md"
            sound.write_text(f"# Report {number} on bees\n\nBees of kind {number} sleep at night.\n", encoding="utf-8")
            files.append(sound)
    result = add(work / "library", files, encoder=hashing_encoder(), jobs=1)
    stored = [entry.path for entry in Library.open(work / "library").documents()]
    missing = [f.name for f in files if f.name.startswith("sound") and str(f) not in stored]
    _promise(not missing, f"sound documents were not added: {missing}")
    told = [path for path, _ in (*result.skipped, *result.warnings)]
    silent = [file for file in files if not any(path.startswith(str(file)) for path in (*stored, *told))]
    _promise(len(silent) <= result.unchanged, f"neither added nor skipped: {[str(file) for file in silent]}")
    report.events["files read"] += len(files)
    report.events["files skipped"] += len(result.skipped)
    for path, reason in result.skipped:
        if (error := _UNEXPECTED.search(reason)) or "crashed" in reason or "gave up" in reason:
            kind = re.sub(r"\d+", "N", reason.rpartition(": could not")[2] if error else reason)[:120]
            if kind not in report.finds:
                file = next(file for file in files if path.startswith(str(file)))
                shortened = _shorten(file, error[1] if error else "", work)
                out.mkdir(parents=True, exist_ok=True)
                target = out / f"find{len(report.finds)}-{file.name}"
                target.write_bytes(shortened)
                report.finds[kind] = {"input": target.name, "bytes": len(shortened), "reason": reason}


def _shorten(file: Path, error: str, work: Path) -> bytes:
    """A shorter file that the reader meets the same error on."""

    def fails(data: bytes) -> bool:
        place = work / "shorten" / file.name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(data)
        reasons = [warning for document in stream_confined([place]) for warning in document.warnings]
        return any(f"({error}: " in reason for reason in reasons)

    data, until = file.read_bytes(), time.monotonic() + _SHORTEN_SECONDS
    size = len(data) // 2
    while error and size and time.monotonic() < until:
        start = 0
        while start < len(data) and time.monotonic() < until:
            candidate = data[:start] + data[start + size :]
            if candidate and fails(candidate):
                data = candidate
            else:
                start += size
        size //= 2
    return data


def kill(chance: random.Random, work: Path, report: Report, _: Path) -> None:
    """A writer that is killed again and again loses nothing that it told, and ends with the same library."""
    place, number = work / "library", chance.randrange(20, 60)
    for attempt in range(20):
        command = [sys.executable, str(WORKER), "add", str(place), str(number)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        process.stdout.readline()  # it has begun
        if attempt < 19:
            time.sleep(chance.random() * 2)
            process.send_signal(signal.SIGKILL)
        lines, errors = process.communicate()
        _promise("Traceback" not in errors, f"a writer failed: {errors[-2000:]}")
        added = [int(line.split()[0]) for line in lines.splitlines() if line[:1].isdigit()]
        report.events["writers killed"] += process.returncode == -signal.SIGKILL
        if added and max(added) > 0:
            documents = Library.open(place).info().documents
            _promise(documents >= max(added), f"{max(added)} were told as added, {documents} are there")
        if "done" in lines.splitlines():
            break
    fresh = work / "fresh"
    add_documents(fresh, map(numbered_document, range(number)), jobs=1, encoder=hashing_encoder())
    _promise(content(place) == content(fresh), "the library differs from one that was made in one go")
    _promise(inspect(place).is_sound, "the library is damaged")


def fill(chance: random.Random, work: Path, report: Report, _: Path) -> None:
    """A disk that gets full loses nothing, and the library goes on elsewhere; only where a disk may be mounted."""
    disk = work / "disk"
    disk.mkdir()
    size = chance.randrange(600, 3_000)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        report.events["disks that may not be mounted"] += 1
        return
    try:
        place, added = disk / "library", 0

        def note(progress: Any) -> None:
            nonlocal added
            added = progress.added

        usual, adding.BATCH_DOCUMENTS = adding.BATCH_DOCUMENTS, 5
        try:
            documents = map(numbered_document, range(2_000))
            add_documents(place, documents, jobs=1, encoder=hashing_encoder(), progress=note)
        except UserError as error:
            _promise("disk is full" in str(error), f"a full disk is told as: {error}")
            report.events["disks filled"] += 1
        finally:
            adding.BATCH_DOCUMENTS = usual
        if added:
            _promise(Library.open(place).info().documents >= added, "documents that were told as added are lost")
            moved, fresh = work / "moved", work / "fresh"
            shutil.copytree(place, moved)
            for library in (moved, fresh):
                add_documents(library, map(numbered_document, range(added + 5)), jobs=1, encoder=hashing_encoder())
            _promise(content(moved) == content(fresh), "the library differs from one that was made in one go")
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def flip(chance: random.Random, work: Path, report: Report, _: Path) -> None:
    """One bit anywhere in a library is told, or changes no answer; what is repaired answers as before."""
    sound = work / "library"
    add_documents(sound, map(numbered_document, range(8)), jobs=1, encoder=hashing_encoder())
    compact(sound)  # a repair indexes all rows, and those that are not indexed yet have other BM25 scores
    expected = _answers(sound)
    files = sorted(file for file in sound.rglob("*") if file.is_file() and file.stat().st_size)
    for number in range(20):
        place = work / f"flipped{number}"
        shutil.copytree(sound, place)
        file = place / chance.choice(files).relative_to(sound)
        data, status = bytearray(file.read_bytes()), file.stat()
        bit = chance.randrange(8 * len(data))
        data[bit // 8] ^= 1 << bit % 8
        file.write_bytes(data)
        if chance.random() < 0.8:  # as a failing disk does
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        name = f"bit {bit} of {file.relative_to(place)}"
        for step in ("opened", "repaired"):
            try:
                _promise(_answers(place) == expected, f"another answer without a word, {step}: {name}")
                report.events[f"bits flipped, {step}: same answers"] += 1
            except UserError:
                report.events[f"bits flipped, {step}: refused"] += 1
            try:
                inspect(place, repair=True)
            except UserError:
                report.events["bits flipped: cannot be repaired"] += 1
        shutil.rmtree(place)


def _answers(place: Path) -> list[Any]:
    library, vector = Library.open(place), hashing_encoder().encode(["cells"])[0]
    spans, papers = library.search_spans("cells", vector), library.search_papers("cells", vector)
    ids = [paper.id for paper in papers]
    citations = library.citations([span.id for span in spans])
    return [spans, papers, citations, library.papers(ids), library.support(ids), list(library.documents())]


ROUNDS: dict[str, Callable[[random.Random, Path, Report, Path], None]] = {
    "fuzz": fuzz, "flip": flip, "kill": kill, "fill": fill,
}  # fmt: skip


def torture(seed: int, seconds: float, rounds: int | None, out: Path, kinds: Sequence[str]) -> Report:
    """Go on until the time is up."""
    report, began = Report(seed), time.monotonic()
    number = 0
    while (time.monotonic() - began < seconds) if rounds is None else number < rounds * len(kinds):
        kind, own_seed = kinds[number % len(kinds)], seed + number // len(kinds)
        with tempfile.TemporaryDirectory() as folder:
            try:
                ROUNDS[kind](random.Random(f"{kind} {own_seed}"), Path(folder), report, out)
            except Exception as error:  # noqa: BLE001 - every failure is reported, and the next round begins
                detail = str(error) if isinstance(error, BrokenPromise) else traceback.format_exc()
                report.failures.append({"round": kind, "seed": own_seed, "detail": detail})
                print(f"FAILED: {kind}, seed {own_seed}: {detail}", file=sys.stderr, flush=True)
        report.rounds[kind] += 1
        report.seconds = time.monotonic() - began
        report.write(out)
        number += 1
    return report


def main() -> None:
    """Run the torture that the command line asks for."""
    parser = argparse.ArgumentParser(description="Kill, fill, flip and fuzz.")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rounds", type=int, help="rounds of each kind, instead of a time")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--kinds", nargs="+", choices=sorted(ROUNDS), default=list(ROUNDS))
    parser.add_argument("--report", type=Path, default=Path("torture"), metavar="FOLDER")
    options = parser.parse_args()
    logging.getLogger("whycite").setLevel(logging.ERROR)  # it warns of every damaged copy
    report = torture(options.seed, 60 * options.minutes, options.rounds, options.report, options.kinds)
    print(f"seed {report.seed}: {dict(report.rounds)} in {report.seconds:.0f} s")
    for event, count in sorted(report.events.items()):
        print(f"{count:8,}  {event}")
    print(f"{len(report.finds):8,}  errors that a reader did not expect\n{len(report.failures):8,}  failures")
    sys.exit(1 if report.failures else 0)


if __name__ == "__main__":
    main()
