"""Sentences as they were written: markers stay, keys of a source become authors and year."""

from collections.abc import Callable
from pathlib import Path

import pytest

from whycite import read
from whycite.documents.model import Document
from whycite.evidence.groups import quote

BIB = """\
@article{kaiser1988, author = {Kaiser, Anna}, title = {On bees}, year = 1988}
@article{roe2001, author = {Roe, Jane and Doe, John and Poe, Edgar}, title = {On ants}, year = 2001}
@misc{undated, author = {Loos, Ada}, title = {On wasps}}
@misc{nobody, title = {On hornets}, year = 1990}
"""
LATEX = "\\documentclass{article}\n\\begin{document}\n%s\n\\bibliography{refs}\n\\end{document}\n"
MARKDOWN = "---\nbibliography: refs.bib\n---\n\n%s\n"
TYPST = '%s\n#bibliography("refs.bib")\n'


def _quoted(folder: Path, name: str, text: str) -> str:
    folder.joinpath("refs.bib").write_text(BIB, "utf-8")
    folder.joinpath(name).write_text(text, "utf-8")
    draft = read(folder / name)
    return " ".join(quote(sentence, draft.by_id) for sentence in draft.sentences)


@pytest.mark.parametrize(
    ("written", "quoted"),
    [
        ("Studies by \\citet{kaiser1988} have shown it.", "Studies by Kaiser (1988) have shown it."),
        ("As \\textcite{kaiser1988,roe2001} say.", "As Kaiser (1988) and Roe et al. (2001) say."),
        ("Bees dance \\citep[see][p.~3]{kaiser1988,roe2001}.", "Bees dance (see Kaiser 1988; Roe et al. 2001, p. 3)."),
        ("Bees dance (for instance \\cite{kaiser1988}).", "Bees dance (for instance Kaiser 1988)."),
        ("Bees dance (\\cite{kaiser1988}).", "Bees dance (Kaiser 1988)."),
        ("As shown by \\cite{kaiser1988} bees dance.", "As shown by Kaiser (1988) bees dance."),
        ("Here, \\cite{kaiser1988}, \\cite{roe2001} agree.", "Here, (Kaiser 1988), (Roe et al. 2001) agree."),
        ("As in \\cite{kaiser1988} and \\cite{roe2001}.", "As in Kaiser (1988) and Roe et al. (2001)."),
        ("Finally, \\citep{roe2001} suggests so.", "Finally, Roe et al. (2001) suggests so."),
        ("Roe et al.~\\cite{roe2001} agree.", "Roe et al. (2001) agree."),
        ("Bees dance \\cite{undated}, too.", "Bees dance (Loos), too."),
        ("Bees dance \\cite{nobody}, \\cite{missing}.", "Bees dance [nobody], [missing]."),
        ("Bees dance \\cite{kaiser1988,missing}.", "Bees dance (Kaiser 1988; missing)."),
    ],
)
def test_commands_of_latex(tmp_path: Path, written: str, quoted: str) -> None:
    assert _quoted(tmp_path, "a.tex", LATEX % written) == quoted


@pytest.mark.parametrize(
    ("name", "text", "quoted"),
    [
        ("a.md", MARKDOWN % "Studies by @kaiser1988 say so.", "Studies by Kaiser (1988) say so."),
        ("a.md", MARKDOWN % "Bees dance [see @kaiser1988, p. 3].", "Bees dance (see Kaiser 1988, p. 3)."),
        ("a.typ", TYPST % "Bees dance @kaiser1988, so.", "Bees dance (Kaiser 1988), so."),
        ("a.typ", TYPST % 'By #cite(<kaiser1988>, form: "prose") it was said.', "By Kaiser (1988) it was said."),
    ],
)
def test_keys_of_markdown_and_typst(tmp_path: Path, name: str, text: str, quoted: str) -> None:
    assert _quoted(tmp_path, name, text) == quoted


@pytest.mark.parametrize(
    "written",
    [
        "Studies by <doe|Doe (2010)> have shown it.",
        "Bees dance [<doe|1>, <loos|2>] at noon.",
        "Bees dance <doe,loos|[1, 2]> at noon.",
        "Bees dance (<doe|Doe et al., 2010>; <loos|van der Loos, 2011>).",
    ],
)
def test_printed_markers_stay(document: Callable[..., Document], written: str) -> None:
    paper = document(written)
    [sentence] = paper.sentences
    assert quote(sentence, paper.by_id) == sentence.text
