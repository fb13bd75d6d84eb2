"""Drafts of every shape: what was put in can be taken out, and what was meant is read."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.drafts import check_by_words
from tests.thoroughness import examples
from whycite import read
from whycite.check.fix import FileChange, apply, plan
from whycite.check.fix.edits import text_of

WORDS = st.lists(
    st.sampled_from("bees sleep at night café naïve (some) $x$ 5 \\emph{long} and 王 all".split()), min_size=2
)
ENDS = st.sampled_from(
    [".", "?", "!", ".''", ".)", "...", ":", "", "\\footnote{A note.}.", ".\\footnote{A note.}", "~\\cite{doe}."]
)
GAPS = st.sampled_from(
    [" ", "\n", "\r\n", "\n\n", " % a comment\n", "\\\\\n", "\n\\begin{itemize}\\item ", "\n\\section{Cats}\n"]
)
SENTENCES = st.tuples(WORDS.map(" ".join), ENDS, GAPS).map(lambda parts: "The " + "".join(parts))
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])
BIBS = st.sampled_from(
    ["", "@misc{doe, title = {Old}}", "@misc{doe, title = {Old}}\r\n", "@misc{doe,\n title = {Ü}}\n\n\n"]
)


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(SENTENCES, min_size=1, max_size=6), BIBS, ENCODINGS, st.integers(0, 3))
def test_latex(sentences: list[str], bib: str, encoding: str, which: int) -> None:
    body = "".join(sentences)
    text = f"\\documentclass{{article}}\n\\begin{{document}}\n{body}\n\\bibliography{{refs}}\n\\end{{document}}\n"
    with tempfile.TemporaryDirectory() as folder:
        path, refs = Path(folder, "main.tex"), Path(folder, "refs.bib")
        path.write_bytes(text.encode(encoding))
        refs.write_bytes(bib.encode())
        before = {path: path.read_bytes(), refs: refs.read_bytes()}
        checked = check_by_words(path, needs=lambda s: not s.citations and len(s.text) % 4 != which)
        made = plan(checked)
        apply(made)
        _taken_out(made.changes, before)
        after = read(path)
        assert len(after.sentences) == len(checked.document.sentences)
        fixed = [finding.start for finding, _ in made.fixed]
        for old, new in zip(checked.document.sentences, after.sentences, strict=True):
            assert old.without_citations().split() == new.without_citations().split()
            keys = [key for citation in new.citations for key in citation.keys]
            assert ("kaiser1988" in keys) == (old.start in fixed)
        assert ("kaiser1988" in after.by_id) == bool(fixed)


def _taken_out(changes: Sequence[FileChange], before: dict[Path, bytes]) -> None:
    """Take out what was put in, and compare every byte."""
    untouched = dict(before)
    for change in changes:
        del untouched[change.path]
        now = text_of(change.path.read_bytes())
        for insertion in sorted(change.insertions, key=lambda one: one.offset):
            assert now.startswith(insertion.text, insertion.offset)
            now = now[: insertion.offset] + now[insertion.offset + len(insertion.text) :]
        assert now == text_of(before[change.path])
        marked = change.path.read_bytes()[:2] == b"\xff\xfe"
        assert (b"\xff\xfe" * marked + now.encode("utf-16-le" if marked else "utf-8")) == before[change.path]
    assert all(path.read_bytes() == data for path, data in untouched.items())
