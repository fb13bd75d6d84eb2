"""Projects of several files: what is read, what is not, and where each sentence comes from."""

from collections.abc import Callable
from pathlib import Path

import pytest

from whycite.documents import Document, read
from whycite.documents.latex import READER, find_main
from whycite.documents.sources import DiskFolder, MemoryFolder, Source

Read = Callable[..., Document]


def _folder(**files: str) -> MemoryFolder:
    return MemoryFolder({name.replace("__", "/") + ".tex": text.encode() for name, text in files.items()}, "")


@pytest.mark.parametrize(
    ("files", "main"),
    [
        ({"a": r"\documentclass{x}\begin{document}\input{b}\end{document}", "b": "Text."}, "a.tex"),
        ({"x": r"\section{A}", "y": r"\documentstyle{article}\begin{document}"}, "y.tex"),
        (
            {
                "chapter": r"\documentclass[../main]{subfiles}\begin{document}Long text here.\end{document}",
                "main": r"\documentclass{book}\begin{document}\subfile{chapter}\end{document}",
            },
            "main.tex",
        ),
        (
            {
                "letter": r"\documentclass{letter}\begin{document}Dear editor.\end{document}",
                "z": r"\documentclass{article}\begin{document}Text.\end{document}",
            },
            "z.tex",
        ),
        ({"only": "Just text."}, "only.tex"),
        ({"a": r"% \documentclass{x}", "src__b": r"\documentclass{x}\begin{document}"}, "src/b.tex"),
    ],
)
def test_the_main_file_is_found(files: dict[str, str], main: str) -> None:
    found = find_main(_folder(**files))
    assert found is not None
    assert found.name == main


@pytest.mark.parametrize(
    "command",
    [
        r"\input{part/one}",
        r"\input{part/one.tex}",
        r"\include{part/one}",
        r"\subfile{part/one}",
        r"\import{part/}{one}",
        r"\subimport{part/}{one.tex}",
        r"\input part/one ",
        r"\input{Part/One}",
        r"\InputIfFileExists{part/one}{}{}",
    ],
)
def test_inputs_are_expanded_with_a_map_back(read_latex: Read, command: str) -> None:
    document = read_latex(f"Before. {command} After.", {"part/one.tex": "In \\textbf{part} one \\cite{a}."})
    assert [(s.text, s.file, s.start) for s in document.sentences] == [
        ("Before.", "main.tex", 41),
        ("In part one [a].", "part/one.tex", 0),
        ("After.", "main.tex", 41 + len(f"Before. {command} ")),
    ]


def test_a_subfile_leaves_its_own_preamble_behind(read_latex: Read) -> None:
    part = r"\documentclass[main]{subfiles}\title{No}\begin{document}Part. \end{document} No."
    document = read_latex(r"\subfile{part} End.", {"part.tex": part})
    assert [s.text for s in document.sentences] == ["Part.", "End."]


def test_inputs_relative_to_the_file_that_asks(read_latex: Read) -> None:
    document = read_latex(r"\input{a/one}", {"a/one.tex": r"\input{two}", "a/two.tex": "Two."})
    assert [s.file for s in document.sentences] == ["a/two.tex"]


def test_a_local_package_defines_macros(read_latex: Read) -> None:
    text = r"\documentclass{article}\usepackage{mine}\begin{document}We like \tool.\end{document}"
    document = read_latex(text, {"mine.sty": r"\newcommand{\tool}{Hammer}"}, whole=True)
    assert [s.text for s in document.sentences] == ["We like Hammer."]
    assert document.warnings == ()


def test_missing_and_looping_inputs_are_warnings(read_latex: Read) -> None:
    document = read_latex("One.\n\\input{gone}\n\\input{loop}", {"loop.tex": r"\input{loop} Loop. \input{main}"})
    assert [s.text for s in document.sentences] == ["One.", "Loop."]
    assert document.warnings == (
        r"main.tex:4: \input{gone}: file not found in this folder",
        r"loop.tex:1: \input{loop} includes itself; skipped",
        r"loop.tex:1: \input{main} includes itself; skipped",
    )


BIB = "@article{a, title={On A}, author={Doe, Jane}, year=2010}\n@article{b, title={On B}, year=2011}"


@pytest.mark.parametrize("command", [r"\bibliography{refs}", r"\addbibresource{refs.bib}", r"\bibliography{none,refs}"])
def test_bibliography_by_name(read_latex: Read, command: str) -> None:
    document = read_latex(rf"Text \cite{{a}}. {command}", {"refs.bib": BIB})
    assert document.by_id["a"].title == "On A"
    assert document.by_id["a"].authors == ("Doe, Jane",)
    assert not any("no entry" in warning for warning in document.warnings)


def test_a_bibliography_beside_the_folder_of_the_only_project(tmp_path: Path) -> None:
    """What an archive of a project with chapters becomes when the bibliography is sent along."""
    (tmp_path / "paper" / "chapters").mkdir(parents=True)
    main = r"\documentclass{article}\begin{document}\input{chapters/one}\bibliography{refs}\end{document}"
    (tmp_path / "paper" / "main.tex").write_text(main)
    (tmp_path / "paper" / "chapters" / "one.tex").write_text(r"Bees sleep \cite{a}.")
    (tmp_path / "refs.bib").write_text("@misc{a, title={Sleep}}")
    document = read(tmp_path)
    assert document.warnings == ()
    assert document.by_id["a"].title == "Sleep"


def test_bibliography_in_the_text_and_beside_it(read_latex: Read) -> None:
    printed = r"\begin{thebibliography}{9}\bibitem{a} J. Doe. \newblock On A. \newblock 2010.\end{thebibliography}"
    inside = read_latex(rf"Text \cite{{a}}. {printed}")
    beside = read_latex(r"Text \cite{a}. \bibliography{gone}", {"main.bbl": printed})
    for document in (inside, beside):
        assert document.by_id["a"].title == "On A"
        assert [s.text for s in document.sentences] == ["Text [a]."]
    assert beside.warnings == ("main.tex: bibliography 'gone' not found in this folder",)


def test_what_an_earlier_run_left_is_no_bibliography_beside_one_that_is_named(read_latex: Read) -> None:
    item = r"\bibitem{%s} J. Doe. \newblock On %s. \newblock 2010."
    printed = "\n".join(["\\begin{thebibliography}{9}", item % ("a", "A"), item % ("c", "C"), item % ("d", "D")])
    files = {"refs.bib": BIB, "main.bbl": printed + "\n\\end{thebibliography}"}
    document = read_latex(r"Text \cite{a,c}. \bibliography{refs}", files)
    assert set(document.by_id) == {"a", "b", "c"}  # what is cited has the entry that there is
    assert set(read_latex(r"Text \cite{a}. \bibliography{refs}", files | {"refs.bib": ""}).by_id) == {"a"}
    assert set(read_latex(r"Text \cite{a}. \bibliography{gone}", files).by_id) == {"a", "c", "d"}


@pytest.mark.parametrize(
    ("date", "year"),
    [
        (r"\date{2024}", 2024),
        (r"\date{March 2024}", 2024),
        (r"\date{12.03.2019}", 2019),
        (r"\date{2019-03-12}", 2019),
        (r"\date[Spring]{Version of \\ 3 May~1998}", 1998),
        (r"\date{1999} \date{2021}", 2021),
        (r"\date{2021} \date{}", None),
        (r"\date{\today}", None),
        (r"\date{\today, first version of 2012}", None),
        (r"\date{Received 2019; accepted 2020}", None),
        (r"\date{20190312}", None),
        (r"\date{24/3/12}", None),
        (r"% \date{2024}", None),
        ("", None),
    ],
)
@pytest.mark.parametrize("place", ["preamble", "body"])
def test_the_year_of_the_draft(read_latex: Read, date: str, year: int | None, place: str) -> None:
    before, after = (date, "") if place == "preamble" else ("", date)
    text = f"\\documentclass{{article}}\n{before}\n\\begin{{document}}\n{after}\nText.\n\\end{{document}}\n"
    document = read_latex(text, whole=True)
    assert document.paper.year == year
    assert [s.text for s in document.sentences] == ["Text."]


def test_a_date_before_what_the_draft_cites_is_not_its_own(read_latex: Read) -> None:
    text = r"\date{2010} Text \cite{%s}. \bibliography{refs}"
    assert read_latex(text % "a", {"refs.bib": BIB}).paper.year == 2010  # of 2010; another of 2011 is not cited
    assert read_latex(text % "b", {"refs.bib": BIB}).paper.year is None


def test_bibliography_carried_inside_the_draft(read_latex: Read) -> None:
    text = "\\begin{filecontents}{my.bib}\n" + BIB + "\n\\end{filecontents}\nText \\cite{b}. \\bibliography{my}"
    assert read_latex(text).by_id["b"].title == "On B"


def test_keys_without_an_entry_are_named(read_latex: Read) -> None:
    document = read_latex(r"Text \cite{a,zz}. \bibliography{refs}", {"refs.bib": BIB})
    assert document.warnings == ("1 cited key has no entry in the bibliography: zz",)


@pytest.mark.parametrize(
    ("data", "warned"),
    [
        ("Caf\u00e9 na\u00efve.".encode("latin-1"), True),
        (b"\\usepackage[latin1]{inputenc} " + "Caf\u00e9 na\u00efve.".encode("latin-1"), False),
        (b"\\usepackage[applemac]{inputenc} " + "Caf\u00e9 na\u00efve.".encode("mac_roman"), False),
        ("Caf\u00e9 na\u00efve.".encode("utf-16"), False),
        ("\ufeffCaf\u00e9 na\u00efve.".encode(), False),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, warned: bool) -> None:
    (tmp_path / "main.tex").write_bytes(data)
    document = next(READER.read(Source(DiskFolder(tmp_path, ""), "main.tex")))
    assert document.sentences[-1].text.lstrip("\ufeff") == "Café naïve."
    assert bool(document.warnings) == warned


def test_nothing_outside_the_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.tex").write_text("A secret.")
    draft = tmp_path / "draft"
    draft.mkdir()
    (draft / "link.tex").symlink_to(tmp_path / "secret.tex")
    commands = [r"\input{/etc/passwd}", r"\input{../secret}", r"\input{link}", r"\import{../}{secret}"]
    commands += [r"\bibliography{../secret}", rf"\input{{{tmp_path}/secret.tex}}", r"\input{..\secret}"]
    (draft / "main.tex").write_text("Text. " + "\n".join(commands))
    document = next(READER.read(Source(DiskFolder(draft, ""), "main.tex")))
    assert [s.text for s in document.sentences] == ["Text."]
    assert len(document.warnings) == len(commands)
    assert r"main.tex:1: \input{/etc/passwd}: outside the draft's folder; skipped" in document.warnings
