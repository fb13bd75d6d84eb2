"""The tools, each of which asks what a command asks and answers in short, and the server that offers them."""

from __future__ import annotations

import sys
from asyncio import to_thread
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from mcp.server.mcpserver import MCPServer, ResourceSecurity
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.types import CallToolResult, Resource, TextContent, ToolAnnotations
from pydantic import Field, ValidationError

from whycite import structure
from whycite.check.findings import CheckedDraft
from whycite.cite.fit import nothing_fits
from whycite.cite.recommendations import Claim
from whycite.documents.model import Document
from whycite.documents.reading import read as read_document
from whycite.errors import MissingExtra, UserError
from whycite.library import LibraryDocument
from whycite.mcp import replies
from whycite.references.checking import check_bibliography
from whycite.references.entries import load_bibliography
from whycite.service.drafts import check_file
from whycite.service.remote import Engines, ServerEngine
from whycite.structure import parse_section_type

__all__ = ["McpSettings", "create", "run"]

ClaimText = Annotated[
    str, Field(min_length=1, max_length=20_000, description="One sentence, without citations, in English.")
]
PaperName = Annotated[
    str,
    Field(min_length=1, max_length=4_000, description="Path of a file; or key, DOI or title of a library paper."),
]
DraftPath = Annotated[str, Field(min_length=1, max_length=4_000, description="Path of the draft's main file.")]
Start = Annotated[int, Field(ge=0, description="Number of items to skip, if an earlier answer omitted some.")]

_PAPERS = "whycite://papers/"
_INSTRUCTIONS = """\
whycite knows the papers in the user's own library. Use cite to find papers for a claim, check to find sentences of a \
draft without a needed citation, verify to see whether a paper backs a claim, find_source to find where a quotation \
comes from, references to see whether references are real and right, and read to read a paper. Answers quote word for \
word: cite only papers that a tool returned, and say so when a tool says that nothing fits."""
_MAX_LISTED = 100  # papers that an assistant may browse; the others are found by asking
_EMPTY_PAGE = "Nothing left to show."


class _Toolbox:
    """The tools; `tokens` limits each answer."""

    def __init__(self, engines: Engines, tokens: int) -> None:
        self._engines, self._tokens = engines, tokens

    def cite(
        self,
        claim: ClaimText,
        n: Annotated[int, Field(ge=1, le=20, description="Number of papers.")] = 5,
        year_max: Annotated[int | None, Field(ge=1000, le=2999, description="Ignore newer papers.")] = None,
        section: Annotated[
            str | None, Field(description="Section of the claim: introduction, method, results, …")
        ] = None,
    ) -> replies.CiteReply:
        """Find papers in the user's library to cite for a claim, each with sentences that cite it or that it says.

        The best comes first. `fits` is the chance that a paper fits by itself, and need not fall from one to the next.
        """
        described_claim = Claim(claim, section_type=parse_section_type(section) if section else None, year=year_max)
        engine = self._engines.usual()
        recommendations, fits = engine.recommend(described_claim, n)
        papers = [
            replies.recommended_paper(
                paper, engine.file_of(paper.paper.key) if paper.passages else "", self._tokens // 2
            )
            for paper in recommendations
        ]
        shown, omitted = replies.cut_items(papers, self._tokens)
        if not shown:
            message = "No paper in the library matches this claim. Do not cite anything for it."
        elif nothing_fits(fits):
            message = "No paper in the library is a clear match for this claim; these are only the closest ones."
        else:
            message = "Read before citing: evidence is what others cite a paper for, own_words is what it says itself."
        return {
            "message": message,
            "fits": None if fits is None else round(fits, 2),
            "recommendations": shown,
            "omitted": omitted,
        }

    def check(
        self,
        path: DraftPath,
        n: Annotated[int, Field(ge=1, le=10, description="Number of papers per sentence.")] = 2,
        start: Start = 0,
    ) -> replies.CheckReply:
        """Find sentences of a draft (LaTeX, Markdown, Typst, Word) that need a citation, and retracted papers cited."""
        checked = self._checked(_draft(path), max(n, 3))
        needing = [finding for finding in checked.findings if finding.kind == "needs-citation"]
        items = [replies.missing_citation(finding, n) for finding in needing[start:]]
        problems, _ = replies.cut_items(replies.mentioned_problems(checked.findings), self._tokens // 2)
        shown, omitted = replies.cut_items(items, self._tokens - replies.count_tokens(problems))
        if needing and not shown:
            message = _EMPTY_PAGE
        else:
            message = f"{len(needing)} of {len(checked.findings)} sentences need a citation."
        return {
            "message": message,
            "path": checked.document.path,
            "sentences": len(checked.findings),
            "problems": problems,
            "findings": shown,
            "omitted": omitted,
            "warnings": list(checked.warnings[:3]),
        }

    def verify(
        self,
        claim: ClaimText,
        paper: PaperName,
        n: Annotated[int, Field(ge=1, le=20, description="Number of passages.")] = 3,
    ) -> replies.VerifyReply:
        """Check whether a paper backs a claim: a verdict, and the passages of the paper that tell."""
        document = self._paper(paper)
        verification = self._engines.usual().verify(document, claim)
        passages = [replies.passage_quote(passage) for passage in verification.deciding_first()[:n]]
        return {
            "verdict": verification.verdict,
            "confidence": round(verification.confidence, 2),
            "reason": verification.reason,
            "file": document.path,
            "title": document.paper.title,
            "passages": replies.cut_items(passages, self._tokens)[0],
        }

    def find_source(
        self,
        quotation: Annotated[
            str, Field(min_length=1, max_length=20_000, description="The words to find, at least three.")
        ],
        n: Annotated[int, Field(ge=1, le=10, description="Number of papers.")] = 3,
    ) -> replies.SourceReply:
        """Find which paper of the user's library says a sentence, and where: file, section and page."""
        search = self._engines.usual().find_source(quotation, n)
        matches, _ = replies.cut_items([replies.source_quote(match) for match in search.matches], self._tokens)
        searched = f"{search.searched} of {search.total} papers searched"
        gone = f", {search.unreadable} of them without a readable file" if search.unreadable else ""
        if not matches:
            message = f"No paper says so ({searched}{gone})."
        elif matches[0]["exact"]:
            message = f"Found word for word ({searched}{gone})."
        else:
            message = f"Not found word for word; these sentences are similar ({searched}{gone})."
        return {"message": message, "matches": matches}

    def references(
        self,
        path: Annotated[
            str, Field(min_length=1, max_length=4_000, description="Path of a draft's main file or of a bibliography.")
        ],
        start: Start = 0,
    ) -> replies.ReferencesReply:
        """Check whether the references of a draft or a bibliography are real, right and not retracted (offline)."""
        bibliography = load_bibliography(_draft(path))
        knowledge = self._engines.usual().knowledge([entry.reference for entry in bibliography.entries])
        report = check_bibliography(bibliography, knowledge)
        items = replies.reference_problems(report.references)
        shown, omitted = replies.cut_items(items[start:], self._tokens)
        if items and not shown:
            message = _EMPTY_PAGE
        else:
            message = (
                f"{len(items)} of {len(report.references)} references have problems. “unknown” does not mean false."
            )
        return {
            "message": message,
            "path": report.path,
            "verdicts": dict(report.verdicts()),
            "references": shown,
            "omitted": omitted,
            "warnings": list(report.warnings[:3]),
        }

    def read(
        self,
        paper: PaperName,
        section: Annotated[
            int | None, Field(ge=1, description="Number of a section to read; the sections are listed without it.")
        ] = None,
        start: Start = 0,
    ) -> replies.ReadReply:
        """Read a paper or a draft: its sections, or the sentences of one section word for word."""
        document = self._paper(paper)
        sections = _sections(document)
        if section is not None and section > len(sections):
            raise UserError(f"{document.path}: has only {len(sections)} sections, so no section {section}")
        sentences = [
            replies.sentence_quote(sentence) for sentence in document.sentences if sentence.section + 1 == section
        ]
        shown, omitted = replies.cut_items(sentences[start:], self._tokens)
        if section is None:
            shown_sections, omitted = replies.cut_items(sections[start:], self._tokens)
            message = f"Sections: {len(sections)}, sentences: {len(document.sentences)}. Give a section to read it."
        else:
            shown_sections = [sections[section - 1]]
            message = (
                _EMPTY_PAGE if not shown else f"Sentences {start + 1} to {start + len(shown)} of {len(sentences)}."
            )
        return {
            "message": message,
            "file": document.path,
            "title": document.paper.title,
            "year": document.paper.year,
            "sections": shown_sections,
            "sentences": shown,
            "omitted": omitted,
            "warnings": list(document.warnings[:3]),
        }

    def insert_citation(
        self,
        path: DraftPath,
        line: Annotated[int, Field(ge=1, description="Line of the sentence, from `check`.")],
        cite_key: Annotated[str, Field(min_length=1, description="Key of a paper that `check` proposed for it.")],
        file: Annotated[str | None, Field(description="File of the sentence, if not the main file.")] = None,
    ) -> replies.InsertReply:
        """Insert a citation that `check` proposed into the draft, and its entry into the bibliography."""
        from whycite.check.fix import apply, plan

        draft = _draft(path)
        place = str(Path(file).expanduser().absolute()) if file else str(draft)
        checked = self._checked(draft, 10)
        choices = {
            index: proposal
            for index, finding in enumerate(checked.findings)
            if finding.file == place and finding.line == line
            for proposal in finding.recommendations
            if proposal.key == cite_key
        }
        if not choices:
            raise UserError(f"{place}:{line}: '{cite_key}' was not proposed for a sentence here; check the draft again")
        fix_plan = plan(checked, dict([next(iter(choices.items()))]))
        if fix_plan.refused:
            raise UserError(f"{place}:{line}: {cite_key} was not inserted: {fix_plan.refused[0].reason}")
        apply(fix_plan)
        files = [str(change.path) for change in fix_plan.changes]
        return {"message": f"Inserted {cite_key}.", "files": files, "diff": fix_plan.diff()}

    def papers(self) -> list[LibraryDocument]:
        """The papers of the library whose full text can be read, the last added first; at most a hundred."""
        readable = [paper.entry for paper in self._engines.usual().papers() if not paper.full_text.problem]
        return sorted(readable, key=lambda entry: entry.added, reverse=True)[:_MAX_LISTED]

    def paper_text(self, key: str) -> str:
        """The full text of a paper in the library, with its headings."""
        document = self._engines.usual().paper(key)
        lines = [f"# {document.paper.title or document.path}"]
        section = paragraph = -1
        for sentence in document.sentences:
            if sentence.section != section:
                section = sentence.section
                lines.append(f"\n## {document.sections[section].heading}")
            lines.append(sentence.text if sentence.paragraph == paragraph else f"\n{sentence.text}")
            paragraph = sentence.paragraph
        return "\n".join(lines) + "\n"

    def _checked(self, draft: Path, n: int) -> CheckedDraft:
        return check_file(self._engines.for_draft(draft), draft, n=n)

    def _paper(self, name: str) -> Document:
        """The paper that a path, key, DOI or title means."""
        name = name.strip()
        if not name:
            raise UserError("name a paper: the path of a file, or the key, DOI or title of one in the library")
        path = Path(name).expanduser()
        return structure.label(read_document(path)) if path.exists() else self._engines.usual().paper(name)


def _draft(path: str) -> Path:
    draft = Path(path).expanduser().absolute()
    if not draft.is_file():
        raise UserError(f"{path}: no such file; give the main file of the draft")
    return draft


def _sections(document: Document) -> list[replies.SectionSummary]:
    counts = [0] * len(document.sections)
    for sentence in document.sentences:
        counts[sentence.section] += 1
    return [
        {"number": number, "heading": section.heading, "type": section.type, "sentences": count}
        for number, (section, count) in enumerate(zip(document.sections, counts, strict=True), 1)
    ]


@dataclass(frozen=True, slots=True)
class McpSettings:
    """The library, whether drafts may be changed, and the size of an answer."""

    library: Path | None = None  # None: the default library
    write: bool = False
    tokens: int = 2_000
    server: str = ""  # the address of a running `whycite serve`, which then has models and library in memory
    server_token: str = ""


def create(settings: McpSettings | None = None) -> MCPServer[Any]:
    """A server with the tools for a library."""
    settings = settings or McpSettings()
    server_engine = ServerEngine(settings.server, settings.server_token, _tell) if settings.server else None
    toolbox = _Toolbox(Engines(settings.library, server_engine), settings.tokens)
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

    def __init__(self, toolbox: _Toolbox) -> None:
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
            result.content = [TextContent(type="text", text=replies.compact(result.structured_content))]
        return result

    def _refuse_unknown(self, name: str, arguments: dict[str, Any]) -> None:
        schema = self._tool_input_schema(name)
        names = [] if schema is None else list(schema["properties"])
        if schema is not None and (unknown := [argument for argument in arguments if argument not in names]):
            raise ToolError(f"{name}: unknown argument '{unknown[0]}'; choose from: {', '.join(names)}")


def _tell(message: str) -> None:
    """On standard error, which assistants show or keep as a log."""
    print(f"whycite: {message}", file=sys.stderr, flush=True)


def _mistakes(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, mistake['loc']))}: {mistake['msg']}" for mistake in error.errors())
