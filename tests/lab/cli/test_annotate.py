"""`whycite annotate` as users meet it: tasks made, answered on a page, and turned into data."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from typer.testing import CliRunner, Result

from whycite.errors import UserError
from whycite.lab.cli.annotate import app

Run = Callable[..., Result]
# The command as it is installed; what the test adds stands there already once the command is named with the others.
WHYCITE = """
import sys
from whycite import cli
from whycite.lab.cli import annotate
cli.app.add_typer(annotate.app, name="annotate")
cli.main()
"""
SENTENCES = (
    "Honeybees that forage sleep at night.",
    "Sleeping bees hang their antennae.",
    "Bees rest for about seven hours at night.",
    "The hive is made of wax.",
    "Nectar is turned into honey.",
    "Drones do not collect pollen.",
)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    return lambda *arguments, stdin="": CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)


def write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def claim(number: int, **other: Any) -> dict[str, Any]:
    usual = {"id": f"c{number}", "claim": "Bees sleep at night.", "sentences": [*SENTENCES], "gold": [0, 2]}
    return usual | {"citing": f"draft {number}", "document": f"paper {number}"} | other


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def made(run: Run, tmp_path: Path) -> Path:
    """Tasks of 20 claims."""
    claims = write(tmp_path / "claims.jsonl", [claim(number) for number in range(20)])
    result = run("make", claims, "--out", "tasks.jsonl", "--top", 4, "--pairs", 3, "--discarded", 2)
    assert result.exit_code == 0, result.output
    assert "Wrote 60 tasks (60 BR) for 20 claims to tasks.jsonl." in result.stdout
    return tmp_path / "tasks.jsonl"


def answered(tasks: Path, path: Path, wrong: Callable[[int, int], bool], labellers: int = 5) -> Path:
    """Answers of labellers who choose by the known evidence, or the smaller index; some of them wrongly."""
    rows = []
    for at, task in enumerate(lines(tasks)):
        right = task["gold"] or ("1" if task["options"][0]["index"] < task["options"][1]["index"] else "2")
        for who in range(labellers):
            label = {"1": "2", "2": "1"}[right] if wrong(at, who) else right
            rows.append({"task": task["id"], "labeller": f"L{who}", "action": "answer", "label": label})
    return write(path, rows)


def test_make(run: Run, made: Path) -> None:
    tasks = lines(made)
    assert all(len(task["options"]) == 2 and len(task["discarded"]) == 2 for task in tasks)
    golden = [task["gold"] for task in tasks if task["gold"]]
    assert abs(golden.count("1") - golden.count("2")) <= 1
    result = run("make", "claims.jsonl", "--out", "more.jsonl", "--kind", "BC-E", "--kind", "BC-R", "--json")
    found = json.loads(result.stdout)
    assert found["kinds"] == {"BC-E": 120, "BC-R": 120}
    assert found["sampling"]["claims"] == 20
    assert found["sampling"]["found"]["3"] == 1.0  # all of the evidence is among the three most similar
    assert found["sampling"]["found"]["1"] == 0.5


def test_make_says_how_much_evidence_candidates_hold(run: Run, tmp_path: Path) -> None:
    rows = json.dumps(claim(1)) + "\r\n"
    result = run("make", "-", "--out", tmp_path / "tasks.jsonl", stdin=rows)
    assert result.exit_code == 0, result.output
    assert "1 claim, 2 sentences of known evidence." in result.stdout
    assert "│ 10           │           100% │                 100% │" in result.stdout


@pytest.mark.parametrize(
    ("known", "gold"),
    [
        ({"gold": [0], "contradicts": [2]}, {0: "supports", 2: "contradicts", 1: "neither"}),
        ({"gold": [0], "contradicts": None}, {0: "supports", 1: None, 2: None}),  # 2 may contradict it
        ({"gold": None, "contradicts": [2]}, {0: None, 1: None, 2: "contradicts"}),
    ],
    ids=["both", "support", "contradiction"],
)
def test_gold_of_contradictions(run: Run, tmp_path: Path, known: dict[str, Any], gold: dict[int, str | None]) -> None:
    write(tmp_path / "claims.jsonl", [claim(1, **known)])
    assert run("make", "claims.jsonl", "--out", "tasks.jsonl", "--kind", "TC").exit_code == 0
    tasks = {task["options"][0]["index"]: task["gold"] for task in lines(tmp_path / "tasks.jsonl")}
    assert {index: tasks[index] for index in gold} == gold


def test_make_from_papers_is_the_same_each_time(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bees.md").write_text("# Sleep\n\n" + " ".join(SENTENCES) + "\n", "utf-8")
    write(tmp_path / "claims.jsonl", [{"id": 1, "claim": "Bees sleep.", "paper": "bees.md"}])
    for name in ("one.jsonl", "two.jsonl"):
        assert run("make", "claims.jsonl", "--out", name, "--seed", 5, "--pairs", 4).exit_code == 0
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert run("make", "claims.jsonl", "--out", "three.jsonl", "--seed", 6, "--pairs", 4).exit_code == 0
    assert (tmp_path / "one.jsonl").read_bytes() != (tmp_path / "three.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"id": 1, "claim": "C."}], 'claims.jsonl:1: give "sentences"'),
        ([claim(1), {"id": 2}], 'claims.jsonl:2: "claim" must be a non-empty string'),
        ([claim(1, sentences=["One."], gold=[])], "claims.jsonl: no tasks can be created"),
        ([{"id": 1, "claim": "C.", "paper": "none.md"}], "claims.jsonl:1: none.md: no such file"),
        ([claim(1, contradicts=[2])], 'claims.jsonl:1: sentence 2 is in "gold" and in "contradicts"'),
    ],
    ids=range(5),
)
def test_wrong_claims(run: Run, tmp_path: Path, rows: list[dict[str, Any]], said: str) -> None:
    write(tmp_path / "claims.jsonl", rows)
    result = run("make", "claims.jsonl", "--out", "tasks.jsonl")
    assert isinstance(result.exception, UserError)
    assert str(result.exception).startswith(said)
    assert not (tmp_path / "tasks.jsonl").exists()


def test_files_are_not_written_over_by_mistake(run: Run, made: Path) -> None:
    before = made.read_bytes()
    same = run("make", "claims.jsonl", "--out", "claims.jsonl")
    assert "this is the file of claims" in str(same.exception)
    same = run("serve", made, "--answers", made, "--no-browser", "--port", 0)
    assert "this is the file of tasks" in str(same.exception)
    assert made.read_bytes() == before


def test_aggregate(run: Run, made: Path, tmp_path: Path) -> None:
    # Three of five guess alike on a third of the tasks; two are always right.
    answers = answered(made, tmp_path / "answers.jsonl", lambda at, who: who > 1 and (at + who) % 3 == 0)
    result = run("aggregate", made, "--answers", answers, "--json", "--method", "glad", "--out", "labels.jsonl")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["tasks"], found["answered"], found["labelled"]) == (60, 60, 60)
    assert lines(tmp_path / "labels.jsonl") == found["labels"]
    golden = {task["id"]: task["gold"] for task in lines(made) if task["gold"]}
    assert all(row["label"] == golden[row["task"]] for row in found["labels"] if row["task"] in golden)
    rows = {(row["method"], row["votes"]): row for row in found["table"]}
    assert set(rows) == {("vote", 3), ("vote", 5), ("glad", 3), ("glad", 4), ("glad", 5)}
    assert rows["glad", 5]["kappa"] == rows["vote", 5]["auc"] == 1
    assert 0 < found["agreement"]["BR"] < 1
    text = run("aggregate", made, "--answers", answers, "--least", 1).stdout
    assert "60 tasks, 60 with answers, 0 labelled by vote." in text  # each has one who was wrong
    assert "│ BR       │ GLAD 5" in text
    assert "BR: agreement between labellers (kappa) 0." in text


def test_aggregate_by_the_first_votes_and_high_majority(run: Run, made: Path, tmp_path: Path) -> None:
    answers = answered(made, tmp_path / "answers.jsonl", lambda at, who: who == 4 or (at % 2 == 0 and who == 3))
    counts = {}
    for name, arguments in {"all": (), "high": ("--least", 0.8), "three": ("--votes", 3, "--least", 1)}.items():
        found = json.loads(run("aggregate", made, "--answers", answers, "--json", *arguments).stdout)
        counts[name] = found["labelled"]
    assert counts == {"all": 60, "high": 30, "three": 60}


def test_split(run: Run, made: Path, tmp_path: Path) -> None:
    answers = answered(made, tmp_path / "answers.jsonl", lambda at, who: at % 4 == 0 and who == 0)
    result = run("split", made, "--answers", answers, "--out", "data", "--json")
    assert result.exit_code == 0, result.output
    sizes = json.loads(result.stdout)["sizes"]
    assert sizes["majority"] == {"train": 42, "dev": 9, "test": 9}
    assert sum(sizes["unanimous"].values()) == 45
    assert sum(sizes["augmented"].values()) > 60
    parts = {part: lines(tmp_path / "data" / "majority" / f"{part}.jsonl") for part in ("train", "dev", "test")}
    documents = [{row["document"] for row in rows} for rows in parts.values()]
    assert len(set.union(*documents)) == sum(map(len, documents)) == 20
    assert all(abs(2 * sum(row["label"] == "1" for row in rows) - len(rows)) <= 1 for rows in parts.values())
    text = run("split", made, "--answers", answers, "--out", "data", "--votes", 3, "--dev", 0.2, "--test", 0.2).stdout
    assert "│ majority      │ 36" in text


def test_ranks(run: Run, made: Path, tmp_path: Path) -> None:
    answers = answered(made, tmp_path / "answers.jsonl", lambda at, who: False, labellers=1)
    found = [json.loads(line) for line in run("ranks", made, "--answers", answers, "--json").stdout.splitlines()]
    assert len(found) == 20
    for row in found:
        scores = [sentence["score"] for sentence in row["sentences"]]
        assert scores == sorted(scores, reverse=True)
        assert sum(scores) == 0
    assert "  +1    " in run("ranks", made, "--answers", answers).stdout


@pytest.mark.parametrize("command", ["aggregate", "split", "ranks"])
def test_without_answers(run: Run, made: Path, tmp_path: Path, command: str) -> None:
    more = ("--out", "data") if command == "split" else ()
    missing = run(command, made, "--answers", "none.jsonl", *more)
    assert str(missing.exception) == "none.jsonl: No such file or directory"
    (tmp_path / "empty.jsonl").touch()
    assert (
        str(run(command, made, "--answers", "empty.jsonl", *more).exception) == "empty.jsonl: contains no answers yet"
    )


@pytest.fixture
def judged(run: Run, tmp_path: Path) -> tuple[Path, Path]:
    """Twenty claims, each with sentences that support or contradict it, and what three labellers say."""
    known: list[dict[str, Any]] = [
        {"gold": [0, 2], "contradicts": []},
        {"gold": [], "contradicts": [2]},
        {"gold": [], "contradicts": []},
    ]
    claims = write(tmp_path / "claims.jsonl", [claim(number, **known[number % 3]) for number in range(20)])
    result = run("make", claims, "--out", "tasks.jsonl", "--top", 3, "--kind", "TC")
    assert result.exit_code == 0, result.output
    rows = [
        {
            "task": task["id"],
            "labeller": name,
            "action": "answer",
            "label": task["gold"] if name != "Cem" else "neither",
        }
        for task in lines(tmp_path / "tasks.jsonl")
        for name in ("Ann", "Bob", "Cem")
    ]
    return tmp_path / "tasks.jsonl", write(tmp_path / "answers.jsonl", rows)


def test_contradictions_are_labelled_and_measure_verdicts(run: Run, judged: tuple[Path, Path], tmp_path: Path) -> None:
    """From claims to the figures of `whycite eval passages`, by the files that each command writes."""
    from whycite.lab.cli.evaluate import app as evaluate

    tasks, answers = judged
    for method in ("vote", "glad"):
        found = run("aggregate", tasks, "--answers", answers, "--method", method, "--out", "labels.jsonl", "--json")
        assert found.exit_code == 0, found.output
        golden = {task["id"]: task["gold"] for task in lines(tasks)}
        assert {row["task"]: row["label"] for row in lines(tmp_path / "labels.jsonl")} == golden
    arguments = ["passages", "--data", "labels.jsonl", "--no-ranking", "--altered", "0", "--json"]
    measured = CliRunner().invoke(evaluate, arguments)
    assert measured.exit_code == 0, measured.output
    (figures,) = json.loads(measured.stdout)["labels"].values()
    cases = {label: figures["classes"][label]["cases"] for label in figures["classes"]}
    assert cases == {"backed": 7, "contradicted": 7, "not found": 6}


def test_judgements_are_split_by_document(run: Run, judged: tuple[Path, Path], tmp_path: Path) -> None:
    tasks, answers = judged
    result = run("split", tasks, "--answers", answers, "--out", "data", "--json")
    assert result.exit_code == 0, result.output
    sizes = json.loads(result.stdout)["sizes"]
    assert sizes == {"judgements": {"train": 42, "dev": 9, "test": 9}}
    parts = [lines(tmp_path / "data" / "judgements" / f"{part}.jsonl") for part in sizes["judgements"]]
    documents = [{row["document"] for row in rows} for rows in parts]
    assert len(set.union(*documents)) == sum(map(len, documents)) == 20


PATIENCE = 100_000  # milliseconds: a busy machine is slow to show anything
Serve = Callable[..., tuple["subprocess.Popen[str]", str]]


@pytest.fixture
def serve(made: Path) -> Iterator[Serve]:
    """Starts the real server on a free port."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, "-c", WHYCITE, "annotate", "serve", str(made), "--answers", "answers.jsonl"]
        process = subprocess.Popen(
            [*command, "--port", "0", "--no-browser", "--json", *arguments],
            cwd=made.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        address = process.stdout.readline()
        assert address, process.communicate()[1]
        return process, json.loads(address)["address"].rstrip("/")

    yield start
    for process in started:
        process.kill()
        process.communicate()


def ask(address: str, sent: dict[str, Any] | None = None, **headers: str) -> tuple[int, Any]:
    """The status and the JSON of an answer."""
    content = None if sent is None else json.dumps(sent).encode()
    request = Request(address, content, {"content-type": "application/json", **headers})
    try:
        with build_opener(ProxyHandler({})).open(request) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_answers_survive_kill_and_the_labeller_goes_on(serve: Serve, made: Path) -> None:
    process, address = serve("--votes", "1")
    _, state = ask(f"{address}/api/next?labeller=Ann")
    first = state["task"]["id"]
    sent = {"task": first, "labeller": "Ann", "action": "answer", "label": "2", "submission": "first-one"}
    assert ask(f"{address}/api/answers", sent)[0] == 200
    process.kill()  # nothing is closed, nothing flushed
    process.wait()
    process, address = serve("--votes", "1")
    status, state = ask(f"{address}/api/answers", sent)  # sent again, as the page would
    assert status == 200
    assert state["progress"]["answered"] == 1
    assert state["task"]["id"] != first
    assert ask(f"{address}/api/next?labeller=Ann", host="evil.example")[0] == 421
    if os.name == "posix":
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=100)
        assert process.returncode == 130
        assert errors == "whycite: stopped; 0 new in answers.jsonl; run the command again to continue\n"
    assert len(lines(made.with_name("answers.jsonl"))) == 1


def test_the_page_by_keys_alone(serve: Serve, made: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="no browser test without: pip install playwright")
    program = os.environ.get("WHYCITE_CHROMIUM") or shutil.which("chromium")
    if program is None:
        pytest.skip("no browser at hand: install chromium, or set WHYCITE_CHROMIUM to its path")
    _, address = serve("--votes", "1")
    folder = Path(os.environ.get("WHYCITE_ARTEFACTS") or made.parent)
    folder.mkdir(parents=True, exist_ok=True)
    wrong: list[str] = []
    with playwright.sync_playwright() as started:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
        browser = started.chromium.launch(
            executable_path=program, args=[*arguments, "--disable-sync"], timeout=PATIENCE
        )
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(address)
        page.wait_for_selector("#name:focus")
        page.keyboard.type("Ann")
        page.keyboard.press("Enter")
        page.wait_for_selector("#task:not([hidden])")
        assert page.inner_text("#claim") == "Bees sleep at night."
        assert page.locator(".option").count() == 2
        page.screenshot(path=folder / "annotate.png")
        assert page.locator("#how").get_attribute("open") is not None

        def press(key: str, answered: int, skipped: int) -> None:
            page.keyboard.press(key)
            page.wait_for_function(
                "said => document.getElementById('progress').textContent.startsWith(said)",
                arg=f"You: {answered} answered, {skipped} skipped,",
            )

        for key, answered, skipped in (("1", 1, 0), ("2", 2, 0), ("u", 1, 0), ("s", 1, 1)):
            press(key, answered, skipped)
        assert page.locator("#how").get_attribute("open") is None  # read once, out of the way
        while ", 0 left." not in page.inner_text("#progress"):
            skipped += 1
            press("s", 1, skipped)
        assert "You have answered or skipped every task" in page.inner_text("#rest")
        browser.close()
    assert wrong == []
    kept = lines(made.with_name("answers.jsonl"))
    assert [(row["action"], row["label"]) for row in kept[:4]] == [
        ("answer", "1"),
        ("answer", "2"),
        ("undo", ""),
        ("skip", ""),
    ]
    assert kept[1]["task"] == kept[2]["task"] == kept[3]["task"]
