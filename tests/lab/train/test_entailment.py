"""Training the entailment model: a tiny MPNet learns, a student follows its teacher, and packs are kept."""

import math
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

from tests.fakes import tiny_entailment_network, word_tokenizer
from whycite.lab.train.entailment import (
    OUTPUTS,
    UNLABELLED,
    EntailmentNetwork,
    EntailmentRecipe,
    LabelledPair,
    PairEncoder,
    SentenceList,
    TrainingPack,
    fused_states,
    load_pack,
    predict,
    save_pack,
    shrink,
    shrink_layers,
    train,
)

WORDS = [f"w{number}" for number in range(4, 40)]
SMALL: dict[str, Any] = {"initializer_range": 0.05}


def _pack(unlabelled: bool = False) -> TrainingPack:
    """Pairs whose label is the first word of the passage, and lists whose relevant sentence begins as the claim."""
    chance = Random(0)
    pairs = []
    for number in range(120):
        label = number % 3
        passage = " ".join([("w4", "w5", "w6")[label], *chance.choices(WORDS[6:], k=3)])
        pairs.append(
            LabelledPair(
                " ".join(chance.choices(WORDS[6:], k=3)), passage, UNLABELLED if unlabelled else label, "words"
            )
        )
    lists = [
        SentenceList(
            f"w{number} w30", tuple(f"{first} w20 w21" for first in ("w7", "w8", "w9")), (number - 7,), "words"
        )
        for number in (7, 8, 9)
    ]
    return TrainingPack(tuple(pairs), () if unlabelled else tuple(lists))


def _encoder(pack: TrainingPack) -> PairEncoder:
    encoder = PairEncoder(word_tokenizer(WORDS), 40, 1)
    encoder.add([text for pair in pack.pairs for text in (pair.claim, pair.passage)])
    encoder.add([text for item in pack.lists for text in (item.claim, *item.sentences)])
    return encoder


def _batches() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The pairs of the pack in batches."""
    pack = _pack()
    encoder = _encoder(pack)
    rows = [encoder.ids(pair.claim, pair.passage) for pair in pack.pairs]
    for start in range(0, len(rows), 40):
        yield encoder.batch(rows[start : start + 40], "cpu")


def _train(network: EntailmentNetwork, pack: TrainingPack, steps: int, **settings: Any) -> float:
    """Train for some steps; the loss that was told."""
    told: list[str] = []
    recipe = EntailmentRecipe(steps, rate=3e-3, batch=24, lists=3, list_size=3)
    train(network, _encoder(pack), pack, recipe, tell=told.append, **settings)
    assert told[-1].startswith(f"{steps} steps in ")
    return float(told[-1].rpartition(" ")[2])


def _accuracy(network: EntailmentNetwork, pack: TrainingPack) -> float:
    outputs = predict(network, _encoder(pack), [(pair.claim, pair.passage) for pair in pack.pairs])
    return float(np.mean(outputs[:, 1:].argmax(1) == [pair.label for pair in pack.pairs]))


@pytest.fixture(scope="module")
def trained() -> tuple[EntailmentNetwork, float]:
    """A network that has learned the pack, and its loss."""
    network = tiny_entailment_network(40, **SMALL)
    loss = _train(network, _pack(), 50)
    return network, loss


def test_labelled_pairs_and_lists_are_learned(trained: tuple[EntailmentNetwork, float]) -> None:
    network, loss = trained
    assert loss < 0.8 * _train(tiny_entailment_network(40, **SMALL), _pack(), 1)
    assert _accuracy(network, _pack()) > 0.9
    assert not network.training


def test_a_student_learns_unlabelled_pairs_from_its_teacher(trained: tuple[EntailmentNetwork, float]) -> None:
    pack, (teacher, _) = _pack(), trained
    student = shrink(teacher, [1], 32, _batches())
    with torch.no_grad():
        student.head.weight.zero_()
    before = _accuracy(student, pack)
    _train(student, _pack(unlabelled=True), 40, teacher=teacher)
    assert before < 0.5
    assert _accuracy(student, pack) > 0.8


def test_unlabelled_pairs_are_learned_only_with_a_teacher() -> None:
    """Their label would be taken for the first one; without a teacher they are not drawn."""
    labelled = [pair for pair in _pack().pairs if pair.label]
    unlabelled = _pack(unlabelled=True).pairs
    networks = [tiny_entailment_network(40, **SMALL) for _ in range(2)]
    for network, pairs in zip(networks, (labelled, [*labelled, *unlabelled]), strict=True):
        _train(network, TrainingPack(tuple(pairs), ()), 5)
    for one, other in zip(networks[0].parameters(), networks[1].parameters(), strict=True):
        assert torch.equal(one, other)


def test_what_is_shrunk_keeps_its_shapes() -> None:
    teacher = tiny_entailment_network(40)
    student = shrink(teacher, [1], 24, _batches())
    config = student.model.config
    assert (config.num_hidden_layers, config.intermediate_size) == (1, 24)
    (layer,) = student.model.encoder.layer
    assert tuple(layer.intermediate.dense.weight.shape) == (24, 32)
    assert tuple(layer.output.dense.weight.shape) == (32, 24)
    assert torch.equal(layer.attention.attn.q.weight, teacher.model.encoder.layer[1].attention.attn.q.weight)
    assert len(teacher.model.encoder.layer) == 2  # the teacher is left as it was
    assert predict(student, _encoder(_pack()), [("w10 w11", "w4 w12")]).shape == (1, len(OUTPUTS))


def test_with_all_neurons_nothing_changes() -> None:
    teacher = tiny_entailment_network(40)
    pairs = [("w10 w11", "w4 w12"), ("w12", "w5")]
    same = shrink(teacher, [0, 1], 64, _batches())
    encoder = _encoder(_pack())
    np.testing.assert_allclose(predict(same, encoder, pairs), predict(teacher, encoder, pairs), atol=0.02)


def test_what_a_neuron_did_is_done_by_those_that_act_with_it() -> None:
    """Each of the first neurons has a weaker twin, which a cut by weight alone loses."""
    teacher = tiny_entailment_network(40, **SMALL)
    with torch.no_grad():
        for layer in teacher.model.encoder.layer:
            rising, falling = layer.intermediate.dense, layer.output.dense
            rising.weight *= 4
            for parameter in (rising.weight, rising.bias):
                parameter[32:] = parameter[:32]
            falling.weight[:, :32] *= 10
            falling.weight[:, 32:] *= 3
    fitted, cut, encoder = shrink(teacher, [0, 1], 32, _batches()), deepcopy(teacher), _encoder(_pack())
    shrink_layers(cut.model, [0, 1], 32)
    ids, mask = encoder.batch([encoder.ids(pair.claim, pair.passage) for pair in _pack().pairs[:20]], "cpu")
    with torch.no_grad():
        own, other, taught = (network(ids, mask)[1][-1][mask.bool()] for network in (fitted, cut, teacher))
    assert (own - taught).abs().mean() < 0.3 * (other - taught).abs().mean()


def test_a_student_learns_the_states_between(trained: tuple[EntailmentNetwork, float]) -> None:
    """Of each layer that it has, those of the teacher's layer that it was taken from."""
    teacher, _ = trained
    student = shrink(teacher, [1], 32, _batches())
    assert student.taken_from == (1,)
    assert shrink(student, [0], 16, _batches()).taken_from == (0,)
    pack = _pack(unlabelled=True)
    ids, mask = _encoder(pack).batch([_encoder(pack).ids(pair.claim, pair.passage) for pair in pack.pairs[:20]], "cpu")

    def likeness() -> float:
        with torch.no_grad():
            own, taught = student(ids, mask)[1][0], teacher(ids, mask)[1][1]
        return float(torch.nn.functional.cosine_similarity(own, taught, dim=-1)[mask.bool()].mean())

    before = likeness()
    _train(student, pack, 40, teacher=teacher)
    assert likeness() > before


def test_a_prediction_does_not_depend_on_its_batch() -> None:
    network, encoder = tiny_entailment_network(40), _encoder(_pack())
    pairs = [("w10", "w4"), ("w10 w11 w12", "w4 w5 w6 w7 w8"), ("w12", "w5 w9")]
    np.testing.assert_allclose(predict(network, encoder, pairs, batch=1), predict(network, encoder, pairs), atol=1e-4)


def test_time_ends_training() -> None:
    told: list[str] = []
    pack = _pack()
    recipe = EntailmentRecipe(10**9, seconds=0.2, batch=4, lists=1)
    train(tiny_entailment_network(40), _encoder(pack), pack, recipe, tell=told.append)
    assert int(told[0].split()[0]) < 10_000
    assert math.isfinite(float(told[0].rpartition(" ")[2]))


def test_packs_are_kept(tmp_path: Path) -> None:
    pack = TrainingPack(
        (LabelledPair("a", "b", 1, "s", 2), LabelledPair("c", "d", UNLABELLED, "s")),
        (SentenceList("a", ("b", "c"), (1,), "s", 0),),
    )
    save_pack(pack, tmp_path / "pack.xz")
    assert load_pack(tmp_path / "pack.xz") == pack


def test_folds_that_are_measured_are_left_out() -> None:
    pack = TrainingPack(
        tuple(LabelledPair("a", "b", 0, "s", fold) for fold in (-1, 0, 1)), (SentenceList("a", ("b",), (0,), "s", 1),)
    )
    assert [pair.fold for pair in pack.without_fold(1).pairs] == [-1, 0]
    assert pack.without_fold(1).lists == ()
    assert [pair.fold for pair in pack.without_fold(None).pairs] == [-1]
    assert len(pack.without_fold(0).lists) == 1


def test_fused_attention_gives_the_states_of_the_model() -> None:
    model = tiny_entailment_network(40, **SMALL).model
    ids = torch.randint(5, 30, (3, 12), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    ids[1, 7:], mask[1, 7:] = 1, 0
    with torch.no_grad():
        expected = model(input_ids=ids, attention_mask=mask).last_hidden_state
        *_, states = fused_states(model, ids, mask)
    torch.testing.assert_close(states[mask.bool()], expected[mask.bool()])
