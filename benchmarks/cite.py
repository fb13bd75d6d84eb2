"""How fast does a library answer as it grows? Run: python benchmarks/cite.py [SPANS ...].

The first 60,000 spans or so are those of 600 eLife articles. What is more comes from altered copies of these articles:
half the words of each text give way to words of another, and most references are to papers of their own. 60,000
vectors are the encoder's, the others are these with noise: a million texts would take it half an hour.
"""

import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from whycite.cite.recommendations import Claim, load_method
from whycite.documents import Document, Reference, stream
from whycite.evidence import EvidenceSpan, extract_many
from whycite.evidence.words import trim_sentence
from whycite.library import Library, adding
from whycite.library.tables import identifier
from whycite.library.writer import citation_rows, search_text
from whycite.models import load_encoder

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SIZES = (10_000, 100_000, 1_000_000)
ARTICLES, ENCODED, CLAIMS = 600, 60_000, 200
KEPT = Path(tempfile.gettempdir()) / "whycite-benchmark-vectors.npz"
NOISE = 0.35  # its length; that of a vector is 1
FOUND = 100  # spans that a search is asked for
Article = tuple[Document, list[EvidenceSpan]]
T = TypeVar("T")


class Vectors:
    """Stands in for the encoder while a library is filled."""

    def __init__(self, articles: Sequence[Article]) -> None:
        encoder = load_encoder()
        self.name, self.dimensions = encoder.name, encoder.dimensions
        self.origins: dict[str, str] = {}  # of altered texts
        texts = list(islice(dict.fromkeys(_texts(articles)), ENCODED))
        self._at = {text: at for at, text in enumerate(texts)}
        kept = dict(np.load(KEPT)) if KEPT.exists() else {}
        held = f"{self.name} {identifier(' '.join(texts))}"
        if held not in kept:
            kept = {held: encoder.encode(texts)}
            np.savez(KEPT, allow_pickle=False, **kept)
        self._vectors: NDArray[np.float32] = kept[held]

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """A vector a text, always the same."""
        found = np.empty((len(texts), self.dimensions), np.float32)
        for place, text in enumerate(texts):
            origin = self.origins.get(text, text)
            found[place] = self._vectors[self._at.get(origin, identifier(origin) % len(self._vectors))]
            if origin != text or origin not in self._at:
                noise = np.random.default_rng(identifier(text)).standard_normal(self.dimensions, np.float32)
                found[place] += noise * (NOISE / np.linalg.norm(noise))
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


class Altered:
    """Copies of articles that say and cite something else."""

    def __init__(self, articles: Sequence[Article], origins: dict[str, str]) -> None:
        self._articles, self._origins = articles, origins
        self._texts = [span.text for _, spans in articles for span in spans]

    def copies(self) -> Iterator[Article]:
        """One copy of every article, then another one of every article, without end."""
        for number in count(1):
            self._origins.clear()
            for document, spans in self._articles:
                yield self._document(document, number), [self._span(span, number) for span in spans]

    def _document(self, document: Document, number: int) -> Document:
        references = tuple(
            self._reference(each, number) if identifier(each.title) % 10 < 7 else each for each in document.references
        )
        paper = self._reference(document.paper, number)
        return replace(document, path=f"{document.path} {number}", paper=paper, references=references)

    def _reference(self, reference: Reference, number: int) -> Reference:
        # Not the old one with something behind it: that is how publishers mark versions of one paper.
        doi = f"10.5555/{identifier(f'{number} {reference.doi}')}" if reference.doi else ""
        return replace(reference, title=self._text(reference.title, number), doi=doi, pmid="")

    def _span(self, span: EvidenceSpan, number: int) -> EvidenceSpan:
        context = self._text(trim_sentence(span.context) or span.text, number)  # where both are one text they stay one
        return replace(span, text=self._text(span.text, number), context=context)

    def _text(self, text: str, number: int) -> str:
        chance = random.Random(f"{number} {text}")
        words, other = text.split(), chance.choice(self._texts).split()
        half = len(words) // 2
        new = " ".join([*words[:half], *other[half : len(words)]] if number % 2 else [*other[:half], *words[half:]])
        self._origins[new] = text
        return new


class Source:
    """Articles with their spans, the real ones first."""

    def __init__(self, articles: Sequence[Article], vectors: Vectors) -> None:
        self._left = chain(articles, Altered(articles, vectors.origins).copies())
        self._seen: set[int] = set()
        self._spans: dict[str, list[EvidenceSpan]] = {}

    def until(self, size: int) -> Iterator[Document]:
        """The next articles, until there were so many spans in all."""
        while len(self._seen) < size:
            document, spans = next(self._left)
            self._seen.update(map(identifier, citation_rows(document, document.path, spans).texts))
            self._spans[document.path] = spans
            yield document

    def extracted(self, documents: Iterator[Document], jobs: int) -> Iterator[Article]:
        """In place of extraction."""
        return ((document, self._spans.pop(document.path)) for document in documents)


def read(articles: int) -> tuple[list[Article], list[str]]:
    """The first articles of the pack with their spans, and sentences of its last ones that cite."""
    files = sorted((DATA / "elife").glob("elife-[0-9]*.jsonl.zst"))
    documents = islice(chain.from_iterable(map(stream, files)), articles)
    # Paths tell articles of one file apart only by what follows: altered copies need their own.
    first = [
        (replace(document, path=f"{document.path} {at}"), spans)
        for at, (document, spans) in enumerate(extract_many(documents, os.cpu_count() or 1))
    ]
    last = extract_many(islice(stream(files[-1]), CLAIMS // 10), 1)
    claims = [[span.text for span in spans if span.kind == "sentence"][:10] for _, spans in last]
    return first, list(chain.from_iterable(claims))


def fill(path: Path, source: Source, vectors: Vectors, size: int) -> float:
    """Seconds to fill a library up to so many spans, without reading, extracting and encoding."""
    with mock.patch.object(adding, "extract_many", source.extracted):
        report = adding.add_documents(path, source.until(size), jobs=1, encoder=vectors)
    return report.seconds - sum(report.stages[name] for name in ("read", "evidence", "encode"))


def ask(path: Path, claims: Sequence[str]) -> dict[str, float]:
    """What a library takes in a process of its own."""
    opening, library = _timed(Library.open, path)
    encoder = load_encoder()
    answers = load_method("whycite", library, encoder)
    first, _ = _timed(answers.recommend, Claim(claims[0]))
    vectors = encoder.encode(claims)
    found = [_timed(library.search_spans, *asked, FOUND)[0] for asked in zip(claims, vectors, strict=True)]
    whole = [_timed(answers.recommend, Claim(claim))[0] for claim in claims]
    resident, info = _resident(), library.info()
    return {
        "papers": info.papers,
        "citations": info.citations,
        "disk, MB": info.bytes / 1e6,
        "open, ms": opening * 1e3,
        "first answer, ms": first * 1e3,
        **_quantiles("retrieval", found),
        **_quantiles("whole answer", whole),
        "resident, MiB": resident,
    }


def ask_rank_bm25(texts: Sequence[str], claims: Sequence[str]) -> dict[str, float]:
    """What rank_bm25 takes for the same spans."""
    from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

    index = BM25Okapi([text.lower().split() for text in texts])
    few = claims[: max(5, 2_000_000 // len(texts))]

    def search(claim: str) -> NDArray[np.int64]:
        return np.argsort(index.get_scores(claim.lower().split()))[: -FOUND - 1 : -1]

    found = [_timed(search, claim)[0] for claim in few]
    return {**_quantiles("rank_bm25", found), "rank_bm25, resident, MiB": _resident()}


def ask_bm25s(texts: Sequence[str], claims: Sequence[str]) -> dict[str, float]:
    """What bm25s takes for the same spans."""
    import bm25s

    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    def search(claim: str) -> Any:
        words = bm25s.tokenize([claim], stopwords="en", show_progress=False)
        return index.retrieve(words, k=FOUND, show_progress=False)

    found = [_timed(search, claim)[0] for claim in claims]
    return {**_quantiles("bm25s", found), "bm25s, resident, MiB": _resident()}


def _texts(articles: Sequence[Article]) -> Iterator[str]:
    for document, spans in articles:
        yield from citation_rows(document, document.path, spans).texts
        yield from map(search_text, (document.paper, *document.references))


def _spans(path: Path) -> list[str]:
    texts: list[str] = Library.open(path).snapshot.all_rows("spans", ["text"])["text"].to_pylist()
    return texts


def _timed(work: Callable[..., T], *arguments: Any) -> tuple[float, T]:
    start = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - start, result


def _quantiles(name: str, seconds: Sequence[float]) -> dict[str, float]:
    return {f"{name}, p{share}, ms": float(np.percentile(seconds, share)) * 1e3 for share in (50, 95)}


def _resident() -> float:
    """The most memory this process ever held (of Linux), in MiB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _alone(work: Callable[..., dict[str, float]], *arguments: Any) -> dict[str, float]:
    """What a function returns that runs in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(work, arguments)
        pool.close()
        pool.join()
    return found


def measure(sizes: Sequence[int], folder: Path) -> Iterator[dict[str, float]]:
    """A library that grows from size to size, and its rivals beside it."""
    articles, claims = read(min(ARTICLES, max(sizes) // 90))
    vectors = Vectors(articles)
    source, built = Source(articles, vectors), 0.0
    for size in sizes:
        built += fill(folder, source, vectors, size)
        row = {"build, reading and encoding left out, s": built, **_alone(ask, folder, claims)}
        texts = _spans(folder)
        row |= _alone(ask_rank_bm25, texts, claims) | _alone(ask_bm25s, texts, claims)
        answer = row["whole answer, p50, ms"]
        for rival in ("rank_bm25", "bm25s"):
            row[f"{rival} takes, whole answers of ours"] = row[f"{rival}, p50, ms"] / answer
        yield {"spans": len(texts), **row}


def main() -> None:
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    if missing := [name for name in ("rank_bm25", "bm25s") if find_spec(name) is None]:
        sys.exit(f"the rivals are not installed ({', '.join(missing)}): run make .venv/bench")
    sizes = sorted(map(int, sys.argv[1:])) or SIZES
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WHYCITE_CACHE"] = folder  # made-up vectors are not to be remembered
        rows = list(measure(sizes, Path(folder) / "library"))
    for name in rows[0]:
        print(f"{name:<42}" + "".join(f"{row[name]:>14,.{0 if row[name] >= 100 else 1}f}" for row in rows))
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
