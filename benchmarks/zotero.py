"""How long does a Zotero library take, the first time and again? Run: python benchmarks/zotero.py [ITEMS]."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.sources.zoterofolder import ZoteroFolder

ITEMS = 5_000


def measure(step: str, folder: Path) -> None:
    """Print the seconds that the command takes, its start included."""
    command = [sys.executable, "-m", "whycite", "add", "--zotero", str(folder / "Zotero")]
    start, before = time.perf_counter(), os.times()
    subprocess.run([*command, "--library", str(folder / "library")], check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, os.times()
    processor = sum(getattr(after, name) - getattr(before, name) for name in ("children_user", "children_system"))
    print(f"| {step} | {wall:.1f} | {processor:.1f} |")


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else ITEMS
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        zotero = ZoteroFolder(folder / "Zotero")
        zotero.fill(number)
        print(f"{number:,} items without files; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
        print("| | seconds | of the processor |\n| --- | --- | --- |")
        measure("first time", folder)
        for _ in range(2):
            measure("again, nothing changed", folder)
        zotero.set(1_234, "title", "On the sleep of bees that were moved")
        zotero.item(title="Busy bees need rest, too", DOI="10.1/bees")
        measure("again, one changed and one new", folder)
        zotero.close()


if __name__ == "__main__":
    main()
