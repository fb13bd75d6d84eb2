"""The formulas of the thesis, worked out the long way."""

import pytest
import torch

from whycite.lab.thesis.networks import MODELS, EncodedSentences, PassageNetwork, PassageRecipe


def _network(model: str) -> PassageNetwork:
    torch.manual_seed(0)
    network = PassageNetwork(PassageRecipe(model=model, words=6, hidden=4), torch.randn(20, 6))
    network.eval()
    return network


CLAIM, SENTENCES = [3, 4, 5], [[6, 7], [8, 9, 10, 11], [12]]


def test_base_joins_final_states() -> None:
    network = _network("lstm")
    claim, sentences = network.read_claims([CLAIM] * 3), network.read_sentences(SENTENCES)
    for row, ids in enumerate(SENTENCES):
        alone = network.read_sentences([ids])
        torch.testing.assert_close(alone.states[0, -1], sentences.final[row])  # padding changes nothing
        c, e = claim.final[row], sentences.final[row]
        expected = network.output(torch.cat([c, c * e, e]))[0]
        torch.testing.assert_close(network(claim, sentences)[row], expected)


def test_both_ways_ends_at_either_end() -> None:
    read = _network("bilstm").read_sentences(SENTENCES)
    torch.testing.assert_close(read.final[1], torch.cat([read.states[1, 3, :2], read.states[1, 0, 2:]]))
    torch.testing.assert_close(read.final[2], read.states[2, 0])


def test_attention_is_by_the_best_word_of_the_other_side() -> None:
    network = _network("bidaf")
    attention = network.attention
    assert attention is not None
    claim, sentences = network.read_claims([CLAIM]), network.read_sentences([SENTENCES[1]])
    weights = torch.cat([attention.of_claim.weight[0], attention.of_sentence.weight[0], attention.of_both])
    similar = torch.empty(3, 4)
    for i, u in enumerate(claim.states[0]):
        for j, v in enumerate(sentences.states[0]):
            similar[i, j] = weights @ torch.cat([u, v, u * v]) + attention.of_claim.bias[0]
    c = torch.softmax(similar.max(dim=1).values, 0) @ claim.states[0]
    e = torch.softmax(similar.max(dim=0).values, 0) @ sentences.states[0]
    found = attention(claim, sentences)
    torch.testing.assert_close(found[0][0], c)
    torch.testing.assert_close(found[1][0], e)


def test_attention_among_sentences_scales_them() -> None:
    network = _network("document-attention")
    order = network.order
    assert order is not None
    assert order.inner is not None
    assert order.sought is not None
    joined = torch.randn(2, 5, 12)
    states = order.network(joined)[0]
    weights = torch.softmax(torch.tanh(order.inner(states)) @ order.sought.weight[0], dim=1)
    assert weights.sum(dim=1).tolist() == pytest.approx([1, 1])
    torch.testing.assert_close(order(joined), states * weights[:, :, None] * 5)  # times the sentences


@pytest.mark.parametrize("model", [name for name, form in MODELS.items() if form.document])
def test_documents_give_each_claim_each_sentence(model: str) -> None:
    network = _network(model)
    claims, sentences = network.read_claims([CLAIM, [1]]), network.read_sentences(SENTENCES)
    both = network.documents(claims, sentences)
    assert both.shape == (2, 3)
    first = EncodedSentences(*(part[:1] for part in claims))
    torch.testing.assert_close(both[:1], network.documents(first, sentences))


def test_pair_models_read_no_documents() -> None:
    network = _network("rnn")
    with pytest.raises(ValueError, match="one sentence at a time"):
        network.documents(network.read_claims([CLAIM]), network.read_sentences(SENTENCES))
    with pytest.raises(ValueError, match="another model"):
        network.load_learned({"nothing": torch.zeros(1)})
