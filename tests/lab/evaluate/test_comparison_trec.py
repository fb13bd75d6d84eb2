"""TREC files: what is written is read again, by us and by others."""

from pathlib import Path

import ir_measures
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whycite.errors import UserError
from whycite.lab.evaluate.comparison import evaluate, read_qrels, read_run, write_qrels, write_run

HARD = ["a b", "a%20b", "%", "\t", "\n", "\u2028", "\x1c", "\x85", "\u3000", "\ud800", "ü", "\ufeffx", "\x00", "#"]
NAMES = st.one_of(st.sampled_from(HARD), st.text(st.characters(codec=None), min_size=1, max_size=12))
SCORES = st.floats(allow_nan=False, allow_infinity=False)
RUNS = st.dictionaries(
    NAMES,
    st.lists(st.tuples(NAMES, SCORES), min_size=1, max_size=5, unique_by=lambda paper: paper[0]).map(
        lambda papers: sorted(papers, key=lambda paper: -paper[1])
    ),
)
TRUTHS = st.dictionaries(NAMES, st.sets(NAMES, min_size=1, max_size=4))
here = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@here
@given(RUNS)
def test_a_run_comes_back(tmp_path: Path, run: dict[str, list[tuple[str, float]]]) -> None:
    write_run(tmp_path / "run", run)
    assert read_run(tmp_path / "run") == run


@here
@given(TRUTHS)
def test_the_truth_comes_back(tmp_path: Path, truth: dict[str, set[str]]) -> None:
    write_qrels(tmp_path / "qrels", truth)
    assert read_qrels(tmp_path / "qrels") == truth


def test_the_form(tmp_path: Path) -> None:
    write_run(
        tmp_path / "run", {"claim 1": [("title:a study 2010", 1.0), ("doi:10.1/x", 0.5)], "none": []}, "bm25 okapi"
    )
    assert (tmp_path / "run").read_text() == (
        "claim%201 Q0 title:a%20study%202010 1 1.0 bm25%20okapi\nclaim%201 Q0 doi:10.1/x 2 0.5 bm25%20okapi\n"
    )
    write_qrels(tmp_path / "qrels", {"claim 1": ["z", "a%b"]})
    assert (tmp_path / "qrels").read_text() == "claim%201 0 a%25b 1\nclaim%201 0 z 1\n"


def test_other_programs_read_the_same(tmp_path: Path) -> None:
    run = {"q 1": [("a b", 0.9), ("c", 0.7)], "q2": [("c", 0.2), ("d", 0.1), ("a b", 0.0)]}
    truth = {"q 1": {"c"}, "q2": {"a b", "e"}}
    write_run(tmp_path / "run", run)
    write_qrels(tmp_path / "qrels", truth)
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "qrels")))  # type: ignore[no-untyped-call]
    papers = list(ir_measures.read_trec_run(str(tmp_path / "run")))  # type: ignore[no-untyped-call]
    theirs = ir_measures.calc_aggregate([ir_measures.RR], qrels, papers)
    assert theirs[ir_measures.RR] == pytest.approx(evaluate(run, truth).means["MRR"])


def test_files_of_others(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(b"q\tQ0\tb\t2\t3e-1 x\r\n\nq Q0 c 1 0.3 x\nq Q0 a 9 7 x")
    assert read_run(tmp_path / "run") == {"q": [("a", 7.0), ("c", 0.3), ("b", 0.3)]}
    (tmp_path / "qrels").write_text("q 0 a 0\nq 0 b 2\nr 0 c -1\n")
    assert read_qrels(tmp_path / "qrels") == {"q": {"b"}}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"q Q0 a 1 0.5", ":2: expected 6 fields, not 5"),
        (b"q Q0 a first 0.5 x", ":2: 'first 0.5' is not a rank and a score"),
        (b"q Q0 a 1 nan x", ":2: the score must be finite"),
        (b"q Q0 100%FF 1 0.5 x", ":2: write a literal percent sign as %25"),
        (b"\xff", "not a UTF-8 text file"),
    ],
    ids=["fields", "rank", "score", "percent", "binary"],
)
def test_mistakes_of_a_run_are_named(tmp_path: Path, line: bytes, message: str) -> None:
    (tmp_path / "run").write_bytes(b"q Q0 b 1 0.5 x\n" + line)
    with pytest.raises(UserError, match=message):
        read_run(tmp_path / "run")


def test_mistakes_of_the_truth_are_named(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 a yes\n")
    with pytest.raises(UserError, match=":1: the relevance 'yes' is not a whole number"):
        read_qrels(tmp_path / "qrels")
    with pytest.raises(UserError, match="No such file"):
        read_qrels(tmp_path / "none")


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"q": [("a", 0.1), ("b", 0.2)]}, "query 'q' must be finite and in descending order"),
        ({"q": [("a", float("nan"))]}, "query 'q' must be finite and in descending order"),
        ({"q": [("", 0.1)]}, "needs names"),
        ({"": [("a", 0.1)]}, "needs names"),
    ],
    ids=["rising", "nan", "no key", "no query"],
)
def test_what_cannot_be_written_leaves_the_old_file(
    tmp_path: Path, run: dict[str, list[tuple[str, float]]], message: str
) -> None:
    path = tmp_path / "run"
    write_run(path, {"old": [("a", 1.0)]})
    with pytest.raises(UserError, match=message):
        write_run(path, run)
    assert read_run(path) == {"old": [("a", 1.0)]}
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "run"
    write_run(path, {"old": [("a", 1.0)]})
    monkeypatch.setattr("whycite.files.os.fsync", full)
    with pytest.raises(UserError, match="cannot be written: No space left on device"):
        write_run(path, {"new": [("a", 1.0)]})
    assert read_run(path) == {"old": [("a", 1.0)]}
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "run")
    write_run(tmp_path / "link", {"q": [("a", 1.0)]})
    assert (tmp_path / "link").is_symlink()
    assert read_run(tmp_path / "run") == {"q": [("a", 1.0)]}


def test_nowhere_to_write(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be written: No such file or directory"):
        write_qrels(tmp_path / "none" / "qrels", {"q": ["a"]})
