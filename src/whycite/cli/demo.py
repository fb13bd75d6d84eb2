"""`whycite demo`: try whycite on real articles."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from whycite.cli.terminal import AsJson, count, print_json, say
from whycite.errors import UserError
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from whycite.library import Library

__all__ = ["demo", "shell_command"]

CLAIMS = (
    "Killer whales stun fish with blows of their tails.",
    "Honeybee colonies collapse when mites spread viruses among the bees.",
    "Keeping the mind busy in old age may protect against dementia.",
)
VERIFIED_CLAIM = "A third of the overhead tail-slaps of thresher sharks were successful."
CITED_DOI = "10.1371/journal.pone.0067380"  # the article it cites
_PAPERS = 2  # per claim
_PASSAGES = 3
_NEXT = """\
Try it with your own papers (PDF, LaTeX, JATS, TEI, Markdown, …):
  {whycite} add FOLDER
  {whycite} cite "a claim that needs a citation"
  {whycite} check YOUR-DRAFT.tex
  {whycite} verify --claim "what it is cited for" PAPER.pdf
Or explore the library of this demo in your browser:
  {whycite} serve --library {library}"""


def demo(as_json: AsJson = False) -> None:
    """Build a library from articles of the Public Library of Science, then cite, check and verify with it."""
    from rich.console import Console

    from whycite.cite.recommendations import Claim, answer_fits, answer_json, load_method
    from whycite.cli import results
    from whycite.demo import articles, licences

    article_paths = articles()
    console = Console(highlight=False, quiet=as_json)
    kinds = ", ".join(f"{number} {licence}" for licence, number in licences(article_paths).most_common())
    _print_step(console, f"Papers: {len(article_paths)} articles of the Public Library of Science (package allofplos)")
    say(console, f"Licences: {kinds}.")
    _print_step(console, "whycite add allofplos/starter_corpus")
    library = _open_library(article_paths, console)
    recommender = load_method("whycite", library)
    for claim in CLAIMS:
        answer = recommender.recommend(Claim(claim), _PAPERS)
        _print_step(console, f'whycite cite "{claim}" -n {_PAPERS}')
        results.show_recommendations(answer, claim, console, spans=1, fits=answer_fits(answer))
        if as_json:
            print_json({"text": claim, **answer_json(answer)})
    _check(library, console, as_json)
    _verify(article_paths, console, as_json)
    _print_step(console, "Next steps")
    say(console, _NEXT.format(whycite=shell_command(), library=shlex.quote(str(library.path))))
    say(console, f"The demo library is in {library.path}; delete this folder when you no longer need it.")


def _check(library: Library, console: Console, as_json: bool) -> None:
    """Check the draft that comes with the demo."""
    from importlib.resources import as_file, files

    from whycite.check.findings import checked_draft_json
    from whycite.check.pipeline import check_draft
    from whycite.cli import results

    with as_file(files("whycite.demo").joinpath("seminar.tex")) as draft:
        checked = check_draft(draft, library, n=_PAPERS)
        _print_step(console, f"whycite check {_short_path(str(draft))} -n {_PAPERS}")
        results.show_findings([checked], console)
    if as_json:
        print_json(checked_draft_json(checked))


def _verify(articles: Sequence[Path], console: Console, as_json: bool) -> None:
    """Check whether an article says what it is cited for."""
    from whycite.cli import results
    from whycite.verify.claims import verify_claim
    from whycite.verify.verification import verification_json

    article = next((path for path in articles if CITED_DOI.partition("/")[2] in path.name), articles[0])
    verification = verify_claim(VERIFIED_CLAIM, article)
    _print_step(console, f'whycite verify --claim "{VERIFIED_CLAIM}" {article.name} -n {_PASSAGES}')
    results.show_verification(verification, console, _PASSAGES)
    if as_json:
        print_json(verification_json(verification))


def _open_library(articles: Sequence[Path], console: Console) -> Library:
    """Open the demo's library, which is built on the first run."""
    from whycite.cli.add import summary
    from whycite.cli.progress import add_with_progress
    from whycite.library import Library
    from whycite.library.tables import SCHEMA
    from whycite.models import load_encoder
    from whycite.models.cache import cache_folder

    # A version of whycite with another schema or encoder gets its own library.
    path = cache_folder() / f"demo-{SCHEMA}-{load_encoder().name}"
    if _document_count(path) < len(articles):
        say(console, "The first run takes a minute or two.")
        report = add_with_progress(path, articles)
        say(console, summary(report, Library.open(path).info()))
    else:
        say(console, f"Using the {count(_document_count(path), 'document')} added by an earlier run.")
    return Library.open(path)


def _document_count(path: Path) -> int:
    from whycite.library import Library

    try:
        return Library.open(path).info().documents
    except UserError:  # missing or unusable; adding will report why
        return 0


def shell_command() -> str:
    """How to call whycite: by name if it is on the PATH, else by path."""
    script = shutil.which("whycite", path=Path(sys.executable).parent)
    return "whycite" if shutil.which("whycite") or not script else _short_path(script)


def _short_path(path: str) -> str:
    """A path that can be pasted into a shell."""
    below = Path(path).parent != Path.cwd()  # a name alone would be looked up on the PATH
    return shlex.quote(shorten_paths(path) if below else path)


def _print_step(console: Console, title: str) -> None:
    from rich.text import Text

    console.print()
    console.print(Text(f"▸ {title}", style="bold"), soft_wrap=True)
