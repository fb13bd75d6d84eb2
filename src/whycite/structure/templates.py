"""Templates of section sequences with wildcards, and which template includes which (SCOPE 3.1.4, figure 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from whycite.structure.sequences import Run

__all__ = ["ANY", "LETTERS", "OTHER", "TEMPLATES", "Template", "depths", "letters", "matching", "parents"]

# Templates have no letter for results: SCOPE's dictionary counts them as experiments.
LETTERS: Mapping[str, str] = {
    "introduction": "I",
    "related work": "R",
    "method": "M",
    "experiment": "E",
    "result": "E",
    "discussion": "D",
    "conclusion": "C",
}
OTHER = "?"  # a section without a type, which only wildcards match
_ALPHABET = (*dict.fromkeys(LETTERS.values()), OTHER)


@dataclass(frozen=True)
class Template:
    """Letters, `*` for any number of sections and `_` for exactly one, written with spaces: "I * C"."""

    tokens: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Template:
        """The template of a text; wildcards side by side are put in one order, so equal means equal."""
        tokens: list[str] = []
        for token in text.split():
            if token not in ("*", "_", *LETTERS.values()):
                raise ValueError(f"'{token}' is no letter of a template")
            if tokens and tokens[-1] == "*" and token in "*_":
                tokens[-1:] = ["*"] if token == "*" else ["_", "*"]
            else:
                tokens.append(token)
        return cls(tuple(tokens))

    def __str__(self) -> str:
        return f"[{' '.join(self.tokens)}]"

    def matches(self, symbols: Sequence[str]) -> bool:
        """Whether the sequence of letters fits; time grows with the product of both lengths."""
        states = self._start
        for symbol in symbols:
            states = self._step(states, symbol)
            if not states:
                return False
        return self._accepts(states)

    def includes(self, other: Template) -> bool:
        """Whether every sequence that matches `other` matches this template too.

        Decided exactly: walk both automata over all sequences at once and look for one that only `other` takes.
        """
        todo = [(self._start, other._start)]
        seen = set(todo)
        while todo:
            mine, theirs = todo.pop()
            if other._accepts(theirs) and not self._accepts(mine):
                return False
            for symbol in _ALPHABET:
                pair = self._step(mine, symbol), other._step(theirs, symbol)
                if pair[1] and pair not in seen:
                    seen.add(pair)
                    todo.append(pair)
        return True

    # The template as an automaton. State i: the first i tokens are used up; a set of states is a bit mask.

    @cached_property
    def _start(self) -> int:
        return self._skip_stars(1)

    def _accepts(self, states: int) -> bool:
        return bool(states >> len(self.tokens) & 1)

    def _step(self, states: int, symbol: str) -> int:
        after = 0
        for index, token in enumerate(self.tokens):
            if states >> index & 1:
                if token == "*":
                    after |= 1 << index
                elif token in ("_", symbol):
                    after |= 1 << (index + 1)
        return self._skip_stars(after)

    def _skip_stars(self, states: int) -> int:
        for index, token in enumerate(self.tokens):
            if token == "*" and states >> index & 1:
                states |= 1 << (index + 1)
        return states


ANY = Template.of("*")

# The rows of table 2 in its order, below the symbolic root. "I * D" was added after SCOPE's first experiments.
TEMPLATES: tuple[Template, ...] = (
    ANY,
    *map(
        Template.of,
        (
            "I * C", "I * D",
            "I * R C", "I * D R C", "I R * D C", "I * E C",
            "I R _ E C", "I R _ E D C", "I _ D C", "I _ E C", "I _ E D C", "I _ E R C", "I _ E D R C", "I _ E R D C",
            "I M D C", "I M E C", "I M E D C", "I M E D R C", "I M E R D C", "I M E R C", "I R E C", "I R M D C",
            "I R M E C", "I R E D C",
        ),
    ),
)  # fmt: skip


def letters(runs: Iterable[Run]) -> tuple[str, ...]:
    """The sequence in the templates' letters; experiment and result side by side are one E."""
    symbols: list[str] = []
    for run in runs:
        symbol = LETTERS.get(run.type or "", OTHER)
        if symbol == OTHER or symbols[-1:] != [symbol]:
            symbols.append(symbol)
    return tuple(symbols)


@cache
def parents(templates: tuple[Template, ...] = TEMPLATES) -> Mapping[Template, tuple[Template, ...]]:
    """For each template the closest ones that include it: inclusion as a graph without redundant edges."""
    above = {
        template: [other for other in templates if other != template and other.includes(template)]
        for template in templates
    }
    return {
        template: tuple(o for o in others if not any(o in above[nearer] for nearer in others))
        for template, others in above.items()
    }


@cache
def depths(templates: tuple[Template, ...] = TEMPLATES) -> Mapping[Template, int]:
    """For each template the longest way down to it from one that nothing includes."""
    edges = parents(templates)
    found: dict[Template, int] = {}
    while len(found) < len(edges):
        for template, above in edges.items():
            if template not in found and all(parent in found for parent in above):
                found[template] = 1 + max((found[parent] for parent in above), default=-1)
    return found


def matching(symbols: Sequence[str], templates: tuple[Template, ...] = TEMPLATES) -> list[Template]:
    """The templates a sequence matches, the most specific first."""
    depth = depths(templates)
    return sorted((t for t in templates if t.matches(symbols)), key=lambda t: -depth[t])
