"""`whycite check`: a draft in, findings out, in every form."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from tests.drafts import BIB, TEX
from tests.fakes import word_detector
from whycite.check import pipeline
from whycite.cli.check import check
from whycite.errors import UserError

Check = Callable[..., Result]
CLAIM = "# Introduction\n\nIt is known that transformers made of attention layers represent text well.\n"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Check:
    """Runs the command with a detector that goes by words."""
    monkeypatch.setenv("WHYCITE_LIBRARY", str(tmp_path / "own library"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(pipeline, "load_detector", word_detector)
    monkeypatch.chdir(tmp_path)
    app = typer.Typer()
    app.command()(check)

    def invoke(*arguments: str | Path, stdin: str = "") -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)

    return invoke


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    (tmp_path / "main.tex").write_text(TEX, "utf-8")
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    return tmp_path / "main.tex"


def told(result: Result) -> str:
    assert isinstance(result.exception, UserError), result.output
    return str(result.exception)


def test_people_see_the_sentence_how_sure_and_the_papers(run: Check, draft: Path) -> None:
    draft.write_text(TEX.replace("It is known that bees", "A known fact: bees"), "utf-8")
    result = run(draft)
    assert result.exit_code == 0, result.output
    assert f"{draft.name}:5:1: needs a citation (worthiness 0.90)" in result.stdout
    assert "A known fact: bees rest at night." in result.stdout
    assert "Kaiser1988  Busy bees need rest, too" in result.stdout
    assert "2 of 5 sentences need a citation; 1 already has one." in result.stdout
    assert result.stderr.count("no library, so papers") == 1


def test_no_paper_is_newer_than_the_date_of_the_draft(run: Check, draft: Path) -> None:
    assert "Doe2019" in run(draft).stdout
    draft.write_text(TEX.replace("\\begin{document}", "\\date{March 2018}\n\\begin{document}"), "utf-8")
    shown = run(draft).stdout
    assert "Kaiser1988" in shown
    assert "Doe2019" not in shown


def test_what_a_draft_says_itself_is_not_shown_as_of_another(run: Check, draft: Path) -> None:
    draft.write_text(TEX.replace("bees rest at night. ", "text has networks of attention layers. "), "utf-8")
    shown = run(draft, "-n", "1").stdout
    assert "“Networks made of attention layers represent text" in shown
    assert f"— in this draft, {draft.name}:6" in shown.replace("\n", "")
    assert "no year" not in shown


def test_warnings_are_wrapped_between_words(run: Check, draft: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # which makes a terminal of anything
    monkeypatch.setenv("COLUMNS", "40")
    lines = run(draft).stderr.splitlines()
    begun = next(at for at, line in enumerate(lines) if "warning: no library" in line)
    shown = [line[line.find("warning:") :] if at == begun else line for at, line in enumerate(lines)]
    assert max(map(len, shown[begun : begun + 3])) <= 40
    words = " ".join(line.strip() for line in shown[begun : begun + 3])
    assert "no library, so papers come only from the draft's own bibliography" in words


def test_a_new_paper_of_the_library_comes_with_its_entry(run: Check, library: Path, tmp_path: Path) -> None:
    (tmp_path / "draft.md").write_text(CLAIM, "utf-8")
    result = run(tmp_path / "draft.md", "--library", library, "--json", "-n", "1")
    assert result.exit_code == 0, result.output
    (finding,) = json.loads(result.stdout)["findings"]
    (best,) = finding["recommendations"]
    assert best["paper"]["title"] == "Attention Is All You Need"
    assert best["cite_key"] == "vaswani2017attention"
    assert best["known"] is False
    assert best["bibtex"].startswith("@misc{vaswani2017attention,")
    assert best["evidence"][0]["source"]["title"] == "Language models in a nutshell"
    again = run(tmp_path / "draft.md", "--library", library, "--json", "-n", "1")
    assert again.stdout == result.stdout


def test_a_paper_in_both_is_one_and_goes_by_the_drafts_key(run: Check, library: Path, draft: Path) -> None:
    draft.write_text(TEX.replace("It is known that bees rest at night.", CLAIM.split("\n")[2]), "utf-8")
    result = run(draft, "--library", library, "--json")
    first = json.loads(result.stdout)["findings"][0]["recommendations"]
    assert first[0]["cite_key"] == "Vaswani2017"
    assert first[0]["known"] is True
    assert {one["source"]["title"] for one in first[0]["evidence"]} >= {
        "How bees rest",
        "Language models in a nutshell",
    }
    assert [one["paper"]["title"] for one in first].count("Attention Is All You Need") == 1


def test_standard_input_is_read_as_markdown(run: Check) -> None:
    result = run("-", "--no-library", "--json", stdin=CLAIM)
    found = json.loads(result.stdout)
    assert [(one["file"], one["line"], one["kind"]) for one in found["findings"]] == [("stdin", 3, "needs-citation")]
    assert found["warnings"] == []
    assert "empty" in told(run("-", stdin=" \n"))


def test_it_fails_only_where_it_is_asked_to(run: Check, draft: Path) -> None:
    assert run(draft).exit_code == 0
    assert run(draft, "--fail-on", "needs-citation").exit_code == 1
    assert run(draft, "--fail-on", "needs-citation", "--section", "conclusion").exit_code == 0
    assert run(draft, "--fail-on", "needs-citation", "--threshold", "1").exit_code == 0


def test_settings_of_the_project_hold_and_the_command_line_wins(run: Check, draft: Path) -> None:
    (draft.parent / ".whycite.toml").write_text(
        'fail-on = "needs-citation"\nthreshold = 0.95\nn = 1\nformat = "json"\n', "utf-8"
    )
    assert run(draft).exit_code == 0
    result = run(draft, "--threshold", "0.5")
    assert result.exit_code == 1
    findings = json.loads(result.stdout)["findings"]
    assert [len(one["recommendations"]) for one in findings] == [1, 0, 0, 1, 1]
    assert "needs a citation" in run(draft, "--threshold", "0.5", "--format", "text").stdout
    (draft.parent / ".whycite.toml").write_text(
        'fail-on = "needs-citation"\nthreshold = 1\n[thresholds]\nconclusion = 0.5\n', "utf-8"
    )
    assert run(draft, "--section", "conclusion").exit_code == 1
    assert run(draft, "--section", "introduction").exit_code == 0
    assert run(draft, "--section", "conclusion", "--threshold", "1").exit_code == 0
    (draft.parent / ".whycite.toml").write_text("treshold = 1\n", "utf-8")
    assert ".whycite.toml: unknown setting 'treshold'" in told(run(draft))


@pytest.mark.parametrize("format", ["text", "json", "sarif", "github", "html"])
def test_every_form_can_go_to_a_file(run: Check, draft: Path, tmp_path: Path, format: str) -> None:
    result = run(draft, "--format", format, "--out", tmp_path / "found")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    written = (tmp_path / "found").read_text("utf-8")
    assert "bees rest at night" in written or format == "github"
    assert run(draft, "--format", format).stdout == written


def test_several_drafts_are_one_report(run: Check, draft: Path, tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text(CLAIM, "utf-8")
    lines = run(draft, tmp_path / "other.md", "--json").stdout.splitlines()
    assert [Path(json.loads(line)["path"]).name for line in lines] == ["main.tex", "other.md"]


def test_with_all_sentences_that_cite_get_papers_too(run: Check, draft: Path) -> None:
    assert f"{draft.name}:6:1: cites Vaswani2017" in run(draft, "--all").stdout


def test_fix_shows_asks_and_writes(run: Check, draft: Path) -> None:
    before = draft.read_bytes()
    assert "use --yes" in told(run(draft, "--fix"))
    assert draft.read_bytes() == before
    result = run(draft, "--fix", "--yes")
    assert result.exit_code == 0, result.output
    assert "+It is known that bees rest at night" in result.stdout
    assert "2 citations added, 1 file changed." in result.stdout
    assert rb"bees rest at night~\cite{Kaiser1988}." in draft.read_bytes()
    assert "nothing to change" in run(draft, "--fix", "--yes").stdout


def test_where_nothing_clearly_fits_it_says_so_and_fixes_nothing(run: Check, tmp_path: Path) -> None:
    main = tmp_path / "main.tex"
    main.write_text(TEX.replace("~\\cite{Vaswani2017}", ""), "utf-8")
    (tmp_path / "refs.bib").write_text(BIB[BIB.index("@article{Doe2019") :], "utf-8")
    findings = json.loads(run(main, "--no-library", "--json").stdout)["findings"]
    doubtful = {finding["text"]: finding["doubtful"] for finding in findings if finding["kind"] == "needs-citation"}
    assert doubtful == {
        "It is known that bees rest at night.": True,
        "It is known that old bridges are made of granite.": False,
    }
    assert run(main, "--no-library").stdout.count("is a clear match. The closest ones") == 1
    result = run(main, "--no-library", "--fix", "--yes")
    assert "1 sentence left unchanged" in result.stdout
    fixed = main.read_text("utf-8")
    assert "bees rest at night. Bees" in fixed
    assert fixed.count("\\cite{Doe2019}") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--json", "--format", "html"], "cannot be used with"),
        (["--library", "x", "--no-library"], "cannot be used with"),
        (["--yes"], "can only be used with --fix"),
        (["--papers", "papers"], "can only be used with --fix"),
        (["--fix", "--json"], "cannot be used with"),
        (["--watch", "--json"], "--watch cannot be used with"),
        (["--watch", "--fix"], "--watch cannot be used with"),
        (["--section", "nonsense"], "section type"),
        (["--library", "nowhere"], "no library here yet"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_contradicts_itself_is_refused(run: Check, draft: Path, options: list[str], message: str) -> None:
    assert message in told(run(draft, *options))


def test_a_draft_that_is_not_there_is_a_mistake(run: Check, tmp_path: Path) -> None:
    assert "no such file" in told(run(tmp_path / "none.tex"))


def test_the_detector_that_comes_with_it_tells_claims_from_own_work(
    run: Check, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from whycite.check.detector import load_detector

    monkeypatch.setattr(pipeline, "load_detector", load_detector)
    text = (
        "# Introduction\n\nPrevious studies have shown that sleep deprivation impairs the memory of honeybees. "
        "The rest of this paper is organised as follows.\n"
    )
    (tmp_path / "draft.md").write_text(text, "utf-8")
    found = json.loads(run(tmp_path / "draft.md", "--no-library", "--json").stdout)["findings"]
    assert [one["kind"] for one in found] == ["needs-citation", "ok"]


def test_a_rule_says_why_and_settings_turn_it_off(run: Check, draft: Path) -> None:
    text = TEX.replace("Bees fly by day.", r"Bees fly \cite{Kaiser1988}, and earlier studies show that wasps do.")
    draft.write_text(text, "utf-8")
    shown = run(draft).stdout
    assert f"{draft.name}:5:38: needs a citation (previous-work: reports earlier work)" in shown
    assert "  … earlier studies show that wasps do." in shown
    (draft.parent / ".whycite.toml").write_text('ignore-rules = ["previous-work"]\n', "utf-8")
    assert "previous-work" not in run(draft).stdout


@pytest.mark.parametrize(
    "text",
    [
        r"Bees fly~\cite{Vaswani2017}, and earlier studies show that busy bees need rest, too<>.",
        r"Kaiser et al. found rest~\cite{Vaswani2017}, and Kaiser (1988)<> showed that busy bees need rest.",
    ],
    ids=["at its end", "after its authors"],
)
def test_a_clause_gets_its_citation(run: Check, draft: Path, text: str) -> None:
    draft.write_text(TEX.replace("Bees fly by day.", text.replace("<>", "")), "utf-8")
    assert run(draft, "--fix", "--yes").exit_code == 0
    assert text.replace("<>", r"~\cite{Kaiser1988}") in draft.read_text("utf-8")


def test_a_bibliography_is_no_draft(run: Check, draft: Path) -> None:
    bibliography = draft.with_name("refs.bib")
    assert told(run(bibliography)) == (
        f"{bibliography}: a bibliography, not a draft; check it with: whycite references {bibliography}"
    )


def test_an_unknown_format_names_those_of_drafts(run: Check, tmp_path: Path) -> None:
    (tmp_path / "draft.dat").write_bytes(bytes(range(256)) * 10)
    assert told(run("draft.dat")) == (
        "draft.dat: unknown file format; drafts are LaTeX, Markdown, Typst, .docx, .odt or plain text"
    )


def test_a_folder_that_does_not_exist_is_noticed_before_the_check(
    run: Check, draft: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "check_draft", lambda *_, **__: pytest.fail("checked"))
    assert told(run(draft, "--out", "nowhere/check.html", "--format", "html")) == (
        "nowhere/check.html: cannot be written: its folder does not exist"
    )


def test_what_may_need_a_citation_is_counted(run: Check, draft: Path) -> None:
    result = run(draft, "--threshold", "0.95")
    assert "0 of 5 sentences need a citation; 1 already has one. 3 more may need one: --threshold 0.3." in result.stdout
