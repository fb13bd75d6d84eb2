"""Folders that the user trusts, although only a file from elsewhere names them.

A library says which encoder made its vectors, and the settings of a project say which library it uses. Both may have
come from somebody else. What they name outside themselves is opened only if the user named that folder once: on the
command line, or with `whycite trust`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import platformdirs

from whycite.errors import UserError
from whycite.files import atomic_write, make_folder

__all__ = ["distrust", "is_trusted", "settings_folder", "trust", "trusted_folders"]

_FILE = "trusted.json"


def settings_folder() -> Path:
    """The folder of the user's settings: $WHYCITE_SETTINGS, or the platform's default."""
    path = os.environ.get("WHYCITE_SETTINGS")
    return Path(path).expanduser() if path else platformdirs.user_config_path("whycite", appauthor=False)


def trusted_folders() -> list[Path]:
    """The folders that the user trusts, in the order of their names."""
    file = settings_folder() / _FILE
    try:
        content = json.loads(file.read_text("utf-8"))
        return sorted(Path(folder) for folder in content["folders"])
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{file}: damaged ({error}); delete it, and trust your folders again") from error


def is_trusted(folder: Path) -> bool:
    """Whether the user trusts a folder, or one that it is in."""
    resolved = folder.expanduser().resolve()
    return any(resolved.is_relative_to(trusted) for trusted in trusted_folders())


def trust(folder: Path) -> None:
    """Trust a folder and all in it from now on."""
    if not is_trusted(folder):
        _write([*trusted_folders(), folder.expanduser().resolve()])


def distrust(folder: Path) -> None:
    """Trust a folder no longer."""
    resolved = folder.expanduser().resolve()
    folders = trusted_folders()
    if resolved not in folders:
        raise UserError(f"{folder}: not among the trusted folders; list them with: whycite trust")
    _write([trusted for trusted in folders if trusted != resolved])


def _write(folders: list[Path]) -> None:
    with atomic_write(make_folder(settings_folder()) / _FILE) as target:
        target.write((json.dumps({"folders": sorted(map(str, folders))}, indent=2) + "\n").encode())
