"""What speaks for a verdict: how near the best passages are, whether they say so, numbers, and which way they point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whycite.verify import negation, numbers, polarity
from whycite.verify.comparison import better, order
from whycite.verify.features import WORDS
from whycite.verify.pairing import crossed
from whycite.verify.passages import Prepared, Ranked
from whycite.verify.polarity import Polarity
from whycite.verify.quantities import quantities
from whycite.verify.reversal import reversed_by

__all__ = ["POINTING", "Signs", "signs"]

_TOP = 3  # passages that are looked at
_MOST = 0.5  # the share of a claim that a sentence has to hold, to be about the same
# The signs that tell backing from contradiction, once a passage is found.
POINTING = (
    *("stance", "denies", "apart", "agreed", "opposed", "negation", "opposed near", "negation near"),
    *("otherwise", "stated"),
)
_COVERAGE = WORDS.index("coverage")


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs as numbers, the passages they were taken from (best first), and what is to be said of them."""

    values: dict[str, float]
    top: tuple[int, ...]
    otherwise: bool  # a number of the claim stands otherwise in the best passages, and nowhere as in the claim
    denied: bool  # only the claim says "not", and what it denies is in the best passage
    opposed: str  # which words point the other way, in words
    contrary: str = ""  # how one of the best passages says the contrary in the claim's own words
    where: int = -1  # which one
    unordered: bool = False  # the claim says that one is better than another, and no passage does
    missing: tuple[str, ...] = ()  # numbers of the claim that the best passages do not have


def signs(
    claim: str,
    prepared: Prepared,
    ranked: Ranked,
    skipped: frozenset[int] = frozenset(),
    stance: float | None = None,
) -> Signs | None:
    """The signs that the best passages give, those that are skipped aside; None where none is left.

    `stance`: what is known of it already, else the ranker is asked.
    """
    top = [at for at in np.argsort(-ranked.logits, kind="stable").tolist() if at not in skipped][:_TOP]
    if not top:
        return None
    logits = ranked.logits[top]
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    pointing = [polarity.compare(claim, prepared.sentences[at]) for at in top]
    near = ranked.words[top, _COVERAGE]
    asked = max(len(quantities(claim)), 1)
    agreements = [ranked.numbers[at] for at in top]
    stated = max(each.stated for each in agreements) / asked
    otherwise = agreements[0].otherwise or (agreements[1].otherwise if len(agreements) > 1 else 0)
    otherwise = 0 if stated >= 1 else min(otherwise / asked, 1 - stated)
    together, known = prepared.held(claim, top)
    values = {
        "together": together,
        "known": known,
        "mean": float(logits.mean()),
        "coverage": float(near.max()),
        "cosine": float(np.nan_to_num(ranked.cosines[top]).max()),
        "stated": stated,
        "otherwise": otherwise,
        "absent": max(0.0, 1 - stated - otherwise) if quantities(claim) else 0.0,
        "denies": float(negation.negated(claim)),
        **_pointing(pointing, shares, near),
    }
    if stance is None:
        stance = prepared.stance(claim, top)
    if stance is not None:
        values["stance"] = stance
    words = next((each.words for each in pointing if each.opposed or each.negation), "")
    denied = pointing[0].negation and negation.negated(claim) and float(near[0]) >= _MOST
    texts = [prepared.sentences[at] for at in top]
    at, contrary, unordered = _contrary(claim, texts)
    # That another passage has the number says nothing where that one is about something else.
    nearest = [each.stated for each, share in zip(agreements, near, strict=True) if share >= _MOST * near.max()]
    stands_otherwise = otherwise > 0 or (agreements[0].otherwise > 0 and max(nearest) < asked)
    missing = numbers.unstated(quantities(claim), [quantities(text) for text in texts])
    return Signs(values, tuple(top), stands_otherwise, denied, words, contrary, top[at], unordered, tuple(missing))


def _contrary(claim: str, texts: Sequence[str]) -> tuple[int, str, bool]:
    """Which passage, best first, says the contrary, and how; whether the claim says who is better, and none of them."""
    if told := reversed_by(claim, texts[0]) or crossed(claim, texts[0]):
        return 0, told, False
    orders = [order(claim, text) for text in texts]
    first = next((at for at, each in enumerate(orders) if each in ("same", "reversed")), None)
    if first is None:
        return 0, "", "other" in orders or better(claim)
    return first, "the two are compared the other way round there" if orders[first] == "reversed" else "", False


def _pointing(pointing: Sequence[Polarity], shares: np.ndarray, near: np.ndarray) -> dict[str, float]:
    opposed = np.array([min(each.opposed, 2) for each in pointing], np.float64)
    negation = np.array([each.negation for each in pointing], np.float64)
    return {
        "apart": float(shares @ np.array([each.apart for each in pointing])),
        "agreed": float(shares @ np.array([min(each.agreed, 2) for each in pointing], np.float64)),
        "opposed": float(shares @ opposed),
        "negation": float(shares @ negation),
        "opposed near": float(shares @ (opposed * near)),
        "negation near": float(shares @ (negation * near)),
    }
