"""`whycite demo`: see it work on a small draft that comes with the package."""

from __future__ import annotations

__all__ = ["demo"]


def demo() -> None:
    """Read a small LaTeX draft that comes with whycite and show what is seen of it."""
    from importlib.resources import as_file, files

    from rich.console import Console

    from whycite.cli.read import read
    from whycite.cli.structure import structure

    console = Console(highlight=False)
    with as_file(files("whycite.demo")) as folder:
        draft = str(folder / "draft.tex")
        console.rule("whycite read draft.tex: two LaTeX files and a .bib, as one document")
        read(draft)
        console.rule("whycite structure draft.tex: which sections it has, which templates it follows")
        structure([draft])
    console.print(f"\nThe draft is {draft}. Now try your own: whycite read FILE", soft_wrap=True)
