"""Learning synonyms from the user: active wrapper induction over headings that no rule covers (SCOPE 3.1.1, 4.4.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from whycite.structure.dictionary import SECTION_TYPES, Dictionary, dictionary
from whycite.structure.headings import normalise_heading
from whycite.structure.rules import load_rules, save_rules
from whycite.structure.sections import SectionOutline, sequence

__all__ = ["UnmatchedHeading", "learn", "unmatched_headings"]


@dataclass(frozen=True, slots=True)
class UnmatchedHeading:
    """A heading without a type, how many documents use it, and the first of them."""

    heading: str
    documents: int
    example: str


def unmatched_headings(outlines: Iterable[SectionOutline], dictionary: Dictionary) -> list[UnmatchedHeading]:
    """The headings of section sequences that have no type and no negative rule, most frequent first."""
    count: Counter[str] = Counter()
    examples: dict[str, tuple[str, str]] = {}
    for outline in outlines:
        terms = {
            normalise_heading(heading): heading
            for run in sequence(outline, dictionary)
            if run.type is None
            for heading in run.headings
        }
        for term, heading in terms.items():
            if term not in dictionary.rules.negative and any(map(str.isalpha, term)):
                count[term] += 1
                examples.setdefault(term, (heading, outline.path))
    return [UnmatchedHeading(examples[term][0], number, examples[term][1]) for term, number in count.most_common()]


def learn(headings: Iterable[UnmatchedHeading], ask: Callable[[UnmatchedHeading], str], path: Path) -> int:
    """Ask about each heading and save every answer to the rules at `path` immediately; returns how many were saved.

    An answer is a section type, "none" of them, "skip" or "quit".
    """
    answer_count = 0
    for heading in headings:
        # Read again each time: an answer may settle later headings, and the file may have been edited.
        rules = load_rules(path, SECTION_TYPES)
        if normalise_heading(heading.heading) in rules.negative or dictionary("ours", rules).match(heading.heading):
            continue
        reply = ask(heading)
        if reply == "quit":
            break
        if reply != "skip":
            updated_rules = rules.reject(heading.heading) if reply == "none" else rules.accept(heading.heading, reply)
            save_rules(path, updated_rules)
            answer_count += 1
    return answer_count
