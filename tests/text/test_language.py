"""Which drafts and claims are not in English."""

import pytest

from whycite.text.language import is_english_draft, is_foreign_sentence


@pytest.mark.parametrize(
    "claim",
    [
        "Der Biber baut eine Burg von 3,5 m Höhe.",
        "Le castor construit une digue avec les branches.",
        "El castor construye una presa con ramas.",
        "Il castoro costruisce una diga nel fiume.",
        "O castor constrói uma barragem com ramos.",
        "De bever bouwt een dam voor zijn burcht.",
        "Бобры строят плотины",
        "海狸在河流上建造许多大坝来保护自己",
    ],
)
def test_claims_in_other_languages(claim: str) -> None:
    assert is_foreign_sentence(claim)


@pytest.mark.parametrize(
    "claim",
    [
        "Beavers build dams",
        "Large beavers repair old dams",
        "Van der Waals forces hold wood",
        "De novo dams fail",
        "Beavers of Las Vegas and La Paz build dams",
        "α-helix β-sheet γ-turn",
        "Castor fiber",
        "",
    ],
)
def test_english_or_unclear(claim: str) -> None:
    assert not is_foreign_sentence(claim)


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
    assert is_english_draft([text] if text else [])


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
def test_drafts_in_other_languages(text: str) -> None:
    assert not is_english_draft([text])


def test_a_long_draft_is_told_by_its_most_common_words() -> None:
    assert not is_english_draft(["Figure one, table two, see below."] * 60)
    assert is_english_draft(["Figure one of the table, see below."] * 60)
