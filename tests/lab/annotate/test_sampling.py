"""Tasks out of claims and documents."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.fakes import word_encoder
from whycite.errors import UserError
from whycite.lab.annotate.sampling import CitingClaim, SampledClaim, check_sampling, make_tasks, read_claims, sample
from whycite.lab.annotate.tasks import TaskOption, read_tasks, task_lines

Write = Callable[[str, Sequence[dict[str, object]]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes lines of JSON."""

    def write_rows(name: str, rows: Sequence[dict[str, object]]) -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        return path

    return write_rows


def cited(id: str = "c", number: int = 30, gold: frozenset[int] | None = None) -> CitingClaim:
    sentences = tuple(TaskOption(at, f"Sentence {at} about bees" + " wax" * at) for at in range(number))
    return CitingClaim(id, "bees", f"citing {id}", f"cited {id}", sentences, gold, gold)


def sampled(claims: int = 40, gold: frozenset[int] | None = None, top: int = 10) -> list[SampledClaim]:
    return list(sample([cited(f"c{at}", gold=gold) for at in range(claims)], word_encoder().encode, top))


def test_candidates_are_the_most_similar() -> None:
    (found,) = sample([cited()], word_encoder().encode, 10)
    assert [option.index for option in found.candidates] == list(range(10))
    assert [option.index for option in found.discarded] == list(range(10, 30))


def test_a_document_is_encoded_once_in_a_row() -> None:
    encoder = word_encoder()
    list(sample([cited("a"), cited("b"), cited("c", 5)], encoder.encode))
    assert [len(texts) for texts in encoder.calls] == [30, 1, 1, 5, 1]


def test_how_much_evidence_the_candidates_hold() -> None:
    checked = check_sampling([*sampled(1, frozenset({0, 4, 12, 29})), *sampled(1)])
    assert checked is not None
    assert (checked.claims, checked.evidence) == (1, 4)
    assert checked.found == {1: 0.25, 3: 0.25, 5: 0.5, 10: 0.5, 20: 0.75, 50: 1.0}
    assert set(checked.any.values()) == {1.0}
    assert check_sampling(sampled(1)) is None


def test_evidence_that_is_no_candidate_counts_as_missed() -> None:
    (found,) = sample(
        [CitingClaim("c", "bees", "a", "b", (TaskOption(0, "bees"),), frozenset({0, 3}))], word_encoder().encode
    )
    checked = check_sampling([found])
    assert checked is not None
    assert checked.found[50] == 0.5


def test_comparisons() -> None:
    tasks = make_tasks(sampled(), pairs=4, discarded=3)
    assert len(tasks) == len({task.id for task in tasks}) == 160
    assert all(len(task.options) == 2 and {o.index for o in task.options} <= set(range(10)) for task in tasks)
    assert all(len(task.discarded) == 3 and min(o.index for o in task.discarded) >= 10 for task in tasks)
    # The more similar one, here that of the smaller index, is the first as often as the second.
    assert sum(task.options[0].index < task.options[1].index for task in tasks) == 80
    assert {task.gold for task in tasks} == {None}
    assert make_tasks(sampled(), pairs=4, discarded=3) == tasks
    assert make_tasks(sampled(), pairs=4, discarded=3, seed=1) != tasks


def test_comparisons_with_gold_are_balanced_by_it() -> None:
    tasks = make_tasks(sampled(gold=frozenset({0, 1, 2})), pairs=20)
    golden = [task for task in tasks if task.gold]
    counts = Counter(task.gold for task in golden)
    assert abs(counts["1"] - counts["2"]) <= 1
    for task in golden:
        right, wrong = task.options if task.gold == "1" else task.options[::-1]
        assert right.index < 3 <= wrong.index
    # Of two that are both evidence, or neither, no one knows which is better.
    assert all((task.options[0].index < 3) == (task.options[1].index < 3) for task in tasks if not task.gold)


def test_judgements_of_each_candidate() -> None:
    tasks = make_tasks(sampled(2, frozenset({0, 1})), kinds=("BC-E", "BC-R"))
    assert Counter((task.kind, task.gold) for task in tasks) == {
        ("BC-E", "evidence"): 4, ("BC-E", "not evidence"): 16, ("BC-R", "related"): 4, ("BC-R", "unrelated"): 16,
    }  # fmt: skip
    order = [task.options[0].index for task in tasks[:10]]
    assert sorted(order) == list(range(10)) != order  # their order does not tell how similar they are


def test_more_pairs_than_there_are() -> None:
    assert len(make_tasks(sampled(1, top=3), pairs=50)) == 3
    assert make_tasks(list(sample([cited(number=1), cited("d", 0)], word_encoder().encode))) == []


@pytest.mark.parametrize(("kinds", "pairs"), [((), 5), (("BR", "BR"), 5), (("BR",), 0)], ids=["none", "twice", "pairs"])
def test_wrong_wishes(kinds: tuple[str, ...], pairs: int) -> None:
    with pytest.raises(UserError):
        make_tasks([], kinds, pairs)  # type: ignore[arg-type]


def test_files_of_tasks(tmp_path: Path) -> None:
    tasks = make_tasks(sampled(3, frozenset({1})), kinds=("BR", "BC-E"))
    path = tmp_path / "tasks.jsonl"
    path.write_text("".join(task_lines(tasks)), "utf-8")
    assert list(read_tasks(path).values()) == tasks


GOOD: dict[str, object] = {"id": "1", "kind": "BC-E", "claim": "C.", "options": [{"index": 0, "text": "S."}]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "BC"}, '"kind" must be one of BR, BC-E, BC-R'),
        ({"kind": ["BR"]}, '"kind" must be one of'),
        ({"kind": "BR"}, 'has 2 in "options", not 1'),
        ({"options": [{"text": "S."}]}, '"options" must be a list of objects'),
        ({"options": 3}, '"options" must be a list of objects'),
        ({"gold": "1"}, '"gold" of a task BC-E must be one of evidence, not evidence'),
        ({"claim": "  "}, '"claim" must be a non-empty string'),
        ({"id": None}, '"id" must be a non-empty string'),
    ],
    ids=range(8),
)
def test_wrong_tasks(write: Write, change: dict[str, object], said: str) -> None:
    path = write("tasks.jsonl", [GOOD, GOOD | {"id": "2"} | change])
    with pytest.raises(UserError, match=r"tasks\.jsonl:2: ") as caught:
        read_tasks(path)
    assert said in str(caught.value)


def test_wrong_files(tmp_path: Path, write: Write) -> None:
    with pytest.raises(UserError, match="no such file"):
        read_tasks(tmp_path / "none.jsonl")
    with pytest.raises(UserError, match=r":2: duplicate task '1'"):
        read_tasks(write("twice.jsonl", [GOOD, GOOD]))
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(b'{"id": 1\r\n')
    with pytest.raises(UserError, match=r"broken\.jsonl:1: not JSON"):
        read_tasks(broken)


def test_claims_with_sentences(write: Write) -> None:
    row = {"id": 7, "claim": " Bees \n sleep. ", "sentences": ["One.", "", "BEES sleep.", "Four."], "gold": [3]}
    (claim,) = read_claims(write("claims.jsonl", [row]))
    assert (claim.id, claim.claim, claim.citing, claim.document) == ("7", "Bees sleep.", "7", "7")
    assert [option.index for option in claim.sentences] == [0, 3]  # neither what is blank nor the claim itself
    assert claim.gold == frozenset({3})
    assert claim.related is None


def test_claims_with_papers(write: Write, tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "bees.md").write_text(
        "# Results\n\nForagers sleep at night. Yes. Their antennae hang down.\n", "utf-8"
    )
    rows: list[dict[str, object]] = [
        {"id": "a", "claim": "Bees sleep.", "paper": "papers/bees.md", "citing": "draft", "gold": [0]}
    ]
    (claim,) = read_claims(write("claims.jsonl", rows))
    assert [option.text for option in claim.sentences] == ["Foragers sleep at night.", "Their antennae hang down."]
    assert (claim.citing, claim.document) == ("draft", "papers/bees.md")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sentences": None}, 'give "sentences", a list of strings, or "paper"'),
        ({"paper": "x.md"}, 'give "sentences"'),
        ({"sentences": [1]}, 'give "sentences"'),
        ({"gold": [2]}, '"gold" counts the sentences from 0, and there are 2'),
        ({"related": [-1]}, '"related" counts the sentences from 0'),
        ({"gold": "0"}, '"gold" must be a list of whole numbers'),
        ({"gold": [True]}, '"gold" must be a list of whole numbers'),
        ({"claim": 3.5}, '"claim" must be a non-empty string'),
        ({"sentences": None, "paper": "none.md"}, "no such file"),
        ({"id": "1"}, "duplicate claim '1'"),
    ],
    ids=range(10),
)
def test_wrong_claims(write: Write, change: dict[str, object], said: str) -> None:
    good: dict[str, object] = {"id": "1", "claim": "C.", "sentences": ["One thing.", "Two things."]}
    path = write("claims.jsonl", [good, {k: v for k, v in (good | {"id": "2"} | change).items() if v is not None}])
    with pytest.raises(UserError, match=r"claims\.jsonl:2: ") as caught:
        list(read_claims(path))
    assert said in str(caught.value)


@pytest.mark.slow
def test_the_ten_most_similar_hold_most_of_real_evidence(data: Path) -> None:
    """Figure 3.1 on SciFact: abstracts, with the bundled encoder."""
    import zstandard

    from whycite.models import load_encoder

    def rows(name: str) -> list[dict[str, object]]:
        with zstandard.open(data / "scifact" / name, "rt", encoding="utf-8") as stream:
            return [json.loads(line) for line in stream]

    abstracts = {str(row["doc_id"]): row["abstract"] for row in rows("corpus.jsonl.zst")}
    made = []
    for row in rows("claims_train.jsonl.zst"):
        evidence = row.get("evidence")
        for document, marked in evidence.items() if isinstance(evidence, dict) else ():
            gold = frozenset(at for each in marked for at in each["sentences"])
            texts = abstracts[document]
            assert isinstance(texts, list)
            sentences = tuple(TaskOption(at, text) for at, text in enumerate(texts))
            made.append(
                CitingClaim(f"{row['id']}-{document}", str(row["claim"]), str(row["id"]), document, sentences, gold)
            )
    checked = check_sampling(sample(made[:15], load_encoder().encode))
    assert checked is not None
    assert checked.found[10] > 0.9
    assert sorted(checked.found.values()) == list(checked.found.values())
