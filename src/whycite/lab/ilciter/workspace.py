"""Evaluation data, cached: for each topic a library of older papers and claims from newer ones (ILCiteR, 7.1)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from whycite.documents import Document, Reference
from whycite.errors import UserError
from whycite.evidence import EvidenceSpan
from whycite.evidence.words import has_content_words
from whycite.files import make_folder, write_lines
from whycite.lab.evaluate.comparison import draw
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
from whycite.models import DEFAULT, load_encoder
from whycite.models.cache import cache_folder

__all__ = [
    "CHOICES",
    "ClaimCase",
    "ClaimCases",
    "HeldOutPaper",
    "PreparedTopic",
    "answerable",
    "check_setup",
    "choose",
    "claim_cases",
    "default_folder",
    "prepare",
    "slug",
    "state_of",
]

CHOICES = ("random", "supported")

Find = Callable[[Sequence[Reference]], Sequence[str | None]]
"""Looks up the library's keys for references; None for unknown papers."""


@dataclass(frozen=True, slots=True)
class HeldOutPaper:
    """What a recommender would know of a held-out paper while it was still a draft."""

    key: str
    title: str
    year: int | None
    cited: tuple[str, ...]  # papers of the library, in order of first citation
    paragraphs: Mapping[str, str]  # without citations, by number


@dataclass(frozen=True, slots=True)
class ClaimCase:
    """A claim, its source, and the true papers that the library knows."""

    id: str
    text: str
    source: int  # index into the held-out papers
    section_type: str | None
    paragraph: str  # its number
    earlier: int  # number of papers its source cites in sentences before it
    truth: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClaimCases:
    """All claims of held-out papers; a text that occurs several times is one claim with all its papers."""

    sources: tuple[HeldOutPaper, ...]
    cases: tuple[ClaimCase, ...]


def claim_cases(documents: Iterable[tuple[str, Document, Sequence[EvidenceSpan]]], find: Find) -> ClaimCases:
    """Collect the claims of documents from their evidence spans (5.2), skipping those without content words."""
    papers = [_CitingPaper.from_document(*document) for document in documents]
    references = [reference for paper in papers for reference in paper.references]
    keys = iter(find(references))  # all at once: each library query has a high fixed cost
    sources: list[HeldOutPaper] = []
    cases_by_text: dict[str, ClaimCase] = {}
    for paper in papers:
        keyed_references = zip(paper.references, islice(keys, len(paper.references)), strict=True)
        keys_by_id = {reference.id: key for reference, key in keyed_references if key}
        first_citing: dict[str, int] = {}  # sentence in which each paper is first cited
        for sentence, ids in paper.citing:
            first_citing |= {
                keys_by_id[id]: sentence for id in ids if id in keys_by_id and keys_by_id[id] not in first_citing
            }
        for number, (span, paragraph) in enumerate(paper.spans):
            truth = {keys_by_id[id] for id in span.keys if id in keys_by_id}
            earlier = sum(sentence < span.sentence for sentence in first_citing.values())
            case = ClaimCase(
                f"{paper.key}#{number}", span.text, len(sources), span.section_type, paragraph, earlier, ()
            )
            case = cases_by_text.get(span.text, case)
            cases_by_text[span.text] = replace(case, truth=tuple(sorted({*case.truth, *truth})))
        sources.append(HeldOutPaper(paper.key, paper.title, paper.year, tuple(first_citing), paper.paragraphs))
    return ClaimCases(tuple(sources), tuple(case for case in cases_by_text.values() if has_content_words(case.text)))


@dataclass(frozen=True, slots=True)
class _CitingPaper:
    """The parts of a document that are needed, so the rest need not stay in memory."""

    key: str
    title: str
    year: int | None
    references: tuple[Reference, ...]
    spans: tuple[tuple[EvidenceSpan, str], ...]  # with paragraph numbers
    paragraphs: Mapping[str, str]
    citing: tuple[tuple[int, tuple[str, ...]], ...]  # sentences with what they cite

    @classmethod
    def from_document(cls, key: str, document: Document, spans: Sequence[EvidenceSpan]) -> _CitingPaper:
        numbers = [str(document.sentences[span.sentence].paragraph) for span in spans]
        paragraphs: dict[str, list[str]] = {number: [] for number in numbers}
        citing = []
        for index, sentence in enumerate(document.sentences):
            if str(sentence.paragraph) in paragraphs:
                paragraphs[str(sentence.paragraph)].append(sentence.without_citations())
            citing.append((index, tuple(key for citation in sentence.citations for key in citation.keys)))
        return cls(
            key,
            document.paper.title,
            document.paper.year,
            document.references,
            tuple(zip(spans, numbers, strict=True)),
            {number: " ".join(sentences) for number, sentences in paragraphs.items()},
            tuple(citing),
        )


def answerable(cases: Iterable[ClaimCase], support: Mapping[str, int]) -> list[ClaimCase]:
    """Claims with a true paper in the database; `support` has the database's papers."""
    return [case for case in cases if any(key in support for key in case.truth)]


def choose(
    cases: Iterable[ClaimCase], support: Mapping[str, int], choice: str, number: int, seed: int = 0
) -> list[ClaimCase]:
    """Choose up to `number` answerable claims.

    - `random`: a random sample
    - `supported`: those with the best supported true papers, as in ILCiteR; easier
    """
    if number < 2:
        raise UserError(f"at least two claims are needed to compare methods, not {number}")
    usable = answerable(cases, support)
    if choice == "random":
        return draw(usable, lambda case: case.id, number, seed)
    if choice == "supported":
        return sorted(usable, key=lambda case: -max(support.get(key, 0) for key in case.truth))[:number]
    raise UserError(f"unknown choice '{choice}'; choose one of: {', '.join(CHOICES)}")


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
