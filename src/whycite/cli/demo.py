"""`whycite demo`: see it work on a small draft that comes with the package."""

from __future__ import annotations

__all__ = ["demo"]


def demo() -> None:
    """Read a small LaTeX draft that comes with whycite and show what is seen of it."""
    from contextlib import chdir
    from importlib.resources import as_file, files

    from rich.console import Console

    from whycite.cli.read import read
    from whycite.cli.structure import structure

    console = Console(highlight=False)
    with as_file(files("whycite.demo")) as folder, chdir(folder):
        console.rule("whycite read draft.tex")
        read("draft.tex")
        console.rule("whycite structure draft.tex")
        structure(["draft.tex"])
    console.print(f"\nThe draft is in {folder}. Now try your own: whycite read FILE", soft_wrap=True)
