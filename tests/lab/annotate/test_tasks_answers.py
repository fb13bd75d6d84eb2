"""Answers are kept, whatever happens; and each task goes to so many labellers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lab.toys import make_tasks
from whycite.errors import UserError
from whycite.lab.annotate.labelpage import Desk
from whycite.lab.annotate.tasks import AnswerEntry, Answers, answers_by_task, entry_line, read_entries

if TYPE_CHECKING:
    from whycite.lab.annotate.tasks import LabellingTask


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


@pytest.fixture
def known() -> dict[str, LabellingTask]:
    return make_tasks(4)


@pytest.fixture
def desk(path: Path, known: dict[str, LabellingTask]) -> Iterator[Desk]:
    with Answers(path, known) as answers:
        yield Desk(answers, votes=2)


def lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_an_act_is_a_line(path: Path, known: dict[str, LabellingTask]) -> None:
    with Answers(path, known) as answers:
        answers.record(AnswerEntry("t0", "Zoë", "answer", "1", "s1", "2026-01-01T00:00:00+00:00"))
    assert lines(path) == [
        {
            "task": "t0",
            "labeller": "Zoë",
            "action": "answer",
            "label": "1",
            "submission": "s1",
            "at": "2026-01-01T00:00:00+00:00",
        }
    ]
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0  # who said what is for no one else


def test_what_stood_in_the_file_stands(path: Path, known: dict[str, LabellingTask]) -> None:
    entries = [
        AnswerEntry("t0", "Ann", "answer", "1"),
        AnswerEntry("t1", "Ann", "skip"),
        AnswerEntry("t0", "Bob", "answer", "2"),
    ]
    for entry in entries:  # opened anew each time
        with Answers(path, known) as answers:
            answers.record(entry)
    with Answers(path, known) as answers:
        assert answers.by_task == {"t0": {"Ann": "1", "Bob": "2"}, "t1": {"Ann": ""}}
        assert answers.by_labeller["Ann"] == ["t0", "t1"]
        assert answers.acts == 3
    assert answers_by_task(read_entries(path, known), known) == {"t0": {"Ann": "1", "Bob": "2"}}


@pytest.mark.parametrize("cut", [1, 5, 9, 40, -2, -1])
def test_a_line_cut_off_is_none(path: Path, known: dict[str, LabellingTask], cut: int) -> None:
    whole, half = (
        entry_line(AnswerEntry("t0", "Ann", "answer", "1")),
        entry_line(AnswerEntry("t1", "Ann", "answer", "1")),
    )
    path.write_bytes(whole + half[:cut])
    kept = 2 if cut == -1 else 1  # all of it but the end of the line is an answer
    assert len(read_entries(path, known)) == kept
    with Answers(path, known) as answers:
        answers.record(AnswerEntry("t2", "Ann", "answer", "2"))
    assert path.read_bytes().startswith(whole)
    assert [line["task"] for line in lines(path)] == ["t0", *["t1"][: kept - 1], "t2"]


@pytest.mark.parametrize(
    "content",
    [
        b"My notes, without an end",
        b'{"a": 1}\n',
        b"[1]\n",
        b'{"task": "t9", "labeller": "A"}\n',
        b"\xff\xfe\n",
        b"x\n{",
    ],
    ids=range(6),
)
def test_other_files_are_left_alone(path: Path, known: dict[str, LabellingTask], content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"answers\.jsonl:1: "):
        Answers(path, known)
    assert path.read_bytes() == content
    path.unlink()
    Answers(path, known).close()  # and the lock is free again


def test_answers_must_fit_their_tasks(path: Path, known: dict[str, LabellingTask]) -> None:
    for change, said in (({"label": "evidence"}, "one of 1, 2"), ({"action": "sing"}, "one of answer, skip, undo")):
        row = {"task": "t0", "labeller": "A", "action": "answer", "label": "1"} | change
        path.write_text(json.dumps(row) + "\n", "utf-8")
        with pytest.raises(UserError, match=said):
            read_entries(path, known)
    with pytest.raises(UserError, match="No such file"):
        read_entries(path.with_name("none"), known)


def test_one_program_at_a_time(path: Path, known: dict[str, LabellingTask]) -> None:
    with Answers(path, known), pytest.raises(UserError, match="in use by another program"):
        Answers(path, known)
    with pytest.raises(UserError, match="no folder: no such folder"):
        Answers(path.parent / "no folder" / "answers.jsonl", known)


def test_a_full_disk_keeps_no_half_line(
    path: Path, known: dict[str, LabellingTask], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Answers(path, known) as answers:
        answers.record(AnswerEntry("t0", "Ann", "answer", "1"))
        before, write = path.read_bytes(), os.write

        def full(file: int, data: bytes) -> int:
            write(file, data[:10])
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(UserError, match="could not be kept: No space left"):
                answers.record(AnswerEntry("t1", "Ann", "answer", "1"))
        assert answers.label_of("Ann", "t1") is None
        assert len(read_entries(path, known)) == 1  # half a line is none
        answers.record(AnswerEntry("t1", "Ann", "answer", "2"))
    assert path.read_bytes() == before + entry_line(AnswerEntry("t1", "Ann", "answer", "2"))


KILLED = """
import sys
from pathlib import Path
from whycite.lab.annotate.tasks import Answers
from whycite.lab.annotate.tasks import AnswerEntry, LabellingTask, TaskOption
options = (TaskOption(0, "A."), TaskOption(1, "B."))
tasks = {f"t{n}": LabellingTask(f"t{n}", "BR", "C.", options) for n in range(3000)}
with Answers(Path(sys.argv[1]), tasks) as answers:
    for number in range(int(sys.argv[2]), 3000):
        answers.record(AnswerEntry(f"t{number}", "Ann", "answer", "1", f"s{number}"))
        print(number, flush=True)
"""


def test_what_was_acknowledged_survives_kill(path: Path) -> None:
    known, acknowledged = make_tasks(3000), -1
    for more in (1, 60):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, path, str(acknowledged + 1)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        for _ in range(more):
            acknowledged = int(process.stdout.readline())
        process.kill()  # in the midst of the next ones
        for line in process.stdout.read().splitlines():
            acknowledged = int(line)
        process.stdout.close()
        process.wait()
        kept = [entry.task for entry in read_entries(path, known)]
        assert kept[: acknowledged + 1] == [f"t{number}" for number in range(acknowledged + 1)]
        acknowledged = len(kept) - 1  # one more may have been kept than was heard of


def test_each_task_to_so_many_labellers(desk: Desk) -> None:
    for labeller in ("Ann", "Bob"):
        while task := desk.next(labeller):
            desk.take(task.id, labeller, "answer", "1", f"{labeller}{task.id}")
    assert desk.next("Cem") is None
    assert desk.progress("Cem").answers == desk.progress("Cem").wanted == 8
    assert desk.progress("Ann").answered == 4


def test_no_task_is_shown_to_more_than_are_needed(path: Path, known: dict[str, LabellingTask]) -> None:
    now = 0.0
    with Answers(path, known) as answers:
        desk = Desk(answers, votes=1, clock=lambda: now)
        first, second = desk.next("Ann"), desk.next("Bob")
        assert first is not None
        assert second is not None
        assert [first.id, second.id] == ["t0", "t1"]
        assert desk.next("Ann") == first  # still hers
        assert desk.progress("Cem").open == 2
        now = 601.0  # both went home
        third = desk.next("Cem")
        assert third == first
        desk.take("t0", "Ann", "answer", "1", "late")  # her work is not lost
        assert answers.votes("t0") == 1


def test_skipped_tasks_go_to_others(desk: Desk) -> None:
    first = desk.next("Ann")
    assert first is not None
    desk.take(first.id, "Ann", "skip", "", "s1")
    following = desk.next("Ann")
    assert following is not None
    assert following.id == "t1"
    assert desk.next("Bob") == first
    assert (desk.progress("Ann").skipped, desk.progress("Ann").open) == (1, 3)


def test_what_is_sent_twice_counts_once(desk: Desk, path: Path) -> None:
    for _ in range(2):
        desk.take("t0", "Ann", "answer", "1", "same")
    desk.take("t0", "Ann", "answer", "1", "other")  # a second window, the same answer
    assert len(lines(path)) == 1
    desk.undo("Ann", "undone")
    desk.undo("Ann", "undone")
    assert desk.answers.label_of("Ann", "t0") is None
    desk.take("t0", "Ann", "answer", "1", "same")  # the first one again, delayed: it was taken back since
    assert desk.answers.label_of("Ann", "t0") is None
    desk.take("t0", "Ann", "answer", "2", "new")
    assert desk.answers.label_of("Ann", "t0") == "2"
    assert [line["action"] for line in lines(path)] == ["answer", "undo", "answer"]


def test_undo_goes_back_one_by_one(desk: Desk) -> None:
    assert desk.undo("Ann", "u0") is None
    desk.take("t0", "Ann", "answer", "1", "a")
    desk.take("t1", "Ann", "skip", "", "b")
    undone = [desk.undo("Ann", f"u{turn}") for turn in (1, 2, 3)]
    assert [task and task.id for task in undone] == ["t1", "t0", None]
    assert desk.progress("Ann").answered == desk.progress("Ann").skipped == 0


def test_wrong_answers(desk: Desk, path: Path) -> None:
    with pytest.raises(UserError, match="unknown task 'x'"):
        desk.take("x", "Ann", "answer", "1", "s")
    with pytest.raises(UserError, match="'evidence' is not an answer to this task; choose one of: 1, 2"):
        desk.take("t0", "Ann", "answer", "evidence", "s")
    assert path.read_bytes() == b""
    with pytest.raises(UserError, match="at least 1 labeller"):
        Desk(desk.answers, 0)


def test_many_at_once(path: Path) -> None:
    known = make_tasks(30)
    with Answers(path, known) as answers:
        desk = Desk(answers, votes=3)

        def work(labeller: str) -> None:
            while task := desk.next(labeller):
                desk.take(task.id, labeller, "answer", "1", f"{labeller} {task.id}")

        threads = [threading.Thread(target=work, args=(f"L{number}",)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        while task := desk.next("last"):  # what others held when the rest went home
            desk.take(task.id, "last", "answer", "1", f"last {task.id}")
        assert {answers.votes(task) for task in known} == {3}
    assert len(lines(path)) == 90


def test_an_answer_after_the_end_goes_into_no_other_file(path: Path, known: dict[str, LabellingTask]) -> None:
    answers = Answers(path, known)
    answers.close()
    others = [path.with_name(f"other{number}") for number in range(4)]
    opened = [os.open(other, os.O_RDWR | os.O_CREAT) for other in others]  # one of them has the number it had
    try:
        with pytest.raises(UserError, match="could not be kept"):
            answers.record(AnswerEntry("t0", "Zoë", "skip", "", "s1", ""))
    finally:
        for file in opened:
            os.close(file)
    assert [other.read_bytes() for other in others] == [b""] * 4
    assert path.read_bytes() == b""
