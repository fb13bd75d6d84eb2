"""What `annotate split` wrote, as comparisons in the same parts."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.errors import UserError
from whycite.lab.annotate.pairs import PARTS, SentencePair, as_comparisons, as_dict, is_split, read_pairs, read_split
from whycite.lab.annotate.tasks import TaskOption
from whycite.lab.jsonlines import as_line

_WORDS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1).filter(str.strip)
_PAIRS = st.builds(
    lambda number, claim, first, second, label, document: SentencePair(
        f"c{number}:BR:0-1",
        claim,
        TaskOption(0, first),
        TaskOption(1, second),
        label,
        f"citing {number}",
        document,
        1.0,
    ),
    st.integers(0, 5),
    _WORDS,
    _WORDS,
    _WORDS,
    st.sampled_from(["1", "2"]),
    _WORDS,
)


@given(st.lists(_PAIRS, min_size=1))
def test_pairs_survive_their_file(tmp_path_factory: pytest.TempPathFactory, pairs: list[SentencePair]) -> None:
    path = tmp_path_factory.mktemp("pairs") / "train.jsonl"
    path.write_text("".join(as_line(as_dict(pair)) for pair in pairs), "utf-8")
    assert read_pairs(path) == pairs


@given(st.lists(_PAIRS, min_size=1))
def test_every_pair_becomes_a_comparison_with_the_same_winner(pairs: list[SentencePair]) -> None:
    comparisons = as_comparisons(pairs, "toy")
    won = sorted((pair.claim, (pair.first_option if pair.label == "1" else pair.second_option).index) for pair in pairs)
    assert sorted((one.case.claim, one.winner) for one in comparisons) == won


def test_sentences_are_compared_by_their_place_in_the_document(tmp_path: Path) -> None:
    rows = [("1", 4, 9, "1"), ("2", 9, 2, "2"), ("1", 4, 2, "1")]
    pairs = [
        SentencePair(f"c:BR:{n}", "Bees sleep.", TaskOption(a, f"S{a}."), TaskOption(b, f"S{b}."), label, "x", "y", 1.0)
        for n, (_, a, b, label) in enumerate(rows)
    ]
    for part in PARTS:
        (tmp_path / f"{part}.jsonl").write_text("".join(as_line(as_dict(pair)) for pair in pairs), "utf-8")
    assert is_split(tmp_path)
    comparisons = read_split(tmp_path, "toy")["dev"]
    case = comparisons[0].case
    assert case.sentences == ("S2.", "S4.", "S9.")
    assert [(one.winner, one.loser) for one in comparisons] == [(1, 2), (0, 2), (1, 0)]
    assert case.gold == {1}  # won, and never lost


def test_other_folders_are_no_split(tmp_path: Path) -> None:
    assert not is_split(tmp_path)
    for part in PARTS:
        (tmp_path / f"{part}.jsonl").write_text(json.dumps({"claim": "a", "label": "x"}) + "\n")
    assert not is_split(tmp_path)
    row = {"id": "a", "claim": "b", "options": [{"index": 0, "text": "s"}, {"index": 1, "text": "t"}], "label": "3"}
    (tmp_path / "train.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(UserError, match=r"train.jsonl:1: .* must be one of 1, 2"):
        read_pairs(tmp_path / "train.jsonl")
