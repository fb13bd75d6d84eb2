"""Documents and libraries as a corpus."""

from pathlib import Path

import pytest

from whycite.lab.train.corpus import Corpus, corpus_of, from_files
from whycite.library import add

BEES = """---
title: How bees rest and find their way home
year: 2023
references:
- {id: kaiser, title: "Busy bees need rest, too", issued: 1988}
- {id: frisch, title: "The dance language and orientation of bees", issued: 1967}
---
Honeybees that forage sleep at night [@kaiser]. Bees dance [@frisch], and they rest [@kaiser; @frisch].
Nobody cites anything here.
"""
ANTS = """---
title: Ants are no bees, and what follows from that
year: 2019
references:
- {id: k, title: "Busy bees need rest, too", issued: 1988}
---
Busy insects sleep [@k].
"""


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "bees.md").write_text(BEES, encoding="utf-8")
    (folder / "ants.md").write_text(ANTS, encoding="utf-8")
    return folder


def _told(corpus: Corpus) -> list[object]:
    """All that a corpus says, without the numbers that stand for papers."""
    return [
        (
            article.date,
            each.text,
            sorted((view.text, sorted(corpus.papers[paper] for paper in view.papers)) for view in each.views),
        )
        for article in corpus.articles
        for each in sorted(article.sentences, key=lambda each: each.text)
    ]


def test_what_documents_say_when_they_cite(papers: Path) -> None:
    corpus = corpus_of([papers])
    assert [article.date for article in corpus.articles] == ["2019", "2023"]  # oldest first
    assert {text.partition("\n")[0] for text in corpus.papers.values()} == {
        "Busy bees need rest, too",
        "The dance language and orientation of bees",
    }
    ants, bees = corpus.articles
    assert [each.text for each in ants.sentences] == ["Busy insects sleep"]
    assert len(bees.sentences) == 2
    shared = ants.sentences[0].papers
    assert shared < bees.sentences[1].papers  # the same paper in both articles


def test_a_library_says_the_same(papers: Path, tmp_path: Path) -> None:
    add(tmp_path / "library", [papers], jobs=1)
    assert _told(corpus_of([tmp_path / "library"])) == _told(from_files([papers]))


def test_until_a_day(papers: Path) -> None:
    corpus = from_files([papers])
    older = corpus.until("2020")
    assert [article.date for article in older.articles] == ["2019"]
    assert list(older.papers.values()) == ["Busy bees need rest, too"]
    assert corpus.without([corpus.articles[0].key]).articles == corpus.articles[1:]
