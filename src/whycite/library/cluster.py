"""Add papers with the machines of a Ray cluster: they read, extract evidence and encode; this process writes.

The work is in tasks of Ray, not in a dataset of Ray Data: a document that ends its process has to be found among those
of its task and left out alone, and Ray Data can only give up whole blocks. Documents come back in the order of the
paths, since the first of two versions of a paper is the one that is kept: the library is the one that a single machine
makes. A limited number of tasks is under way at a time.
"""

from __future__ import annotations

import logging
import os
import socket
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from whycite.documents.builder import explain, unreadable
from whycite.documents.confined import ConfinedReader
from whycite.documents.model import Document
from whycite.documents.reading import FolderMember, check_format, list_members, papers_beside_drafts
from whycite.errors import MissingExtra, UserError
from whycite.evidence import EvidenceSpan, extract
from whycite.evidence.spans import SkipDocument, SpanStream
from whycite.library.records import AddReport, identifier
from whycite.models import Encoder, bundled_encoders, load_encoder
from whycite.structure import label

# LanceDB, which these import, comes after Ray has started its processes: forking beside its threads can hang.
if TYPE_CHECKING:
    from whycite.library.adding import Intake, Watch
    from whycite.library.encoding import EncoderChoice

__all__ = ["LOCAL", "add_on_cluster", "connected"]

LOCAL = "local"  # instead of an address: a cluster on this machine, for this command alone
_TASK_MEMBERS = 16  # files read by a task: seconds of work, which are lost with their machine
_TASKS_PER_CORE = 2  # under way or waiting to be written, so that no core is idle
_UNWRITTEN_DOCUMENTS = 64  # of a task, which may read a file with millions of records; then it waits
_ENCODED_TEXTS = 512  # in a task
_ATTEMPTS = 3  # at a document whose process ends; the first may be lost with its machine
_CAREFUL_DOCUMENTS = 8  # read one by one after that: what a process says right before its end may be lost
_REACH_SECONDS = 5.0
_CORES_PER_FACTOR = 4  # batches grow with the cluster, since a batch is encoded at once

Ray = Any  # the module, which is imported on first use
Vectors = NDArray[np.float32]


def add_on_cluster(
    path: Path | str | None,
    inputs: Sequence[Path | str],
    address: str,
    *,
    format: str | None = None,
    jobs: int | None = None,
    encoder: EncoderChoice | None = None,
    progress: Watch | None = None,
    own_text: bool = True,
) -> AddReport:
    """Add all documents from files, folders or archives, which every machine of the cluster sees under the same paths.

    The address is that of a cluster, or "local" for one on this machine with `jobs` processes.
    """
    check_format(format)
    if "-" in map(str, inputs):
        raise UserError("standard input cannot be read by other machines; save it to a file, and give its path")
    with connected(address, jobs) as ray:
        from whycite.library.adding import add_evidence

        cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
        places = [os.path.abspath(place) for place in inputs]  # noqa: PTH100 - links keep their names

        def extract_new(intake: Intake, skip: SkipDocument) -> SpanStream:
            return _new_documents(_ClusterReading(ray, places, format, intake, cores).extractions(), intake, skip)

        report = add_evidence(
            path,
            extract_new,
            encoder=encoder,
            spread=lambda own: _ClusterEncoder(ray, own),
            batch_factor=max(1, cores // _CORES_PER_FACTOR),
            progress=progress,
            own_text=own_text,
        )
        report.warnings += [warning for place in places for warning in papers_beside_drafts(place, format)]
        return report


@contextmanager
def connected(address: str, jobs: int | None = None) -> Iterator[Ray]:
    """Ray, connected to a cluster; a connection that exists already is used, and stays."""
    # Read when Ray is imported: nothing is sent over the network that the user did not ask for.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("--ray", "scale") from error
    if ray.is_initialized():
        yield ray
        return
    logging.getLogger("ray").setLevel(logging.ERROR)  # it reports how it works, such as that it made a token
    options: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    if address == LOCAL:
        options |= {"num_cpus": jobs, "include_dashboard": False}
    elif jobs is not None:
        raise UserError("--jobs is for this machine alone; a cluster uses all the cores it has")
    try:
        _reach(address)
        ray.init(address=address, **options)
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        if address == LOCAL:
            raise UserError(f"Ray does not start on this machine ({reason}); it may be busy, so try again") from error
        raise UserError(
            f"no Ray cluster at '{address}' ({reason}); start one with: ray start --head, or use --ray local"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Raise an error if nothing answers at an address with a port: Ray itself tries for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), _REACH_SECONDS).close()


@dataclass(frozen=True, slots=True)
class _ExtractedDocument:
    """A document with its evidence, or why there is none."""

    document: Document
    spans: list[EvidenceSpan] | None  # None if the library has the document already
    error: str = ""


def _new_documents(extractions: Iterable[_ExtractedDocument], intake: Intake, skip: SkipDocument) -> SpanStream:
    for extraction in extractions:
        if not intake.accepts(extraction.document):
            continue
        if extraction.error:
            skip(extraction.document, UserError(extraction.error))
        else:
            # The library had it until another version replaced it in this very add.
            spans = extract(extraction.document) if extraction.spans is None else extraction.spans
            yield extraction.document, spans


@dataclass(frozen=True, slots=True)
class _Portion:
    """What a task reads: a path, or some members of a folder."""

    path: str
    members: tuple[FolderMember, ...] | None
    delivered: int = 0  # documents that were handed on by a task that ended
    limit: int | None = None  # documents to hand on
    fatal: frozenset[int] = frozenset()  # documents that end their process, by number


@dataclass(slots=True)
class _ReadingTask:
    """A portion that is being read."""

    portion: _Portion
    results: Any  # references to the documents, as they come
    delivered: int = 0
    crashes: Counter[int] = field(default_factory=Counter)  # by number of the document
    careful: int = 0  # documents still to be read one by one
    fatal: set[int] = field(default_factory=set)


class _ClusterReading:
    """Reads paths with the tasks of a cluster, in order."""

    def __init__(self, ray: Ray, paths: Sequence[str], format: str | None, intake: Intake, cores: int) -> None:
        self._ray = ray
        self._paths = paths
        self._format = format
        self._task = ray.remote(
            num_cpus=1,
            max_retries=0,  # here it is known from where to go on
            num_returns="streaming",
            _generator_backpressure_num_objects=_UNWRITTEN_DOCUMENTS,
        )(_extract_portion)
        hashes = np.sort(np.array([identifier(digest) for digest in intake.known_hashes], np.int64))
        self._known = ray.put(hashes)
        self._limit = _TASKS_PER_CORE * cores

    def extractions(self) -> Generator[_ExtractedDocument, None, None]:
        """Every document, in order."""
        portions = _portions(self._paths, self._format)
        under_way: deque[_ReadingTask] = deque()
        try:
            for portion in portions:
                under_way.append(_ReadingTask(portion, self._start(portion)))
                if len(under_way) >= self._limit:
                    yield from self._finish(under_way[0])
                    under_way.popleft()
            while under_way:
                yield from self._finish(under_way[0])
                under_way.popleft()
        finally:
            for reading in under_way:
                self._ray.cancel(reading.results, force=False)

    def _start(self, portion: _Portion) -> Any:
        return self._task.remote(portion, self._format, self._known, version("whycite"))

    def _finish(self, reading: _ReadingTask) -> Iterator[_ExtractedDocument]:
        """The documents of a portion, from as many tasks as it takes."""
        from ray.exceptions import RayError, RayTaskError

        while True:
            count = reading.delivered
            try:
                for reference in reading.results:
                    extraction: _ExtractedDocument = self._ray.get(reference)
                    reading.delivered += 1
                    yield extraction
            except RayTaskError as error:
                raise _cause(error) from error
            except RayError:  # the process or its machine is gone
                self._note_crash(reading)
            else:
                if not reading.careful or reading.delivered == count:  # all is read
                    return
                reading.careful -= 1
            reading.results = self._start(self._rest(reading))

    def _note_crash(self, reading: _ReadingTask) -> None:
        number = reading.delivered
        reading.careful = _CAREFUL_DOCUMENTS
        reading.crashes[number] += 1
        if reading.crashes[number] >= _ATTEMPTS:
            reading.fatal.add(number)

    def _rest(self, reading: _ReadingTask) -> _Portion:
        portion = reading.portion
        limit = 1 if reading.careful else None
        return _Portion(portion.path, portion.members, reading.delivered, limit, frozenset(reading.fatal))


def _cause(error: Any) -> Exception:
    """What a task raised, without Ray's traceback of it if it is for the user."""
    cause: Exception = error.cause
    return UserError(str(cause)) if isinstance(cause, UserError) else cause


def _portions(paths: Iterable[str], format: str | None) -> Iterator[_Portion]:
    for path in paths:
        members = list_members(path, format)
        if members is None:
            yield _Portion(path, None)
            continue
        for start in range(0, len(members), _TASK_MEMBERS):
            yield _Portion(path, tuple(members[start : start + _TASK_MEMBERS]))


class _ClusterEncoder:
    """An encoder that runs on a cluster."""

    def __init__(self, ray: Ray, encoder: Encoder) -> None:
        self._ray = ray
        self.name, self.dimensions = encoder.name, encoder.dimensions
        self._task = ray.remote(num_cpus=1)(_encode_texts)  # repeated by Ray if its process or machine is gone
        self._encoder = ray.put(_portable(encoder))

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """A unit vector for each text, in order."""
        from ray.exceptions import RayError, RayTaskError

        parts = [list(texts[start : start + _ENCODED_TEXTS]) for start in range(0, len(texts), _ENCODED_TEXTS)]
        references = [self._task.remote(self._encoder, self.name, part) for part in parts]
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for number, reference in enumerate(references):
            try:
                part_vectors = self._ray.get(reference)
            except RayTaskError as error:
                raise _cause(error) from error
            except RayError as error:
                raise UserError(
                    f"the cluster cannot encode ({str(error).splitlines()[0]}); everything added so far is safe"
                ) from error
            vectors[number * _ENCODED_TEXTS :][: len(parts[number])] = part_vectors
            if progress:
                progress(len(parts[number]))
        return vectors


def _portable(encoder: Encoder) -> Encoder | str:
    """What another process can get the encoder from: its name, its folder, or itself."""
    name = encoder.name.partition("@")[0]
    if name in bundled_encoders():
        return name
    folder = getattr(encoder, "folder", None)
    return encoder if folder is None else str(folder)


# The code below runs on the machines of the cluster.


def _extract_portion(
    portion: _Portion, format: str | None, known_documents: NDArray[np.int64], expected_version: str
) -> Iterator[_ExtractedDocument]:
    """The documents of a portion with their evidence, but for those that the library has."""
    installed_version = version("whycite")
    if installed_version != expected_version:
        raise UserError(
            f"a machine of the cluster has whycite {installed_version}, this one {expected_version}; "
            "install the same version on all of them"
        )
    end = None if portion.limit is None else portion.delivered + portion.limit
    for number, document in enumerate(_reader().read(portion.path, format, members=portion.members)):
        if number == end:
            return
        if number in portion.fatal and number >= portion.delivered:
            yield _ExtractedDocument(unreadable(document.path, f"ended its process {_ATTEMPTS} times"), [])
        elif number >= portion.delivered:
            yield _extraction(document, known_documents)


def _extraction(document: Document, known_documents: NDArray[np.int64]) -> _ExtractedDocument:
    from whycite.library.writer import content_hash

    digest = identifier(content_hash(document))
    position = int(np.searchsorted(known_documents, digest))
    labelled = label(document)
    if position < len(known_documents) and known_documents[position] == digest:
        return _ExtractedDocument(labelled, None)
    try:
        return _ExtractedDocument(labelled, extract(labelled))
    except UserError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the other documents can be added
        return _ExtractedDocument(labelled, [], explain(error))


def _encode_texts(encoder: Encoder | str, name: str, texts: list[str]) -> Vectors:
    loaded = load_encoder(encoder, threads=1) if isinstance(encoder, str) else encoder
    if loaded.name != name:
        raise UserError(f"a machine of the cluster has the encoder {loaded.name}, this one {name}; install the same")
    return loaded.encode(texts)


@cache
def _reader() -> ConfinedReader:
    """The limited process that reads for this one."""
    return ConfinedReader()
