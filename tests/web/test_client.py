"""The Python client against a real server."""

from pathlib import Path

import pytest

from tests.web.manuscripts import BEES, MANUSCRIPT, WHALES
from tests.web.serving import serving
from whycite.errors import UserError
from whycite.web.client import ServerClient
from whycite.web.guard import AccessRules
from whycite.web.serverstate import ServerSettings


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
        with pytest.raises(UserError, match="no such project"):
            client.report("0" * 16)
        with ServerClient(address) as stranger, pytest.raises(UserError, match="A token is required"):
            stranger.cite("whales")
    with ServerClient(address) as late, pytest.raises(UserError, match="does not answer"):
        late.cite("whales")
