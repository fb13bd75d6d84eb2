"""All papers that may be recommended, and the best of them by their scores."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whycite.candidates.model import Lessons, Paper, Part, check_number
from whycite.documents.identity import normalise_title
from whycite.errors import UserError

__all__ = ["Pool", "pool_of"]

_UNKNOWN = -10_000  # a year before all others: what is not known to be newer may be cited


class Pool:
    """Papers in the order of their keys, so that nothing hangs on the order in which they came."""

    def __init__(self, papers: Iterable[Paper]) -> None:
        by_key = {paper.key: paper for paper in papers}
        if not by_key:
            raise UserError("there is no paper to recommend: give more data, or lower the number of citations asked")
        self.papers = tuple(by_key[key] for key in sorted(by_key))
        self.place: Mapping[str, int] = {paper.key: place for place, paper in enumerate(self.papers)}
        self._years = np.array([_UNKNOWN if paper.year is None else paper.year for paper in self.papers])

    def __len__(self) -> int:
        return len(self.papers)

    def places(self, papers: Iterable[Paper]) -> NDArray[np.int64]:
        """Where those of the papers that are known stand, each once, in order."""
        return np.array(sorted({self.place[paper.key] for paper in papers if paper.key in self.place}), np.int64)

    def allowed(self, part: Part) -> NDArray[np.bool_]:
        """Which papers may be recommended: none that is cited, none newer than the draft, not the draft itself."""
        allowed = np.ones(len(self.papers), np.bool_)
        if part.year is not None:
            allowed &= self._years <= part.year
        if part.title:
            allowed[self._titles.get(normalise_title(part.title), [])] = False
        allowed[self.places(part.cited)] = False
        return allowed

    def best(
        self, scores: NDArray[np.floating], part: Part, k: int, *, above: float | None = None
    ) -> list[tuple[str, float]]:
        """The best k that are allowed, of equal ones by key; with `above` none whose score is not higher."""
        check_number(k)
        allowed = self.allowed(part)
        if above is not None:
            allowed &= scores > above
        among = np.flatnonzero(allowed)
        if len(among) > k:
            values = scores[among]
            among = among[values >= np.partition(values, len(among) - k)[len(among) - k]]
        among = among[np.argsort(-scores[among], kind="stable")][:k]
        return [(self.papers[place].key, float(scores[place])) for place in among]

    @cached_property
    def _titles(self) -> Mapping[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for place, paper in enumerate(self.papers):
            if title := normalise_title(paper.title):
                found[title].append(place)
        return dict(found)


def pool_of(lessons: Lessons) -> Pool:
    """The papers that enough documents cite, in however many sections each."""
    counts = Counter(key for _, key in {(each.document, key) for each in lessons.sets for key in each.papers})
    return Pool(lessons.papers[key] for key, number in counts.items() if number >= lessons.floor)
