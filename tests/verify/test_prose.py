"""Which claims are not in English."""

import pytest

from whycite.verify.prose import is_foreign_claim


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
def test_other_languages(claim: str) -> None:
    assert is_foreign_claim(claim)


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
    assert not is_foreign_claim(claim)
