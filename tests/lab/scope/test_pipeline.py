"""SCOPE's complete evaluation on drafts whose every answer is known."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tests.drafts import BIB, TEX
from tests.fakes import FakeDetector, FakeEncoder, word_detector, word_encoder
from whycite.errors import UserError
from whycite.lab.scope.pipeline import PipelineOutcome, SentenceOutcome, as_dict, drafts_in, run


def test_measures_are_those_of_the_paper() -> None:
    sentences = (
        SentenceOutcome(worthy=False, decided=False),  # right
        SentenceOutcome(worthy=False, decided=True),
        SentenceOutcome(worthy=True, decided=True, linked=True, place=3),  # right at 5 and 10
        SentenceOutcome(worthy=True, decided=True, linked=True, place=7),  # right at 10
        SentenceOutcome(worthy=True, decided=False, linked=True),
        SentenceOutcome(worthy=True, decided=True, linked=False),  # what it cites is not known: not asked for papers
    )
    outcome = PipelineOutcome(1, 2, sentences, {"extraction": 6.0, "worthiness": 4.0, "library": 8.0})
    found = as_dict(outcome)
    assert (found["P"], found["R"]) == (3 / 4, 3 / 4)
    assert (found["A@5"], found["A@10"]) == (2 / 5, 3 / 5)
    assert (found["R@5"], found["R@10"]) == (1 / 2, 1)
    assert found["milliseconds"] == {"extraction": 1000, "worthiness": 2000, "library": 2000}


@pytest.fixture
def detector() -> FakeDetector:
    return word_detector()


@pytest.fixture
def encoder() -> FakeEncoder:
    return word_encoder()


@pytest.fixture
def drafts(tmp_path: Path) -> Path:
    folder = tmp_path / "drafts" / "bees"
    folder.mkdir(parents=True)
    text = TEX.replace(r"bees rest at night.", r"bees need rest at night~\cite{Kaiser1988}.")
    (folder / "main.tex").write_text(text, "utf-8")
    (folder / "refs.bib").write_text(BIB, "utf-8")
    return tmp_path / "drafts"


def test_citations_are_masked_and_asked_back(drafts: Path, detector: FakeDetector, encoder: FakeEncoder) -> None:
    outcome = run(drafts_in(drafts), detector, encoder)
    assert [(one.worthy, one.decided, one.place) for one in outcome.sentences] == [
        (True, True, 1),  # found by its title alone
        (False, False, 0),
        (True, False, 0),
        (False, True, 0),
        (False, False, 0),
    ]
    assert not any("cite" in text.lower() for each in detector.asked for text in each.sentences)
    without = run(drafts_in(drafts), detector, encoder, bibliography=False)
    assert [one.place for one in without.sentences] == [0, 0, 0, 0, 0]


def test_what_cannot_be_read_is_said(drafts: Path, detector: FakeDetector, encoder: FakeEncoder) -> None:
    (drafts / "empty").mkdir()
    outcome = run(drafts_in(drafts), detector, encoder)
    assert outcome.drafts == 1
    assert "empty" in outcome.unread[0]
    with pytest.raises(UserError, match="empty"):
        run([drafts / "empty"], detector, encoder)


def test_the_command_prints_both_tables(drafts: Path, tmp_path: Path) -> None:
    from whycite.lab.cli.evaluate_check import pipeline

    app = typer.Typer()
    app.command()(pipeline)
    result = CliRunner().invoke(app, [str(drafts)])
    assert result.exit_code == 0, result.output
    assert "SCOPE, on its drafts" in result.stdout
    assert "extraction, per sentence" in result.stdout
    assert isinstance(CliRunner().invoke(app, [str(drafts), "--no-bibliography"]).exception, UserError)
