"""What title, authors and year of a reference tell about a citation."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.drafts import citing_document
from whycite import read
from whycite.documents import Document, Reference
from whycite.models import load_encoder
from whycite.verify.drafts import citations, verify_draft
from whycite.verify.metadata import name_note, title_similarities, topic_note

JONES = Reference("jones", "On ants in the dry season", ("Jones, Ann", "Müller, Bo"), 2018)
WU = Reference("wu", "On wasps in the dry season", ("Wu, Wei",), None)
ATLAS = Reference("atlas", "On bosons", ("ATLAS Collaboration",), 2012)
IMAGES = Reference("images", "ImageNet and its uses", ("Doe, Jane",), 2015)


def note(text: str) -> str:
    """The note on the last citation of a sentence."""
    document = citing_document("a.md", text, references=(JONES, WU, ATLAS, IMAGES))
    citation = document.sentences[0].citations[-1]
    return name_note(document.sentences[0], citation.start, citation.end, document.by_id)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Smith et al. [@jones] say so.", "the sentence says Smith, the entry is Jones and Müller 2018"),
        ("As Smith et al. (2019) [@jones] say.", "the sentence says Smith 2019, the entry is Jones and Müller 2018"),
        (
            "As Smith and Roe (2019) [@jones] say.",
            "the sentence says Smith and Roe 2019, the entry is Jones and Müller 2018",
        ),
        (
            "Ants sleep (van der Smith, 2019) [@jones].",
            "the sentence says van der Smith 2019, the entry is Jones and Müller 2018",
        ),
        ("Jones et al. (2016) [@jones] say so.", "the sentence says 2016, the entry is from 2018"),
        ("Smith and colleagues [@jones,wu] say so.", "the sentence says Smith, the entry is Jones and Müller 2018"),
    ],
)
def test_disagreements(text: str, expected: str) -> None:
    assert note(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Ants sleep [@jones].",
        "Jones et al. [@jones] say so.",
        "Jones and Mueller (2018) [@jones] say so.",
        "Wu et al. (2019) [@wu] say so.",  # nobody knows the year of the entry
        "Wu et al. [@jones,wu] say so.",  # one of them is his
        "Aad et al. [@atlas] say so.",  # a member of the collaboration
        "Models learn from ImageNet (2012) [@images].",
        "It was measured in March, 2019 [@jones].",
        "We use Adam [@jones] and Gaia and Hipparcos [@jones].",
        "Smith et al. disagree; ants sleep [@jones].",
        "Ants sleep (Smith and Roe, 2006; [@jones]).",  # another marker, which was not linked
        "Smith et al. [@nobody] say so.",
    ],
)
def test_no_false_alarm(text: str) -> None:
    assert note(text) == ""


def test_markers_with_names_of_their_own() -> None:
    """In published articles the marker is the name, and may point at another entry."""
    document = citing_document("a.xml", "Ants sleep [@jones].", references=(JONES,))
    sentence = document.sentences[0]
    marker = re.search(r"\[1\]", sentence.text)
    assert marker is not None
    from dataclasses import replace

    text = sentence.text.replace("[1]", "Smith et al., 2019")
    citation = replace(sentence.citations[0], text_end=marker.start() + len("Smith et al., 2019"))
    named = replace(sentence, text=text, citations=(citation,))
    assert name_note(named, citation.start, citation.end, document.by_id).startswith("the sentence says Smith 2019")


def _draft(tmp_path: Path, title: str, claim: str, heading: str = "How ants rest in the dry season") -> Document:
    path = tmp_path / "draft.md"
    entry = f"references: [{{id: roe, title: {title}, author: [{{family: Roe}}], issued: 2001}}]"
    path.write_text(f"---\ntitle: {heading}\n{entry}\n---\n\n{claim} [@roe].\n", "utf-8")
    return read(path)


def test_a_title_about_something_else_is_noted(tmp_path: Path) -> None:
    claim = "Ants never sleep at all while the dry season lasts"
    draft = _draft(tmp_path, "Quantum corrections to the entropy of rotating black holes", claim)
    (checked,) = verify_draft(draft)
    assert checked.notes == (
        "the title “Quantum corrections to the entropy of rotating black holes” seems to be about something else",
    )
    assert checked.missing
    (checked,) = verify_draft(_draft(tmp_path, "Rest and activity of desert ants during the summer", claim))
    assert checked.notes == ()


def test_short_or_foreign_text_tells_nothing(tmp_path: Path) -> None:
    encoder = load_encoder()
    far = "Quantum corrections to the entropy of rotating black holes"
    claims = ("See", "Source", "Die Ameisen schlafen nicht während der trockenen Zeit des Jahres")
    for claim, title in (*((claim, far) for claim in claims), ("Ants never sleep in the dry season", "Black holes")):
        document = _draft(tmp_path, title, claim)
        assert title_similarities(document, [(claim, 0, title)], encoder) == [1.0]
    assert topic_note("Black holes", 1.0, True) == ""
    assert topic_note("Black holes", 0.25, True) != ""
    assert topic_note("Black holes", 0.25, False) == ""  # less is known of the draft


def test_real_drafts_raise_few_alarms(data: Path) -> None:
    document = read(data / "drafts" / "ukp-bayes-seq")
    cited = [(each.claim, each.sentence, each.reference.title) for each in citations(document) if each.linked]
    similarities = np.array(title_similarities(document, cited, load_encoder()))
    assert (similarities < 1).sum() > 20
    assert not any(topic_note("title", similarity, True) for similarity in similarities)
