"""The entry behind a key: what a hover shows, and where it is defined."""

from __future__ import annotations

import re
from pathlib import Path

from whycite.check.fix.edits import DraftProject, text_of
from whycite.check.reporting.messages import byline
from whycite.documents.model import Reference
from whycite.errors import UserError
from whycite.library.records import Paper
from whycite.lsp.workbench import DraftCheck, Workbench
from whycite.service.drafts import buffer_bytes
from whycite.verify.draftclaims import DraftCitation, citations
from whycite.verify.verification import certainty

__all__ = ["definition_place", "describe_reference", "reference_line", "verified_citations"]

_MAX_ABSTRACT = 600  # characters
_MAX_SENTENCES = 3
_FORMATS = (".bib", ".bibtex", ".biblatex", ".bbl", ".json", ".csljson", ".yml", ".yaml", ".ris", ".tex", ".md", ".qmd")


def reference_line(reference: Reference) -> str:
    """ "Doe et al. (2010), Journal of Things"."""
    return byline(Paper("", reference.title, reference.authors, reference.year, reference.venue, reference.doi))


def describe_reference(bench: Workbench, check: DraftCheck, key: str, claim_place: int) -> str | None:
    """Title, authors, how draft and library cite it, abstract and verdict as Markdown; None for an unknown key.

    `claim_place` is the offset of the citation whose verdict is shown.
    """
    reference = check.document.by_id.get(key)
    if reference is None:
        return None
    title = " ".join((reference.title or reference.text or key).split())
    doi = f"[doi:{reference.doi}](https://doi.org/{reference.doi})" if reference.doi else ""
    parts = [f"**{_escaped(title)}**", "  \n".join(filter(None, (_escaped(reference_line(reference)), doi)))]
    citing = [sentence for sentence in check.document.sentences if key in sentence.cited_keys]
    times = "once" if len(citing) == 1 else f"{len(citing)} times"
    quotes = "".join(f"\n- {_escaped(sentence.text)}" for sentence in citing[:_MAX_SENTENCES])
    parts.append(f"Cited {times} in this draft:\n{quotes}" if citing else "Not cited in this draft.")
    if known := bench.library_citations(check.main, reference, _MAX_SENTENCES):
        times = "once" if known.places == 1 else f"{known.places} times"
        quotes = "".join(
            f"\n- {_escaped(text)} ({_escaped(source.title)}{f', {source.year}' if source.year else ''})"
            for text, source in known.sentences
        )
        by = "one article" if known.documents == 1 else f"{known.documents} articles"
        parts.append(f"Cited {times} by {by} of your library:\n{quotes}")
    if reference.abstract:
        abstract = " ".join(reference.abstract.split())
        cut = abstract if len(abstract) <= _MAX_ABSTRACT else f"{abstract[:_MAX_ABSTRACT].rsplit(' ', 1)[0]} …"
        parts.append(_escaped(cut))
    for citation in verified_citations(bench, check, key, claim_place):
        if verdict := bench.verdict_on(citation):
            verification = verdict.verification
            sure = f", {certainty(verification)}" if verification.confidence else ""
            passages = verification.deciding_first()[:1]
            quote = "".join(f"\n\n> {_escaped(passage.text)}" for passage in passages)
            parts.append(f"**{verification.verdict}**{sure}: {_escaped(verification.reason)}{quote}")
    return "\n\n".join(part for part in parts if part)


def verified_citations(bench: Workbench, check: DraftCheck, key: str, start: int) -> list[DraftCitation]:
    """The citation of a key at an offset, if it was verified."""
    return [
        citation
        for citation in (citations(check.document) if bench.verdicts else ())
        if citation.start == start and citation.reference.id == key and bench.verdict_on(citation)
    ]


def definition_place(check: DraftCheck, key: str) -> tuple[Path, str, int] | None:
    """The file that has the entry of a key, its text, and the offset of the entry."""
    try:
        project = DraftProject(check.document, unsaved=buffer_bytes(check.buffers))
        project.read()
    except UserError:  # in an archive, or gone
        return None
    name = re.escape(key)
    entry = re.compile(
        rf"@\s*\w+\s*[{{(]\s*({name})\s*,|\\bibitem\s*(?:\[[^\]]*\])?\s*\{{\s*({name})\s*\}}"
        rf"|^\s*-?\s*\"?id\"?\s*:\s*\"?({name})\"?\s*,?\s*$|^ID\s+-\s+({name})\s*$|^({name}):\s*$",
        re.MULTILINE,
    )
    for file in sorted(project.contents, key=_rank):
        text = text_of(project.contents[file])
        if file.lower().endswith(_FORMATS) and (match := entry.search(text)):
            return Path(project.label(file)), text, match.start(match.lastindex or 0)
    return None


def _rank(name: str) -> int:
    """Files that are bibliographies come first."""
    return next((rank for rank, suffix in enumerate(_FORMATS) if name.lower().endswith(suffix)), len(_FORMATS))


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", text)
