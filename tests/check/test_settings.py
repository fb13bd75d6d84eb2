"""What a project asks of a check."""

from pathlib import Path

import pytest

from whycite.check.settings import CheckSettings, settings_for
from whycite.consent import trust
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
        ("treshold = 0.4", "unknown setting 'treshold'; did you mean 'threshold'?"),
        ("threshold = 4", "'threshold' must be a number from 0 to 1, not 4"),
        ("threshold = true", "'threshold' must be a number"),
        ("thresholds = {introduction = 2}", "'thresholds' must be a table of section types"),
        (
            "thresholds = {introducton = 0.2}",
            "unknown section type 'introducton' in 'thresholds'; did you mean 'introduction'?",
        ),
        ("thresholds = 0.2", "'thresholds' must be a table of section types"),
        (
            'sections = ["introducton"]',
            "unknown section type 'introducton' in 'sections'; did you mean 'introduction'?",
        ),
        ('sections = ["xyz"]', "unknown section type 'xyz' in 'sections'; choose one of: introduction, "),
        ("sections = [3]", "'sections' must be a list of section types"),
        ('fail-on = "all"', "'fail-on' must be one of needs-citation"),
        ("n = 0", "'n' must be a whole number"),
        ('format = "xml"', "'format' must be one of text"),
        ("library = 3", "'library' must be the path"),
        ('ignore-rules = ["own-resutl"]', "unknown rule 'own-resutl' in 'ignore-rules'; did you mean 'own-result'?"),
        ('ignore-rules = "own-result"', "'ignore-rules' must be a list of rules"),
        ("n = = 2", ".whycite.toml:1:5: not valid TOML: Invalid value"),
        ("n = ", ".whycite.toml: not valid TOML: Invalid value (at end of document)"),
    ],
)
def test_a_mistake_names_file_and_key(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / ".whycite.toml"
    file.write_text(line, "utf-8")
    with pytest.raises(UserError) as error:
        settings_for(tmp_path)
    assert str(error.value).startswith(str(file))
    assert message in str(error.value)


def test_the_pyproject_of_another_tool_is_not_our_business(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.whycite", "utf-8")
    assert settings_for(tmp_path) == CheckSettings()


def test_a_library_outside_the_project_needs_consent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYCITE_LIBRARY", str(tmp_path / "own"))
    monkeypatch.setenv("WHYCITE_SETTINGS", str(tmp_path / "settings"))
    project = tmp_path / "project"
    project.mkdir()
    for stated, is_allowed in (("lib", True), ("../own", True), ("../theirs", False), ("a/../../theirs", False)):
        (project / ".whycite.toml").write_text(f'library = "{stated}"\n', "utf-8")
        settings = settings_for(project)  # its other settings can be used
        if is_allowed:
            assert settings.library == project / stated
        else:
            with pytest.raises(UserError, match=f"whycite trust {tmp_path / 'theirs'}, or choose a library"):
                assert settings.library
    trust(tmp_path / "theirs")
    assert settings.library == project / "a/../../theirs"


def test_a_link_out_of_the_project_needs_consent_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYCITE_SETTINGS", str(tmp_path / "settings"))
    (tmp_path / "project").mkdir()
    (tmp_path / "theirs").mkdir()
    (tmp_path / "project" / "lib").symlink_to(tmp_path / "theirs")
    (tmp_path / "project" / ".whycite.toml").write_text('library = "lib"\n', "utf-8")
    with pytest.raises(UserError, match="outside its folder"):
        assert settings_for(tmp_path / "project").library
