"""What a draft's structure tells of its sentences, and its paragraphs as a detector reads them."""

import numpy as np
import pytest

from whycite.check.paragraphs import prose_paragraphs
from whycite.check.worthiness import adjust_worthiness, is_english, is_own_contribution, method_names
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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The cells of the mouse are in the blood.",
        "Previous studies have shown that anaphora can be resolved without full parsing.",
        "Deep learning outperforms classical methods.",
        "Van der Waals forces matter.",
        "Bees sleep at night. De la Cruz et al. measured how long they do so.",
        "Many animals die when they cannot rest. Few authors have asked why this should be so.",
        "1. 2. 3.",
    ],
)
def test_english_however_short(text: str) -> None:
    assert is_english([text] if text else [])


@pytest.mark.parametrize(
    "text",
    [
        "Bienen schlafen in der Nacht. Sie brauchen die Ruhe, und ohne sie finden sie den Weg nicht.",
        "Les cellules de la souris sont dans le sang. Voir la figure suivante.",
        "Las abejas duermen por la noche. Sin el descanso no encuentran el camino que lleva a su casa.",
        "Le api dormono di notte. Senza il riposo non trovano la strada che porta alla loro casa.",
        "Bijen slapen in de nacht. Zonder rust vinden ze de weg niet, en dat is voor het volk een gevaar.",
        "As abelhas dormem à noite. Sem o descanso não encontram o caminho para a casa, que é uma colmeia.",
        "Bin sover om natten. Utan vila hittar de inte vägen, och det är en fara som vi har mätt på fältet.",
        "Bier sover om natten. Uden hvile finder de ikke vejen, og det er en fare som vi har målt på marken.",
        "Pszczoły śpią w nocy. Bez snu nie wracają do ula, który jest ich domem, oraz gubią się na łące.",
        "Пчёлы спят ночью.",
        "蜜蜂在夜间睡觉。",
        "Mehiläiset nukkuvat öisin ja lentävät päivisin. " * 11,  # a language that is not known needs more text
    ],
    ids=["German", "French", "Spanish", "Italian", "Dutch", "Portuguese", "Swedish", "Danish", "Polish", "Russian",
         "Chinese", "Finnish"],
)  # fmt: skip
def test_other_languages(text: str) -> None:
    assert not is_english([text])


def test_a_long_draft_is_told_by_its_most_common_words() -> None:
    assert not is_english(["Figure one, table two, see below."] * 60)
    assert is_english(["Figure one of the table, see below."] * 60)


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
    with pytest.raises(ValueError, match="7 sentences have 2"):
        adjust_worthiness(document(), [0.1, 0.2])


def test_paragraphs_of_a_document() -> None:
    found = prose_paragraphs(document())
    assert [indices for _, indices in found] == [(0, 1), (2, 3)]
    first, second = (paragraph for paragraph, _ in found)
    assert first.sentences == ("BERT reads both ways.", "Here BERT is run once.")
    assert first.headings == ("Models",)
    assert second.section_type is None
