"""How fast does the language server answer, and what does it hold in memory? Run: python benchmarks/lsp.py [ARTICLES].

A real server over standard input and output, started cold with an empty cache, on a library of so many eLife articles
(200 give some 20,000 spans): a LaTeX draft of 200 sentences of newer articles, first with a small bibliography, then
with 14,000 entries, and that again with `--server`, where a `whycite serve` has the models. Times are those that an
editor sees, without the pause for typing (0.3 s), and behind them the processor time of the language server, which
hardly depends on what else the machine does.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

from lsprotocol import types

from whycite.documents import stream
from whycite.documents.model import Document
from whycite.library import add_documents

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.lsp.editor import CAPABILITIES, Editor

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SENTENCES = 200
ENTRIES = 14_000
_REPETITIONS = 5
_WORDS = "sleep bees attention network granite bridge mite virus colony whale herring tail school fish cortex".split()


def articles(first: int, number: int) -> list[Document]:
    """Some of the eLife articles, the newest first."""
    files = sorted((DATA / "elife").glob("elife-[0-9]*.jsonl.zst"))
    return list(islice(chain.from_iterable(map(stream, files)), first, first + number))


def write_draft(folder: Path, entries: int) -> Path:
    """A draft of sentences without citations, but for one, and a bibliography of so many entries."""
    lines: list[str] = []
    for document in articles(0, 4):
        for sentence in document.sentences:
            if sentence.kind == "prose" and len(lines) < SENTENCES:
                text = sentence.without_citations()
                lines.append("".join(f"\\{sign}" if sign in "%&$#_{}" else sign for sign in text if sign != "\\"))
    body = "\n".join(line + "\n" * (number % 5 == 4) for number, line in enumerate(lines))
    folder.mkdir()
    (folder / "main.tex").write_text(
        "\\documentclass{article}\n\\begin{document}\n\\section{Introduction}\nBees sleep~\\cite{key5}.\n"
        f"{body}\n\\bibliography{{refs}}\n\\end{{document}}\n",
        "utf-8",
    )
    (folder / "refs.bib").write_text("".join(_entry(number) for number in range(entries)), "utf-8")
    return folder / "main.tex"


def _entry(number: int) -> str:
    title = " ".join(_WORDS[(number * step) % len(_WORDS)] for step in range(1, 9))
    return (
        f"@article{{key{number},\n  author = {{Doe{number}, Jane}},\n  title = {{{title.title()} {number}}},\n"
        f"  year = {{{1950 + number % 70}}},\n  journal = {{Journal of Things}},\n}}\n\n"
    )


def memory(process: int) -> float:
    """The resident memory of a process in MB."""
    [line] = [line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1000


def processor_time(process: int) -> float:
    """The seconds that a process has computed."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(library: Path) -> Iterator[str]:
    """A `whycite serve` with a library, and its address."""
    command = [sys.executable, "-m", "whycite", "serve", "--port", "0", "--no-browser", "--no-token"]
    server = subprocess.Popen([*command, "--library", str(library)], stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        yield server.stderr.readline().split(" at ")[1].split("/ (")[0]
    finally:
        server.terminate()
        server.wait()


async def measure(draft: Path, library: Path, *options: str) -> None:
    """Open a draft, edit it and ask about it."""
    editor = Editor()
    await editor.start_io(sys.executable, "-m", "whycite", "lsp", "--library", str(library), *options)
    process: Any = editor._server
    start = time.perf_counter()
    await editor.initialize_async(types.InitializeParams(CAPABILITIES, initialization_options={"debounce": 0.0}))
    editor.initialized(types.InitializedParams())
    editor.open(draft)
    found = await editor.diagnostics(draft)
    show("first diagnostics, cold", [time.perf_counter() - start], [processor_time(process.pid)])
    await editor.diagnostics(draft, 2)
    show("with papers, cold", [time.perf_counter() - start])
    text = editor.texts[draft]

    async def edit(number: int) -> None:
        place = text.index("\n", len(text) * (number + 1) // (_REPETITIONS + 2))
        editor.change(draft, f"{text[:place]} Many studies have shown that bees sleep {number} hours.{text[place:]}")
        await editor.diagnostics(draft)

    async def complete(number: int) -> None:
        start_of_cite = text.index("~\\cite{")
        editor.change(draft, f"{text[:start_of_cite]} at night {number}~\\cite{{{text[start_of_cite:]}")
        place = editor.cursor(draft, f"at night {number}~\\cite{{", after=True)
        await editor.text_document_completion_async(types.CompletionParams(**place))

    async def hover(number: int) -> None:
        await editor.text_document_hover_async(types.HoverParams(**editor.cursor(draft, "key5")))

    async def act(number: int) -> None:
        actions = await editor.actions(draft, found_text)
        first = next(action for title, action in actions.items() if title.startswith("Cite "))
        await editor.code_action_resolve_async(first)

    places = found[0].range.start
    found_text = text.split("\n")[places.line][places.character : places.character + 40]
    show("diagnostics after an edit", *await timed(edit, process.pid))
    show("completion", *await timed(complete, process.pid))
    editor.change(draft, text)
    await editor.diagnostics(draft)
    show("hover", *await timed(hover, process.pid))
    show("action, with its edit", *await timed(act, process.pid))
    await asyncio.sleep(2)
    print(f"  {'memory at rest':<28}{memory(process.pid):>8.0f} MB", flush=True)
    await editor.shutdown_async(None)
    editor.exit(None)
    await editor.stop()  # type: ignore[no-untyped-call]


async def timed(ask: Callable[[int], Awaitable[None]], process: int) -> tuple[list[float], list[float]]:
    """The seconds that each of some questions took, and those that a process computed meanwhile."""
    seconds, computed = [], []
    for number in range(_REPETITIONS):
        start, before = time.perf_counter(), processor_time(process)
        await ask(number)
        seconds.append(time.perf_counter() - start)
        computed.append(processor_time(process) - before)
    return seconds, computed


def show(name: str, seconds: list[float], computed: Sequence[float] = ()) -> None:
    most = f"   (at most {max(seconds):.2f} s)" if len(seconds) > 1 else ""
    processor = f", processor {statistics.median(computed):.2f} s" if computed else ""
    processor += f" (at most {max(computed):.2f} s)" if len(computed) > 1 else ""
    print(f"  {name:<28}{statistics.median(seconds):>8.2f} s{most}{processor}", flush=True)


def main() -> None:
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library"
        report = add_documents(library, articles(100, number))
        print(f"A library of {report.added:,} articles, {report.spans:,} spans; load {os.getloadavg()[0]:.1f}")
        for entries in (100, ENTRIES):
            os.environ["WHYCITE_CACHE"] = str(Path(folder) / f"cache {entries}")  # nothing is remembered from before
            print(f"A draft of {SENTENCES} sentences, {entries:,} entries", flush=True)
            asyncio.run(measure(write_draft(Path(folder) / f"draft {entries}", entries), library))
        os.environ["WHYCITE_CACHE"] = str(Path(folder) / "cache of the server")
        with serving(library) as address:
            print(f"The same with --server {address}", flush=True)
            asyncio.run(measure(Path(folder) / f"draft {ENTRIES}" / "main.tex", library, "--server", address))


if __name__ == "__main__":
    main()
