"""The server: registers the tools, and turns mistakes into sentences that an assistant can act on."""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mcp.server.mcpserver import MCPServer, ResourceSecurity
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.types import CallToolResult, Resource, TextContent, ToolAnnotations
from pydantic import ValidationError

from whycite.errors import MissingExtra, UserError
from whycite.mcp.answers import compact
from whycite.mcp.tools import Toolbox

__all__ = ["McpSettings", "create", "run"]

_PAPERS = "whycite://papers/"
_INSTRUCTIONS = """\
whycite knows the papers in the user's own library. Use cite to find papers for a claim, check to find sentences of a \
draft without a needed citation, verify to see whether a paper backs a claim, find_source to find where a quotation \
comes from, references to see whether references are real and right, and read to read a paper. Answers quote word for \
word: cite only papers that a tool returned, and say so when a tool says that nothing fits."""


@dataclass(frozen=True, slots=True)
class McpSettings:
    """The library, whether drafts may be changed, and the size of an answer."""

    library: Path | None = None  # None: the default library
    write: bool = False
    tokens: int = 2_000


def create(settings: McpSettings | None = None) -> MCPServer[Any]:
    """A server with the tools for a library."""
    settings = settings or McpSettings()
    toolbox = Toolbox(settings.library, settings.tokens)
    server = _ToolServer(toolbox)
    reading = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    for tool in (toolbox.cite, toolbox.check, toolbox.verify, toolbox.find_source, toolbox.references, toolbox.read):
        server.add_tool(tool, annotations=reading)
    if settings.write:
        writing = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
        server.add_tool(toolbox.insert_citation, annotations=writing)

    @server.resource(
        f"{_PAPERS}{{+key}}",
        name="paper",
        title="Paper in the library",
        description="The full text of a paper by its key, such as doi:10.1000/182.",
        mime_type="text/markdown",
        security=ResourceSecurity(exempt_params={"key"}),
    )
    def paper(key: str) -> str:
        if not key.startswith(("doi:", "arxiv:", "pmid:", "title:")):  # a path would name any file of the machine
            raise ResourceError(f"{key}: not the key of a paper; keys begin with doi:, arxiv:, pmid: or title:")
        try:
            return toolbox.paper_text(key)
        except (UserError, MissingExtra) as error:
            raise ResourceError(str(error)) from error

    return server


def run(settings: McpSettings, host: str = "", port: int = 0) -> None:
    """Serve on standard input and output, or over HTTP if there is a host, until the client leaves."""
    server = create(settings)
    if host:
        server.run("streamable-http", host=host, port=port)
    else:
        server.run("stdio")


class _ToolServer(MCPServer[Any]):
    """Answers in compact JSON; a mistake is one plain sentence; the papers of the library are resources."""

    def __init__(self, toolbox: Toolbox) -> None:
        super().__init__(
            "whycite", title="whycite", instructions=_INSTRUCTIONS, version=version("whycite"), log_level="WARNING"
        )
        self._toolbox = toolbox

    async def list_resources(self) -> list[Resource]:
        """The papers that were added last."""
        try:
            papers = await to_thread(self._toolbox.papers)
        except (UserError, MissingExtra):
            return []  # no library yet; the tools say so
        return [
            Resource(
                uri=f"{_PAPERS}{quote(paper.key, safe=':/')}",
                name=paper.key,
                title=paper.title or paper.key,
                mime_type="text/markdown",
            )
            for paper in papers
        ]

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool by name with arguments."""
        self._refuse_unknown(name, arguments)
        try:
            result = await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, UserError | MissingExtra):
                raise ToolError(str(error.__cause__)) from error
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_mistakes(error.__cause__)) from error
            raise
        if isinstance(result, CallToolResult) and result.structured_content is not None:
            result.content = [TextContent(type="text", text=compact(result.structured_content))]
        return result

    def _refuse_unknown(self, name: str, arguments: dict[str, Any]) -> None:
        schema = self._tool_input_schema(name)
        known = [] if schema is None else list(schema["properties"])
        if schema is not None and (unknown := [argument for argument in arguments if argument not in known]):
            raise ToolError(f"{name}: unknown argument '{unknown[0]}'; choose from: {', '.join(known)}")


def _mistakes(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, mistake['loc']))}: {mistake['msg']}" for mistake in error.errors())
