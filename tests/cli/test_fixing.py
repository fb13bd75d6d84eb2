"""`check --fix` on a terminal: each change is shown and answered, and only what is accepted is written."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.drafts import ENTRY, check_by_words
from whycite.check.findings import CheckedDraft, Finding, Proposal
from whycite.cli.fixing import PaperBacking, fix_draft
from whycite.cli.terminal import Interruption
from whycite.errors import UserError
from whycite.verify import claims
from whycite.verify.verification import Passage, Verdict, Verification

pty = pytest.importorskip("pty")
termios = pytest.importorskip("termios")

BIB = "@article{doe, title = {Old work}, author = {Doe, Jane}, year = 2001}\n"
SENTENCES = ("So do bees.", "Cats rest as bees do.", "All bees rest.")
LATEX = "\\documentclass{article}\n\\begin{document}\n%s Cats~\\cite{doe}.\n\\bibliography{refs}\n\\end{document}\n"
FULL_TEXT = "---\ntitle: Sleep of bees\nauthor: Walter Kaiser\ndate: 1988\n---\n\nBees never rest.\n"
Review = Callable[..., str]


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    """Three sentences that need a citation."""
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    (tmp_path / "a.tex").write_text(LATEX % "\n".join(SENTENCES), "utf-8")
    return tmp_path / "a.tex"


@pytest.fixture
def review(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Review]:
    """Fixes a draft on a terminal where a user types these lines; returns what the terminal shows, on one line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "dumb")
    master, slave = pty.openpty()
    _turn_off_echo(slave)  # a line typed ahead would be echoed amid what is printed
    shown = bytearray()

    def drain() -> None:
        try:
            while chunk := os.read(master, 4096):
                shown.extend(chunk)
        except OSError:  # the other end is closed
            return

    def run(checked: CheckedDraft, *lines: str, backing: PaperBacking | None = None) -> str:
        reader = threading.Thread(target=drain)
        reader.start()
        os.write(master, "".join(f"{line}\n" for line in lines).encode())
        streams = os.fdopen(slave, closefd=False), os.fdopen(slave, "w")
        with streams[0] as typed, streams[1] as printed, monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", typed)
            patch.setattr(sys, "stdout", printed)
            fix_draft(checked, None, False, backing or PaperBacking(None, use_library=False))
        reader.join(10)
        return " ".join(shown.decode().split())  # lines may be wrapped

    yield run
    os.close(master)


def _turn_off_echo(terminal: int) -> None:
    settings = termios.tcgetattr(terminal)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, settings)


def _with_second_paper(checked: CheckedDraft, title: str = "Naps of bees") -> CheckedDraft:
    def extend(proposals: tuple[Proposal, ...]) -> tuple[Proposal, ...]:
        [first] = proposals
        paper = replace(first.recommendation.paper, key=f"title:{title}", title=title, authors=("Roe, Jane",))
        second = replace(first.recommendation, rank=2, paper=paper)
        entry = ENTRY.format(key="roe1988", title=title, author="Roe, Jane")
        return (first, Proposal(second, "roe1988", False, entry))

    findings = (
        replace(finding, recommendations=extend(finding.recommendations)) if finding.recommendations else finding
        for finding in checked.findings
    )
    return replace(checked, findings=tuple(findings))


def _cited(path: Path) -> list[bool]:
    text = path.read_text("utf-8")
    return [f"{sentence[:-1]}~\\cite{{kaiser1988}}." in text for sentence in SENTENCES]


@pytest.mark.parametrize(
    ("lines", "cited"),
    [
        (["y", "n", "y"], [True, False, True]),
        (["n", "a"], [False, True, True]),
        (["y", "q"], [True, False, False]),
        (["?", "", "help", "y", "\x04"], [True, False, False]),
        (["q"], [False, False, False]),
    ],
    ids=["one by one", "all the rest", "quit", "help, then the end of the input", "nothing"],
)
def test_what_is_accepted_is_written(review: Review, draft: Path, lines: list[str], cited: list[bool]) -> None:
    before = draft.read_bytes()
    shown = review(check_by_words(draft), *lines)
    assert _cited(draft) == cited
    assert draft.read_bytes().replace(b"~\\cite{kaiser1988}", b"") == before
    assert "(1/3) Add this citation [y,n,a,q,?]?" in shown
    assert "a.tex:3:1: needs a citation (worthiness 0.85) So do bees." in shown
    assert "+So do bees~\\cite{kaiser1988}." in shown
    assert "kaiser1988 (new) Sleep of bees" in shown
    assert "not verified: the full text is not at hand" in shown
    assert ("y - add this citation" in shown) == ("?" in lines)
    if any(cited):
        assert f"a.tex: {sum(cited)} citation{'s' * (sum(cited) > 1)} added, 2 files changed." in shown
    else:
        assert "a.tex: not changed." in shown
        assert (draft.parent / "refs.bib").read_text("utf-8") == BIB


def test_the_chance_is_told_of_the_paper_that_is_asked_about_only(review: Review, draft: Path) -> None:
    checked = _with_second_paper(_with_chances(check_by_words(draft), (0.83, True), (0.6, False), (0.1, False)))
    shown = review(checked, "c", "1", "q")
    asked, listed, asked_again = shown.partition("Which paper")[0].rpartition("?]?")
    assert ("83% likely to fit" in asked, "likely to fit" in asked_again) == (True, False)
    assert listed


def test_another_paper_can_be_chosen(review: Review, draft: Path) -> None:
    shown = review(_with_second_paper(check_by_words(draft)), "c", "7", "2", "y", "c", "", "n", "q")
    assert "(1/3) Add this citation [y,n,c,a,q,?]?" in shown
    assert shown.count("Which paper [1,2; Enter for the same]?") == 3
    assert "+So do bees~\\cite{roe1988}." in shown
    assert draft.read_text("utf-8").count("\\cite{roe1988}") == 1
    assert "kaiser1988" not in draft.read_text("utf-8") + (draft.parent / "refs.bib").read_text("utf-8")


def _with_chances(checked: CheckedDraft, *chances: tuple[float, bool]) -> CheckedDraft:
    """The same with the chance that the paper fits each sentence, and whether it is sure to."""

    def rate(finding: Finding, fits: float, sure: bool) -> Finding:
        [proposal] = finding.recommendations
        rated = replace(proposal, recommendation=replace(proposal.recommendation, fits=fits), sure=sure)
        return replace(finding, recommendations=(rated,), fits=fits)

    worthy = [finding for finding in checked.findings if finding.recommendations]
    rated = [rate(finding, *chance) for finding, chance in zip(worthy, chances, strict=True)]
    return replace(checked, findings=tuple(rated))


@pytest.mark.parametrize(
    ("lines", "cited"), [(["a"], [True, False, False]), (["y", "y"], [True, True, False])], ids=["all", "one by one"]
)
def test_papers_that_fit_are_asked_about_and_only_sure_ones_added_unseen(
    review: Review, draft: Path, lines: list[str], cited: list[bool]
) -> None:
    checked = _with_chances(check_by_words(draft), (0.83, True), (0.6, False), (0.1, False))
    shown = review(checked, *lines)
    assert "(1/2) Add this citation" in shown
    assert "83% likely to fit" in shown
    assert "a.tex: 1 sentence left unchanged because no paper is a clear match." in shown
    assert _cited(draft) == cited


def test_without_a_question_only_sure_papers_are_added(
    draft: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(draft.parent)
    checked = _with_chances(check_by_words(draft), (0.83, True), (0.6, False), (0.1, False))
    fix_draft(checked, None, True, PaperBacking(None, use_library=False))
    reason = "no paper is certain enough to add without asking"
    assert f"a.tex: 2 sentences left unchanged because {reason}." in capsys.readouterr().out
    assert _cited(draft) == [True, False, False]


def test_stopping_writes_nothing(review: Review, draft: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = draft.read_bytes()
    answers = iter(["y"])

    def typed() -> str:
        for answer in answers:
            return answer
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", typed)
    with pytest.raises(Interruption, match=r"a\.tex was not changed"):
        review(check_by_words(draft))
    assert draft.read_bytes() == before


class _JudgedPaper:
    """A full text with a verdict on every sentence that contains certain words."""

    def __init__(self, verdict: Verdict, words: str) -> None:
        self._verdict, self._words = verdict, words

    def verify(self, claim: str) -> Verification:
        passages = (Passage(1, 0, 0.9, "Bees never rest.", ""),)
        verdict: Verdict = self._verdict if self._words in claim else "backed"
        return Verification(claim, verdict, 0.9, passages, "the document is not in English")


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., PaperBacking]:
    """What a folder of full texts says, with a given verdict on every sentence that contains certain words."""
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "sleep.md").write_text(FULL_TEXT, "utf-8")
    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path / "cache"))

    def make(verdict: Verdict, words: str = "") -> PaperBacking:
        monkeypatch.setattr(claims, "open_document", lambda document: _JudgedPaper(verdict, words))
        return PaperBacking(str(papers), use_library=False)

    return make


@pytest.mark.parametrize(
    ("verdict", "reason"), [("contradicted", "says otherwise"), ("not found", "does not say so; closest")]
)
def test_a_paper_that_does_not_back_the_sentence_is_not_offered(
    review: Review, judged: Any, draft: Path, verdict: Verdict, reason: str
) -> None:
    backing = judged(verdict)
    shown = review(_with_second_paper(check_by_words(draft)), "y", "c", "2", "y", "q", backing=backing)
    assert f"kaiser1988 cannot be added: the paper {reason}: “Bees never rest.”" in shown
    assert "(1/3) Choose another paper [n,c,q,?]?" in shown
    assert "\\cite{roe1988}" in draft.read_text("utf-8")  # whose full text is not at hand
    assert "kaiser1988" not in draft.read_text("utf-8")


def test_accepting_all_leaves_out_what_a_paper_contradicts(review: Review, judged: Any, draft: Path) -> None:
    shown = review(check_by_words(draft), "a", backing=judged("contradicted", "All"))
    assert "a.tex:5: kaiser1988 not added: the paper says otherwise: “Bees never rest.”" in shown
    assert _cited(draft) == [True, True, False]


@pytest.mark.parametrize("verdict", ["backed", "secondary", "could not check"])
def test_what_the_paper_says_is_shown(review: Review, judged: Any, draft: Path, verdict: Verdict) -> None:
    shown = review(check_by_words(draft), "y", "q", backing=judged(verdict))
    unsure = "not verified: the document is not in English"
    assert (unsure if verdict == "could not check" else f"verified, {verdict}: “Bees never rest.”") in shown
    assert _cited(draft) == [True, False, False]


def test_without_a_terminal_all_is_verified_and_what_is_left_out_is_said(
    judged: Any, draft: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(draft.parent)
    before = draft.read_bytes()
    fix_draft(check_by_words(draft), None, True, judged("contradicted"))
    shown = capsys.readouterr().out
    assert shown.count("kaiser1988 not added: the paper says otherwise: “Bees never rest.”") == 3
    assert "a.tex: not changed." in shown
    assert draft.read_bytes() == before
    with pytest.raises(UserError, match="use --yes"):
        fix_draft(check_by_words(draft), None, False, judged("backed"))
    assert draft.read_bytes() == before
    fix_draft(check_by_words(draft), None, True, judged("backed"))
    assert _cited(draft) == [True, True, True]


@pytest.mark.parametrize(("answer", "cited"), [("y", True), ("n", False), ("\x04", False)])
def test_where_the_output_goes_elsewhere_one_question_is_asked(
    draft: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, answer: str, cited: bool
) -> None:
    monkeypatch.chdir(draft.parent)
    master, slave = pty.openpty()
    os.write(master, f"{answer}\n".encode())
    with os.fdopen(slave) as typed, monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", typed)
        fix_draft(check_by_words(draft), None, False, PaperBacking(None, use_library=False))
    os.close(master)
    shown = capsys.readouterr().out
    assert shown.count("Write these changes? [y/N]") == 1
    assert ("3 citations added" if cited else "a.tex: not changed.") in shown
    assert _cited(draft) == [cited] * 3


SCRIPT = """
import sys
from tests.fakes import word_detector
from whycite.check import pipeline
from whycite.cli import main
pipeline.load_detector = word_detector
sys.argv = ["whycite", "check", sys.argv[1], "--no-library", "--fix"]
main()
"""
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "text", "written"),
    [
        ("a.tex", LATEX % "It is known that bees rest at night.", "bees rest at night~\\cite{Kaiser1988}."),
        (
            "a.md",
            "---\nbibliography: refs.bib\n---\n\nIt is known that bees rest at night. Cats [@Doe2019].\n",
            "bees rest at night [@Kaiser1988].",
        ),
        (
            "a.typ",
            'It is known that bees rest at night. Cats @Doe2019.\n\n#bibliography("refs.bib")\n',
            "bees rest at night @Kaiser1988.",
        ),
    ],
    ids=["latex", "markdown", "typst"],
)
def test_the_whole_command_on_a_terminal(tmp_path: Path, name: str, text: str, written: str) -> None:
    from tests.drafts import BIB as ENTRIES

    (tmp_path / name).write_bytes(text.replace("{doe}", "{Doe2019}").encode())
    (tmp_path / "refs.bib").write_text(ENTRIES, "utf-8")
    before = (tmp_path / name).read_bytes()
    master, slave = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "COLUMNS": "120"}
    os.write(master, b"y\n")
    command = [sys.executable, "-c", SCRIPT, name]
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=tmp_path, env=environment) as process:
        os.close(slave)
        shown = b""
        try:
            while chunk := os.read(master, 4096):
                shown += chunk
        except OSError:  # the command has ended
            pass
    os.close(master)
    assert process.returncode == 0, shown.decode()
    assert "Add this citation" in shown.decode()
    after = (tmp_path / name).read_bytes()
    assert written.encode() in after
    cited = written[len("bees rest at night") : -1].encode()
    assert after.replace(cited, b"", 1) == before
