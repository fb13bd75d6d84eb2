"""What does a Ray cluster cost beside plain `add` on the same cores? Run: python benchmarks/cluster.py [ARTICLES]."""

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import zstandard

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
PROGRAM = Path(sys.executable).with_name("whycite")
CORES = 2
TICKS = os.sysconf("SC_CLK_TCK")
BECOME_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: processes whose parent ends stay below this one


def write_articles(folder: Path, number: int) -> None:
    """Articles of eLife, a file each."""
    written = 0
    for pack in sorted((DATA / "elife").glob("elife-[0-9]*.jsonl.zst")):
        with zstandard.open(pack, "rt", encoding="utf-8") as lines:
            for line in lines:
                if written == number:
                    return
                (folder / f"{written:05}.jsonl").write_text(line, encoding="utf-8")
                written += 1


def processor_seconds(arguments: list[str], cache: Path) -> float:
    """The processor time of a command and of all processes that it starts, seen every fifth of a second."""
    spent: dict[tuple[int, int], int] = {}
    environment = os.environ | {"WHYCITE_CACHE": str(cache)}
    command = subprocess.Popen([str(PROGRAM), *arguments], env=environment, stdout=subprocess.DEVNULL)
    while command.poll() is None:
        spent |= ticks_below(os.getpid())
        time.sleep(0.2)
    if command.returncode:
        sys.exit(f"whycite {' '.join(arguments)} failed")
    return sum(spent.values()) / TICKS


def ticks_below(root: int) -> dict[tuple[int, int], int]:
    """The processor time of each process below one, by its id and start."""
    parents, ticks = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            fields = (place / "stat").read_text().rpartition(") ")[2].split()
        except OSError:  # it has ended
            continue
        process = int(place.name)
        parents[process] = int(fields[1])
        ticks[process] = (int(fields[19]), int(fields[11]) + int(fields[12]))
    below = {root}
    grown = True
    while grown:
        new = {process for process, parent in parents.items() if parent in below} - below
        below |= new
        grown = bool(new)
    return {(process, ticks[process][0]): ticks[process][1] for process in below - {root} if process in ticks}


def main() -> None:
    """Add the same articles both ways, each with an empty cache."""
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    ctypes.CDLL(None).prctl(BECOME_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "papers").mkdir()
        write_articles(folder / "papers", number)
        plain, cluster = (
            processor_seconds(
                ["add", str(folder / "papers"), "--library", str(folder / name), "--jobs", str(CORES), *options],
                folder / f"cache-{name}",
            )
            for name, options in (("plain", []), ("cluster", ["--ray", "local"]))
        )
    print(f"{number:,} eLife articles, a file each, {CORES} cores; seconds of the processor, of all processes")
    print(f"plain {plain:.1f}, --ray local {cluster:.1f}: {cluster / plain - 1:+.0%}")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
