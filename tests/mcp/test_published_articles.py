"""Every tool on a library of published articles, in a process of its own, over standard input and output."""

import asyncio
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import CallToolResult
from tokenizers import Tokenizer

from whycite.demo import articles
from whycite.documents import read
from whycite.library import add
from whycite.models import DEFAULT
from whycite.models.folders import ENCODER, TOKENIZER

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("allofplos") is None, reason="allofplos is not installed"),
]

ARTICLES = 5
MAX_TOKENS = 2_000


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("library") / "library"
    assert add(path, articles()[:ARTICLES], jobs=1).added == ARTICLES
    return path


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    """Sentences of an article as somebody would write them before looking for citations, and its references."""
    article = max(map(read, articles()[:ARTICLES]), key=lambda article: len(article.references))
    sentences = [sentence.without_citations() for sentence in article.sentences if sentence.citations][:40]
    entries = "".join(
        f"@article{{ref{number}, title={{{reference.title}}}, year={{{reference.year}}}, "
        f"author={{{' and '.join(reference.authors)}}}, journal={{{reference.venue}}}}}\n"
        for number, reference in enumerate(article.references)
    )
    (tmp_path / "refs.bib").write_text(entries, "utf-8")
    head = "---\ntitle: A draft\nbibliography: refs.bib\n---\n\n# Introduction\n\n"
    (tmp_path / "draft.md").write_text(head + "\n\n".join(sentences) + "\n", "utf-8")
    return tmp_path / "draft.md"


def test_every_tool_answers_in_short_and_word_for_word(library: Path, draft: Path) -> None:
    paper = read(articles()[1])
    quoted = max((sentence for sentence in paper.sentences if not sentence.citations), key=lambda s: len(s.text))
    claim = next(sentence for sentence in paper.sentences if sentence.citations).without_citations()
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "whycite", "mcp", "--library", str(library), "--write"],
        env=dict(os.environ),
    )
    answers: dict[str, Any] = {}
    tokenizer = Tokenizer.from_file(str(ENCODER.find(DEFAULT) / TOKENIZER))

    async def ask() -> None:
        async with Client(server) as client:

            async def call(name: str, **arguments: Any) -> Any:
                result = await client.call_tool(name, arguments)
                assert isinstance(result, CallToolResult)
                [content] = result.content
                assert content.type == "text"
                assert not result.is_error, content.text
                assert len(tokenizer.encode(content.text).ids) < MAX_TOKENS, name
                answers[name] = result.structured_content
                return result.structured_content

            await call("cite", claim=claim)
            await call("find_source", quotation=quoted.text)
            await call("read", paper=paper.paper.doi)
            section = next(s for s in answers["read"]["sections"] if s["sentences"] > 3)
            await call("read", paper=paper.paper.doi, section=section["number"])
            await call("verify", claim=quoted.text, paper=paper.paper.title)
            await call("references", path=str(draft))
            checked = await call("check", path=str(draft))
            finding = next(finding for finding in checked["findings"] if finding["recommendations"])
            key = finding["recommendations"][0]["cite_key"]
            await call("insert_citation", path=str(draft), line=finding["line"], cite_key=key)
            answers["key"] = key
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == answers.keys() - {"key"}
            resources = (await client.list_resources()).resources
            assert len(resources) == ARTICLES
            [text] = (await client.read_resource(resources[0].uri)).contents
            assert getattr(text, "text").startswith("# ")  # noqa: B009

    asyncio.run(ask())
    texts = {sentence.text for sentence in paper.sentences}
    assert answers["cite"]["recommendations"]
    [match] = answers["find_source"]["matches"]
    assert (match["exact"], match["paper"]["doi"]) == (True, paper.paper.doi)
    assert quoted.text in match["text"]
    assert {sentence["text"] for sentence in answers["read"]["sentences"]} <= texts
    assert answers["verify"]["verdict"] == "backed"
    assert {passage["text"] for passage in answers["verify"]["passages"]} <= texts
    assert sum(answers["references"]["verdicts"].values()) >= 10
    assert f"@{answers['key']}" in draft.read_text("utf-8")
