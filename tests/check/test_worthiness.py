"""Worthiness of a draft's sentences in the light of its own bibliography."""

from pathlib import Path

import numpy as np
import pytest

from tests.fakes import FakeDetector
from whycite.check.calibration import BibliographyWeights
from whycite.check.worthiness import judge
from whycite.documents import read
from whycite.models import Encoder

COUNTS = BibliographyWeights(alone=1, shares=0.5, words=0.5, shift=0.5, threshold=0.7)


def _undecided(bibliography: BibliographyWeights | None) -> FakeDetector:
    return FakeDetector(lambda text: 0.5, bibliography=bibliography)


@pytest.mark.parametrize("ending", ["md", "tex"])
def test_what_an_entry_says_needs_it(encoder: Encoder, tmp_path: Path, ending: str) -> None:
    body = "Bees need rest, too. The sky was blue on that day. The walls of old bridges hold granite."
    cited = {"md": "---\nbibliography: refs.bib\n---\n\n# Bees\n\n{} [@Kaiser1988].\n", "tex": "\\section{{Bees}}\n{} "}
    path = tmp_path / f"draft.{ending}"
    path.write_text(cited[ending].format(body) + "\n\\bibliography{refs}\n" * (ending == "tex"), "utf-8")
    entries = {"Kaiser1988": "Busy bees need rest, too", "Doe2019": "Granite in the walls of old bridges"}
    (tmp_path / "refs.bib").write_text(
        "".join(f"@article{{{key}, title = {{{title}}}}}\n" for key, title in entries.items()), "utf-8"
    )
    document = read(path)
    asked = {sentence.text[:8]: at for at, sentence in enumerate(document.sentences) if sentence.kind == "prose"}
    alone = judge(document, _undecided(None), encoder).worthiness
    judged = judge(document, _undecided(COUNTS), encoder)
    informed = judged.worthiness
    bees, sky, walls = asked["Bees nee"], asked["The sky "], asked["The wall"]
    assert alone[bees] == alone[sky] == alone[walls]
    assert min(informed[bees], informed[walls]) > informed[sky]
    assert judged.threshold(None) == 0.7


def test_a_draft_without_a_bibliography(encoder: Encoder, tmp_path: Path) -> None:
    path = tmp_path / "draft.md"
    path.write_text("# Bees\n\nBees need rest, too. The sky was blue.\n", "utf-8")
    document = read(path)
    alone, informed = (judge(document, _undecided(counts), encoder) for counts in (None, COUNTS))
    assert np.array_equal(alone.worthiness, informed.worthiness)
    assert (alone.threshold("method"), informed.threshold("method")) == (0.5, 0.7)


@pytest.mark.parametrize(
    ("cited", "of_detector", "reported"),
    [(1, 0.3, 0.6), (1, 0.7, 0.7), (0, 0.3, 0.4), (0, 0.5, 0.5)],
    ids=["finished", "own threshold", "hardly cites", "hardly cites, own threshold"],
)
def test_more_is_reported_where_most_citations_are_to_come(
    encoder: Encoder, tmp_path: Path, cited: int, of_detector: float, reported: float
) -> None:
    path = tmp_path / "draft.md"
    path.write_text("# Bees\n\n" + "Bees need rest, too [@Kaiser1988]. " * cited + "Bees sleep. " * 5 + "\n", "utf-8")
    (tmp_path / "refs.bib").write_text("@article{Kaiser1988, title = {Busy bees}}\n", "utf-8")
    judged = judge(read(path), FakeDetector(lambda text: 0.5, {"": of_detector}), encoder)
    assert judged.hardly_cites == (cited == 0)
    assert judged.threshold("method") == of_detector
    assert judged.reporting_threshold("method") == reported
