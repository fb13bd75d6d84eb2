"""The verdict that signs lead to: what it rests on, why, and from which chance on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.fakes import FakeEncoder, FakeEntailment, word_encoder
from whycite.verify.claims import verify_sentences
from whycite.verify.features import KINDS, PassageWeights
from whycite.verify.passages import PreparedDocument
from whycite.verify.roles import role_of
from whycite.verify.verdict import ReasonedVerdict, SentenceView, Signs, collect_signs, judge, stance_of
from whycite.verify.verification import Passage, Stance, Verdict, Verification

CLAIM = "Foragers sleep at night."
SUPPORT, CONTRADICTION, NEITHER = (5.0, 4.0, -4.0, -4.0), (5.0, -4.0, 4.0, -4.0), (0.0, -4.0, -4.0, 4.0)
_ORDER = {
    "words": {"coverage": 1.0},
    "meaning": {"coverage": 1.0},
    "read": {"meaning": 1.0, "relevance": 1.0},
}
_VERDICTS = {
    "backed": {"support": 1.0, "otherwise": -20.0},
    "contradicted": {"contradiction": 1.0},
    "not found": {},
}
WEIGHTS = PassageWeights(dict.fromkeys(KINDS, _ORDER), dict.fromkeys(KINDS, _VERDICTS))


def _verify(
    judgements: Mapping[str, Sequence[float]],
    claim: str = CLAIM,
    sections: Sequence[str] | None = None,
    weights: PassageWeights = WEIGHTS,
) -> Verification:
    """Verify a claim against sentences of which each is judged as said; together they say what the clearest does."""
    clearest = max(judgements.values(), key=lambda row: max(row[1:3]))
    model = FakeEntailment(lambda claim, passage: judgements.get(passage, clearest))
    return verify_sentences(claim, list(judgements), sections, entailment=model, encoder=FakeEncoder(), weights=weights)


def _decisive(verification: Verification) -> list[Passage]:
    return [passage for passage in verification.passages if passage.decides]


@pytest.mark.parametrize(
    ("judgement", "stance"),
    [
        (SUPPORT, "supports"),
        (CONTRADICTION, "contradicts"),
        (NEITHER, "neither"),
        ((9.0, 0.1, 0.0, 0.0), "neither"),  # the likeliest of three, but hardly
        ((np.nan,) * 4, "neither"),
    ],
    ids=["supports", "contradicts", "neither", "unclear", "unread"],
)
def test_stance(judgement: tuple[float, ...], stance: Stance) -> None:
    assert stance_of(np.array(judgement)) == stance


def test_a_finding_of_its_own_backs() -> None:
    sentences = {"Foragers sleep at night in hives.": SUPPORT, "We counted foragers.": NEITHER}
    verification = _verify(sentences, sections=["Results", "Methods"])
    assert verification.verdict == "backed"
    assert verification.reason == "a sentence in “Results” says so"
    assert verification.confidence == verification.chances["backed"]
    (passage,) = _decisive(verification)
    assert (passage.index, passage.stance, passage.role) == (0, "supports", "own")


def test_what_only_others_found_is_secondary() -> None:
    verification = _verify({"Foragers sleep at night (Winer et al., 2019).": SUPPORT, "We counted foragers.": NEITHER})
    assert verification.verdict == "secondary"
    assert verification.reason == "a sentence says so, citing Winer 2019: cite that"
    assert _decisive(verification)[0].role == "others"


@pytest.mark.parametrize("number", ["Two thirds", "90%", "Nine tenths", "One in ten"])
def test_a_sentence_with_another_number_does_not_back(number: str) -> None:
    sentences = {"One third of all foragers sleep at night.": SUPPORT, "We counted foragers.": NEITHER}
    claim = "{} of all foragers sleep at night."
    assert _verify(sentences, claim=claim.format("A third")).verdict == "backed"
    verification = _verify(sentences, claim=claim.format(number))
    assert verification.verdict == "not found"
    assert verification.reason == f"the closest sentences give another number: {number} in the claim, One third here"
    stated = sentences | {f"{number} of all foragers that we marked sleep at night.": SUPPORT}
    assert _verify(stated, claim=claim.format(number)).verdict == "backed"


def test_a_number_of_something_else_does_not_excuse_another_one() -> None:
    """A sentence about cold hives has the number of the claim, but says nothing of foragers at night."""
    claim = "Foragers sleep at night for three hours."
    sentences = {
        "Foragers sleep at night for up to 30 minutes.": SUPPORT,
        "Cold was the hive for three hours.": NEITHER,
    }
    assert _verify(sentences, claim=claim).verdict == "not found"
    stated = sentences | {"Foragers sleep at night for three hours in summer.": SUPPORT}
    assert _verify(stated, claim=claim).verdict == "backed"


def test_another_number_in_a_sentence_that_supports_nothing_does_not_forbid_backing() -> None:
    claim = "Two thirds of all foragers sleep in the hive at night."
    sentences = {"One third of all foragers were marked in the hive.": NEITHER, "Of the rest, most sleep.": NEITHER}
    model = FakeEntailment(lambda claim, passage: sentences.get(passage, SUPPORT))  # together they support it
    together = {"backed": {"joint support": 1.0}, "contradicted": {}, "not found": {}}
    weights = PassageWeights(dict.fromkeys(KINDS, _ORDER), dict.fromkeys(KINDS, together))
    verification = verify_sentences(claim, list(sentences), entailment=model, encoder=FakeEncoder(), weights=weights)
    assert verification.verdict == "backed"


@pytest.mark.parametrize("signs", [{"misstated": "8 hours in the claim, 2 hours here"}, {"is_open": True}])
def test_a_verdict_by_rule_is_at_least_as_likely_as_not(signs: dict[str, Any]) -> None:
    verdicts = {"backed": {"bias": 1.0}, "contradicted": {"bias": -1.0}, "not found": {"bias": -0.5}}
    weights = PassageWeights({}, {"paper": verdicts})
    judged = judge(
        replace(_signs("supports", -1.0), **signs), "paper", weights, [SentenceView("own", "", "", "neither")]
    )
    assert (judged.verdict, judged.sure) == ("not found", 0.5)
    assert (judged.chances["backed"], sum(judged.chances.values())) == pytest.approx((0.5, 1))
    assert weights.chances("paper", {})["backed"] > 0.7


def test_others_without_a_name() -> None:
    verification = _verify({"Previous studies have shown that foragers sleep at night.": SUPPORT})
    assert verification.reason == "a sentence says so, as what others found: cite that"


def test_an_own_finding_is_preferred_to_what_others_found() -> None:
    others, own = "Foragers sleep at night (Winer et al., 2019).", "We found that foragers sleep at night."
    stronger = (5.0, SUPPORT[1] + 1.5, *SUPPORT[2:])
    verification = _verify({others: stronger, own: SUPPORT})
    assert verification.verdict == "backed"
    assert [passage.text for passage in _decisive(verification)] == [own]
    far_stronger = (5.0, SUPPORT[1] + 2.5, *SUPPORT[2:])
    for judgements in ({others: stronger, own: NEITHER}, {others: far_stronger, own: SUPPORT}):
        assert _verify(judgements).verdict == "secondary"


def test_an_own_finding_on_the_same_topic_is_not_what_others_found() -> None:
    others, own = "Foragers sleep at night (Winer et al., 2019).", "We found that drones and workers rest in winter."
    near = (5.0, SUPPORT[1] + 1.5, *SUPPORT[2:])
    model = FakeEntailment(lambda claim, passage: near if passage == others else SUPPORT)
    verification = verify_sentences(CLAIM, [others, own], entailment=model, encoder=word_encoder(), weights=WEIGHTS)
    assert verification.verdict == "secondary"
    assert [passage.text for passage in _decisive(verification)] == [others]


def test_a_sentence_of_background_is_told_to_be_one() -> None:
    verification = _verify({"Foragers sleep at night in hives.": SUPPORT}, sections=["Introduction"])
    assert (verification.verdict, _decisive(verification)[0].role) == ("backed", "background")
    assert verification.reason == "a sentence in “Introduction” says so, as background"


def test_a_hypothesis_backs_nothing() -> None:
    verification = _verify({"We hypothesised that foragers sleep at night.": SUPPORT, "Bees rest.": NEITHER})
    assert verification.verdict == "not found"
    assert verification.reason == "the paper names this only as a hypothesis, an aim or an open question"
    assert _decisive(verification) == []


def test_a_hypothesis_is_what_a_claim_about_it_needs() -> None:
    claim = "It was hypothesised that foragers sleep at night."
    verification = _verify({"We hypothesised that foragers sleep at night.": SUPPORT}, claim)
    assert verification.verdict == "backed"


def test_a_contradiction_names_its_section_and_numbers() -> None:
    sentences = {"Foragers slept for 2 hours at night.": CONTRADICTION, "We counted foragers.": NEITHER}
    verification = _verify(sentences, "Foragers slept for 8 hours at night.", ["Results", "Methods"])
    assert verification.verdict == "contradicted"
    assert verification.reason == "a sentence in “Results” says otherwise: 8 hours in the claim, 2 hours here"
    assert verification.confidence == verification.chances["contradicted"]
    assert _decisive(verification)[0].stance == "contradicts"


def test_another_number_is_told() -> None:
    verification = _verify({"Foragers slept for 2 hours at night.": SUPPORT}, "Foragers slept for 8 hours at night.")
    assert verification.verdict == "not found"
    assert verification.reason == "the closest sentences give another number: 8 hours in the claim, 2 hours here"


def test_a_number_that_is_nowhere_is_told() -> None:
    claim = "Foragers slept for 8 hours at night."
    backed = _verify({"Foragers slept long at night.": SUPPORT}, claim)
    assert backed.reason == "a sentence says so, but none mentions 8 hours"
    missing = _verify({"Foragers were seen at night.": (1.0, -3.0, -4.0, 4.0)}, claim, ["Results"])
    assert missing.verdict == "not found"
    assert missing.reason == "none of the closest sentences mentions 8 hours; the closest one is in “Results”"


def test_nothing_there() -> None:
    verification = _verify({"Foragers were counted at night.": (1.0, -3.0, -4.0, 4.0)}, sections=["Results"])
    assert verification.verdict == "not found"
    assert verification.reason == "no sentence clearly says this; the closest one is in “Results”"
    assert verification.confidence == pytest.approx(1 - verification.chances["backed"])


def test_what_may_say_otherwise_is_told() -> None:
    weights = replace(WEIGHTS, bars={kind: {"contradicted": 1.1} for kind in KINDS})
    sentences = {"Bees are insects.": NEITHER, "Foragers are awake at night.": CONTRADICTION}
    verification = _verify(sentences, sections=["Introduction", "Results"], weights=weights)
    assert verification.verdict == "not found"
    assert verification.reason == "no sentence clearly says this, and one in “Results” may say otherwise"
    assert [passage.index for passage in _decisive(verification)] == [1]


def test_what_may_say_so_is_told() -> None:
    weights = replace(WEIGHTS, bars={kind: {"backed": 1.1} for kind in KINDS})
    sentences = {"Bees are insects.": NEITHER, "Foragers sleep at night.": SUPPORT}
    verification = _verify(sentences, sections=["Introduction", "Results"], weights=weights)
    assert verification.verdict == "not found"
    assert verification.reason == "no sentence clearly says this, but one in “Results” may: read it"
    assert [passage.index for passage in _decisive(verification)] == [1]


def test_numbers_of_a_passage_that_does_not_decide_are_not_told() -> None:
    claim = "Foragers slept for 8 hours at night."
    sentences = {"Foragers were awake.": CONTRADICTION, "Foragers slept for 2 hours at night.": NEITHER}
    verification = _verify(sentences, claim, ["Results", "Methods"])
    assert verification.verdict == "contradicted"
    assert verification.reason == "a sentence in “Results” says otherwise"


@pytest.mark.parametrize(
    ("chances", "verdict", "decisive"),
    [
        ((0.71, 0.19, 0.10), "backed", (0,)),
        ((0.69, 0.21, 0.10), "not found", (0,)),  # one sentence may say so: it is shown
        ((0.10, 0.81, 0.09), "contradicted", (0,)),
        ((0.10, 0.79, 0.11), "not found", (0,)),
        ((0.20, 0.10, 0.70), "not found", ()),
    ],
)
def test_bars(chances: tuple[float, float, float], verdict: Verdict, decisive: tuple[int, ...]) -> None:
    names = ("backed", "contradicted", "not found")
    verdicts = {name: {"bias": float(np.log(chance))} for name, chance in zip(names, chances, strict=True)}
    bars = {"paper": {"backed": 0.7, "contradicted": 0.8}, "abstract": {"backed": 0.0, "contradicted": 0.0}}
    weights = PassageWeights({}, {"paper": verdicts}, bars)
    stance: Stance = "contradicts" if chances[1] > chances[0] else "supports"
    judged = judge(_signs(stance), "paper", weights, [SentenceView("own", "", "", stance)])
    assert judged.verdict == verdict
    assert judged.decisive == decisive
    assert judged.chances == pytest.approx(dict(zip(names, chances, strict=True)))


def test_without_bars_a_verdict_needs_an_even_chance() -> None:
    for chance, verdict in ((0.51, "backed"), (0.49, "not found")):
        assert _judged((chance, (1 - chance) / 2), "supports", "supports").verdict == verdict


@pytest.mark.parametrize(
    ("chances", "joint", "alone", "verdict"),
    [
        ((0.9, 0.05), "supports", "supports", "backed"),
        ((0.9, 0.05), "neither", "supports", "backed"),
        ((0.9, 0.05), "supports", "neither", "backed"),
        ((0.9, 0.05), "neither", "neither", "not found"),
    ],
)
def test_a_verdict_needs_a_passage_that_says_so(
    chances: tuple[float, float], joint: Stance, alone: Stance, verdict: Verdict
) -> None:
    assert _judged(chances, joint, alone).verdict == verdict


@pytest.mark.parametrize(
    ("alone", "in_context", "coverage", "verdict"),
    [
        ("contradicts", 0.1, 0.2, "contradicted"),
        ("contradicts", -0.1, 0.2, "not found"),
        ("contradicts", 4.0, 0.1, "not found"),
        ("neither", 0.1, 0.2, "not found"),
    ],
)
def test_a_contradiction_in_a_paper_holds_in_its_context_and_is_about_the_claim(
    alone: Stance, in_context: float, coverage: float, verdict: Verdict
) -> None:
    judged = _judged((0.05, 0.9), "contradicts", alone, in_context=in_context, coverage=coverage)
    assert judged.verdict == verdict


@pytest.mark.parametrize(
    ("joint", "alone", "verdict"),
    [
        ("neither", "contradicts", "contradicted"),
        ("contradicts", "neither", "contradicted"),
        ("neither", "neither", "not found"),
    ],
)
def test_an_abstract_contradicts_by_a_sentence_or_as_a_whole(joint: Stance, alone: Stance, verdict: Verdict) -> None:
    assert _judged((0.05, 0.9), joint, alone, "abstract", in_context=0.0, coverage=0.0).verdict == verdict


def test_a_sentence_for_and_one_against_are_both_shown() -> None:
    weights = replace(WEIGHTS, bars={kind: {"backed": 1.1, "contradicted": 1.1} for kind in KINDS})
    sentences = {"Foragers sleep at night.": SUPPORT, "Bees rest.": NEITHER, "Foragers never sleep.": CONTRADICTION}
    fillers = {f"Bees rest in hive {number}.": NEITHER for number in range(30)}  # more than an abstract has
    model = FakeEntailment(
        lambda claim, passage: next(row for text, row in ({**sentences, **fillers}).items() if text in passage)
    )
    headings = ["Abstract", "Methods", *["Methods"] * 30, "Results"]
    texts = [*list(sentences)[:2], *fillers, list(sentences)[2]]
    verification = verify_sentences(CLAIM, texts, headings, entailment=model, encoder=FakeEncoder(), weights=weights)
    assert verification.verdict == "not found"
    assert verification.reason == "one in “Abstract” says so, but one in “Results” says otherwise: read both"
    # The two stand alone in their sections; they are read once more only since the verdict depends on their context.
    assert [passages for _, passages in model.asked[2:]] == [[texts[-1]], [texts[0]]]
    assert {passage.text: passage.stance for passage in _decisive(verification)} == {
        "Foragers sleep at night.": "supports",
        "Foragers never sleep.": "contradicts",
    }


def test_of_sentences_that_are_nearly_as_clear_the_best_ranked_decides() -> None:
    sentences = {"Foragers sleep at night.": (9.0, 3.0, -3.0, 0.0), "They do so in trees.": (1.0, 4.0, -3.0, 0.0)}
    assert [passage.text for passage in _decisive(_verify(sentences))] == ["Foragers sleep at night."]


def test_what_is_read_together_with_a_hypothesis_is_not_enough() -> None:
    assert _judged((0.9, 0.05), "supports", "neither", is_open=True).verdict == "not found"
    assert _judged((0.9, 0.05), "neither", "supports", is_open=True).verdict == "backed"


def _judged(
    chances: tuple[float, float],
    joint: Stance,
    alone: Stance,
    kind: str = "paper",
    *,
    is_open: bool = False,
    in_context: float = 4.0,
    coverage: float = 1.0,
) -> ReasonedVerdict:
    values = {"backed": chances[0], "contradicted": chances[1], "not found": 1 - sum(chances)}
    verdicts = {name: {"bias": float(np.log(value))} for name, value in values.items()}
    support = 1.0 if alone == "supports" else -1.0
    signs = replace(_signs(joint, support), is_open=is_open, coverage=coverage)
    signs = replace(signs, contradiction_in_context=lambda: in_context)
    return judge(signs, kind, PassageWeights({}, {kind: verdicts}), [SentenceView("own", "", "", alone)])


def _signs(joint: Stance, support: float = 0.0) -> Signs:
    contexts = (lambda: support), (lambda: 4.0)
    return Signs({"support": support}, (0,), (0,), frozenset({0}), {0: 1.0}, *contexts, 1.0, 0, joint, is_open=False)


def test_signs_of_what_is_read_alone_and_together() -> None:
    texts = ["Bees sleep at night.", "Foragers are awake at night.", "We hypothesised that foragers sleep."]
    rows = {
        texts[0]: (3.0, 2.0, -1.0, 0.5),
        texts[1]: (1.0, -2.0, 1.5, 0.0),
        texts[2]: (2.0, 9.0, -1.0, 0.0),
        " ".join(texts): (0.0, 4.0, 1.0, 2.0),
        " ".join(texts[:2]): (0.0, 1.0, 0.5, -1.0),
    }
    model = FakeEntailment(lambda claim, passage: rows[passage])
    prepared = PreparedDocument(texts, [None] * 3, FakeEncoder(), model, WEIGHTS)
    ranked = prepared.rank(CLAIM)
    signs = collect_signs(CLAIM, prepared, ranked, ["own", "own", "hypothesis"])
    assert signs is not None
    assert signs.supporting == (0, 1)  # what is only a hypothesis is not among them
    assert signs.contradicting == (1, 0)
    assert (signs.support_in_context(), signs.contradiction_in_context()) == (2.0, -3.0)
    assert signs.closest == 0
    assert (signs.joint, signs.is_open) == ("supports", False)
    wanted = {"joint support": 2.0, "joint contradiction": -1.0, "support": 1.5, "contradiction": 1.5}
    assert signs.values == pytest.approx(wanted | {"cosine": float(ranked.cosines[0])})
    assert collect_signs(CLAIM, prepared, ranked, ["own"] * 3, frozenset(range(3))) is None


@pytest.mark.parametrize(
    ("sentence", "judgement", "support"),
    [
        ("Foragers sleep at night in hives.", (0.0, -1.0, -2.0, 1.0), 4.0),
        ("Foragers sleep at night in hives.", (0.0, -1.0, 2.0, 1.0), -3.0),
        ("Foragers sleep at night (Winer et al., 2019).", (0.0, -1.0, -2.0, 1.0), -2.0),
    ],
    ids=["own", "contradicts", "others"],
)
def test_a_finding_in_the_words_of_the_claim_supports_it(
    sentence: str, judgement: tuple[float, ...], support: float
) -> None:
    """Unless the model says that it contradicts the claim, or it is what others found."""
    model = FakeEntailment(lambda claim, passage: judgement)
    prepared = PreparedDocument([sentence], [None], FakeEncoder(), model, WEIGHTS)
    signs = collect_signs(CLAIM, prepared, prepared.rank(CLAIM), [role_of(sentence)])
    assert signs is not None
    assert signs.values["support"] == support
