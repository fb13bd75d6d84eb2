"""The ranker that comes with the bundled encoder."""

import pytest

from whycite.models import load_encoder
from whycite.models.rankers import Ranker, ranker_of

SAID = "In mice on a high-fat diet, treatment with the drug reduced body weight by 12% compared with controls."


@pytest.fixture(scope="module")
def ranker() -> Ranker:
    found = ranker_of(load_encoder())
    assert found is not None
    assert found.name.startswith("ranker-30m@")
    return found


def test_a_passage_about_the_claim_comes_first(ranker: Ranker) -> None:
    others = ["Mice were housed in groups of four.", "We thank our colleagues for help.", "Stars burn hydrogen."]
    scores = ranker.score("passage", "The drug lowers body weight of mice.", [*others, SAID])
    assert scores.argmax() == 3


@pytest.mark.parametrize(
    ("claim", "altered"),
    [
        ("The drug reduces body weight in mice.", "The drug increases body weight in mice."),
        ("The drug reduced body weight of mice by 12%.", "The drug reduced body weight of mice by 40%."),
        ("The drug reduces body weight in mice.", "The drug does not reduce body weight in mice."),
    ],
    ids=["direction", "number", "negation"],
)
def test_a_claim_that_is_altered_is_backed_less(ranker: Ranker, claim: str, altered: str) -> None:
    true, false = (float(ranker.score("stance", text, [SAID])[0]) for text in (claim, altered))
    assert true > max(0, false)
