"""`whycite structure` as a user meets it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from whycite.cli.structure import structure
from whycite.documents.model import Document, Reference, Section, Sentence
from whycite.errors import UserError
from whycite.structure import SECTION_TYPES, HeadingRules, load_rules

Run = Callable[..., Result]


def document(path: str) -> Document:
    """A document whose headings are the lines of its file."""
    headings = Path(path).read_text().splitlines()
    sections = tuple(Section(heading, 1) for heading in headings)
    sentences = tuple(Sentence("Text.", number, number, path, 0, 5) for number in range(len(headings)))
    return Document(path, "test", Reference(""), sections, sentences)


def stream(path: str, format: str | None = None) -> Iterator[Document]:
    files = sorted(Path(path).iterdir()) if Path(path).is_dir() else [Path(path)]
    for file in files:
        if file.suffix == ".bad" and file != Path(path):
            yield Document(str(file), "unknown", Reference(""), warnings=(f"{file}:1: broken",))
        elif file.suffix == ".bad":
            raise UserError(f"{file}:1: broken")
        else:
            yield document(str(file))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command in an empty folder with its own settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("whycite.structure.synonyms.user_config_path", lambda name: tmp_path / "settings" / name)
    monkeypatch.setattr("whycite.documents.stream", stream, raising=False)
    app = typer.Typer()
    app.command()(structure)
    return lambda *arguments, input="": CliRunner().invoke(app, arguments, input=input, env={"COLUMNS": "120"})


def write(folder: Path, **files: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, headings in files.items():
        (folder / f"{name}.tex").write_text(headings.replace(", ", "\n"))


def test_one_document(run: Run, tmp_path: Path) -> None:
    write(tmp_path, draft="1 Introduction, 2 Kernels [of old], 3 Results, 4 Conclusions")
    result = run("draft.tex")
    assert result.exit_code == 0, result.output
    assert "Kernels [of old]" in result.stdout
    assert "most specific first: [I _ E C], [I * E C], [I * C], [*]" in result.stdout
    assert "[I * D]" not in result.stdout  # rows without support are left out of a single document's table
    assert "add rules with --learn): 2 Kernels [of old]." in result.stdout


def test_a_folder(run: Run, tmp_path: Path) -> None:
    write(
        tmp_path / "papers",
        a="Introduction, Methods, Experiments, Conclusion",
        b="Intro, Methodology, Results, Summary",
        c="Introduction, Model, Experiment results, Conclusion",
        d="Abstract",
    )
    result = run("papers")
    assert result.exit_code == 0, result.output
    rows = [row.replace("│", " ").split() for row in result.stdout.splitlines() if "I M E C" in row]
    assert rows == [["[I", "M", "E", "C]", "0.33", "0.67", "1.00", "1.00"]]
    assert "[I R E D C]" in result.stdout
    assert "4 documents, 1 without sections." in result.stdout


def test_json(run: Run, tmp_path: Path) -> None:
    write(tmp_path, a="Introduction, Kernels, Results, Conclusion", b="Introduction, Experiments")
    content = json.loads(run("a.tex", "b.tex", "--json").stdout)
    assert content["documents"] == 2
    assert content["without_sections"] == 0
    assert content["unread"] == []
    assert content["any"] == {"exact": 0.5, "defined": 0.5, "learned": 0.5, "ours": 0.5}
    assert content["unmatched"] == [{"heading": "Kernels", "documents": 1, "example": "a.tex"}]
    assert content["sequences"][0] == {
        "path": "a.tex",
        "sequence": [
            {"type": "introduction", "headings": ["Introduction"]},
            {"type": None, "headings": ["Kernels"]},
            {"type": "result", "headings": ["Results"]},
            {"type": "conclusion", "headings": ["Conclusion"]},
        ],
        "templates": ["[I _ E C]", "[I * E C]", "[I * C]", "[*]"],
    }
    templates = {row["template"]: row for row in content["templates"]}
    assert len(templates) == 25
    assert templates["[I R E D C]"]["parents"] == ["[I R * D C]", "[I _ E D C]"]
    assert templates["[I _ E C]"]["support"] == {"exact": 0, "defined": 0.5, "learned": 0.5, "ours": 0.5}


def test_what_cannot_be_read_is_a_warning(run: Run, tmp_path: Path) -> None:
    write(tmp_path, a="Introduction, Conclusion")
    (tmp_path / "x.bad").write_text("")
    result = run("x.bad", "a.tex")
    assert result.exit_code == 0
    assert "warning: x.bad:1: broken" in result.stderr
    assert "1 document." in result.stdout
    assert json.loads(run("x.bad", "a.tex", "--json").stdout)["unread"] == ["x.bad:1: broken"]
    whole_folder = json.loads(run(str(tmp_path), "--json").stdout)
    assert (whole_folder["documents"], len(whole_folder["unread"])) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.tex"], "missing.tex: no such file or folder"),
        (["x.bad"], "x.bad:1: broken"),
        (["--learn", "-"], "cannot be used with -"),
        (["--rules", "x.bad", "a.tex"], "x.bad: unknown key 'oops'"),
    ],
)
def test_mistakes(run: Run, tmp_path: Path, arguments: list[str], message: str) -> None:
    write(tmp_path, a="Introduction")
    (tmp_path / "x.bad").write_text("oops = 1")
    result = run(*arguments)
    assert isinstance(result.exception, UserError)
    assert message in str(result.exception)


def test_learning(run: Run, tmp_path: Path) -> None:
    write(
        tmp_path / "papers",
        a="Introduction, Kernels, Results, Conclusion",
        b="Introduction, Kernels, Forests, Results, Conclusion",
        c="Introduction, Roots, Results, Conclusion",
    )
    result = run("papers", "--learn", "--json", input="method\nsomething\nn\n3\n")
    assert result.exit_code == 0, result.output
    assert "3 headings without a type" in result.stderr
    assert "Kernels (2 documents, e.g. papers/a.tex)" in result.stderr
    assert "'something' is not a valid answer" in result.stderr
    path = tmp_path / "settings" / "whycite" / "sections.toml"
    assert f"3 rules saved in {path.relative_to(Path.cwd())}." in result.stderr
    assert load_rules(path, SECTION_TYPES) == HeadingRules(
        {"kernel": "method", "root": "method"}, frozenset({"forest"})
    )
    content = json.loads(result.stdout)
    support = {row["template"]: row["support"] for row in content["templates"]}
    assert support["[I M E C]"] == {"exact": 0, "defined": 0, "learned": 0, "before": 0, "after": 0.6667}
    assert content["unmatched"] == []
    again = run("papers", "--learn")
    assert "nothing to ask" in again.stderr
    assert "5) after" in again.stdout


def test_learning_stops_where_the_answers_end(run: Run, tmp_path: Path) -> None:
    write(tmp_path, a="Kernels, Trees, Roots")
    result = run("a.tex", "--learn", "--rules", "own.toml", input="\n7\n")
    assert result.exit_code == 0, result.output
    assert load_rules(tmp_path / "own.toml", SECTION_TYPES) == HeadingRules({"tree": "conclusion"})
    assert "1 rule saved in own.toml" in result.stderr


def test_an_interrupt_keeps_what_was_answered(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, a="Kernels, Trees")
    answers = iter(["method"])

    def answer() -> str:
        for reply in answers:
            return reply
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", answer)
    result = run("a.tex", "--learn")
    assert result.exit_code == 0, result.output
    assert load_rules(tmp_path / "settings" / "whycite" / "sections.toml", SECTION_TYPES) == HeadingRules(
        {"kernel": "method"}
    )


def test_control_codes_of_a_heading_do_not_reach_the_terminal(run: Run, tmp_path: Path) -> None:
    write(tmp_path, a="Introduction, \x1b[31mRed\x07, [bold]Bold")
    result = run("a.tex")
    assert "\x1b" not in result.stdout
    assert "[bold]Bold" in result.stdout
