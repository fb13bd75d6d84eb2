"""What an evaluation needs, made once and kept: for each topic a library of the older papers, claims of the newer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

from whycite.encoders import DEFAULT, load
from whycite.encoders.cache import cache_folder
from whycite.errors import UserError
from whycite.evaluation.cases import Case, Cases, HeldOut, cases
from whycite.evaluation.corpus import Entry, Shelf, Watch, gather, part
from whycite.evaluation.records import known_facts
from whycite.evaluation.topics import Topic, resolve
from whycite.files import make_folder, write_lines

__all__ = ["Prepared", "default_folder", "prepare", "same_setup", "slug", "state_of"]

_SETUP = "setup.json"
_MADE = "claims-2.json"  # another number where its form changes, so that an old one is made anew


@dataclass(frozen=True, slots=True)
class Prepared:
    """A topic, ready to be evaluated."""

    topic: str
    rule: str  # what makes a paper one of the topic
    library: Path
    papers: int  # in the library
    held_out: int
    oldest: str  # day of the oldest paper held out
    newest: str
    claims: Cases


def prepare(
    paths: Sequence[Path],
    topics: Sequence[Topic],
    held_out: int,
    work: Path | None,
    jobs: int,
    watch: Watch,
    encoder: str = DEFAULT,
) -> tuple[list[Prepared], list[str]]:
    """The topics' libraries and claims, and a sentence for each file that could not be read.

    What was made from the same data in the same way is taken as it is; what was begun is gone on with.
    """
    state = state_of(paths, encoder) | {"held_out": held_out}
    folders = {topic.name: make_folder((work or default_folder(state)) / slug(topic.name)) for topic in topics}
    if len(set(folders.values())) < len(topics):
        raise UserError("two topics have the same name; give them different ones: NAME=words")
    for topic in topics:
        same_setup(folders[topic.name], state | {"topic": topic.rule})
    missing = [topic for topic in topics if not (folders[topic.name] / _MADE).exists()]
    unread = _make(paths, missing, folders, held_out, jobs, watch, encoder) if missing else []
    return [_load(folders[topic.name]) for topic in topics], unread


def default_folder(state: dict[str, Any]) -> Path:
    """Where things made from data in this state are kept unless the user says otherwise."""
    name = blake2b(json.dumps(state, sort_keys=True).encode(), digest_size=8).hexdigest()
    return cache_folder() / "evaluation" / name


def state_of(paths: Sequence[Path], encoder: str = DEFAULT) -> dict[str, Any]:
    """What decides what is made of data: names, sizes and times of its files, and the versions of what reads them."""
    files = []
    for path in paths:
        if not path.exists():
            raise UserError(f"{path}: no such file or folder")
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        facts = [(str(file.resolve()), file.stat()) for file in inside if file.is_file()]
        files += [[name, fact.st_size, fact.st_mtime_ns] for name, fact in facts]
    data = blake2b(json.dumps(files).encode(), digest_size=16).hexdigest()
    return {"data": data, "whycite": version("whycite"), "encoder": load(encoder).name}


def same_setup(folder: Path, setup: dict[str, Any]) -> None:
    """Note in a folder what it is made from; a folder made from anything else is refused."""
    path = folder / _SETUP
    if path.exists():
        if json.loads(path.read_text("utf-8")) != setup:
            raise UserError(
                f"{folder} was made from other data or in another way; name another --work, or remove the folder"
            )
    elif any(folder.iterdir()):
        raise UserError(f"{folder} holds something else; name another --work")
    else:
        write_lines(path, [json.dumps(setup)])


def slug(name: str) -> str:
    """A name as a file can have it."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "topic"


def _make(
    paths: Sequence[Path],
    topics: Sequence[Topic],
    folders: dict[str, Path],
    held_out: int,
    jobs: int,
    watch: Watch,
    encoder: str,
) -> list[str]:
    watch("looking at the data", 0, None)
    known = known_facts(paths)
    topics = resolve(topics, (subject for facts in known.values() for subject in facts.subjects))
    with closing(Shelf(folders[topics[0].name])) as shelf:
        entries, unread = gather(paths, topics, known, shelf, watch)
        parts = {}
        for topic in topics:  # all of them first: too few papers are told before the work begins
            try:
                parts[topic] = part(entries[topic.name], held_out)
            except UserError as error:
                raise UserError(f"topic '{topic.name}' ({topic.rule}): {error}") from error
        for topic, (kept, held) in parts.items():
            _fill(folders[topic.name], topic, kept, held, shelf, jobs, watch, encoder)
    return unread


def _fill(
    folder: Path,
    topic: Topic,
    kept: list[Entry],
    held: list[Entry],
    shelf: Shelf,
    jobs: int,
    watch: Watch,
    encoder: str,
) -> None:
    from whycite.evidence import extract_many
    from whycite.library import Library, add_documents
    from whycite.structure import label

    title = topic.subject or topic.name
    taken = _counted(kept, f"{title}: adding papers", watch)
    add_documents(folder / "library", (shelf.get(entry.at) for entry in taken), jobs=jobs, encoder=encoder)
    library = Library.open(folder / "library")
    taken = _counted(held, f"{title}: finding claims", watch)
    found = extract_many((label(shelf.get(entry.at)) for entry in taken), jobs)
    claims = cases(
        ((entry.key, document, spans) for entry, (document, spans) in zip(held, found, strict=True)), library.find
    )
    prepared = Prepared(title, topic.rule, Path("library"), len(kept), len(held), held[-1].date, held[0].date, claims)
    write_lines(folder / _MADE, [json.dumps(asdict(prepared), default=str)])


def _counted(entries: Sequence[Entry], stage: str, watch: Watch) -> Iterator[Entry]:
    for number, entry in enumerate(entries):
        watch(stage, number, len(entries))
        yield entry
    watch(stage, len(entries), len(entries))


def _load(folder: Path) -> Prepared:
    content = json.loads((folder / _MADE).read_text("utf-8"))
    claims = content.pop("claims")
    sources = tuple(HeldOut(**source | {"cited": tuple(source["cited"])}) for source in claims["sources"])
    made = tuple(Case(**case | {"truth": tuple(case["truth"])}) for case in claims["cases"])
    return Prepared(**content | {"library": folder / content["library"], "claims": Cases(sources, made)})
