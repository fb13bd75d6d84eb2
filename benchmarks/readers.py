"""How fast are the readers, how does their time grow, and how do they compare with TexSoup and pylatexenc?

Run: python benchmarks/readers.py [DATA], where DATA is the folder of real data (default: $WHYCITE_DATA or
../shared/data beside the project). Times are CPU seconds of one process, sentence splitting included;
of PDFs, which another process reads, seconds on the clock.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from unittest.mock import patch

from rich.console import Console
from rich.table import Table

from whycite.documents import Document, builder, stream
from whycite.documents.latex import READER as LATEX
from whycite.documents.reading import readers
from whycite.documents.sources import MemoryFolder, Source, decode

DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data"
SIZES = (1, 2, 4, 8, 16)
PATIENCE = 60  # seconds a file for the other two parsers
CONSOLE = Console()


def main() -> None:
    data = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("WHYCITE_DATA", DEFAULT))
    if not data.is_dir():
        sys.exit(f"no data at {data}: name its folder or set WHYCITE_DATA")
    _speed(data)
    _growth(data)
    _compared(data)


def _speed(data: Path) -> None:
    table = _table("Real files", "format", "documents", "MB", "s", "documents/s", "MB/s", "sentences/s")
    latex, markdown = _drafts(data)
    packs: dict[str, list[Path]] = {
        "latex projects": latex,
        "markdown": markdown,
        "jats": sorted((data / "jats-raw").glob("*.xml.gz")),
        "tei": sorted((data / "formats").glob("*.tei.xml")),
        "s2orc (eLife pack)": [data / "elife" / "elife-tiny.jsonl.zst"],
        "unarxive": [data / "formats" / "unarxive-sample.jsonl.gz"],
        "bibtex": [path for path in sorted((data / "drafts").rglob("*.bib")) if path.stat().st_size],
        "pdf (wall clock)": sorted((data / "pdf").glob("*.pdf")),
    }
    for name, paths in packs.items():
        clock = time.perf_counter if name.startswith("pdf") else time.process_time
        start = clock()
        documents = [document for path in paths for document in stream(path)]
        seconds = clock() - start
        size = sum(map(_unpacked_size, paths)) / 1e6
        sentences = sum(len(document.sentences) for document in documents)
        row = (f"{size:.1f}", f"{seconds:.2f}", f"{len(documents) / seconds:.1f}", f"{size / seconds:.2f}")
        table.add_row(name, str(len(documents)), *row, f"{sentences / seconds:,.0f}")
    CONSOLE.print(table)


def _growth(data: Path) -> None:
    """The same paragraphs 1 to 16 times over in each text format; linear is 16."""
    table = _table("Growth", "format", "MB at 1x", *(f"{size}x (s)" for size in SIZES), "16x over 1x")
    articles = list(stream(data / "elife" / "elife-tiny.jsonl.zst"))[:6]
    for name, write in WRITERS.items():
        reader = readers()[name.split()[0]]
        seconds = []
        for size in SIZES:
            text = write(articles * size)
            folder = MemoryFolder({"draft": text.encode()}, "")
            times = []
            for _ in range(3 if size == 1 else 1):
                start = time.process_time()
                for _document in reader.read(Source(folder, "draft")):
                    pass
                times.append(time.process_time() - start)
            seconds.append(min(times))
        growth = f"{seconds[-1] / seconds[0]:.1f}"
        table.add_row(name, f"{len(write(articles)) / 1e6:.2f}", *(f"{value:.2f}" for value in seconds), growth)
    CONSOLE.print(table)


def _compared(data: Path) -> None:
    """Ours against two parsers, file by file, on the files all get through."""
    from pylatexenc.latexwalker import LatexWalker
    from TexSoup import TexSoup

    parsers: dict[str, Callable[[str], object]] = {
        "whycite, to sentences": _ours,
        "whycite, unsplit": _unsplit,
        "TexSoup, parse": lambda text: TexSoup(text, tolerance=1),
        "pylatexenc, parse": lambda text: LatexWalker(text, tolerant_parsing=True).get_latex_nodes(),
    }
    latex, _ = _drafts(data)
    texts = [decode(path.read_bytes())[0] for folder in latex for path in sorted(folder.rglob("*.tex"))]
    _ours("Warm.")
    runs = {name: [_attempt(parse, text) for text in texts] for name, parse in parsers.items()}
    common = [i for i in range(len(texts)) if all(run[i] is not None for run in runs.values())]
    size = sum(len(texts[i].encode()) for i in common) / 1e6
    title = f"LaTeX on {len(texts)} files; times on the {len(common)} ({size:.1f} MB) that all read"
    table = _table(title, "parser", "files read", "s", "MB/s", "of ours, unsplit", "of ours, to sentences")
    seconds = {name: sum(run[i] or 0.0 for i in common) for name, run in runs.items()}
    for name, run in runs.items():
        done = str(sum(value is not None for value in run))
        ratios = (f"{seconds[name] / seconds[ours]:.1f}" for ours in ("whycite, unsplit", "whycite, to sentences"))
        table.add_row(name, done, f"{seconds[name]:.2f}", f"{size / seconds[name]:.3f}", *ratios)
    CONSOLE.print(table)


def _ours(text: str) -> object:
    return list(LATEX.read(Source(MemoryFolder({"a.tex": text.encode()}, ""), "a.tex")))


def _unsplit(text: str) -> object:
    """The same without splitting paragraphs into sentences, which the other parsers do not do either."""
    with patch.object(builder, "split", lambda text, protected, breaks: [(0, len(text))]):
        return _ours(text)


class _OutOfPatience(BaseException):
    """Raised by the clock; no parser catches it."""


@contextmanager
def _patience() -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise _OutOfPatience

    signal.signal(signal.SIGALRM, ring)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)


def _attempt(parse: Callable[[str], object], text: str) -> float | None:
    """The seconds it took, or None where the parser failed or took too long."""
    start = time.process_time()
    with suppress(Exception, _OutOfPatience), _patience():
        parse(text)
        return time.process_time() - start
    return None


def _drafts(data: Path) -> tuple[list[Path], list[Path]]:
    index = json.loads((data / "drafts" / "index.json").read_text())
    latex = [data / "drafts" / entry["name"] for entry in index if entry["main"].endswith(".tex")]
    markdown = [
        data / "drafts" / entry["name"] / entry["main"] for entry in index if not entry["main"].endswith(".tex")
    ]
    return latex, markdown


def _unpacked_size(path: Path) -> int:
    if path.is_dir():
        return sum(p.stat().st_size for p in path.rglob("*") if p.suffix in {".tex", ".bib", ".bbl", ".sty"})
    if path.suffix == ".gz":
        with gzip.open(path) as packed:
            return len(packed.read())
    if path.suffix == ".zst":
        import zstandard

        with path.open("rb") as file:
            return len(zstandard.ZstdDecompressor().stream_reader(file).read())
    return path.stat().st_size


def _paragraphs(articles: Iterable[Document]) -> Iterator[tuple[str, list[str]]]:
    """Headings with the paragraphs under them, of several articles one after the other."""
    for article in articles:
        by_section: dict[int, dict[int, list[str]]] = {}
        for sentence in article.sentences:
            by_section.setdefault(sentence.section, {}).setdefault(sentence.paragraph, []).append(sentence.text)
        for section, paragraphs in by_section.items():
            yield article.sections[section].heading, [" ".join(texts) for texts in paragraphs.values()]


def _write_latex(articles: list[Document]) -> str:
    escape = str.maketrans({c: "\\" + c for c in "%&#_${}"})
    parts = [r"\documentclass{article}\begin{document}"]
    for heading, paragraphs in _paragraphs(articles):
        parts.append(rf"\section{{{heading.translate(escape)}}}")
        parts += [p.translate(escape).replace(". ", r"~\citep{a,b}. \emph{So} $x^2$ ", 1) + "\n" for p in paragraphs]
    return "\n".join([*parts, r"\end{document}"])


def _write_marked(heading_mark: str, cite: str) -> Callable[[list[Document]], str]:
    def write(articles: list[Document]) -> str:
        parts = []
        for heading, paragraphs in _paragraphs(articles):
            parts.append(f"{heading_mark} {heading}\n")
            parts += [p.replace(". ", f" {cite}. ", 1) + "\n" for p in paragraphs]
        return "\n".join(parts)

    return write


def _write_jats(articles: list[Document]) -> str:
    from xml.sax.saxutils import escape

    parts = ["<article><front/><body>"]
    for heading, paragraphs in _paragraphs(articles):
        parts.append(f"<sec><title>{escape(heading)}</title>")
        parts += [f"<p>{escape(p)} <xref ref-type='bibr' rid='b1'>1</xref></p>" for p in paragraphs]
        parts.append("</sec>")
    return "\n".join([*parts, "</body><back><ref-list><ref id='b1'/></ref-list></back></article>"])


def _write_bibtex(articles: list[Document]) -> str:
    return "\n".join(
        f"@article{{k{i}n{j},\n title = {{{r.title}}},\n author = {{{' and '.join(r.authors)}}},\n year = {r.year}\n}}"
        for i, article in enumerate(articles)
        for j, r in enumerate(article.references)
    )


def _write_ris(articles: list[Document]) -> str:
    lines = []
    for reference in (r for article in articles for r in article.references):
        lines += ["TY  - JOUR", f"TI  - {reference.title}", f"PY  - {reference.year}"]
        lines += [*(f"AU  - {author}" for author in reference.authors), "ER  - ", ""]
    return "\n".join(lines)


def _write_csl(articles: list[Document]) -> str:
    return json.dumps(
        [
            {"id": f"k{i}n{j}", "title": r.title, "issued": {"date-parts": [[r.year]]}, "type": "article-journal"}
            for i, article in enumerate(articles)
            for j, r in enumerate(article.references)
        ]
    )


def _write_plain(articles: list[Document]) -> str:
    references = "\n".join(f"[{i}] A. Smith. Title number {i}. Nature, 2010." for i in range(1, 60))
    return _write_marked("\n", "[3]")(articles) + "\nReferences\n\n" + references


WRITERS: dict[str, Callable[[list[Document]], str]] = {
    "latex": _write_latex,
    "markdown": _write_marked("##", "[@a; @b, p. 3] *so*"),
    "typst": _write_marked("==", "@a #cite(<b>)"),
    "plain": _write_plain,
    "jats": _write_jats,
    "bibtex": _write_bibtex,
    "ris": _write_ris,
    "csljson": _write_csl,
}


def _table(title: str, first: str, *columns: str) -> Table:
    table = Table(first, title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="right")
    return table


if __name__ == "__main__":
    main()
