"""Detectors that lie in a folder, and the one that comes with whycite."""

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thoroughness import examples
from whycite.check.detector import (
    DEFAULT_DETECTOR,
    Detector,
    DetectorHead,
    FolderDetector,
    ParagraphText,
    bundled_detectors,
    load_detector,
)
from whycite.errors import UserError
from whycite.models.folders import HEAD, WORTHINESS


def paragraph(random: Random, sentences: int, words: int = 6) -> ParagraphText:
    texts = [" ".join(f"w{random.randrange(50)}" for _ in range(random.randint(1, words))) for _ in range(sentences)]
    return ParagraphText(tuple(texts), ("w1",), "method")


def test_beside_others_and_on_any_threads_it_says_the_same(folder: Path) -> None:
    random = Random(1)
    given = [paragraph(random, random.randint(1, 9)) for _ in range(30)]
    together = FolderDetector(folder, 4).worthiness(given)
    for own, found in zip(given, together, strict=True):
        (alone,) = FolderDetector(folder, 1).worthiness([own])
        assert np.array_equal(alone, found)
        assert len(found) == len(own.sentences)


def test_long_paragraphs_and_sentences_are_read_whole(folder: Path) -> None:
    random = Random(2)
    long = paragraph(random, 120)
    endless = ParagraphText((" ".join(["w3"] * 5000), "w4 w5"))
    first, second = FolderDetector(folder, 2).worthiness([long, endless])
    assert len(first) == 120
    assert len(set(first.tolist())) > 60
    assert ((second > 0) & (second < 1)).all()


def test_odd_sentences(folder: Path) -> None:
    odd = ParagraphText(("", "   ", "...", "w1 w2", "\ud83d half", "x\x00y\n\tz"))
    (found,) = FolderDetector(folder, 1).worthiness([odd])
    assert found[:3].tolist() == [0.0, 0.0, 0.0]
    assert (found[3:] > 0).all()
    assert FolderDetector(folder, 1).worthiness([]) == []
    assert FolderDetector(folder, 1).worthiness([ParagraphText(())])[0].tolist() == []


def test_the_section_and_neighbours_count(folder: Path) -> None:
    detector = FolderDetector(folder, 1)
    texts = ("w1 w2 w3", "w4 w5")
    plain, headed, alone = detector.worthiness(
        [ParagraphText(texts), ParagraphText(texts, ("w9 w8",), None), ParagraphText(texts[:1])]
    )
    assert plain[0] != headed[0]
    assert plain[0] != alone[0]
    (typed,) = detector.worthiness([ParagraphText(texts, (), "w9 w8")])
    assert np.array_equal(typed, headed)


def test_kinds_of_text(folder: Path) -> None:
    drafts, articles = FolderDetector(folder, 1), FolderDetector(folder, 1, "articles")
    assert (drafts.thresholds, articles.thresholds) == ({"": 0.3}, {"": 0.4, "method": 0.6})
    assert drafts.name != articles.name
    given = [ParagraphText(("w1 w2 w3", "w1 w2"))]
    (score,) = drafts.scores(given)
    (found,), (other,) = drafts.worthiness(given), articles.worthiness(given)
    assert found == pytest.approx(1 / (1 + np.exp(-(0.5 * score - 1))))
    assert other == pytest.approx(1 / (1 + np.exp(-score)))
    with pytest.raises(UserError, match="use drafts, articles"):
        FolderDetector(folder, 1, "poems")


def test_the_version_follows_what_it_says(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    assert FolderDetector(other, 1).name == FolderDetector(folder, 1).name
    content = json.loads((other / WORTHINESS.settings_file).read_text())
    content["decisions"]["drafts"]["thresholds"][""] = 0.31
    (other / WORTHINESS.settings_file).write_text(json.dumps(content))
    assert FolderDetector(other, 1).name != FolderDetector(folder, 1).name


GENERAL = {"calibration": {"scale": 1, "shift": 0}, "thresholds": {"": 0.5}}


@pytest.mark.parametrize(
    "change",
    [
        {"decisions": {}},
        {"decisions": {"drafts": {"calibration": {"scale": 1, "shift": 0}, "thresholds": {"method": 1}}}},
        {"decisions": {"drafts": {**GENERAL, "bibliography": {"alone": 1}}}},
        {"readout": "middle"},
        {"variant": "wide"},
        {"max_tokens": 3},
        {"max_tokens": "many"},
        {"decisions": 5},
    ],
    ids=["none", "no-general", "half a bibliography", "readout", "variant", "short", "no-number", "no-decisions"],
)
def test_wrong_facts(folder: Path, tmp_path: Path, change: dict[str, object]) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    (other / WORTHINESS.settings_file).write_text(
        json.dumps(json.loads((folder / WORTHINESS.settings_file).read_text()) | change)
    )
    with pytest.raises(UserError):
        FolderDetector(other, 1)


def test_folders_that_hold_none(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="use worthiness-30m"):
        load_detector("nowhere")
    with pytest.raises(UserError, match="not a complete worthiness model folder"):
        load_detector(tmp_path)
    with pytest.raises(UserError, match="1 or more"):
        load_detector(threads=0)
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    (broken / HEAD).write_bytes(b"no")
    with pytest.raises(UserError, match="copy the folder again"):
        load_detector(broken).worthiness([ParagraphText(("w1",))])


@settings(max_examples=examples(25), deadline=None)
@given(sentences=st.lists(st.text(max_size=40), max_size=6), heading=st.text(max_size=20))
def test_any_text(folder: Path, sentences: list[str], heading: str) -> None:
    (found,) = FolderDetector(folder, 1).worthiness([ParagraphText(tuple(sentences), (heading,))])
    assert len(found) == len(sentences)
    assert ((found >= 0) & (found < 1)).all()


@pytest.fixture
def detector() -> Detector:
    """The one that comes with whycite."""
    return load_detector(threads=1)


class TestBundled:
    """The model that comes with whycite."""

    def test_is_there_once(self, detector: Detector) -> None:
        assert bundled_detectors() == [DEFAULT_DETECTOR]
        assert load_detector(threads=1) is detector
        assert detector.name.startswith(f"{DEFAULT_DETECTOR}@")

    def test_tells_what_others_found_from_what_was_done(self, detector: Detector) -> None:
        introduction = ParagraphText(
            (
                "Previous studies have shown that sleep deprivation impairs memory consolidation in mice.",
                "The hippocampus has been implicated in spatial navigation.",
                "Here we ask whether this holds in flies.",
            ),
            ("Introduction",),
            "introduction",
        )
        methods = ParagraphText(
            ("Samples were stored at -80 °C.", "The mean of three runs is given in Figure 2."), ("Methods",), "method"
        )
        said, done = detector.worthiness([introduction, methods])
        threshold = detector.thresholds[""]
        assert (said[:2] > threshold).all()
        assert said[2] < threshold
        assert (done < threshold).all()

    def test_speed(self, detector: Detector) -> None:
        texts = tuple(
            f"In group {at} the number of cells that divide in a day was counted twice by two people who did not know "
            "which animal they came from."
            for at in range(6)
        )
        detector.worthiness([ParagraphText(texts)])
        begun = time.process_time()
        detector.worthiness([ParagraphText(texts, (f"Part {at}",)) for at in range(20)])
        assert 120 / (time.process_time() - begun) > 40  # sentences a second on one core; some 200 are usual


def reading_detector(folder: Path, out: Path, outputs: int) -> Path:
    """A copy of a detector whose default decision asks what a reader would, with so many outputs."""
    shutil.copytree(folder, out)
    head = DetectorHead.read(out)
    output = np.concatenate([head.output, -2 * head.output])[:outputs]
    replace(head, output=output, output_bias=np.repeat(head.output_bias, outputs)).write(out)
    content = json.loads((out / WORTHINESS.settings_file).read_text())
    content["decisions"]["drafts"]["reader"] = True
    (out / WORTHINESS.settings_file).write_text(json.dumps(content))
    return out


def test_a_decision_may_ask_what_a_reader_would(folder: Path, tmp_path: Path) -> None:
    other = reading_detector(folder, tmp_path / "reading", 2)
    given = [paragraph(Random(4), 5), ParagraphText(())]
    plain, bias = FolderDetector(folder, 1).scores(given), DetectorHead.read(folder).output_bias[0]
    drafts, articles = FolderDetector(other, 1), FolderDetector(other, 1, "articles")
    assert drafts.scores(given)[0] == pytest.approx(bias - 2 * (plain[0] - bias), abs=1e-3)
    assert drafts.scores(given)[1].tolist() == []
    assert np.array_equal(articles.scores(given)[0], plain[0])


def test_a_reader_without_weights(folder: Path, tmp_path: Path) -> None:
    other = reading_detector(folder, tmp_path / "reading", 1)
    with pytest.raises(UserError, match="copy its folder again"):
        FolderDetector(other, 1).worthiness([ParagraphText(("w1",))])


def test_readings_of_the_bundled_detector() -> None:
    assert load_detector().decision.reader  # type: ignore[attr-defined]
    assert not load_detector(decision="articles").decision.reader  # type: ignore[attr-defined]
