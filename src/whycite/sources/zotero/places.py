"""Where Zotero keeps its data: by default a folder in the user's home, or what the settings of a profile say."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from whycite.errors import UserError

__all__ = ["ZoteroPlace", "find_zotero", "is_address"]

DATABASE = "zotero.sqlite"
_SETTING = re.compile(r'^user_pref\("extensions\.zotero\.(\w+)", (".*"|true|false|-?\d+)\);\s*$', re.MULTILINE)
_HINT = "Zotero shows its folder under Settings → Advanced → Files and Folders; name it: whycite add --zotero FOLDER"


@dataclass(frozen=True, slots=True)
class ZoteroPlace:
    """A Zotero data folder, and the folder that linked attachments are relative to, if one is set."""

    folder: Path
    linked: Path | None = None

    @property
    def database(self) -> Path:
        """The database."""
        return self.folder / DATABASE


def is_address(text: str) -> bool:
    """Whether this is the address of Zotero's local interface, not a folder."""
    return text.startswith(("http://", "https://"))


def find_zotero(path: str | Path | None = None) -> ZoteroPlace:
    """The data folder at a path, or the user's own."""
    profiles = [_settings(file) for file in _profiles()]
    if path is not None:
        place = Path(path).expanduser()
        folder = place.parent if place.name == DATABASE else place
        if not (folder / DATABASE).is_file():
            raise UserError(f"{folder}: no Zotero library here (no {DATABASE}). {_HINT}")
        return ZoteroPlace(folder, _linked_folder(profiles, folder))
    folders = [Path(setting) for settings in profiles if (setting := _data_folder(settings))]
    folders.append(Path.home() / "Zotero")
    for folder in folders:
        if (folder / DATABASE).is_file():
            return ZoteroPlace(folder, _linked_folder(profiles, folder))
    raise UserError(f"no Zotero library found in {', '.join(map(str, dict.fromkeys(folders)))}. {_HINT}")


def _profiles() -> Iterator[Path]:
    """The settings files of Zotero's profiles, the one used last first."""
    home = Path.home()
    if sys.platform == "darwin":
        folders = [home / "Library" / "Application Support" / "Zotero" / "Profiles"]
    elif sys.platform == "win32":
        folders = [Path(os.environ.get("APPDATA", home / "AppData" / "Roaming")) / "Zotero" / "Zotero" / "Profiles"]
    else:
        folders = [home / ".zotero" / "zotero", home / ".var/app/org.zotero.Zotero/data/zotero/zotero"]
    files = [file for folder in folders for file in folder.glob("*/prefs.js")]
    yield from sorted(files, key=lambda file: file.stat().st_mtime, reverse=True)


def _settings(file: Path) -> Mapping[str, object]:
    try:
        text = file.read_text("utf-8", "replace")
    except OSError:  # another user's, or just replaced: the default folder is tried as well
        return {}
    settings: dict[str, object] = {}
    for name, value in _SETTING.findall(text):
        try:
            settings[name] = json.loads(value)
        except ValueError:
            continue  # an escape that JSON does not have
    return settings


def _data_folder(settings: Mapping[str, object]) -> str:
    folder = settings.get("dataDir")
    return folder if settings.get("useDataDir") and isinstance(folder, str) else ""


def _linked_folder(profiles: list[Mapping[str, object]], folder: Path) -> Path | None:
    """The base folder of linked attachments, of the profile that uses this data folder or of the last one."""
    ordered = sorted(profiles, key=lambda settings: _data_folder(settings) != str(folder))
    setting = next((settings.get("baseAttachmentPath") for settings in ordered), None)
    return Path(setting) if isinstance(setting, str) and setting else None
