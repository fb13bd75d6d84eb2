"""What the README and the docs show is what happens.

A block ```` ```latex title="draft.tex" ```` makes that file; of a `console` block every `$ whycite …` is run there and
its output compared, `…` standing for anything; Python prompts are run as doctests.
"""

import doctest
import importlib.util
import re
import shlex
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from whycite.check.rules import RULES
from whycite.cli import app
from whycite.references.report import REFERENCE_RULES

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r'^```(\w+)(?: title="([\w./-]+)")?\n(.*?)^```', re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^\$ whycite (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
ENTRY_POINTS = {
    "whycite.readers",
    "whycite.methods",
    "whycite.commands",
    "whycite.candidates",
    "whycite.passages",
    "whycite.proposers",
    "whycite.server",  # a setting in Visual Studio Code
    "whycite.toml",
}
ARTICLES = ("journal.pone.0067380.xml", "journal.ppat.1002735.xml", "journal.pmed.0020007.xml")  # of the tutorial


def _blocks(page: Path) -> list[tuple[str, str, str]]:
    blocks: list[tuple[str, str, str]] = BLOCK.findall(page.read_text("utf-8"))
    return blocks


def _pages_with(content: str) -> list[Path]:
    return [page for page in PAGES if content in page.read_text("utf-8")]


def _page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WHYCITE_LIBRARY", str(tmp_path / "library"))  # never the user's
    return tmp_path


def _write(folder: Path, name: str, text: str) -> None:
    if name:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


def _copy_articles(folder: Path) -> None:
    """What the tutorial tells its reader to copy."""
    package = find_spec("allofplos")
    if package is None or not package.submodule_search_locations:
        pytest.skip("allofplos is not installed")
    (folder / "articles").mkdir()
    for name in ARTICLES:
        shutil.copy(Path(package.submodule_search_locations[0], "starter_corpus", name), folder / "articles")


@pytest.mark.parametrize("page", _pages_with("\n$ whycite"), ids=_page_id)
def test_commands_print_what_is_shown(page: Path, folder: Path) -> None:
    if page.name == "tutorial.md":
        _copy_articles(folder)
    for language, name, text in _blocks(page):
        _write(folder, name, text)
        for command, shown in COMMAND.findall(text) if language == "console" else []:
            result = CliRunner().invoke(app, shlex.split(command), env={"COLUMNS": "120"})
            printed = "\n".join(line.rstrip() for line in result.stdout.strip().splitlines())
            expected = "\n".join(line.rstrip() for line in shown.strip().splitlines())
            pattern = ".*".join(re.escape(part) for part in expected.split("…"))
            assert re.fullmatch(pattern, printed, re.DOTALL), printed
            assert result.exit_code == 0


@pytest.mark.parametrize("page", _pages_with("\n>>> "), ids=_page_id)
def test_python_examples(page: Path, folder: Path) -> None:
    if "whycite.cite(" in page.read_text("utf-8"):
        for _, name, text in _blocks(page):
            _write(folder, name, text)
        assert CliRunner().invoke(app, ["add", "papers"]).exit_code == 0
    for _, name, text in _blocks(page):
        _write(folder, name, text)
    assert doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS).failed == 0


def test_pages_are_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if page not in navigation] == []


def test_every_command_and_option_is_in_the_reference() -> None:
    spec = importlib.util.spec_from_file_location("command_reference", ROOT / "docs" / "command_reference.py")
    assert spec
    assert spec.loader
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    pages = {page: page.read_text("utf-8") for page in (ROOT / "docs" / "reference" / "commands").glob("*.md")}
    documented = [command for text in pages.values() for command in hook.documented_commands(text)]
    assert sorted(documented) == sorted(hook.all_commands())
    for text in pages.values():
        built = re.sub(r"[\\]|&[#\w]+;", "", hook.on_page_markdown(text))
        for command in hook.documented_commands(text):
            shown = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "120"}).stdout
            for option in re.findall(r"^ +(?:-\w, )?(--[\w-]+|-\w)\b", shown, re.MULTILINE):
                assert option in built, f"{command}: {option}"


def test_modules_that_are_named_exist() -> None:
    missing = []
    for page in PAGES:
        text = page.read_text("utf-8")
        paths = re.findall(r"`((?:\w+/)+\w+\.(?:py|toml))`", text)
        missing += [
            path for path in paths if not any((ROOT / top / path).exists() for top in ("", "src", "src/whycite"))
        ]
        names = set(re.findall(r"(?:`|::: )(whycite(?:\.\w+)+)", text.replace(".functions.", "."))) - ENTRY_POINTS
        missing += [name for name in names if not _is_defined(name)]
    assert missing == []


def _is_defined(name: str) -> bool:
    """Whether a dotted name is a module or defined in one; sources are read, since the laboratory's need PyTorch."""
    *packages, last = name.split(".")
    path = ROOT.joinpath("src", *packages)
    if path.joinpath(last).is_dir() or path.joinpath(f"{last}.py").is_file():
        return True
    if path.is_dir():
        return re.search(rf"\b{last}\b", (path / "__init__.py").read_text("utf-8")) is not None
    source = path.with_suffix(".py")
    return source.is_file() and re.search(rf"^(?:def|class) {last}\b", source.read_text("utf-8"), re.M) is not None


def test_every_rule_is_listed_in_the_order_of_decision() -> None:
    page = (ROOT / "docs" / "reference" / "rules.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| (never|needed) \| ([^|]+) \|", page, re.MULTILINE)
    citation = {"exempt": "never", "needs": "needed"}
    assert rows == [(rule.id, citation[rule.direction], rule.meaning) for rule in RULES]


def test_every_rule_for_references_is_listed() -> None:
    page = (ROOT / "docs" / "reference" / "rules.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| (error|warning|note) \| ([^|]+) \|", page, re.MULTILINE)
    assert rows == [(rule.id, rule.severity, rule.meaning) for rule in REFERENCE_RULES.values()]
