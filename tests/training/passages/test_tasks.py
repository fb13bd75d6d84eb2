"""What a model is shown a step."""

from collections.abc import Callable
from random import Random

from whycite.evaluation.passages.comparisons import Comparison
from whycite.training.passages.tasks import Task, batches, tasks


def test_tasks_hold_the_sentences_that_are_compared(comparisons: Callable[..., list[Comparison]]) -> None:
    compared = comparisons(3, 1, True)
    alone, whole = tasks(compared, whole=False), tasks(compared, whole=True)
    for small, large, pair in zip(alone, whole, compared, strict=True):
        assert len(small.sentences) == 2
        assert large.sentences == pair.case.sentences
        assert large.pairs == ((pair.winner, pair.loser),)
        assert [small.sentences[at] for at in small.pairs[0]] == [large.sentences[at] for at in large.pairs[0]]


def test_claims_of_one_document_stand_together() -> None:
    shown = [Task(f"{at}", (f"document {at % 3}",), ()) for at in range(10)]
    together = batches(shown, 4, whole=True)
    assert [[task.claim for task in batch] for batch in together] == [
        ["0", "3", "6", "9"],
        ["1", "4", "7"],
        ["2", "5", "8"],
    ]
    assert [len(batch) for batch in batches(shown, 8, whole=True)] == [7, 3]
    assert [len(batch) for batch in batches(shown, 4, whole=False)] == [4, 4, 2]
    for whole in (True, False):
        drawn = batches(shown, 4, whole, Random(0))
        assert sorted(task.claim for batch in drawn for task in batch) == sorted(task.claim for task in shown)
        assert drawn != batches(shown, 4, whole)
