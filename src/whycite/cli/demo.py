"""`whycite demo`: see it work on real articles."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from whycite.cli.options import AsJson
from whycite.cli.terminal import count, print_json, say
from whycite.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from whycite.library import Library

__all__ = ["demo"]

CLAIMS = (
    "Killer whales stun fish with blows of their tails.",
    "Honeybee colonies collapse when mites spread viruses among the bees.",
    "Keeping the mind busy in old age may protect against dementia.",
)
SAID = "Thresher sharks stun several fish with one slap of the tail."
ABOUT = "10.1371/journal.pone.0067380"  # the article that should say so
_PAPERS = 2  # shown for a claim
_PASSAGES = 3
_NEXT = """\
Now with your own papers (PDF, LaTeX, JATS, TEI, Markdown, …):
  {whycite} add FOLDER
  {whycite} cite "a claim that needs a citation"
  {whycite} check YOUR-DRAFT.tex
  {whycite} verify --claim "what it is cited for" PAPER.pdf
All of it in your browser, on the library of this demo:
  {whycite} serve --library {library}"""


def demo(as_json: AsJson = False) -> None:
    """Make a library of articles of the Public Library of Science, then cite, check a draft and verify a claim."""
    from rich.console import Console

    from whycite.cli import answers
    from whycite.demo.corpus import articles, licences
    from whycite.recommend import Claim, as_dict, method

    found = articles()
    console = Console(highlight=False, quiet=as_json)
    kinds = ", ".join(f"{number} {licence}" for licence, number in licences(found).most_common())
    _step(console, f"Papers: {len(found)} articles of the Public Library of Science, from the package allofplos")
    say(console, f"Licences: {kinds}.")
    _step(console, "whycite add allofplos/starter_corpus")
    library = _library(found, console)
    recommender = method("whycite", library)
    for claim in CLAIMS:
        answer = recommender.recommend(Claim(claim), _PAPERS)
        _step(console, f'whycite cite "{claim}" -n {_PAPERS}')
        answers.show(answer, claim, console, spans=1)
        if as_json:
            print_json({"text": claim, "recommendations": [as_dict(paper) for paper in answer]})
    _check(library, console, as_json)
    _verify(found, console, as_json)
    _step(console, "What next")
    say(console, _NEXT.format(whycite=_command(), library=shlex.quote(str(library.path))))
    say(console, f"This library is in {library.path}; delete the folder when you have seen enough.")


def _check(library: Library, console: Console, as_json: bool) -> None:
    """Where the draft that comes with the demo lacks citations."""
    from importlib.resources import as_file, files

    from whycite.check import as_dict, check
    from whycite.cli import findings

    with as_file(files("whycite.demo").joinpath("seminar.tex")) as draft:
        checked = check(draft, library, n=_PAPERS)
        _step(console, f"whycite check {_from_here(str(draft))} -n {_PAPERS}")
        findings.show([checked], console)
    if as_json:
        print_json(as_dict(checked))


def _verify(articles: Sequence[Path], console: Console, as_json: bool) -> None:
    """Whether an article says what it is cited for, and where."""
    from whycite.cli import verdicts
    from whycite.verify import as_dict, verify

    article = next((path for path in articles if ABOUT.partition("/")[2] in path.name), articles[0])
    found = verify(SAID, article)
    _step(console, f'whycite verify --claim "{SAID}" {article.name} -n {_PASSAGES}')
    verdicts.show(found, console, _PASSAGES)
    if as_json:
        print_json(as_dict(found))


def _library(articles: Sequence[Path], console: Console) -> Library:
    """The demo's own library: made the first time, then there."""
    from whycite.cli.add import summary
    from whycite.cli.progress import add_shown
    from whycite.encoders import load
    from whycite.encoders.cache import cache_folder
    from whycite.library import Library
    from whycite.library.schema import SCHEMA

    # A whycite that stores or encodes in another way makes another one.
    path = cache_folder() / f"demo-{SCHEMA}-{load().name}"
    if _documents(path) < len(articles):
        say(console, "The first time this takes a minute or two.")
        report = add_shown(path, articles)
        say(console, summary(report, Library.open(path).info()))
    else:
        say(console, f"{count(_documents(path), 'document')} are there since the first time.")
    return Library.open(path)


def _documents(path: Path) -> int:
    from whycite.library import Library

    try:
        return Library.open(path).info().documents
    except UserError:  # none yet, or none that can be used: then adding says so
        return 0


def _command() -> str:
    """What to type for whycite: its name, or where that is not found its path."""
    beside = shutil.which("whycite", path=Path(sys.executable).parent)
    return "whycite" if shutil.which("whycite") or not beside else _from_here(beside)


def _from_here(path: str) -> str:
    """A path as it can be typed, short where it is in a folder below."""
    here, folder = Path.cwd(), Path(path).parent
    below = folder != here and folder.is_relative_to(here)  # a name alone is no path to a command
    return shlex.quote(str(Path(path).relative_to(here)) if below else path)


def _step(console: Console, title: str) -> None:
    from rich.text import Text

    console.print()
    console.print(Text(f"▸ {title}", style="bold"), soft_wrap=True)
