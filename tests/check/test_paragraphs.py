"""Labelled paragraphs of documents: what is worthy, what conforms, what is left out."""

from pathlib import Path

import pytest

from whycite.check.paragraphs import LabelledDocument, bare_text, labelled_document
from whycite.documents import stream
from whycite.documents.model import Citation, Document, Reference, Section, Sentence
from whycite.structure import label

REFERENCES = (Reference("a", authors=("Doe, Jane",)), Reference("b", authors=("Roe, Richard",)))


def sentence(text: str, section: int = 0, paragraph: int = 0, **others: str) -> Sentence:
    """A sentence whose markers stand in double angle brackets: "Cells divide (<<Doe, 2010>>)."."""
    citations = []
    while "<<" in text:
        start = text.index("<<")
        text = text.replace("<<", "", 1)
        end = text.index(">>")
        text = text.replace(">>", "", 1)
        citations.append(Citation(("a",), start, end, start, end))
    return Sentence(text, section, paragraph, "draft.tex", 0, len(text), tuple(citations), **others)  # type: ignore[arg-type]


def document(*sentences: Sentence, sections: tuple[Section, ...] = (Section("Introduction", 1),)) -> Document:
    paper = Reference("", title="Of cells", year=2024, doi="10.1/cells")
    return label(Document("draft.tex", "latex", paper, sections, sentences, REFERENCES))


def only(text: str) -> tuple[str, bool, bool, str]:
    """Text, worthy, conform and named text of a document's one sentence."""
    (paragraph,) = labelled_document(document(sentence(text))).paragraphs
    (found,) = paragraph.sentences
    return found.text, found.worthy, found.conform, found.text_with_names


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Cells divide all the time.", []),
        ("Cells divide (<<Doe, 2010>>) and stars shine <<[3]>>.", ["Cells divide", "Cells divide and stars shine"]),
        ("<<Doe et al. (2010)>> showed that cells divide.", ["Doe et al."]),
        ("Cells, as Doe said (<<Doe, 2010>>), divide all day.", ["Cells, as Doe said"]),
    ],
)
def test_where_citations_stood(text: str, before: list[str]) -> None:
    (paragraph,) = labelled_document(document(sentence(text))).paragraphs
    (found,) = paragraph.sentences
    assert [found.text[:place] for place in found.group_offsets] == before


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Cells divide all the time.", ("Cells divide all the time.", False, True, "")),
        ("Cells divide all the time (<<Doe, 2010>>).", ("Cells divide all the time.", True, True, "")),
        ("Cells divide all the time <<[3]>>.", ("Cells divide all the time.", True, True, "")),
        ("Cells divide all the time (<<Doe, 2010>>; <<Roe, 2011>>).", ("Cells divide all the time.", True, True, "")),
        (
            "Cells divide (<<Doe, 2010>>) and stars shine all night.",
            ("Cells divide and stars shine all night.", True, False, ""),
        ),
        (
            "<<Doe et al. (2010)>> showed that cells divide.",
            ("Doe et al. showed that cells divide.", True, False, "Doe et al. showed that cells divide."),
        ),
        (
            "As Doe and colleagues <<[3]>> showed, cells divide.",
            ("As other authors showed, cells divide.", True, False, "As Doe and colleagues showed, cells divide."),
        ),
        (
            "This was first done for cells by <<Doe et al. (2010)>>.",
            (
                "This was first done for cells by Doe et al. (2007).",
                True,
                False,
                "This was first done for cells by Doe et al.",
            ),
        ),
        ("and then cells divide all the time.", ("and then cells divide all the time.", False, False, "")),
        ("Cells divide all the time, as follows", ("Cells divide all the time, as follows", False, False, "")),
        ("Cells do.", ("Cells do.", False, False, "")),
    ],
)
def test_rules(text: str, wanted: tuple[str, bool, bool, str]) -> None:
    assert only(text) == wanted


def test_unmarked_is_what_is_learned_from() -> None:
    cited = sentence("Cells  divide (see <<Doe, 2010>>).")
    assert (
        bare_text(cited, document(cited))
        == "Cells divide."
        == only(cited.text.replace("Doe, 2010", "<<Doe, 2010>>"))[0]
    )


def test_what_is_not_asked_about() -> None:
    sections = (Section("Abstract", 1), Section("Introduction", 1), Section("Acknowledgements", 1))
    found = labelled_document(
        document(
            sentence("We study how cells divide here.", 0, 0),
            sentence("Cells divide all the time.", 1, 1),
            sentence("Cells that divide all the time.", 1, 1, kind="caption"),
            sentence("(<<Doe, 2010>>).", 1, 1),
            sentence("Nobody linked this marker (Doe, 2010) at all.", 1, 2),
            sentence("We thank Jane Doe for her help.", 2, 3),
            sections=sections,
        )
    )
    assert [each.text for paragraph in found.paragraphs for each in paragraph.sentences] == [
        "Cells divide all the time."
    ]


def test_paragraphs_know_where_they_stand() -> None:
    sections = (Section("Introduction", 1), Section("Results", 1), Section("Cells divide", 2), Section("Twice", 3))
    found = labelled_document(
        document(
            sentence("One thing is written here.", 0, 0),
            sentence("Another is written there (<<Doe, 2010>>).", 0, 0),
            sentence("There (<<Doe, 2010>>) is a third one, too.", 0, 1),
            sentence("The cells are shown in a figure.", 3, 2),
            sections=sections,
        )
    )
    assert (found.key, found.title, found.date, found.year) == ("doi:10.1/cells", "Of cells", "2024", 2024)
    assert [(len(each.sentences), each.conform, each.nonconform) for each in found.paragraphs] == [
        (2, True, False),
        (1, False, True),
        (1, True, False),
    ]
    assert found.paragraphs[0].headings == ("Introduction",)
    assert found.paragraphs[2].headings == ("Results", "Cells divide", "Twice")
    assert found.paragraphs[2].section_type == "result"


def test_date() -> None:
    assert labelled_document(document(), "2025-03-04").date == "2025-03-04"
    assert LabelledDocument("k", "", "", ()).year is None


def test_real_articles(data: Path) -> None:
    articles = [
        labelled_document(label(each))
        for each, _ in zip(stream(data / "elife" / "elife-tiny.jsonl.zst"), range(8), strict=False)
    ]
    paragraphs = [paragraph for article in articles for paragraph in article.paragraphs]
    sentences = [each for paragraph in paragraphs for each in paragraph.sentences]
    assert 0.1 < sum(each.worthy for each in sentences) / len(sentences) < 0.35
    assert sum(each.conform for each in sentences) > len(sentences) * 0.8
    assert not any("et al., 20" in each.text or "()" in each.text for each in sentences)
    assert {"introduction", "result", "discussion", "method"} <= {paragraph.section_type for paragraph in paragraphs}
