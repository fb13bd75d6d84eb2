"""Fetch the full texts of papers into a folder: those that are not there yet, each from the best place that has it.

Nothing is kept beside the files: a paper is there if a file of its name is, so that a fetch can be stopped and killed
at any moment. Files appear whole or not at all.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from whycite.documents.identity import (
    normalise_arxiv,
    normalise_doi,
    normalise_pmcid,
    normalise_pmid,
    paper_key,
)
from whycite.documents.model import Publication, Reference
from whycite.documents.reading import read
from whycite.documents.references.reader import BIBLIOGRAPHY_FORMATS
from whycite.errors import UserError
from whycite.library import Library
from whycite.references.client import ServiceFailure
from whycite.sources.items import SourceItem
from whycite.sources.openaccess import FullTextSearch, OpenAccess, has_identifier
from whycite.verify.fulltexts import match_references, texts_in_library

__all__ = [
    "FetchedPaper",
    "can_be_asked_for",
    "cited_references",
    "fetch_papers",
    "identified_references",
    "papers_at_hand",
    "source_items",
]

_SUFFIXES = (".xml", ".tei.xml", ".tar.gz", ".tex.gz", ".pdf")
_UNSAFE = re.compile(r"[^a-z0-9.-]+")
_MAX_NAME = 100  # characters
_NOTHING = "not open access, or not known to the services that were asked"


@dataclass(frozen=True, slots=True)
class FetchedPaper:
    """A paper that was wanted, its file, and where it came from, or why there is none."""

    reference: Reference
    file: str = ""
    source: str = ""  # "" if it was there before
    format: str = ""
    reason: str = ""

    @property
    def status(self) -> str:
        """`fetched`, `there` or `missing`."""
        return "fetched" if self.source else "there" if self.file else "missing"


def identified_references(texts: Sequence[str]) -> list[Reference]:
    """References for DOIs, arXiv ids, PubMed ids ("pmid:123") and PMC ids; none if no text is one of them."""
    references = {text: _identified(text.strip()) for text in texts}
    strange = next((text for text, reference in references.items() if reference is None), None)
    if strange is not None and (any(references.values()) or strange.lower().startswith(("10.", "doi:", "https://"))):
        raise UserError(f"{strange}: not a DOI, an arXiv id, a PMC id or a PubMed id (pmid:123)")
    by_paper: dict[Reference, Reference] = {}
    for reference in filter(None, references.values()):
        by_paper.setdefault(replace(reference, id=""), reference)
    return list(by_paper.values())


def _identified(text: str) -> Reference | None:
    if len(text.split()) != 1:
        return None  # words of a topic
    if doi := normalise_doi(text):
        return Reference(text, doi=doi, arxiv=normalise_arxiv(doi))
    if text.lower().startswith("pmc") and (pmcid := normalise_pmcid(text)):
        return Reference(text, publication=Publication(pmcid=pmcid))
    if text.lower().startswith("pmid") and (pmid := normalise_pmid(text)):
        return Reference(text, pmid=pmid)
    if arxiv := normalise_arxiv(text):
        return Reference(text, arxiv=arxiv)
    return None


def cited_references(path: str | Path) -> list[Reference]:
    """The entries of a bibliography file, or the references that a draft cites."""
    document = read(path)
    cited = {key for sentence in document.sentences for key in sentence.cited_keys}
    everything = document.format in BIBLIOGRAPHY_FORMATS
    references = [reference for reference in document.references if everything or reference.id in cited]
    if not references:
        raise UserError(f"{path}: " + ("has no entries" if everything else "cites nothing that its bibliography has"))
    return references


def papers_at_hand(references: Sequence[Reference], folder: Path, library: Library | None) -> list[FetchedPaper | None]:
    """The papers whose full text is in the folder or the library; None for those that have to be fetched."""
    full_texts = [text for text in texts_in_library(library) if not text.problem] if library else []
    matches = match_references(references, full_texts)
    at_hand: list[FetchedPaper | None] = []
    for reference, match in zip(references, matches, strict=True):
        file = _existing_file(reference, folder)
        path = str(file) if file else match.file if match else ""
        at_hand.append(FetchedPaper(reference, path) if path else None)
    return at_hand


def can_be_asked_for(reference: Reference) -> bool:
    """Whether there is anything to send."""
    return has_identifier(reference) or bool(reference.title)


def fetch_papers(references: Sequence[Reference], folder: Path, open_access: OpenAccess) -> Iterator[FetchedPaper]:
    """Fetch the papers that have no file yet, one by one."""
    for reference in references:
        yield _fetch(reference, folder, open_access)


def _fetch(reference: Reference, folder: Path, open_access: OpenAccess) -> FetchedPaper:
    if not can_be_asked_for(reference):
        return FetchedPaper(reference, reason="has neither an identifier nor a title")
    name = _file_name(reference)
    if file := _existing_file(reference, folder):
        return FetchedPaper(reference, str(file))  # the same paper under another key
    search = FullTextSearch(reference, [])
    for offer in open_access.offers(search):
        arrived = folder / f".{name}{offer.suffix}"  # hidden until it is known to be readable
        try:
            if offer.download(arrived):
                if readable := _readable_file(arrived):
                    file = readable.replace(folder / readable.name.removeprefix("."))
                    return FetchedPaper(search.reference, str(file), offer.source, offer.format)
                search.failures.append(f"{offer.source} has a {offer.format} file without readable text")
        except ServiceFailure as failure:
            search.failures.append(f"{offer.source} {failure}")
    return FetchedPaper(search.reference, reason="; ".join(dict.fromkeys(search.failures)) or _NOTHING)


def _readable_file(file: Path) -> Path | None:
    """The file under a name that fits its content; None, and no file, if it has no text."""
    try:
        if file.name.endswith(".tar.gz") and not tarfile.is_tarfile(file):  # one LaTeX file alone
            file = file.replace(file.with_name(f"{file.name.removesuffix('.tar.gz')}.tex.gz"))
        if read(file).sentences:
            return file
    except UserError:
        pass  # reported as a file without readable text
    file.unlink(missing_ok=True)
    return None


def _file_name(reference: Reference) -> str:
    """The name of a paper's file without its suffix, always the same for one reference."""
    pmcid = reference.publication.pmcid
    key = paper_key(replace(reference, year=None)) or pmcid.lower()
    name = _UNSAFE.sub("_", key.lower()).strip("_")
    if len(name) > _MAX_NAME or _UNSAFE.search(key.replace(":", "-", 1).replace("/", "-")):
        digest = blake2b(key.encode(), digest_size=4).hexdigest()
        return f"{name[:_MAX_NAME]}-{digest}"
    return name


def _existing_file(reference: Reference, folder: Path) -> Path | None:
    name = _file_name(reference)
    files = (folder / f"{name}{suffix}" for suffix in _SUFFIXES)
    return next((file for file in files if file.is_file()), None) if name else None


def source_items(papers: Sequence[FetchedPaper], folder: Path) -> list[SourceItem]:
    """The papers that have a file in the folder, to be added to a library."""
    root = folder.resolve()
    files = [(paper.reference, Path(paper.file).resolve()) for paper in papers if paper.file]
    return [SourceItem(str(file), reference, files=(file,)) for reference, file in files if file.parent == root]
