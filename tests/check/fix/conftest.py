"""Drafts written by the tests, checked by hand: the sentences with certain words need a citation."""

from collections.abc import Callable
from pathlib import Path

import pytest

from whycite import read
from whycite.check.findings import CheckedDraft, Finding, Proposal
from whycite.cite.recommendations import Recommendation
from whycite.documents.model import Document, Sentence
from whycite.library import Paper

Needs = Callable[[Sentence], bool]
Check = Callable[..., CheckedDraft]

TITLE = "Sleep of bees"
ENTRY = """@article{{{key},
  title = {{{title}}},
  author = {{{author}}},
  year = {{1988}},
  journal = {{Journal of Rest}},
}}
"""


def proposal(key: str, known: bool, title: str, author: str) -> Proposal:
    paper = Paper(f"title:{title}", title, tuple(author.split(" and ")), 1988, "Journal of Rest", "")
    entry = "" if known else ENTRY.format(key=key, title=title, author=author)
    return Proposal(Recommendation(1, 1.0, 2, paper, (), {}), key, known, entry)


def finding(sentence: Sentence, document: Document, *proposals: Proposal) -> Finding:
    cites = tuple(key for citation in sentence.citations for key in citation.keys)
    return Finding(
        file=sentence.file,
        line=1,
        column=1,
        end_line=1,
        end_column=1,
        start=sentence.start,
        end=sentence.end,
        section=document.sections[sentence.section].heading,
        section_type=document.sections[sentence.section].type,
        text=sentence.text,
        worthiness=0.9 if proposals else 0.1,
        cites=cites,
        kind="needs-citation" if proposals else "cited" if cites else "ok",
        threshold=0.5,
        recommendations=proposals,
    )


@pytest.fixture(scope="session")
def check() -> Check:
    def checked(
        path: Path,
        needs: Needs = lambda sentence: "bees" in sentence.text,
        key: str = "kaiser1988",
        known: bool = False,
        title: str = TITLE,
        author: str = "Kaiser, Walter",
    ) -> CheckedDraft:
        document = read(path)
        one = proposal(key, known, title, author)
        found = (finding(s, document, *([one] if needs(s) else [])) for s in document.sentences)
        return CheckedDraft(document, tuple(found))

    return checked
