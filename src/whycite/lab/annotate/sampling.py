"""Sample candidate sentences for claims and make labelling tasks (the thesis, chapter 3 and 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.documents import read as read_document
from whycite.errors import UserError
from whycite.lab.annotate.tasks import LABELS, LabellingTask, TaskKind, TaskOption, names_to_swap, swap_label
from whycite.lab.evaluate.comparison import order_by_lot
from whycite.lab.jsonlines import read_objects, text_of, whole_numbers
from whycite.text.tokens import fold

__all__ = [
    "CHECKED",
    "CitingClaim",
    "SampledClaim",
    "SamplingShares",
    "check_sampling",
    "make_tasks",
    "read_claims",
    "sample",
]


_EXPECTED = 'give "sentences", a list of strings, or "paper", the path of a document'
_SHORTEST = 3  # minimum words in a candidate sentence


@dataclass(frozen=True, slots=True)
class CitingClaim:
    """A claim and the possible candidates among the sentences of the cited document."""

    id: str
    claim: str
    citing: str
    document: str
    sentences: tuple[TaskOption, ...]
    gold: frozenset[int] | None = None  # indices of evidence sentences; None if unknown
    related: frozenset[int] | None = None
    contradicts: frozenset[int] | None = None  # of sentences that contradict the claim


def read_claims(path: str | Path) -> Iterator[CitingClaim]:
    """Read the claims of a JSONL file; relative paths of papers start from its folder."""
    folder = Path() if str(path) == "-" else Path(path).parent
    seen_ids: set[str] = set()
    for place, row in read_objects(path):
        claim = _parse_claim(row, place, folder)
        if claim.id in seen_ids:
            raise UserError(f"{place}: duplicate claim '{claim.id}'")
        seen_ids.add(claim.id)
        yield claim


def _parse_claim(row: Mapping[str, Any], place: str, folder: Path) -> CitingClaim:
    id, claim = text_of(row, "id", place), text_of(row, "claim", place)
    paper, texts = row.get("paper"), row.get("sentences")
    if (paper is None) == (texts is None):
        raise UserError(f"{place}: {_EXPECTED}")
    if texts is not None:
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise UserError(f"{place}: {_EXPECTED}")
        sentences = tuple(TaskOption(index, text) for index, text in enumerate(texts))
    else:
        file = folder / text_of(row, "paper", place)
        try:
            sentences = _paper_sentences(file)
        except UserError as error:
            raise UserError(f"{place}: {error}") from error
    number = len(texts) if texts is not None else max((option.index for option in sentences), default=-1) + 1
    marked = {key: whole_numbers(row, key, place) for key in ("gold", "related", "contradicts")}
    if disputed := sorted((marked["gold"] or frozenset()) & (marked["contradicts"] or frozenset())):
        raise UserError(f'{place}: sentence {disputed[0]} is in "gold" and in "contradicts"; it cannot be both')
    for key, indices in marked.items():
        if indices and not 0 <= min(indices) <= max(indices) < number:
            raise UserError(f'{place}: "{key}" counts the sentences from 0, and there are {number}')
    folded_claim = fold(claim)
    return CitingClaim(
        id=id,
        claim=" ".join(claim.split()),
        citing=text_of(row, "citing", place, id),
        document=text_of(row, "document", place, "" if paper is None else str(paper)) or id,
        # A document cannot back the claim by repeating it.
        sentences=tuple(option for option in sentences if option.text.strip() and fold(option.text) != folded_claim),
        gold=marked["gold"],
        related=marked["related"],
        contradicts=marked["contradicts"],
    )


@lru_cache(maxsize=8)  # claims about one paper are usually adjacent
def _paper_sentences(path: Path) -> tuple[TaskOption, ...]:
    """The sentences of a paper's prose, with their indices."""
    document = read_document(path)
    return tuple(
        TaskOption(index, sentence.text)
        for index, sentence in enumerate(document.sentences)
        if sentence.kind == "prose" and sum(map(str.isalpha, _initials(sentence.text))) >= _SHORTEST
    )


def _initials(text: str) -> list[str]:
    return [word[0] for word in text.split()]


CHECKED = (1, 3, 5, 10, 20, 50)

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class SampledClaim:
    """A claim and its document's sentences by similarity; the first `top` are candidates."""

    cited: CitingClaim
    order: tuple[TaskOption, ...]
    top: int

    @property
    def candidates(self) -> tuple[TaskOption, ...]:
        """The sentences shown to labellers."""
        return self.order[: self.top]

    @property
    def discarded(self) -> tuple[TaskOption, ...]:
        """The sentences not shown to labellers."""
        return self.order[self.top :]


@dataclass(frozen=True, slots=True)
class SamplingShares:
    """The share of known evidence among the k most similar sentences (figure 3.1)."""

    claims: int
    evidence: int  # sentences
    found: dict[int, float]  # k -> share of them
    any: dict[int, float]  # k -> share of claims with any evidence found


def sample(claims: Iterable[CitingClaim], encode: Encode, top: int = 10) -> Iterable[SampledClaim]:
    """Sort the sentences for each claim by cosine (equation 3.1); successive claims share encoded documents."""
    previous: tuple[tuple[TaskOption, ...], NDArray[np.float32]] | None = None
    for citing_claim in claims:
        if not citing_claim.sentences:
            yield SampledClaim(citing_claim, (), top)
            continue
        if previous is None or previous[0] != citing_claim.sentences:
            previous = citing_claim.sentences, encode([option.text for option in citing_claim.sentences])
        claim = encode([citing_claim.claim])[0]
        # Not a matrix product: its last digits depend on the number of threads.
        order = np.argsort(-(previous[1] * claim).sum(axis=1), kind="stable")
        yield SampledClaim(citing_claim, tuple(citing_claim.sentences[index] for index in order), top)


def check_sampling(sampled: Iterable[SampledClaim]) -> SamplingShares | None:
    """The numbers of figure 3.1 for claims with known evidence, or None."""
    ranks = []
    for sampled_claim in sampled:
        if sampled_claim.cited.gold:
            places = {option.index: rank for rank, option in enumerate(sampled_claim.order, 1)}
            # Evidence that could not be a candidate is never found.
            ranks.append(
                [places.get(index, len(sampled_claim.order) + CHECKED[-1]) for index in sampled_claim.cited.gold]
            )
    if not ranks:
        return None
    everything = [rank for claim_ranks in ranks for rank in claim_ranks]
    return SamplingShares(
        len(ranks),
        len(everything),
        {k: sum(rank <= k for rank in everything) / len(everything) for k in CHECKED},
        {k: sum(min(claim_ranks) <= k for claim_ranks in ranks) / len(ranks) for k in CHECKED},
    )


def make_tasks(
    sampled: Iterable[SampledClaim],
    kinds: Sequence[TaskKind] = ("BR",),
    pairs: int = 5,
    discarded: int = 8,
    seed: int = 0,
) -> list[LabellingTask]:
    """Make tasks of these kinds: `pairs` comparisons per claim, and a judgement of each candidate.

    The correct option (if unknown, the more similar one) is first and second equally often. Comparisons carry some
    sentences that were not sampled, for the augmented dataset (4.5).
    """
    if not kinds or len(set(kinds)) < len(kinds):
        raise UserError(f"give each kind of task only once: {', '.join(LABELS)}")
    if pairs < 1:
        raise UserError(f"there must be at least 1 pair per claim, not {pairs}")
    tasks: list[LabellingTask] = []
    for sampled_claim in sampled:
        for kind in kinds:
            claim_tasks = (
                _comparisons(sampled_claim, pairs, discarded, seed)
                if kind == "BR"
                else _judgements(sampled_claim, kind)
            )
            tasks += order_by_lot(claim_tasks, lambda task: task.id, seed)  # the order must not reveal similarity
    return _balance(tasks, seed)


def _comparisons(sampled: SampledClaim, pairs: int, discarded: int, seed: int) -> list[LabellingTask]:
    cited = sampled.cited
    distractors = order_by_lot(sampled.discarded, lambda option: f"{cited.id} {option.index}", seed)[:discarded]
    tasks = []
    for first_option, second_option in combinations(sampled.candidates, 2):
        has_gold = cited.gold is not None and (first_option.index in cited.gold) != (second_option.index in cited.gold)
        gold = None if cited.gold is None or not has_gold else "1" if first_option.index in cited.gold else "2"
        name = "-".join(str(index) for index in sorted((first_option.index, second_option.index)))
        tasks.append(_make_task(sampled, "BR", name, (first_option, second_option), gold, tuple(distractors)))
    return order_by_lot(tasks, lambda task: task.id, seed)[:pairs]


def _judgements(sampled: SampledClaim, kind: TaskKind) -> list[LabellingTask]:
    return [
        _make_task(sampled, kind, str(option.index), (option,), _gold_label(sampled.cited, kind, option.index))
        for option in sampled.candidates
    ]


def _gold_label(cited: CitingClaim, kind: TaskKind, index: int) -> str | None:
    """The correct label of a sentence, if it is known; that it is neither takes both lists to know."""
    if kind == "TC":
        supports, contradicts, neither = LABELS[kind]
        if index in (cited.gold or ()):
            return supports
        if index in (cited.contradicts or ()):
            return contradicts
        return None if cited.gold is None or cited.contradicts is None else neither
    indices = cited.gold if kind == "BC-E" else cited.related
    return None if indices is None else LABELS[kind][index not in indices]


def _make_task(
    sampled: SampledClaim,
    kind: TaskKind,
    name: str,
    options: tuple[TaskOption, ...],
    gold: str | None,
    discarded: tuple[TaskOption, ...] = (),
) -> LabellingTask:
    cited = sampled.cited
    id = f"{cited.id}:{kind}:{name}"
    return LabellingTask(id, kind, cited.claim, options, cited.citing, cited.document, gold, discarded)


def _balance(tasks: Sequence[LabellingTask], seed: int) -> list[LabellingTask]:
    """Swap the options in half of the comparisons, separately with and without gold."""
    swap: set[str] = set()
    for has_gold in (True, False):
        chosen = [task for task in tasks if task.kind == "BR" and (task.gold is not None) == has_gold]
        swap |= names_to_swap({task.id: task.gold or "1" for task in chosen}, seed)
    return [_swap_options(task) if task.id in swap else task for task in tasks]


def _swap_options(task: LabellingTask) -> LabellingTask:
    return replace(task, options=task.options[::-1], gold=swap_label(task.gold))
