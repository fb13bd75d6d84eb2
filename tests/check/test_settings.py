"""What a project asks of a check."""

from pathlib import Path

import pytest

from whycite.check.settings import CheckSettings, settings_for
from whycite.errors import UserError


def test_the_nearest_file_counts_and_paths_are_from_there(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.whycite]\nn = 5\n", "utf-8")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "draft.md").write_text("Text.", "utf-8")
    assert settings_for(inner / "draft.md") == CheckSettings(n=5)
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\nn = 7\n", "utf-8")
    assert settings_for(inner) == CheckSettings(n=5)
    (tmp_path / "a" / ".whycite.toml").write_text(
        'library = "lib"\nthreshold = 0.4\nsections = ["introduction"]\n'
        'fail-on = "needs-citation"\nformat = "github"\nignore-rules = ["own-result"]\n',
        "utf-8",
    )
    assert settings_for(inner) == CheckSettings(
        tmp_path / "a" / "lib", 0.4, ("introduction",), "needs-citation", None, "github", ("own-result",)
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("treshold = 0.4", "unknown setting 'treshold'"),
        ("threshold = 4", "'threshold' must be a number from 0 to 1, not 4"),
        ("threshold = true", "'threshold' must be a number"),
        ("thresholds = {introduction = 2}", "'thresholds' must be a table of section types"),
        ("thresholds = {intro = 0.2}", "'thresholds' must be a table of section types"),
        ("thresholds = 0.2", "'thresholds' must be a table of section types"),
        ('sections = ["intro"]', "'sections' must be a list of section types"),
        ('fail-on = "all"', "'fail-on' must be one of needs-citation"),
        ("n = 0", "'n' must be a whole number"),
        ('format = "xml"', "'format' must be one of text"),
        ("library = 3", "'library' must be the path"),
        ('ignore-rules = ["own-resutl"]', "'ignore-rules' must be a list of rules (caption, heading"),
        ('ignore-rules = "own-result"', "'ignore-rules' must be a list of rules"),
        ("n = ", "not valid TOML"),
    ],
)
def test_a_mistake_names_file_and_key(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / ".whycite.toml"
    file.write_text(line, "utf-8")
    with pytest.raises(UserError) as error:
        settings_for(tmp_path)
    assert str(error.value).startswith(f"{file}: ")
    assert message in str(error.value)


def test_the_pyproject_of_another_tool_is_not_our_business(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.whycite", "utf-8")
    assert settings_for(tmp_path) == CheckSettings()
