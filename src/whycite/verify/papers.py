"""The full texts at hand: which file of a folder, or document of a library, is the paper that a reference means."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whycite import documents
from whycite.documents.identity import group, normalise_title, tells_paper
from whycite.documents.model import Document, Reference
from whycite.documents.registry import readers
from whycite.documents.sources import DiskFolder
from whycite.encoders.cache import cache_folder
from whycite.errors import UserError
from whycite.files import make_folder, replacing

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = ["Held", "find", "in_folder", "in_library", "open_held"]

_LOG = logging.getLogger("whycite")
_FIELDS = ("title", "authors", "year", "venue", "doi", "arxiv", "pmid")
_PACKED = (".gz", ".zst", ".bz2", ".xz", ".zip", ".tgz")
_BIBLIOGRAPHIES = frozenset({"bibtex", "bbl", "ris", "csljson"})
_LEAST = 4  # words of a title that is believed without author and year
_VERSION = 1  # of what is kept


@dataclass(frozen=True, slots=True)
class Held:
    """A paper whose full text is at hand: the file that holds it, its path in there, and what it says it is."""

    file: str
    path: str
    paper: Reference
    problem: str = ""  # why it could not be read


def in_folder(folder: Path | str, progress: Callable[[int], None] | None = None) -> list[Held]:
    """The papers in a folder; what each file says of itself is kept, and read again once the file has changed."""
    folder = Path(folder)
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder of papers")
    name = blake2b(str(folder.resolve()).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
    kept = cache_folder() / "papers" / f"{name}.json"
    before = _kept(kept)
    now: dict[str, Any] = {}
    found: list[Held] = []
    for number, path in enumerate(_files(folder), 1):
        try:
            state = path.stat()
        except FileNotFoundError:  # moved since the folder was listed
            continue
        mark = [_VERSION, state.st_mtime_ns, state.st_size]
        known = before.get(str(path), {})
        entry: dict[str, Any] = known if known.get("mark") == mark else {"mark": mark, "papers": _facts(path)}
        now[str(path)] = entry
        found += (_held(path, facts) for facts in entry["papers"])
        if progress:
            progress(number)
    if now != before:
        _keep(kept, now)
    return found


def in_library(library: Library) -> list[Held]:
    """The documents of a library whose files are still there."""
    found = []
    for entry in library.documents():
        kind, _, name = entry.key.partition(":")
        named: dict[str, Any] = {kind: name} if kind in ("doi", "arxiv", "pmid") else {}
        file = _on_disk(entry.path)
        problem = "" if file else f"{entry.path}: the file is gone"
        found.append(Held(file, entry.path, Reference("", title=entry.title, year=entry.year, **named), problem))
    return found


def find(references: Sequence[Reference], held: Sequence[Held]) -> list[Held | None]:
    """For each reference the paper at hand that it means: by identifiers, by title, author and year, or by title."""
    numbers = group([*(each.paper for each in held), *references])
    by_number: dict[int, Held] = {}
    by_title: dict[str, list[Held]] = {}
    for each, number in zip(held, numbers, strict=False):
        by_number.setdefault(number, each)
        title = normalise_title(each.paper.title)
        if title.count(" ") + 1 >= _LEAST:
            by_title.setdefault(title, []).append(each)
    found = zip(references, numbers[len(held) :], strict=True)
    return [by_number.get(number) or _titled(reference, by_title) for reference, number in found]


def _titled(reference: Reference, by_title: dict[str, list[Held]]) -> Held | None:
    """The one paper of the reference's title; identifiers that differ keep apart what is called the same."""
    title = normalise_title(reference.title)
    same = by_title.get(title, [])
    if not title and reference.text:
        printed = normalise_title(reference.text)
        same = [each for name, all in by_title.items() if tells_paper(name) and name in printed for each in all]
    fitting = [each for each in same if not _apart(reference, each.paper)]
    return fitting[0] if len(fitting) == 1 else None


def _apart(one: Reference, other: Reference) -> bool:
    if one.year and other.year and abs(one.year - other.year) > 5:
        return True
    return bool(one.doi and other.doi and one.doi.lower() != other.doi.lower() and not (one.arxiv or other.arxiv))


def open_held(held: Held) -> Document:
    """The document of a paper at hand."""
    if held.problem:
        raise UserError(held.problem)
    for document in documents.stream(held.file):
        if document.path == held.path or held.file == held.path:
            return document
    raise UserError(f"{held.path}: is no longer in its file")


def _files(folder: Path) -> Iterator[Path]:
    suffixes = tuple(
        suffix for name, reader in readers().items() if name not in _BIBLIOGRAPHIES for suffix in reader.suffixes
    )
    for name in DiskFolder(folder).names():
        if name.lower().endswith((*suffixes, *_PACKED)):
            yield folder / name


def _facts(path: Path) -> list[dict[str, Any]]:
    """What the documents of a file say they are; of one that cannot be read, why."""
    try:
        return [
            {
                "path": document.path,
                "problem": "" if document.sentences else _why(document),
                **_facts_of(document.paper),
            }
            for document in documents.stream(path)
        ]
    except UserError as error:
        return [{"path": str(path), "problem": str(error)}]


def _why(document: Document) -> str:
    return document.warnings[0] if document.warnings else f"{document.path}: holds no text that can be read"


def _facts_of(paper: Reference) -> dict[str, Any]:
    return {name: value for name, value in asdict(paper).items() if name in _FIELDS and value}


def _held(path: Path, facts: dict[str, Any]) -> Held:
    known = {name: facts[name] for name in _FIELDS if name in facts}
    known["authors"] = tuple(known.get("authors", ()))
    return Held(str(path), str(facts["path"]), Reference("", **known), str(facts.get("problem", "")))


def _on_disk(path: str) -> str:
    place = Path(path)
    candidates: Iterable[Path] = (place, Path(path.rpartition(":")[0] or path), *place.parents)
    return next((str(each) for each in candidates if each.is_file()), "")


def _kept(path: Path) -> dict[str, Any]:
    try:
        held = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}  # nothing was kept, or it is damaged: it can be made again
    return held if isinstance(held, dict) else {}


def _keep(path: Path, held: dict[str, Any]) -> None:
    try:
        make_folder(path.parent)
        with replacing(path) as file:
            file.write(json.dumps(held).encode())
    except UserError as error:
        _LOG.warning("%s; the papers are read again next time", error)
