"""Does any paper fit? Chances for masked citations of real drafts, and for claims on libraries.

    python benchmarks/fits.py [DATA] [--work DIR] [--write]

prints how often `whycite check` says that nothing fits where the true entry is there and where it was taken away, and
how often `--fix` is right; each draft is measured with all weights and bars fitted to the drafts of others. Then the
same for `whycite cite` on three subjects of eLife, each with weights fitted to the other two, and what becomes of the
chances when a library grows. `--write` stores the weights fitted to everything in src/whycite/cite/data/fit.toml.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import whycite
from whycite.cite import fit
from whycite.cite.evidence_sum import EvidenceSum
from whycite.cite.recommendations import DEFAULT_METHOD, Claim, answer_fits, load_method
from whycite.documents import stream
from whycite.lab.evaluate.comparison import draw
from whycite.lab.evaluate.topics import parse_topics
from whycite.lab.ilciter.workspace import PreparedTopic, prepare
from whycite.lab.train.fitweights import (
    SHOWN,
    FitCase,
    FitFigures,
    cross_fit,
    draft_cases,
    figures,
    fit_bar,
    fit_insertion,
    fit_weights,
    library_cases,
    move_bar,
    write_weights,
)
from whycite.library import Library, add_documents
from whycite.library.encoding import encoder_of
from whycite.models import load_encoder
from whycite.models.cache import CachedEncoder
from whycite.structure import label

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
ARTICLES = [f"elife-0{number}.jsonl.zst" for number in range(4)]
TOPICS = "Developmental Biology,Immunology,Cell Biology"
HELD_OUT = 30  # articles of each subject whose claims are asked
ANSWERABLE, UNANSWERABLE = 300, 150  # claims of each subject, at most
MORE_ARTICLES, GROWTH_ARTICLES, GROWTH_CLAIMS = "elife-05.jsonl.zst", 100, 200
ROUNDING = 1e-6  # smaller changes are none
MAX_ENTRIES = 2_000  # of a bibliography; a longer one is a collection
SHARE_BAR = 0.3  # of the baseline


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, nargs="?", default=DATA, help="folder with drafts/ and elife/")
    parser.add_argument("--work", type=Path, help="folder for the libraries, which take minutes to make")
    parser.add_argument("--write", action="store_true", help="store the weights")
    options = parser.parse_args()
    if not (options.data / "drafts").is_dir():
        sys.exit(f"no drafts in {options.data}: name the folder of the data, or set WHYCITE_DATA")
    drafts = _draft_cases(options.data / "drafts")
    print(f"{'':48}{'claims':>8}{'in first 3':>12}{'nothing fits':>14}{'taken away':>12}{'inserted':>10}{'right':>8}")
    _print_row("drafts, masked citations, projects left out", cross_fit(drafts))
    _print_row(f"the same by share, bar {SHARE_BAR}", _share_figures(drafts))
    prepared = _prepare(options.data / "elife", options.work)
    topics = {
        topic.topic: (_claims(topic, ANSWERABLE, True), _claims(topic, UNANSWERABLE, False)) for topic in prepared
    }
    for name, (answerable, unanswerable) in topics.items():
        others = [case for other, cases in topics.items() if other != name for part in cases for case in part]
        weights = fit_weights(others)
        _print_row(f"{name}, claims with a paper", figures(answerable, weights, fit_bar(others, weights)))
        _print_row(f"{name}, claims without one", figures(unanswerable, weights, fit_bar(others, weights)))
    _print_growth(prepared[0], options.data / "elife" / MORE_ARTICLES)
    if options.write:
        libraries = [case for cases in topics.values() for part in cases for case in part]
        bibliography, library = fit_weights(drafts), fit_weights(libraries)
        bar = fit_bar(drafts, bibliography)
        library = move_bar(library, fit_bar(libraries, library), bar)
        file = Path(fit.__file__).parent / "data" / "fit.toml"
        insertion = fit_insertion(drafts, bibliography)
        write_weights(file, bibliography, library, bar, insertion, "python benchmarks/fits.py --write")


def _draft_cases(folder: Path) -> list[FitCase]:
    documents = [(path.name, whycite.read(path)) for path in sorted(folder.iterdir()) if path.is_dir()]
    readable = [
        (name, document)
        for name, document in documents
        if document.format in ("latex", "markdown") and 0 < len(document.references) <= MAX_ENTRIES
    ]
    return draft_cases(readable, CachedEncoder(load_encoder()))


def _prepare(folder: Path, work: Path | None) -> list[PreparedTopic]:
    paths = [folder / name for name in ARTICLES]
    prepared, _ = prepare(paths, parse_topics(TOPICS), HELD_OUT, work, 1, lambda stage, count, total: None)
    return prepared


def _print_growth(topic: PreparedTopic, file: Path) -> None:
    """Print how the chances of claims change when articles on other subjects are added to a library."""
    claims = [Claim(case.text) for case in draw(topic.claims.cases, lambda case: case.id, GROWTH_CLAIMS, 0)]
    with TemporaryDirectory() as folder:
        library = Path(folder) / "library"
        copytree(topic.library, library)
        before = [
            answer_fits(load_method(DEFAULT_METHOD, Library.open(library)).recommend(claim)) or 0.0 for claim in claims
        ]
        add_documents(library, map(label, islice(stream(file), GROWTH_ARTICLES)), jobs=1)
        after = [
            answer_fits(load_method(DEFAULT_METHOD, Library.open(library)).recommend(claim)) or 0.0 for claim in claims
        ]
    changes = [new - old for old, new in zip(before, after, strict=True)]
    better, worse = sum(change > ROUNDING for change in changes), sum(change < -ROUNDING for change in changes)
    silenced = sum(new < fit.BAR <= old for old, new in zip(before, after, strict=True))
    print(
        f"{topic.topic} with {GROWTH_ARTICLES} articles more: of {len(claims)} claims {better} fit better and {worse} "
        f"worse, by {max(0.0, -min(changes)):.2f} at most; {silenced} that fitted no longer do"
    )


def _claims(topic: PreparedTopic, number: int, answerable: bool) -> list[FitCase]:
    library = Library.open(topic.library)
    method = EvidenceSum(library, encoder_of(library.encoder, library.path))
    cases = [case for case in topic.claims.cases if bool(case.truth) == answerable]
    return library_cases(method, draw(cases, lambda case: case.id, number, 0), topic.topic)


def _share_figures(cases: Sequence[FitCase]) -> FitFigures:
    """What the share of the best candidate would decide, as a baseline."""
    total = FitFigures()
    for case in cases:
        present, absent = case.first(), case.without_true().first()
        is_shown, is_clear = bool(present.true[:SHOWN].any()), bool(present.signs) and present.share >= SHARE_BAR
        total += FitFigures(
            claims=1,
            shown=is_shown,
            shown_silent=is_shown and not is_clear,
            without_silent=not absent.signs or absent.share < SHARE_BAR,
            inserted=is_clear,
            right=is_clear and bool(present.true[0]),
        )
    return total


def _print_row(name: str, row: FitFigures) -> None:
    shown = f"{row.shown_silent / row.shown:.1%}" if row.shown else ""
    inserted = f"{row.inserted / row.claims:.1%}" if row.inserted else ""
    right = f"{row.right / row.inserted:.1%}" if row.inserted else ""
    away = f"{row.without_silent / row.claims:.1%}"
    print(f"{name:48}{row.claims:>8}{row.shown:>12}{shown:>14}{away:>12}{inserted:>10}{right:>8}", flush=True)


if __name__ == "__main__":
    main()
