"""Small drafts and documents, written and checked by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from whycite import read
from whycite.check.findings import CheckedDraft, Finding, FindingKind, Proposal
from whycite.cite.recommendations import Evidence, Recommendation
from whycite.documents.model import Citation, Document, Reference, Section, Sentence
from whycite.library import Paper, SourceDocument
from whycite.verify.drafts import CitationVerdict
from whycite.verify.report import DraftReport, draft_report
from whycite.verify.verification import Passage, Verdict, Verification

_CITATION = re.compile(r"\[@([^\]]+)\]")

BIB = """\
@article{Kaiser1988,
  author = {Kaiser, Walter}, title = {Busy bees need rest, too}, year = {1988}, journal = {Physiology},
}
@article{Vaswani2017,
  author = {Vaswani, Ashish and Shazeer, Noam}, title = {Attention Is All You Need}, year = {2017},
}
@article{Doe2019,
  author = {Doe, Jane}, title = {Granite in the walls of old bridges}, year = {2019},
}
"""
TEX = r"""\documentclass{article}
\title{How bees rest}
\begin{document}
\section{Introduction}
It is known that bees rest at night. Bees fly by day.
Networks made of attention layers represent text~\cite{Vaswani2017}.
It is known that old bridges are made of granite.

\section{Conclusion}
It is known that this is enough.
\bibliographystyle{plain}
\bibliography{refs}
\end{document}
"""

# The detector that ships, not only that of tests, finds three sentences that need a citation.
STUDIES_TEX = TEX.replace("It is known", "Many studies have shown")


def citing_document(
    path: str,
    *sentences: str,
    references: Sequence[Reference] = (),
    title: str = "",
    warnings: Sequence[str] = (),
    **paper: Any,
) -> Document:
    """A document of sentences in which "[@a,b]" cites two references."""
    return Document(
        path,
        "plain",
        Reference("self", title=title, **paper),
        (Section("Introduction", 1, "introduction"),),
        tuple(_sentence(text, number) for number, text in enumerate(sentences)),
        tuple(references),
        tuple(warnings),
    )


def numbered_document(number: int, **fields: Any) -> Document:
    """A paper of its own that cites two works, one of them cited by its neighbours too.

    No name stands in front of a citation, so that nothing has to be parsed.
    """
    works = [
        Reference(
            f"r{work}",
            title=f"Observations number {work} of the growth of cells in ponds",
            authors=(f"Author{work}, A.",),
            year=2000 + work % 20,
            doi=f"10.1234/work.{work}",
        )
        for work in (number, number + 1)
    ]
    facts: dict[str, Any] = {"title": f"Report number {number} about growth of cells in cold ponds", "year": 2020}
    return citing_document(
        f"paper{number}.md",
        f"Cells of kind {number} grow in the “ponds” [@r{number}].",
        f"Cells grow in “water” [@r{number},r{number + 1}].",
        references=works,
        doi=f"10.5555/paper.{number}",
        **{**facts, **fields},
    )


def _sentence(text: str, paragraph: int) -> Sentence:
    clean, end = "", 0
    citations: list[Citation] = []
    for marker in _CITATION.finditer(text):
        clean += text[end : marker.start()]
        start = len(clean)
        clean += f"[{len(citations) + 1}]"
        citations.append(Citation(tuple(marker[1].split(",")), marker.start(), marker.end(), start, len(clean)))
        end = marker.end()
    return Sentence(clean + text[end:], 0, paragraph, "paper.md", 0, len(text), tuple(citations))


ENTRY = """@article{{{key},
  title = {{{title}}},
  author = {{{author}}},
  year = {{1988}},
  journal = {{Journal of Rest}},
}}
"""


def check_by_words(
    path: Path,
    needs: Callable[[Sentence], bool] = lambda sentence: "bees" in sentence.text,
    key: str = "kaiser1988",
    known: bool = False,
    title: str = "Sleep of bees",
    author: str = "Kaiser, Walter",
    address: str = "",
) -> CheckedDraft:
    """A draft whose sentences with certain words need a citation of one paper."""
    document = read(path)
    paper = Paper(f"title:{title}", title, tuple(author.split(" and ")), 1988, "Journal of Rest", "", address=address)
    entry = "" if known else ENTRY.format(key=key, title=title, author=author)
    proposal = Proposal(Recommendation(1, 1.0, 2, paper, (), {}), key, known, entry)
    findings = (make_finding(s, document, (proposal,) if needs(s) else ()) for s in document.sentences)
    return CheckedDraft(document, tuple(findings))


def make_finding(sentence: Sentence, document: Document, proposals: tuple[Proposal, ...]) -> Finding:
    """What `check` says of a sentence that needs a citation if there are proposals."""
    path = Path(sentence.file)
    text = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
    line, end_line = (text.count("\n", 0, offset) + 1 for offset in (sentence.start, sentence.end))
    column, end_column = (offset - text.rfind("\n", 0, offset) for offset in (sentence.start, sentence.end))
    cites = tuple(key for citation in sentence.citations for key in citation.keys)
    kind: FindingKind = "needs-citation" if proposals else "cited" if cites else "ok"
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
        worthiness=0.85 if proposals else 0.3,
        cites=cites,
        kind=kind,
        threshold=0.5,
        recommendations=proposals,
    )


def check_bees(document: Document, title: str = "Busy bees", key: str = "kaiser1988") -> CheckedDraft:
    """A draft whose uncited sentences about bees need a citation of one of two papers."""
    paper = Paper("doi:10.1/x", title, ("Kaiser, Walter", "Doe, Jane", "Li, Wei"), 1988, "Journal", "10.1/x")
    span = Evidence(title, 0.9, f"Before {title} after", SourceDocument("k", title, 2020))
    entry = f"@misc{{{key}, title = {{{title}}}}}"
    proposals = (
        Proposal(Recommendation(1, 2.0, 3, paper, (span,), {"a": 2.0}), key, False, entry),
        Proposal(Recommendation(2, 1.0, 0, Paper("title:t", "", (), None, "", ""), (), {}), "doe", True),
    )
    findings = (
        make_finding(sentence, document, proposals if "ees " in sentence.text and not sentence.citations else ())
        for sentence in document.sentences
    )
    return CheckedDraft(document, tuple(findings), (f"{title}: odd",))


TEXTS = (
    "We study how bees rest.",
    "Foragers sleep at night.",
    "Hives were filmed for 12 nights.",
    "Foragers slept 7.7 hours a night.",
    "Their antennae hung down.",
    "Foragers need sleep, as others said.",
)
SCORES = (0.1, 0.62, 0.05, 0.93, 0.3, 0.81)
SECTIONS = (Section("Introduction", 1), Section("Methods", 1), Section("Filming", 2), Section("Results", 1))
PLACES = ((0, 0), (0, 0), (2, 1), (3, 2), (3, 2), (3, 3))  # section and paragraph of each sentence


def _heat_document(texts: tuple[str, ...], title: str, path: str, headings: tuple[str, ...]) -> Document:
    usual = len(texts) == len(PLACES)
    places = PLACES if usual else tuple((number // 40, number // 5) for number in range(len(texts)))
    sections = SECTIONS if usual else tuple(Section(f"Part {number + 1}", 1) for number in range(len(texts) // 40 + 1))
    if headings:
        sections = tuple(replace(section, heading=heading) for section, heading in zip(sections, headings, strict=True))
    sentences = tuple(
        Sentence(text, section, paragraph, path, 0, len(text))
        for text, (section, paragraph) in zip(texts, places, strict=True)
    )
    return Document(path, "markdown", Reference("", title=title, year=2023), sections, sentences)


def verified_document(
    texts: tuple[str, ...] = TEXTS,
    scores: tuple[float, ...] = SCORES,
    title: str = "How bees rest",
    path: str = "papers/bees.md",
    claim: str = "Bees sleep 77 hours.",
    headings: tuple[str, ...] = (),
    note: str = "77 in the claim, 7.7 here",
) -> tuple[Document, Verification]:
    """A document and its verification: the best passage has other numbers, the second repeats the claim."""
    document = _heat_document(texts, title, path, headings)
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    passages = tuple(
        Passage(
            rank,
            index,
            scores[index],
            document.sentences[index].text,
            document.sections[document.sentences[index].section].heading,
            quotes=rank == 2,
            numbers=note if rank == 1 else "",
        )
        for rank, index in enumerate(order, 1)
    )
    return document, Verification(claim, "contradicted", 0.87, passages, "The best passage has another number.")


def make_verdict(
    verdict: Verdict,
    confidence: float = 0.0,
    claim: str = "Bees sleep at night.",
    reference: Reference | None = None,
    passages: tuple[Passage, ...] = (),
    reason: str = "because",
    **fields: Any,
) -> CitationVerdict:
    """A citation on line 3 of a draft, and the verdict on it."""
    reference = reference or Reference("kaiser", "Busy bees need rest, too", ("Kaiser, Walter",), 1988)
    verification = Verification(claim, verdict, confidence, passages, reason)
    usual: dict[str, Any] = {"section": "Sleep", "file": "paper/parts/a.tex", "line": 3}
    about: dict[str, Any] = {"claim": claim, "reference": reference, "verification": verification, "paper": ""}
    return CitationVerdict(sentence=0, start=0, end=1, **about, **{**usual, **fields})


def reviewed_draft(text: str = "") -> DraftReport:
    """A report with every verdict, a note, two missing papers and two other reasons; `text` is added to every text."""
    deciding = Passage(
        4, 7, 0.4, f"Foragers never sleep.{text}", f"Results{text}", stance="contradicts", decides=True, page=5
    )
    nearest = Passage(1, 2, 0.9, f"Do foragers sleep?{text}", f"Introduction{text}", role="hypothesis")
    others = Passage(2, 3, 0.8, f"Foragers sleep (Winer, 2019).{text}", f"Introduction{text}", role="others")
    roe = Reference(f"roe{text}", f"Ants in the dry season{text}", (f"Roe, R.{text}",), 2001, doi=f"10.1000/ants{text}")
    poe = Reference("poe", text=f"Poe, A. Ravens.{text}")
    missing: dict[str, Any] = {"missing": True, "reason": "the full text of the paper was not found"}
    verdicts = [
        make_verdict("backed", 0.9, f"Bees rest.{text}", passages=(others,)),
        make_verdict("backed", 0.6, f"Bees dream.{text}", passages=(others,)),
        make_verdict("could not check", claim=f"Ants sleep.{text}", reference=roe, **missing),
        make_verdict("could not check", claim=f"Ravens sleep.{text}", reference=poe, **missing),
        make_verdict(
            "could not check", claim="Ants wake.", reference=roe, notes=(f"the year differs{text}",), **missing
        ),
        make_verdict("not found", 0.7, f"Bees snore.{text}", passages=(nearest,), reason=f"nobody says so{text}"),
        make_verdict("secondary", 0.8, f"Bees nap.{text}", passages=(others, nearest)),
        make_verdict("contradicted", 0.7, f"Bees sleep.{text}", passages=(nearest, others, deciding)),
        make_verdict("contradicted", 0.8, f"Bees doze.{text}", passages=(nearest, others, deciding)),
        make_verdict("could not check", claim=f"See a book.{text}", reason=f"it is no claim{text}"),
        make_verdict("could not check", claim=f"See a page.{text}", reason=f"it is no claim{text}"),
        make_verdict("could not check", claim=f"Wasps sleep.{text}", reason="the bibliography has no entry 'x'"),
    ]
    return draft_report(Document("paper/main.tex", "latex", Reference("", title=f"How bees rest{text}")), verdicts)


def disputed_draft() -> DraftReport:
    """A report on a claim that one passage of the paper supports and another contradicts, with a third between."""
    passages = (
        Passage(1, 0, 0.9, "Bees sleep.", "Results", stance="supports", decides=True),
        Passage(2, 1, 0.8, "Bees were filmed.", "Methods", role="method"),
        Passage(3, 2, 0.7, "Bees never sleep.", "Discussion", stance="contradicts", decides=True),
    )
    verdict = make_verdict("not found", 0.6, passages=passages)
    return draft_report(Document("paper/main.tex", "latex", Reference("")), [verdict])
