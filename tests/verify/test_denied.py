"""What a claim denies, and what it makes up."""

from whycite.verify.claims import verify_sentences

PAPER = (
    "Thresher sharks use their tails to hunt sardines.",
    "We filmed sharks for three months near an island in the Philippines.",
    "Tail-slaps stunned several sardines at once.",
    *(f"Event number {at} was recorded with a handheld camera by the divers." for at in range(40)),
)


def test_what_is_denied_is_not_backed() -> None:
    said = verify_sentences("Thresher sharks use their tails to hunt sardines.", PAPER)
    denied = verify_sentences("Thresher sharks never use their tails to hunt sardines.", PAPER)
    assert said.verdict == "backed"
    assert denied.verdict != "backed"
    assert denied.chances["backed"] < said.chances["backed"] / 2


def test_what_is_made_up_is_less_backed() -> None:
    said = verify_sentences("Thresher sharks stun sardines with their tails.", PAPER)
    made_up = verify_sentences("Thresher sharks paint cathedrals with violet umbrellas.", PAPER)
    assert made_up.verdict != "backed"
    assert made_up.chances["backed"] < said.chances["backed"]
