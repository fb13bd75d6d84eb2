"""The three steps: what is encoded, what is read, what is read together, and what that changes."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from tests.fakes import FakeEncoder, FakeEntailment
from whycite.errors import UserError
from whycite.models import load_encoder
from whycite.models.pairs import load_entailment
from whycite.verify.claims import verify_sentences
from whycite.verify.features import (
    ABSTRACT,
    KINDS,
    READ_COLUMNS,
    STEPS,
    PassageWeights,
    load_weights,
    read_features,
    shipped_weights,
)
from whycite.verify.passages import JOINT_SENTENCES, MAX_ENCODED, MAX_READ, PreparedDocument, kind_of

CLAIM = "Honeybees that forage sleep at night"
TEXTS = ["Wasps build nests of paper.", "Foraging honeybees sleep at night.", "Bees hang their antennae in the dark."]


def _likes(word: str) -> FakeEntailment:
    """Takes sentences with a word for relevant."""
    return FakeEntailment(lambda claim, passage: (10.0 * (word in passage), 0, 0, 0))


def _weights(read: float = 1.0) -> PassageWeights:
    """Weights by which words come first and relevance counts as much as said."""
    steps = {
        "words": {"coverage": 10.0},
        "meaning": {"coverage": 10.0},
        "read": {"meaning": 1.0, "relevance": read},
    }
    verdicts = {"backed": {"joint support": 1.0}, "contradicted": {"joint contradiction": 1.0}, "not found": {}}
    return PassageWeights(dict.fromkeys(KINDS, steps), dict.fromkeys(KINDS, verdicts))


def _prepare(texts: Sequence[str], entailment: FakeEntailment) -> PreparedDocument:
    return PreparedDocument(texts, [None] * len(texts), FakeEncoder(), entailment, _weights())


def test_the_entailment_model_has_the_last_word() -> None:
    weights = _weights(read=2.0)
    plain = verify_sentences(CLAIM, TEXTS, entailment=FakeEntailment(), encoder=FakeEncoder(), weights=weights)
    read = verify_sentences(CLAIM, TEXTS, entailment=_likes("antennae"), encoder=FakeEncoder(), weights=weights)
    assert plain.passages[0].index == 1
    assert read.passages[0].index == 2


def test_only_what_was_encoded_is_read() -> None:
    near = [f"Honeybees number {number} sleep." for number in range(MAX_ENCODED)]
    far = [f"Wasp {number} builds." for number in range(20)]
    weights = _weights()
    steps = {**weights.steps["paper"], "meaning": {"cosine": 10.0}}
    weights = replace(weights, steps=dict.fromkeys(KINDS, steps))
    encoder = FakeEncoder(lambda text: (1, 0) if text in (CLAIM, near[0]) else (-1, 0))
    prepared = PreparedDocument([*far, *near], [None] * 140, encoder, FakeEntailment(), weights)
    ranked = prepared.rank(CLAIM)
    assert len(ranked.read) == MAX_READ
    assert not np.isnan(ranked.cosines[ranked.read]).any()


def test_only_so_many_are_encoded_and_read() -> None:
    texts = [f"Sentence {number} about the weather of bees." for number in range(2000)]
    encoder, entailment = FakeEncoder(), _likes("weather")
    verification = verify_sentences(CLAIM, texts, encoder=encoder, entailment=entailment, weights=_weights())
    assert len(encoder.asked) == MAX_ENCODED + 1
    # All of them, and the best ones together; none with its neighbours, on which the verdict does not depend.
    assert [len(passages) for _, passages in entailment.asked] == [MAX_READ, 1]
    assert {claim for claim, _ in entailment.asked} == {CLAIM}
    assert len(verification.passages) == 2000


def test_what_was_not_read_takes_no_stance_and_ranks_below_the_best() -> None:
    texts = [f"Honeybees forage {number}." for number in range(2 * MAX_READ)]
    prepared = _prepare(texts, FakeEntailment(lambda claim, passage: (-10, 5, 0, 0)))
    ranked = prepared.rank(CLAIM)
    assert np.isnan(ranked.judgements).any(axis=1).sum() == MAX_READ
    assert len(ranked.read) == MAX_READ
    unread = [index for index in range(len(texts)) if index not in ranked.read]
    assert ranked.logits[unread].max() <= ranked.logits[ranked.read].max()


def test_of_a_paper_the_most_relevant_are_read_together_in_their_order() -> None:
    relevant = {3, 10, 17, 24, 31}
    texts = [f"Honeybees forage in field number {number}." for number in range(ABSTRACT + 5)]
    entailment = FakeEntailment(lambda claim, passage: (float(passage in {texts[i] for i in relevant}), 0, 0, 0))
    prepared = _prepare(texts, entailment)
    ranked = prepared.rank(CLAIM)
    judgement = prepared.joint(CLAIM, ranked)
    assert len(relevant) == JOINT_SENTENCES
    assert entailment.asked[-1] == (CLAIM, [" ".join(texts[index] for index in sorted(relevant))])
    assert judgement.shape == (4,)
    prepared.joint(CLAIM, ranked, frozenset({10}))
    assert texts[10] not in entailment.asked[-1][1][0]
    assert texts[17] in entailment.asked[-1][1][0]


def test_an_abstract_is_read_together_as_a_whole() -> None:
    entailment = _likes("antennae")
    prepared = _prepare(TEXTS, entailment)
    prepared.joint(CLAIM, prepared.rank(CLAIM))
    assert entailment.asked[-1] == (CLAIM, [" ".join(TEXTS)])


def test_kinds_of_documents() -> None:
    assert kind_of(["A sentence."] * ABSTRACT) == "abstract"
    assert kind_of(["A sentence."] * (ABSTRACT + 1)) == "paper"


def test_features_of_what_was_read() -> None:
    rows = read_features(np.array([[2.0, 3.0, -50.0, 1.0], [5.0, -50.0, 0.0, 1.0]]))
    table = dict(zip(READ_COLUMNS, rows.T.round(6).tolist(), strict=True))
    assert table == {
        "relevance": [2.0, 5.0],
        "relevance_gap": [-3.0, 0.0],
        "decided": [2.0, -1.0],
        "decided_gap": [0.0, -3.0],
    }
    assert read_features(np.empty((0, 4))).shape == (0, len(READ_COLUMNS))


def test_a_second_claim_encodes_nothing_twice() -> None:
    encoder = FakeEncoder()
    prepared = PreparedDocument(TEXTS, [None] * 3, encoder, FakeEntailment(), shipped_weights())
    first = prepared.rank(CLAIM)
    assert len(encoder.asked) == 4
    assert (prepared.rank(CLAIM).logits == first.logits).all()
    assert len(encoder.asked) == 5


def test_a_table_has_the_features_of_its_step() -> None:
    prepared = _prepare([f"Honeybees forage {number}." for number in range(MAX_ENCODED + 30)], FakeEntailment())
    for step, rows in (("words", MAX_ENCODED + 30), ("meaning", MAX_ENCODED), ("read", MAX_READ)):
        table, chosen = prepared.table(CLAIM, step)
        assert table.shape == (rows, len(STEPS[step]))
        assert len(chosen) == rows


def test_the_verification_is_the_same_whatever_the_number_of_threads() -> None:
    one, two = (
        verify_sentences(CLAIM, TEXTS * 5, encoder=load_encoder(threads=n), entailment=load_entailment(threads=n))
        for n in (1, 2)
    )
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


def test_chances_are_those_of_one_choice() -> None:
    weights = replace(
        _weights(), verdicts={"paper": {"backed": {"a": 2.0}, "contradicted": {"a": -1.0}, "not found": {"bias": 1.0}}}
    )
    chances = weights.chances("paper", {"a": 1.0, "unknown": 100.0})
    assert sum(chances.values()) == pytest.approx(1)
    assert chances["backed"] / chances["not found"] == pytest.approx(np.e)
    assert chances["contradicted"] / chances["not found"] == pytest.approx(np.exp(-2))
