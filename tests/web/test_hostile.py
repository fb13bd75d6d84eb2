"""What is sent to do harm is refused, or shown harmlessly."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from whycite.web.uploads import safe_name


def test_pages_have_no_script_of_their_own(client: TestClient) -> None:
    for name in ("cite", "check", "verify", "library"):
        page = client.get(f"/{name}")
        assert page.status_code == 200
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert "http://" not in page.text
        assert "https://" not in page.text
        assert " on" not in page.text.replace(" one", "").replace(" only", "").replace(" on ", "")
        assert "<script>" not in page.text


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/..%2f..%2fetc%2fpasswd",
        "/<script>",
    ],
)
def test_paths_lead_nowhere_else(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "<script>" not in answer.text
    assert "import" not in answer.text


def test_a_cross_site_post_changes_nothing(client: TestClient) -> None:
    answer = client.post(
        "/api/library/documents",
        files=[("files", ("a.md", b"# A\nText [@a]."))],
        headers={"origin": "http://evil.example"},
    )
    assert answer.status_code == 403
    assert client.get("/api/library").json()["documents"] == 2


def test_another_host_is_refused(client: TestClient) -> None:
    assert client.get("/api/library", headers={"host": "evil.example"}).status_code == 421


def test_a_zip_bomb_is_given_up(client: TestClient) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("paper.md", b"a" * (300 << 20))
    answer = client.post("/api/read", files=[("files", ("bomb.zip", packed.getvalue()))])
    assert answer.status_code == 422
    assert answer.json()["detail"]


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "C:\\windows\\win.ini", "..\\..\\a", "a/../../b"])
def test_names_that_lead_elsewhere(client: TestClient, name: str) -> None:
    told = client.post("/api/read", files=[("files", (name, b"# Title\nSome text."))])
    if told.status_code == 200:
        assert ".." not in told.json()["path"]
        assert not told.json()["path"].startswith("/")


@given(st.text(max_size=300))
def test_a_safe_name_stays_below(name: str) -> None:
    safe = safe_name(name)
    parts = safe.split("/")
    assert safe
    assert not safe.startswith("/")
    assert all(part.strip(". ") for part in parts)
    assert not set(safe) & set('\0\\:<>"|?*')
    assert safe_name(safe) == safe


def test_too_many_files(kept_library: Path, client_of: Callable[..., TestClient]) -> None:
    client = client_of(kept_library, files=2)
    sent = [("files", (f"{at}.md", b"# A\n")) for at in range(3)]
    assert client.post("/api/read", files=sent).status_code == 422


@pytest.mark.parametrize("id", ["../x", "1;DROP", "%00", "9" * 30, "1 OR 1=1"])
def test_ids_that_are_none(client: TestClient, id: str) -> None:
    assert client.delete(f"/api/library/documents/{id}").status_code in (404, 405, 422)
    assert client.get("/api/library").json()["documents"] == 2
