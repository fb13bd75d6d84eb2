"""What do a draft's bibliography and a library find together? Run: python benchmarks/merging.py LIBRARY DATA [NUMBER].

The first articles of DATA that the library does not hold are drafts, 20 unless told otherwise. Eight citing sentences
of each are asked about as if they cited nothing. For half of them what they cite is taken out of the bibliography, as
if the writer did not know it yet: of these those are left whose papers the library has. MRR of the bibliography alone,
of the library alone, of both by places (reciprocal rank fusion) and of both as `whycite check` merges them, with its
number for when a library's paper is as likely as the best entry, and with others.
"""

import random
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from whycite.check import proposals
from whycite.check.findings import Proposal
from whycite.check.memory import CachedLibrary, Memory
from whycite.documents import Document, stream
from whycite.library import Library
from whycite.models import load_encoder
from whycite.models.cache import CachedEncoder

SENTENCES = 8
MOST = 20
EVENS = (3.0, 4.0, 6.0, 7.0)
STEADY = 2  # of reciprocal rank fusion, as it was used before


@dataclass(frozen=True)
class Case:
    """A sentence, by its place in a draft, and what it cites: keys of the bibliography, and of the library's papers."""

    document: Document
    at: int
    cited: frozenset[str]
    known: bool  # whether the bibliography has it


def cases(documents: Iterable[Document], library: Library) -> list[Case]:
    """Sentences that cite something which can be found."""
    chance, found = random.Random(0), []
    for document in documents:
        entries = {reference.id: reference for reference in document.references}
        citing = {
            at: [key for citation in sentence.citations for key in citation.keys if key in entries]
            for at, sentence in enumerate(document.sentences)
        }
        chosen = [at for at, keys in citing.items() if keys]
        chance.shuffle(chosen)
        for number, at in enumerate(chosen[:SENTENCES]):
            keys = citing[at]
            if number % 2:
                found.append(Case(document, at, frozenset(keys), known=True))
            elif papers := [key for key in library.find([entries[key] for key in keys]) if key]:
                kept = tuple(each for each in document.references if each.id not in keys)
                found.append(Case(replace(document, references=kept), at, frozenset(papers), known=False))
    return found


def rightly(case: Case, proposals: Iterable[Proposal]) -> list[bool]:
    """Which of the proposals are right."""
    return [(one.key if case.known else one.recommendation.paper.key) in case.cited for one in proposals]


def by_places(own: Iterable[Proposal], library: Iterable[Proposal]) -> list[Proposal]:
    """Both by reciprocal rank fusion."""
    points: dict[str, float] = {}
    papers: dict[str, Proposal] = {}
    for ranked in (own, library):
        for place, one in enumerate(ranked, 1):
            name = one.key if one.in_bibliography else one.recommendation.paper.key
            points[name] = points.get(name, 0.0) + 1 / (STEADY + place)
            papers.setdefault(name, one)
    return [papers[name] for name in sorted(papers, key=lambda name: (-points[name], name))]


def main() -> None:
    """Print one table."""
    if len(sys.argv) < 3:
        print(__doc__)
        return
    library, number = Library.open(sys.argv[1]), int(sys.argv[3]) if len(sys.argv) > 3 else 20
    held = {entry.key for entry in library.documents()}
    drafts = (each for each in stream(Path(sys.argv[2])) if each.paper.doi and f"doi:{each.paper.doi}" not in held)
    asked = cases(islice(drafts, number), library)
    encoder = CachedEncoder(load_encoder())
    print(f"{len(asked)} sentences, {sum(case.known for case in asked)} of them cite what the bibliography has")
    print(f"{'MRR (right first)':<44}{'in the bibliography':>22}{'in the library alone':>22}")
    with tempfile.TemporaryDirectory() as folder:
        shelf = CachedLibrary(library, Memory(Path(folder) / "memory.sqlite"))

        def found(used: CachedLibrary | None, bibliography: bool = True) -> list[Sequence[Proposal]]:
            return [
                proposals.propose(
                    case.document, [case.at], encoder, used, MOST, masked=True, bibliography=bibliography
                ).by_sentence.get(case.at, ())
                for case in asked
            ]

        own, others = found(None), found(shelf, bibliography=False)
        _show("bibliography alone", asked, own)
        _show("library alone", asked, others)
        _show("both, by places", asked, list(map(by_places, own, others)))
        _show(f"both, as merged (even at {proposals.EVEN_ODDS_MARGIN:g})", asked, found(shelf))
        for even in EVENS:
            proposals.EVEN_ODDS_MARGIN = even
            _show(f"both, even at {even:g}", asked, found(shelf))


def _show(name: str, asked: Sequence[Case], answers: Sequence[Sequence[Proposal]]) -> None:
    ranks: dict[bool, list[float]] = {True: [], False: []}
    for case, answer in zip(asked, answers, strict=True):
        right = rightly(case, answer)
        ranks[case.known].append(1 / (1 + right.index(True)) if True in right else 0.0)
    shares = [f"{np.mean(ranks[known]):.3f} ({np.mean(np.array(ranks[known]) == 1):.2f})" for known in (True, False)]
    print(f"{name:<44}{shares[0]:>22}{shares[1]:>22}", flush=True)


if __name__ == "__main__":
    main()
