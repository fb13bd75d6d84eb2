"""How well and how fast are sentences split, beside bare nupunkt? Run: python benchmarks/sentences.py."""

import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import nupunkt
import zstandard

from whycite.text.sentences import split_sentences

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
GENRES = ("academic", "textbook", "essay", "bio", "news")
Splitter = Callable[[str], list[tuple[int, int]]]


def lines(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        yield from io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), encoding="utf-8")


def paragraphs(data: Path, genre: str) -> Iterator[list[str]]:
    """The paragraphs of GUM's documents of a genre as lists of sentences."""
    paragraph: list[str] = []
    wanted = False
    for part in ("train", "dev", "test"):
        for line in lines(data / "ud" / f"en_gum-ud-{part}.conllu.zst"):
            if line.startswith(("# newdoc id", "# newpar\n")):
                if paragraph:
                    yield paragraph
                paragraph = []
            if line.startswith("# newdoc id"):
                wanted = line.split(" = ")[1].startswith(f"GUM_{genre}_")
            elif wanted and line.startswith("# text = "):
                paragraph.append(line.removeprefix("# text = ").strip())
    if paragraph:
        yield paragraph


@cache
def model() -> nupunkt.PunktSentenceTokenizer:
    return nupunkt.load_default_model()


def bare(text: str) -> list[tuple[int, int]]:
    return list(model().span_tokenize(text))


def score(gold: list[list[str]], splitter: Splitter) -> tuple[float, float]:
    """F1 of the sentences, and of the boundaries inside paragraphs."""
    whole, inner = [0, 0, 0], [0, 0, 0]
    for sentences in gold:
        text = " ".join(sentences)
        at, wanted = 0, []
        for sentence in sentences:
            wanted.append((at, at + len(sentence)))
            at += len(sentence) + 1
        found = [(start, start + len(text[start:end].rstrip())) for start, end in splitter(text)]
        count(whole, set(wanted), set(found))
        count(inner, {start for start, _ in wanted[1:]}, {start for start, _ in found[1:]})
    return 2 * whole[0] / (whole[1] + whole[2]), 2 * inner[0] / (inner[1] + inner[2])


def count(counts: list[int], wanted: set[Any], found: set[Any]) -> None:
    for at, size in enumerate((len(wanted & found), len(wanted), len(found))):
        counts[at] += size


def main() -> None:
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    splitters: dict[str, Splitter] = {"nupunkt": bare, "whycite": split_sentences}
    print(f"{'GUM':<12}{'sentences':>10}  " + "  ".join(f"{name:>8} F1 {'inner':>8}" for name in splitters))
    for genre in GENRES:
        gold = list(paragraphs(DATA, genre))
        scores = "  ".join("{:>11.4f} {:>8.4f}".format(*score(gold, splitter)) for splitter in splitters.values())
        print(f"{genre:<12}{sum(map(len, gold)):>10}  {scores}")
    articles = [json.loads(line) for line in lines(DATA / "elife" / "elife-tiny.jsonl.zst")]
    texts = [
        (part["text"], sorted({(span["start"], span["end"]) for span in part["cite_spans"]}))
        for article in articles
        for part in article["body_text"]
    ]
    print(f"\n{'eLife, ' + str(len(texts)) + ' paragraphs':<24}{'sentences':>10}{'sentences/s':>14}{'MB/s':>8}")
    size = sum(len(text) for text, _ in texts) / 1e6
    for name in ("nupunkt", "whycite", "whycite with citations"):
        start = time.process_time()
        if name == "nupunkt":
            sentences = sum(len(bare(text)) for text, _ in texts)
        else:
            sentences = sum(len(split_sentences(text, spans if "with" in name else ())) for text, spans in texts)
        seconds = time.process_time() - start
        print(f"{name:<24}{sentences:>10}{sentences / seconds:>14,.0f}{size / seconds:>8.1f}")


if __name__ == "__main__":
    main()
