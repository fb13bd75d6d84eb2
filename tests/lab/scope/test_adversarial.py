"""The adversarial autoencoder: it learns, it runs in numpy as in torch, it is kept in a file."""

from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch

from whycite.errors import MissingExtra, UserError
from whycite.lab.scope.adversarial import AutoencoderNetwork, AutoencoderRecipe, LayerSizes, PaperSetBatch, train
from whycite.lab.scope.autoencoder import Autoencoder, TitleWords, load_autoencoder, make, save_autoencoder
from whycite.lab.scope.candidates import CandidatePaper, CitedSet, DraftPart, Lessons, Recommender, pool_of
from whycite.lab.scope.recommenders import make_most_popular

BLOCKS, WIDE = 4, 12
SMALL = AutoencoderRecipe(rate=1e-2, batch=32, hidden=24, code=8)
PUBLISHED = AutoencoderRecipe(batch=16)  # smaller batches, since there are few sets
WORDS = TitleWords([f"block{n}" for n in range(BLOCKS)], np.ones(BLOCKS, np.float32), np.eye(BLOCKS, dtype=np.float32))


def _paper(block: int, at: int) -> CandidatePaper:
    return CandidatePaper(f"{block}-{at:02}", f"paper {at} of block{block}")


def _lessons(seed: int = 0, epochs: int = 12, titles: bool = True, sets: int = 160) -> Lessons:
    """Sets of papers of one block each; section types and titles tell which."""
    chance = Random(seed)
    made = []
    for number in range(sets):
        block = chance.randrange(BLOCKS)
        cited = sorted(_paper(block, at).key for at in chance.sample(range(WIDE), 5))
        title = f"On block{block}" if titles else ""
        made.append(CitedSet(f"{number}", title, (f"type{block}",), tuple(cited)))
    papers = {paper.key: paper for block in range(BLOCKS) for at in range(WIDE) for paper in [_paper(block, at)]}
    return Lessons(made, papers, seed=seed, epochs=epochs)


def _recall(made: Recommender, part: DraftPart, block: int) -> float:
    found = [key for key, _ in made.recommend(part, WIDE - len(part.cited))]
    return sum(key.startswith(f"{block}-") for key in found) / len(found)


def test_it_learns_blocks_better_than_popularity() -> None:
    lessons = _lessons(epochs=30)
    made, popular = train("aae-none", lessons, PUBLISHED), make_most_popular("", lessons)
    parts = [(DraftPart((_paper(block, 0), _paper(block, 1))), block) for block in range(BLOCKS)]
    ours = np.mean([_recall(made, *each) for each in parts])
    assert ours > 0.9 > 2 * np.mean([_recall(popular, *each) for each in parts])


@pytest.mark.parametrize("condition", ["title", "section"])
def test_conditions_tell_where_nothing_is_cited(condition: str) -> None:
    lessons = _lessons(epochs=30)
    made = train("aae", lessons, SMALL, WORDS if condition == "title" else None, condition == "section")
    for block in range(BLOCKS):
        part = DraftPart((), f"On block{block}", (f"type{block}",))
        assert _recall(made, part, block) > 0.8


def test_the_same_seed_gives_the_same_weights() -> None:
    state = torch.random.get_rng_state()
    one, same, other = (train("aae", _lessons(seed, 2), SMALL, WORDS, True) for seed in (1, 1, 2))
    assert torch.equal(state, torch.random.get_rng_state())
    assert all(np.array_equal(one.weights[name], same.weights[name]) for name in one.weights)
    assert not np.array_equal(one.weights["code.weight"], other.weights["code.weight"])


def test_numpy_runs_it_as_torch_does() -> None:
    lessons = _lessons(sets=6)
    pool = pool_of(lessons)
    torch.manual_seed(3)
    network = AutoencoderNetwork(LayerSizes(len(pool), WORDS.dimensions, 3, hidden=16, code=5, section=4)).eval()
    made = Autoencoder("aae", pool, network.export_weights(), WORDS, ("", "type0", "type1"))
    cited = [[pool.papers[at] for at in places] for places in ([], [0], [1, 3, 2])]
    types = [("unheard of",), ("type1",), ("type1", "type0")]
    titles = ["", "block1 block2", "on block0"]
    batch = PaperSetBatch(
        [pool.places(each) for each in cited],
        np.array([WORDS.vector(title) for title in titles]),
        [[0], [2], [1, 2]],
    )
    with torch.no_grad():
        expected = torch.sigmoid(network.decode(network.encode(batch), batch)).numpy()
    for row, each, title, kinds in zip(expected, cited, titles, types, strict=True):
        np.testing.assert_allclose(made.scores(DraftPart(tuple(each), title, kinds)), row, rtol=1e-4, atol=1e-6)


def test_kept_in_a_file(tmp_path: Path) -> None:
    made = train("aae-section-title", _lessons(epochs=1), SMALL, WORDS, True)
    save_autoencoder(made, tmp_path / "made.npz")
    part = DraftPart((_paper(0, 0),), "block0", ("type0",))
    again = load_autoencoder(tmp_path / "made.npz")
    assert again.name == "aae-section-title"
    assert again.recommend(part) == made.recommend(part)
    assert len(again.recommend(part)) == len(made.pool) - 1


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 half a zip"], ids=["empty", "text", "broken"])
def test_files_that_hold_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.npz").write_bytes(content)
    with pytest.raises(UserError, match="cannot read the autoencoder"):
        load_autoencoder(tmp_path / "bad.npz")


def test_by_name(tmp_path: Path) -> None:
    lines = [f"block{n} " + " ".join(str(int(n == at)) for at in range(BLOCKS)) for n in range(BLOCKS)]
    (tmp_path / "words.txt").write_text("\n".join(lines), "utf-8")
    lessons = _lessons(epochs=1, sets=20)
    given = Lessons(lessons.sets, lessons.papers, epochs=1, word_vectors=tmp_path / "words.txt")
    conditions = {
        "aae-none": (False, False),
        "aae-title": (True, False),
        "aae-section-title": (True, True),
        "aae-section": (False, True),
    }
    for name, (title, section) in conditions.items():
        made = make(name, given)
        assert made.name == name
        assert (made.titles is not None, bool(made.sections)) == (title, section)
        assert made.weights["code.weight"].shape == (240, 50)
    with pytest.raises(UserError, match="unknown autoencoder 'aae-x'"):
        make("aae-x", given)


def test_training_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whycite.lab.scope.autoencoder.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'whycite\[train\]'"):
        make("aae-none", _lessons(epochs=1))
