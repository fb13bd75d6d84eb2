"""Support of the templates: the share of documents whose section sequence matches each (SCOPE table 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from whycite.structure.dictionary import Dictionary
from whycite.structure.sequences import Outline, sequence
from whycite.structure.templates import ANY, TEMPLATES, Template, letters

__all__ = ["Support", "support"]


@dataclass(frozen=True)
class Support:
    """Shares of the documents that have sections, one for each dictionary asked about."""

    documents: int
    without_sections: int
    shares: dict[Template, tuple[float, ...]]
    any: tuple[float, ...]  # those that match some template besides the symbolic root


def support(outlines: Sequence[Outline], dictionaries: Sequence[Dictionary]) -> Support:
    """The support of every template under each dictionary.

    Which documents have sections at all is the last dictionary's to say, so that all shares are of the same ones.
    """
    filled = [outline for outline in outlines if sequence(outline, dictionaries[-1])]
    columns = [Counter(letters(sequence(outline, one)) for outline in filled) for one in dictionaries]

    def shares(*templates: Template) -> tuple[float, ...]:
        matched = (
            sum(n for symbols, n in column.items() if any(t.matches(symbols) for t in templates)) for column in columns
        )
        return tuple(number / max(len(filled), 1) for number in matched)

    return Support(
        documents=len(outlines),
        without_sections=len(outlines) - len(filled),
        shares={template: shares(template) for template in TEMPLATES},
        any=shares(*(template for template in TEMPLATES if template != ANY)),
    )
