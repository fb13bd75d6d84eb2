"""A draft checked by hand, and one that tries to break out of every report."""

from dataclasses import replace
from pathlib import Path

import pytest

from whycite import read
from whycite.check.findings import CheckedDraft, Finding, FindingKind, Proposal
from whycite.cite.recommendations import Evidence, Recommendation
from whycite.documents.model import Document, Sentence
from whycite.library import Paper, SourceDocument

DRAFT = """\\documentclass{article}
\\title{On rest}
\\begin{document}
\\section{Introduction}
Honeybees sleep at night, and
they dream. Cats sleep~\\cite{doe}. We say so.

\\section{Methods}
Bees were filmed.\\footnote{Bees hang their antennae.}
\\bibliography{refs}
\\end{document}
"""
HOSTILE = '</script><img src=x onerror="window.broken=1"><!--<script>alert(1)</script>\u2028\'&amp;`${7*7}`'


def check(document: Document, title: str = "Busy bees", key: str = "kaiser1988") -> CheckedDraft:
    paper = Paper("doi:10.1/x", title, ("Kaiser, Walter", "Doe, Jane", "Li, Wei"), 1988, "Journal", "10.1/x")
    span = Evidence(title, 0.9, f"Before {title} after", SourceDocument("k", title, 2020))
    proposals = (
        Proposal(
            Recommendation(1, 2.0, 3, paper, (span,), {"a": 2.0}), key, False, f"@misc{{{key}, title = {{{title}}}}}"
        ),
        Proposal(Recommendation(2, 1.0, 0, Paper("title:t", "", (), None, "", ""), (), {}), "doe", True),
    )
    return CheckedDraft(
        document, tuple(_finding(s, document, proposals) for s in document.sentences), (f"{title}: odd",)
    )


def _finding(sentence: Sentence, document: Document, proposals: tuple[Proposal, ...]) -> Finding:
    text = Path(sentence.file).read_text("utf-8")
    line, end_line = (text.count("\n", 0, at) + 1 for at in (sentence.start, sentence.end))
    column, end_column = (at - text.rfind("\n", 0, at) for at in (sentence.start, sentence.end))
    cites = tuple(key for citation in sentence.citations for key in citation.keys)
    kind: FindingKind = "cited" if cites else "needs-citation" if "ees " in sentence.text else "ok"
    return Finding(
        file=sentence.file,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        start=sentence.start,
        end=sentence.end,
        section=document.sections[sentence.section].heading,
        section_type=document.sections[sentence.section].type,
        text=sentence.text,
        worthiness=0.85 if kind == "needs-citation" else 0.3,
        cites=cites,
        kind=kind,
        threshold=0.5,
        recommendations=proposals if kind == "needs-citation" else (),
    )


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CheckedDraft:
    """The draft above, checked from its own folder."""
    monkeypatch.chdir(tmp_path)
    Path("main.tex").write_text(DRAFT, "utf-8")
    Path("refs.bib").write_text("@misc{doe, title = {Cats}, author = {Doe, Jane}, year = 2001}\n", "utf-8")
    return check(read("main.tex"))


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CheckedDraft:
    """A draft whose title, headings, words, keys, papers, evidence and file name are markup and commands."""
    monkeypatch.chdir(tmp_path)
    path = Path("a,b:c%<img src=x onerror=window.broken=1>.tex")
    path.write_text(DRAFT, "utf-8")
    Path("refs.bib").write_text("@misc{doe, title = {Cats}}\n", "utf-8")
    document = read(path)
    bad = replace(
        document,
        paper=replace(document.paper, title=HOSTILE),
        sections=tuple(replace(section, heading=HOSTILE) for section in document.sections),
        sentences=tuple(
            replace(
                sentence,
                text=sentence.text + HOSTILE,
                citations=tuple(replace(citation, keys=(HOSTILE,)) for citation in sentence.citations),
            )
            for sentence in document.sentences
        ),
        references=tuple(replace(reference, id=HOSTILE, title=HOSTILE) for reference in document.references),
    )
    return check(bad, HOSTILE, f"k{HOSTILE}")
