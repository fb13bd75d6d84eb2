"""Folders that only files from elsewhere name are opened if the user trusts them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from whycite import consent
from whycite.errors import UserError


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WHYCITE_SETTINGS", str(tmp_path / "settings"))
    return tmp_path / "settings"


def test_a_folder_and_all_in_it_is_trusted_until_it_is_not(tmp_path: Path, settings: Path) -> None:
    assert consent.trusted_folders() == []
    assert not consent.is_trusted(tmp_path / "models")
    assert not settings.exists()
    consent.trust(tmp_path / "models")
    consent.trust(tmp_path / "models" / "deep")  # is trusted already
    assert consent.trusted_folders() == [tmp_path / "models"]
    assert consent.is_trusted(tmp_path / "models" / "deep" / "..")
    assert not consent.is_trusted(tmp_path / "models" / "..")
    assert not consent.is_trusted(tmp_path / "models-2")
    consent.distrust(tmp_path / "models")
    assert consent.trusted_folders() == []


def test_a_link_in_a_trusted_folder_leads_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "trusted").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "trusted" / "link").symlink_to(tmp_path / "other")
    consent.trust(tmp_path / "trusted")
    assert not consent.is_trusted(tmp_path / "trusted" / "link")


@pytest.mark.parametrize("content", ["{", "[]", '{"folders": 3}', '{"folders": [3]}'])
def test_a_damaged_list_is_an_error_that_says_what_to_do(settings: Path, content: str) -> None:
    settings.mkdir()
    (settings / "trusted.json").write_text(content)
    with pytest.raises(UserError, match=r"trusted\.json: damaged .* delete it"):
        consent.is_trusted(settings)


def test_the_command_trusts_lists_and_removes(run: Callable[..., Result], tmp_path: Path) -> None:
    assert "You trust no folders yet." in run("trust").output
    result = run("trust", tmp_path, "--json")
    assert json.loads(result.stdout) == {"folders": [str(tmp_path)]}
    assert str(tmp_path) in run("trust").output.replace("\n", "")
    assert json.loads(run("trust", "--remove", tmp_path, "--json").stdout) == {"folders": []}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "no such folder"),
        ([""], "an empty path"),
        (["--remove"], "needs the folders"),
        (["--remove", "nowhere"], "not among the trusted folders"),
    ],
)
def test_mistakes(run: Callable[..., Result], arguments: list[str], message: str) -> None:
    result = run("trust", *arguments)
    assert isinstance(result.exception, UserError)
    assert message in str(result.exception)
