"""`whycite read`: show how a document is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.terminal import count, print_json, printable, say
from whycite.errors import UserError
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from whycite.documents import Document, Sentence

__all__ = ["read"]


def read(
    path: Annotated[
        str, typer.Argument(help="File, project folder, folder of papers or archive; - reads standard input.")
    ],
    format: Annotated[
        str | None,
        typer.Option(
            help="Format, if not recognised: latex, markdown, typst, plain, pdf, jats, tei, s2orc, unarxive, bibtex, "
            "bbl, csljson or ris."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one line per document.")] = False,
) -> None:
    """Show how whycite reads a document: sections, sentences, citations and references."""
    from rich.console import Console

    from whycite.documents import stream
    from whycite.documents.jsondocument import document_json
    from whycite.structure import label

    console = Console(highlight=False)
    has_document = False
    for document in stream(path, format):
        has_document = True
        if as_json:
            print_json(document_json(label(document)))
        else:
            _show_document(label(document), console)
    if not has_document:
        raise UserError(f"{path}: contains no document that whycite can read")


def _show_document(document: Document, console: Console) -> None:
    from rich.text import Text

    from whycite.library.notices import look_up
    from whycite.library.paths import default_path

    citations = [citation for sentence in document.sentences for citation in sentence.citations]
    path = shorten_paths(document.path)
    linked = sum(bool(citation.keys) and all(key in document.by_id for key in citation.keys) for citation in citations)
    say(console, Text(printable(document.paper.title or path), style="bold"))
    year = f", {document.paper.year}" if document.paper.year else ""
    say(console, Text(printable(f"{path} ({document.format}{year})"), style="dim"))
    say(
        console,
        f"{count(len(document.sections), 'section')}, {count(len(document.sentences), 'sentence')}, "
        f"{count(len(citations), 'citation')} ({linked:,} linked), {count(len(document.references), 'reference')}",
    )
    section, paragraph = -1, -1
    for sentence in document.sentences:
        while section < sentence.section:
            section += 1
            heading = document.sections[section]
            if heading.heading:
                kind = f"  [{heading.type}]" if heading.type else ""
                line = Text("\n" + printable("#" * heading.level + f" {heading.heading}"), style="bold cyan")
                say(console, line.append(kind, style="not bold dim"))
        if sentence.paragraph != paragraph:
            paragraph = sentence.paragraph
            mark = "" if sentence.kind == "prose" else f" ({sentence.kind})"
            say(console, Text(f"\n¶{paragraph + 1}{mark}", style="dim"))
        say(console, _mark_citations(sentence), indent=2)
    if document.asides:
        say(
            console,
            Text(f"\n({count(len(document.asides), 'sentence')} in captions, notes and back matter)", style="dim"),
        )
    if document.references:
        say(console, Text("\nReferences", style="bold cyan"))
        notices = look_up(default_path(), document.references)
        for reference, notice in zip(document.references, notices, strict=True):
            authors = reference.authors[0].split(",")[0] if reference.authors else "?"
            authors += " et al." if len(reference.authors) > 1 else ""
            description = (
                f"{authors} ({reference.year or 'no year'}): {reference.title or reference.text or 'no title'}"
            )
            say(
                console,
                Text(printable(f"  {reference.id}  "), style="green").append(printable(description), style="default"),
            )
            if notice.status:
                say(console, Text(printable(notice.description), style="bold red"), indent=4)
    for warning in document.warnings:
        say(console, Text(printable(shorten_paths(f"warning: {warning}")), style="yellow"))


def _mark_citations(sentence: Sentence) -> Text:
    """The sentence with its citations marked."""
    from rich.text import Text

    text = Text(printable(sentence.text))
    for citation in sentence.citations:
        text.stylize("green" if citation.keys else "red", citation.text_start, citation.text_end)
    return text
