"""Which model finds the sentences that back a claim? Run: python benchmarks/passages.py [OPTIONS OF eval passages]."""

import os
import sys
from pathlib import Path

import typer

from whycite.lab.cli.evaluate_passages import passages

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SETS = ("clscisumm", "scifact", "citint")


def main() -> None:
    folders = [DATA / name for name in SETS if (DATA / name).is_dir()]
    if not folders:
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(passages)
    app([argument for folder in folders for argument in ("--data", str(folder))] + sys.argv[1:])


if __name__ == "__main__":
    main()
