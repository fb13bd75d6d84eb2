"""The four steps: what is encoded, what is read, and what a ranker changes."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from tests.fakes import FakeEncoder, FakeRanker
from whycite.errors import UserError
from whycite.models import load_encoder
from whycite.verify.claims import verify_sentences
from whycite.verify.features import STEPS, PassageWeights, shipped_weights
from whycite.verify.features import load_weights as load_weights
from whycite.verify.passages import MAX_ENCODED, MAX_READ, MAX_READ_IN_CONTEXT, PreparedDocument, sentence_in_context

CLAIM = "Honeybees that forage sleep at night"
TEXTS = ["Wasps build nests of paper.", "Foraging honeybees sleep at night.", "Bees hang their antennae in the dark."]


def _fond_of(word: str, stance: float = 0.0) -> FakeRanker:
    """Likes sentences with a word, and takes a stance on them."""
    return FakeRanker(lambda kind, claim, text: stance if kind == "stance" else 10.0 * (word in text))


def _asked(ranker: FakeRanker) -> list[tuple[str, int]]:
    return [(kind, len(texts)) for kind, _, texts in ranker.asked]


def _weights(stance: bool = True) -> PassageWeights:
    signs = {"backed": {"stance": 2.0}, "contradicted": {"stance": -2.0}}
    read = {"read": {"meaning": 1.0, "ranker": 1.0}, "between": {"read": 1.0, "between": 1.0}}
    steps = {kind: {**steps, **read} for kind, steps in shipped_weights().steps.items()}
    return replace(
        shipped_weights(),
        steps=steps,
        verdicts={**shipped_weights().verdicts, "stance": signs} if stance else shipped_weights().verdicts,
    )


def test_the_ranker_has_the_last_word() -> None:
    plain = verify_sentences(CLAIM, TEXTS)
    read = verify_sentences(CLAIM, TEXTS, ranker=_fond_of("antennae"), weights=_weights())
    assert plain.passages[0].index == 1
    assert read.passages[0].index == 2


@pytest.mark.parametrize(("stance", "verdict"), [(3.0, "backed"), (-3.0, "contradicted")], ids=["for", "against"])
def test_stance_tells_the_verdict(stance: float, verdict: str) -> None:
    ranker = _fond_of("sleep", stance)
    weights = replace(_weights(), ranker=ranker.name)
    assert verify_sentences(CLAIM, TEXTS, ranker=ranker, weights=weights).verdict == verdict
    assert ("stance", 3) in _asked(ranker)


@pytest.mark.parametrize(
    "weights", [replace(_weights(), ranker="other@1"), _weights(stance=False)], ids=["other", "none"]
)
def test_the_stance_of_a_ranker_that_was_not_fitted_to_is_not_asked(weights: PassageWeights) -> None:
    ranker = _fond_of("sleep", -3.0)
    verify_sentences(CLAIM, TEXTS, ranker=ranker, weights=weights)
    assert {kind for kind, _, _ in ranker.asked} == {"passage"}


def test_only_so_many_are_encoded_and_read() -> None:
    texts = [f"Sentence {n} about the weather of bees." for n in range(2000)]
    encoder, ranker = FakeEncoder(), _fond_of("weather")
    found = verify_sentences(CLAIM, texts, encoder=encoder, ranker=ranker, weights=_weights())
    assert len(encoder.asked) == MAX_ENCODED + 1
    assert _asked(ranker) == [("passage", MAX_READ), ("passage", MAX_READ_IN_CONTEXT)]
    assert len(found.passages) == 2000


def test_a_sentence_is_read_between_those_beside_it() -> None:
    assert sentence_in_context(TEXTS, 1) == f"{TEXTS[1]}\n{TEXTS[0]} {TEXTS[2]}"
    assert sentence_in_context(TEXTS, 0) == f"{TEXTS[0]}\n{TEXTS[1]}"
    assert sentence_in_context(TEXTS[:1], 0) == TEXTS[0]
    steps = {kind: {**steps, "read": {"meaning": 1.0}} for kind, steps in _weights().steps.items()}
    found = verify_sentences(CLAIM, TEXTS, ranker=_fond_of("antennae"), weights=replace(_weights(), steps=steps))
    # Only what stands beside the first one is without the word.
    assert [passage.index for passage in found.passages] == [1, 2, 0]
    steps = {kind: {**steps, "between": {}} for kind, steps in _weights().steps.items()}
    ranker = _fond_of("antennae")
    verify_sentences(CLAIM, TEXTS, ranker=ranker, weights=replace(_weights(), steps=steps))
    assert _asked(ranker) == [("passage", 3)]  # not read again where nothing was fitted to that


def test_a_second_claim_encodes_nothing_twice() -> None:
    encoder = FakeEncoder()
    prepared = PreparedDocument(TEXTS, [None] * 3, encoder, None, shipped_weights())
    first = prepared.rank(CLAIM)
    assert len(encoder.asked) == 4
    assert (prepared.rank(CLAIM).logits == first.logits).all()
    assert len(encoder.asked) == 5


def test_the_order_is_the_same_whatever_the_number_of_threads() -> None:
    one, two = (verify_sentences(CLAIM, TEXTS * 5, encoder=load_encoder(threads=n)) for n in (1, 2))
    assert one == two


def test_weights_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    shipped_weights().write(path)
    assert load_weights(path) == shipped_weights()
    assert path.read_text("utf-8") == files("whycite.verify").joinpath("weights.json").read_text("utf-8")
    path.write_text("{}", "utf-8")
    with pytest.raises(UserError, match="not a file of weights"):
        load_weights(path)
    with pytest.raises(UserError, match="No such file"):
        load_weights(tmp_path / "none.json")


def test_shipped_weights_know_their_features() -> None:
    for steps in shipped_weights().steps.values():
        for step, names in STEPS.items():
            assert steps[step].keys() == {*names, "bias"}
