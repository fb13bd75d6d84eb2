"""Claims put to methods: the published ones over a library's evidence, and whycite itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from whycite.encoders import Encoder
from whycite.errors import UserError
from whycite.evaluation.cases import Case, HeldOut
from whycite.evaluation.corpus import Watch
from whycite.recommend.ilciter import METHODS, Database

if TYPE_CHECKING:
    from whycite.library import Library
    from whycite.recommend import Claim, Method

__all__ = [
    "ALL",
    "DEFAULT",
    "DEPTH",
    "OURS",
    "Ranking",
    "check_methods",
    "claim_of",
    "database_of",
    "rank",
    "recommended",
    "support_of",
]

DEPTH = 100  # papers a claim
# The default method, given the claim alone as the published ones are; given also title, section and paragraph;
# given also the papers that the draft cites before the claim, and none newer than the draft.
OURS = ("whycite", "whycite+context", "whycite+draft")
DEFAULT = (*METHODS, "whycite")
ALL = (*METHODS, *OURS)

Ranking = dict[str, list[tuple[str, float]]]
"""For each claim (id) papers (keys) with their scores, best first."""


def check_methods(names: Sequence[str]) -> tuple[str, ...]:
    """The names, each once; an unknown one is refused."""
    if unknown := [name for name in names if name not in ALL]:
        raise UserError(f"no method '{unknown[0]}'; there are: {', '.join(ALL)}")
    return tuple(dict.fromkeys(names))


def database_of(library: Library) -> Database:
    """ILCiteR's database of a library; sorted, so that no order hangs on how the library was filled."""
    return Database.of(sorted(library.occurrences(), key=lambda found: (found[0], found[1], found[2] or 0)))


def support_of(database: Database) -> dict[str, int]:
    """How often each paper is cited, over all spans."""
    total: Counter[int] = Counter()
    for pairs in database.cited:
        for paper, support in pairs:
            total[paper] += support
    return {database.papers[paper][0]: support for paper, support in total.items()}


@dataclass(frozen=True, slots=True)
class _Asked:
    cases: Sequence[Case]
    sources: Sequence[HeldOut]
    watch: Watch
    stage: str


def rank(
    library: Library,
    database: Database,
    sources: Sequence[HeldOut],
    cases: Sequence[Case],
    methods: Sequence[str],
    watch: Watch,
    stage: str = "ranking",
) -> Mapping[str, Ranking]:
    """What each method recommends for each claim."""
    from whycite.library.encoding import encoder_of

    asked = _Asked(cases, sources, watch, stage)
    runs: dict[str, Ranking] = {}
    if published := [name for name in methods if name in METHODS]:
        runs |= _published(database, asked, published, encoder_of(library.encoder, library.path))
    runs |= {name: _ours(library, asked, name) for name in methods if name in OURS}
    return {name: runs[name] for name in methods}


def _published(database: Database, asked: _Asked, names: Sequence[str], encoder: Encoder) -> dict[str, Ranking]:
    from whycite.recommend.ilciter import Methods

    methods = Methods(database, encoder.encode)
    runs: dict[str, Ranking] = {name: {} for name in names}
    for number, case in enumerate(asked.cases):
        asked.watch(f"{asked.stage}, published methods", number, len(asked.cases))
        for name, ranked in methods.rank_all(case.text, names).items():
            runs[name][case.id] = [(database.papers[found.paper][0], found.score) for found in ranked[:DEPTH]]
    return runs


def _ours(library: Library, asked: _Asked, name: str) -> Ranking:
    from whycite.recommend import method

    recommender = method(OURS[0], library)
    run: Ranking = {}
    for number, case in enumerate(asked.cases):
        asked.watch(f"{asked.stage}, {name}", number, len(asked.cases))
        run[case.id] = recommended(recommender, claim_of(case, asked.sources[case.source], name))
    return run


def recommended(method: Method, claim: Claim) -> list[tuple[str, float]]:
    """The papers that a method recommends, with scores that never rise: what it takes for equal may differ a little."""
    found = method.recommend(claim, n=DEPTH)
    scores = accumulate((recommendation.score for recommendation in found), min)
    return [(recommendation.paper.key, score) for recommendation, score in zip(found, scores, strict=True)]


def claim_of(case: Case, source: HeldOut, name: str) -> Claim:
    """The claim as one of our methods is given it."""
    from whycite.recommend import Claim

    if "+" not in name:
        return Claim(case.text)
    paragraph = source.paragraphs[case.paragraph]
    if name == "whycite+context":
        return Claim(case.text, source.title, case.section_type, paragraph)
    return Claim(case.text, source.title, case.section_type, paragraph, source.cited[: case.earlier], source.year)
