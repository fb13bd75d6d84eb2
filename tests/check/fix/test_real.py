"""Real drafts, copied: some sentences are fixed, and every other byte is as before."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.drafts import check_by_words
from whycite import read
from whycite.check.fix import FixPlan, apply, plan
from whycite.check.fix.edits import text_of
from whycite.documents.model import Document, Sentence

QUICK = (
    "arxiv-1707.08043 arxiv-1803.07574 bayes-vis emerick-2018a-bbl exoabc hogg-preface joss-bumbl joss-bumbl-rmd "
    "lab156-simmac labor-tex monero-R001 qmd-labor rmd-instancememory"
).split()
SLOW = (
    "arxiv-1708.00137 astropy-v2 coeurjolly-geodesics dl-cardiology duvenaud-thesis emerick-2018a emerick-2019 "
    "emerick-thesis hogg-decision hogg-probability hole-ice joss-adaptiveresonance lab156-cicm lab156-reinhardt "
    "lab156-scss lagraph-docs magnetism-thesis monero-0003 monero-0006 monero-bulletproofs mybiology-thesis "
    "stolfi-tese ukp-bayes-seq"
).split()
# Compiled with figures left out; a class that is not installed is taken to be article's, and the errors that brings
# must be the same after the fix.
COMPILED = (
    "arxiv-1707.08043 astropy-v2-early bayes-vis dl-cardiology emerick-2018a emerick-2018a-bbl emerick-xsede exoabc "
    "hogg-uncertainties lab156-reinhardt lab156-simmac magnetism-thesis-old monero-0002 monero-0003 monero-0006 "
    "monero-9999-difficulty monero-bulletproofs monero-R001"
).split()
CLASS = re.compile(r"^[^%\n]*\\documentclass\s*(?:\[[^\]]*\])?\s*\{\s*([\w-]+)\s*\}", re.MULTILINE)


def _copy(data: Path, name: str, tmp_path: Path) -> Path:
    shutil.copytree(data / "drafts" / name, tmp_path / name)
    facts = json.loads((data / "drafts" / "index.json").read_text("utf-8"))
    main: str = next(fact["main"] for fact in facts if fact["name"] == name)
    return tmp_path / name / main


def _some(document: Document, number: int) -> Callable[[Sentence], bool]:
    """Every so many sentences without a citation."""
    wanted = [s for s in document.sentences if not s.citations and s.kind not in ("table", "heading")]
    chosen = {(s.file, s.start, s.end) for s in wanted[:: max(1, len(wanted) // number)]}
    return lambda sentence: (sentence.file, sentence.start, sentence.end) in chosen


def _fix(path: Path, number: int) -> FixPlan:
    document = read(path)
    before = {file: file.read_bytes() for file in path.parent.rglob("*") if file.is_file()}
    made = plan(check_by_words(path, needs=_some(document, number), author="Müller, Jörg and Żak, Łucja"))
    assert made.fixed or all(refusal.reason for refusal in made.refused)
    apply(made)
    changed = {change.path: change for change in made.changes}
    for file, old in before.items():
        change = changed.get(file.resolve())
        text = text_of(file.read_bytes())
        for insertion in sorted(change.insertions, key=lambda one: one.offset) if change else ():
            text = text[: insertion.offset] + text[insertion.offset + len(insertion.text) :]
        assert file.read_bytes() == old if change is None else text == text_of(old)
    return made


def _check(path: Path, made: FixPlan, before: Document) -> None:
    after = read(path)
    fixed = {(finding.file, finding.start, finding.end) for finding, _ in made.fixed}
    assert len(after.sentences) == len(before.sentences)
    for old, new in zip(before.sentences, after.sentences, strict=True):
        keys = [key for citation in new.citations for key in citation.keys]
        assert keys.count("kaiser1988") == ((old.file, old.start, old.end) in fixed)
        if (old.file, old.start, old.end) not in fixed:
            assert new.text == old.text
    assert ("kaiser1988" in after.by_id) == bool(made.fixed)


@pytest.mark.parametrize("name", QUICK)
def test_some_sentences_of_real_drafts(data: Path, tmp_path: Path, name: str) -> None:
    path = _copy(data, name, tmp_path)
    before = read(path)
    made = _fix(path, 6)
    _check(path, made, before)
    if name == "labor-tex":  # no bibliography anywhere
        assert not made.fixed
    else:
        assert len(made.fixed) > len(made.refused)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_many_sentences_of_real_drafts(data: Path, tmp_path: Path, name: str) -> None:
    path = _copy(data, name, tmp_path)
    before = read(path)
    made = _fix(path, 40)
    _check(path, made, before)
    assert len(made.fixed) > 4 * len(made.refused)


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("pdflatex") is None or shutil.which("bibtex") is None,
    reason="no TeX installation: apt-get install texlive-latex-extra texlive-publishers texlive-science",
)
@pytest.mark.parametrize("name", COMPILED)
def test_a_fixed_draft_compiles_as_before(data: Path, tmp_path: Path, name: str) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    errors = _errors(_copy(data, name, before))
    if errors is None:
        pytest.skip("this TeX installation makes no pages of the draft as it is")
    path = _copy(data, name, after)
    assert _fix(path, 15).fixed
    assert _errors(path) == errors
    assert b"kaiser1988" in path.with_suffix(".aux").read_bytes()
    printed = path.with_suffix(".bbl")
    if printed.is_file() and b"\\bibitem" in printed.read_bytes():  # the style it asks for is installed
        assert b"Citation `kaiser1988'" not in path.with_suffix(".log").read_bytes()


def _errors(path: Path) -> list[str] | None:
    """The errors of TeX, with the bibliography made in between where there is one; none where it makes no pages."""
    text = path.read_bytes().decode("latin-1")
    found = CLASS.search(text)
    where = ["kpsewhich", f"{found[1] if found else 'article'}.cls"]
    if found and subprocess.run(where, cwd=path.parent, capture_output=True, check=False).returncode:
        stand_in = "\\DeclareOption*{}\\ProcessOptions\\LoadClass{article}\n"
        stand_in += "\\RequirePackage{natbib}\n" * ("\\citep" in text)
        path.with_name(f"{found[1]}.cls").write_text(stand_in, "utf-8")
    source = f"\\PassOptionsToPackage{{demo}}{{graphicx}}\\input{{{path.name}}}"
    tex = ["pdflatex", "-interaction=nonstopmode", "-no-shell-escape", f"-jobname={path.stem}", source]
    told = b""
    for command in [tex, ["bibtex", path.stem], tex, tex] if list(path.parent.rglob("*.bib")) else [tex, tex]:
        done = subprocess.run(command, cwd=path.parent, capture_output=True, timeout=50, check=False)
        told = done.stdout if command is tex else told
    if not path.with_suffix(".pdf").is_file():
        return None
    return [line for line in told.decode("latin-1").splitlines() if line.startswith("!")]
