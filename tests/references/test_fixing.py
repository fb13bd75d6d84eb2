"""What is certain is mended, and nothing else changes."""

from pathlib import Path

import pytest

from whycite.documents.references.bibtex import locate_entries
from whycite.errors import UserError
from whycite.references.checking import check_references
from whycite.references.entries import load_bibliography
from whycite.references.fixing import BibliographyChange, apply_changes, diff_changes, plan_changes

BIBLIOGRAPHY = """\
% our papers
@string{jcp = "Journal of Comparative Physiology"}

@article{kaiser,
  title = {Busy bees need rest, too},
  author = {Kaiser, Walter and et al.},
  journal = jcp,
  year = 1988,
  doi = "https://doi.org/10.1007/BF00603841",
}

@article{kaiser,
  title = {Busy bees need rest, too},
  author = {Kaiser, Walter and et al.},
  journal = jcp,
  year = 1988,
  doi = "https://doi.org/10.1007/BF00603841",
}

@misc{other, title = {{doi} = {x}}, note = {50\\% sleep}, doi={doi:10.1000/other}}
"""


def _plan(file: Path) -> list[BibliographyChange]:
    return plan_changes(load_bibliography(file), check_references(file, use_library=False))


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_certain_problems_are_mended(tmp_path: Path, line_end: str) -> None:
    file = tmp_path / "refs.bib"
    file.write_bytes(BIBLIOGRAPHY.replace("\n", line_end).encode())
    changes = _plan(file)
    assert len(changes[0].fixed) == 4
    assert '-  doi = "https://doi.org/10.1007/BF00603841",' in diff_changes(changes)
    apply_changes(changes)
    content = file.read_bytes().decode()
    expected = BIBLIOGRAPHY.replace("https://doi.org/", "").replace(" and et al.", " and others")
    first, second = expected.index("@article"), expected.rindex("@article")
    assert second > first
    expected = expected[:second] + expected[expected.index("@misc") :].replace("doi:10", "10")
    assert content == expected.replace("\n", line_end)
    assert _plan(file) == []  # nothing is left to mend


def test_entries_with_one_key_that_differ_are_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "refs.bib"
    file.write_text("@misc{a, title = {One}}\n@misc{a, title = {Two}}\n", "utf-8")
    assert _plan(file) == []


def test_a_field_that_is_an_abbreviation_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "refs.bib"
    file.write_text('@string{d = "doi:10.1000/x"}\n@misc{a, title = {One}, doi = d}\n', "utf-8")
    [change] = _plan(file)
    assert change.fixed == ()
    assert "by hand" in change.refused[0]
    assert change.new_content == change.old_content


def test_files_in_other_encodings_are_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "refs.bib"
    file.write_bytes("@misc{a, title = {Müde}, doi = {doi:10.1000/x}}\n".encode("latin-1"))
    [change] = _plan(file)
    assert "not UTF-8" in change.refused[0]


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "refs.bib"
    file.write_text(BIBLIOGRAPHY, "utf-8")
    changes = _plan(file)
    file.write_text(BIBLIOGRAPHY + "\n", "utf-8")
    with pytest.raises(UserError, match="changed since it was checked"):
        apply_changes(changes)
    assert len(locate_entries(file.read_text("utf-8"))) == 3


def test_a_byte_order_mark_and_mixed_line_ends_stay(tmp_path: Path) -> None:
    file = tmp_path / "refs.bib"
    old = "\ufeff@misc{a,\r\n  title = {One},\r\n  doi = {doi:10.1000/x}\r\n}\n@misc{b, doi = {doi:10.1000/y}}\r\n"
    file.write_bytes(old.encode())
    apply_changes(_plan(file))
    assert file.read_bytes().decode() == old.replace("doi:", "")


def test_a_repeated_entry_that_never_closes_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "refs.bib"
    file.write_text(
        "@misc{a, title = {One}}\n@misc{a, title = {One}\n% a comment on b\n@misc{b, title = {Two}}\n", "utf-8"
    )
    assert _plan(file) == []


def test_a_large_file_is_mended_and_its_diff_says_how(tmp_path: Path) -> None:
    """Comparing all lines with each other, or reading the file again for each change, would take minutes."""
    file = tmp_path / "refs.bib"
    entries = [
        f"@article{{k{number},\n  title = {{Paper {number}}},\n  journal = {{J}},\n  year = {{2001}},\n"
        f"  doi = {{doi:10.1000/{number}}}\n}}\n"
        for number in range(2000)
    ]
    file.write_text("\n".join(entries), "utf-8")
    changes = _plan(file)
    assert len(changes[0].fixed) == 2000
    assert _patched(file.read_text("utf-8"), diff_changes(changes)) == changes[0].new_content.decode()


def test_a_diff_shows_three_lines_around_changes() -> None:
    old = "".join(f"{number}\n" for number in range(30))
    new = old.replace("10\n", "ten\n").replace("15\n", "").replace("28\n", "28\n28b\n")
    change = BibliographyChange("refs.bib", old.encode(), new.encode(), ())
    text = diff_changes([change])
    assert [line for line in text.splitlines() if line.startswith("@@")] == ["@@ -8,12 +8,11 @@", "@@ -27,4 +26,5 @@"]
    assert _patched(old, text) == new


def _patched(text: str, diff: str) -> str:
    """A text after a unified diff, whose lines must fit."""
    lines, patched, position = text.splitlines(keepends=True), [], 0
    for line in diff.splitlines(keepends=True)[2:]:
        if line.startswith("@@"):
            start = int(line.split()[1].lstrip("-").partition(",")[0]) - 1
            patched += lines[position:start]
            position = start
        elif line.startswith("+"):
            patched.append(line[1:])
        else:
            assert line[1:] == lines[position]
            patched += [line[1:]] if line.startswith(" ") else []
            position += 1
    return "".join([*patched, *lines[position:]])
