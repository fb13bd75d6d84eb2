"""Both ends of a connection to a running `whycite serve`, which then has models and library in memory for everybody."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, TypeVar, get_type_hints

import httpx
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from whycite.check.findings import CheckedDraft, Proposal
from whycite.check.memory import once_per_bibliography
from whycite.check.settings import settings_for
from whycite.cite.recommendations import Claim, Recommendation
from whycite.documents.model import Document, Reference, Sentence
from whycite.errors import MissingExtra, UserError
from whycite.library.records import LibraryDocument, Paper, SourceDocument
from whycite.references.checking import PaperKnowledge
from whycite.service.engine import DraftOptions, Engine, OnJudged, Progress, no_progress, show_nothing
from whycite.service.loading import CurrentLibrary, keep_caches_open
from whycite.service.papers import LibraryCitations, SourceSearch, StoredPaper
from whycite.verify.verification import Verification

__all__ = ["ADDRESS", "AnsweringEngine", "Engines", "ServerEngine"]

ADDRESS = "/api/engine"
_QUESTIONS = frozenset(
    {"check", "propose", "recommend", "verify", "verify_reference", "find_source", "knowledge"}
    | {"library_citations", "papers", "paper", "path_of", "file_of"}
)
_FORWARD_NAMES = {"LibraryDocument": LibraryDocument, "Paper": Paper, "SourceDocument": SourceDocument}
_MAX_BIBLIOGRAPHIES = 8  # that the server remembers; with a change in a draft, its bibliography is not sent again
_MAX_TEXT = 20_000  # characters of a claim, name or quotation
_CONNECT_SECONDS = 2.0
_SILENT_SECONDS = 60.0  # the server says that it is still there every quarter of this
_GONE = "no whycite server answers there"
_RETRY_SECONDS = 30.0  # until a server that was gone is asked again

_Answer = TypeVar("_Answer")
_REFERENCES = TypeAdapter(tuple[Reference, ...])


@dataclass(frozen=True, slots=True)
class _Question:
    """How the arguments and the answer of a question are written: as JSON, by their types."""

    arguments: TypeAdapter[Any]
    answer: TypeAdapter[Any]


@cache
def _question(name: str) -> _Question:
    method = getattr(Engine, name)
    hints = get_type_hints(method)
    callbacks = {"progress", "on_judged"}
    fields = {argument: hints[argument] for argument in signature(method).parameters if argument in hints}
    arguments = TypedDict(name, {key: hint for key, hint in fields.items() if key not in callbacks})  # type: ignore[misc]
    return _Question(_adapter(arguments), _adapter(hints["return"]))


def _adapter(type: Any) -> TypeAdapter[Any]:
    adapter = TypeAdapter[Any](type)
    adapter.rebuild(_types_namespace=_FORWARD_NAMES)
    return adapter


@once_per_bibliography
def _digest(references: Sequence[Reference]) -> str:
    return _content_digest(_REFERENCES.dump_json(tuple(references)))


def _content_digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


class AnsweringEngine:
    """The server's end: answers written questions with an engine, which serves all editors and assistants."""

    def __init__(self, current: CurrentLibrary) -> None:
        self._engine = Engine(current)
        keep_caches_open(self)
        self._lock = Lock()
        self._bibliographies: OrderedDict[str, tuple[Reference, ...]] = OrderedDict()

    def answer(
        self, name: str, arguments: bytes, digest: str, bibliography: bytes, send: Callable[[str, str], None]
    ) -> None:
        """Answer a question by sending events; `bibliography` is empty if the server should know it by its digest.

        What `send` raises ends the work.
        """
        if name not in _QUESTIONS:
            raise UserError(f"unknown question '{name}'")
        references = self._references(digest, bibliography)
        if references is None:
            send("unknown-bibliography", "{}")
            return
        question = _question(name)
        try:
            values = question.arguments.validate_json(arguments)
        except ValidationError as error:
            raise UserError(f"{name}: the arguments are not as they should be") from error
        _refuse_long_texts(values.values())
        if isinstance(document := values.get("document"), Document):
            values["document"] = replace(document, references=references)
        if name == "check":
            _refuse_files(values["document"], values["texts"])
            values["progress"] = lambda *stage: send("progress", json.dumps(stage))
            values["on_judged"] = lambda judged: send("judged", _dump(question, _bare(judged)))
        try:
            answer = getattr(self._engine, name)(**values)
        except (UserError, MissingExtra) as error:
            send("mistake", json.dumps({"detail": str(error)}))
        else:
            send("answer", _dump(question, _bare(answer) if name == "check" else answer))

    def _references(self, digest: str, content: bytes) -> tuple[Reference, ...] | None:
        if not digest:
            return ()
        if content and _content_digest(content) != digest:  # or one client could replace the bibliography of another
            raise UserError("the bibliography is not the one that its digest says")
        try:
            sent = _REFERENCES.validate_json(content) if content else None
        except ValidationError as error:
            raise UserError("the bibliography is not as it should be") from error
        with self._lock:
            if sent is not None:
                self._bibliographies[digest] = sent
                if len(self._bibliographies) > _MAX_BIBLIOGRAPHIES:
                    self._bibliographies.popitem(last=False)
            if digest in self._bibliographies:
                self._bibliographies.move_to_end(digest)
            return self._bibliographies.get(digest)


def _refuse_long_texts(values: Iterable[Any]) -> None:
    """Claims, names and quotations are sentences: time for longer ones grows with the library."""
    texts = (value.text if isinstance(value, Claim) else value for value in values)
    if any(isinstance(text, str) and len(text) > _MAX_TEXT for text in texts):
        raise UserError(f"the text is too long; give at most {_MAX_TEXT:,} characters")


def _refuse_files(document: Document, texts: Mapping[str, str]) -> None:
    """A draft comes with its texts: whoever may ask the server may not read files of its machine."""
    if any(sentence.file not in texts for sentence in document.sentences):
        raise UserError("the text of a file of the draft is missing")


def _bare(checked: CheckedDraft) -> CheckedDraft:
    """Findings without the draft, which whoever asked has; only the types of its sections are new."""
    document = checked.document
    return replace(checked, document=Document(document.path, document.format, document.paper, document.sections))


def _dump(question: _Question, answer: Any) -> str:
    return question.answer.dump_json(answer).decode()


class _NoAnswer(Exception):
    """The server is gone, refuses, or is another version."""


class ServerEngine(Engine):
    """The client's end: asks a running server, and answers in this process while there is none."""

    def __init__(self, address: str, token: str, tell: Callable[[str], None]) -> None:
        """`tell` shows the user a message."""
        super().__init__(CurrentLibrary(None))
        headers = {"authorization": f"Bearer {token}"} if token else {}
        timeout = httpx.Timeout(_SILENT_SECONDS, connect=_CONNECT_SECONDS)
        try:
            self._http = httpx.Client(base_url=address, headers=headers, timeout=timeout, trust_env=False)
        except httpx.InvalidURL as error:
            raise UserError(f"{address}: not the address of a server ({error})") from error
        self.address = address
        self._tell = tell
        self._away_until = 0.0

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def serves(self, library: Path) -> bool:
        """Whether the server's library is the one at a path; nobody knows while the server is gone."""
        if time.monotonic() < self._away_until:
            return False
        try:
            response = self._http.get("/api/health")
            if response.is_error:
                raise _NoAnswer(_detail(response))
            served = str(response.json()["library"])
        except (httpx.RequestError, ValueError, KeyError, TypeError):  # also what is not a whycite server
            self._leave(_GONE)
        except _NoAnswer as reason:
            self._leave(str(reason))
        else:
            if Path(served).resolve() == library.expanduser().resolve():
                return True
            self._tell(f"{self.address}: its library is {served}, so {library} is opened here, with models of its own.")
        return False

    def check(
        self,
        document: Document,
        texts: Mapping[str, str],
        options: DraftOptions,
        progress: Progress = no_progress,
        on_judged: OnJudged = show_nothing,
    ) -> CheckedDraft:
        """Check a draft."""
        from whycite.check.fix.edits import text_of

        files = {sentence.file for sentence in document.sentences} - texts.keys()
        contents = {file: text_of(Path(file).read_bytes()) for file in files if Path(file).is_file()}

        def whole(checked: CheckedDraft) -> CheckedDraft:
            return replace(checked, document=replace(document, sections=checked.document.sections))

        def show(judged: CheckedDraft) -> None:
            on_judged(whole(judged))

        arguments = {"document": document, "texts": {**contents, **texts}, "options": options}
        return whole(self._ask(super().check, arguments, {"progress": progress, "on_judged": show}))

    def propose(self, document: Document, claim: str, place: Sentence | None, n: int) -> list[Proposal]:
        """Papers for a sentence that is being written."""
        return self._ask(super().propose, {"document": document, "claim": claim, "place": place, "n": n})

    def recommend(self, claim: Claim, n: int) -> tuple[list[Recommendation], float | None]:
        """Papers of the library to cite for a claim, and the chance that any fits."""
        return self._ask(super().recommend, {"claim": claim, "n": n})

    def verify(self, document: Document, claim: str) -> Verification:
        """Whether a paper backs a claim."""
        return self._ask(super().verify, {"document": document, "claim": claim})

    def verify_reference(self, reference: Reference, claim: str) -> tuple[Verification, Document | None]:
        """Whether the paper that a reference means backs a claim, and that paper."""
        return self._ask(super().verify_reference, {"reference": reference, "claim": claim})

    def find_source(self, quotation: str, n: int) -> SourceSearch:
        """The papers of the library that say a sentence."""
        return self._ask(super().find_source, {"quotation": quotation, "n": n})

    def knowledge(self, references: Sequence[Reference]) -> list[PaperKnowledge]:
        """What the library knows of the papers of references."""
        return self._ask(super().knowledge, {"references": references})

    def library_citations(self, reference: Reference, n: int) -> LibraryCitations | None:
        """How the library cites the paper that a reference means."""
        return self._ask(super().library_citations, {"reference": reference, "n": n})

    def papers(self) -> list[StoredPaper]:
        """The documents of the library."""
        return self._ask(super().papers, {})

    def paper(self, name: str) -> Document:
        """The paper of the library that a key, DOI or title means."""
        return self._ask(super().paper, {"name": name})

    def path_of(self, reference: Reference) -> str:
        """The file of the paper that a reference means."""
        return self._ask(super().path_of, {"reference": reference})

    def file_of(self, key: str) -> str:
        """The file of the paper with a key."""
        return self._ask(super().file_of, {"key": key})

    def _ask(
        self,
        local: Callable[..., _Answer],
        arguments: dict[str, Any],
        callbacks: Mapping[str, Callable[..., None]] = MappingProxyType({}),
    ) -> _Answer:
        """The server's answer to the question that a method of the engine here answers, or that one's."""
        if time.monotonic() >= self._away_until:
            try:
                answer: _Answer = self._request(local.__name__, arguments, callbacks)
            except _NoAnswer as reason:
                self._leave(str(reason))
            else:
                return answer
        return local(**arguments, **callbacks)

    def _leave(self, reason: str) -> None:
        """Do without the server for a while."""
        self._away_until = time.monotonic() + _RETRY_SECONDS
        self._tell(f"{self.address}: {reason}. Until it answers, models and library are loaded here.")

    def _request(self, name: str, arguments: dict[str, Any], callbacks: Mapping[str, Callable[..., None]]) -> Any:
        question, document = _question(name), arguments.get("document")
        references = document.references if document is not None else ()
        sent = arguments | ({"document": replace(document, references=())} if document is not None else {})
        try:
            digest = _digest(references) if references else ""
            files = {"arguments": question.arguments.dump_json(sent)}
        except ValueError as error:  # lone surrogates, from damaged names of files or texts
            raise _NoAnswer("the question contains text that cannot be sent") from error
        data = {"question": name, "release": version("whycite"), "digest": digest}
        try:
            for _ in range(2):
                with self._http.stream("POST", ADDRESS, data=data, files=files) as response:
                    if response.is_error:
                        raise _NoAnswer(_detail(response))
                    for kind, content in _events(response.iter_bytes()):
                        if kind == "unknown-bibliography":
                            files["bibliography"] = _REFERENCES.dump_json(tuple(references))
                            break
                        if kind == "progress":
                            callbacks["progress"](*json.loads(content))
                        elif kind == "judged":
                            callbacks["on_judged"](_read_answer(question, content))
                        elif kind == "answer":
                            return _read_answer(question, content)
                        elif kind == "mistake":
                            raise UserError(json.loads(content)["detail"])
                        elif kind == "failed":
                            raise _NoAnswer(json.loads(content)["detail"].rstrip("."))
        except httpx.RequestError as error:
            raise _NoAnswer(_GONE) from error
        raise _NoAnswer("the server gave no answer")


def _detail(response: httpx.Response) -> str:
    response.read()
    if response.status_code in (401, 403):
        return "the server wants its token: set WHYCITE_TOKEN, or name its file with --token-file"
    try:
        return str(response.json()["detail"]).rstrip(".")
    except (ValueError, KeyError, TypeError):
        return f"status {response.status_code}: not a server of this version of whycite"


def _read_answer(question: _Question, content: bytes) -> Any:
    try:
        return question.answer.validate_json(content)
    except ValidationError as error:
        raise _NoAnswer("its answer cannot be read") from error


def _events(blocks: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """The events of a stream, each with its JSON."""
    kind = ""
    for line in _lines(blocks):
        if line.startswith(b"event: "):
            kind = line.removeprefix(b"event: ").decode()
        elif line.startswith(b"data: "):
            yield kind, line.removeprefix(b"data: ")


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines that end with a line feed; httpx also ends them at separators such as U+2028, which texts contain."""
    parts: list[bytes] = []
    for block in blocks:
        begin, *rest = block.split(b"\n")
        parts.append(begin)
        for part in rest:
            yield b"".join(parts)
            parts = [part]


class Engines:
    """The engine for each draft, whose settings may name a library of its own."""

    def __init__(self, library: Path | None = None, server: ServerEngine | None = None) -> None:
        """`library` is for all drafts; a server is asked about its own library only."""
        self._library, self._server = library, server
        self._engines: dict[Path | None, Engine] = {}

    def usual(self) -> Engine:
        """The engine for questions that are not about a draft."""
        return self._engine(self._library)

    def for_draft(self, draft: Path) -> Engine:
        """The engine for a draft."""
        return self._engine(self._library or settings_for(draft).library)

    def _engine(self, library: Path | None) -> Engine:
        if self._server is not None and (library is None or self._server.serves(library)):
            return self._server
        if library not in self._engines:
            self._engines[library] = Engine(CurrentLibrary(library))
        return self._engines[library]
