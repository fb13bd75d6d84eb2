"""What a passage is to its paper, and what that does to a verdict."""

import time
from functools import partial
from pathlib import Path

import pytest

from tests.fakes import word_encoder, word_entailment
from whycite.verify.claims import verify_claim as verify_claim_by_models
from whycite.verify.claims import verify_sentences as verify_sentences_by_models
from whycite.verify.roles import cited_source, is_hypothesis, role_of
from whycite.verify.verification import Role

CLAIM = "Aspirin reduces the risk of colorectal cancer."
verify_claim = partial(verify_claim_by_models, encoder=word_encoder(), entailment=word_entailment())
verify_sentences = partial(verify_sentences_by_models, encoder=word_encoder(), entailment=word_entailment())


@pytest.mark.parametrize(
    ("sentence", "role"),
    [
        ("We found that aspirin reduces the risk of colorectal cancer.", "own"),
        ("Aspirin users had a lower risk of colorectal cancer (Figure 2).", "own"),
        ("We hypothesised that aspirin reduces the risk of colorectal cancer.", "hypothesis"),
        ("It is unknown whether aspirin reduces the risk of colorectal cancer.", "hypothesis"),
        ("Whether aspirin prevents breast cancer remains to be determined.", "hypothesis"),
        ("We therefore asked whether aspirin reduces the risk of colorectal cancer.", "hypothesis"),
        ("To test whether aspirin lowers the risk, we recruited 300 adults.", "hypothesis"),
        ("The aim of this trial was to determine the effect of aspirin on cancer.", "hypothesis"),
        ("We further expected that aspirin would reduce the risk.", "hypothesis"),
        ("We suspect that aspirin reduces the risk of colorectal cancer.", "hypothesis"),
        ("It is conceivable that a second dose of aspirin reduces the risk.", "hypothesis"),
        ("In this hypothetical model, aspirin does not reduce the risk.", "hypothesis"),
        ("Aspirin reduced the risk on the SEER 2004 corpus.", "own"),
        ("We investigated the effects of aspirin on the risk of colorectal cancer.", "hypothesis"),
        ("Our study reports the effects of aspirin on cancer during 4 years of follow-up.", "hypothesis"),
        ("Associations between aspirin and cancer were analysed in a pooled regression.", "hypothesis"),
        ("We report the effects of aspirin, which reduced the risk.", "own"),
        ("We compared the effects of aspirin and placebo and found a lower risk with aspirin.", "own"),
        ("To test whether aspirin lowers the risk, we recruited 300 adults and found that it does.", "own"),
        ("Aspirin reduced the risk, an association that warrants further investigation.", "own"),
        ("Aspirin reduced the risk, but further studies are needed.", "own"),
        ("Whether aspirin reduces the risk needs further studies.", "hypothesis"),
        ("Translation hypotheses are ranked by a language model.", "own"),
        ("Our hypotheses were that aspirin reduces the risk and lowers costs.", "hypothesis"),
        ("Consistent with our hypothesis, aspirin reduced the risk.", "own"),
        ("Contrary to our hypothesis, aspirin did not reduce the risk.", "own"),
        ("Aspirin reduces the risk of colorectal cancer (Winer et al., 2019).", "others"),
        ("Previous studies have shown that aspirin reduces the risk.", "others"),
        ("It has been reported that aspirin reduces the risk [12].", "others"),
        ("Yarowsky applied his method to accents, and found that it did better than either.", "others"),
        ("Winer and Berg extended their model to rye, which lowers the risk.", "others"),
        ("Nevertheless, they found that the mind derives such words.", "others"),
        ("We found that they argued less often.", "own"),
        ("Patients lost their appetite, and they reported more pain.", "own"),
        ("In line with Winer et al. (2019), we found a lower risk with aspirin.", "own"),
        ("We found a lower risk with aspirin, as did Winer et al. (2019).", "own"),
        ("Our results agree with those of Winer et al. (2019).", "own"),
    ],
)
def test_role(sentence: str, role: Role) -> None:
    assert role_of(sentence) == role


def test_section_and_citations_tell_a_role() -> None:
    sentence = "Aspirin inhibits cyclooxygenase."
    assert role_of(sentence, "introduction") == "background"
    assert role_of(sentence, "method") == "method"
    assert role_of(sentence, "result") == "own"
    assert role_of(sentence, "result", cites=True) == "others"


def test_cited_source() -> None:
    assert cited_source("Calcium lowers the incidence (Winer et al., 2019; Berg, 2011).") == "Winer 2019"
    assert cited_source("As Lind and Berg (2011) found, it does.") == "Lind 2011"
    assert cited_source("Calcium lowers the incidence [12].") == ""


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        ("Winer (2019) found that it does.", "Winer 2019"),
        ("It does (see Winer 2019).", "Winer 2019"),
        ("It does (Berg, 2011a; Winer, 2019).", "Berg 2011"),
        ("De Belie, Lind and Berg (2018) found that it does.", "Belie 2018"),
        ("Evaluation on the ACE RDC 2004 corpus shows that it does.", ""),
        ("Samples were taken in March 2019.", ""),
        ("Samples from Norway (2,019 in all) were frozen.", ""),
    ],
)
def test_sources_are_told_from_names_with_years(sentence: str, source: str) -> None:
    assert cited_source(sentence) == source


@pytest.mark.parametrize(
    "passage",
    [
        "We hypothesised that aspirin reduces the risk of colorectal cancer.",
        "It is unknown whether aspirin reduces the risk of colorectal cancer.",
    ],
)
def test_a_hypothesis_backs_nothing(passage: str) -> None:
    verification = verify_sentences(CLAIM, [passage, "Colorectal cancer is a common disease of adults."])
    assert verification.verdict == "not found"
    assert "hypothesis" in verification.reason
    assert not any(sentence.decides for sentence in verification.passages)


def test_a_hypothesis_about_a_hypothesis() -> None:
    passage = "We hypothesised that aspirin reduces the risk of colorectal cancer."
    assert is_hypothesis(passage)
    assert verify_sentences(passage, [passage]).verdict == "backed"


def test_a_finding_outweighs_the_hypothesis_before_it() -> None:
    sentences = [
        "We hypothesised that aspirin reduces the risk of colorectal cancer.",
        "Aspirin reduced the risk of colorectal cancer in our trial.",
    ]
    verification = verify_sentences(CLAIM, sentences)
    assert verification.verdict == "backed"
    (decisive,) = [passage for passage in verification.passages if passage.decides]
    assert (decisive.text, decisive.stance, decisive.role) == (sentences[1], "supports", "own")


def test_what_others_found_is_secondary(tmp_path: Path) -> None:
    (tmp_path / "refs.bib").write_text(
        "@article{winer, author = {Winer, Anna}, title = {Calcium and adenomas}, year = 2019}\n", encoding="utf-8"
    )
    (tmp_path / "paper.md").write_text(
        "---\ntitle: Aspirin\nbibliography: refs.bib\n---\n\n# Introduction\n\n"
        "Calcium lowers the incidence of colorectal adenomas [@winer].\n\n"
        "# Results\n\nWe found that aspirin reduced the risk of colorectal cancer.\n",
        encoding="utf-8",
    )
    verification = verify_claim("Calcium lowers the incidence of colorectal adenomas.", tmp_path / "paper.md")
    assert verification.verdict == "secondary"
    assert "citing Winer 2019: cite that" in verification.reason
    assert verification.passages[0].role == "others"
    assert verify_claim("Aspirin reduced the risk of colorectal cancer.", tmp_path / "paper.md").verdict == "backed"


@pytest.mark.parametrize(
    "frame",
    ["Winer et al. (2019) reported that {}.", "According to Winer et al. (2019), {}.", "{} (Winer et al., 2019)."],
)
def test_what_is_reported_of_others_word_for_word_is_secondary(frame: str) -> None:
    claim = "aspirin reduces the risk of colorectal cancer in older adults"
    verification = verify_sentences(f"{claim.capitalize()}.", [frame.format(claim), "We enrolled 40 students."])
    assert verification.verdict == "secondary"
    assert "citing Winer 2019: cite that" in verification.reason


def test_a_list_of_names_takes_no_time() -> None:
    countries = (
        "Australia, Austria, Belgium, Canada, Chile, Colombia, Denmark, Estonia, Finland, France, Germany, Greece"
    )
    sentence = f"The wave of 2024 has people in 27 countries: {', '.join([countries] * 20)} and the United States."
    start = time.thread_time()
    assert cited_source(sentence) == ""
    assert time.thread_time() - start < 1
    assert cited_source("As Doe, Roe and McPoe (2001) put it") == "Doe 2001"
