"""Questions to a running server: the answers are those of an engine in this process, with which it can be replaced."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.drafts import BIB, STUDIES_TEX
from tests.lsp.conftest import SLEEP
from tests.web.serving import serving
from whycite.check.findings import CheckedDraft
from whycite.cite.recommendations import Claim
from whycite.documents.model import Document, Reference, Section, Sentence
from whycite.errors import UserError
from whycite.library import add
from whycite.service import remote
from whycite.service.drafts import check_file, read_file
from whycite.service.engine import DraftOptions, Engine
from whycite.service.loading import CurrentLibrary
from whycite.service.remote import AnsweringEngine, Engines, ServerEngine
from whycite.web.api import questions
from whycite.web.guard import AccessRules
from whycite.web.serverstate import ServerSettings

TOKEN = "read me"
SENTENCE = "Honeybees that forage rest at night and hang their antennae"
REST = Reference("rest", title="How honeybees sleep in the hive", year=2023)
BUSY = Reference("busy", title="Busy bees need rest, too", authors=("Kaiser, Walter",), year=1988)
pytestmark = pytest.mark.usefixtures("no_network")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    (folder / "sleep.md").write_text(SLEEP, "utf-8")
    path = tmp_path_factory.mktemp("library") / "library"
    assert add(path, [folder], jobs=1).added == 1
    return path


@pytest.fixture(scope="module")
def address(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose readers have a token."""
    rules = AccessRules(token="write me", read_token=TOKEN)
    with serving(ServerSettings(library, rules, projects=tmp_path_factory.mktemp("projects"))) as address:
        yield address


@pytest.fixture
def messages() -> list[str]:
    return []


@pytest.fixture
def server(address: str, messages: list[str]) -> Iterator[ServerEngine]:
    engine = ServerEngine(address, TOKEN, messages.append)
    yield engine
    engine.close()


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    (tmp_path / "main.tex").write_text(STUDIES_TEX, "utf-8")
    return tmp_path / "main.tex"


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ("recommend", (Claim("Bees rest at night."), 3)),
        ("verify_reference", (REST, f"{SENTENCE}.")),
        ("verify_reference", (BUSY, f"{SENTENCE}.")),
        ("find_source", (SENTENCE, 2)),
        ("library_citations", (BUSY, 3)),
        ("library_citations", (REST, 3)),
        ("knowledge", ([REST, BUSY],)),
        ("papers", ()),
        ("paper", ("how honeybees sleep in the hive",)),
        ("path_of", (REST,)),
        ("file_of", ("title:how honeybees sleep in the hive",)),
        ("file_of", ("doi:10.1/none",)),
    ],
)
def test_the_server_answers_like_an_engine_here(
    server: ServerEngine, library: Path, messages: list[str], question: str, arguments: tuple[Any, ...]
) -> None:
    here = Engine(CurrentLibrary(library))
    assert getattr(server, question)(*arguments) == getattr(here, question)(*arguments)
    assert messages == []


def test_the_file_of_one_paper_takes_no_list_of_all(server: ServerEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_request", lambda name, *rest: f"the answer to {name}")
    assert server.file_of("doi:10.1/x") == "the answer to file_of"


@pytest.mark.parametrize("content", [b"[]", b"{}", b"no JSON"])
def test_what_is_no_whycite_server_is_left(messages: list[str], library: Path, content: bytes) -> None:
    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as other:
        Thread(target=other.handle_request).start()
        engine = ServerEngine(f"http://127.0.0.1:{other.server_port}", "", messages.append)
        assert not engine.serves(library)
        engine.close()
    assert "no whycite server answers there" in messages[0]


def test_a_draft_is_checked_and_papers_proposed_as_here(
    server: ServerEngine, library: Path, draft: Path, messages: list[str]
) -> None:
    here = Engine(CurrentLibrary(library))
    judged: list[CheckedDraft] = []
    stages: list[tuple[Any, ...]] = []
    checked = check_file(server, draft, progress=lambda *stage: stages.append(stage), on_judged=judged.append)
    assert replace(checked, stages={}) == replace(check_file(here, draft), stages={})
    assert [finding.kind for finding in judged[0].findings] == [finding.kind for finding in checked.findings]
    assert judged[0].document == checked.document
    assert {stage for stage, _, _ in stages} >= {"judging sentences", "searching for papers"}
    asked = (checked.document, "Bees rest at night", checked.document.sentences[0], 4)
    assert server.propose(*asked) == here.propose(*asked)
    assert server.verify(checked.document, "Bees fly by day.") == here.verify(checked.document, "Bees fly by day.")
    assert messages == []


def test_a_check_can_be_stopped(server: ServerEngine, draft: Path) -> None:
    class Stopped(Exception):
        pass

    def stop(stage: str, count: int, total: int | None) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        check_file(server, draft, progress=stop)


def test_mistakes_of_the_user_are_no_failures(server: ServerEngine, messages: list[str]) -> None:
    with pytest.raises(UserError, match="neither a file nor a paper with a full text in the library"):
        server.paper("doi:10.1/none")
    with pytest.raises(UserError, match="neither a file nor a paper"):
        server.paper("/etc/passwd")
    assert messages == []


@pytest.mark.parametrize(
    ("token", "release", "message"),
    [("wrong", "", "the server wants its token: set WHYCITE_TOKEN"), (TOKEN, "0.0", "and this is 0.0")],
)
def test_a_server_that_refuses_is_replaced(
    address: str,
    messages: list[str],
    draft: Path,
    monkeypatch: pytest.MonkeyPatch,
    token: str,
    release: str,
    message: str,
) -> None:
    monkeypatch.setenv("WHYCITE_LIBRARY", str(draft.parent / "no library"))
    if release:
        monkeypatch.setattr(remote, "version", lambda name: release)
    engine = ServerEngine(address, token, messages.append)
    assert check_file(engine, draft).findings
    assert message in messages[0]
    assert messages[0].endswith("Until it answers, models and library are loaded here.")
    engine.close()


def test_a_server_that_was_gone_is_asked_again(
    library: Path, messages: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WHYCITE_LIBRARY", str(library))
    with ExitStack() as stack:
        address = stack.enter_context(serving(ServerSettings(library, projects=tmp_path)))
        engine = ServerEngine(address, "", messages.append)
        assert engine.path_of(REST)
        assert messages == []
    assert engine.path_of(REST)
    assert messages == [
        f"{address}: no whycite server answers there. Until it answers, models and library are loaded here."
    ]
    assert engine.path_of(REST)
    assert len(messages) == 1  # it is not asked again at once
    monkeypatch.setattr(remote, "_RETRY_SECONDS", -1.0)
    engine._leave("a short time passed")
    monkeypatch.setattr(engine, "_request", lambda name, *rest: f"answer to {name}")
    assert engine.path_of(REST) == "answer to path_of"
    engine.close()


def test_a_library_that_the_server_does_not_have_is_opened_here(
    server: ServerEngine, library: Path, messages: list[str], draft: Path
) -> None:
    assert Engines(library, server).for_draft(draft) is server
    assert Engines(None, server).for_draft(draft) is server
    (draft.parent / ".whycite.toml").write_text('library = "own"\n')
    own = Engines(None, server).for_draft(draft)
    assert own is not server
    [message] = messages
    assert message.startswith(f"{server.address}: its library is {library}, so {draft.parent / 'own'} is opened here")


def test_a_bibliography_is_sent_once(library: Path, draft: Path) -> None:
    document = read_file(draft)
    question, options = remote._question("check"), DraftOptions()
    arguments = {"document": replace(document, references=()), "texts": {str(draft): STUDIES_TEX}, "options": options}
    content = question.arguments.dump_json(arguments)
    entries = remote._REFERENCES.dump_json(document.references)
    digest = remote._digest(document.references)
    answering = AnsweringEngine(CurrentLibrary(library))
    kinds = []
    for sent in (b"", entries, b""):
        events: list[tuple[str, str]] = []
        answering.answer("check", content, digest, sent, lambda kind, text: events.append((kind, text)))  # noqa: B023
        kinds.append(events[-1][0])
    assert kinds == ["unknown-bibliography", "answer", "answer"]
    proposed = [
        proposal["key"] for finding in json.loads(events[-1][1])["findings"] for proposal in finding["recommendations"]
    ]
    assert "Kaiser1988" in proposed


@pytest.mark.parametrize(
    ("digest", "entries", "message"),
    [
        ("of another", b"[]", "the bibliography is not the one that its digest says"),
        (remote._content_digest(b"[1]"), b"[1]", "the bibliography is not as it should be"),
    ],
)
def test_a_wrong_bibliography_is_refused(library: Path, digest: str, entries: bytes, message: str) -> None:
    answering = AnsweringEngine(CurrentLibrary(library))
    for sent in (entries, entries):  # it is not kept, either
        with pytest.raises(UserError, match=message):
            answering.answer("papers", b"{}", digest, sent, lambda kind, text: None)


def test_separators_in_texts_are_no_ends_of_events(server: ServerEngine, messages: list[str]) -> None:
    sentence = "Honeybees rest at night.\u2028They hang\x85 their antennae.\x0b"
    document = Document("a.md", "markdown", REST, (Section("", 1),), (Sentence(sentence, 0, 0, "a.md", 0, 53),))
    verification = server.verify(document, "Bees rest\u2029at night.")
    assert verification.passages[0].text == sentence
    assert messages == []


def test_what_cannot_be_sent_is_answered_here(server: ServerEngine, library: Path, messages: list[str]) -> None:
    document = Document("a\udcff.md", "markdown", REST, (Section("", 1),), (Sentence("Bees rest.", 0, 0, "", 0, 10),))
    assert server.verify(document, "Bees rest.").passages
    assert "the question contains text that cannot be sent" in messages[0]


def test_a_paper_that_changed_is_read_again(library: Path) -> None:
    engine = Engine(CurrentLibrary(library))
    texts = ("Honeybees rest at night.", "Drones are reared in spring.")
    for text in texts:
        document = Document("a.md", "markdown", REST, (Section("", 1),), (Sentence(text, 0, 0, "a.md", 0, len(text)),))
        assert engine.verify(document, "Honeybees rest at night.").passages[0].text == text


def test_a_question_has_a_limit(address: str, monkeypatch: pytest.MonkeyPatch, messages: list[str]) -> None:
    monkeypatch.setattr(questions, "_MAX_ENGINE_BYTES", 10)
    engine = ServerEngine(address, TOKEN, messages.append)
    with pytest.raises(remote._NoAnswer, match="The question is too large"):
        engine._request("paper", {"name": "a long one"}, {})
    engine.close()


@pytest.mark.parametrize("question", ["close", "__init__", "none"])
def test_only_questions_can_be_asked(library: Path, question: str) -> None:
    with pytest.raises(UserError, match="unknown question"):
        AnsweringEngine(CurrentLibrary(library)).answer(question, b"{}", "", b"", lambda kind, text: None)


@pytest.mark.parametrize(
    ("question", "arguments", "message"),
    [
        ("paper", b'{"name": "%s"}' % (b"a" * 20_001), "the text is too long; give at most 20,000 characters"),
        ("recommend", b'{"claim": {"text": "%s"}, "n": 1}' % (b"a" * 20_001), "the text is too long"),
        ("paper", b'{"name": 1}', "paper: the arguments are not as they should be"),
        ("papers", b"[" * 1_000_000, "papers: the arguments are not as they should be"),
    ],
)
def test_hostile_arguments_are_refused(library: Path, question: str, arguments: bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        AnsweringEngine(CurrentLibrary(library)).answer(question, arguments, "", b"", lambda kind, text: None)


def test_files_of_the_servers_machine_are_not_read(library: Path, draft: Path) -> None:
    document: Document = replace(read_file(draft), references=())
    arguments = {"document": document, "texts": {}, "options": DraftOptions()}
    content = remote._question("check").arguments.dump_json(arguments)
    with pytest.raises(UserError, match="the text of a file of the draft is missing"):
        AnsweringEngine(CurrentLibrary(library)).answer("check", content, "", b"", lambda kind, text: None)
