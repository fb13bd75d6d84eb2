"""Which sentences need a citation? Run: python benchmarks/worthiness.py [TEST [TRAINED]].

SCOPE's table 3 on the TEST (200) newest eLife articles, baselines learned from TRAINED (1,000) older ones; then real
drafts with their citations masked, each decided by what drafts of other projects teach.
"""

import os
import subprocess
import sys
from pathlib import Path

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def main() -> None:
    """Both tables."""
    whycite = str(Path(sys.executable).with_name("whycite"))
    test, trained = (*sys.argv[1:], *("200", "1000")[len(sys.argv[1:]) :])
    articles = [option for path in sorted((DATA / "elife").glob("elife-[0-9]*.zst")) for option in ("--data", path)]
    command = [whycite, "eval", "worthiness"]
    subprocess.run([*command, *articles, "--test", test, "--trained", trained], check=True)
    subprocess.run([*command, "--drafts", DATA / "drafts"], check=True)


if __name__ == "__main__":
    main()
