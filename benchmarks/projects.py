"""How long until a reviewer sees the verdicts on a manuscript? Run: python benchmarks/projects.py [FOLDER OF PDFS].

The manuscript cites each paper six times, with sentences of that paper in which "we" became "they". Beside seconds on
the clock stand those of the processor (server and its processes), which say the same on a busy machine.
"""

import os
import re
import sys
import tempfile
import time
from pathlib import Path

import httpx

from whycite import read

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.serve import DATA, running_server

CITATIONS = 6  # of each paper
QUIET = 20.0  # seconds in which the server loads its models


def main() -> None:
    """Print one table."""
    papers = sorted((Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / "pdf").glob("*.pdf"))
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"WHYCITE_PROJECTS": f"{folder}/projects", "WHYCITE_CACHE": f"{folder}/cache"}
        draft = _manuscript(papers)
        with running_server(Path(folder) / "library") as (process, address, _):
            time.sleep(QUIET)
            _print_run(address, process.pid, draft, papers)
            _print_claims(address, process.pid, papers[0])
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def _manuscript(papers: list[Path]) -> bytes:
    """A draft in Markdown whose citations follow each other as in a related-work section."""
    documents = [read(path) for path in papers]
    entries = [
        f"- {{id: p{number}, title: {document.paper.title!r}, issued: {document.paper.year or 2000}}}"
        for number, document in enumerate(documents)
    ]
    sentences = []
    for place in range(CITATIONS):
        for number, document in enumerate(documents):
            own = [s.text for s in document.sentences if 60 < len(s.text) < 180 and s.kind == "prose" and not s.cites]
            text = re.sub(r"[\[\]@*_`<>$\\]", " ", own[len(own) // (CITATIONS + 1) * (place + 1)]).rstrip(". ")
            sentences.append(re.sub(r"\b[Ww]e\b", "they", text) + f" [@p{number}].")
    head = "---\ntitle: A manuscript\nreferences:\n" + "\n".join(entries) + "\n---\n# Introduction\n\n"
    return (head + "\n".join(sentences)).encode()


def _print_run(address: str, pid: int, draft: bytes, papers: list[Path]) -> None:
    sent = [("draft", ("draft.md", draft)), *(("papers", (path.name, path.read_bytes())) for path in papers)]
    begun, processor = time.perf_counter(), _processor_seconds(pid)
    id = httpx.post(f"{address}/api/projects", files=sent, timeout=600).json()["id"]
    first = None
    while True:
        progress = httpx.get(f"{address}/api/projects/{id}/progress", timeout=60).json()
        now = time.perf_counter() - begun, _processor_seconds(pid) - processor
        if progress["verdicts"] and first is None:
            first = now
        if progress["state"] != "running":
            break
        time.sleep(0.2)
    print(f"{len(progress['verdicts'])} citations of {len(papers)} papers: {progress['state']}")
    print(f"{'':<36}{'clock, s':>12}{'processor, s':>14}")
    for name, (clock, used) in (("first verdict", first or now), ("all verdicts", now)):
        print(f"{name:<36}{clock:>12.1f}{used:>14.1f}")


def _print_claims(address: str, pid: int, paper: Path) -> None:
    """What further claims on one paper cost."""
    claims = (
        "The method is better than others.",
        "The data are larger than before.",
        "The data are larger than before.",
    )
    for name, claim in zip(("first claim on a PDF", "second claim", "the same claim again"), claims, strict=True):
        begun, processor = time.perf_counter(), _processor_seconds(pid)
        sent = [("files", (paper.name, paper.read_bytes()))]
        httpx.post(f"{address}/api/verify", data={"claim": claim}, files=sent, timeout=600).raise_for_status()
        print(f"{name:<36}{time.perf_counter() - begun:>12.2f}{_processor_seconds(pid) - processor:>14.2f}")


def _processor_seconds(pid: int) -> float:
    """Of a process and those that it started."""
    total = 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if pid in (int(folder.name), int(fields[1])):
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


if __name__ == "__main__":
    main()
