"""Sentences as drafts have them."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.lab.train.worthiness.examples import NOISES, add_noise

TEXT = "As shown in Figure 2, about 50% of the cells – those of the cortex – divide twice within a day or so."


def test_deterministic() -> None:
    first, again = ([add_noise(TEXT, random) for _ in range(50)] for random in (Random(1), Random(1)))
    assert first == again
    assert first != [add_noise(TEXT, Random(2)) for _ in range(50)]


@pytest.mark.parametrize("kind", NOISES, ids=lambda kind: kind.__name__)
def test_each_kind_changes_the_text_and_keeps_most_of_it(kind: object) -> None:
    made = [kind(TEXT, Random(seed)) for seed in range(30)]  # type: ignore[operator]
    assert sum(each != TEXT for each in made) > 25
    words = set(TEXT.lower().rstrip(".").split())
    assert all(len(words & set(each.lower().replace("~", " ").rstrip(".").split())) > len(words) * 0.3 for each in made)


def test_left_overs_of_latex() -> None:
    made = " ".join(add_noise(TEXT, Random(seed)) for seed in range(300))
    assert all(sign in made for sign in ("\\emph{", "\\ref{fig:a}", "\\%", "--", "$", "~", "TODO", "()"))


@given(st.text(max_size=80), st.integers(0, 1000))
def test_any_text(text: str, seed: int) -> None:
    made = add_noise(text, Random(seed))
    assert made.strip() or not text.strip()
