"""The Python client against a real server."""

from pathlib import Path
from shutil import copytree

import pytest

from tests.web.manuscripts import BEES, MANUSCRIPT, WHALES
from tests.web.serving import serving
from whycite.errors import UserError
from whycite.web.client import ServerClient
from whycite.web.guard import AccessRules
from whycite.web.serverstate import ServerSettings


def _decide(client: ServerClient, project: str) -> None:
    sentence = client.draft(project)["sentences"][0]["id"]
    client.comment(project, sentence, "Which whales?")
    verdict = client.progress(project)["verdicts"][0]["id"]
    client.accept(project, verdict)
    progress = client.progress(project)
    assert (progress["acceptances"], progress["dismissals"]) == ([verdict], {})
    assert progress["comments"] == {sentence: {"text": "Which whales?"}}
    client.dismiss(project, verdict, "another island")
    client.remove_comment(project, sentence)
    progress = client.progress(project)
    assert (progress["acceptances"], progress["dismissals"]) == ([], {verdict: {"reason": "another island"}})
    assert progress["comments"] == {}
    client.reopen(project, verdict)
    assert client.progress(project)["dismissals"] == {}


def test_the_client_keeps_collections(kept_library: Path, tmp_path: Path) -> None:
    library = copytree(kept_library, tmp_path / "library")
    with serving(ServerSettings(library)) as address, ServerClient(address) as client:
        collection = client.change_collection("sea/air?", add=["title:a", "title:b"], remove=["title:b"])
        assert collection == {"name": "sea/air?", "papers": ["title:a", "title:b"]}
        assert client.change_collection("sea/air?", remove=["title:b"])["papers"] == ["title:a"]
        assert client.collections() == [{"name": "sea/air?", "papers": ["title:a"]}]
        client.delete_collection("sea/air?")
        assert client.collections() == []


def test_the_client_asks_everything(kept_library: Path, tmp_path: Path) -> None:
    settings = ServerSettings(kept_library, AccessRules(token="secret"), projects=tmp_path / "projects")
    for name, text in {"draft": MANUSCRIPT, "whales": WHALES, "bees": BEES}.items():
        (tmp_path / f"{name}.md").write_text(text)
    with serving(settings) as address, ServerClient(address, "secret") as client:
        title = "Killer whales feeding on schooling herring using tail-slaps"
        claims = ["Killer whales hit herring with their tails.", "Mites spread viruses."]
        assert client.cite(claims[0], 1)["recommendations"][0]["paper"]["title"] == title
        first, second = client.cite_all(claims, 1, year_max=2012)
        assert first["recommendations"][0]["paper"]["title"] == title
        assert second["text"] == claims[1]
        assert client.verify("Killer whales stun herring.", tmp_path / "whales.md")["verdict"] == "backed"
        assert any(finding["kind"] == "needs-citation" for finding in client.check(tmp_path / "draft.md")["findings"])
        project = client.create_project(
            [tmp_path / "draft.md"], [tmp_path / "whales.md", tmp_path / "bees.md"], "Review"
        )
        verdicts = {record["reference"]["id"]: record["verdict"] for record in client.verdicts(project["id"])}
        assert verdicts == {"domenici": "backed", "martin": "contradicted", "tarpy": "could not check"}
        assert "contradicted" in client.report(project["id"]).lower()
        _decide(client, project["id"])
        with pytest.raises(UserError, match="no such project"):
            client.report("0" * 16)
        with ServerClient(address) as stranger, pytest.raises(UserError, match="A token is required"):
            stranger.cite("whales")
    with ServerClient(address) as late, pytest.raises(UserError, match="does not answer"):
        late.cite("whales")
