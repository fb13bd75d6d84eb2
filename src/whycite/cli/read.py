"""`whycite read`: what the reader sees of a document."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.terminal import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from whycite.documents import Document, Sentence

__all__ = ["read"]


def read(
    path: Annotated[str, typer.Argument(metavar="FILE", help="A file, a project folder, an archive, or - for stdin.")],
    format: Annotated[str | None, typer.Option(help="Read it as this format, whatever it looks like.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one object a document and line.")] = False,
) -> None:
    """Show what whycite sees: sections with types, sentences, citations, references."""
    from rich.console import Console

    from whycite.documents import stream
    from whycite.documents.jsonform import as_dict
    from whycite.structure import label

    console = Console(highlight=False, soft_wrap=True)
    for document in stream(path, format):
        labelled = label(document)
        if as_json:
            sys.stdout.write(json.dumps(as_dict(labelled), ensure_ascii=False) + "\n")
        else:
            _show(labelled, console)


def _show(document: Document, console: Console) -> None:
    from rich.text import Text

    citations = [citation for sentence in document.sentences for citation in sentence.citations]
    linked = sum(bool(citation.keys) and all(key in document.by_id for key in citation.keys) for citation in citations)
    console.print(Text(printable(document.paper.title or document.path), style="bold"))
    year = f", {document.paper.year}" if document.paper.year else ""
    console.print(Text(printable(f"{document.path} ({document.format}{year})"), style="dim"))
    console.print(
        f"{len(document.sections)} sections, {len(document.sentences)} sentences, "
        f"{len(citations)} citations ({linked} linked), {len(document.references)} references"
    )
    section, paragraph = -1, -1
    for sentence in document.sentences:
        while section < sentence.section:
            section += 1
            heading = document.sections[section]
            if heading.heading:
                kind = f"  [{heading.type}]" if heading.type else ""
                line = Text("\n" + printable("#" * heading.level + f" {heading.heading}"), style="bold cyan")
                console.print(line.append(kind, style="not bold dim"))
        if sentence.paragraph != paragraph:
            paragraph = sentence.paragraph
            mark = "" if sentence.kind == "prose" else f" ({sentence.kind})"
            console.print(Text(f"\n¶{paragraph + 1}{mark}", style="dim"))
        console.print(_shown(sentence))
    if document.references:
        console.print(Text("\nReferences", style="bold cyan"))
        for reference in document.references:
            authors = reference.authors[0].split(",")[0] if reference.authors else "?"
            authors += " et al." if len(reference.authors) > 1 else ""
            said = f"{authors} ({reference.year or 'no year'}): {reference.title or reference.text or 'no title'}"
            console.print(
                Text(printable(f"  {reference.id}  "), style="green").append(printable(said), style="default")
            )
    for warning in document.warnings:
        console.print(Text(printable(f"warning: {warning}"), style="yellow"))


def _shown(sentence: Sentence) -> Text:
    """The sentence with its citations marked."""
    from rich.text import Text

    text = Text("  " + printable(sentence.text))
    for citation in sentence.citations:
        text.stylize("green" if citation.keys else "red", citation.text_start + 2, citation.text_end + 2)
    return text
