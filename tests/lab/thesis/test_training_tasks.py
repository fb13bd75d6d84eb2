"""What a model is shown a step."""

from random import Random

from tests.lab.toys import make_comparisons
from whycite.lab.thesis.training import ComparisonTask, comparison_tasks, task_batches


def test_tasks_hold_the_sentences_that_are_compared() -> None:
    compared = make_comparisons(3, 1, True)
    alone, whole = comparison_tasks(compared, whole=False), comparison_tasks(compared, whole=True)
    for small, large, pair in zip(alone, whole, compared, strict=True):
        assert len(small.sentences) == 2
        assert large.sentences == pair.case.sentences
        assert large.pairs == ((pair.winner, pair.loser),)
        assert [small.sentences[at] for at in small.pairs[0]] == [large.sentences[at] for at in large.pairs[0]]


def test_claims_of_one_document_stand_together() -> None:
    shown = [ComparisonTask(f"{at}", (f"document {at % 3}",), ()) for at in range(10)]
    together = task_batches(shown, 4, whole=True)
    assert [[task.claim for task in batch] for batch in together] == [
        ["0", "3", "6", "9"],
        ["1", "4", "7"],
        ["2", "5", "8"],
    ]
    assert [len(batch) for batch in task_batches(shown, 8, whole=True)] == [7, 3]
    assert [len(batch) for batch in task_batches(shown, 4, whole=False)] == [4, 4, 2]
    for whole in (True, False):
        drawn = task_batches(shown, 4, whole, Random(0))
        assert sorted(task.claim for batch in drawn for task in batch) == sorted(task.claim for task in shown)
        assert drawn != task_batches(shown, 4, whole)
