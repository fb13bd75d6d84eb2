"""Papers by best rank, then support, then year, then key."""

from whycite.lab.ilciter import EvidenceDatabase, IlciterPaper, rank_papers


def order(database: EvidenceDatabase, evidence: list[tuple[int, int]]) -> list[str]:
    return [database.papers[ranked.paper][0] for ranked in rank_papers(database, evidence)]


def test_worked_example() -> None:
    papers = [("a", 2000), ("b", 2010), ("c", 2010), ("d", None)]
    cited = [[(0, 1)], [(0, 2), (1, 2), (2, 3)], [(1, 1), (3, 9)]]
    database = EvidenceDatabase(["first", "second", "third"], cited, papers)
    assert rank_papers(database, [(2, 0), (1, 3), (0, 5)]) == [
        IlciterPaper(3, 0, 9, 1.0, (2,)),  # same best rank as b, more support
        IlciterPaper(1, 0, 3, 1 / 2, (2, 1)),
        IlciterPaper(2, 3, 3, 1 / 3, (1,)),  # same support as a, newer
        IlciterPaper(0, 3, 3, 1 / 4, (1, 0)),
    ]


def test_best_rank_goes_before_support() -> None:
    database = EvidenceDatabase(["x", "y"], [[(0, 1)], [(1, 50)]], [("once", 1990), ("often", 2020)])
    assert order(database, [(0, 0), (1, 1)]) == ["once", "often"]


def test_spans_of_equal_rank_leave_it_to_support() -> None:
    database = EvidenceDatabase(["x", "y"], [[(0, 1)], [(1, 50)]], [("once", 2020), ("often", 1990)])
    assert order(database, [(0, 1), (1, 1)]) == ["often", "once"]


def test_year_then_key() -> None:
    papers = [("z", None), ("y", 2001), ("b", 2002), ("a", 2001)]
    database = EvidenceDatabase(["x"], [[(0, 1), (1, 1), (2, 1), (3, 1)]], papers)
    assert order(database, [(0, 0)]) == ["b", "a", "y", "z"]


def test_nothing_found() -> None:
    assert rank_papers(EvidenceDatabase([], [], []), []) == []
