"""What a notebook shows of recommendations."""

from whycite.cite.recommendations import Evidence, Recommendation, Recommendations
from whycite.library import Paper, SourceDocument


def _found(title: str) -> Recommendation:
    paper = Paper("doi:10.1/x", title, ("Doe, Jane", "Roe, Jo", "Poe, Al", "Loe, Mo"), 2001, "Journal", "10.1/x")
    source = SourceDocument("doi:10.1/y", "Where it <i>stands</i>", None)
    evidence = Evidence("a span", 0.5, "A sentence with <b>signs</b> & more.", source)
    return Recommendation(3, 1.0, 7, paper, (evidence,), {})


def test_papers_with_their_evidence_and_nothing_run() -> None:
    shown = Recommendations([_found("On <script>alert(1)</script>")])._repr_html_()
    assert "<script>" not in shown
    assert "On &lt;script&gt;" in shown
    assert "A sentence with &lt;b&gt;signs&lt;/b&gt; &amp; more." in shown
    assert "Where it &lt;i&gt;stands" in shown
    assert "Poe, Al and others, 2001, Journal; support 7" in shown


def test_nothing_found() -> None:
    assert "No paper" in Recommendations()._repr_html_()
