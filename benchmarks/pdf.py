"""How well are PDF papers read? Sentences and sections against an XML text of the same papers, bare text beside ours.

Only letters and digits count, without case, accents and white space: the truth was made by another extraction and
has its own broken words ("zero- pronouns", "dif ficult"). A sentence of the truth is

- `words`: in the text word for word (the one measure that does count white space: broken words are misses);
- `strict`: in the text without a gap;
- `order`: in the text with its words in order, other words between them allowed: at least 95 % of its words, each
  whole, within half its length more (and 160 letters); white space inside a word does not count;
- `found`: in the text in order, at least nine tenths of it in stretches of eight characters or more, within the same
  bounds: the truth has page numbers, footnotes and cells of tables in the midst of its sentences;
- `whole`: exactly one sentence of the text.

`kept` is `found` in what the reader made of a paper, or in bare text without what the reader left out: the truth
splices sentences with cells, notes and the other column in the order of bare text, and `kept` shows what is lost, not
what the reader puts in another place.

Beside them, `found` among those sentences of the truth that read as prose (`reads_as_prose`): cells and figures do not.

Bare text is what pypdfium2 extracts, page by page, its line-end hyphens taken out, split by the same splitter.

Sections are those of the top level, without abstract and references, which the truth does not name; a title of the
truth may end early (it was cut at the end of a line) and must have letters. A paper's sections are right where the
F1 of the titles found in order is at least 0.8.
"""

from __future__ import annotations

import html
import os
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from itertools import accumulate
from pathlib import Path

import pypdfium2

from whycite.documents.model import Document
from whycite.documents.pdf import READER
from whycite.documents.pdf.analysis import analyse
from whycite.documents.sources import DiskFolder, Source, decode
from whycite.text.language import reads_as_prose
from whycite.text.sentences import split_sentences

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
MEASURES = ("words", "strict", "order", "found", "whole")
RIGHT = 0.8  # F1 of the titles of a paper whose sections are right
_SENTENCE = re.compile(r"<S [^>]*>([^<]*)</S>")
_SECTION = re.compile(r'<SECTION title="([^"]*)"')
_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*|[IVX]+|[A-Z])\.?\s+")
_FORMULA = re.compile(r"\bEQUATION\b")
_GRAM = 12  # characters that place a sentence in a text
_TRIES = 4  # places of a text where a sentence is looked for
_STRETCH = 8
_SHARE = 0.9
_LEAST = 3  # letters in a row that are no chance
_WORDS = 0.95


def letters(text: str) -> str:
    """Letters and digits in lower case, accents and all else left out."""
    return "".join(word for word in words(text))


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    plain = unicodedata.normalize("NFKD", text.replace("\u00ad", ""))
    return re.findall(r"[a-z0-9]+", "".join(c for c in plain if not unicodedata.combining(c)).lower())


class Text:
    """A text to look sentences up in."""

    def __init__(self, text: str, sentences: Iterable[str]) -> None:
        self._words = f" {' '.join(words(text))} "
        self._letters = letters(text)
        self._whole = {letters(sentence) for sentence in sentences}
        self._places: dict[str, list[int]] = {}
        for at in range(len(self._letters) - _GRAM):
            self._places.setdefault(self._letters[at : at + _GRAM], []).append(at)

    def holds(self, sentence: str) -> dict[str, bool]:
        """What is true of a sentence, by the name of the measure."""
        wanted = letters(sentence)
        strict = wanted in self._letters
        aligned = [] if strict else list(self._aligned(wanted))
        return {
            "words": f" {' '.join(words(sentence))} " in self._words,
            "strict": strict,
            "order": strict or any(_ordered(words(sentence), blocks) >= _WORDS for blocks in aligned),
            "found": strict or any(_stretched(blocks) >= _SHARE * len(wanted) for blocks in aligned),
            "whole": wanted in self._whole,
        }

    def _aligned(self, wanted: str) -> Iterator[list[Match]]:
        """The letters a sentence shares in order with each place of the text where it may stand."""
        begins = Counter(
            max(0, place - at) // 40
            for at in range(0, max(len(wanted) - _GRAM, 0), _GRAM // 2)
            for place in self._places.get(wanted[at : at + _GRAM], ())[:20]
        )
        for begin, _ in begins.most_common(_TRIES):
            window = self._letters[max(0, 40 * begin - 60) : 40 * begin + len(wanted) * 3 // 2 + 160]
            yield SequenceMatcher(None, wanted, window, autojunk=False).get_matching_blocks()


def _stretched(blocks: Iterable[Match]) -> int:
    """How many letters stand in long stretches."""
    return sum(block.size for block in blocks if block.size >= _STRETCH)


def _ordered(parts: Sequence[str], blocks: Iterable[Match]) -> float:
    """The share of words that are there with all their letters."""
    there = {i for block in blocks if block.size >= _LEAST for i in range(block.a, block.a + block.size)}
    ends = list(accumulate(map(len, parts)))
    whole = sum(all(i in there for i in range(end - len(part), end)) for part, end in zip(parts, ends, strict=True))
    return whole / len(parts)


@dataclass(frozen=True)
class Result:
    """How a paper was read."""

    name: str
    pages: int
    seconds: float
    sentences: int
    bare: dict[str, int]
    read: dict[str, int]
    kept: int
    prose: tuple[
        int, int, int
    ]  # sentences of the truth that are prose, and how many are found in bare text, and in ours
    sections: float  # F1


def truth(path: Path) -> tuple[list[str], list[str]]:
    """The sentences of the ground truth and the titles of its sections."""
    text, _ = decode(path.read_bytes())
    sentences = [html.unescape(match) for match in _SENTENCE.findall(text)]
    titles = [html.unescape(match) for match in _SECTION.findall(text)]
    return [s for s in sentences if letters(s)], [t for t in titles if any(map(str.isalpha, t))]


def bare(path: Path) -> tuple[Text, int]:
    """The text pypdfium2 extracts, and the number of pages."""
    with pypdfium2.PdfDocument(path) as document:
        pages = [page.get_textpage().get_text_range().replace("\ufffe", "") for page in document]
    text = " ".join(" ".join(pages).split())
    return Text(text, (text[start:end] for start, end in split_sentences(text))), len(pages)


def as_text(document: Document) -> Text:
    """What the reader made of a paper: title, headings, sentences, references; not our word for a formula.

    Captions and notes stand where they do on the page, as in the truth and in bare text, not after their paragraph.
    """
    parts = [document.paper.title]
    shown = 0
    for sentence in sorted(document.sentences, key=lambda sentence: sentence.start):
        parts += [section.heading for section in document.sections[shown : sentence.section + 1]]
        shown = max(shown, sentence.section + 1)
        parts.append(_FORMULA.sub("", sentence.text))
    parts += [section.heading for section in document.sections[shown:]]
    parts += [reference.text for reference in document.references]
    return Text(" ".join(parts), (_FORMULA.sub("", sentence.text) for sentence in document.sentences))


def kept_text(path: Path) -> Text:
    """Bare text without the characters that the reader left out; headings and references at its end."""
    analysis = analyse(path.read_bytes(), lambda: None)
    with pypdfium2.PdfDocument(path) as document:
        text = "\f".join(page.get_textpage().get_text_range() for page in document)
    pieces = [piece for block in analysis["blocks"] for piece in block.get("pieces", ())]
    places = {i for _, start, end in pieces for i in range(start, end)}
    kept = "".join(c if i in places else " " * c.isspace() for i, c in enumerate(text)).replace("\ufffe", "")
    headings = [block["text"] for block in analysis["blocks"] if block["kind"] == "heading"]
    return Text(" ".join([kept, analysis["title"], *headings, *(entry for _, entry in analysis["references"])]), ())


def title_f1(wanted: Sequence[str], document: Document) -> float:
    """F1 of the titles found in order."""
    found = [letters(_NUMBER.sub("", section.heading)) for section in document.sections if section.level == 1]
    found = [title for title in found if title and title not in ("abstract", "references", "bibliography")]
    titles = [letters(_NUMBER.sub("", title)) for title in wanted]
    common = [0] * (len(found) + 1)
    for title in titles:
        above = common[:]
        for i, other in enumerate(found):
            same = other == title or (len(title) > 5 and other.startswith(title))
            common[i + 1] = above[i] + 1 if same else max(common[i], above[i + 1])
    return 2 * common[-1] / max(len(titles) + len(found), 1)


def measure(path: Path) -> Result:
    """Read a paper and compare it with the XML beside it."""
    sentences, titles = truth(path.with_suffix(".xml"))
    plain, pages = bare(path)
    begun = time.perf_counter()
    document = next(READER.read(Source(DiskFolder(path.parent), path.name)))
    seconds = time.perf_counter() - begun
    ours = as_text(document)
    held = [[text.holds(sentence) for sentence in sentences] for text in (plain, ours, kept_text(path))]
    counts = [{name: sum(each[name] for each in side) for name in MEASURES} for side in held[:2]]
    kept = sum(a["found"] or b["found"] for a, b in zip(held[1], held[2], strict=True))
    prose = [number for number, sentence in enumerate(sentences) if reads_as_prose(sentence)]
    in_bare, in_ours = (sum(side[number]["found"] for number in prose) for side in held[:2])
    return Result(
        path.stem, pages, seconds, len(sentences), counts[0], counts[1], kept, (len(prose), in_bare, in_ours),
        title_f1(titles, document),
    )  # fmt: skip


def main() -> None:
    """Print one table."""
    paths = sorted((DATA / "pdf").glob("*.pdf"))
    next(READER.read(Source(DiskFolder(paths[0].parent), paths[0].name)))  # the process starts
    results = [measure(path) for path in paths]
    names = " ".join(f"{name:>7}" for name in MEASURES)
    print(f"{'':10} {'':5} {'':7} {'':9} | {'bare text, %':39} | {'ours, %':47} |")
    print(f"{'paper':10} {'pages':>5} {'ms/page':>7} {'sentences':>9} | {names} | {names}    kept | sections F1")
    total = sum(result.sentences for result in results)
    pages, seconds = sum(result.pages for result in results), sum(result.seconds for result in results)
    sums = [{name: sum(side[name] for side in sides) for name in MEASURES} for sides in _sides(results)]
    kept = sum(result.kept for result in results)
    right = sum(result.sections >= RIGHT for result in results)
    for result in results:
        _line(result, f"{result.sections:.2f}")
    _line(
        Result("all", pages, seconds, total, sums[0], sums[1], kept, (0, 0, 0), 0), f"{right} of {len(results)} right"
    )
    count, plain, ours = (sum(result.prose[i] for result in results) for i in range(3))
    print(
        f"found of the {count:,} that read as prose: bare {100 * plain / count:.1f} %, ours {100 * ours / count:.1f} %"
    )


def _sides(results: Sequence[Result]) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
    return [result.bare for result in results], [result.read for result in results]


def _line(result: Result, sections: str) -> None:
    shares = [
        " ".join(f"{100 * side[name] / result.sentences:7.1f}" for name in MEASURES)
        for side in (result.bare, result.read)
    ]
    shares[1] += f" {100 * result.kept / result.sentences:7.1f}"
    speed = 1000 * result.seconds / result.pages
    print(
        f"{result.name:10} {result.pages:5} {speed:7.1f} {result.sentences:9} | {shares[0]} | {shares[1]} | {sections}"
    )


if __name__ == "__main__":
    main()
