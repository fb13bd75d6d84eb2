"""Bibliographies as LaTeX prints them, in the forms that BibTeX styles and biber give them."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents.identity import normalise_title
from whycite.documents.model import Document, Publication, Reference
from whycite.documents.references import bibtex
from whycite.documents.references.bbl import READER, parse
from whycite.documents.sources import decode


def only(text: str) -> Reference:
    references, warnings = parse(text, "paper.bbl")
    assert len(references) == 1
    assert warnings == []
    return references[0]


def test_plain_style_with_blocks() -> None:
    reference = only(
        r"""\begin{thebibliography}{10}
\providecommand{\url}[1]{\texttt{#1}}
\bibitem{Horowitz1990}
Gilles Horowitz, Denis Fichou, and Francis van~Garnier.
\newblock The oligothiophene-based field-effect transistor: {H}ow it works,
  and why.
\newblock {\em J. Appl. Phys.}, 67\penalty0 (1):\penalty0 528--532, January 1990.
\newblock URL \url{http://dx.doi.org/10.1063/1.345238}.
\end{thebibliography}"""
    )
    assert reference.id == "Horowitz1990"
    assert reference.title == "The oligothiophene-based field-effect transistor: How it works, and why"
    assert reference.authors == ("Horowitz, Gilles", "Fichou, Denis", "van Garnier, Francis")
    assert (reference.year, reference.venue, reference.doi) == (1990, "J. Appl. Phys", "10.1063/1.345238")
    assert "528–532" in reference.text


def test_natbib_label_with_brackets_inside_braces_gives_the_year() -> None:
    reference = only(
        r"\bibitem[{{Abbott [jr]} {et~al.}(1982){Abbott}, \& {Li}}]{Abbott1982} {Abbott}, D.~C. \apj, 263, 723"
    )
    assert (reference.id, reference.year, reference.authors[0]) == ("Abbott1982", 1982, "Abbott, D. C.")


def test_astronomy_prints_no_titles_and_dashes_for_the_same_authors() -> None:
    references, _ = parse(
        r"""\bibitem[{{Hopkins}(2011)}]{a} {Hopkins}, P.~F., \& {Quataert}, E. 2011, \mnras, 415, 1027
\bibitem[{{Hopkins}(2012)}]{b} ---. 2012, \mnras, 421, 3488""",
        "paper.bbl",
    )
    assert [r.title for r in references] == ["", ""]
    assert [r.authors for r in references] == [("Hopkins, P. F.", "Quataert, E.")] * 2
    assert [r.year for r in references] == [2011, 2012]
    assert [r.venue for r in references] == ["MNRAS", "MNRAS"]


def test_revtex() -> None:
    reference = only(
        r"""\bibitem [{\citenamefont {Einstein}\ \emph {et~al.}(1935)\citenamefont {Einstein},
  \citenamefont {Podolsky}}]{epr}%
  \BibitemOpen
  \bibfield  {author} {\bibinfo {author} {\bibfnamefont {A.}~\bibnamefont
  {Einstein}}, \ and\ \bibinfo {author} {\bibfnamefont {N.}~\bibnamefont {Rosen}},\
  }\bibfield  {title} {\enquote {\bibinfo {title} {Can quantum mechanics be complete?}}\
  }\href {\doibase 10.1103/PhysRev.47.777} {\bibfield  {journal} {\bibinfo  {journal}
  {Phys. Rev.}\ }\textbf {\bibinfo {volume} {47}},\ \bibinfo {pages} {777}
  (\bibinfo {year} {1935})}\BibitemShut {NoStop}%"""
    )
    assert reference.title == "Can quantum mechanics be complete?"
    assert reference.authors == ("Einstein, A.", "Rosen, N.")
    assert (reference.year, reference.venue, reference.doi) == (1935, "Phys. Rev.", "10.1103/physrev.47.777")
    assert "NoStop" not in reference.text


def test_elsarticle() -> None:
    reference = only(
        r"""%Type = Article
\bibitem[{Botter et~al.(2011)Botter \& Rinaldo}]{Botter2011}
\bibinfo{author}{Botter, G.}, \& \bibinfo{author}{Rinaldo, A.} (\bibinfo{year}{2011}).
\newblock \bibinfo{title}{Catchment residence: The master equation}.
\newblock {\it \bibinfo{journal}{Geophysical Research Letters}\/},  {\it \bibinfo{volume}{38}\/}.
  \DOIprefix\doi{10.1029/2011GL047666}."""
    )
    assert reference.title == "Catchment residence: The master equation"
    assert reference.authors == ("Botter, G.", "Rinaldo, A.")
    assert (reference.year, reference.doi) == (2011, "10.1029/2011gl047666")
    assert reference.text.startswith("Botter, G., & Rinaldo, A. (2011). Catchment residence")


def test_apacite_and_harvard() -> None:
    references, _ = parse(
        r"""\bibitem [\protect \citeauthoryear {%
Smith \ \BBA {} Doe%
}{Smith}{{\protect \APACyear {2010}}%
}]{%
smith10}
\APACinsertmetastar {smith10}%
\begin{APACrefauthors}%
Smith, J\BPBI A.%
\BCBT {}\ \BBA {} Doe, K.%
\end{APACrefauthors}%
\unskip\
\newblock \APACrefYearMonthDay{2010}{}{}.
\newblock {\BBOQ}\APACrefatitle {The title of it} {The title of it}.{\BBCQ}
\newblock \APACjournalVolNumPages{Psychological Review}{1}{2}{3-4}.
\harvarditem[Smith]{Smith \harvardand\ Doe}{1999}{sd99}
Smith, J. \harvardand\ Doe, K. \harvardyearleft 1999\harvardyearright . A good title, {\em Nature} {\bf 3},~4.
""",
        "paper.bbl",
    )
    assert [(r.id, r.title, r.year, r.venue) for r in references] == [
        ("smith10", "The title of it", 2010, "Psychological Review"),
        ("sd99", "A good title", 1999, "Nature"),
    ]
    assert references[0].authors == ("Smith, J. A.", "Doe, K.")


def test_biber() -> None:
    reference = only(
        r"""% $ biblatex auxiliary file $
\refsection{0}
  \datalist[entry]{nty/global//global/global}
    \entry{smith2010}{article}{}
      \name{author}{2}{}{%
        {{un=0,hash=abc}{%
           family={Smith},
           familyi={S\bibinitperiod},
           given={John\bibnamedelima A.},
           giveni={J\bibinitperiod}}}%
        {{hash=def}{%
           family={Berg},
           given={Jan},
           prefix={van\bibnamedelima der}}}%
      }
      \list{publisher}{1}{%
        {Springer}%
      }
      \field{title}{On the {DNA} of $\alpha$}
      \field{journaltitle}{Nature}
      \field{year}{2010}
      \field{eprinttype}{arXiv}
      \verb{doi}
      \verb 10.1038/nature_1
      \endverb
      \verb{eprint}
      \verb 1003.5678
      \endverb
    \endentry
  \enddatalist
  \datalist[entry]{none/global//global/global}
    \entry{smith2010}{article}{}
    \endentry
  \enddatalist
\endrefsection"""
    )
    assert reference == Reference(
        id="smith2010",
        title="On the DNA of α",
        authors=("Smith, John A.", "van der Berg, Jan"),
        year=2010,
        venue="Nature",
        doi="10.1038/nature_1",
        arxiv="1003.5678",
        publication=Publication(type="article-journal", publisher="Springer"),
    )


def test_handwritten_environment_and_what_is_commented_out() -> None:
    references, warnings = parse(
        r"""{99}
%\bibitem{gone} Gone, G., \emph{Gone}, 1999.
\bibitem{artin} M. Artin, \emph{Algebraic approximation of structures}, Publ. Math. \textbf{36}, 23--58 (1969). % why
\bibitem{bell} J.~S. Bell, ``On hidden variables,'' \href{http://dx.doi.org/10.1103/RevModPhys.38.447}{{\em Rev. Mod.
  Phys.} {\bfseries 38}, 447 (1966)}, \url{http://a.b/c%20d}.
\bibitem{bell} Again.
\bibitem{} Nobody.
\end{thebibliography} \bibliographystyle{x} and text behind""",
        "main.tex",
    )
    assert [(r.id, r.title, r.year) for r in references] == [
        ("artin", "Algebraic approximation of structures", 1969),
        ("bell", "On hidden variables", 1966),
    ]
    assert references[1].doi == "10.1103/revmodphys.38.447"
    assert "c%20d" in references[1].text
    assert "behind" not in references[1].text
    assert warnings == [
        "main.tex: skipped an entry without a key",
        "main.tex: duplicate key 'bell'; using the first entry",
    ]


def test_reader_and_sniff(read_bytes: Callable[..., list[Document]]) -> None:
    (document,) = read_bytes(READER, rb"\bibitem{k} J. Smith. \newblock A title here. \newblock Nature, 1999.", "a.bbl")
    assert [r.title for r in document.references] == ["A title here"]
    assert READER.sniff(rb"\begin{thebibliography}{1}\bibitem{k}")
    assert not READER.sniff(b"@article{k,}")


def test_titles_of_real_bbl_files_agree_with_their_bib_files(data: Path) -> None:
    right = wrong = 0
    for path in sorted((data / "drafts").rglob("*.bbl")):
        bibs = [decode(bib.read_bytes())[0] for bib in path.parent.rglob("*.bib")]
        known = {r.id: r.title for bib in bibs for r in bibtex.parse(bib, "refs.bib")[0]}
        references, warnings = parse(decode(path.read_bytes())[0], path.name)
        assert references
        assert warnings == []
        for reference in references:
            if reference.title and known.get(reference.id):
                same = normalise_title(reference.title) == normalise_title(known[reference.id])
                right, wrong = right + same, wrong + (not same)
    assert right > 350
    assert wrong / (right + wrong) < 0.04


def test_real_environments_give_every_entry(data: Path) -> None:
    entries = {"arxiv-1708.00137/main.tex": 59, "emerick-2018a-bbl/ms2.tex": 47, "monero-0003/main.tex": 11}
    for name, count in entries.items():
        text, _ = decode((data / "drafts" / name).read_bytes())
        inside = text.partition(r"\begin{thebibliography}")[2].partition(r"\end{thebibliography}")[0]
        assert len(parse(inside, name)[0]) == count


@pytest.mark.parametrize(
    "unit",
    [r"\bibitem{k}", r"\bibitem[", r"\bibitem[{", r"\bibitem{k}\bibinfo{author}{", r"\entry{k}{a}{}\field{",
     r"\newblock ", "%", "{", "}", r"\emph{", r"{\em ", r"\verb{a}\verb ", " ", "\\"],
)  # fmt: skip
def test_hostile_files_end_soon(unit: str) -> None:
    for text in (unit * (scaled(1_000_000) // len(unit)), r"\bibitem{k} " + unit * scaled(20_000)):
        start = time.process_time()
        parse(text, "paper.bbl")
        assert time.process_time() - start < MAX_SECONDS


_PIECES = [
    r"\bibitem", "[", "]", "{", "}", "k", "%", "\n", r"\newblock ", r"\emph{", r"{\em ", "Smith, J.", " 2010, ", "``",
    "''", r"\bibinfo{title}", r"\entry{a}{b}", r"\field{title}{", r"\name{author}{1}{}{", "family={", r"\href{", "\\",
    "~",
]  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=30).map("".join) | st.text(max_size=100))
def test_any_text_gives_references_with_ids(text: str) -> None:
    references, _ = parse(text, "paper.bbl")
    assert all(reference.id for reference in references)
    assert len({reference.id for reference in references}) == len(references)
