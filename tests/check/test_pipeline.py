"""A draft in, findings out."""

import json
from pathlib import Path

import pytest

import whycite
from tests.drafts import TEX
from tests.fakes import FakeDetector, FakeEncoder
from whycite.check.findings import CheckedDraft, checked_draft_json
from whycite.check.pipeline import check_draft
from whycite.documents.model import Notice
from whycite.errors import UserError
from whycite.library.notices import PaperNotices, replace_list
from whycite.library.records import identifier


@pytest.fixture
def run(detector: FakeDetector, encoder: FakeEncoder):  # type: ignore[no-untyped-def]
    def checked(draft: Path, **options: object) -> CheckedDraft:
        return check_draft(draft, detector=detector, encoder=encoder, **options)  # type: ignore[arg-type]

    return checked


def kinds(checked: CheckedDraft) -> list[str]:
    return [finding.kind for finding in checked.findings]


def test_every_sentence_has_its_finding_and_worthy_ones_papers(run, draft: Path) -> None:  # type: ignore[no-untyped-def]
    checked = run(draft)
    assert kinds(checked) == ["needs-citation", "ok", "cited", "needs-citation", "ok"]
    first, _, cited, fourth, last = checked.findings
    assert (first.line, first.column, first.end_line, first.end_column) == (5, 1, 5, 37)
    assert (first.section, first.section_type, first.threshold) == ("Introduction", "introduction", 0.6)
    assert first.recommendations[0].key == "Kaiser1988"
    assert first.recommendations[0].in_bibliography
    assert fourth.recommendations[0].key == "Doe2019"
    assert cited.cites == ("Vaswani2017",)
    assert cited.recommendations == ()
    assert last.worthiness == pytest.approx(0.9)  # less than sections of its type ask for
    assert last.threshold == 0.95
    assert any("no library, so papers" in warning for warning in checked.warnings)
    assert set(checked.stages) == {"reading", "worthiness", "bibliography", "library"}


def test_options_change_what_is_asked_for(run, draft: Path) -> None:  # type: ignore[no-untyped-def]
    assert kinds(run(draft, threshold=0.5))[-1] == "needs-citation"
    assert kinds(run(draft, thresholds={"conclusion": 0.5})) == [
        *["needs-citation", "ok", "cited"],
        *["needs-citation", "needs-citation"],
    ]
    by_type = run(draft, threshold=1.0, thresholds={"conclusion": 0.5}).findings
    assert [finding.threshold for finding in by_type] == [1.0] * 4 + [0.5]
    assert kinds(run(draft, sections=["conclusion"])) == ["ok"]
    assert len(run(draft, n=1).findings[0].recommendations) == 1
    everything = run(draft, all=True).findings
    assert everything[2].recommendations
    assert "Vaswani2017" not in [one.key for one in everything[2].recommendations]
    assert everything[1].recommendations == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 2.0}, "between 0 and 1"),
        ({"thresholds": {"method": 2.0}}, "between 0 and 1"),
        ({"thresholds": {"intro": 0.2}}, "unknown section type"),
        ({"sections": ["intro"]}, "unknown section type"),
        ({"n": 0}, "1 or more"),
    ],
    ids=["threshold", "thresholds", "section of a threshold", "sections", "n"],
)
def test_what_makes_no_sense_is_refused(run, draft: Path, options: dict[str, object], message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError, match=message):
        run(draft, **options)


def test_a_library_that_is_asked_for_must_be_there(run, draft: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError, match="no library here yet"):
        run(draft, library=tmp_path / "none")


def test_a_library_in_the_usual_place_that_cannot_be_used_is_done_without(run, draft: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "no library" / "commits.lance").mkdir(parents=True)
    checked = run(draft)
    assert checked.findings[0].recommendations[0].key == "Kaiser1988"
    assert "no library here yet" in checked.warnings[-1]


def test_a_library_in_the_usual_place_that_has_only_notices_is_done_without(run, draft: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    library = tmp_path / "no library"
    bibliography = draft.with_name("refs.bib")
    bibliography.write_text(
        bibliography.read_text().replace("year = {2017}", "year = {2017}, doi = {10.5555/attention}")
    )
    retracted = Notice("retraction", "10.1/retraction", "2024-03-05", "", "a list")
    replace_list(library, "a list", [([identifier("doi:10.5555/attention")], PaperNotices((retracted,)))])
    (library / "commits.lance").mkdir()
    checked = run(draft)
    assert checked.findings[0].recommendations[0].key == "Kaiser1988"
    assert [finding.problems[0].rule for finding in checked.findings if finding.problems] == ["retracted"]
    assert [warning for warning in checked.warnings if "no library here yet" in warning] == [checked.warnings[-1]]
    with pytest.raises(UserError, match="no library here yet"):
        run(draft, library=library)


def test_sentences_that_a_comment_sets_aside_are_not_reported(run, draft: Path) -> None:  # type: ignore[no-untyped-def]
    draft.write_text(TEX.replace("It is known that old", "% whycite: ignore\nIt is known that old"), "utf-8")
    assert kinds(run(draft)) == ["needs-citation", "ok", "cited", "ok"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "draft.md",
            "# Introduction\n\nIt is known that bees rest.\n\n<!-- whycite: ignore -->\nIt is known to all.\n",
        ),
        (
            "draft.qmd",
            "# Introduction\n\nIt is known that bees rest. <!-- whycite: ignore -->\n\nIt is known to all.\n",
        ),
        ("draft.typ", "= Introduction\n\nIt is known that bees rest.\n\n// whycite: ignore\nIt is known to all.\n"),
    ],
    ids=["markdown", "quarto", "typst"],
)
def test_other_formats_are_checked_too(run, tmp_path: Path, name: str, text: str) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / name).write_text(text, "utf-8")
    checked = run(tmp_path / name)
    assert kinds(checked) == ["needs-citation"]
    assert checked.findings[0].recommendations == ()


def test_only_what_changed_is_judged_again(run, draft: Path, detector: FakeDetector) -> None:  # type: ignore[no-untyped-def]
    first = run(draft)
    asked = len(detector.asked)
    assert asked == 2
    assert run(draft).findings == first.findings
    assert len(detector.asked) == asked
    draft.write_text(TEX.replace("this is enough", "this is it"), "utf-8")
    run(draft)
    assert len(detector.asked) == asked + 1
    run(draft, remember=False)
    assert len(detector.asked) == asked + 3


def test_a_method_that_was_cited_before_is_less_likely_asked_for(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    head = "---\nreferences: [{{id: a, title: A}}]\n---\n\n# Introduction\n\n"
    text = head + "{}It is known that BERT is good at this. It is known that GPT is better.\n"
    (tmp_path / "draft.md").write_text(text.format("We know BERT [@a]. "), "utf-8")
    _, bert, gpt = run(tmp_path / "draft.md").findings
    assert bert.worthiness < 0.85 < gpt.worthiness
    (tmp_path / "draft.md").write_text(text.format("We know BERT. "), "utf-8")
    assert run(tmp_path / "draft.md").findings[1].worthiness == pytest.approx(0.9)


def test_of_other_languages_it_says_that_it_does_not_know_them(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "draft.md").write_text("# Einleitung\n\nBienen schlafen nachts, das wissen wir schon lange.\n", "utf-8")
    assert any("not seem to be in English" in warning for warning in run(tmp_path / "draft.md").warnings)


def test_a_document_can_be_checked_that_is_read_already(run, draft: Path) -> None:  # type: ignore[no-untyped-def]
    assert run(whycite.read(draft)).findings == run(draft).findings


def test_windows_line_ends_change_nothing_but_offsets(run, draft: Path) -> None:  # type: ignore[no-untyped-def]
    unix = run(draft).findings
    draft.write_bytes(TEX.replace("\n", "\r\n").encode())
    windows = run(draft).findings
    assert [(one.line, one.column, one.text) for one in windows] == [(one.line, one.column, one.text) for one in unix]


def test_json_has_the_keys_that_are_promised(run, draft: Path) -> None:  # type: ignore[no-untyped-def]
    found = json.loads(json.dumps(checked_draft_json(run(draft))))
    finding = found["findings"][0]
    assert {
        "file", "line", "column", "end_line", "end_column", "section", "section_type", "text", "worthiness", "cites",
        "kind", "fits", "doubtful", "recommendations",
    } <= finding.keys()  # fmt: skip
    assert finding["recommendations"][0].keys() == {
        "rank", "score", "fits", "support", "citing_documents", "title_matches", "paper", "evidence", "passages",
        "cite_key", "known", "bibtex",
    }  # fmt: skip
    assert finding["fits"] == max(paper["fits"] for paper in finding["recommendations"])


def test_a_glued_key_is_a_citation_so_no_other_one_is_proposed(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "refs.bib").write_text("@article{lavalle, title={Trees that bees know}, year={1998}}")
    draft = tmp_path / "main.typ"
    draft.write_text('It is known since 1998@lavalle that trees grow.\n\n#bibliography("refs.bib")\n')
    (finding,) = run(draft).findings
    assert (finding.kind, finding.cites, finding.recommendations) == ("cited", ("lavalle",), ())


def test_files_that_the_draft_does_not_reach_are_named(run, draft: Path) -> None:  # type: ignore[no-untyped-def]
    (draft.parent / "old.tex").write_text(r"Bees rest \cite{Kaiser1988}.")
    assert f"{draft}: 1 .tex file with citations is not part of this draft, so not read: old.tex" in run(draft).warnings


RULED = r"""\documentclass{article}
\begin{document}
\begin{abstract}
Previous studies have shown that bees rest.
\end{abstract}
\section{Introduction}
Previous studies have shown that bees rest.
A known fact: bees rest in hives.
We find that unknown bees rest. %s
Bees dance \cite{Kaiser1988}, and earlier studies show that wasps do.
Bees dance \cite{Kaiser1988}, and wasps do.
\bibliography{refs}
\end{document}
"""


@pytest.fixture
def ruled(draft: Path) -> Path:
    draft.write_text(RULED % "", "utf-8")
    return draft


def test_rules_come_before_the_model(run, ruled: Path) -> None:  # type: ignore[no-untyped-def]
    checked = run(ruled)
    assert [(finding.kind, finding.rule) for finding in checked.findings] == [
        ("ok", "abstract"),
        ("needs-citation", "previous-work"),
        ("needs-citation", ""),
        ("ok", "own-result"),
        ("needs-citation", "previous-work"),
        ("cited", ""),
    ]
    records = checked_draft_json(checked)["findings"]
    assert [record.get("rule") for record in records] == [finding.rule or None for finding in checked.findings]
    assert records[4]["clause"] == checked.findings[4].clause == "earlier studies show that wasps do."
    assert "clause" not in records[1]
    assert [finding.worthiness for finding in checked.findings[:5]] == pytest.approx([0, 0.8, 0.9, 0, 0.8])
    assert "Kaiser1988" not in [proposal.key for proposal in checked.findings[4].recommendations]


def test_papers_are_searched_for_a_clause_without_the_rest_of_its_sentence(run, ruled: Path) -> None:  # type: ignore[no-untyped-def]
    sentence = (
        r"Old bridges have walls of granite \cite{Vaswani2017}, and earlier studies show that busy bees need rest."
    )
    ruled.write_text(RULED % sentence, "utf-8")
    finding = run(ruled).findings[4]
    assert finding.claim == "earlier studies show that busy bees need rest."
    assert [proposal.key for proposal in finding.recommendations] == ["Kaiser1988", "Doe2019"]
    chances = [proposal.recommendation.fits or 0 for proposal in finding.recommendations]
    assert chances[0] > 0.5 > chances[1]


def test_a_threshold_above_a_rule_is_heard(run, ruled: Path) -> None:  # type: ignore[no-untyped-def]
    assert kinds(run(ruled, threshold=0.85)) == ["ok", "ok", "needs-citation", "ok", "cited", "cited"]


@pytest.mark.parametrize(
    ("comment", "options"),
    [("% whycite: ignore[own-result]", {}), ("", {"ignore_rules": ["own-result"]})],
    ids=["comment", "settings"],
)
def test_without_a_rule_the_model_decides(run, ruled: Path, comment: str, options: dict[str, object]) -> None:  # type: ignore[no-untyped-def]
    ruled.write_text(RULED % comment, "utf-8")
    finding = run(ruled, **options).findings[3]
    assert (finding.kind, finding.rule) == ("needs-citation", "")
    assert run(ruled, **options).findings[1].rule == "previous-work"


def test_abstracts_are_checked_if_they_are_asked_for(run, ruled: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    for options in ({"sections": ["abstract"]}, {"ignore_rules": ["abstract"]}):
        finding = run(ruled, **options).findings[0]
        assert (finding.kind, finding.rule) == ("needs-citation", "previous-work")
    (tmp_path / "draft.md").write_text("# Abstract\n\nIt is known that bees rest.\n", "utf-8")
    assert kinds(run(tmp_path / "draft.md")) == ["ok"]
    assert kinds(run(tmp_path / "draft.md", sections=["abstract"])) == ["needs-citation"]
    (tmp_path / "draft.md").write_text(
        "# Abstract\n\n<!-- whycite: ignore[abstract] -->\nIt is known that bees rest.\n\nIt is known.\n", "utf-8"
    )
    assert kinds(run(tmp_path / "draft.md")) == ["needs-citation", "ok"]


def test_unknown_rules_are_named_once(run, ruled: Path) -> None:  # type: ignore[no-untyped-def]
    ruled.write_text(RULED % "% whycite: ignore[own-resutl]\n% whycite: ignore[own-resutl, outline]", "utf-8")
    [warning] = [warning for warning in run(ruled).warnings if "unknown rule" in warning]
    assert warning.startswith(f"{ruled}:9: a comment ignores the unknown rule 'own-resutl'; the rules are: caption, ")
    with pytest.raises(UserError, match="unknown rule 'own-resutl'"):
        run(ruled, ignore_rules=["own-resutl"])


def test_a_folder_with_several_drafts_says_which_are_not_checked(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "drafts"
    folder.mkdir()
    for name in ("a.md", "b.md", "README.md"):
        (folder / name).write_text("# Introduction\n\nBees sleep at night.\n", "utf-8")
    (folder / "figure.pdf").write_bytes(b"%PDF-1.4\n")
    checked = run(folder)
    assert checked.document.path == str(folder / "a.md")
    assert f"{folder}: has other drafts, which are not checked: b.md; name each to check it" in checked.warnings
    assert not any("other drafts" in warning for warning in run(folder / "b.md").warnings)


def test_an_entry_that_has_only_a_key_is_not_proposed(run, draft: Path) -> None:  # type: ignore[no-untyped-def]
    with (draft.parent / "refs.bib").open("a", encoding="utf-8") as bibliography:
        bibliography.write("\n@article{rest2020night,\n}\n")
    keys = {paper.key for finding in run(draft).findings for paper in finding.recommendations}
    assert "Kaiser1988" in keys
    assert "rest2020night" not in keys
