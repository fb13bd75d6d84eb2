"""Passages that say the contrary in the claim's own words."""

import pytest

from whycite.verify.contradiction import reversed_by


@pytest.mark.parametrize(
    ("claim", "passage", "told"),
    [
        ("Old dams usually hold fresh water.", "Old dams usually do not hold any salt or fresh water.", "do not hold"),
        ("Beavers eat pine bark.", "Beavers never eat the bark of pine.", "never eat"),
        ("Dams were repaired in winter.", "In winter dams were not repaired.", "were not repaired"),
        (
            "Digging is the cheapest part of a dam.",
            "Digging remains the most expensive part of any dam.",
            "most expensive",
        ),
        ("Beavers are the slowest of swimmers.", "Of all swimmers beavers are the fastest.", "“fastest” here"),
        ("Herds were largest in winter.", "In winter fewest animals stood in herds.", "“fewest” here"),
        (
            "Feeding reduced the weight of beavers.",
            "There were no significant reductions in weight by feeding beavers.",
            "no significant reductions",
        ),
        ("Feeding altered the sleep of beavers.", "Feeding did not influence how long beavers sleep.", "not influence"),
        ("Dams lowered turbidity.", "Dams of any size had higher turbidity than rivers.", "“higher” here"),
        ("Beaver dams have high yield.", "Dams built by a beaver suffer from low yield.", "“low” here"),
        ("Bark is the least useful food.", "Bark is the most useful food here.", "“most useful” here"),
    ],
)
def test_the_contrary(claim: str, passage: str, told: str) -> None:
    assert told in reversed_by(claim, passage)
    assert reversed_by(passage, passage) == ""


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Beavers do not eat pine bark.", "Beavers do not eat pine bark."),
        ("Beavers eat pine bark.", "Beavers do not only eat pine bark."),
        ("Beavers eat pine bark.", "Beavers eat pine bark, but do not store it."),
        ("Beavers eat pine bark.", "Beavers of lakes do not eat pine bark, those of rivers eat it."),
        ("Beavers eat pine bark.", "Beavers that chew bark of pine do not swim."),
        ("Bark raises the risk of tooth loss.", "Bark does not raise the risk of hair loss."),
        ("Dams are the best shelter.", "Dams are the best shelter, trees the worst."),
        ("Dams are the best shelter.", "Rivers in winter are worst."),
        ("Dams lowered turbidity.", "Dams lowered turbidity, and rivers had higher turbidity."),
        ("Dams lowered turbidity.", "Dams did not have higher turbidity."),
        ("Dams lowered turbidity.", "Dams had higher banks and little turbidity."),
        ("Dams lowered turbidity and raised oxygen.", "Dams had higher turbidity."),
        (
            "Feeding reduced the weight of beavers.",
            "Feeding reduced weight, with no reductions in the sleep of beavers.",
        ),
        ("Feeding altered the sleep of beavers.", "Feeding altered their sleep and did not change where beavers live."),
        ("", ""),
    ],
)
def test_no_contrary(claim: str, passage: str) -> None:
    assert reversed_by(claim, passage) == ""
