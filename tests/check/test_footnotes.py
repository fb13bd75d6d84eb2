"""A footnote that cites makes the sentence that carries its mark a citing one, in every format of drafts."""

from pathlib import Path

import pytest

from tests.fakes import FakeDetector, FakeEncoder
from whycite.check.pipeline import check_draft
from whycite.documents import Document, Sentence, read
from whycite.documents.jsondocument import document_json, from_plain, to_plain
from whycite.evidence import extract
from whycite.verify.draftclaims import citations

BIB = """
@article{frisch, title={Sleep in bees}, author={Frisch, Karl}, year={1967}}
@article{kaiser, title={Busy bees}, author={Kaiser, Walter}, year={1988}}
"""
CLAIM = "It is known that bees rest at night"


def _read(folder: Path, name: str, text: str) -> Document:
    (folder / "refs.bib").write_text(BIB)
    (folder / name).write_text(text)
    return read(folder / name)


def _latex(body: str) -> str:
    return f"\\documentclass{{article}}\\begin{{document}}\n{body}\n\\bibliography{{refs}}\\end{{document}}\n"


def _markdown(body: str) -> str:
    return f"---\nbibliography: refs.bib\n---\n\n{body}\n"


def _typst(body: str) -> str:
    return f'{body}\n\n#bibliography("refs.bib")\n'


DRAFTS = {
    "after the stop": ("a.tex", _latex(rf"{CLAIM}.\footnote{{See \citet{{frisch}}.}} Bees fly.")),
    "before the stop": ("a.tex", _latex(rf"{CLAIM}\footnote{{See \citet{{frisch}}.}}. Bees fly.")),
    "after a space": ("a.tex", _latex(f"{CLAIM}. %\n\\footnote{{See \\citet{{frisch}}.}} Bees fly.")),
    "by a macro": (
        "a.tex",
        _latex(rf"\newcommand\fn[1]{{\footnote{{#1}}}}{CLAIM}.\fn{{See \citet{{frisch}}.}} Bees fly."),
    ),
    "mark and text": (
        "a.tex",
        _latex(rf"{CLAIM}.\footnotemark{{}} Bees fly.\footnotetext{{See \citet{{frisch}}.}}"),
    ),
    "numbered mark and text": (
        "a.tex",
        _latex(rf"{CLAIM}.\footnotemark[7] Bees fly.\footnotetext[7]{{See \citet{{frisch}}.}}"),
    ),
    "endnote": ("a.tex", _latex(rf"{CLAIM}.\endnote{{See \citet{{frisch}}.}} Bees fly.")),
    "Markdown, defined below": ("a.md", _markdown(f"{CLAIM}.[^1] Bees fly.\n\n[^1]: See @frisch.")),
    "Markdown, defined above": ("a.md", _markdown(f"[^n]: See @frisch.\n\n{CLAIM}[^n]. Bees fly.")),
    "Markdown, second paragraph": ("a.md", _markdown(f"{CLAIM}.[^1] Bees fly.\n\n[^1]: A note.\n\n    See @frisch.")),
    "Markdown, inline": ("a.md", _markdown(f"{CLAIM}.^[See @frisch.] Bees fly.")),
    "Typst": ("a.typ", _typst(f"{CLAIM}.#footnote[See @frisch.] Bees fly.")),
    "Typst, before the stop": ("a.typ", _typst(f"{CLAIM}#footnote[See #cite(<frisch>).]. Bees fly.")),
}


def _prose(document: Document) -> list[Sentence]:
    return [sentence for sentence in document.sentences if sentence.kind == "prose"]


def _place(document: Document) -> int:
    """Where the claim is among the sentences."""
    return [sentence.text.startswith(CLAIM) for sentence in document.sentences].index(True)


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_sentence_with_the_mark_cites(tmp_path: Path, draft: str) -> None:
    name, text = DRAFTS[draft]
    document = _read(tmp_path, name, text)
    marked, unmarked = _prose(document)
    assert marked.text.startswith(CLAIM)
    assert (marked.citations, marked.cited_keys, marked.cites) == ((), ("frisch",), True)
    assert not unmarked.cites
    (citation,) = marked.note_citations
    assert citation.text_start == citation.text_end
    assert len(CLAIM) <= citation.text_start <= len(marked.text)
    assert "frisch" in text[citation.start : citation.end]
    (note,) = (sentence for sentence in document.sentences if sentence.kind == "footnote" and sentence.citations)
    assert note.citations[0].start == citation.start


@pytest.mark.parametrize("draft", DRAFTS)
def test_check_asks_for_no_citation_there(
    tmp_path: Path, detector: FakeDetector, encoder: FakeEncoder, draft: str
) -> None:
    _read(tmp_path, *DRAFTS[draft])
    checked = check_draft(tmp_path / DRAFTS[draft][0], detector=detector, encoder=encoder)
    finding = checked.findings[[finding.text.startswith(CLAIM) for finding in checked.findings].index(True)]
    assert (finding.kind, finding.cites, finding.recommendations) == ("cited", ("frisch",), ())


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_sentence_is_evidence_and_a_claim_once(tmp_path: Path, draft: str) -> None:
    document = _read(tmp_path, *DRAFTS[draft])
    spans = extract(document)
    assert CLAIM in [span.text for span in spans]
    assert {(span.sentence, span.keys) for span in spans} == {(_place(document), ("frisch",))}
    (claim,) = citations(document)
    assert (claim.claim.rstrip("."), claim.reference.id) == (CLAIM, "frisch")


def test_a_footnote_with_a_claim_of_its_own_keeps_its_citation(tmp_path: Path) -> None:
    body = rf"{CLAIM}.\footnote{{Honeybees also raise their antennae in the morning \citep{{kaiser}}.}}"
    document = _read(tmp_path, "a.tex", _latex(body))
    assert _prose(document)[0].cited_keys == ("kaiser",)  # still nothing that `check` should ask for
    assert [claim.claim for claim in citations(document)] == ["Honeybees also raise their antennae in the morning."]
    assert {span.sentence for span in extract(document)} == {1}


def test_a_footnote_without_citations_changes_nothing(tmp_path: Path) -> None:
    document = _read(tmp_path, "a.tex", _latex(rf"{CLAIM}.\footnote{{Not in winter.}} Bees fly \cite{{kaiser}}."))
    assert [sentence.cited_keys for sentence in _prose(document)] == [(), ("kaiser",)]


def test_notes_survive_as_json_and_between_processes(tmp_path: Path) -> None:
    name, text = DRAFTS["after the stop"]
    document = _read(tmp_path, name, text)
    assert from_plain(to_plain(document)) == document
    marked, unmarked, *_ = document_json(document)["sentences"]
    start = text.index("\\citet")
    assert marked["note_citations"] == [{"keys": ["frisch"], "start": start, "end": start + len("\\citet{frisch}")}]
    assert "note_citations" not in unmarked
