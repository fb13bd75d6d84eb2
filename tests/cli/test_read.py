"""`whycite read` as a user runs it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from whycite.errors import UserError

Run = Callable[..., Result]

DRAFT = r"""\documentclass{article}
\title{On things}
\begin{document}
\section{Introduction}
Things were shown \citep{doe2010}. Others differ \cite{gone}.
\subsection{Setup}
We set up.
\bibliography{refs}
\end{document}
"""
BIB = """@article{doe2010, title={Of {Things}}, author={Doe, Jane and Roe, R.}, year=2010,
  journal={J. Things}, doi={10.1/X}}"""


def whycite(*arguments: str, stdin: bytes = b"", cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from whycite.cli import main; main()", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, cwd=cwd, timeout=100, check=False)


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    (tmp_path / "draft.tex").write_text(DRAFT)
    (tmp_path / "refs.bib").write_text(BIB)
    return tmp_path


def _json(result: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    assert result.returncode == 0, result.stderr.decode()
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_json_has_the_agreed_keys(draft: Path) -> None:
    document = _json(whycite("read", "draft.tex", "--json", cwd=draft))
    start = DRAFT.index("Things were")
    end = DRAFT.index(" Others")
    cite = DRAFT.index(r"\citep{doe2010}")
    assert document == {
        "path": "draft.tex",
        "format": "latex",
        "title": "On things",
        "year": None,
        "sections": [
            {"heading": "Introduction", "type": "introduction", "level": 1},
            {"heading": "Setup", "type": document["sections"][1]["type"], "level": 2},
        ],
        "sentences": [
            {
                "text": "Things were shown [doe2010].",
                "section": "Introduction",
                "section_type": "introduction",
                "paragraph": 0,
                "file": "draft.tex",
                "start": start,
                "end": end,
                "citations": [{"keys": ["doe2010"], "start": cite, "end": cite + len(r"\citep{doe2010}")}],
            },
            *document["sentences"][1:],
        ],
        "references": [
            {
                "id": "doe2010",
                "key": "doi:10.1/x",
                "title": "Of Things",
                "authors": ["Doe, Jane", "Roe, R."],
                "year": 2010,
                "venue": "J. Things",
                "doi": "10.1/x",
                "publication": {"type": "article-journal"},
            }
        ],
        "warnings": ["1 cited key has no entry in the bibliography: gone"],
    }
    assert len(document["sentences"]) == 3


def test_a_person_sees_sections_sentences_citations_and_references(draft: Path) -> None:
    result = whycite("read", str(draft))
    shown = result.stdout.decode()
    assert result.returncode == 0
    for piece in (
        "On things",
        "2 sections, 3 sentences, 2 citations (1 linked), 1 reference",
        "# Introduction  [introduction]",
        "Things were shown [doe2010].",
        "doe2010  Doe et al. (2010): Of Things",
        "warning: 1 cited key has no entry in the bibliography: gone",
    ):
        assert piece in shown


@pytest.mark.parametrize(
    ("text", "format", "found"),
    [
        (DRAFT, None, "latex"),
        ("# Title\n\nText [@a].", "markdown", "markdown"),
        (BIB, None, "bibtex"),
        ("Just some words.", None, "plain"),
    ],
)
def test_standard_input(run: Run, text: str, format: str | None, found: str) -> None:
    options = ["--format", format] if format else []
    assert json.loads(run("read", "-", "--json", *options, stdin=text.encode()).stdout)["format"] == found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["draft.tex", "--format", "word"], "unknown format 'word'; choose one of: bbl, bibtex"),
        (["data.bin"], "data.bin: "),
        (["empty.md"], "empty.md: the file is empty"),
    ],
)
def test_a_mistake_is_one_plain_sentence(
    run: Run, draft: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    (draft / "data.bin").write_bytes(bytes(range(256)) * 20)
    (draft / "empty.md").touch()
    monkeypatch.chdir(draft)
    result = run("read", *arguments)
    assert isinstance(result.exception, UserError)
    assert result.stdout == ""
    (line,) = str(result.exception).splitlines()
    assert line.startswith(message)


def test_a_mistake_goes_to_standard_error_with_exit_code_2(tmp_path: Path) -> None:
    result = whycite("read", "gone.tex", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.decode() == "whycite: gone.tex: no such file or folder\n"


@pytest.mark.parametrize("command", ["read", "structure"])
def test_an_empty_folder_is_a_mistake(run: Run, tmp_path: Path, command: str) -> None:
    exception = run(command, tmp_path).exception
    assert isinstance(exception, UserError)
    assert str(exception) == f"{tmp_path}: contains no document that whycite can read"


def test_wrong_use_is_told_with_exit_code_2() -> None:
    result = whycite("read", "--bogus")
    assert result.returncode == 2
    assert "Traceback" not in result.stderr.decode()
    assert "--bogus" in result.stderr.decode()


def test_half_a_pair_of_surrogates_is_escaped(run: Run, tmp_path: Path) -> None:
    record = {
        "paper_id": "1",
        "metadata": {"title": "T"},
        "body_text": [{"text": "Half \ud800 a pair.", "section": "A"}],
    }
    record |= {"abstract": [], "bib_entries": {}, "ref_entries": {}}
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    assert json.loads(run("read", "--json", tmp_path / "a.jsonl").stdout)["sentences"]


def test_output_that_nobody_reads_ends_quietly(draft: Path) -> None:
    program = f"{sys.executable} -c 'from whycite.cli import main; main()' read --json {draft} | head -c 1"
    program += "; exit ${PIPESTATUS[0]}"
    result = subprocess.run(["bash", "-c", program], capture_output=True, timeout=100, check=False)
    assert result.returncode in {0, 141}
    assert result.stderr == b""


def test_a_full_disk_is_one_sentence(draft: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-c", "from whycite.cli import main; main()", "read", str(draft)]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=100, check=False)
    assert result.returncode == 2
    assert result.stderr == b"whycite: No space left on device\n"


def test_control_characters_of_a_document_do_not_reach_the_terminal(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A \x1b[31mred\x1b]0;title\x07 heading\n\nText \x1b[2J here.")
    shown = run("read", tmp_path / "a.md").stdout
    assert "heading" in shown
    assert "\x1b" not in shown
