"""Templates of section sequences: wildcards, inclusion, support (SCOPE 3.1.4, figure 2, table 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from whycite.structure.sections import SectionOutline, SectionRun, sequence
from whycite.structure.synonyms import Dictionary

__all__ = [
    "ANY",
    "LETTERS",
    "TEMPLATES",
    "UNTYPED",
    "Template",
    "TemplateSupport",
    "depths",
    "letters",
    "matching_templates",
    "parents",
    "support",
]


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
UNTYPED = "?"  # a section without a type, which only wildcards match
_ALPHABET = (*dict.fromkeys(LETTERS.values()), UNTYPED)
_SYMBOLS = ("*", "_", *dict.fromkeys(LETTERS.values()))  # of templates


@dataclass(frozen=True)
class Template:
    """Letters, `*` for any number of sections and `_` for exactly one, written with spaces: "I * C"."""

    tokens: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Template:
        """The template of a text; adjacent wildcards are put in one order, so that equal templates compare equal."""
        tokens: list[str] = []
        for token in text.split():
            if token not in _SYMBOLS:
                raise ValueError(f"'{token}' is not a template symbol; use one of {' '.join(_SYMBOLS)}")
            if tokens and tokens[-1] == "*" and token in "*_":
                tokens[-1:] = ["*"] if token == "*" else ["_", "*"]
            else:
                tokens.append(token)
        return cls(tuple(tokens))

    def __str__(self) -> str:
        return f"[{' '.join(self.tokens)}]"

    def matches(self, symbols: Sequence[str]) -> bool:
        """Whether a sequence of letters matches, in time proportional to the product of both lengths."""
        states = self._start
        for symbol in symbols:
            states = self._step(states, symbol)
            if not states:
                return False
        return self._accepts(states)

    def includes(self, narrower: Template) -> bool:
        """Whether every sequence that matches `narrower` matches this template too.

        Exact: walks both automata in parallel and looks for a sequence that only `narrower` accepts.
        """
        todo = [(self._start, narrower._start)]
        seen = set(todo)
        while todo:
            states, narrower_states = todo.pop()
            if narrower._accepts(narrower_states) and not self._accepts(states):
                return False
            for symbol in _ALPHABET:
                pair = self._step(states, symbol), narrower._step(narrower_states, symbol)
                if pair[1] and pair not in seen:
                    seen.add(pair)
                    todo.append(pair)
        return True

    # The template as an automaton. In state i, the first i tokens are matched; a set of states is a bit mask.

    @cached_property
    def _start(self) -> int:
        return self._skip_stars(1)

    def _accepts(self, states: int) -> bool:
        return bool(states >> len(self.tokens) & 1)

    def _step(self, states: int, symbol: str) -> int:
        next_states = 0
        for index, token in enumerate(self.tokens):
            if states >> index & 1:
                if token == "*":
                    next_states |= 1 << index
                elif token in ("_", symbol):
                    next_states |= 1 << (index + 1)
        return self._skip_stars(next_states)

    def _skip_stars(self, states: int) -> int:
        for index, token in enumerate(self.tokens):
            if token == "*" and states >> index & 1:
                states |= 1 << (index + 1)
        return states


ANY = Template.parse("*")

# The rows of table 2 in its order, below the symbolic root. "I * D" was added after SCOPE's first experiments.
TEMPLATES: tuple[Template, ...] = (
    ANY,
    *map(
        Template.parse,
        (
            "I * C", "I * D",
            "I * R C", "I * D R C", "I R * D C", "I * E C",
            "I R _ E C", "I R _ E D C", "I _ D C", "I _ E C", "I _ E D C", "I _ E R C", "I _ E D R C", "I _ E R D C",
            "I M D C", "I M E C", "I M E D C", "I M E D R C", "I M E R D C", "I M E R C", "I R E C", "I R M D C",
            "I R M E C", "I R E D C",
        ),
    ),
)  # fmt: skip


def letters(runs: Iterable[SectionRun]) -> tuple[str, ...]:
    """The sequence in template letters; an experiment next to a result is one E."""
    symbols: list[str] = []
    for run in runs:
        symbol = LETTERS.get(run.type or "", UNTYPED)
        if symbol == UNTYPED or symbols[-1:] != [symbol]:
            symbols.append(symbol)
    return tuple(symbols)


@cache
def parents(templates: tuple[Template, ...] = TEMPLATES) -> Mapping[Template, tuple[Template, ...]]:
    """For each template, the closest ones that include it: the inclusion graph without redundant edges."""
    above = {
        template: [candidate for candidate in templates if candidate != template and candidate.includes(template)]
        for template in templates
    }
    return {
        template: tuple(outer for outer in broader if not any(outer in above[nearer] for nearer in broader))
        for template, broader in above.items()
    }


@cache
def depths(templates: tuple[Template, ...] = TEMPLATES) -> Mapping[Template, int]:
    """For each template, the length of the longest path to it from one that nothing includes."""
    edges = parents(templates)
    depth: dict[Template, int] = {}
    while len(depth) < len(edges):
        for template, above in edges.items():
            if template not in depth and all(parent in depth for parent in above):
                depth[template] = 1 + max((depth[parent] for parent in above), default=-1)
    return depth


def matching_templates(symbols: Sequence[str], templates: tuple[Template, ...] = TEMPLATES) -> list[Template]:
    """The templates a sequence matches, most specific first."""
    depth = depths(templates)
    return sorted((t for t in templates if t.matches(symbols)), key=lambda t: -depth[t])


@dataclass(frozen=True)
class TemplateSupport:
    """Shares of the documents that have sections, one per dictionary."""

    documents: int
    without_sections: int
    shares: dict[Template, tuple[float, ...]]
    any: tuple[float, ...]  # documents that match any template except the symbolic root


def support(outlines: Sequence[SectionOutline], dictionaries: Sequence[Dictionary]) -> TemplateSupport:
    """The support of every template under each dictionary.

    The last dictionary decides which documents have sections at all, so that all shares refer to the same documents.
    """
    filled = [outline for outline in outlines if sequence(outline, dictionaries[-1])]
    columns = [Counter(letters(sequence(outline, dictionary)) for outline in filled) for dictionary in dictionaries]

    def shares(*templates: Template) -> tuple[float, ...]:
        matched = (
            sum(n for symbols, n in column.items() if any(t.matches(symbols) for t in templates)) for column in columns
        )
        return tuple(number / max(len(filled), 1) for number in matched)

    return TemplateSupport(
        documents=len(outlines),
        without_sections=len(outlines) - len(filled),
        shares={template: shares(template) for template in TEMPLATES},
        any=shares(*(template for template in TEMPLATES if template != ANY)),
    )
