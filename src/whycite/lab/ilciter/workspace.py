"""Prepared evaluation data, cached: for each topic a library of older papers and claims from newer ones."""

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

from whycite.errors import UserError
from whycite.files import make_folder, write_lines
from whycite.lab.evaluate.topics import (
    CorpusEntry,
    DocumentSpool,
    Topic,
    Watch,
    gather_papers,
    hold_out_newest,
    read_publication_records,
    resolve,
)
from whycite.lab.ilciter.cases import ClaimCase, ClaimCases, HeldOutPaper, claim_cases
from whycite.models import DEFAULT, load_encoder
from whycite.models.cache import cache_folder

__all__ = ["PreparedTopic", "check_setup", "default_folder", "prepare", "slug", "state_of"]

_SETUP_FILE = "setup.json"
_CLAIMS_FILE = "claims-2.json"  # change the number with the format, so that old files are rebuilt


@dataclass(frozen=True, slots=True)
class PreparedTopic:
    """A topic ready for evaluation."""

    topic: str
    rule: str  # which papers belong to the topic
    library: Path
    papers: int  # in the library
    held_out: int
    oldest: str  # date of the oldest held-out paper
    newest: str
    claims: ClaimCases


def prepare(
    paths: Sequence[Path],
    topics: Sequence[Topic],
    held_out: int,
    work: Path | None,
    jobs: int,
    watch: Watch,
    encoder: str = DEFAULT,
) -> tuple[list[PreparedTopic], list[str]]:
    """Prepare libraries and claims of topics; also return a message for each unreadable file.

    Work already done with the same data and settings is reused, and unfinished work is resumed.
    """
    state = state_of(paths, encoder) | {"held_out": held_out}
    folders = {topic.name: make_folder((work or default_folder(state)) / slug(topic.name)) for topic in topics}
    if len(set(folders.values())) < len(topics):
        raise UserError("two topics have the same name; rename one with NAME=words")
    for topic in topics:
        check_setup(folders[topic.name], state | {"topic": topic.rule})
    missing = [topic for topic in topics if not (folders[topic.name] / _CLAIMS_FILE).exists()]
    unread = _make(paths, missing, folders, held_out, jobs, watch, encoder) if missing else []
    return [_load(folders[topic.name]) for topic in topics], unread


def default_folder(state: dict[str, Any]) -> Path:
    """Default folder for work made from data in this state."""
    name = blake2b(json.dumps(state, sort_keys=True).encode(), digest_size=8).hexdigest()
    return cache_folder() / "evaluation" / name


def state_of(paths: Sequence[Path], encoder: str = DEFAULT) -> dict[str, Any]:
    """Everything that determines the results: names, sizes and times of files, whycite's version and the encoder."""
    files = []
    for path in paths:
        if not path.exists():
            raise UserError(f"{path}: no such file or folder")
        members = sorted(path.rglob("*")) if path.is_dir() else [path]
        facts = [(str(file.resolve()), file.stat()) for file in members if file.is_file()]
        files += [[name, fact.st_size, fact.st_mtime_ns] for name, fact in facts]
    data = blake2b(json.dumps(files).encode(), digest_size=16).hexdigest()
    return {"data": data, "whycite": version("whycite"), "encoder": load_encoder(encoder).name}


def check_setup(folder: Path, setup: dict[str, Any], option: str = "--work") -> None:
    """Record in a folder what it is made from; raise an error if it was made from anything else."""
    path = folder / _SETUP_FILE
    if path.exists():
        if json.loads(path.read_text("utf-8")) != setup:
            raise UserError(
                f"{folder} was made from other data or with other settings; choose another {option}, or delete the "
                "folder"
            )
    elif any(folder.iterdir()):
        raise UserError(f"{folder} contains other files; choose another {option}")
    else:
        write_lines(path, [json.dumps(setup)])


def slug(name: str) -> str:
    """A name made safe for file names."""
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
    watch("scanning data", 0, None)
    publications = read_publication_records(paths)
    topics = resolve(topics, (subject for publication in publications.values() for subject in publication.subjects))
    with closing(DocumentSpool(folders[topics[0].name])) as spool:
        entries, unread = gather_papers(paths, topics, publications, spool, watch)
        parts = {}
        for topic in topics:  # all first, so that too few papers are reported before work begins
            try:
                parts[topic] = hold_out_newest(entries[topic.name], held_out)
            except UserError as error:
                raise UserError(f"topic '{topic.name}' ({topic.rule}): {error}") from error
        for topic, (library_entries, held_out_entries) in parts.items():
            _fill(folders[topic.name], topic, library_entries, held_out_entries, spool, jobs, watch, encoder)
    return unread


def _fill(
    folder: Path,
    topic: Topic,
    library_entries: list[CorpusEntry],
    held_out_entries: list[CorpusEntry],
    spool: DocumentSpool,
    jobs: int,
    watch: Watch,
    encoder: str,
) -> None:
    from whycite.evidence import extract_many
    from whycite.library import Library, add_documents
    from whycite.structure import label

    title = topic.subject or topic.name
    entries = _counted(library_entries, f"{title}: adding papers", watch)
    add_documents(folder / "library", (spool.get(entry.location) for entry in entries), jobs=jobs, encoder=encoder)
    library = Library.open(folder / "library")
    entries = _counted(held_out_entries, f"{title}: finding claims", watch)
    extractions = extract_many((label(spool.get(entry.location)) for entry in entries), jobs)
    claims = claim_cases(
        ((entry.key, document, spans) for entry, (document, spans) in zip(held_out_entries, extractions, strict=True)),
        library.find,
    )
    prepared = PreparedTopic(
        title,
        topic.rule,
        Path("library"),
        len(library_entries),
        len(held_out_entries),
        held_out_entries[-1].date,
        held_out_entries[0].date,
        claims,
    )
    write_lines(folder / _CLAIMS_FILE, [json.dumps(asdict(prepared), default=str)])


def _counted(entries: Sequence[CorpusEntry], stage: str, watch: Watch) -> Iterator[CorpusEntry]:
    for number, entry in enumerate(entries):
        watch(stage, number, len(entries))
        yield entry
    watch(stage, len(entries), len(entries))


def _load(folder: Path) -> PreparedTopic:
    content = json.loads((folder / _CLAIMS_FILE).read_text("utf-8"))
    claims = content.pop("claims")
    sources = tuple(HeldOutPaper(**source | {"cited": tuple(source["cited"])}) for source in claims["sources"])
    cases = tuple(ClaimCase(**case | {"truth": tuple(case["truth"])}) for case in claims["cases"])
    return PreparedTopic(**content | {"library": folder / content["library"], "claims": ClaimCases(sources, cases)})
