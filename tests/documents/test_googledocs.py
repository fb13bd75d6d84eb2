"""Drafts as Google Docs exports them: the same in Word and in Markdown."""

import time

import pytest

from tests.googledocs import google_docx, google_markdown
from whycite.documents.markdown import READER as MARKDOWN
from whycite.documents.model import Document
from whycite.documents.sources import MemoryFolder, Source
from whycite.documents.word import READER as WORD


@pytest.fixture(params=["docx", "md"])
def draft(request: pytest.FixtureRequest) -> Document:
    name = f"draft.{request.param}"
    data = google_docx() if request.param == "docx" else google_markdown().encode()
    return next((WORD if request.param == "docx" else MARKDOWN).read(Source(MemoryFolder({name: data}, ""), name)))


def test_title_sections_and_sentences(draft: Document) -> None:
    assert draft.paper.title == "Why bees sleep at night"
    headings = [section.heading.removeprefix("1. ").removeprefix("2. ") for section in draft.sections]
    assert [heading for heading in headings if heading] == ["Abstract", "Introduction", "Discussion"]
    assert not draft.warnings
    texts = {kind: [s.text for s in draft.sentences if s.kind == kind] for kind in ("prose", "footnote", "table")}
    assert [text for text in texts["prose"] if "Ulm" not in text] == [
        "Bees sleep.",
        "We show why sleep matters for “forgetful” foragers.",
        "Honey bees sleep at night (Kaiser & Lee, 1995).",
        "Sleep-deprived bees dance less precisely (Klein et al., 2010).",
        "Smith (2011) found that flies rest for 5 - 8 hours in the dark.",
        "This is unclear.",
        "Other insects sleep, too.",
        "Sleep restores memory.",
        "It saves energy (Smith, 2011).",
        "Sleep loss impairs memory in many insects.",
        "We return to this below.",
    ]
    assert texts["footnote"] == ["See Kaiser & Lee (1995) for a review.", "Flies rest as well (Smith, 2011)."]
    captions = " ".join(s.text for s in draft.sentences if s.kind == "caption")
    assert captions == "Figure 1. Bees at rest. Photograph from (Smith, 2011)."
    assert texts["table"] == ["5–8 (Kaiser & Lee, 1995)"]


def test_citations_in_text_notes_tables_and_captions_are_linked(draft: Document) -> None:
    names = {key: reference.authors[0].partition(",")[0] for key, reference in draft.by_id.items()}
    cited = {s.text: [names[key] for key in s.cited_keys] for s in draft.sentences if s.citations}
    assert cited == {
        "Honey bees sleep at night (Kaiser & Lee, 1995).": ["Kaiser"],
        "Sleep-deprived bees dance less precisely (Klein et al., 2010).": ["Klein"],
        "Smith (2011) found that flies rest for 5 - 8 hours in the dark.": ["Smith"],
        "Photograph from (Smith, 2011).": ["Smith"],
        "5–8 (Kaiser & Lee, 1995)": ["Kaiser"],
        "It saves energy (Smith, 2011).": ["Smith"],
        "See Kaiser & Lee (1995) for a review.": ["Kaiser"],
        "Flies rest as well (Smith, 2011).": ["Smith"],
    }
    notes = {s.text: [names[key] for c in s.note_citations for key in c.keys] for s in draft.sentences}
    assert notes["This is unclear."] == ["Kaiser"]
    assert notes["Other insects sleep, too."] == ["Smith"]


def test_references_are_read_without_their_markup(draft: Document) -> None:
    rows = [(r.authors[0], r.year, r.title, r.venue, r.doi) for r in draft.references]
    assert rows == [
        ("Kaiser, W.", 1995, "Busy bees need rest, too", "Journal of Comparative Physiology A", "10.1007/bf00190234"),
        (
            "Klein, B. A.", 2010,
            "Sleep deprivation impairs precision of waggle dance signaling in honey bees", "PNAS", "",
        ),
        ("Smith, A.", 2011, "Rest and sleep in insects", "Science", ""),
    ]  # fmt: skip
    assert "*" not in "".join(reference.text for reference in draft.references)


def test_pictures_in_the_text_of_a_draft_cost_no_time() -> None:
    text = google_markdown("iVBORw0KGgo/" * 400_000)
    started = time.process_time()
    draft = next(MARKDOWN.read(Source(MemoryFolder({"draft.md": text.encode()}, ""), "draft.md")))
    assert time.process_time() - started < 2
    assert len(draft.references) == 3
    assert not any("iVBOR" in sentence.text for sentence in draft.sentences)
