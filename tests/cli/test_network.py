"""Nothing but `references --online` and `fetch` touches the network."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import Result

from tests.sources.zoterofolder import ZoteroFolder
from whycite.cli import app

Run = Callable[..., Result]

SOURCE = Path(__file__).resolve().parents[2] / "src" / "whycite"
# Modules that open connections or listen, and what they need it for.
NETWORK_MODULES = {
    "references/client.py": {"httpx"},  # references --online, fetch, and Zotero on this machine
    "cli/serve.py": {"socket"},  # listens
    "web/app.py": {"socket"},  # names the machine it listens on
    "web/replicas.py": {"socket"},  # names the machine it listens on, too
    "web/client.py": {"httpx"},  # asks the server whose address its caller gives
    "service/remote.py": {"httpx"},  # asks the server whose address the user gives
    "library/cluster.py": {"socket"},  # tries the address of a cluster that the user gives
    "lab/annotate/labelpage.py": {"socket"},  # listens
    "library/store.py": {"socket"},  # names the machine that holds a lock
}
LIBRARIES = {"httpx", "requests", "aiohttp", "urllib3", "socket", "ftplib", "http.client", "urllib.request", "pyzotero"}
LABORATORY = {"annotate", "eval", "reproduce", "train"}  # by their imports alone
DRAFT = """\
---
title: How bees spend the night
references:
- {id: kaiser, title: "Busy bees need rest, too", author: [{family: Kaiser, given: Walter}], issued: 1988}
---
# Introduction

Previous studies have shown that honeybees sleep at night. Bees hang their antennae [@kaiser].
"""
COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "add": (
        ("add", "{papers}", "--library", "new library", "--jobs", "1"),
        ("add", "--zotero", "Zotero", "--library", "new library", "--jobs", "1"),
    ),
    "fetch": (("fetch", "--from", "there.bib", "--library", "new library"),),  # what is there is not asked for
    "cite": (("cite", "Honeybees sleep at night.", "--library", "{library}"),),
    "check": (("check", "draft.md", "--references", "--library", "{library}"),),
    "verify": (
        ("verify", "--claim", "Honeybees sleep at night.", "{papers}/sleep.md"),
        ("verify", "draft.md", "--papers", "{papers}"),
    ),
    "trust": (("trust", "{papers}"), ("trust", "--remove", "{papers}")),
    "references": (("references", "draft.md", "--library", "{library}"), ("references", "refs.bib", "--fix", "--yes")),
    "worth": (("worth", "Honeybees sleep at night."),),
    "read": (("read", "draft.md"),),
    "structure": (("structure", "draft.md"),),
    "library": (("library", "info", "--library", "{library}"), ("library", "list", "--library", "{library}")),
    "retractions": (("retractions", "import", "list.csv", "--library", "new library"),),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_stays_on_this_machine(
    run: Run,
    command: str,
    papers: Path,
    library: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    no_network: None,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("draft.md").write_text(DRAFT, "utf-8")
    Path("refs.bib").write_text("@misc{a, title = {Bees}, doi = {doi:10.1000/attention}}\n", "utf-8")
    Path("list.csv").write_text(
        "Record ID,Title,RetractionDate,RetractionDOI,OriginalPaperDOI,OriginalPaperPubMedID,RetractionNature,Reason\n"
        "1,Bees,1/2/2020 0:00,10.1000/n,10.1000/bees,0,Retraction,+Error;\n",
        "utf-8",
    )
    Path("there.bib").write_text("@misc{a, title = {Bees}, doi = {10.1000/bees}}\n", "utf-8")
    Path("papers").mkdir()
    Path("papers", "doi_10.1000_bees.xml").write_text("<article><body><p>Bees sleep.</p></body></article>", "utf-8")
    zotero = ZoteroFolder(Path("Zotero"))
    zotero.item(title="Busy bees need rest, too")
    zotero.close()
    for arguments in COMMANDS[command]:
        result = run(*(argument.format(papers=papers, library=library) for argument in arguments))
        assert result.exit_code == 0, (arguments, result.output, result.exception)


def test_the_guard_notices_a_connection(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: list[str]
) -> None:
    (tmp_path / "refs.bib").write_text("@misc{a, title = {Bees}, doi = {10.1000/attention}}\n", "utf-8")
    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path))
    result = run("references", tmp_path / "refs.bib", "--online", "--no-library")
    assert "cannot be reached" in result.stderr
    assert any("api.crossref.org" in attempt for attempt in no_network)
    result = run("fetch", "10.1000/attention", "--to", tmp_path / "papers", "--no-library")
    assert "Europe PMC cannot be reached" in result.stdout
    assert any("www.ebi.ac.uk" in attempt for attempt in no_network)
    no_network.clear()


def test_every_command_is_tried() -> None:
    names = set(typer.main.get_command(app).list_commands(None))  # type: ignore[attr-defined]
    # The tests of the demo, of serve, lsp and mcp run with the guard.
    assert names - {"demo", "serve", "lsp", "mcp"} - LABORATORY == set(COMMANDS)


def test_only_few_modules_can_reach_the_network() -> None:
    names = "|".join(re.escape(name) for name in LIBRARIES)
    pattern = re.compile(rf"^\s*(?:import|from)\s+({names})(?=[\s.])", re.MULTILINE)
    modules = {
        file.relative_to(SOURCE).as_posix(): set(imported)
        for file in sorted(SOURCE.rglob("*.py"))
        if (imported := pattern.findall(file.read_text("utf-8")))
    }
    assert modules == NETWORK_MODULES
