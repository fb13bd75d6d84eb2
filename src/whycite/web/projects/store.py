"""The folders of projects: the files as they were uploaded, what was read from them, and what people decided."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from threading import Lock
from typing import Any, Literal

import platformdirs

from whycite.errors import UserError
from whycite.files import atomic_write, make_folder
from whycite.web.guard import DETAILS, Problem
from whycite.web.reading import BIBLIOGRAPHIES
from whycite.web.uploads import Upload, safe_name, unpack_archives, write_upload
from whycite.web.warm import file_hash

__all__ = ["FileFacts", "FileKind", "ProjectFile", "ProjectFolder", "ProjectStore", "default_projects"]

FileKind = Literal["draft", "paper"]

_PROJECT = "project.json"  # the record that makes a folder a project
_FACTS = "-title.json"  # what is known of a file
_ID = re.compile(r"[0-9a-f]{16}")
_MAX_PROJECTS = 1_000
_MAX_FILES = 500  # per project
_MAX_BYTES = 1 << 30  # per project
_MAX_NAME = 200  # characters of the name of a project


def default_projects() -> Path:
    """Where projects are kept: $WHYCITE_PROJECTS, or a folder in the platform's data directory."""
    setting = os.environ.get("WHYCITE_PROJECTS")
    return (
        Path(setting).expanduser() if setting else platformdirs.user_data_path("whycite", appauthor=False) / "projects"
    )


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A file of a project, as it was uploaded."""

    id: str
    kind: FileKind
    name: str
    size: int
    path: Path


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The title of the paper in a file, and why it has no text."""

    title: str = ""
    problem: str = ""


class ProjectFolder:
    """The folder of one project."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.id = path.name
        self._lock = Lock()

    @property
    def draft_folder(self) -> Path:
        """The folder to read the draft from; an archive is unpacked."""
        unpacked = self.path / "unpacked"
        return unpacked if unpacked.is_dir() else self.path / "draft"

    def files(self) -> list[ProjectFile]:
        """The uploaded files, those of the draft in front."""
        kinds: tuple[FileKind, ...] = ("draft", "paper")
        return [self._file(kind, path) for kind in kinds for path in _files_below(self.path / kind)]

    def file(self, id: str) -> ProjectFile:
        """The file with an id."""
        match = next((file for file in self.files() if file.id == id), None)
        if match is None:
            raise Problem(404, "The project has no such file.")
        return match

    def add(self, uploads: Sequence[Upload], kind: FileKind) -> None:
        """Keep uploaded files; bibliographies go beside the draft, and a file replaces one with the same name."""
        with self._lock:
            self._check_present()
            present = self.files()
            if len(present) + len(uploads) > _MAX_FILES:
                raise Problem(422, f"A project has at most {_MAX_FILES} files; remove some first.")
            for upload in uploads:
                folder = self.path / ("draft" if upload.name.lower().endswith(BIBLIOGRAPHIES) else kind)
                path = folder / safe_name(upload.name)
                write_upload(folder, upload, replace=True)
                if sum(file.size for file in self.files()) > _MAX_BYTES:
                    path.unlink()
                    raise Problem(413, f"A project has at most {_MAX_BYTES >> 30} GB of files; remove some first.")
            self._unpack()

    def remove(self, id: str) -> None:
        """Delete a file and what was read from it."""
        with self._lock:
            file = self.file(id)
            for suffix in (".json", _FACTS):
                (self.path / "texts" / f"{file_hash(file.path)}{suffix}").unlink(missing_ok=True)
            file.path.unlink(missing_ok=True)
            self._unpack()

    def texts_of(self, file: ProjectFile) -> dict[str, Any]:
        """The documents that were read from a file; empty if it was not read yet."""
        return self.load(f"texts/{file_hash(file.path)}.json")

    def keep_texts(self, file: ProjectFile, documents: Sequence[Mapping[str, Any]], facts: FileFacts) -> None:
        """Keep the documents that were read from a file; what is often asked for apart."""
        name = f"texts/{file_hash(file.path)}"
        self.save(f"{name}.json", {"documents": documents})
        self.save(f"{name}{_FACTS}", asdict(facts))

    def facts_of(self, file: ProjectFile) -> FileFacts:
        """What was learned from a file when it was read; nothing if it was not read yet."""
        return FileFacts(**self.load(f"texts/{file_hash(file.path)}{_FACTS}"))

    def draft_hash(self) -> str:
        """The hash of the draft: of the names and content of its files."""
        folder = self.path / "draft"
        names = [f"{path.relative_to(folder).as_posix()} {file_hash(path)}" for path in _files_below(folder)]
        return blake2b("\n".join(names).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()

    def load(self, name: str) -> dict[str, Any]:
        """A record of this project; empty if there is none."""
        try:
            record: dict[str, Any] = json.loads((self.path / name).read_text("utf-8"))
        except (FileNotFoundError, ValueError):  # not there yet, or damaged: it is made anew
            return {}
        return record

    def save(self, name: str, record: Mapping[str, Any]) -> None:
        """Keep a record of this project, unless it was deleted meanwhile."""
        if name != _PROJECT:
            self._check_present()
        make_folder((self.path / name).parent)
        with atomic_write(self.path / name) as file:
            file.write(json.dumps(record).encode("utf-8", "surrogatepass"))

    def update(self, name: str, /, **fields: Any) -> None:
        """Change fields of a record; None removes a field."""
        with self._lock:
            self._check_present()
            record = {**self.load(name), **fields}
            self.save(name, {field: value for field, value in record.items() if value is not None})

    @property
    def is_present(self) -> bool:
        """Whether this project was created, and not deleted since."""
        return (self.path / _PROJECT).is_file()

    def delete(self) -> None:
        """Delete this project with all its files."""
        with self._lock:
            self._check_present()
            (self.path / _PROJECT).unlink()  # from here on it is gone, even if the rest cannot be deleted
        try:
            rmtree(self.path)
        except OSError as error:
            raise UserError(f"some files of the project could not be deleted: {error.strerror}") from error

    def _check_present(self) -> None:
        if not self.is_present:
            raise Problem(404, DETAILS[404])

    def _file(self, kind: FileKind, path: Path) -> ProjectFile:
        name = path.relative_to(self.path / kind).as_posix()
        id = blake2b(f"{kind}/{name}".encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        return ProjectFile(id, kind, name, path.stat().st_size, path)

    def _unpack(self) -> None:
        """Unpack the archives of a draft together with the files beside them."""
        rmtree(self.path / "unpacked", ignore_errors=True)
        unpack_archives(self.path / "draft", self.path / "unpacked")


class ProjectStore:
    """The projects in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lock = Lock()
        self._folders: dict[str, ProjectFolder] = {}

    def projects(self) -> list[ProjectFolder]:
        """The projects, newest first."""
        if not self.root.is_dir():
            return []
        folders = [self._folder(path.name) for path in self.root.iterdir() if self.exists(path.name)]
        return sorted(folders, key=lambda folder: str(folder.load(_PROJECT).get("created", "")), reverse=True)

    def create(self, name: str) -> ProjectFolder:
        """A new project."""
        with self._lock:
            if len(self.projects()) >= _MAX_PROJECTS:
                raise Problem(422, f"There are {_MAX_PROJECTS} projects already; delete one first.")
            id = secrets.token_hex(8)
            folder = self._folders[id] = ProjectFolder(make_folder(self.root / id))
        created = datetime.now(UTC).isoformat(timespec="seconds")
        folder.save(_PROJECT, {"name": " ".join(name.split())[:_MAX_NAME], "created": created})
        return folder

    def exists(self, id: str) -> bool:
        """Whether there is a project with an id."""
        return bool(_ID.fullmatch(id)) and ProjectFolder(self.root / id).is_present

    def open(self, id: str) -> ProjectFolder:
        """The project with an id."""
        if not self.exists(id):
            raise Problem(404, DETAILS[404])
        return self._folder(id)

    def delete(self, id: str) -> None:
        """Delete a project with all its files."""
        self.open(id).delete()
        self._folders.pop(id, None)

    def _folder(self, id: str) -> ProjectFolder:
        return self._folders.setdefault(id, ProjectFolder(self.root / id))


def _files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
