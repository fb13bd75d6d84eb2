"""Zotero's local interface on a local server: items in its format, and what happens if it does not answer."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from typer.testing import Result

from tests.sources.test_zotero import SENTENCE, article
from whycite.errors import UserError
from whycite.sources.zotero import read_zotero

Run = Callable[..., Result]


@dataclass
class RunningZotero:
    """What Zotero answers, by path, and the status if it refuses."""

    address: str = ""
    answers: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    status: int = 200
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def zotero() -> Iterator[RunningZotero]:
    state = RunningZotero()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            question = {name: int(values[0]) for name, values in parse_qs(address.query).items() if values[0].isdigit()}
            state.asked.append(self.path)
            rows = state.answers.get(address.path.removeprefix("/api/"), [])
            page = rows[question["start"] : question["start"] + question["limit"]]
            body = json.dumps(page).encode() if state.status == 200 else b"Local API is not enabled"
            self.send_response(state.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Total-Results", str(len(rows)))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.address = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def row(key: str, type: str = "journalArticle", links: dict[str, Any] | None = None, **data: Any) -> dict[str, Any]:
    return {"key": key, "version": 1, "links": links or {}, "data": {"key": key, "itemType": type, **data}}


def test_items_of_a_running_zotero(run: Run, zotero: RunningZotero, tmp_path: Path) -> None:
    file = tmp_path / "bees and wasps.pdf"
    file.write_bytes(article(SENTENCE))
    creators = [
        {"creatorType": "author", "firstName": "Walter", "lastName": "Kaiser"},
        {"creatorType": "author", "name": "Bee Lab"},
    ]
    zotero.answers = {
        "users/0/items": [
            row("BEES2345", title="Busy bees need rest, too", creators=creators, DOI="10.1/bees", date="1988",
                collections=["COLL2222"], citationKey="kaiser"),
            row("FILE2345", "attachment", {"enclosure": {"type": "application/pdf", "href": file.as_uri()}},
                parentItem="BEES2345", linkMode="imported_file", contentType="application/pdf"),
            row("NOTE2345", "note", parentItem="BEES2345", note="<p>Nice</p>"),
            *(row(f"MANY{number:04}", title=f"On the sleep of bees, part {number}") for number in range(150)),
        ],
        "users/0/groups": [{"id": 4711, "data": {"id": 4711, "name": "Sleep lab"}}],
        "groups/4711/items": [row("MOTH2345", title="On moths and the moon", extra="Citation Key: moths")],
        "users/0/collections": [
            {"key": "COLL2222", "data": {"name": "Night", "parentCollection": "COLL3333"}},
            {"key": "COLL3333", "data": {"name": "Insects", "parentCollection": False}},
        ],
    }  # fmt: skip
    items, origin = read_zotero(zotero.address)
    assert (len(items), origin) == (152, f"{zotero.address}/api/")
    bees = next(item for item in items if item.key == "kaiser")
    assert bees.reference.authors == ("Kaiser, Walter", "Bee Lab")
    assert bees.files == (file,)
    assert [item.key for item in read_zotero(zotero.address, ["Insects"])[0]] == ["kaiser"]
    assert [item.key for item in read_zotero(zotero.address, ["Sleep lab"])[0]] == ["moths"]
    arguments = ("add", "--zotero", zotero.address, "--collection", "Insects", "--jobs", "1", "--json")
    assert json.loads(run(*arguments).stdout)["zotero"] == {"items": 1, "unchanged": 0, "with_text": 1, "gone": 0}
    zotero.answers["users/0/items"][0]["data"]["citationKey"] = "kaiser1988"
    assert json.loads(run(*arguments).stdout)["zotero"]["unchanged"] == 0
    assert "@misc{kaiser1988," in run("cite", "Honeybees sleep at night.", "--format", "bibtex").stdout
    assert json.loads(run(*arguments).stdout)["library"]["documents"] == 1


def test_zotero_that_does_not_answer(zotero: RunningZotero) -> None:
    zotero.status = 403
    with pytest.raises(UserError, match=r"Zotero refused to answer \(status 403\); start Zotero, and allow"):
        read_zotero(zotero.address)
    with pytest.raises(UserError, match="Zotero cannot be reached; start Zotero"):
        read_zotero("http://127.0.0.1:9")
    with pytest.raises(UserError, match="not on this machine"):
        read_zotero("http://zotero.example.org:23119")
