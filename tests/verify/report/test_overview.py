"""What a report on a draft puts first, and how it sums up the rest."""

from pathlib import Path

import pytest

from tests.drafts import make_verdict, reviewed_draft
from whycite.documents import Document, Reference, Sentence
from whycite.verify.report import html, markdown
from whycite.verify.report.overview import (
    authors_and_year,
    draft_report,
    main_passages,
    passage_facts,
    place,
    reference_link,
    shown_key,
    split_passages,
)
from whycite.verify.verification import Passage, Verification


def test_worst_first_and_within_a_verdict_by_confidence() -> None:
    report = reviewed_draft()
    assert [(checked.verification.verdict, checked.claim) for checked in report.judged] == [
        ("contradicted", "Bees doze."),
        ("contradicted", "Bees sleep."),
        ("secondary", "Bees nap."),
        ("not found", "Bees snore."),
        ("backed", "Bees dream."),  # the least sure
        ("backed", "Bees rest."),
    ]
    assert report.summary == ("12 citations: 2 contradicted, 1 secondary, 1 not found, 2 backed, 6 could not check.")


def test_what_could_not_be_checked_is_put_together() -> None:
    report = reviewed_draft()
    assert [(paper.reference.id, len(paper.citations)) for paper in report.missing] == [("roe", 2), ("poe", 1)]
    assert [(group.reason, len(group.citations)) for group in report.unchecked] == [
        ("it is no claim", 2),
        ("the bibliography has no entry 'x'", 1),
    ]
    assert [checked.notes for checked in report.noted] == [("the year differs",)]


def test_nothing_to_report() -> None:
    report = draft_report(Document("a/draft.md", "markdown", Reference("")), [])
    assert (report.title, report.summary) == ("draft.md", "0 citations.")


def test_the_passage_that_decided_is_the_main_one() -> None:
    worst = reviewed_draft().judged[0].verification
    (main,), others = split_passages(worst, 2)
    assert (main.rank, passage_facts(main)) == (4, ["Results", "p. 5", "contradicts the claim"])
    assert [passage.rank for passage in others] == [1]
    quoting, fine = Passage(1, 0, 0.9, "“Bees sleep.”", "", quotes=True), Passage(2, 1, 0.8, "They do.", "")
    assert main_passages(Verification("c", "backed", 0.8, (quoting, fine))) == (fine,)
    assert main_passages(Verification("c", "not found", 0.8, (quoting,))) == (quoting,)
    assert main_passages(Verification("c", "could not check", 0.0)) == ()


def test_passages_that_disagree_are_both_main_ones() -> None:
    supporting, unread = Passage(1, 0, 0.9, "Bees sleep.", "", decides=True), Passage(2, 1, 0.8, "They do.", "")
    opposing = Passage(3, 2, 0.7, "Bees never sleep.", "", stance="contradicts", decides=True)
    undecided = Verification("c", "not found", 0.6, (supporting, unread, opposing))
    assert split_passages(undecided, 3) == ((supporting, opposing), (unread,))
    assert split_passages(undecided, 1) == ((supporting, opposing), ())


def test_places_do_not_tell_where_the_draft_lies(tmp_path: Path) -> None:
    def where(file: str, path: Path, line: int | None = 3) -> str:
        return place(make_verdict("backed", file=file, line=line), Document(str(path), "latex", Reference("")))

    inner = str(tmp_path / "parts" / "a.tex")
    assert where(inner, tmp_path / "main.tex") == "parts/a.tex:3"
    assert where(inner, tmp_path) == "parts/a.tex:3"  # a project's folder
    assert where("/elsewhere/b.tex", tmp_path, None) == "b.tex"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        (
            Reference("a", doi='10.1000/a(b)<c>"?x'),
            ('doi:10.1000/a(b)<c>"?x', "https://doi.org/10.1000/a%28b%29%3Cc%3E%22%3Fx"),
        ),
        (Reference("a", arxiv="hep-th/9901001"), ("arXiv:hep-th/9901001", "https://arxiv.org/abs/hep-th/9901001")),
        (Reference("a", doi="javascript:alert(1)"), ("", "")),
        (Reference("a"), ("", "")),
    ],
    ids=["doi", "arxiv", "no doi", "nothing"],
)
def test_links(reference: Reference, expected: tuple[str, str]) -> None:
    assert reference_link(reference) == expected


def test_authors() -> None:
    names = ("Doe, J.", "Roe, R.", "Poe, E.", "Li, W.")
    shown = [authors_and_year(Reference("a", authors=names[:number], year=2001)) for number in range(5)]
    assert shown == ["(2001)", "Doe (2001)", "Doe and Roe (2001)", "Doe, Roe and Poe (2001)", "Doe et al. (2001)"]
    assert authors_and_year(Reference("a")) == ""


def test_places_in_a_pdf_are_pages_and_its_references_have_no_keys() -> None:
    sentence = Sentence("Bees sleep.", 0, 0, file="draft.pdf", start=0, end=11, page=7)
    draft = Document("draft.pdf", "pdf", Reference(""), sentences=(sentence,))
    assert place(make_verdict("backed", file="draft.pdf", line=212), draft) == "draft.pdf, p. 7"
    made_up = Reference("ref12", title="Busy bees need rest, too", authors=("Kaiser, Walter",), year=1988)
    assert (shown_key(made_up, draft), shown_key(Reference("kaiser1988"), draft)) == ("", "kaiser1988")
    report = draft_report(draft, [make_verdict("backed", file="draft.pdf", reference=made_up)])
    for text in (html(report), markdown(report)):
        assert "Kaiser (1988)" in text
        assert "ref12" not in text
    written = Document("draft.tex", "latex", Reference(""), sentences=(sentence,))  # \\bibitem{ref12}
    report = draft_report(written, [make_verdict("backed", file="draft.tex", reference=made_up)])
    assert "ref12" in html(report)
    assert "ref12" in markdown(report)
