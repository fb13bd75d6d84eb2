"""A detector and an encoder that go by words, small drafts, and a draft that tries to break out of every report."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.drafts import BIB, TEX, check_bees
from tests.fakes import FakeDetector, FakeEncoder, tiny_detector, word_detector, word_encoder
from whycite import read
from whycite.check.findings import CheckedDraft

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


@pytest.fixture
def detector() -> FakeDetector:
    """Takes sentences that say "known" for worthy."""
    return word_detector()


@pytest.fixture
def encoder() -> FakeEncoder:
    return word_encoder()


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    """A LaTeX draft with a bibliography of three entries, one of them cited."""
    (tmp_path / "draft").mkdir()
    (tmp_path / "draft" / "refs.bib").write_text(BIB, "utf-8")
    (tmp_path / "draft" / "main.tex").write_text(TEX, "utf-8")
    return tmp_path / "draft" / "main.tex"


@pytest.fixture(autouse=True)
def _no_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WHYCITE_LIBRARY", str(tmp_path / "no library"))
    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a detector with random weights, which reads 64 tokens at most."""
    return tiny_detector(tmp_path_factory.mktemp("detector") / "tiny")


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CheckedDraft:
    """The draft above, checked from its own folder."""
    monkeypatch.chdir(tmp_path)
    Path("main.tex").write_text(DRAFT, "utf-8")
    Path("refs.bib").write_text("@misc{doe, title = {Cats}, author = {Doe, Jane}, year = 2001}\n", "utf-8")
    return check_bees(read("main.tex"))


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
    return check_bees(bad, HOSTILE, f"k{HOSTILE}")
