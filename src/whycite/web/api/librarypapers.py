"""A paper of the library: what it says, who cites it for what, and what it cites; and a picture of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response
from typing_extensions import TypedDict

from whycite.cite.exports import as_bibtex
from whycite.cite.reception import Agreement, SourceJson, agreement, source_json
from whycite.cite.recommendations import PaperJson, paper_json
from whycite.library.paths import absolute, file_of, original_path
from whycite.web.api.library import searchable_entries
from whycite.web.guard import Problem
from whycite.web.serverstate import PROBLEMS, CurrentServer, Server, json_response

if TYPE_CHECKING:
    from whycite.library import Library, LibraryDocument

__all__ = ["CitationGraph", "GraphEdge", "GraphNode", "LibraryPaper", "citation_graph", "library_paper", "router"]

router = APIRouter(tags=["papers"], responses=PROBLEMS)
_MAX_CITING = 200  # sentences
_MAX_REFERENCES = 300
_PASSAGES = 5
_MAX_SIDE = 8  # nodes on each side
_WIDTH, _HEIGHT, _STEP = 260, 46, 58  # of a node, and from one to the next
_GAP = 50  # between two columns
_LABEL = 30  # characters


class CitingSentenceJson(TypedDict):
    """A sentence of the library that cites the paper, as it was written, and what it cites the paper for."""

    sentence: str
    cited_for: str  # background, a method, or a result
    agreement: Agreement | None  # with the paper, as the sentence words it; most say neither
    source: SourceJson


class ReferencedPaper(TypedDict):
    """A paper in the bibliography, and how often the library cites it."""

    paper: PaperJson
    support: int


class PaperPassage(TypedDict):
    """A paragraph in which the paper says something in its own words."""

    text: str
    section: str
    page: int | None


class LibraryPaper(TypedDict):
    """A paper, the sentences that cite it, and the papers it cites."""

    paper: PaperJson
    abstract: str
    bibtex: str
    support: int  # places that cite it
    citing_documents: int
    citing: list[CitingSentenceJson]
    document: str  # the id of its full text in the library; empty if there is none
    format: str
    original: str  # the address of its file; empty if it cannot be had
    passages: list[PaperPassage]
    references: list[ReferencedPaper]


@router.get("/papers/{key:path}", response_model=LibraryPaper)
async def paper(here: CurrentServer, key: Annotated[str, Path(max_length=2_000)]) -> Response:
    """A paper by its key, such as `doi:10.1234/abc`."""
    return await here.work(lambda: json_response(library_paper(here, key)))


def library_paper(here: Server, key: str) -> LibraryPaper:
    """A paper of the library by its key."""
    library = here.current.library_if_any()
    id = library.paper_id(key) if library is not None else 0
    papers = library.papers([id]) if library is not None else {}
    if library is None or id not in papers:
        raise Problem(404, "The library has no such paper.")
    places = library.citing_places(id)
    documents = library.documents_of(id)
    entry = _readable_entry(here, documents)
    abstract = " ".join(papers[id].abstract.split())
    return {
        "paper": paper_json(papers[id]),
        "abstract": papers[id].abstract,
        "bibtex": as_bibtex([papers[id]]),
        "support": len(places),
        "citing_documents": len({document for document, _ in places}),
        "citing": _citing_sentences(library, places[:_MAX_CITING], papers[id].authors),
        "document": str(entry.id) if entry else "",
        "format": entry.format if entry else "",
        "original": _original(here, entry) if entry else "",
        "passages": [
            {"text": text, "section": section, "page": page}
            for text, section, page in library.passages_of(documents, _PASSAGES)
            if " ".join(text.split()) not in abstract
        ],
        "references": _references(library, documents, id),
    }


def _readable_entry(here: Server, documents: list[int]) -> LibraryDocument | None:
    entries = [entry for entry, _ in here.current.answer_once(searchable_entries) if entry.id in documents]
    return next((entry for entry in entries if file_of(original_path(here.current.path, entry.path))), None)


def _original(here: Server, entry: LibraryDocument) -> str:
    path = original_path(here.current.path, entry.path)
    return f"/api/library/documents/{entry.id}/file" if file_of(path) == absolute(path) else ""


def _citing_sentences(
    library: Library, places: list[tuple[int, int]], authors: Sequence[str]
) -> list[CitingSentenceJson]:
    from whycite.evidence.citationfunctions import citation_functions

    written = library.sentences_at(places)
    sources = library.sources([document for document, _ in places])
    shown = [place for place in places if written.get(place) and place[0] in sources]
    names = {"background": "background", "method": "a method", "result": "a result", "pointer": "further reading"}
    functions = citation_functions([written[place] for place in shown]) if shown else []
    return [
        {
            "sentence": written[place],
            "cited_for": names[function],
            # Who uses "the same dose as in an earlier study" does not agree with what it found.
            "agreement": agreement(written[place], authors) if function != "method" else None,
            "source": source_json(sources[place[0]]),
        }
        for place, function in zip(shown, functions, strict=True)
    ]


def _references(library: Library, documents: list[int], id: int) -> list[ReferencedPaper]:
    ids = [reference for reference in library.references_of(documents) if reference != id] if documents else []
    papers, support = library.papers(ids), library.support(ids)
    ranked = sorted(papers, key=lambda reference: (-support.get(reference, 0), papers[reference].key))
    return [
        {"paper": paper_json(papers[reference]), "support": support.get(reference, 0)}
        for reference in ranked[:_MAX_REFERENCES]
    ]


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A paper, at a place in the picture."""

    x: int
    y: int
    key: str  # empty if it has no page
    label: str
    detail: str
    title: str


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A citation: a line between two papers, and the anchor of the sentence or list entry that it stands for."""

    path: str
    target: str
    title: str


@dataclass(frozen=True, slots=True)
class CitationGraph:
    """Papers and the citations between them; `hidden` counts those that found no room."""

    width: int
    height: int
    node_width: int
    node_height: int
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    hidden: int


def citation_graph(page: LibraryPaper) -> CitationGraph | None:
    """The surroundings of a paper; None if it neither cites nor is cited."""
    citing: dict[str, int] = {}  # the first sentence of each source
    for number, sentence in enumerate(page["citing"]):
        citing.setdefault(sentence["source"]["key"] or sentence["source"]["title"], number)
    references = page["references"]
    if not citing and not references:
        return None
    sources = [*citing.values()][:_MAX_SIDE]
    cited = references[:_MAX_SIDE]
    rows = max(len(sources), len(cited), 1)
    own_column = 1 if sources else 0
    middle = _node(own_column, 0, rows - 1, page["paper"]["key"], page["paper"]["title"], _short(page["paper"]))
    nodes, edges = [middle], []
    for row, number in enumerate(sources):
        source = page["citing"][number]["source"]
        node = _node(0, row, rows - len(sources), source["key"], source["title"], str(source["year"] or ""))
        nodes.append(node)
        edges.append(GraphEdge(_curve(node, middle), f"citing-{number + 1}", page["citing"][number]["sentence"]))
    for row, reference in enumerate(cited):
        paper = reference["paper"]
        node = _node(own_column + 1, row, rows - len(cited), paper["key"], paper["title"], _short(paper))
        nodes.append(node)
        title = f"has among its references: {paper['title'] or paper['key']}"
        edges.append(GraphEdge(_curve(middle, node), f"reference-{row + 1}", title))
    hidden = len(citing) - len(sources) + len(references) - len(cited)
    width = max(node.x for node in nodes) + _WIDTH + 10
    return CitationGraph(width, rows * _STEP + 10, _WIDTH, _HEIGHT, tuple(nodes), tuple(edges), hidden)


def _node(column: int, row: int, empty_rows: int, key: str, title: str, detail: str) -> GraphNode:
    name = title or key
    return GraphNode(
        10 + column * (_WIDTH + _GAP),
        10 + row * _STEP + empty_rows * _STEP // 2,  # the shorter columns are centred
        key,
        shorten(name, _LABEL, placeholder=" …") if " " in name[:_LABEL] else name[:_LABEL],
        shorten(detail, _LABEL, placeholder=" …"),
        name,
    )


def _short(paper: PaperJson) -> str:
    """Authors and year: "Mitkov 1998"."""
    names = [author.split(",")[0] for author in paper["authors"]]
    who = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
    return f"{who} {paper['year'] or ''}".strip()


def _curve(source: GraphNode, target: GraphNode) -> str:
    start_x, start_y = source.x + _WIDTH, source.y + _HEIGHT // 2
    end_x, end_y = target.x, target.y + _HEIGHT // 2
    middle = (start_x + end_x) // 2
    return f"M{start_x} {start_y} C{middle} {start_y} {middle} {end_y} {end_x} {end_y}"
