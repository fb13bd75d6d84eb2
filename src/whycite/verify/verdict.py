"""The verdict on a claim: the signs its passages give, the chance of each verdict, the passage it rests on, the reason.

The signs come from the entailment model, which reads the best sentences one by one and the most relevant together, and
from numbers. Where a verdict depends on it, the sentences that support and contradict the claim most are read once more
with their neighbours: there a contradiction in a paper must hold, too. Weights and bars are fitted on claims against
whole papers and abstracts:
`python -m whycite.lab.train.verifyweights DATA OUT.json RECORDED.json WRITTEN.jsonl`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from whycite.models.pairs import CONTRADICTS, NEITHER, SUPPORTS
from whycite.verify import numbers
from whycite.verify.features import WORD_COLUMNS, PassageWeights, forms, says_in_same_words
from whycite.verify.passages import Floats, PreparedDocument, RankedSentences
from whycite.verify.quantities import quantities
from whycite.verify.verification import Role, Stance, Verdict

__all__ = [
    "ReasonedVerdict",
    "SentenceView",
    "Signs",
    "collect_signs",
    "is_safe_contradiction",
    "judge",
    "stance_of",
]

_TOP_PASSAGES = 8  # best passages in which a verdict is looked for
_OPEN_ROLES = frozenset({"hypothesis"})  # passages that name a claim without saying that it is so
# What a contradiction in a paper needs besides its chance, since a wrong one accuses somebody: logits by which the
# clearest sentence contradicts the claim among its neighbours, and the share of the claim's words in the deciding
# sentence. Chosen in folds of the claims that weights are fitted to.
_CONTRADICTS_IN_CONTEXT, _CONTRADICTION_COVERAGE = 0.0, 0.2
_NEARLY_AS_CLEAR = (
    2.0  # logits; of sentences that say so nearly as clearly as the clearest one, the best ranked decides
)
# How much farther from the claim than what others found a finding of the paper may be (cosine) to back it as well: on
# the same topic there is nearly always one that seems to. Chosen on the claims that weights are fitted to.
_MAX_FARTHER = 0.1
_NO_FINDINGS = frozenset({"others", "background"})  # roles of sentences that say what the paper did not find itself
_MIN_STANCE = 0.5  # chance from which a passage supports or contradicts
_SAME_WORDS_SUPPORT = 4.0  # of a finding in the claim's own words, of which the model is sometimes unsure
_NUMBER_PASSAGES = 3  # closest passages in which the claim's numbers are looked for
_SAME_MATTER = 0.4  # share of the claim's words from which another number in a sentence is that of the same thing
_DOUBTFUL = 0.4  # chance from which a claim that was not found may be backed after all
_BAR = 0.5  # least chance of a verdict, for weights without fitted bars
_EVEN = 0.5  # chance
_COVERAGE = WORD_COLUMNS.index("coverage")


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs as numbers, and the passages that support or contradict the claim most, best first."""

    values: dict[str, float]
    supporting: tuple[int, ...]
    contradicting: tuple[int, ...]
    clearly_supporting: frozenset[int]  # those that do so nearly as clearly as the clearest
    nearness: dict[int, float]  # of each passage to the claim, by the encoder
    # How clearly the sentence that supports the claim most does so among its neighbours, and the one that contradicts
    # it. Functions, since the model has to read for it and few verdicts depend on it.
    support_in_context: Callable[[], float]
    contradiction_in_context: Callable[[], float]
    coverage: float  # the share of the claim's words in the best sentence that contradicts it
    closest: int
    joint: Stance  # of the most relevant passages together
    is_open: bool  # the closest passage names the claim as a hypothesis or a question
    otherwise: str = ""  # how a number of the claim differs in the closest passages: "77 % in the claim, 7.7 % here"
    misstated: str = ""  # the same of the passage that would support the claim most, were it not for its number
    missing: tuple[str, ...] = ()  # numbers of the claim that none of the closest passages has


def collect_signs(
    claim: str,
    prepared: PreparedDocument,
    ranked: RankedSentences,
    roles: Sequence[Role],
    skipped: frozenset[int] = frozenset(),
) -> Signs | None:
    """The signs of the best passages that are not skipped; None if there are none."""
    top = [index for index in ranked.read if index not in skipped][:_TOP_PASSAGES]
    if not top:
        return None
    joint = prepared.joint(claim, ranked, skipped)
    spoken = [index for index in top if roles[index] not in _OPEN_ROLES] or top
    judgements = ranked.judgements.copy()
    as_read, _ = _margins(judgements)
    misstating = _misstating(ranked, top, as_read)
    clearest = max(spoken, key=lambda index: as_read[index])
    misstated = ranked.numbers[clearest].words if clearest in misstating else ""
    if misstated:
        joint = _unsupported(joint)
    judgements[misstating] = _unsupported(judgements[misstating])
    support, contradiction = _margins(judgements)
    for index in top:
        if roles[index] == "own" and contradiction[index] < 0 and says_in_same_words(claim, prepared.sentences[index]):
            support[index] = max(support[index], _SAME_WORDS_SUPPORT)
    supporting = sorted(spoken, key=lambda index: -support[index])
    contradicting = sorted(spoken, key=lambda index: -contradiction[index])
    values = {
        "joint support": float(joint[SUPPORTS] - joint[NEITHER]),
        "joint contradiction": float(joint[CONTRADICTS] - joint[NEITHER]),
        "support": float(support[supporting[0]]),
        "contradiction": float(contradiction[contradicting[0]]),
        # A sentence about something else is sometimes taken for support of a long claim.
        "cosine": float(ranked.cosines[supporting[0]]),
    }
    if prepared.kind == "paper":
        # One clear sentence among hundreds is more easily misread than what most of the best ranked ones say.
        shares = np.exp(ranked.logits[top] - ranked.logits[top].max())
        says_so, says_otherwise, _ = shares @ _chances(judgements[top]) / shares.sum()
        values |= {
            "supporting share": float(says_so),
            "contradicting share": float(says_otherwise),
            "support coverage": float(ranked.words[supporting[0], _COVERAGE]),
        }
    claim_quantities = quantities(claim)
    agreements = [ranked.numbers[index] for index in top[:_NUMBER_PASSAGES]]
    otherwise = ""
    missing: list[str] = []
    if claim_quantities:
        stated = max(agreement.stated for agreement in agreements) / len(claim_quantities)
        differs = stated < 1 and agreements[0].otherwise > 0
        values |= {"stated": stated, "otherwise": float(differs), "absent": 1 - stated}
        otherwise = agreements[0].words if differs else ""
        texts = [quantities(prepared.sentences[index]) for index in top[:_NUMBER_PASSAGES]]
        missing = numbers.unstated(claim_quantities, texts)
    is_open = roles[top[0]] in _OPEN_ROLES

    @cache
    def in_context(index: int) -> tuple[float, float]:
        # The context of a sentence in an abstract is all of it, which was read already.
        row = prepared.in_context(claim, index) if prepared.kind == "paper" else joint
        ((says_so,), (says_otherwise,)) = _margins(row[None])
        return float(says_so), float(says_otherwise)

    opposing = _best_ranked_first(contradicting, contradiction, top)
    claim_forms = set(forms(claim))
    return Signs(
        values,
        _best_ranked_first(supporting, support, top),
        opposing,
        frozenset(index for index in spoken if support[index] >= _least_margin(support[supporting[0]])),
        {index: float(ranked.cosines[index]) for index in spoken},
        lambda: in_context(supporting[0])[0],
        lambda: in_context(contradicting[0])[1],
        len(claim_forms.intersection(forms(prepared.sentences[opposing[0]]))) / max(1, len(claim_forms)),
        top[0],
        stance_of(joint),
        is_open,
        otherwise,
        misstated,
        tuple(missing),
    )


def _misstating(ranked: RankedSentences, top: Sequence[int], support: Floats) -> list[int]:
    """The passages that would support the claim, but give another number for the same thing.

    None do if one of the closest gives a number of the claim, and is of the same thing as well. The model overlooks
    such numbers, above all in words: "two thirds" beside "one third".
    """
    same_matter = ranked.words[:, _COVERAGE] >= _SAME_MATTER
    if any(ranked.numbers[index].stated and same_matter[index] for index in top[:_NUMBER_PASSAGES]):
        return []
    return [index for index in top if support[index] > 0 and ranked.numbers[index].otherwise and same_matter[index]]


def _unsupported(judgements: Floats) -> Floats:
    """The judgements with support as unlikely as the least likely of the three."""
    without = judgements.copy()
    without[..., SUPPORTS] = judgements[..., SUPPORTS:].min(axis=-1)
    return without


def _best_ranked_first(clearest: Sequence[int], margins: Floats, ranking: Sequence[int]) -> tuple[int, ...]:
    """The passages with the best ranked in front, of those that say so nearly as clearly as the clearest one.

    What the clearest one says is often of something else; what ranks first is what the claim is about.
    """
    least = _least_margin(margins[clearest[0]])
    first = min((index for index in clearest if margins[index] >= least), key=ranking.index)
    return (first, *(index for index in clearest if index != first))


def _least_margin(clearest: float) -> float:
    """The least margin that says something nearly as clearly as the clearest one."""
    return max(clearest - _NEARLY_AS_CLEAR, 0.0) if clearest > 0 else clearest - _NEARLY_AS_CLEAR


def _margins(judgements: Floats) -> tuple[Floats, Floats]:
    """How much more each passage supports, or contradicts, than anything else."""
    support = judgements[:, SUPPORTS] - np.maximum(judgements[:, CONTRADICTS], judgements[:, NEITHER])
    contradiction = judgements[:, CONTRADICTS] - np.maximum(judgements[:, SUPPORTS], judgements[:, NEITHER])
    return support, contradiction


def _chances(judgements: Floats) -> Floats:
    """The chances that passages support the claim, contradict it, or do neither."""
    logits = judgements[..., SUPPORTS:]
    chances = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=-1, keepdims=True), np.float64)


def stance_of(judgement: Floats) -> Stance:
    """What a passage says of the claim, by what the entailment model says of it."""
    if np.isnan(judgement).any():
        return "neither"
    chances = _chances(judgement)
    stances: tuple[Stance, ...] = ("supports", "contradicts", "neither")
    return stances[int(chances.argmax())] if chances.max() >= _MIN_STANCE else "neither"


@dataclass(frozen=True, slots=True)
class ReasonedVerdict:
    """A verdict, the probability that it is right, the chance of each verdict, and what it rests on."""

    verdict: Verdict
    sure: float
    chances: dict[str, float]
    reason: str
    decisive: tuple[int, ...] = ()  # the passages that it rests on: two if one says so and one says otherwise


@dataclass(frozen=True, slots=True)
class SentenceView:
    """What is known of a sentence besides its text."""

    role: Role
    source: str  # whom it cites
    heading: str
    stance: Stance

    @property
    def where(self) -> str:
        """The section, to be put behind "a sentence"."""
        return f" in “{self.heading}”" if self.heading else ""


def judge(signs: Signs, kind: str, weights: PassageWeights, sentences: Sequence[SentenceView]) -> ReasonedVerdict:
    """The verdict that follows from the signs."""
    chances = weights.chances(kind, signs.values)
    bars = weights.bars.get(kind, {})
    best = max(chances, key=lambda name: chances[name])
    # Passages that are read together with a hypothesis may seem to say what only that names.
    agrees = signs.values["support"] > 0 or (signs.joint == "supports" and not signs.is_open)
    agrees &= sentences[signs.supporting[0]].role not in _OPEN_ROLES and not signs.misstated
    is_clear = best != "not found" and chances[best] >= bars.get(best, _BAR)
    decisive = signs.contradicting[0]
    stance = sentences[decisive].stance
    if is_clear and best == "contradicted" and is_safe_contradiction(signs, kind, stance):
        detail = f": {signs.otherwise}" if signs.otherwise and decisive == signs.closest else ""
        reason = f"a sentence{sentences[decisive].where} says otherwise{detail}"
        return ReasonedVerdict("contradicted", chances[best], chances, reason, (decisive,))
    if is_clear and best == "backed" and agrees:
        return _backed(signs, chances, sentences)
    if is_clear and best == "backed":
        chances = _overruled(chances)
    sure = 1 - chances["backed"]
    is_disputed = kind == "paper" and agrees and is_safe_contradiction(signs, kind, stance)
    if is_disputed and signs.support_in_context() > 0:
        both = signs.supporting[0], decisive
        for_it, against_it = (f"one{sentences[index].where}" for index in both)
        reason = f"{for_it} says so, but {against_it} says otherwise: read both"
        return ReasonedVerdict("not found", sure, chances, reason, both)
    return ReasonedVerdict("not found", sure, chances, *_not_found(signs, chances, sentences))


def _overruled(chances: dict[str, float]) -> dict[str, float]:
    """The chances where a rule forbids `backed`, of which their weights know nothing: at most as likely as not."""
    backed = min(chances["backed"], _EVEN)
    return chances | {"backed": backed, "not found": chances["not found"] + chances["backed"] - backed}


def is_safe_contradiction(signs: Signs, kind: str, alone: Stance) -> bool:
    """Whether a contradiction may be told: what the sentence says alone is not enough for it in a paper.

    An abstract contradicts by a sentence or as a whole. Among the many sentences of a paper one is easily misread, so
    it must contradict the claim together with its neighbours, too, and share words with it.
    """
    if kind != "paper":
        return "contradicts" in (signs.joint, alone)
    clear = alone == "contradicts" and signs.coverage >= _CONTRADICTION_COVERAGE
    return clear and signs.contradiction_in_context() > _CONTRADICTS_IN_CONTEXT


def _backed(signs: Signs, chances: dict[str, float], sentences: Sequence[SentenceView]) -> ReasonedVerdict:
    """Backed by the paper's own finding, or only by what it reports of others or says as background."""
    decisive = signs.supporting[0]
    if sentences[decisive].role in _NO_FINDINGS:
        least_nearness = signs.nearness[decisive] - _MAX_FARTHER
        own = [
            index
            for index in signs.supporting
            if index in signs.clearly_supporting
            and sentences[index].role not in _NO_FINDINGS
            and sentences[index].stance == "supports"
            and signs.nearness[index] >= least_nearness
        ]
        if own:
            decisive = own[0]
        elif sentences[decisive].role == "others":
            source = sentences[decisive].source
            whom = f"citing {source}" if source else "as what others found"
            reason = f"a sentence says so, {whom}: cite that"
            return ReasonedVerdict("secondary", chances["backed"], chances, reason, (decisive,))
    background = ", as background" if sentences[decisive].role == "background" else ""
    absent = f", but none mentions {' or '.join(signs.missing)}" if signs.missing else ""
    reason = f"a sentence{sentences[decisive].where} says so{background}{absent}"
    return ReasonedVerdict("backed", chances["backed"], chances, reason, (decisive,))


def _not_found(
    signs: Signs, chances: dict[str, float], sentences: Sequence[SentenceView]
) -> tuple[str, tuple[int, ...]]:
    """Why a claim was not found, and the passage to read, if the reason is about one."""
    where = sentences[signs.closest].where
    closest = f"; the closest one is{where}" if where else ""
    if signs.is_open:
        return "the paper names this only as a hypothesis, an aim or an open question", ()
    if number := signs.misstated or signs.otherwise:
        return f"the closest sentences give another number: {number}", ()
    if chances["contradicted"] > chances["backed"]:
        opposing = signs.contradicting[0]
        return f"no sentence clearly says this, and one{sentences[opposing].where} may say otherwise", (opposing,)
    if chances["backed"] >= _DOUBTFUL:
        supporting = signs.supporting[0]
        return f"no sentence clearly says this, but one{sentences[supporting].where} may: read it", (supporting,)
    if signs.missing:
        return f"none of the closest sentences mentions {' or '.join(signs.missing)}{closest}", ()
    return f"no sentence clearly says this{closest}", ()
