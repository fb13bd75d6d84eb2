"""Collections: papers put together under a name, shown, exported and deleted without touching the papers."""

from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest
from starlette.testclient import TestClient

WHALES, BEES = "title:how killer whales hunt herring", "title:mites and the loss of honeybee colonies"
ADDRESS = "/api/library/collections"


@pytest.fixture
def client(kept_library: Path, tmp_path: Path, client_of: Callable[..., TestClient]) -> TestClient:
    """On a library that tests may change."""
    return client_of(copytree(kept_library, tmp_path / "library"))


def test_papers_are_put_in_and_taken_out(client: TestClient) -> None:
    assert client.get(ADDRESS).json() == {"collections": []}
    assert client.put(f"{ADDRESS}/Sea", json={"add": [WHALES, BEES, WHALES]}).json()["papers"] == [WHALES, BEES]
    assert client.put(f"{ADDRESS}/Sea", json={"remove": [BEES]}).json() == {"name": "Sea", "papers": [WHALES]}
    client.put(f"{ADDRESS}/air%2Fland", json={})
    assert [entry["name"] for entry in client.get(ADDRESS).json()["collections"]] == ["air/land", "Sea"]
    shown = client.get("/api/library/documents", params={"collection": "Sea"}).json()
    assert [entry["key"] for entry in shown["documents"]] == [WHALES]
    exported = client.get("/api/library/export", params={"collection": "Sea", "format": "csv"}).text
    assert WHALES in exported
    assert BEES not in exported
    assert client.delete(f"{ADDRESS}/Sea").json() == {"deleted": "Sea"}
    assert client.delete(f"{ADDRESS}/Sea").status_code == 404
    assert client.get("/api/library/documents", params={"collection": "Sea"}).status_code == 404
    assert client.get("/api/library/documents").json()["total"] == 2


def test_collections_survive_a_restart(client: TestClient, client_of: Callable[..., TestClient]) -> None:
    client.put(f"{ADDRESS}/Seé 海", json={"add": [WHALES]})
    library = Path(client.get("/api/health").json()["library"])
    assert client_of(library).get(ADDRESS).json() == {"collections": [{"name": "Seé 海", "papers": [WHALES]}]}


def test_mistakes_are_told(client: TestClient, client_of: Callable[..., TestClient], tmp_path: Path) -> None:
    for name in ("%20", "x" * 101, "%0a"):
        assert client.put(f"{ADDRESS}/{name}", json={}).status_code in (404, 422), name
    assert client.put(f"{ADDRESS}/Sea", json={"add": "whales"}).status_code == 422
    without_library = client_of(tmp_path / "none").put(f"{ADDRESS}/Sea", json={})
    assert (without_library.status_code, without_library.json()["detail"]) == (
        422,
        "there is no library yet; add papers first",
    )
    assert not (tmp_path / "none").exists()
    for damaged in ("[broken", "[]", '{"Sea": 1}'):
        Path(client.get("/api/health").json()["library"], "collections.json").write_text(damaged)
        answer = client.put(f"{ADDRESS}/Sea", json={"add": [WHALES]})
        assert (answer.status_code, "is damaged" in answer.json()["detail"]) == (422, True), damaged
