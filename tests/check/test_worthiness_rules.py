"""What a draft's structure tells of its sentences, and its paragraphs as a detector reads them."""

import numpy as np
import pytest

from whycite.check.paragraphs import prose_paragraphs
from whycite.check.worthiness import adjust_worthiness, is_own_contribution, method_names
from whycite.documents.model import Citation, Document, Reference, Section, Sentence


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("We propose a new loss.", True),
        ("Here we briefly describe the data.", True),
        ("In the next section, results follow.", True),
        ("This paper presents a corpus.", True),
        ("They propose a new loss.", False),
        ("We used BERT.", False),
        ("Section 3 of the protein binds zinc.", False),
    ],
)
def test_own_contributions(text: str, own: bool) -> None:
    assert is_own_contribution(text) is own


def test_names() -> None:
    assert method_names("We train ResNet-50, AdaBoost and BERT on the data of Paris.") == {
        "ResNet-50",
        "AdaBoost",
        "BERT",
    }


def cite(text: str) -> Citation:
    return Citation(("a",), 0, 0, len(text), len(text))


def document() -> Document:
    texts = [
        ("BERT reads both ways.", 0, "prose", True),
        ("Here BERT is run once.", 0, "prose", False),
        ("We propose to run GPT once.", 0, "prose", False),
        ("GPT is larger.", 0, "prose", False),
        ("A figure.", 0, "caption", False),
        ("We thank all.", 1, "prose", False),
        ("A note.", 9, "footnote", False),
    ]
    sentences = tuple(
        Sentence(text, section, at // 2, "a.tex", 0, 0, (cite(text),) if cites else (), kind)  # type: ignore[arg-type]
        for at, (text, section, kind, cites) in enumerate(texts)
    )
    sections = (Section("Models", 1), Section("Thanks", 1, "acknowledgement"))
    return Document("a.tex", "latex", Reference("a"), sections, sentences)


def test_adjusted() -> None:
    half = np.full(7, 0.5)
    found = adjust_worthiness(document(), half)
    assert found == pytest.approx([0.5, 0.5, 1 / 3, 0.5, 0, 0, 0.5])
    again = adjust_worthiness(document(), half, ask_again=False)
    assert again == pytest.approx([0.5, 1 / 3, 1 / 3, 0.5, 0, 0, 0.5])
    assert half.tolist() == [0.5] * 7
    with pytest.raises(ValueError, match="7 sentences, but 2"):
        adjust_worthiness(document(), [0.1, 0.2])


def test_paragraphs_of_a_document() -> None:
    found = prose_paragraphs(document())
    assert [indices for _, indices in found] == [(0, 1), (2, 3)]
    first, second = (paragraph for paragraph, _ in found)
    assert first.sentences == ("BERT reads both ways.", "Here BERT is run once.")
    assert first.headings == ("Models",)
    assert second.section_type is None
