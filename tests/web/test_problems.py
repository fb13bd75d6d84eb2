"""Whatever goes wrong is one sentence in problem+json, with the same strict headers as every answer."""

import io
import logging
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from whycite.web.app import create
from whycite.web.guard import AccessRules
from whycite.web.serverstate import ServerSettings

Clients = Callable[..., TestClient]
PROBLEM = "application/problem+json"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/nothing", 404),
        ("GET", "/api/library/nothing", 404),
        ("GET", "/static/nothing.js", 404),
        ("PUT", "/api/cite", 405),
        ("GET", "/api/cite", 405),
        ("OPTIONS", "/api/cite", 405),
        ("POST", "/cite", 405),
    ],
)
def test_what_is_not_there(client: TestClient, method: str, path: str, status: int) -> None:
    answer = client.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, PROBLEM)
    assert answer.json()["detail"].endswith((".", "json."))
    assert answer.json()["type"] == f"urn:whycite:problem:{'not-found' if status == 404 else 'unknown-method'}"
    assert status != 405 or answer.headers["allow"]


@pytest.mark.parametrize("path", ["/nothing", "/nothing/at/all", "/cite/more"])
def test_people_who_went_astray_get_a_page(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert 'href="/library"' in answer.text


@pytest.mark.parametrize("path", ["/cite", "/static/style.css", "/static/check.js"])
def test_head_is_get_without_a_body(client: TestClient, path: str) -> None:
    answer = client.head(path)
    assert answer.status_code == 200
    assert answer.content == b""


def test_strict_headers_are_on_every_answer(client: TestClient) -> None:
    for path in ("/", "/cite", "/static/style.css", "/static/none", "/api/health", "/api/none", "/none"):
        answer = client.get(path, follow_redirects=False)
        assert "default-src 'none'" in answer.headers["content-security-policy"], path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] in ("no-store", "no-cache")


def test_browsers_ask_whether_a_file_has_changed(client: TestClient) -> None:
    answer = client.get("/static/style.css")
    assert answer.headers["cache-control"] == "no-cache"
    again = client.get("/static/style.css", headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304
    assert again.headers["cache-control"] == "no-cache"


def test_a_defect_is_told_logged_and_guarded(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a secret detail")

    monkeypatch.setattr("whycite.web.api.questions.Claim", fail)
    answer = client.post("/api/cite", json={"text": "bees"})
    assert (answer.status_code, answer.headers["content-type"]) == (500, PROBLEM)
    assert "content-security-policy" in answer.headers
    assert "ZeroDivisionError" in answer.json()["detail"]
    assert "secret" not in answer.text
    loud = TestClient(create(ServerSettings(Path("nowhere"))), base_url="http://127.0.0.1")
    with pytest.raises(ZeroDivisionError):  # it goes on to the server, which logs it
        loud.post("/api/cite", json={"text": "bees"})


def test_an_add_that_fails_is_told_and_logged(
    tmp_path: Path, client_of: Clients, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a secret detail")

    monkeypatch.setattr("whycite.library.add_documents", fail)
    client = client_of(tmp_path / "library")
    with caplog.at_level(logging.ERROR, "whycite"):
        id = client.post("/api/library/documents", files=[("files", ("a.md", b"# A\nText."))]).json()["id"]
        told = client.get(f"/api/library/uploads/{id}").text
    assert "event: failed" in told
    assert "ZeroDivisionError" in told
    assert "secret" not in told
    assert "a secret detail" in caplog.text


def _chunks(size: int) -> "io.BytesIO":
    head = b'--x\r\ncontent-disposition: form-data; name="files"; filename="a.md"\r\n\r\n'
    return io.BytesIO(head + b"a" * size + b"\r\n--x--\r\n")


def test_an_upload_that_is_too_large_is_refused_whether_it_says_so_or_not(kept_library: Path) -> None:
    app = create(ServerSettings(kept_library, AccessRules(max_file_bytes=100_000)))
    headers = {"content-type": "multipart/form-data; boundary=x"}
    with TestClient(app, base_url="http://127.0.0.1") as client:
        for path in ("/api/read", "/api/check", "/api/library/documents"):
            said = client.post(path, content=_chunks(200_000).read(), headers=headers)
            unsaid = client.post(path, content=iter([_chunks(200_000).read()]), headers=headers)
            for answer in (said, unsaid):
                assert (answer.status_code, answer.headers["content-type"]) == (413, PROBLEM)


def test_more_parts_than_a_form_may_have(client: TestClient) -> None:
    many = [("files", (f"{at}.md", b"a")) for at in range(1_100)]
    answer = client.post("/api/read", files=many)
    assert (answer.status_code, answer.headers["content-type"]) == (400, PROBLEM)
    large = client.post("/api/check/fix", files=[("files", ("a.md", b"a"))], data={"choices": "x" * (2 << 20)})
    assert (large.status_code, large.headers["content-type"]) == (400, PROBLEM)


def test_a_problem_has_a_type_and_names_the_fields(client: TestClient) -> None:
    answer = client.post("/api/cite", json={"n": 0, "text": "bees", "years": 3})
    assert answer.json()["type"] == "urn:whycite:problem:invalid"
    assert [error["field"] for error in answer.json()["errors"]] == ["n", "years"]
    assert all(error["message"] for error in answer.json()["errors"])
    missing = client.get("/api/projects/0000000000000000").json()
    assert (missing["type"], missing["errors"]) == ("urn:whycite:problem:not-found", [])


def test_many_mistakes_are_not_all_told(client: TestClient) -> None:
    answer = client.post("/api/cite", json={"text": "bees", "cited": [1] * 900})
    assert answer.status_code == 422
    assert answer.json()["detail"].endswith("and 897 more")


def test_names_that_are_no_text_are_told_all_the_same(client: TestClient) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in ("caf\udce9/draft.md", "other.md"):
            text = "# Title\nSome text of a draft with \ud83d\ude00.\n".encode("utf-8", "surrogatepass")
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    for path in ("/api/read", "/api/check"):
        answer = client.post(path, files=[("files", ("draft.tar", packed.getvalue()))])
        assert answer.status_code == 200, answer.text
        assert answer.json()["sentences"]


def test_what_is_no_document_is_named_once_and_without_options_of_the_command_line(client: TestClient) -> None:
    picture = ("files", ("bild.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256))))
    for path in ("/api/check", "/api/verify", "/api/read"):
        answer = client.post(path, files=[picture], data={"claim": "Bees fly."})
        assert answer.json()["detail"] == "bild.png: unknown file format", path
        answer = client.post(path, files=[picture, ("files", ("other.png", b"\x89PNG"))], data={"claim": "Bees fly."})
        assert answer.json()["detail"] == "the files: contains no document that whycite can read", path
