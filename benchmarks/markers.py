"""How rightly are in-text markers linked, once the links of real articles are taken away?"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import zstandard

from whycite.documents import jats
from whycite.documents.markers import find_markers
from whycite.documents.model import Reference
from whycite.documents.sources import MemoryFolder, Source

Gold = list[tuple[int, int, str]]  # start, end, key
Article = tuple[str, list[Reference], Gold]
DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def main() -> None:
    """Print one table: precision and recall of (marker, key) pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--articles", type=int, default=200, help="eLife articles to read")
    parser.add_argument("--show", type=int, default=0, help="mistakes to print for each source")
    options = parser.parse_args()
    print(f"{'source':44} {'pairs':>7} {'precision':>9} {'recall':>7} {'MB/s':>6}")
    sources = {"eLife, author-year": elife(options.articles)}
    for style in ("[{}]", "({})", "{}"):
        articles = elife(options.articles)
        sources[f"eLife, printed again as {style.format('3,5')}"] = numbered(articles, style)
    sources["eLife, raw JATS"] = (published(path) for path in sorted((DATA / "jats-raw").glob("*.xml.gz")))
    for path in sorted((DATA / "formats").glob("*.nxml")):
        sources[f"PMC, {path.stem}"] = iter([published(path)])
    for path in sorted((DATA / "formats").glob("s2orc-20*.json"))[:3]:  # the fourth has lost its numbers
        sources[f"GROBID, author-year: {path.stem[6:]}"[:44]] = iter([s2orc(json.loads(path.read_bytes()))])
    for name, articles in sources.items():
        measure(name, articles, options.show)


def measure(name: str, articles: Iterator[Article], show: int) -> None:
    """Print a source's line."""
    right = found = gold = size = 0
    spent = 0.0
    for text, references, truth in articles:
        begun = time.perf_counter()
        markers = find_markers(text, references)
        spent += time.perf_counter() - begun
        size += len(text)
        pairs = [(m.start, m.end, key) for m in markers for key in m.keys]
        missed, wrong = compare(truth, pairs)
        right += len(truth) - len(missed)
        found += len(pairs)
        gold += len(truth)
        for label, mistakes in (("missed", missed), ("wrong", wrong)):
            for start, end, key in mistakes[: max(show, 0)]:
                print(f"  {label} {key}: …{text[max(0, start - 60) : start]}⟦{text[start:end]}⟧{text[end : end + 30]}")
            show -= len(mistakes)
    print(f"{name:44} {gold:7} {right / max(found, 1):9.3f} {right / max(gold, 1):7.3f} {size / spent / 1e6:6.1f}")


def compare(truth: Gold, pairs: Gold) -> tuple[Gold, Gold]:
    """The true pairs no found one overlaps, and the found ones that overlap no true one."""
    missed = [t for t in truth if not any(t[2] == p[2] and t[0] < p[1] and p[0] < t[1] for p in pairs)]
    wrong = [p for p in pairs if not any(t[2] == p[2] and t[0] < p[1] and p[0] < t[1] for t in truth)]
    return missed, wrong


def elife(limit: int) -> Iterator[Article]:
    """Articles of the eLife pack: text, references, true links."""
    for path in sorted((DATA / "elife").glob("elife-*.jsonl.zst")):
        with path.open("rb") as raw:
            for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(raw), "utf-8"):
                if limit <= 0:
                    return
                limit -= 1
                article = json.loads(line)
                text, gold = joined(article["body_text"])
                references = [
                    Reference(id, authors=tuple(entry["authors"]), year=entry.get("year"))
                    for id, entry in article["bib_entries"].items()
                ]
                yield text, references, gold


def s2orc(article: dict[str, Any]) -> Article:
    """An article GROBID read: its references get the numbers of their order."""
    parse = article.get("grobid_parse") or article
    numbers = {id: str(order) for order, id in enumerate(parse["bib_entries"], 1)}
    references = [
        Reference(
            numbers[id],
            authors=tuple(f"{author['last']}, {author['first']}" for author in entry["authors"]),
            year=entry["year"],
        )
        for id, entry in parse["bib_entries"].items()
    ]
    text, gold = joined(parse["body_text"])
    return text, references, [(start, end, numbers[key]) for start, end, key in gold]


def published(path: Path) -> Article:
    """An article in JATS; its references get the numbers of their order."""
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    (document,) = jats.READER.read(Source(MemoryFolder({path.name: data}, ""), path.name))
    order = {reference.id: str(number) for number, reference in enumerate(document.references, 1)}
    texts: list[str] = []
    gold: Gold = []
    at = 0
    for sentence in document.sentences:
        for citation in sentence.citations:
            start, end = at + citation.text_start, at + citation.text_end
            gold += [(start, end, order[key]) for key in citation.keys if key in order]
        texts.append(sentence.text)
        at += len(sentence.text) + 1
    return " ".join(texts), [replace(r, id=order[r.id]) for r in document.references], gold


def numbered(articles: Iterable[Article], style: str) -> Iterator[Article]:
    """Articles with their author-year citations printed as numbers."""
    for text, references, gold in articles:
        yield renumbered(text, references, gold, style)


def renumbered(text: str, references: list[Reference], gold: Gold, style: str) -> Article:
    """The article with numbers for author-year citations; brackets that held nothing else go."""
    order = {reference.id: str(number) for number, reference in enumerate(references, 1)}
    parts: list[str] = []
    found: Gold = []
    at = length = 0
    for group in groups(text, gold):
        start, end = group[0][0], group[-1][1]
        if text[start - 1 : start] == "(" and text[end : end + 1] == ")":
            start, end = start - 1, end + 1
        before = text[at:start] if style != "{}" else text[at:start].rstrip()
        shown = style.format(",".join(order[key] for _, _, key in group))
        length += len(before) + len(shown)
        found += [(length - len(shown), length, order[key]) for _, _, key in group]
        parts += [before, shown]
        at = end
    again = [Reference(order[r.id], authors=r.authors, year=r.year) for r in references]
    return "".join([*parts, text[at:]]), again, found


def groups(text: str, gold: Gold) -> Iterator[Gold]:
    """The true links, those side by side together."""
    group: Gold = []
    for link in gold:
        if group and text[group[-1][1] : link[0]].strip(",; "):
            yield group
            group = []
        group.append(link)
    if group:
        yield group


def joined(paragraphs: list[dict[str, Any]]) -> tuple[str, Gold]:
    """The paragraphs as one text, with the true links."""
    texts: list[str] = []
    gold: Gold = []
    at = 0
    for paragraph in paragraphs:
        for span in paragraph["cite_spans"]:
            if span["ref_id"]:
                gold.append((at + span["start"], at + span["end"], span["ref_id"]))
        texts.append(paragraph["text"])
        at += len(paragraph["text"]) + 2
    return "\n\n".join(texts), gold


if __name__ == "__main__":
    main()
