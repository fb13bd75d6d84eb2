"""`whycite cite --batch`: claims in, answers out, as they come."""

import codecs
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import Result

from tests.fakes import FakeMethod
from whycite.cite import recommendations
from whycite.cli.batch import open_input, read_lines
from whycite.cli.progress import count_progress
from whycite.errors import UserError
from whycite.lab.evaluate.comparison import read_run

Run = Callable[..., Result]

TEXTS = ("Bees sleep at night", "Attention layers represent text", "Models are fine-tuned for tasks") * 5


def _batch(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def _answers(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, (result.output, result.exception)
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_each_line_is_answered_in_order_as_if_asked_alone(run: Run, library: Path, tmp_path: Path) -> None:
    records = [{"id": f"q{number}", "text": text} for number, text in enumerate(TEXTS)]
    (tmp_path / "claims.jsonl").write_bytes(_batch(*records))
    answers = _answers(run("cite", "--batch", tmp_path / "claims.jsonl", "-n", "2", "--library", library))
    assert [answer["id"] for answer in answers] == [record["id"] for record in records]
    for answer, text in zip(answers[:3], TEXTS, strict=False):
        alone = json.loads(run("cite", text, "-n", "2", "--library", library, "--json").stdout)
        assert answer == {
            "id": answer["id"],
            "fits": alone["fits"],
            "recommendations": alone["recommendations"],
            "state": alone["state"],
        }
        assert len(answer["recommendations"]) == 2


def test_a_number_as_id_and_explanations(run: Run, library: Path) -> None:
    batch = _batch({"id": 7, "text": TEXTS[0], "unknown": [1]}, {"id": 0.5, "text": TEXTS[1]})
    answers = _answers(run("cite", "--batch", "-", "--explain", "--json", "--library", library, stdin=batch))
    assert [answer["id"] for answer in answers] == [7, 0.5]
    assert "explain" in answers[0]["recommendations"][0]


def test_a_batch_as_trec_run(run: Run, library: Path, tmp_path: Path) -> None:
    batch = _batch({"id": "bees 100%", "text": TEXTS[0]}, {"id": 2, "text": TEXTS[1]})
    arguments = ["cite", "--batch", "-", "--library", library]
    (tmp_path / "run").write_text(run(*arguments, "--format", "trec", stdin=batch).stdout, "utf-8")
    answers = _answers(run(*arguments, stdin=batch))
    assert read_run(tmp_path / "run") == {
        str(answer["id"]): [(one["paper"]["key"], one["score"]) for one in answer["recommendations"]]
        for answer in answers
    }


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: codecs.BOM_UTF8 + text.encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.encode("utf-16"),
        lambda text: text.encode("cp1252"),
        lambda text: ("\n\n" + text.replace("\n", "\n \n")).encode(),
        lambda text: text.rstrip().encode(),
    ],
    ids=["byte order mark", "Windows", "UTF-16", "Windows-1252", "blank lines", "no line end"],
)
def test_any_encoding_and_line_end(run: Run, library: Path, encode: Callable[[str], bytes]) -> None:
    text = '{"id": "é", "text": "Bees sleep"}\n{"id": "ü", "text": "Attention layers"}\n'
    answers = _answers(run("cite", "--batch", "-", "--library", library, stdin=encode(text)))
    assert [answer["id"] for answer in answers] == ["é", "ü"]


def test_what_records_say_of_the_draft(run: Run, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    method = FakeMethod()
    monkeypatch.setattr(recommendations, "load_method", lambda name, library: method)
    full = {"title": "T", "section": "2. Methods", "paragraph": "P", "cited": ["doi:10.1/a"], "year": 2000}
    batch = _batch(
        {"id": 1, "text": "full"} | full,
        {"id": 2, "text": "bare"},
        {"id": 3, "text": "null"} | dict.fromkeys(full),
        {"id": 4, "text": "strange", "section": "Growing Trees", "year": 2020},
    )
    options = ["--title", "Draft", "--section", "result", "--cited", "pmid:1", "--year-max", "2010"]
    _answers(run("cite", "--batch", "-", "--library", library, *options, stdin=batch))
    asked = {claim.text: claim for claim, _ in method.asked}
    claim = asked["full"]
    assert (claim.title, claim.section_type, claim.paragraph) == ("T", "method", "P")
    assert (claim.cited, claim.year) == (("doi:10.1/a",), 2000)
    for text in ("bare", "null"):
        claim = asked[text]
        assert (claim.title, claim.section_type, claim.cited) == ("Draft", "result", ("pmid:1",))
        assert (claim.paragraph, claim.year) == ("", 2010)
    assert (asked["strange"].section_type, asked["strange"].year) == (None, 2010)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bees sleep", "invalid JSON; expected a JSON object such as"),
        ("[" * 100_000, "invalid JSON; expected a JSON object such as"),
        ('["bees"]', "expected a JSON object such as"),
        ('{"text": "bees"}', '"id" is missing; expected'),
        ('{"id": 1}', '"text" is missing; expected'),
        ('{"id": true, "text": "bees"}', '"id" must be a string or a number, not true'),
        ('{"id": "", "text": "bees"}', '"id" must be a string or a number, not ""'),
        ('{"id": 1, "text": 2}', '"text" must be a string, not 2'),
        ('{"id": 1, "text": "bees", "cited": "doi:10.1/a"}', '"cited" must be a list of keys, not "doi:10.1/a"'),
        ('{"id": 1, "text": "bees", "cited": [1]}', '"cited" must be a list of keys, not [1]'),
        ('{"id": 1, "text": "bees", "year": "2010"}', '"year" must be a whole number, not "2010"'),
        ('{"id": 1, "text": " "}', "the claim has no words"),
    ],
    ids=lambda value: value[:30],
)
def test_a_bad_line_is_named_after_the_answers_before_it(
    run: Run, library: Path, tmp_path: Path, line: str, message: str
) -> None:
    good = '{"id": 1, "text": "Bees sleep"}\n'
    (tmp_path / "claims.jsonl").write_text(f"{good}\n{good}{line}\n{good}", "utf-8")
    result = run("cite", "--batch", tmp_path / "claims.jsonl", "--library", library)
    assert isinstance(result.exception, UserError)
    assert str(result.exception).startswith(f"{tmp_path / 'claims.jsonl'}:4: {message}")
    assert len(result.stdout.splitlines()) == 2
    piped = run("cite", "--batch", "-", "--library", library, stdin=line)
    assert str(piped.exception).startswith(f"stdin:1: {message}")


def test_a_terminal_shows_how_many_are_answered() -> None:
    file = io.StringIO()
    with count_progress(Console(file=file, width=80, force_terminal=True, color_system=None), "answer") as tell:
        tell(1200)
    assert re.search(r"1,200 answers, [\d,.]+/s", file.getvalue())


def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "zeros").open("wb") as file:
        file.truncate(20 << 20)
    with open_input(str(tmp_path / "zeros")) as stream, pytest.raises(UserError, match="zeros:1: line is longer"):
        list(read_lines(stream, "zeros"))


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_an_answer_comes_before_the_next_claim_is_there_until_the_user_stops_it(library: Path) -> None:
    arguments = ["cite", "--batch", "-", "-n", "1", "--library", str(library)]
    command = [sys.executable, "-c", "from whycite.cli import main; main()", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for name in ("a", "b"):
            process.stdin.write(_batch({"id": name, "text": TEXTS[0]}))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == name
        process.send_signal(signal.SIGINT)
        assert process.wait(100) == 130
        # The last answer is counted a moment after it can be read.
        assert re.fullmatch(rb"whycite: stopped; answered (1 claim|2 claims)\n", process.stderr.read())


@pytest.mark.skipif(os.name != "posix", reason="pipes of other systems always wait")
def test_a_pipe_that_does_not_wait_is_waited_for() -> None:
    end, begin = os.pipe()
    os.set_blocking(end, False)
    with os.fdopen(end, "rb", buffering=0) as stream, os.fdopen(begin, "wb", buffering=0) as writer:
        found = read_lines(stream, "-")
        for number, text in enumerate(("one", "two"), 1):
            later = threading.Timer(0.1, writer.write, [f"{text}\n".encode()])
            later.start()
            assert next(found) == (number, text)
            later.join()
        threading.Timer(0.1, writer.close).start()
        assert list(found) == []
