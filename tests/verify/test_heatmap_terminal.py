"""The heat map as a terminal shows it, and as JSON."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from tests.drafts import verified_document
from whycite.errors import UserError
from whycite.verify.heatmap import heat, heat_map_json, terminal, usual_threshold
from whycite.verify.verification import Verification


def printed(renderable: Any, colour: bool = False, width: int = 90) -> str:
    stream = io.StringIO()
    system: Any = "truecolor" if colour else None
    Console(file=stream, force_terminal=colour, color_system=system, width=width).print(renderable)
    return stream.getvalue()


def test_what_is_said_without_colours() -> None:
    text = printed(terminal(*verified_document()))
    lines = [line.rstrip() for line in text.splitlines()]
    assert lines[0] == "“Bees sleep 77 hours.”"
    assert lines[1] == "✗ contradicted, 87% confidence: The best passage has another number."
    assert "3 of 6 sentences with a score of 0.50 or higher" in lines
    assert lines[lines.index("How bees rest") + 1] == "▕ █ █ █▏"  # the overview, a cell a sentence
    # In reading order, under their headings; what is cold is left out and counted.
    assert text.index("Introduction") < text.index("[3: 0.62] Foragers sleep") < text.index("Results")
    assert text.index("⋯ 1 sentence") < text.index("Results")
    assert "Hives were filmed" not in text
    assert "Methods" not in text
    assert "[1: 0.93] Foragers slept 7.7 hours a night. (77 in the claim, 7.7 here)" in text
    assert "[2: 0.81] Foragers need sleep, as others said. (quotes the claim, so it is not evidence)" in text
    assert "We study how bees rest." in text  # cold, but in a paragraph that is not


def test_the_whole_document_and_fewer_numbers() -> None:
    text = printed(terminal(*verified_document(), threshold=0.9, top=1, whole=True))
    assert "Hives were filmed" in text
    assert "⋯" not in text
    assert "[1: 0.93]" in text
    assert "[2:" not in text
    assert "1 of 6 sentences with a score of 0.90 or higher" in text


def test_hotter_sentences_have_hotter_grounds() -> None:
    text = printed(terminal(*verified_document(), threshold=0.25), colour=True, width=200)
    hot, warm = "48;2;255;122;41m", "48;2;255;223;128m"
    assert f"{hot}Foragers slept" in text
    assert f"{warm}Their antennae" in text
    assert "\x1b[0mWe study" in text  # cold: as it is


def test_contradicting_and_deciding_passages_stand_out() -> None:
    document, verification = verified_document()
    best, second, *rest, worst = verification.passages
    changed = (replace(best, stance="contradicts"), second, *rest, replace(worst, decides=True))
    verification = replace(verification, passages=changed)
    text = printed(terminal(document, verification, top=1), width=200)
    assert "[1: 0.93] Foragers slept 7.7 hours a night. (contradicts the claim; 77 in the claim, 7.7 here)" in text
    assert "▶ [6: 0.05] Hives were filmed" in text  # whatever its score
    assert "▕ █░✗ █▏" in text
    assert "contradicts it  ▶ decides the verdict" in text
    coloured = printed(terminal(document, verification), colour=True, width=200)
    assert "48;2;168;123;255mForagers slept" in coloured
    assert "contradicts it" not in printed(terminal(*verified_document()))
    shown = json.loads(json.dumps(heat_map_json(document, verification)))
    assert [shown["passages"][0]["rank"], shown["passages"][0]["decides"]] == [6, True]
    assert [sentence.get("stance") for sentence in shown["sentences"]] == [None] * 3 + ["contradicts"] + [None] * 2


def test_text_cannot_steer_the_terminal() -> None:
    document, verification = verified_document(title="\x1b[2Jtitle", claim="claim\x1b]0;x\x07[bold]", note="\x9b31m")
    sentences = (replace(document.sentences[0], text="\x1b[31mred [link=x]"), *document.sentences[1:])
    text = printed(terminal(replace(document, sentences=sentences), verification, 0.0, whole=True))
    assert not {"\x1b", "\x07", "\x9b"} & set(text)
    assert "[31mred [link=x]" in text
    assert "[bold]" in text


def test_nothing_to_show() -> None:
    document, _ = verified_document()
    unchecked = Verification("A claim.", "could not check", 0.0, (), "There is no full text.")
    assert printed(terminal(document, unchecked)).splitlines() == [
        "“A claim.”",
        "– could not check: There is no full text.",
    ]


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_no_threshold(threshold: float) -> None:
    with pytest.raises(UserError, match="between 0 and 1"):
        terminal(*verified_document(), threshold=threshold)


def test_steps_of_heat() -> None:
    assert [heat(score, 0) for score in (0, 0.19, 0.2, 0.59, 0.6, 0.99, 1)] == [1, 1, 2, 3, 4, 5, 5]
    assert heat(0.49, 0.5) == 0
    assert heat(0.5, 0.5) == 3  # the colour hangs on the score, not on the threshold


def test_the_usual_threshold_shows_something() -> None:
    assert usual_threshold(verified_document()[1]) == 0.5
    weak = verified_document(scores=(0.1, 0.26, 0.05, 0.333, 0.2, 0.31))[1]
    assert usual_threshold(weak) == 0.26
    assert usual_threshold(Verification("c", "could not check", 0.0)) == 0.5
    assert usual_threshold(verified_document(texts=("One.",), scores=(0.2,))[1]) == 0.2
    assert usual_threshold(verified_document(scores=(0.1, 0.01, 0.02, 0.9, 0.23, 0.0))[1]) == 0.1  # one is hot
    assert usual_threshold(verified_document(scores=(0.001,) * 6)[1]) == 0.05  # nothing stands out: nothing is shaded


def test_heat_map_json() -> None:
    document, verification = verified_document()
    content = json.loads(json.dumps(heat_map_json(document, replace(verification, passages=verification.passages[:3]))))
    assert content["verdict"] == "contradicted"
    assert content["confidence"] == 0.87
    assert content["document"] == {"path": "papers/bees.md", "title": "How bees rest", "year": 2023}
    assert content["passages"][0] == {
        "rank": 1,
        "index": 3,
        "score": 0.93,
        "text": "Foragers slept 7.7 hours a night.",
        "section": "Results",
        "stance": "neither",
        "role": "own",
        "numbers": "77 in the claim, 7.7 here",
    }
    assert [sentence["score"] for sentence in content["sentences"]] == [None, 0.62, None, 0.93, None, 0.81]
    assert content["sentences"][1]["rank"] == 3
    assert content["sections"][2] == {"heading": "Filming", "level": 2, "type": None}
