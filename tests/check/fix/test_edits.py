"""Only what is put in changes: whatever the encoding, the line ends and the mark at the start."""

import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drafts import check_by_words
from whycite import read
from whycite.check.fix import FixPlan, Insertion, apply, plan
from whycite.check.fix.edits import can_hold, insert, newline_at, text_of
from whycite.check.fix.entries import escape_tex
from whycite.text.accents import untex

LATEX = (
    "\\documentclass{article}\n%s\\begin{document}\nCafé life: so do bees. Cats do.\n\\bibliography{refs}\n"
    "\\end{document}\n"
)
BIB = "@article{doe, title = {%s}, year = 2001}\n"


def _removed(made: FixPlan) -> dict[Path, bytes]:
    """The files as they are now, less what the plan put in."""
    found = {}
    for change in made.changes:
        text = text_of(change.path.read_bytes())
        for insertion in sorted(change.insertions, key=lambda one: one.offset):
            assert text[insertion.offset :].startswith(insertion.text)
            text = text[: insertion.offset] + text[insertion.offset + len(insertion.text) :]
        found[change.path] = text.encode("utf-8")
    return found


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8], ids=["plain", "marked"])
def test_marks_and_line_ends_are_kept(tmp_path: Path, newline: str, mark: bytes) -> None:
    path, bib = tmp_path / "main.tex", tmp_path / "refs.bib"
    path.write_bytes(mark + (LATEX % "").replace("\n", newline).encode())
    bib.write_bytes(mark + (BIB % "Ältere Arbeit").replace("\n", newline).encode())
    before = {path: path.read_bytes(), bib: bib.read_bytes()}
    made = plan(check_by_words(path, author="Müller, Jörg"))
    apply(made)
    assert _removed(made) == before
    assert path.read_bytes().startswith(mark + b"\\documentclass")
    added = bib.read_bytes().removeprefix(before[bib])
    assert (
        added
        == (
            '\n@article{kaiser1988,\n  title = {Sleep of bees},\n  author = {M{\\"{u}}ller, J{\\"{o}}rg},\n'
            "  year = {1988},\n  journal = {Journal of Rest},\n}\n"
        )
        .replace("\n", newline)
        .encode()
    )
    assert [s.citations[0].keys for s in read(path).sentences if s.citations] == [("kaiser1988",)]


def test_a_file_without_a_last_line_end_gets_one_in_between(tmp_path: Path) -> None:
    (tmp_path / "main.tex").write_text(LATEX % "", "utf-8")
    (tmp_path / "refs.bib").write_bytes(b"% old\r\n@misc{doe, title = {Old}}")
    apply(plan(check_by_words(tmp_path / "main.tex")))
    assert (tmp_path / "refs.bib").read_bytes().startswith(b"% old\r\n@misc{doe, title = {Old}}\r\n\r\n@article{kai")


def test_an_empty_bibliography(tmp_path: Path) -> None:
    (tmp_path / "main.tex").write_text(LATEX % "", "utf-8")
    (tmp_path / "refs.bib").write_bytes(b"")
    apply(plan(check_by_words(tmp_path / "main.tex")))
    assert (tmp_path / "refs.bib").read_bytes().startswith(b"@article{kaiser1988,")


@pytest.mark.parametrize("encoding", ["latin-1", "mac_roman", "cp1252"])
def test_other_encodings_get_letters_as_tex_writes_them(tmp_path: Path, encoding: str) -> None:
    declared = {"latin-1": "latin1", "mac_roman": "applemac", "cp1252": "ansinew"}[encoding]
    text = LATEX % f"\\usepackage[{declared}]{{inputenc}}\n"
    path, bib = tmp_path / "main.tex", tmp_path / "refs.bib"
    path.write_bytes(text.encode(encoding))
    bib.write_bytes((BIB % "Ältere Arbeit").encode(encoding))
    apply(plan(check_by_words(path, author="Żak, Łucja and Müller, Jörg", title="Sleep of bees — a “review”")))
    assert path.read_bytes() == text.replace("bees", "bees~\\cite{kaiser1988}").encode(encoding)
    added = bib.read_bytes().removeprefix((BIB % "Ältere Arbeit").encode(encoding))
    assert added.isascii()
    found = read(path).by_id["kaiser1988"]
    assert found.authors == ("Żak, Łucja", "Müller, Jörg")
    assert found.title == "Sleep of bees — a “review”"


def test_a_letter_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "main.tex").write_text(LATEX % "", "utf-8")
    bib = tmp_path / "refs.bib"
    bib.write_bytes((BIB % "Ältere").encode("latin-1"))
    made = plan(check_by_words(tmp_path / "main.tex", author="王, 伟"))
    assert "lacks the letter 王" in made.refused[0].reason
    bib.write_bytes((BIB % "Older").encode())  # no encoding yet: UTF-8 it becomes
    apply(plan(check_by_words(tmp_path / "main.tex", author="王, 伟")))
    assert "王, 伟" in bib.read_text("utf-8")


def test_biber_takes_letters_as_they_are(tmp_path: Path) -> None:
    text = (LATEX % "\\usepackage[style=apa]{biblatex}\n\\addbibresource{refs.bib}\n").replace(
        "\\bibliography{refs}", ""
    )
    (tmp_path / "main.tex").write_text(text, "utf-8")
    (tmp_path / "refs.bib").write_text(BIB % "Ältere Arbeit", "utf-8")
    apply(plan(check_by_words(tmp_path / "main.tex", author="Müller, Jörg")))
    assert "Müller, Jörg" in (tmp_path / "refs.bib").read_text("utf-8")


def test_a_markdown_draft_gets_its_letters_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nbibliography: refs.bib\n---\nSo do bees.\n", "utf-8")
    (tmp_path / "refs.bib").write_text(BIB % "Old", "utf-8")
    apply(plan(check_by_words(tmp_path / "a.md", author="Müller, Jörg")))
    assert "Müller, Jörg" in (tmp_path / "refs.bib").read_text("utf-8")


ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"])


@given(data=st.data(), encoding=ENCODINGS)
def test_what_is_put_in_can_be_taken_out_again(data: st.DataObject, encoding: str) -> None:
    letters = st.characters(exclude_categories=["Cs"], max_codepoint=0xFF if encoding == "latin-1" else None)
    text = data.draw(st.text(letters, max_size=40))
    raw = text.encode(encoding)
    shown = text_of(raw)
    places = data.draw(st.lists(st.integers(0, len(shown)), max_size=4))
    # At the very start a mark would stand before nothing: no sentence ends there.
    insertions = [Insertion(max(at, 1), f"<{number}>") for number, at in enumerate(places) if shown]
    result = insert(raw, insertions)
    assert len(result) - len(raw) == sum(len(_bytes(one.text, raw)) for one in insertions)
    again = text_of(result)
    for insertion in sorted(insertions, key=lambda one: one.offset):
        again = again[: insertion.offset] + again[insertion.offset + len(insertion.text) :]
    assert again == shown
    rest = iter(result)
    assert all(byte in rest for byte in raw)  # the old bytes are all there, in their order


def _bytes(text: str, raw: bytes) -> bytes:
    wide = {codecs.BOM_UTF16_LE: 2, codecs.BOM_UTF16_BE: 2, codecs.BOM_UTF32_LE: 4, codecs.BOM_UTF32_BE: 4}
    return text.encode() * max((size for mark, size in wide.items() if raw.startswith(mark)), default=1)


@pytest.mark.parametrize(
    "raw",
    [codecs.BOM_UTF16_LE + b"a\x00\x00\xd8b\x00", codecs.BOM_UTF16_BE + b"\x00a\xd8\x00\x00b", b"a\x81b", b"a\xffb"],
    ids=["half a pair", "half a pair, big end", "no letter", "no UTF-8"],
)
def test_bytes_that_are_no_text_stay_as_well(raw: bytes) -> None:
    put = insert(raw, [Insertion(2, "x")])
    wide = "x".encode("utf-16-le" if raw[:2] == codecs.BOM_UTF16_LE else "utf-16-be") if raw[0] > 0xF0 else b"x"
    assert put == raw[: -len(wide)] + wide + raw[-len(wide) :]


def test_a_letter_that_an_encoding_lacks_is_an_error() -> None:
    with pytest.raises(ValueError, match="ascii"):
        insert(b"a\xe9b", [Insertion(1, "é")])


def test_what_an_encoding_can_hold() -> None:
    assert can_hold(b"abc", "é")
    assert can_hold("é".encode(), "王")
    assert can_hold(b"\xe9", "plain")
    assert not can_hold(b"\xe9", "é")


@pytest.mark.parametrize(
    ("text", "at", "newline"),
    [("a\r\nb\nc", 6, "\n"), ("a\r\nb\nc", 3, "\r\n"), ("a\rb", 0, "\r"), ("a", 1, "\n"), ("", 0, "\n")],
)
def test_the_line_end_is_that_of_the_line_before(text: str, at: int, newline: str) -> None:
    assert newline_at(text, at) == newline


@given(st.text(st.sampled_from("aZ éèêñüçøåÅæßłžőğşÇ–—“”…ıµαβΩ×±°"), max_size=20))
def test_letters_as_tex_writes_them_read_as_they_were(text: str) -> None:
    written = escape_tex(text)
    assert written.isascii()
    assert untex(written).replace("μ", "µ") == " ".join(text.split()).replace("μ", "µ")
