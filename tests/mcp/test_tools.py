"""The tools as an assistant uses them: through the SDK's own client, on a small library of papers."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx2
import jsonschema  # type: ignore[import-untyped]
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult
from tokenizers import Tokenizer

from tests.drafts import BIB, STUDIES_TEX
from tests.web.serving import serving
from whycite.library import add
from whycite.mcp.tools import McpSettings, create
from whycite.models import DEFAULT
from whycite.models.folders import ENCODER, TOKENIZER
from whycite.web.guard import AccessRules
from whycite.web.serverstate import ServerSettings

REFERENCES = """
@article{martin2012, title={Global honey bee viral landscape altered by a parasitic mite},
  author={Martin, S. and Highfield, A. and Brettell, L. and Villalobos, E.}, year={2012}, journal={Science}}
@article{domenici2000, title={Killer whales feeding on schooling herring using tail-slaps},
  author={Domenici, P.}, year={2000}, journal={Journal of Experimental Biology}, doi={10.1000/whales}}
"""
MITES = """---
title: Mites and the loss of honeybee colonies
doi: 10.1000/mites
year: 2020
bibliography: refs.bib
---
# Introduction
Deformed wing virus spreads with the mite Varroa [@martin2012].

# Results
We counted dead bees in 40 hives for two winters. Colonies with mites lost 31 % of their bees in winter.
Colonies without mites lost 8 % of their bees.
"""
WHALES = """---
title: How killer whales hunt herring
year: 2021
bibliography: refs.bib
---
# Introduction
Killer whales stun herring with blows of their tails [@domenici2000].
"""
Call = Callable[..., CallToolResult]
pytestmark = pytest.mark.usefixtures("no_network")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    (folder / "refs.bib").write_text(REFERENCES)
    (folder / "mites.md").write_text(MITES)
    (folder / "whales.md").write_text(WHALES)
    path = tmp_path_factory.mktemp("library") / "library"
    assert add(path, [folder], jobs=1).added == 2
    return path


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    (tmp_path / "main.tex").write_text(STUDIES_TEX, "utf-8")
    return tmp_path / "main.tex"


@pytest.fixture
def call(library: Path) -> Call:
    """Calls a tool through the client; what the tool answers always has the shape it promises."""

    def call_tool(name: str, settings: McpSettings | None = None, **arguments: Any) -> CallToolResult:
        async def ask() -> CallToolResult:
            async with Client(create(settings or McpSettings(library))) as client:
                tools = {tool.name: tool for tool in (await client.list_tools()).tools}
                result = await client.call_tool(name, arguments)
                if not result.is_error:
                    schema = tools[name].output_schema
                    assert schema is not None
                    jsonschema.validate(result.structured_content, schema)
                    assert json.loads(_text(result)) == result.structured_content
                return result

        return asyncio.run(ask())

    return call_tool


def _text(result: CallToolResult) -> str:
    [content] = result.content
    assert content.type == "text"
    return content.text


def _answer(result: CallToolResult) -> Any:
    assert not result.is_error, _text(result)
    return result.structured_content


def test_cite_quotes_the_sentences_that_cite_a_paper(call: Call) -> None:
    answer = _answer(call("cite", claim="Varroa mites spread deformed wing virus."))
    best = answer["recommendations"][0]
    assert best["title"] == "Global honey bee viral landscape altered by a parasitic mite"
    assert best["authors"] == ["Martin, S.", "Highfield, A.", "Brettell, L.", "et al."]
    assert best["evidence"][0]["sentence"].startswith("Deformed wing virus spreads with the mite Varroa")
    assert best["evidence"][0]["source"] == "Mites and the loss of honeybee colonies"


def test_cite_says_when_nothing_fits(call: Call) -> None:
    answer = _answer(call("cite", claim="Interest rates rose after the war in Spain."))
    assert answer["message"].startswith("No paper in the library")
    assert _answer(call("cite", claim="Whales stun herring.", year_max=1900))["recommendations"] == []


def test_cite_quotes_a_paper_that_says_so_itself(call: Call) -> None:
    answer = _answer(call("cite", claim="Colonies with mites lose bees in winter."))
    [paper] = [paper for paper in answer["recommendations"] if paper["key"] == "doi:10.1000/mites"]
    assert paper["own_words"][0]["text"] == "Colonies with mites lost 31 % of their bees in winter."
    assert (paper["own_words"][0]["section"], Path(paper["own_words"][0]["file"]).name) == ("Results", "mites.md")


def test_verify_names_the_passage_and_where_it_is(call: Call) -> None:
    claim = "Colonies with mites lost 31 % of their bees in winter."
    answer = _answer(call("verify", claim=claim, paper="https://doi.org/10.1000/MITES"))
    assert answer["verdict"] in ("backed", "contradicted", "not found", "secondary", "could not check")
    assert answer["passages"][0]["text"] == claim
    assert answer["passages"][0]["section"] == "Results"
    assert Path(answer["file"]).name == "mites.md"


@pytest.mark.parametrize(
    ("quotation", "exact"),
    [
        ("COLONIES with mites lost 31\n% of their bees in winter. Colonies without mites", True),
        ("Colonies without varroa mites lost 8 % of bees", False),
    ],
)
def test_a_quotation_is_found_in_the_paper_that_says_it(call: Call, quotation: str, exact: bool) -> None:
    answer = _answer(call("find_source", quotation=quotation))
    assert answer["message"].startswith("Found word for word" if exact else "Not found word for word")
    [match] = answer["matches"]
    assert (match["exact"], match["section"], match["paper"]["key"]) == (exact, "Results", "doi:10.1000/mites")
    assert "Colonies without mites lost 8 % of their bees." in match["text"]


def test_a_quotation_of_nobody_is_not_found(call: Call) -> None:
    answer = _answer(call("find_source", quotation="Interest rates rose after the war."))
    assert answer == {"message": "No paper says so (2 of 2 papers searched).", "matches": []}


def test_read_lists_sections_then_sentences(call: Call) -> None:
    listed = _answer(call("read", paper="Mites and the loss of honeybee colonies"))
    assert [section["heading"] for section in listed["sections"]] == ["Introduction", "Results"]
    assert listed["sentences"] == []
    section = _answer(call("read", paper="doi:10.1000/mites", section=2, start=1))
    assert section["sentences"][0] == {"text": "Colonies with mites lost 31 % of their bees in winter."}
    assert section["message"] == "Sentences 2 to 3 of 3."


def test_check_shows_what_fits_and_pages_through_the_rest(call: Call, draft: Path, library: Path) -> None:
    answer = _answer(call("check", path=str(draft)))
    assert answer["message"] == "3 of 5 sentences need a citation."
    assert [finding["line"] for finding in answer["findings"]] == [5, 7, 10]
    assert answer["findings"][0]["recommendations"][0]["cite_key"] == "Kaiser1988"
    short = McpSettings(library, tokens=500)
    first = _answer(call("check", short, path=str(draft)))
    rest = _answer(call("check", short, path=str(draft), start=len(first["findings"])))
    assert first["omitted"] == 3 - len(first["findings"]) > 0
    assert first["findings"][-1]["line"] < rest["findings"][0]["line"]


def test_check_tells_of_retracted_papers(call: Call, draft: Path) -> None:
    entry = "@article{Bad1999, title = {RETRACTED: Bees never rest}, author = {Bad, A.}, year = 1999}\n"
    (draft.parent / "refs.bib").write_text(BIB + entry, "utf-8")
    draft.write_text(draft.read_text("utf-8").replace("Bees fly by day.", "Bees fly~\\cite{Bad1999}."), "utf-8")
    [problem] = _answer(call("check", path=str(draft)))["problems"]
    assert (problem["cite_key"], problem["rule"], problem["line"]) == ("Bad1999", "retracted", 5)


def test_references_are_compared_with_the_library_worst_first(call: Call, tmp_path: Path, library: Path) -> None:
    (tmp_path / "refs.bib").write_text(
        "@misc{old, title={RETRACTED: Bees never rest}, author={Bad, A.}, year=1999}\n"
        "@article{whales, title={Killer whales feeding on schooling herring using tail-slaps}, "
        "author={Domenici, P.}, year={2000}, journal={Journal of Experimental Biology}}\n"
        "@article{mites, title={Mites and the loss of honeybee colonies}, author={Doe, J.}, year={2011}, "
        "doi={10.1000/mites}, journal={Bees}}\n"
        "@article{bare, title={What nobody has recorded}, author={Roe, R.}, year={2001}, journal={Bees}}\n"
    )
    answer = _answer(call("references", path=str(tmp_path / "refs.bib")))
    assert [(item["cite_key"], item["verdict"]) for item in answer["references"]] == [
        ("old", "retracted"),
        ("mites", "differs"),
        ("whales", "confirmed"),
    ]
    assert answer["verdicts"] == {"retracted": 1, "confirmed": 1, "differs": 1, "unknown": 1}
    [note] = [note for note in answer["references"][-1]["problems"] if note["rule"] == "missing-doi"]
    assert note["correction"] == "10.1000/whales"
    short = McpSettings(library, tokens=500)
    first = _answer(call("references", short, path=str(tmp_path / "refs.bib")))
    assert first["omitted"] == 3 - len(first["references"])


def test_drafts_are_changed_only_where_it_is_allowed(call: Call, draft: Path, library: Path) -> None:
    arguments = {"path": str(draft), "line": 5, "cite_key": "Kaiser1988"}
    assert "insert_citation" in _text(call("insert_citation", **arguments))  # unknown
    answer = _answer(call("insert_citation", McpSettings(library, write=True), **arguments))
    assert answer["files"] == [str(draft)]
    assert "\\cite{Kaiser1988}" in draft.read_text("utf-8")


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("cite", {}, "claim: Field required"),
        ("cite", {"claim": "x", "n": 0}, "n: Input should be greater than or equal to 1"),
        ("cite", {"claim": "…"}, "the claim has no words; give a sentence or a phrase"),
        ("cite", {"claim": "Bees sleep.", "limit": 3}, "cite: unknown argument 'limit'; choose from: claim, n,"),
        ("cite", {"claim": "Bees sleep.", "section": "kitchen"}, "unknown section type 'kitchen'"),
        ("check", {"path": "no/such.tex"}, "no/such.tex: no such file; give the main file of the draft"),
        ("verify", {"claim": "Bees sleep.", "paper": "Mites and losses of bee colonies"}, "did you mean: Mites"),
        ("find_source", {"quotation": "bees"}, "the quotation is too short to be found; give at least 3 words"),
        ("references", {"path": "no/such.bib"}, "no/such.bib: no such file"),
        ("read", {"paper": "doi:10.1000/mites", "section": 9}, "has only 2 sections, so no section 9"),
    ],
)  # fmt: skip
def test_bad_arguments_get_a_clear_error(call: Call, tool: str, arguments: dict[str, Any], message: str) -> None:
    result = call(tool, **arguments)
    assert result.is_error
    assert message in _text(result)
    assert "\n" not in _text(result)


def test_without_a_library_it_says_how_to_make_one(call: Call, tmp_path: Path) -> None:
    result = call("cite", McpSettings(tmp_path / "none"), claim="Bees sleep.")
    assert result.is_error
    assert "no library here yet; create one with: whycite add FOLDER" in _text(result)


def test_papers_are_resources_and_other_files_are_not(library: Path) -> None:
    async def ask() -> None:
        async with Client(create(McpSettings(library))) as client:
            [template] = (await client.list_resource_templates()).resource_templates
            assert template.uri_template == "whycite://papers/{+key}"
            listed = (await client.list_resources()).resources
            assert {resource.title for resource in listed} == {
                "Mites and the loss of honeybee colonies",
                "How killer whales hunt herring",
            }
            for resource in listed:
                [content] = (await client.read_resource(resource.uri)).contents
                assert getattr(content, "text").startswith(f"# {resource.title}")  # noqa: B009
            [content] = (await client.read_resource("whycite://papers/doi:10.1000/mites")).contents
            assert getattr(content, "text").startswith("# Mites and the loss of honeybee colonies\n\n## Introduction")  # noqa: B009
            with pytest.raises(MCPError, match="not the key of a paper"):
                await client.read_resource("whycite://papers//etc/passwd")

    asyncio.run(ask())


def test_answers_stay_short_however_much_there_is_to_say(tmp_path: Path, library: Path, call: Call) -> None:
    sentences = "".join(
        f"Many studies have shown that bees of kind {number} sleep at night.\n\n" for number in range(60)
    )
    (tmp_path / "long.md").write_text(f"# Introduction\n\n{sentences}", "utf-8")
    tokenizer = Tokenizer.from_file(str(ENCODER.find(DEFAULT) / TOKENIZER))
    for result in (
        call("check", path=str(tmp_path / "long.md")),
        call("read", paper=str(tmp_path / "long.md"), section=1),
        call("cite", claim="Varroa mites spread deformed wing virus.", n=20),
    ):
        assert not result.is_error
        assert len(tokenizer.encode(_text(result)).ids) < 2_000


def test_it_speaks_over_standard_input_and_output(library: Path) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "whycite", "mcp", "--library", str(library), "--write"],
        env=dict(os.environ),
    )

    async def ask() -> list[str]:
        async with Client(server) as client:
            result = await client.call_tool("read", {"paper": "doi:10.1000/mites"})
            assert not result.is_error
            return [tool.name for tool in (await client.list_tools()).tools]

    assert asyncio.run(ask()) == ["cite", "check", "verify", "find_source", "references", "read", "insert_citation"]


def test_it_speaks_over_http(library: Path) -> None:
    app = create(McpSettings(library)).streamable_http_app(host="127.0.0.1")

    async def ask() -> list[str]:
        transport = httpx2.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8643") as http,
            Client(streamable_http_client("http://127.0.0.1:8643/mcp", http_client=http)) as client,
        ):
            return [tool.name for tool in (await client.list_tools()).tools]

    assert asyncio.run(ask()) == ["cite", "check", "verify", "find_source", "references", "read"]


def test_a_running_server_gives_the_same_answers(call: Call, draft: Path, library: Path, tmp_path: Path) -> None:
    (tmp_path / "refs.bib").write_text(BIB + REFERENCES, "utf-8")
    questions: list[tuple[str, dict[str, Any]]] = [
        ("cite", {"claim": "Varroa mites spread deformed wing virus."}),
        ("check", {"path": str(draft)}),
        ("verify", {"claim": "Colonies with mites lost bees.", "paper": "doi:10.1000/mites"}),
        ("find_source", {"quotation": "Colonies without mites lost 8 % of their bees."}),
        ("references", {"path": str(tmp_path / "refs.bib")}),
        ("read", {"paper": "doi:10.1000/mites", "section": 2}),
    ]
    here = [_answer(call(tool, **arguments)) for tool, arguments in questions]
    with serving(ServerSettings(library, AccessRules(token="secret"), projects=tmp_path / "projects")) as address:
        settings = McpSettings(library, server=address, server_token="secret")
        assert [_answer(call(tool, settings, **arguments)) for tool, arguments in questions] == here


def test_it_says_so_where_the_server_is_gone(call: Call, library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = McpSettings(library, server="http://127.0.0.1:9")
    assert (
        _answer(call("read", settings, paper="doi:10.1000/mites"))["title"] == "Mites and the loss of honeybee colonies"
    )
    assert "whycite: http://127.0.0.1:9: no whycite server answers there." in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("whycite.cli.serve"), "find_spec", lambda name: None)
    assert str(run("mcp").exception) == "The server for assistants needs more packages: pip install 'whycite[mcp]'"
