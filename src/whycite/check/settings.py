"""Settings for `check`: `.whycite.toml`, or `[tool.whycite]` in `pyproject.toml`, at or above the draft."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from whycite import structure
from whycite.check.findings import CITATION_RULES
from whycite.check.rules import RULE_IDS
from whycite.consent import is_trusted
from whycite.errors import UserError
from whycite.library.paths import default_path

__all__ = ["FORMATS", "KINDS", "SEVERITIES", "CheckSettings", "settings_for"]

FORMATS = ("text", "json", "sarif", "github", "html")
SEVERITIES = ("error", "warning", "information", "hint")
_TOML_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)")
KINDS = ("needs-citation", *CITATION_RULES)  # what a check may fail on
_OWN_FILE, _SHARED_FILE = ".whycite.toml", "pyproject.toml"


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """The settings; None or empty if the project does not set them."""

    stated_library: Path | None = None
    threshold: float | None = None
    sections: tuple[str, ...] = ()
    fail_on: str | None = None
    n: int | None = None
    format: str | None = None
    ignore_rules: tuple[str, ...] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)  # by section type
    contact: str = ""  # the address that services may write to
    severity: str | None = None  # of findings in an editor
    file: Path | None = field(default=None, compare=False)  # where they come from

    @property
    def library(self) -> Path | None:
        """The library; an error if it is outside the project and the user has not named it: it may be anybody's."""
        library, file = self.stated_library, self.file
        if library is None or file is None:
            return library
        place = library.resolve()
        if place.is_relative_to(file.parent.resolve()) or place == default_path().resolve() or is_trusted(place):
            return library
        raise UserError(
            f"{file}: names a library outside its folder, {place}; if you trust it: whycite trust {place}, "
            "or choose a library with --library"
        )


def settings_for(draft: Path) -> CheckSettings:
    """The settings in the nearest file, from the draft's folder upwards."""
    start = draft.absolute() if draft.is_dir() else draft.absolute().parent
    for folder in (start, *start.parents):
        for name in (_OWN_FILE, _SHARED_FILE):
            file = folder / name
            if file.is_file() and (table := _table(file)) is not None:
                return _settings(table, file)
    return CheckSettings()


def _table(file: Path) -> dict[str, Any] | None:
    try:
        content = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from error
    except ValueError as error:
        if file.name == _SHARED_FILE:
            return None  # the tools it belongs to report what is wrong with it
        raise UserError(_syntax_message(file, error)) from error
    if file.name == _OWN_FILE:
        return content
    tools = content.get("tool")
    table = tools.get("whycite") if isinstance(tools, dict) else None
    return table if isinstance(table, dict) else None


def _syntax_message(file: Path, error: ValueError) -> str:
    """Where a file is not TOML, as editors write places."""
    place = _TOML_PLACE.search(str(error))
    where = f":{place[1]}:{place[2]}" if place else ""
    return f"{file}{where}: not valid TOML: {_TOML_PLACE.sub('', str(error))}"


def _settings(table: dict[str, Any], file: Path) -> CheckSettings:
    settings: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _ALLOWED:
            raise UserError(f"{file}: unknown setting '{key}'{_choices(key, sorted(_ALLOWED))}")
        _check_names(key, value, file)
        kind, is_valid = _ALLOWED[key]
        if not is_valid(value):
            raise UserError(f"{file}: '{key}' must be {kind}, not {value!r}")
        settings[key.replace("-", "_")] = value
    if "library" in settings:
        settings["stated_library"] = file.parent / Path(settings.pop("library")).expanduser()
    for key in settings.keys() & {"sections", "ignore_rules"}:
        settings[key] = tuple(settings[key])
    return CheckSettings(**settings, file=file)


def _check_names(key: str, value: Any, file: Path) -> None:
    """Refuse the first name in a list or table of names that is unknown."""
    noun, names = _NAMES.get(key, ("", ()))
    given_names = value if isinstance(value, list | dict) else ()
    for name in given_names if noun else ():
        if isinstance(name, str) and name not in names:
            raise UserError(f"{file}: unknown {noun} '{name}' in '{key}'{_choices(name, names)}")


def _choices(name: str, names: Sequence[str]) -> str:
    """What may have been meant, or else all there is."""
    near = get_close_matches(name, names, 1)
    return f"; did you mean '{near[0]}'?" if near else f"; choose one of: {', '.join(names)}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list_of(value: Any, names: Sequence[str]) -> bool:
    return isinstance(value, list) and all(name in names for name in value)


# Settings that list names: what these are, and which there are.
_NAMES: dict[str, tuple[str, Sequence[str]]] = {
    "sections": ("section type", structure.SECTION_TYPES),
    "thresholds": ("section type", structure.SECTION_TYPES),
    "ignore-rules": ("rule", RULE_IDS),
}
_ALLOWED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "library": ("the path of a library", lambda value: isinstance(value, str)),
    "threshold": ("a number from 0 to 1", lambda value: _is_number(value) and 0 <= value <= 1),
    "thresholds": (
        "a table of section types with a number from 0 to 1 each",
        lambda value: (
            isinstance(value, dict) and all(_is_number(number) and 0 <= number <= 1 for number in value.values())
        ),
    ),
    "sections": (
        f"a list of section types ({', '.join(structure.SECTION_TYPES)})",
        lambda value: _is_list_of(value, structure.SECTION_TYPES),
    ),
    "fail-on": (f"one of {', '.join(KINDS)}", lambda value: value in KINDS),
    "contact": (
        "an e-mail address",
        lambda value: isinstance(value, str) and re.fullmatch(r"\S+@\S+", value) is not None,
    ),
    "n": ("a whole number of at least 1", lambda value: type(value) is int and value >= 1),
    "format": (f"one of {', '.join(FORMATS)}", lambda value: value in FORMATS),
    "severity": (f"one of {', '.join(SEVERITIES)}", lambda value: value in SEVERITIES),
    "ignore-rules": (
        f"a list of rules ({', '.join(RULE_IDS)})",
        lambda value: _is_list_of(value, RULE_IDS),
    ),
}
