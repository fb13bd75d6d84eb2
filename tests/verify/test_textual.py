"""Textual citations keep the names of their authors in the claim, in every format of a draft."""

from pathlib import Path

import pytest

from whycite import documents
from whycite.verify import drafts

BIBLIOGRAPHY = r"""
@article{kaiser, author = {Kaiser, Walter and Roe, Bob and Poe, Al}, title = {A scheme}, year = 1988}
@article{doe, author = {Doe, Jane}, title = {On bees}, year = 2001}
@article{winer, author = {Winer, Ann and Miles, Bo}, title = {On nights}, year = 2002}
"""
LATEX = r"""\documentclass{article}
\begin{document}
\section{Introduction}
%s
\bibliography{refs}
\end{document}
"""
MARKDOWN = """---
bibliography: refs.bib
---

%s
"""
TYPST = """= Introduction

%s

#bibliography("refs.bib")
"""
PLAIN = """Introduction

%s

References

[1] Kaiser W, Roe B, Poe A. (1988). A scheme for sorting numbers. Journal of Schemes.
[2] Doe J. (2001). Another thing about bees. Journal of Bees.
[3] Winer A, Miles B. (2002). A third thing about night. Journal of Nights.
"""
AUTHORS = "<name><surname>{}</surname><given-names>W</given-names></name>"
REFERENCE = (
    '<ref id="B{}"><element-citation><person-group person-group-type="author">{}</person-group><year>{}</year>'
    "<article-title>A title</article-title></element-citation></ref>"
)
JATS = (
    "<article><front/><body><sec><title>Introduction</title><p>%s</p></sec></body><back><ref-list>"
    + REFERENCE.format(1, "".join(map(AUTHORS.format, ("Kaiser", "Roe", "Poe"))), 1988)
    + REFERENCE.format(2, AUTHORS.format("Doe"), 2001)
    + REFERENCE.format(3, AUTHORS.format("Winer") + AUTHORS.format("Miles"), 2002)
    + "</ref-list></back></article>"
)


def claims(folder: Path, name: str, text: str) -> list[str]:
    (folder / "refs.bib").write_text(BIBLIOGRAPHY, "utf-8")
    (folder / name).write_text(text, "utf-8")
    return [citation.claim for citation in drafts.citations(documents.read(folder / name))]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            r"The scheme proposed by \citet{kaiser} halves the cost.",
            "The scheme proposed by Kaiser et al. halves the cost.",
        ),
        (r"\textcite{winer} showed that bees sleep.", "Winer and Miles showed that bees sleep."),
        (r"In contrast, \citet[p.~3]{doe} saw that bees sleep.", "In contrast, Doe saw that bees sleep."),
        (r"The scheme of \citet{kaiser,doe} halves the cost.", "The scheme of Kaiser et al. and Doe halves the cost."),
        (r"As shown in \cite{doe}, bees never sleep.", "As shown in Doe, bees never sleep."),
        (r"As shown in \cite{kaiser}, bees never sleep.", "As shown in Kaiser et al., bees never sleep."),
        (r"That bees sleep was shown by \cite{kaiser}.", "That bees sleep was shown by Kaiser et al."),
        (r"\citeauthor{doe}'s scheme halves the cost.", "Doe's scheme halves the cost."),
        (
            r"The scheme of Kaiser et al.\ \cite{kaiser} halves the cost.",
            "The scheme of Kaiser et al. halves the cost.",
        ),
        (r"Bees never sleep \citep{doe}.", "Bees never sleep."),
        (r"Bees never sleep (see \citet{doe}).", "Bees never sleep."),
        (r"This was carried out \cite{doe}.", "This was carried out."),
        (r"As shown by \cite{missing}, bees sleep.", "As shown by, bees sleep."),  # nobody knows the name
    ],
)
def test_latex(tmp_path: Path, sentence: str, expected: str) -> None:
    assert set(claims(tmp_path, "draft.tex", LATEX % sentence)) == {expected}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The scheme proposed by @kaiser halves the cost.", "The scheme proposed by Kaiser et al. halves the cost."),
        ("@winer [p. 3] showed that bees sleep.", "Winer and Miles showed that bees sleep."),
        ("The scheme of Kaiser [-@kaiser] halves the cost.", "The scheme of Kaiser halves the cost."),
        ("Bees never sleep [@doe].", "Bees never sleep."),
        ("Bees never sleep [see @doe].", "Bees never sleep."),
    ],
)
def test_markdown(tmp_path: Path, sentence: str, expected: str) -> None:
    assert claims(tmp_path, "draft.md", MARKDOWN % sentence) == [expected]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The scheme proposed by @kaiser halves the cost.", "The scheme proposed by Kaiser et al. halves the cost."),
        ('In short, #cite(<winer>, form: "prose") saw bees sleep.', "In short, Winer and Miles saw bees sleep."),
        ("Bees never sleep @doe.", "Bees never sleep."),
    ],
)
def test_typst(tmp_path: Path, sentence: str, expected: str) -> None:
    assert claims(tmp_path, "draft.typ", TYPST % sentence) == [expected]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The scheme of Kaiser et al. (1988) halves the cost.", "The scheme of Kaiser et al. halves the cost."),
        ("Winer and Miles (2002) showed that bees sleep.", "Winer and Miles showed that bees sleep."),
        ("Bees never sleep (Doe, 2001).", "Bees never sleep."),
    ],
)
def test_names_in_the_text(tmp_path: Path, sentence: str, expected: str) -> None:
    """As in plain text and PDFs, where the marker is the name."""
    assert claims(tmp_path, "draft.txt", PLAIN % sentence) == [expected]


def test_numbers_as_nouns(tmp_path: Path) -> None:
    text = (
        "According to [2], bees never sleep. [1] showed that bees sleep. Bees sleep, whereas [3] found that they "
        "dance. Bees are kept in hives [2]."
    )
    assert claims(tmp_path, "draft.txt", PLAIN % text) == [
        "According to Doe, bees never sleep.",
        "Kaiser et al. showed that bees sleep.",
        "Bees sleep, whereas Winer and Miles found that they dance.",
        "Bees are kept in hives.",
    ]


def test_jats(tmp_path: Path) -> None:
    link = '<xref ref-type="bibr" rid="B{}">{}</xref>'.format
    text = (
        f"The scheme proposed by {link(1, 'Kaiser et al. (1988)')} halves the cost. Bees never sleep "
        f"({link(2, 'Doe, 2001')}). As in {link(3, 'Winer and Miles, 2002')}, bees sleep. The scheme of "
        f"[{link(1, '1')}] halves the cost."
    )
    assert claims(tmp_path, "draft.xml", JATS % text) == [
        "The scheme proposed by Kaiser et al. halves the cost.",
        "Bees never sleep.",
        "As in Winer and Miles, bees sleep.",
        "The scheme of Kaiser et al. halves the cost.",
    ]


def test_each_part_of_a_sentence_keeps_its_names(tmp_path: Path) -> None:
    sentence = (
        r"While \citet{winer} reported that bees sleep at night, \citet{doe} found that bees dance all night long. "
        r"The scheme proposed by \citet{kaiser} halves the cost of sorting large numbers \citep{doe}, and bees prefer "
        r"small numbers of flowers \citep{winer}."
    )
    assert claims(tmp_path, "draft.tex", LATEX % sentence) == [
        "Winer and Miles reported that bees sleep at night",
        "Doe found that bees dance all night long",
        "The scheme proposed by Kaiser et al. halves the cost of sorting large numbers",
        "The scheme proposed by Kaiser et al. halves the cost of sorting large numbers",
        "bees prefer small numbers of flowers",
    ]
