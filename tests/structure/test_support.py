"""Support of templates over documents."""

from collections.abc import Callable, Sequence

import pytest

from whycite.documents.model import Document
from whycite.structure import BLOCKS, HeadingRules, Template, TemplateSupport, dictionary, outline, support

Make = Callable[..., Document]


def table(documents: Sequence[Document]) -> TemplateSupport:
    rules = HeadingRules({"kernel": "method"}, frozenset())
    return support([outline(document) for document in documents], [dictionary(block, rules) for block in BLOCKS])


def test_each_block_adds_to_support(make: Make) -> None:
    found = table(
        [
            make("Introduction", "Methods", "Experiments", "Conclusions"),
            make("Intro", "Methodology", "Results", "Summary", "Acknowledgements"),
            make("Introduction", "Model", "Experiment results", "Concluding remarks"),
            make("Introduction", "Kernels", "Detailed experimental setup", "Conclusions", "Proofs"),
            make("Abstract"),
        ]
    )
    assert (found.documents, found.without_sections) == (5, 1)
    assert found.shares[Template.parse("I M E C")] == (0.25, 0.5, 0.75, 1.0)
    assert found.shares[Template.parse("I * C")] == (0.25, 0.75, 0.75, 1.0)
    assert found.shares[Template.parse("I _ E C")] == (0.25, 0.5, 0.75, 1.0)
    assert found.shares[Template.parse("*")] == (1.0, 1.0, 1.0, 1.0)
    assert found.shares[Template.parse("I * D")] == (0.0, 0.0, 0.0, 0.0)
    assert found.any == (0.25, 0.75, 0.75, 1.0)


@pytest.mark.parametrize("headings", [[], [""], ["Abstract", "References"]])
def test_documents_without_sections_are_counted_apart(make: Make, headings: list[str]) -> None:
    found = table([make(*headings)])
    assert (found.documents, found.without_sections) == (1, 1)
    assert set(found.shares.values()) == {(0.0, 0.0, 0.0, 0.0)}
