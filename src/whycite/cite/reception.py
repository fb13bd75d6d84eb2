"""How a paper is cited: for background, a method or a result, and whether those who cite it agree with it.

What a sentence cites a paper for is decided by a fitted model (`evidence/citationfunctions.py`), agreement by the
wording alone. A sentence that cites several papers is divided where its wording turns ("but", "whereas"); the part that
names the paper's authors counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal, NotRequired, get_args

from typing_extensions import TypedDict

from whycite.documents.references.notices import PaperStatus
from whycite.evidence.citationfunctions import CitationFunction, likeliest_functions
from whycite.text.tokens import fold
from whycite.text.wordlists import load_tables

if TYPE_CHECKING:
    from whycite.library import Library, Paper, SourceDocument

__all__ = [
    "Agreement",
    "CitingExample",
    "Reception",
    "ReceptionJson",
    "SourceJson",
    "agreement",
    "reception_json",
    "receptions",
    "source_json",
]

Agreement = Literal["agree", "disagree"]
READ_SENTENCES = 40  # of each paper's; a sentence takes about 4 ms
_TURN = re.compile(
    r";\s|\.\s(?=[^\W\d_a-z])|,?\s(?:but|whereas|while|although|though|however|yet|except)\b"
    r"|(?<=\)),\s(?=(?:an?|the|we|our|this|these|it|[^\W\d_a-z][\w’'-]*)\b)"  # "In contrast to A (2001), B saw …"
)
_BRACKETS = re.compile(r"\([^()]*\)")


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """How sentences agree and disagree; not compiled before they are needed, since every answer loads this module."""
    tables = load_tables(__name__)
    agrees, disagrees = (
        tables[name].replace("WORK", f"(?:{tables['work']}|EARLIER)").replace("EARLIER", f"(?:{tables['earlier']})")
        for name in ("agrees", "disagrees")
    )
    flags = re.IGNORECASE | re.VERBOSE
    return re.compile(agrees, flags), re.compile(disagrees, flags)


@dataclass(frozen=True, slots=True)
class CitingExample:
    """A sentence that cites a paper, as it was written."""

    sentence: str
    source: SourceDocument


@dataclass(frozen=True, slots=True)
class Reception:
    """How the sentences that cite a paper use it."""

    functions: Mapping[CitationFunction, int] = field(default_factory=dict)
    agreements: Mapping[Agreement, int] = field(default_factory=dict)  # most sentences say neither
    examples: Mapping[str, CitingExample] = field(default_factory=dict)  # of each of them, the first one
    unread: int = 0  # places beyond those that were read, or without a stored sentence


def agreement(sentence: str, authors: Sequence[str] = ()) -> Agreement | None:
    """Whether a sentence agrees or disagrees with the paper by these authors that it cites; None if it does not say."""
    agrees, disagrees = _patterns()
    part = _part_about(sentence, authors)
    if disagrees.search(part):
        return None if agrees.search(disagrees.sub(" ", part)) else "disagree"
    return "agree" if agrees.search(part) else None


def _part_about(sentence: str, authors: Sequence[str]) -> str:
    """The part of a sentence that names the authors of a paper; all of it if none or several do."""
    family = fold(authors[0].partition(",")[0]) if authors else ""
    plain = _BRACKETS.sub(lambda match: match[0].replace(";", ","), sentence)  # several citations do not divide it
    ends = [*(match.start() for match in _TURN.finditer(plain)), len(sentence)]
    parts = [sentence[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    name = re.compile(rf"\b{re.escape(family)}\b")
    naming = [part for part in parts if family and name.search(fold(part))]
    return naming[0] if len(naming) == 1 else sentence


def receptions(library: Library, papers: Mapping[int, Paper]) -> dict[int, Reception]:
    """How papers are cited in a library, by id."""
    places = {id: library.citing_places(id) for id in papers}
    read = {id: paper_places[:READ_SENTENCES] for id, paper_places in places.items()}
    sentences = library.sentences_at({place for paper_places in read.values() for place in paper_places})
    sources = library.sources(sorted({document for document, _ in sentences}))
    written = {place: text for place, text in sentences.items() if text and place[0] in sources}
    functions = dict(zip(written, likeliest_functions([*written.values()]), strict=True))
    result = {}
    for id, paper in papers.items():
        readable = [place for place in read[id] if place in written]
        # A sentence may cite a paper at several places; it is one sentence.
        paper_places = [*{(place[0], written[place]): place for place in reversed(readable)}.values()][::-1]
        function_counts: Counter[CitationFunction] = Counter(functions[place] for place in paper_places)
        agreements: Counter[Agreement] = Counter()
        examples: dict[str, CitingExample] = {}
        for place in paper_places:
            example = CitingExample(written[place], sources[place[0]])
            examples.setdefault(functions[place], example)
            # Who uses "the same dose as in an earlier study" does not agree with what it found.
            if functions[place] != "method" and (stance := agreement(written[place], paper.authors)):
                agreements[stance] += 1
                examples.setdefault(stance, example)
        ordered = {name: function_counts[name] for name in get_args(CitationFunction) if function_counts[name]}
        attitudes = {name: agreements[name] for name in get_args(Agreement) if agreements[name]}
        result[id] = Reception(ordered, attitudes, examples, len(places[id]) - len(readable))
    return result


class SourceJson(TypedDict):
    """The document a sentence stands in."""

    key: str
    title: str
    year: int | None
    status: NotRequired[PaperStatus]  # retracted, concern, corrected; missing if it stands


class CitingExampleJson(TypedDict):
    """A sentence that cites a paper, as it was written, with its citations."""

    sentence: str
    source: SourceJson


class ReceptionJson(TypedDict):
    """How many sentences cite a paper for what, how many agree or disagree with it, and an example of each."""

    background: int
    method: int
    result: int
    pointer: int
    agree: int
    disagree: int
    unread: int
    examples: dict[str, CitingExampleJson]


def reception_json(reception: Reception) -> ReceptionJson:
    """A reception as JSON."""
    functions, agreements = reception.functions, reception.agreements
    return {
        "background": functions.get("background", 0),
        "method": functions.get("method", 0),
        "result": functions.get("result", 0),
        "pointer": functions.get("pointer", 0),
        "agree": agreements.get("agree", 0),
        "disagree": agreements.get("disagree", 0),
        "unread": reception.unread,
        "examples": {name: _example_json(example) for name, example in reception.examples.items()},
    }


def _example_json(example: CitingExample) -> CitingExampleJson:
    return {
        "sentence": example.sentence,
        "source": source_json(example.source),
    }


def source_json(source: SourceDocument) -> SourceJson:
    """A document in which something is said, as JSON."""
    plain: SourceJson = {"key": source.key, "title": source.title, "year": source.year}
    if source.status:
        plain["status"] = source.status
    return plain
