"""Papers and sets small enough to count by hand."""

from collections.abc import Callable, Sequence

import pytest

from whycite.lab.scope.candidates import CandidatePaper, CitedSet, Lessons

PAPERS = {
    key: CandidatePaper(key, title, year=year)
    for key, title, year in (
        ("a", "Sleep of bees", 1990),
        ("b", "Sleep of flies", 2000),
        ("c", "Dance of bees", 2005),
        ("d", "Deep networks", 2015),
        ("e", "Deep attention networks", 2017),
        ("f", "A paper without a year", None),
    )
}
SETS = ("ab", "abc", "abd", "de", "de", "df")

MakeLessons = Callable[..., Lessons]


@pytest.fixture
def lessons() -> MakeLessons:
    """Makes lessons of sets that are written as the letters of their papers."""

    def make(sets: Sequence[str] = SETS, floor: int = 1, seed: int = 0) -> Lessons:
        made = [
            CitedSet(f"doc{at}", "Bees" if "a" in each else "Networks", ("method",), tuple(sorted(each)))
            for at, each in enumerate(sets)
        ]
        return Lessons(made, PAPERS, floor, seed)

    return make


@pytest.fixture
def papers() -> Callable[[str], tuple[CandidatePaper, ...]]:
    """The papers of some letters."""
    return lambda letters: tuple(PAPERS[letter] for letter in letters)
