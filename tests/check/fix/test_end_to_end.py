"""A draft in, the draft with a citation out: read again, it cites there and nowhere else."""

from pathlib import Path
from typing import Any

import pytest

from tests.drafts import check_by_words
from whycite import read
from whycite.check.fix import FixPlan, apply, plan
from whycite.check.fix.entries import bibitem
from whycite.documents.references.bibtex import read_entries

BIB = "@article{doe, title = {Old work}, author = {Doe, Jane}, year = 2001}\n"
LATEX = "\\documentclass{article}\n%s\\begin{document}\n%s\n\\bibliography{refs}\n\\end{document}\n"
HEAD = "---\ntitle: Rest\nbibliography: refs.bib\n---\n\n"


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    return folder / next(iter(files))


def _fix(path: Path, **options: Any) -> FixPlan:
    """Fix, and see that all else is as before."""
    before = read(path)
    made = plan(check_by_words(path, **options))
    apply(made)
    after = read(path)
    key = str(options.get("key", "kaiser1988"))
    fixed = {finding.text for finding, _ in made.fixed}
    assert [sentence.without_citations() for sentence in before.sentences] == [
        sentence.without_citations() for sentence in after.sentences
    ]
    for old, new in zip(before.sentences, after.sentences, strict=True):
        keys = [key for citation in new.citations for key in citation.keys]
        assert keys == [key for citation in old.citations for key in citation.keys] + [key] * (old.text in fixed)
    assert key in after.by_id
    assert not [warning for warning in after.warnings if "no entry" in warning]
    return made


@pytest.mark.parametrize(
    ("preamble", "other", "written"),
    [
        ("", "Others do~\\cite{doe}.", "as bees do~\\cite{kaiser1988}."),
        ("\\usepackage{natbib}\n", "Others do \\citep{doe}. \\citet{doe} did.", "as bees do \\citep{kaiser1988}."),
        ("", "\\citet{doe} did, and so do \\citet{doe}.", "as bees do~\\cite{kaiser1988}."),
        ("\\usepackage[numbers]{natbib}\n", "Others do.", "as bees do~\\citep{kaiser1988}."),
        ("\\usepackage[style=apa]{biblatex}\n", "Others do.", "as bees do~\\parencite{kaiser1988}."),
        (
            "",
            "Others do \\autocite[3]{doe}. Cats \\autocite{doe}. \\cite{doe} too.",
            "as bees do \\autocite{kaiser1988}.",
        ),
        ("", "Others do.\\supercite{doe} Cats\\supercite{doe} too.", "as bees do\\supercite{kaiser1988}."),
        ("", "\\newcommand{\\mine}[1]{\\cite{#1}}Others do~\\mine{doe}.", "as bees do~\\cite{kaiser1988}."),
    ],
    ids=["cite", "citep", "textual only", "natbib", "biblatex", "autocite", "supercite", "own command"],
)
def test_latex_gets_the_command_it_uses_most(tmp_path: Path, preamble: str, other: str, written: str) -> None:
    path = _write(tmp_path, {"main.tex": LATEX % (preamble, f"They sleep as bees do. {other}"), "refs.bib": BIB})
    _fix(path)
    assert written in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "text", "written"),
    [
        ("p.md", "They sleep as bees do. Others too [@doe].", "as bees do [@kaiser1988]. Others"),
        ("p.qmd", "They sleep as bees do.", "as bees do [@kaiser1988]."),
        ("p.Rmd", "They sleep **as bees do.** Others.", "**as bees do [@kaiser1988].** Others."),
        ("p.md", "They sleep as bees do. Others {cite:p}`doe`.", "as bees do {cite:p}`kaiser1988`. Others"),
        ("p.md", "They sleep as bees do. Others {cite}`doe`.", "as bees do {cite}`kaiser1988`. Others"),
        ("p.md", "They sleep as bees do. Others \\citep{doe}.", "as bees do \\citep{kaiser1988}. Others"),
        ("p.md", "Cats sleep.[^1]\n\n[^1]: So do bees.", "So do bees [@kaiser1988]."),
        ("p.md", "- Sleep as bees do\n- Wake\n", "- Sleep as bees do [@kaiser1988]\n"),
    ],
    ids=["pandoc", "quarto", "bold", "role", "plain role", "tex", "footnote", "list"],
)
def test_markdown_of_each_kind(tmp_path: Path, name: str, text: str, written: str) -> None:
    path = _write(tmp_path, {name: HEAD + text + "\n", "refs.bib": BIB})
    _fix(path)
    assert written in path.read_text("utf-8")


def test_a_book_of_roles_without_citations_gets_a_role(tmp_path: Path) -> None:
    path = _write(tmp_path, {"p.md": HEAD + "They sleep as bees do.\n", "refs.bib": BIB, "_toc.yml": "root: p\n"})
    _fix(path)
    assert "as bees do {cite:p}`kaiser1988`." in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("other", "key", "written"),
    [
        ("Others @doe.", "kaiser1988", "as bees do @kaiser1988. Others"),
        ("Others #cite(<doe>).", "kaiser1988", "as bees do #cite(<kaiser1988>). Others"),
        ("Others @doe.", "1988:x", 'as bees do #cite(label("1988:x")). Others'),
    ],
    ids=["mark", "call", "a key that is no name"],
)
def test_typst(tmp_path: Path, other: str, key: str, written: str) -> None:
    text = f'= Rest\nThey sleep as bees do. {other}\n#bibliography("refs.bib")\n'
    path = _write(tmp_path, {"main.typ": text, "refs.bib": BIB})
    _fix(path, key=key)
    assert written in path.read_text("utf-8")


def test_several_files_and_folders(tmp_path: Path) -> None:
    files = {
        "main.tex": LATEX % ("", "All sleep, bees too.\n\\input{parts/one}\n\\include{parts/two}"),
        "parts/one.tex": "One: bees dream.\r\nCats do.\r\n",
        "parts/two.tex": "Two: so do bees. Cats do not~\\cite{doe}.\n",
        "refs.bib": BIB,
    }
    made = _fix(_write(tmp_path, files))
    assert [change.path.name for change in made.changes] == ["main.tex", "one.tex", "two.tex", "refs.bib"]
    assert (tmp_path / "parts/one.tex").read_bytes() == b"One: bees dream~\\cite{kaiser1988}.\r\nCats do.\r\n"
    assert (tmp_path / "refs.bib").read_text("utf-8").count("@article{kaiser1988,") == 1


def test_a_file_that_is_read_twice_is_changed_once(tmp_path: Path) -> None:
    files = {
        "main.tex": LATEX % ("", "\\input{one}\n\nAnd again:\n\n\\input{one}"),
        "one.tex": "So do bees.\n",
        "refs.bib": BIB,
    }
    _fix(_write(tmp_path, files))
    assert (tmp_path / "one.tex").read_text("utf-8") == "So do bees~\\cite{kaiser1988}.\n"


def test_several_files_of_typst_and_markdown(tmp_path: Path) -> None:
    typst = {
        "t/main.typ": 'Cats sleep @doe.\n#include "part.typ"\n#bibliography("refs.bib")\n',
        "t/part.typ": "So do bees.\n",
        "t/refs.bib": BIB,
    }
    _fix(_write(tmp_path, typst))
    assert (tmp_path / "t/part.typ").read_text("utf-8") == "So do bees @kaiser1988.\n"
    quarto = {"q/p.qmd": HEAD + "Cats.\n\n{{< include part.qmd >}}\n", "q/part.qmd": "So do bees.\n", "q/refs.bib": BIB}
    _fix(_write(tmp_path, quarto))
    assert (tmp_path / "q/part.qmd").read_text("utf-8") == "So do bees [@kaiser1988].\n"


def test_a_folder_that_was_checked_may_have_its_bibliography_above_the_draft(tmp_path: Path) -> None:
    files = {"text/main.tex": LATEX % ("", "So do bees."), "refs.bib": BIB}
    _write(tmp_path, files)
    (tmp_path / "text/main.tex").write_text((LATEX % ("", "So do bees.")).replace("{refs}", "{../refs}"))
    made = plan(check_by_words(tmp_path), root=tmp_path)
    assert [change.path.name for change in made.changes] == ["main.tex", "refs.bib"]
    apply(made)
    assert "kaiser1988" in (tmp_path / "refs.bib").read_text("utf-8")


def test_a_known_key_adds_no_entry(tmp_path: Path) -> None:
    path = _write(tmp_path, {"main.tex": LATEX % ("", "So do bees."), "refs.bib": BIB})
    made = _fix(path, key="doe", known=True)
    assert [change.path.name for change in made.changes] == ["main.tex"]
    assert (tmp_path / "refs.bib").read_text("utf-8") == BIB


def test_the_entry_goes_where_most_of_what_is_cited_stands(tmp_path: Path) -> None:
    text = (LATEX % ("", "So do bees. Cats~\\cite{doe}.")).replace("{refs}", "{refs,tools}")
    tools = "@misc{tool, title = {A tool}}\n"
    path = _write(tmp_path, {"main.tex": text, "refs.bib": BIB, "tools.bib": tools})
    _fix(path)
    assert (tmp_path / "tools.bib").read_text("utf-8") == tools
    assert (tmp_path / "refs.bib").read_text("utf-8").startswith(BIB + "\n@article{kaiser1988,\n")


def test_a_printed_list_gets_an_item_like_the_others(tmp_path: Path) -> None:
    text = (
        "\\documentclass{article}\n\\begin{document}\nSo do bees. Cats \\cite{doe}.\n\\begin{thebibliography}{9}\n"
        "\\bibitem%s{doe} J. Doe. Old work. 2001.\n\\end{thebibliography}\n\\end{document}\n"
    )
    path = _write(tmp_path, {"main.tex": text % ""})
    _fix(path, author="Kaiser, Walter and Müller, Jörg")
    item = (
        '\\bibitem{kaiser1988}\nWalter Kaiser, J{\\"{o}}rg M{\\"{u}}ller.\n\\newblock Sleep of bees.\n'
        "\\newblock {\\em Journal of Rest}, 1988.\n\n\\end{thebibliography}"
    )
    assert item in path.read_text("utf-8")
    path = _write(tmp_path, {"labelled.tex": text % "[{{Doe} {et~al.}(2001){Doe, {Roe}}}]"})
    _fix(path)
    assert "\\bibitem[{Kaiser}(1988)]{kaiser1988}" in path.read_text("utf-8")


def test_a_draft_with_a_bbl_file_alone(tmp_path: Path) -> None:
    bbl = "\\begin{thebibliography}{1}\n\\bibitem{doe}\nJ. Doe. Old work. 2001.\n\\end{thebibliography}\n"
    path = _write(tmp_path, {"main.tex": LATEX % ("", "So do bees. Cats \\cite{doe}."), "main.bbl": bbl})
    before = read(path)
    apply(plan(check_by_words(path)))
    assert "kaiser1988" in read(path).by_id
    assert len(read(path).sentences) == len(before.sentences)
    assert "\\bibitem{kaiser1988}" in (tmp_path / "main.bbl").read_text("utf-8")


def test_a_meeting_in_a_printed_list() -> None:
    entries, _ = read_entries("@inproceedings{a, title = {Rest}, booktitle = {Proc. of BEES}, year = 2001}", "a.bib")
    assert bibitem(entries[0]) == "\\bibitem{a}\nRest.\n\\newblock In {\\em Proc. of BEES}, 2001.\n\n"


def test_running_twice_changes_nothing_more(tmp_path: Path) -> None:
    path = _write(tmp_path, {"main.tex": LATEX % ("", "So do bees."), "refs.bib": BIB})
    needs_one: dict[str, Any] = {"needs": lambda sentence: "bees" in sentence.text and not sentence.citations}
    _fix(path, **needs_one)
    first = path.read_bytes(), (tmp_path / "refs.bib").read_bytes()
    second = plan(check_by_words(path, **needs_one))
    assert not second.changes
    apply(second)
    assert (path.read_bytes(), (tmp_path / "refs.bib").read_bytes()) == first


def test_a_sentence_may_get_another_citation_when_it_is_chosen(tmp_path: Path) -> None:
    path = _write(tmp_path, {"main.tex": LATEX % ("", "So do bees~\\cite{doe}. Cats."), "refs.bib": BIB})
    checked = check_by_words(path)
    chosen = checked.findings[0].recommendations[0]
    apply(plan(checked, {0: chosen}))
    assert "bees~\\cite{doe}~\\cite{kaiser1988}." in path.read_text("utf-8")
