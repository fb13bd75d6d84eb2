"""Do Word documents read like the papers they were made from, and does what is written into them survive LibreOffice?

Run: python benchmarks/word.py [DATA], where DATA is the folder of real data (default: $WHYCITE_DATA or ../shared/data
beside the project). Needs pandoc (pip install pypandoc_binary) and LibreOffice (soffice).

40 documents are made with pandoc, each with the fields of one reference manager, or with typed citations and a list.
Every second one goes through LibreOffice, unless that drops what the manager stored (7.4 does with three of them).
"""

from __future__ import annotations

import base64
import gc
import html
import json
import multiprocessing
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pypandoc
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.documents.word.test_opendocument import odt  # noqa: E402
from tests.wordfiles import MANAGERS, docx, field, paragraph, run, word_sources_part  # noqa: E402
from whycite.documents import read  # noqa: E402
from whycite.documents.identity import normalise_title  # noqa: E402
from whycite.documents.model import Document, Reference, Sentence  # noqa: E402
from whycite.documents.word import text_of  # noqa: E402
from whycite.documents.word.editing import TextInsertion, WordComment, WordEditor  # noqa: E402
from whycite.documents.word.package import rewrite_package  # noqa: E402
from whycite.errors import UserError  # noqa: E402

DOCUMENTS, WRITTEN_TO, FINDINGS, MUTATED, MUTATED_ODT = 40, 20, 200, 1500, 10
CONSOLE = Console()
TYPED = "typed"
DROPPED = ("Mendeley Cite", "EndNote with data", "Word")  # by LibreOffice: tags of controls, data of fields, sources
STOP = re.compile(r"[.!?][\"”’)\]]*$")
MARK = re.compile(r"ZCITE(\d+)Z")
Cited = tuple[str, frozenset[str]]


def main() -> None:
    data = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("WHYCITE_DATA", ROOT.parent / "shared" / "data"))
    with tempfile.TemporaryDirectory() as folder:
        pairs = list(_make_documents(data, Path(folder)))
        _compare(pairs)
        paths = [path for path, _ in pairs]
        _round_trip(paths[:WRITTEN_TO], Path(folder))
        _mutate([*paths, *_convert(paths[:MUTATED_ODT], "odt", Path(folder) / "odt")])
        _hostile(Path(folder))
        _speed(paths, Path(folder))


def _make_documents(data: Path, folder: Path) -> Iterator[tuple[Path, Document]]:
    """Word documents and the documents that they were made from."""
    sources = [*sorted((data / "jats-raw").glob("*.xml.gz")), *sorted((data / "drafts").iterdir())]
    managers = [*MANAGERS, TYPED]
    made: list[tuple[Path, Document]] = []
    for source in sources:
        try:
            document = read(source)
        except UserError:
            continue
        prose = [s for s in document.sentences if s.kind == "prose" and s.text.isprintable()]
        if len(made) >= DOCUMENTS or len(prose) < 20 or not any(s.citations for s in prose):
            continue
        manager = managers[len(made) % len(managers)]
        if manager == TYPED and document.format != "jats":  # in drafts, citations are keys
            manager = managers[0]
        path = folder / f"{len(made):02}-{manager.replace(' ', '-')}.docx"
        _make_document(document, prose, manager, path)
        made.append((path, replace(document, sentences=tuple(prose))))
    converted = folder / "libreoffice"
    for_office = [path for path, _ in made if not path.stem.endswith(tuple(name.replace(" ", "-") for name in DROPPED))]
    for_office = for_office[::2]
    _convert(for_office, "docx", converted)
    for path, document in made:
        yield (converted / path.name if path in for_office else path), document


def _make_document(document: Document, prose: Sequence[Sentence], manager: str, path: Path) -> None:
    """Paragraphs and headings through pandoc, citations as fields put where a mark stands."""
    shown: list[tuple[list[Reference], str]] = []
    rows: list[str] = []
    place: tuple[int, int] = (-1, -1)
    for sentence in prose:
        if sentence.section != place[0]:
            section = document.sections[sentence.section]
            rows.append(
                f"<h{min(section.level, 6)}>{html.escape(section.heading or 'Text')}</h{min(section.level, 6)}>"
            )
        if (sentence.section, sentence.paragraph) != place:
            rows.append("<p>")
        place = sentence.section, sentence.paragraph
        parts, offset = [], 0
        for citation in sentence.citations:
            works = [document.by_id[key] for key in citation.keys if key in document.by_id]
            words = sentence.text[citation.text_start : citation.text_end]
            parts.append(html.escape(sentence.text[offset : citation.text_start]))
            if works and words.strip():
                parts.append(f"ZCITE{len(shown)}Z")
                shown.append((works, words))
            else:
                parts.append(html.escape(words))
            offset = citation.text_end
        rows.append("".join([*parts, html.escape(sentence.text[offset:])]) + " ")
        if not STOP.search(sentence.text):  # the item of a list: in Word, a paragraph
            rows.append("</p><p>")
    if manager == TYPED:
        rows.append("<h1>References</h1>")
        rows += [f"<p>{html.escape(_entry(work))}</p>" for work in document.references]
    pypandoc.convert_text("\n".join(rows), "docx", "html", outputfile=str(path), extra_args=["--wrap=none"])
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as package:
        body = package.read("word/document.xml").decode()

    def write_field(mark: re.Match[str]) -> str:
        works, words = shown[int(mark[1])]
        if manager == TYPED:
            return html.escape(words)
        return f'</w:t></w:r>{MANAGERS[manager](works, words)}<w:r><w:t xml:space="preserve">'

    parts_changed = {"word/document.xml": MARK.sub(write_field, body).encode()}
    for name, part in word_sources_part([work for works, _ in shown for work in works]).items():
        parts_changed |= {name: part.encode()} if manager == "Word" else {}
    path.write_bytes(rewrite_package(whole, parts_changed))


def _entry(work: Reference) -> str:
    return f"{'; '.join(work.authors)} ({work.year}). {work.title.rstrip('.')}. {work.venue}."


def _convert(paths: Sequence[Path], format: str, folder: Path) -> list[Path]:
    folder.mkdir(exist_ok=True)
    profile = f"-env:UserInstallation=file://{folder.parent}/profile"
    command = ["soffice", profile, "--headless", "--convert-to", format, "--outdir", str(folder), *map(str, paths)]
    subprocess.run(command, check=True, capture_output=True, timeout=1200)
    return [folder / f"{path.stem}.{format}" for path in paths]


def _cited(document: Document) -> list[Cited]:
    """Each sentence as its words, with the titles of the works it cites."""
    rows = []
    for sentence in document.sentences:
        works = [document.by_id[key] for c in sentence.citations for key in c.keys if key in document.by_id]
        words = " ".join(sentence.with_citations(" ").split())
        rows.append((words, frozenset(normalise_title(work.title) or str(work.year) for work in works)))
    return rows


def _compare(pairs: Sequence[tuple[Path, Document]]) -> None:
    table = Table(title="Word documents against what they were made from", title_justify="left")
    for column in ("manager", "through", "documents", "sentences", "same words", "same citations", "in place"):
        table.add_column(column)
    counts: dict[tuple[str, str], Counter[str]] = {}
    for path, source in pairs:
        through = "LibreOffice" if path.parent.name == "libreoffice" else "pandoc"
        count = counts.setdefault((path.stem.split("-", 1)[1].replace("-", " "), through), Counter())
        document = read(path)
        text = text_of(path.read_bytes(), str(path))
        expected, actual = _cited(source), _cited(document)
        words, cited = Counter(row[0] for row in actual), Counter(actual)
        count["documents"] += 1
        count["sentences"] += len(expected)
        count["words"] += (Counter(row[0] for row in expected) & words).total()
        count["cited"] += (Counter(expected) & cited).total()
        count["all"] += len(document.sentences)
        count["place"] += sum(
            text[sentence.start : sentence.end].split() == sentence.text.split() for sentence in document.sentences
        )
    total: Counter[str] = Counter()
    for (manager, through), count in sorted(counts.items()):
        total += count
        table.add_row(manager, through, *_row(count))
    table.add_row("all", "", *_row(total))
    CONSOLE.print(table)


def _row(count: Counter[str]) -> list[str]:
    shares = [f"{100 * count[name] / count['sentences']:.2f} %" for name in ("words", "cited")]
    return [str(count["documents"]), f"{count['sentences']:,}", *shares, f"{100 * count['place'] / count['all']:.2f} %"]


def _round_trip(paths: Sequence[Path], folder: Path) -> None:
    """Random comments and insertions, through LibreOffice."""
    chance = random.Random(24)
    written = folder / "written"
    written.mkdir()
    expected: dict[str, list[tuple[str, str]]] = {}
    kept = True
    for path in paths:
        data = path.read_bytes()
        editor = WordEditor(data, str(path), datetime.now(UTC))
        sentences = [s for s in read(path).sentences if s.kind == "prose" and s.text.endswith(".")]
        for number, sentence in enumerate(chance.sample(sentences, FINDINGS // len(paths))):
            label = f"finding {number} of {path.stem}"
            assert editor.add_comment(WordComment(sentence.start, sentence.end, label))
            assert editor.insert(TextInsertion(sentence.end - 1, f"(Inserted{number}, 2020)", lead=" "))
            expected.setdefault(path.name, []).append((label, sentence.text))
        (written / path.name).write_bytes(editor.result())
        kept = kept and _same_parts(data, editor.result())
    back = folder / "back"
    _convert(sorted(written.iterdir()), "docx", back)
    opened = comments = insertions = rejected = 0
    for path in paths:
        opened += (back / path.name).is_file()
        anchors = _anchors(back / path.name)
        text = " ".join(text_of((back / path.name).read_bytes(), "").split())
        for number, (label, words) in enumerate(expected[path.name]):
            inserted = f"{words[:-1]} (Inserted{number}, 2020)."
            comments += _letters(anchors.get(label, "")) == _letters(inserted)
            insertions += _letters(inserted) in _letters(text)
        rejected += _rejected(back / path.name) == " ".join(text_of(path.read_bytes(), "").split())
    count = sum(map(len, expected.values()))
    CONSOLE.print(
        f"Through LibreOffice: {opened} of {len(paths)} documents open, {comments} of {count} comments in place, "
        f"{insertions} of {count} insertions in place; with insertions rejected {rejected} texts are the original's; "
        f"parts that were not written to keep their bytes: {'yes' if kept else 'no'}"
    )


def _same_parts(old: bytes, new: bytes) -> bool:
    written = {"word/document.xml", "word/comments.xml", "word/_rels/document.xml.rels", "[Content_Types].xml"}
    with zipfile.ZipFile(BytesIO(old)) as before, zipfile.ZipFile(BytesIO(new)) as after:
        return all(before.read(name) == after.read(name) for name in before.namelist() if name not in written)


def _part(path: Path, name: str) -> str:
    with zipfile.ZipFile(path) as package:
        return package.read(name).decode()


def _plain(xml: str) -> str:
    """The words of some WordprocessingML, as a reader would see them."""
    hidden = re.sub(r"<w:instrText.*?</w:instrText>|<w:delText.*?</w:delText>|<w:fldData.*?</w:fldData>", "", xml)
    return html.unescape(re.sub(r"<[^>]*>", "", hidden))


def _anchors(path: Path) -> dict[str, str]:
    """The words that each comment is on, by the comment's text."""
    body = _part(path, "word/document.xml")
    anchors: dict[str, str] = {}
    for comment in re.finditer(r'<w:comment w:id="(\d+)".*?</w:comment>', _part(path, "word/comments.xml"), re.DOTALL):
        start, end = f'<w:commentRangeStart w:id="{comment[1]}"/>', f'<w:commentRangeEnd w:id="{comment[1]}"/>'
        anchors[_plain(comment[0]).strip()] = _plain(body.partition(start)[2].partition(end)[0])
    return anchors


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _rejected(path: Path) -> str:
    body = re.sub(r"<w:ins\b[^>]*(?<!/)>.*?</w:ins>", "", _part(path, "word/document.xml"), flags=re.DOTALL)
    return " ".join(text_of(rewrite_package(path.read_bytes(), {"word/document.xml": body.encode()}), "").split())


def _mutate(paths: Sequence[Path]) -> None:
    """Files with bytes changed, cut or doubled: in the package, or in the XML of a part."""
    chance = random.Random(7)
    outcomes: Counter[str] = Counter()
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(MUTATED):
            path = chance.choice(paths)
            data = path.read_bytes()
            if number % 2:
                with zipfile.ZipFile(path) as package:
                    name = chance.choice([n for n in package.namelist() if n.endswith((".xml", ".rels"))])
                    data = rewrite_package(data, {name: _damage(package.read(name), chance)})
            else:
                data = _damage(data, chance)
            target = Path(folder) / f"draft{path.suffix}"
            target.write_bytes(data)
            start = time.process_time()
            try:
                outcomes["warned" if read(target).warnings else "read"] += 1
            except UserError:
                outcomes["refused"] += 1
            slowest = max(slowest, time.process_time() - start)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    summary = ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()))
    CONSOLE.print(f"{MUTATED} mutated files: {summary}; slowest {slowest:.1f} s of CPU time, {memory} MiB in all")


def _damage(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 3, 20))):
        start = chance.randrange(max(1, len(changed)))
        kind = chance.randrange(4)
        if kind == 0:
            changed[start : start + 1] = bytes([chance.randrange(256)])
        elif kind == 1:
            del changed[start : start + chance.choice((1, 10, 1000))]
        elif kind == 2:
            changed[start:start] = changed[start : start + chance.choice((10, 1000))]
        else:
            changed[start:start] = chance.choice((b"<", b"&x;", b"</w:p>", b"<w:p>", b'"', b"\x00", b"]]>", b"\xff"))
    return bytes(changed)


def _hostile(folder: Path) -> None:
    """Files built to be slow, large or to reach outside, each read in a process of its own."""
    table = Table(title="Hostile files", title_justify="left")
    for column in ("file", "answer", "s of CPU time", "MiB"):
        table.add_column(column)
    context = multiprocessing.get_context("spawn")
    for name, data in _hostile_files():
        path = folder / f"hostile{'.odt' if name.startswith('odt') else '.docx'}"
        path.write_bytes(data)
        with context.Pool(1) as pool:
            answer, seconds, memory = pool.apply(_read_measured, (path,))
        table.add_row(name, answer, f"{seconds:.1f}", f"{memory:,}")
    CONSOLE.print(table)


def _read_measured(path: Path) -> tuple[str, float, int]:
    """What reading a file says, the seconds of processor time, and the memory of the process."""
    gc.set_threshold(50_000)  # as the command does
    start = time.process_time()
    try:
        document = read(path)
        warnings = "; ".join(document.warnings).replace(str(path), path.name)
        answer = f"{len(document.sentences):,} sentences" + (f"; warns: {warnings[:100]}" if warnings else "")
    except UserError as error:
        answer = f"refused: {str(error).replace(str(path), path.name)[:100]}"
    return answer, time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _hostile_files() -> Iterator[tuple[str, bytes]]:
    begin, end = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>', '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    sentence = paragraph("Bees sleep at night.")
    plain = docx(sentence)
    yield "a part of 64 MB", rewrite_package(plain, {"word/document.xml": b" " * (64 << 20)})
    yield "100,000 parts", rewrite_package(plain, {f"word/part{n}.xml": b"" for n in range(100_000)})
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    entities = f'<!DOCTYPE x [<!ENTITY l0 "ha"><!ENTITY out SYSTEM "file:///etc/passwd">{laughs}]>'
    text = _member(plain, "word/document.xml").replace("?>", f"?>{entities}", 1).replace("Bees", "&l11; &out;")
    yield "entities", rewrite_package(plain, {"word/document.xml": text.encode()})
    outside = '<Relationship Id="x" TargetMode="External" Type="http://x/footnotes" Target="http://127.0.0.1:9/x"/></R'
    relations = _member(plain, "word/_rels/document.xml.rels").replace("</R", outside)
    yield "a relation to the outside", rewrite_package(plain, {"word/_rels/document.xml.rels": relations.encode()})
    yield "300,000 paragraphs", docx(sentence * 300_000)
    yield "300,000 runs", docx(paragraph(run("Bees sleep. ") * 300_000))
    yield "3,000,000 characters in a line", docx(paragraph("Bees sleep at night. " * 150_000))
    yield "100,000 joined paragraphs", docx(paragraph("Bees ", properties="<w:rPr><w:del/></w:rPr>") * 100_000)
    yield "20,000 nested tables", docx("<w:tbl><w:tr><w:tc>" * 20_000 + sentence + "</w:tc></w:tr></w:tbl>" * 20_000)
    yield "200,000 cells", docx(f"<w:tbl>{f'<w:tr><w:tc>{sentence}</w:tc><w:tc/></w:tr>' * 100_000}</w:tbl>")
    yield "100,000 fields without an end", docx(paragraph(begin * 100_000, "Bees sleep."))
    yield "100,000 fields", docx(paragraph(field(" PAGE ", "Bees sleep. ") * 100_000))
    yield "20,000 nested fields", docx(paragraph(begin * 20_000 + run("Bees.") + end * 20_000))
    yield "100,000 brackets in a citation", docx(paragraph(field(f" ADDIN ZOTERO_ITEM {'[{' * 50_000}", "(1)")))
    works = json.dumps({"citationItems": [{"id": n, "itemData": {"title": f"Bees {n}"}} for n in range(9_000)]})
    yield "9,000 works in a citation", docx(paragraph(field(f" ADDIN ZOTERO_ITEM CSL_CITATION {works} ", "(1)")))
    numbered = paragraph(field(f" ADDIN ZOTERO_ITEM CSL_CITATION {works} ", "[1]"), " Bees sleep [3, 7]. " * 100_000)
    listed = paragraph("References", style="Heading1") + paragraph("7. Bees 7.") * 25_000
    yield "100,000 numbers beside those of a manager", docx(numbered + listed)
    packed = base64.b64encode(b"<EndNote><Cite><Author>Lee</Author></Cite>" * 4).decode()
    piece = (
        begin.replace("/>", f"><w:fldData>{packed}</w:fldData></w:fldChar>") + "<w:r><w:instrText> ADDIN EN.CITE.DATA "
    )
    pieces = f"{piece}</w:instrText></w:r>{end}" * 50_000
    yield "50,000 pieces of data in a citation", docx(paragraph(field(" ADDIN EN.CITE ", "(1)", inner=pieces)))
    yield "1,000,000 braces", docx(paragraph("Bees {1999 #{, " * 200_000))
    styles = "".join(
        f'<w:style w:styleId="s{n}"><w:name w:val="s{n}"/><w:basedOn w:val="s{n + 1}"/></w:style>'
        for n in range(100_000)
    )
    yield "100,000 styles in a chain", docx(paragraph("Bees sleep.", style="s0") * 20_000, styles=styles)
    entry = "".join(paragraph(f"Lee, A. ({1900 + n % 100}). Bees of {n}. Nature.") for n in range(29_000))
    cites = paragraph("Bees sleep (Lee, 1950). " * 1_000)
    yield "29,000 references", docx(cites + paragraph("References", style="Heading1") + entry)
    notes = "".join(f'<w:footnote w:id="{n}">{sentence}</w:footnote>' for n in range(50_000))
    marks = "".join(f'<w:r><w:footnoteReference w:id="{n}"/></w:r>' for n in range(50_000))
    yield "50,000 notes", docx(paragraph("Bees sleep.", marks), {"word/footnotes.xml": notes})
    box = f"<w:r><w:pict><v:textbox><w:txbxContent>{sentence}</w:txbxContent></v:textbox></w:pict></w:r>"
    yield "50,000 text boxes", docx(paragraph(box * 50_000))
    yield "odt: 300,000 paragraphs", odt("<text:p>Bees sleep.</text:p>" * 300_000)
    yield "odt: 20,000 nested spans", odt(f"<text:p>{'<text:span>' * 20_000}Bees.{'</text:span>' * 20_000}</text:p>")
    mark = "<text:reference-mark-start text:name='ZOTERO_ITEM {}'/>"
    yield "odt: 100,000 marks without an end", odt(f"<text:p>{mark * 100_000}Bees sleep.</text:p>")
    change = "<text:change-start text:change-id='c'/>Bees.<text:change-end text:change-id='c'/>"
    yield "odt: 100,000 changes", odt(f"<text:p>{change * 100_000}</text:p>")
    yield "odt: a space of 10^9", odt("<text:p>Bees<text:s text:c='1000000000'/>sleep.</text:p>" * 1_000)


def _member(data: bytes, name: str) -> str:
    with zipfile.ZipFile(BytesIO(data)) as package:
        return package.read(name).decode()


def _speed(paths: Sequence[Path], folder: Path) -> None:
    """One document of 200 pages of 500 words, from the paragraphs of the others."""
    bodies = [_part(path, "word/document.xml") for path in paths]
    paragraphs = [p for body in bodies for p in re.findall(r"<w:p>.*?</w:p>", body, re.DOTALL)]
    chosen: list[str] = []
    words = 0
    while words < 200 * 500:
        chosen.append(paragraphs[len(chosen) % len(paragraphs)])
        words += len(_plain(chosen[-1]).split())
    head, _, tail = bodies[0].partition("<w:body>")
    whole = f"{head}<w:body>{''.join(chosen)}{tail[tail.rindex('<w:sectPr') :]}"
    target = folder / "long.docx"
    target.write_bytes(rewrite_package(paths[0].read_bytes(), {"word/document.xml": whole.encode()}))
    started, cpu = time.perf_counter(), time.process_time()
    document = read(target)
    seconds, used = time.perf_counter() - started, time.process_time() - cpu
    CONSOLE.print(
        f"200 pages ({words:,} words, {len(document.sentences):,} sentences): {seconds:.1f} s, {used:.1f} s of CPU time"
    )


if __name__ == "__main__":
    main()
