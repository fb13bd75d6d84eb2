"""How well are PDFs read whose truth is known? LaTeX drafts are typeset, and their PDF is compared with their source.

Drafts that TeX makes a PDF of count; classes, packages and files that are missing get a stand-in, pictures a black box.
The truth is what the LaTeX reader makes of the same draft, as far as it is printed: half of a sentence's letters must
stand in the bare text of the PDF. Words are compared without case, accents, hyphens and quotation marks; a formula, a
citation or the number of a figure may read in any way. Of each draft:

- `words`: sentences that stand in the PDF's text word for word; `whole`: those that are also one sentence there;
- `refs`: entries of the printed bibliography that are found, one for one;
- `links`: citations that point to the right entry, of those in the source; `right`: of those in the PDF;
- `lost`: pages that lose more than 5 % of their prose without a warning that names them, of all pages.

The reader was mended while looking at the drafts of the first table; those of the second were only measured.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from unittest import mock

import pypdfium2

from whycite import read
from whycite.documents.latex import formulas
from whycite.documents.markup import EQUATION
from whycite.documents.model import Document, Sentence
from whycite.text.accents import untex

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
UNSEEN = ("hogg", "magnetism")  # drafts that were only measured, once the reader was mended
MAX_MISSING = 12  # packages and files that may be missing
MAX_ERRORS = 100  # of TeX; what is printed after more is not the draft any longer
_SECONDS = 60  # for one run of TeX
_CLASS = re.compile(r"\\documentclass\s*(?:\[[^\]]*\])?\s*\{([^}/]+)\}")
_NO_STYLE = re.compile(r"couldn't open style file (\S+)")
_MISSING = re.compile(r"File `([^']+\.(?:sty|tex))' not found")
_ARTICLE = r"""\DeclareOption*{}\ProcessOptions\LoadClass{article}\RequirePackage{graphicx}
\RequirePackage{url}\providecommand\institute[1]{}\providecommand\email[1]{}
\providecommand\altaffiltext[2]{}\providecommand\altaffilmark[1]{}
\newenvironment{frontmatter}{}{}\newenvironment{abstractbox}{}{}\newenvironment{fmbox}{}{}\newenvironment{keyword}{}{}
"""
_PREAMBLE = (
    r"\PassOptionsToPackage{demo}{graphicx}"
    r"\AtBeginDocument{\providecommand\newcite{\cite}\providecommand\shortcite{\cite}}"
)
_MINTED = r"""\RequirePackage{listings}\lstnewenvironment{minted}[2][]{}{}\newcommand\mintinline[2]{\texttt{#2}}
\newcommand\setminted[2][]{}\newcommand\usemintedstyle[2][]{}
"""  # the real one runs another program
_AASTEX = r"""\DeclareOption*{\PassOptionsToClass{\CurrentOption}{aastex631}}\ProcessOptions\LoadClass{aastex631}
\renewcommand\nocollaboration{}\renewcommand\collaboration[1]{}
"""


def typeset(draft: Path, main: str, folder: Path) -> Path | None:
    """The PDF of a draft, made in a copy of it; None if TeX makes none."""
    copy = folder / draft.name
    path = copy / main
    pdf = path.with_suffix(".pdf")
    if not copy.exists():
        shutil.copytree(draft, copy, copy_function=shutil.copyfile)
        pdf.unlink(missing_ok=True)
        _stand_in(path)
        source = f"{_PREAMBLE}\\input{{{path.name}}}"
        tex = ["pdflatex", "-interaction=nonstopmode", "-no-shell-escape", f"-jobname={path.stem}", source]
        _run_with_stand_ins(tex, path)
        if b"No pages of output" in path.with_suffix(".log").read_bytes():
            _stand_in(path, lacks_class=True)
            _run_with_stand_ins(tex, path)
        if path.with_suffix(".bcf").exists():
            _run(["biber", path.stem], path.parent)
        elif list(copy.rglob("*.bib")):
            told = _run(["bibtex", path.stem], path.parent)
            if style := _NO_STYLE.search(told):
                plain = "plainnat" if b"/natbib.sty" in path.with_suffix(".log").read_bytes() else "plain"
                shutil.copyfile(_run(["kpsewhich", f"{plain}.bst"], path.parent).strip(), path.parent / style[1])
                _run(["bibtex", path.stem], path.parent)
        for _ in range(2):
            _run(tex, path.parent)
    log = path.with_suffix(".log")
    errors = log.read_bytes().count(b"\n! ") if log.is_file() else MAX_ERRORS
    return pdf if pdf.is_file() and pdf.stat().st_size and errors < MAX_ERRORS else None


def _run_with_stand_ins(tex: Sequence[str], path: Path) -> None:
    """Run TeX until no package or file is missing any more: each gets a stand-in."""
    for _ in range(MAX_MISSING):
        missing = _MISSING.search(_run(tex, path.parent).replace("\n", ""))
        if not missing:
            break
        stand_in = path.parent / missing[1]
        stand_in.parent.mkdir(exist_ok=True)
        stand_in.write_text(_natbib(path) if stand_in.suffix == ".sty" else "", "utf-8")


def _natbib(path: Path) -> str:
    """What loads the package for citations by author and year, where a draft has such."""
    sources = [source.read_bytes() for source in path.parent.rglob("*.tex")]
    return "\\RequirePackage{natbib}\n" if any(b"\\citep" in source for source in sources) else ""


def _stand_in(path: Path, lacks_class: bool = False) -> None:
    """Write a class that stands in for one that is not installed, or that makes no pages."""
    source = path.read_bytes().decode("latin-1")
    if "{minted}" in source:
        path.with_name("minted.sty").write_text(_MINTED, "utf-8")
    name = _CLASS.search(source)
    if name and (
        lacks_class or subprocess.run(["kpsewhich", f"{name[1]}.cls"], cwd=path.parent, capture_output=True).returncode
    ):
        modern = name[1].startswith("aastex") and not lacks_class
        path.with_name(f"{name[1]}.cls").write_text(_AASTEX if modern else _ARTICLE + _natbib(path), "utf-8")


def _run(command: Sequence[str], folder: Path) -> str:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.decode("latin-1")  # whatever the encoding of the draft


_JOINED = re.compile("[-‐\u00ad\u2011'’‘`´\u02bc⁰¹²³⁴⁵⁶⁷⁸⁹⁻]")
_WORD = re.compile(r"[a-z0-9]+")
_MATHS = re.compile(r"[_^=<>\\{}|~+∼±×·]|^[^\w]*[b-hj-zB-HJ-Z][^\w]*$")
_PLACEHOLDER = re.compile("EQUATION|REF")
_GAPS = {"EQUATION": 30, "REF": 5}  # words that a placeholder may stand for
_SYMBOL_GAP = 5
_CITATION_GAP, _KEY_GAP = 5, 8  # words of a citation, and of each key in it
_GRAM = 12  # letters in a row that are no chance
_MIN_WORDS = 3  # of a sentence to look for


def words(text: str) -> list[str]:
    """The words of a text in lower case, without accents, hyphens and quotation marks."""
    plain = unicodedata.normalize("NFKD", _JOINED.sub("", text))
    return _WORD.findall("".join(c for c in plain if not unicodedata.combining(c)).lower())


def stretches(sentence: Sentence) -> list[list[str] | int]:
    """The words of a sentence in stretches, and between them how many words anything else may stand for."""
    parts: list[list[str] | int] = []
    offset = 0
    for citation in (*sentence.citations, None):
        end = citation.text_start if citation else len(sentence.text)
        for token in sentence.text[offset:end].split():
            if placeholder := _PLACEHOLDER.search(token):  # with what is glued to it: "EQUATION-process"
                _put(parts, _GAPS[placeholder[0]])
            elif _MATHS.search(token) or any(
                unicodedata.category(c) == "Sm" or "\u0370" <= c <= "\u03ff" for c in token
            ):
                _put(parts, _SYMBOL_GAP)
            elif parts and not isinstance(parts[-1], int):
                parts[-1] += words(token)
            else:
                parts.append(words(token))
        if citation:
            offset = citation.text_end
            _put(parts, _CITATION_GAP + _KEY_GAP * max(len(citation.keys), 1))
    return parts


def _put(parts: list[list[str] | int], gap: int) -> None:
    if parts and isinstance(parts[-1], int):
        parts[-1] += gap
    else:
        parts.append(gap)


class Reading:
    """The text of a PDF as the reader has it, to look sentences up in."""

    def __init__(self, document: Document) -> None:
        self.sentences = document.sentences
        pieces, self._starts, length = [" "], [], 1
        for sentence in document.sentences:
            piece = "".join(f"{word} " for word in words(sentence.text))
            self._starts.append(length)
            pieces.append(piece)
            length += len(piece)
        self._text = "".join(pieces)
        letters = self._text.replace(" ", "") + "".join("".join(words(s.heading)) for s in document.sections)
        self._grams = {letters[i : i + _GRAM] for i in range(len(letters) - _GRAM + 1)}

    def find(self, parts: Sequence[list[str] | int]) -> tuple[int, int] | None:
        """The range of the text where a sentence stands word for word."""
        pattern = "".join(
            f"(?:[a-z0-9]+ ){{0,{part}}}?" if isinstance(part, int) else "".join(f"{word} " for word in part)
            for part in parts
        )
        match = re.search(f" {pattern}", self._text)
        return (match.start() + 1, match.end()) if match else None

    def at(self, start: int, end: int) -> Sequence[Sentence]:
        """The sentences in a range of the text."""
        return self.sentences[bisect_right(self._starts, start) - 1 : bisect_right(self._starts, end - 1)]

    def lost(self, letters: str) -> float:
        """The share of a stretch of letters that does not stand in the text."""
        grams = [letters[i : i + _GRAM] for i in range(len(letters) - _GRAM + 1)]
        return sum(gram not in self._grams for gram in grams) / len(grams) if grams else 0.0


@dataclass
class Pages:
    """The bare text of every page of a PDF, to see where a sentence is printed."""

    grams: list[set[str]]

    @classmethod
    def of(cls, path: Path) -> Pages:
        """The pages of a file."""
        with pypdfium2.PdfDocument(path) as document:
            texts = [page.get_textpage().get_text_range().replace("\ufffe", "") for page in document]
        letters = ["".join(words(text.replace("\r", "").replace("-\n", ""))) for text in texts]
        return cls([{text[i : i + _GRAM] for i in range(len(text) - _GRAM + 1)} for text in letters])

    def place(self, letters: Sequence[str]) -> int | None:
        """The page, from 1, that shows at least half of a sentence, with the next one; None if none does."""
        grams = [part[i : i + _GRAM] for part in letters for i in range(len(part) - _GRAM + 1)]
        if not grams:
            return None
        counts = [sum(gram in page for gram in grams) for page in self.grams]
        best = max(range(len(counts)), key=lambda i: counts[i])
        return best + 1 if 2 * (counts[best] + sum(counts[best + 1 : best + 2])) >= len(grams) else None


@dataclass
class Score:
    """What was counted in a draft, or in several."""

    pages: int = 0
    sentences: int = 0
    words: int = 0
    whole: int = 0
    entries: int = 0
    refs: int = 0
    citations: int = 0
    links: int = 0
    linked: int = 0  # in the PDF
    lost: int = 0
    unprinted: int = 0
    notes: list[str] = field(default_factory=list)

    def __iadd__(self, other: Score) -> Score:
        for name in (f.name for f in fields(self) if f.name != "notes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


MAX_LOST = 0.05  # of a page's prose


def measure(source: Path, pdf: Path) -> Score:
    """Compare a PDF with the LaTeX it was made of."""
    with mock.patch.object(formulas, "math_text", return_value=EQUATION):  # may read in any way
        truth = read(source)
    document = read(pdf)
    reading, pages = Reading(document), Pages.of(pdf)
    score = Score(pages=len(pages.grams))
    entries = printed_entries(pdf, truth)
    matched = match_entries(entries, document)
    score.entries, score.refs = len(entries), len(set(matched.values()))
    for key in sorted(set(entries) - set(matched.values())):
        score.notes.append(f"entry {key}: {' '.join(entries[key])[:150]}")
    length: Counter[int] = Counter()
    lost: Counter[int] = Counter()
    for sentence in truth.sentences:
        if sentence.kind not in ("prose", "caption", "footnote"):
            continue
        parts = stretches(sentence)
        solid = [part for part in parts if not isinstance(part, int)]
        if sum(map(len, solid)) < _MIN_WORDS:
            continue
        letters = ["".join(part) for part in solid]
        page = pages.place(letters)
        if page is None:
            score.unprinted += 1
            continue
        score.sentences += 1
        keys = {key for citation in sentence.citations for key in citation.keys if key in entries}
        score.citations += len(keys)
        missing = sum(len(part) * reading.lost(part) for part in letters)
        length[page] += sum(map(len, letters))
        lost[page] += round(missing)
        place = reading.find(parts)
        if place is None:
            score.notes.append(f"page {page} ({sentence.kind}): {sentence.text}")
            continue
        score.words += 1
        there = reading.at(*place)
        score.whole += len(there) == 1
        found = {matched.get(key, key) for each in there for citation in each.citations for key in citation.keys}
        score.links += len(keys & found)
        score.linked += len(found)
        if keys - found:
            score.notes.append(f"page {page}: not linked {sorted(keys - found)} in {there[0].text}")
    warned = {int(n) for warning in document.warnings for n in _numbers(warning)}
    for page in sorted(length):
        if lost[page] > MAX_LOST * length[page] and page not in warned:
            score.lost += 1
            score.notes.append(f"page {page} lost {lost[page]} of {length[page]} letters")
    return score


def _numbers(warning: str) -> Iterator[int]:
    """The pages that a warning names."""
    for named in re.findall(r"pages? (\d[\d, and-]*)", warning):
        for begin, end in re.findall(r"(\d+)(?:-(\d+))?", named):
            yield from range(int(begin), int(end or begin) + 1)


_CITED = re.compile(r"\\bibcite\{([^}]+)\}|\\abx@aux@cite\{\d+\}\{([^}]+)\}")
_GROUP = r"\{[^{}]*\}"
for _ in range(6):  # groups in groups
    _GROUP = rf"\{{(?:[^{{}}]|{_GROUP})*\}}"
_BIBITEM = re.compile(rf"\\bibitem\s*(?:\[(?:[^\[\]{{}}]|{_GROUP})*\])?\s*%?\s*\{{([^}}]*)\}}")
_LIST_END = re.compile(r"\\end\s*\{thebibliography\}")
_UNPRINTED = re.compile(
    r"\\(?:href|url|bibinfo|bibfield|bibnamefont|eprint|adsurl|doi)\s*\{[^{}]*\}|\\[A-Za-z@]+\*?|%.*"
)
_MIN_LIKENESS = 0.6  # F1 of the words of two entries that are one


def printed_entries(pdf: Path, truth: Document) -> dict[str, list[str]]:
    """The words of the entries of the printed bibliography, by key."""
    aux = pdf.with_suffix(".aux")
    cited = [first or second for first, second in _CITED.findall(aux.read_bytes().decode("latin-1"))]
    bbl = pdf.with_suffix(".bbl")
    texts = [bbl] if bbl.exists() else sorted(pdf.parent.rglob("*.tex"))
    items: dict[str, list[str]] = {}
    for path in texts:
        text = path.read_bytes().decode("utf-8", "replace")
        marks = list(_BIBITEM.finditer(text))
        for mark, after in zip(marks, [*marks[1:], None], strict=False):
            body = _LIST_END.split(text[mark.end() : after.start() if after else mark.end() + 3000])[0]
            items.setdefault(mark[1], words(_UNPRINTED.sub(" ", untex(body))))
    for key in cited:
        if key not in items and (reference := truth.by_id.get(key)):
            families = [author.partition(",")[0] for author in reference.authors[:3]]
            items[key] = words(f"{' '.join(families)} {reference.title} {reference.venue} {reference.year or ''}")
    return {key: items[key] for key in dict.fromkeys(cited) if items.get(key)}


def match_entries(entries: dict[str, list[str]], document: Document) -> dict[str, str]:
    """The key of each of the PDF's references, by its id; each key once, the likest first."""
    bags = {key: Counter(entry) for key, entry in entries.items()}
    pairs = []
    for reference in document.references:
        authors = " ".join(reference.authors)
        text = reference.text or f"{authors} {reference.title} {reference.venue} {reference.year or ''} {reference.doi}"
        bag = Counter(words(text))
        for key, entry in bags.items():
            likeness = 2 * (bag & entry).total() / max(bag.total() + entry.total(), 1)
            if likeness >= _MIN_LIKENESS:
                pairs.append((likeness, reference.id, key))
    matched: dict[str, str] = {}
    for _, id, key in sorted(pairs, reverse=True):
        if id not in matched and key not in matched.values():
            matched[id] = key
    return matched


def main() -> None:
    """Print two tables: drafts that were looked at, and others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="drafts to read; all if none is named")
    parser.add_argument("--folder", type=Path, help="keep what TeX makes there, and use what is there")
    parser.add_argument("--show", type=int, default=0, help="misses to print for each draft")
    parser.add_argument("--unseen", action="store_true", help="only the second table")
    parser.add_argument("--seen", action="store_true", help="only the first table")
    options = parser.parse_args()
    if shutil.which("pdflatex") is None or shutil.which("bibtex") is None:
        print("no TeX installation; on Debian: see the comment on test-all in the Makefile")
        return
    drafts = json.loads((DATA / "drafts" / "index.json").read_bytes())
    chosen = [d for d in drafts if d["main"].endswith(".tex") and (not options.names or d["name"] in options.names)]
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        for unseen in (False, True):
            if (options.seen and unseen) or (options.unseen and not unseen):
                continue
            part = [d for d in chosen if d["name"].startswith(UNSEEN) is unseen]
            _table("only measured" if unseen else "looked at", part, folder, options.show)


def _table(title: str, drafts: Sequence[dict[str, str]], folder: Path, show: int) -> None:
    print(f"\n{title:24} pages sentences  words  whole entries   refs  cites  links  right  lost")
    total, count = Score(), 0
    for draft in drafts:
        pdf = typeset(DATA / "drafts" / draft["name"], draft["main"], folder)
        if pdf is None:
            continue
        score = measure(DATA / "drafts" / draft["name"] / draft["main"], pdf)
        if score.unprinted > score.sentences:
            continue  # TeX gave up halfway
        _line(draft["name"], score)
        for note in score.notes[:show]:
            print(f"    {note}")
        total += score
        count += 1
    _line(f"all {count}", total)


def _line(name: str, score: Score) -> None:
    shares = [
        f"{100 * part / whole:6.1f}" if whole else "     –"
        for part, whole in (
            (score.words, score.sentences),
            (score.whole, score.sentences),
            (score.refs, score.entries),
            (score.links, score.citations),
            (score.links, score.linked),
        )
    ]
    print(
        f"{name:24} {score.pages:5} {score.sentences:9} {shares[0]} {shares[1]} {score.entries:7} {shares[2]} "
        f"{score.citations:6} {shares[3]} {shares[4]}  {score.lost}",
        flush=True,
    )


if __name__ == "__main__":
    main()
