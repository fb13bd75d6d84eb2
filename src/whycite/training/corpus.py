"""What models learn from: articles, what they say when they cite, and what they cite; kept in one packed file."""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whycite.errors import UserError
from whycite.files import replacing

__all__ = ["Article", "Corpus", "Sentence", "View", "digest", "is_packed", "load", "save"]

_FORM = "whycite-corpus-1"
_DATE = re.compile(r"\d{4}(?:-\d\d){0,2}")


@dataclass(frozen=True, slots=True)
class View:
    """A way to say what a citation is for: an entity, a piece of a sentence or a whole one; and what it cites."""

    text: str
    papers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that cites, without its citations; `views` are its evidence spans (ILCiteR, section 5.2)."""

    text: str
    section_type: str | None
    views: tuple[View, ...]

    @property
    def papers(self) -> frozenset[int]:
        """All that it cites."""
        return frozenset(paper for view in self.views for paper in view.papers)


@dataclass(frozen=True, slots=True)
class Article:
    """A document with the sentences that cite; `date` as "2025-10-20", "2025" or ""."""

    key: str
    date: str
    subjects: tuple[str, ...]
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Articles, oldest first, and the title (and abstract, on a second line) of each paper they cite."""

    articles: tuple[Article, ...]
    papers: Mapping[int, str]

    def until(self, date: str) -> Corpus:
        """Without the articles that came out on that day or later, or may have: of some only the year is known."""
        if not _DATE.fullmatch(date):
            raise UserError(f"'{date}' is no date: write it as 2025-09-30, 2025-09 or 2025")
        return self.only(each for each in self.articles if each.date and each.date < date[: len(each.date)])

    def without(self, keys: Iterable[str]) -> Corpus:
        """Without the articles of those keys."""
        gone = frozenset(keys)
        return self.only(article for article in self.articles if article.key not in gone)

    def only(self, articles: Iterable[Article]) -> Corpus:
        """Of its articles these, with the papers that they cite."""
        kept = tuple(articles)
        cited = {paper for article in kept for sentence in article.sentences for paper in sentence.papers}
        return Corpus(kept, {paper: text for paper, text in self.papers.items() if paper in cited})


def save(corpus: Corpus, path: Path) -> None:
    """Write a corpus as lines of JSON, packed by xz."""
    with replacing(path) as new, lzma.open(new, "wb", preset=6) as file:
        file.writelines(_lines(corpus))


def digest(corpus: Corpus) -> str:
    """A few letters that tell one corpus from another."""
    state = hashlib.blake2b(digest_size=8)
    for line in _lines(corpus):
        state.update(line)
    return state.hexdigest()


def is_packed(path: Path) -> bool:
    """Whether a file holds a corpus."""
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            return file.readline(len(_FORM) + 3).strip() == json.dumps(_FORM)
    except (OSError, lzma.LZMAError, EOFError, ValueError):
        return False


def load(path: Path) -> Corpus:
    """The corpus in a packed file."""
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            records = map(json.loads, file)
            if next(records, None) != _FORM:
                raise ValueError("it holds none of this version")
            papers: dict[int, str] = {}
            articles: list[Article] = []
            for record in records:
                if isinstance(record[0], int):
                    papers[record[0]] = record[1]
                else:
                    articles.append(_article(*record))
    except (OSError, lzma.LZMAError, EOFError, ValueError, TypeError, LookupError) as error:
        raise UserError(f"{path} cannot be read as a corpus ({error}): make it with 'whycite train corpus'") from error
    return Corpus(tuple(articles), papers)


def _lines(corpus: Corpus) -> Iterator[bytes]:
    for record in _records(corpus):
        yield (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def _records(corpus: Corpus) -> Iterator[Any]:
    yield _FORM
    yield from corpus.papers.items()
    for article in corpus.articles:
        sentences = [
            # Most views are the sentence itself.
            [each.text, each.section_type, [["" if v.text == each.text else v.text, v.papers] for v in each.views]]
            for each in article.sentences
        ]
        yield [article.key, article.date, article.subjects, sentences]


def _article(key: str, date: str, subjects: list[str], sentences: list[Any]) -> Article:
    return Article(
        key,
        date,
        tuple(subjects),
        tuple(
            Sentence(text, section, tuple(View(view or text, tuple(papers)) for view, papers in views))
            for text, section, views in sentences
        ),
    )
