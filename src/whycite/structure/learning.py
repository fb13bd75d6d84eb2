"""Learning synonyms from a person: active wrapper induction over the headings no rule knows (SCOPE 3.1.1, 4.4.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from whycite.structure.dictionary import TYPES, Dictionary, dictionary
from whycite.structure.headings import normalise
from whycite.structure.rules import load_rules, save_rules
from whycite.structure.sequences import Outline, sequence

__all__ = ["Unmatched", "learn", "unmatched"]


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A heading without a type, in how many documents it stands, and the first of them."""

    heading: str
    documents: int
    example: str


def unmatched(outlines: Iterable[Outline], dictionary: Dictionary) -> list[Unmatched]:
    """The headings of section sequences that have no type and no negative rule, the most frequent first."""
    count: Counter[str] = Counter()
    first: dict[str, tuple[str, str]] = {}
    for outline in outlines:
        terms = {
            normalise(heading): heading
            for run in sequence(outline, dictionary)
            if run.type is None
            for heading in run.headings
        }
        for term, heading in terms.items():
            if term not in dictionary.rules.negative and any(map(str.isalpha, term)):
                count[term] += 1
                first.setdefault(term, (heading, outline.path))
    return [Unmatched(first[term][0], number, first[term][1]) for term, number in count.most_common()]


def learn(headings: Iterable[Unmatched], ask: Callable[[Unmatched], str], path: Path) -> int:
    """Ask about each heading and keep every answer in the rules at `path` at once; how many were kept.

    An answer is a section type, "none" of them, "skip" or "quit".
    """
    kept = 0
    for heading in headings:
        # Read anew each time: an answer may settle later headings, and the file may be edited meanwhile.
        rules = load_rules(path, TYPES)
        if normalise(heading.heading) in rules.negative or dictionary("ours", rules).match(heading.heading):
            continue
        reply = ask(heading)
        if reply == "quit":
            break
        if reply != "skip":
            known = rules.reject(heading.heading) if reply == "none" else rules.accept(heading.heading, reply)
            save_rules(path, known)
            kept += 1
    return kept
