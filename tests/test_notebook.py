"""What a notebook shows of findings and verifications."""

from whycite.check.findings import CheckedDraft, Finding, Proposal
from whycite.cite.recommendations import Recommendation
from whycite.documents.model import Document, Reference
from whycite.library import Paper
from whycite.verify.verification import Passage, Verification

BAD = "<script>alert(1)</script>"


def test_a_check_shows_what_needs_a_citation() -> None:
    paper = Paper("doi:10.1/x", f"On {BAD}", (), 2001, "", "")
    proposal = Proposal(Recommendation(1, 1.0, 1, paper, (), {}), f"key{BAD}", True)
    places = {"line": 3, "column": 1, "end_line": 3, "end_column": 9, "start": 0, "end": 9}
    about = {"section": "", "section_type": None, "cites": (), "threshold": 0.5}
    needing = Finding(file="a.md", text=f"Bees {BAD}", worthiness=0.8, kind="needs-citation",
                      recommendations=(proposal,), **places, **about)  # type: ignore[arg-type]  # fmt: skip
    fine = Finding(file="a.md", text="We walk.", worthiness=0.1, kind="ok", **places, **about)  # type: ignore[arg-type]
    shown = CheckedDraft(Document("a.md", "markdown", Reference(id="")), (needing, fine))._repr_html_()
    assert "1 of 2 sentences" in shown
    assert "Bees &lt;script&gt;" in shown
    assert "a.md:3" in shown
    assert "We walk" not in shown
    assert "<script>" not in shown
    assert "We walk." in fine._repr_html_()


def test_a_verification_shows_verdict_and_passages() -> None:
    passages = tuple(Passage(rank, rank, 0.5, f"Sentence {rank} {BAD}", f"Results {BAD}") for rank in range(1, 9))
    shown = Verification(f"Claim {BAD}", "backed", 0.9, passages, f"because {BAD}")._repr_html_()
    assert "<b>backed</b>, 90% sure: because &lt;script&gt;" in shown
    assert "Sentence 5" in shown
    assert "Sentence 6" not in shown
    assert "<script>" not in shown
    assert "Sentence 7" in passages[6]._repr_html_()
    deciding = Passage(9, 9, 0.1, "The last one.", "Results", stance="contradicts", decides=True, page=3)
    shown = Verification("Claim", "secondary", 0.9, (*passages, deciding))._repr_html_()
    assert shown.index("The last one.") < shown.index("Sentence 1")
    assert "<b>▶ 9</b>" in shown
    assert "Results · p. 3 · contradicts the claim" in shown
    assert "could not check" in Verification("Claim", "could not check", 0.0)._repr_html_()
