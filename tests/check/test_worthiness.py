"""Worthiness of a draft's sentences in the light of its own bibliography."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from whycite.check.calibration import BibliographyWeights
from whycite.check.detector import ParagraphText
from whycite.check.worthiness import judge
from whycite.documents import read
from whycite.models import Encoder

COUNTS = BibliographyWeights(alone=1, shares=0.5, words=0.5, shift=0.5, threshold=0.7)


class Undecided:
    """Finds every sentence as likely as not; a bibliography may count."""

    name = "undecided@1"
    thresholds: Mapping[str, float] = {"": 0.5}

    def __init__(self, bibliography: BibliographyWeights | None) -> None:
        self.bibliography = bibliography

    def worthiness(self, paragraphs: Sequence[ParagraphText]) -> list[NDArray[np.float64]]:
        """The same for all."""
        return [np.full(len(each.sentences), 0.5) for each in paragraphs]


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
    alone = judge(document, Undecided(None), encoder).worthiness
    judged = judge(document, Undecided(COUNTS), encoder)
    informed = judged.worthiness
    bees, sky, walls = asked["Bees nee"], asked["The sky "], asked["The wall"]
    assert alone[bees] == alone[sky] == alone[walls]
    assert min(informed[bees], informed[walls]) > informed[sky]
    assert judged.threshold(None) == 0.7


def test_a_draft_without_a_bibliography(encoder: Encoder, tmp_path: Path) -> None:
    path = tmp_path / "draft.md"
    path.write_text("# Bees\n\nBees need rest, too. The sky was blue.\n", "utf-8")
    document = read(path)
    alone, informed = (judge(document, Undecided(counts), encoder) for counts in (None, COUNTS))
    assert np.array_equal(alone.worthiness, informed.worthiness)
    assert (alone.threshold("method"), informed.threshold("method")) == (0.5, 0.7)
