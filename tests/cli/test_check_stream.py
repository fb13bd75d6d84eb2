"""A long draft shows its findings as they come, in a terminal as well, and says how far it got when it is stopped."""

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from tests.drafts import BIB
from tests.fakes import word_detector, word_encoder
from whycite import read
from whycite.check import pipeline, proposals
from whycite.cli import app
from whycite.cli.progress import LiveReport, StageBar, remaining_time
from whycite.cli.terminal import Interruption

CLAIMS = 40


def _book(folder: Path) -> Path:
    claims = "\n\n".join(f"It is known that bees of hive {number} rest at night." for number in range(CLAIMS))
    (folder / "book.tex").write_text(
        f"\\documentclass{{book}}\n\\begin{{document}}\n\\section{{Introduction}}\n{claims}\n\\bibliography{{refs}}\n"
        "\\end{document}\n",
        "utf-8",
    )
    (folder / "refs.bib").write_text(BIB, "utf-8")
    return folder / "book.tex"


# Runs the command with a detector by words, and a search that waits for a file after the first few sentences.
PROGRAM = """
import sys, time
from pathlib import Path
from tests.fakes import word_detector, word_encoder
from whycite.check import pipeline, proposals
pipeline.load_detector = word_detector
pipeline._load_encoder = lambda remember: word_encoder()
propose = proposals.Proposer.propose
calls = 0

def wait(self, sentences, on_answer=lambda: None):
    global calls
    calls += 1
    while calls > 1 and not Path("go").exists():
        time.sleep(0.01)
    return propose(self, sentences, on_answer)

proposals.Proposer.propose = wait
from whycite.cli import main
main()
"""


def _start(folder: Path, stdout: int = subprocess.PIPE, stderr: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "WHYCITE_CACHE": str(folder / "cache"), "COLUMNS": "100", "TERM": "xterm"}
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    command = [sys.executable, "-c", PROGRAM, "check", "book.tex", "--no-library", "-n", "1"]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=stdout, stderr=stderr)


def _read_until(stream: int, *texts: str, seconds: float = 60.0) -> str:
    """What comes from a stream until all texts have come."""
    content, end = b"", time.monotonic() + seconds
    while not all(text.encode() in content for text in texts):
        assert time.monotonic() < end, content
        content += os.read(stream, 10_000)  # which may end inside a letter
    return content.decode(errors="replace")


def test_findings_come_before_the_check_is_over(tmp_path: Path) -> None:
    _book(tmp_path)
    process = _start(tmp_path)
    assert process.stdout is not None
    try:
        begun = _read_until(process.stdout.fileno(), "hive 0 rest at night")
        assert process.poll() is None
        assert f"hive {CLAIMS - 1} " not in begun
        (tmp_path / "go").touch()
        rest, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    whole = begun + rest.decode(errors="replace")
    assert [int(hive) for hive in re.findall(r"  It is known that bees of hive (\d+) ", whole)] == list(range(CLAIMS))
    assert f"{CLAIMS} of {CLAIMS} sentences need a citation" in whole
    assert process.returncode == 0


def test_ctrl_c_keeps_what_was_shown_and_says_how_far_it_got(tmp_path: Path) -> None:
    _book(tmp_path)
    process = _start(tmp_path)
    assert process.stdout is not None
    try:
        begun = _read_until(process.stdout.fileno(), "hive 0 rest at night")
        time.sleep(0.5)  # so that no finding is only half printed
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    hives = re.findall(r"  It is known that bees of hive (\d+) ", begun + rest.decode(errors="replace"))
    assert 0 < len(hives) < CLAIMS
    line = 4 + 2 * (len(hives) - 1)
    told = f"stopped; book.tex: shown up to book.tex:{line}, {len(hives)} of {CLAIMS} sentences that need a citation"
    assert told in errors.decode()
    assert "Traceback" not in errors.decode()


def test_on_a_terminal_a_bar_stands_below_the_findings(tmp_path: Path) -> None:
    _book(tmp_path)
    screen, terminal = pty.openpty()
    process = _start(tmp_path, stdout=terminal, stderr=terminal)
    os.close(terminal)
    try:
        begun = _read_until(screen, "searching for papers", "hive 0 rest at night", f" of {CLAIMS}")
        (tmp_path / "go").touch()
        rest = _read_until(screen, "sentences need a citation")
    finally:
        process.kill()
        process.wait()
        os.close(screen)
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", begun + rest)
    assert len(re.findall(r"  It is known that bees of hive \d+ ", plain)) == CLAIMS


def test_findings_that_are_piped_stay_out_of_the_bar(tmp_path: Path) -> None:
    _book(tmp_path)
    (tmp_path / "go").touch()
    screen, terminal = pty.openpty()
    process = _start(tmp_path, stderr=terminal)
    os.close(terminal)
    try:
        output, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        os.close(screen)
    assert output.decode().count("needs a citation (common-knowledge: ") == CLAIMS
    assert "\x1b" not in output.decode()


def test_what_is_stopped_while_sentences_are_judged_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "long.md").write_text(
        "# Introduction\n\n" + "\n\n".join(f"Bees {i} rest." for i in range(100)), "utf-8"
    )
    detector = word_detector()
    judge = detector.worthiness
    calls = 0

    def interrupted(paragraphs):  # type: ignore[no-untyped-def]
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return judge(paragraphs)

    monkeypatch.setattr(detector, "worthiness", interrupted)
    monkeypatch.setattr(pipeline, "load_detector", lambda: detector)
    result = CliRunner().invoke(app, ["check", "long.md", "--no-library", "--json"])
    assert isinstance(result.exception, Interruption)
    assert str(result.exception) == "long.md: judging sentences, 64 of 100; run the command again to continue"
    assert result.stdout == ""
    assert CliRunner().invoke(app, ["check", "long.md", "--no-library"]).exit_code == 0
    assert len(detector.asked) == 100  # those that were judged before are not judged again


def test_findings_are_the_same_in_parts_of_any_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    book = _book(tmp_path)
    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path / "cache"))
    sizes = []
    results = []
    for number in (1, 3, 1000):
        monkeypatch.setattr(pipeline, "_SEARCHES_PER_CORE", number)
        monkeypatch.setattr(pipeline, "thread_count", lambda threads: 1)
        parts: list[int] = []
        checked = pipeline.check_draft(
            book,
            detector=word_detector(),
            use_library=False,
            remember=False,
            on_findings=lambda judged, findings, parts=parts: parts.append(len(findings)),  # type: ignore[misc]
        )
        results.append(checked.findings)
        sizes.append(parts)
    assert results[0] == results[1] == results[2]
    assert all(finding.recommendations for finding in results[0])
    assert sizes == [[0, *[1] * CLAIMS], [0, *[3] * (CLAIMS // 3), CLAIMS % 3], [0, CLAIMS]]


def test_no_text_is_encoded_twice(tmp_path: Path) -> None:
    encoder = word_encoder()
    document = read(_book(tmp_path))
    proposer = proposals.Proposer(document, encoder)
    for index in range(len(document.sentences)):
        proposer.propose([index])
    assert len(encoder.asked) == len(set(encoder.asked)) > CLAIMS


@pytest.mark.parametrize(
    ("seconds", "completed", "total", "told"),
    [
        (10, 50, 100, "about 10 s left"),
        (10, 99, 100, "about 1 s left"),
        (60, 10, 100, "about 9 min left"),
        (0.5, 50, 100, ""),
        (10, 0, 100, ""),
        (10, 100, 100, ""),
        (10, 7, None, ""),
    ],
)
def test_estimates(seconds: float, completed: int, total: int | None, told: str) -> None:
    assert remaining_time(seconds, completed, total) == told


def test_a_draft_that_is_stopped_at_once() -> None:
    live = LiveReport(StageBar(Console(stderr=True)), Console(stderr=True), streams=True)
    with pytest.raises(Interruption, match=r"^a\.md: nothing checked yet$"), live.interruptible("a.md"):
        raise KeyboardInterrupt
