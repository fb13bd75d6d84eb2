"""Of real drafts, how many cite commands and how much of the prose are read?

Run: python benchmarks/drafts.py [DATA], where DATA is the folder of real data (default: $WHYCITE_DATA or ../shared/data
beside the project). Cite commands are compared with the counts of the data's index, which a regular expression made
over all files. Prose is words of three letters: those of the sentences read, against those of all .tex, .md, .qmd and
.Rmd files of the folder once comments, preambles, floats, formulas, code and commands are stripped by regular
expressions, which is rough. A draft of which less than half is read must say so in a warning.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from whycite.documents import Document, read
from whycite.documents.sources import decode

DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data"
TOLERANCE = 0.02  # of the cite commands
HALF = 0.5
PAGES = {".tex", ".md", ".qmd", ".rmd"}
SIGNS = ("not part of this draft", "not count", "skipped")  # in warnings about text that was not read

_WORD = re.compile(r"[^\W\d_]{3,}")
_LATEX = [
    re.compile(r"(?<!\\)%[^\n]*"),
    re.compile(r"\A.*?\\begin\{document\}|\\end\{document\}.*\Z", re.DOTALL),
    re.compile(
        r"\\begin\{(equation|align|gather|multline|eqnarray|figure|table|tikzpicture|verbatim|lstlisting|tabular|"
        r"thebibliography|comment|displaymath|mathpar)(\*?)\}.*?\\end\{\1\2\}",
        re.DOTALL,
    ),
    re.compile(r"\$\$.*?\$\$|\$[^$]{0,500}\$|\\\[.*?\\\]|\\\(.*?\\\)", re.DOTALL),
    re.compile(
        r"\\(?:begin|end|\w*cite\w*|\w*ref|label|input|include\w*|url|bibliography\w*)\*?(?:\[[^\]]*\])*\{[^{}]*\}"
    ),
    re.compile(r"\\(?:(?:re)?newcommand|def|newtheorem|usepackage|newenvironment)[^\n]*"),
    re.compile(r"\\[A-Za-z@]+"),
]
_MARKDOWN = [
    re.compile(r"\A---\n.*?\n---\n", re.DOTALL),
    re.compile(r"```.*?```|<!--.*?-->|\$\$.*?\$\$|\$[^$\n]*\$|`[^`\n]*`", re.DOTALL),
    re.compile(r"^#+ .*$", re.MULTILINE),
    re.compile(r"\]\([^()]*\)|\[?@[^\s\],;]+|\\\w+(?:\{[^{}]*\})?"),
]


def main() -> None:
    data = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("WHYCITE_DATA", DEFAULT)) / "drafts"
    if not data.is_dir():
        sys.exit(f"no drafts at {data}: name the folder of the data or set WHYCITE_DATA")
    index = json.loads((data / "index.json").read_text())
    table = Table("draft", title=f"{len(index)} drafts; shown are those that differ or warn", title_justify="left")
    for column in ("cite commands", "read", "off", "notes' sentences", "prose read", "warns of missing text"):
        table.add_column(column, justify="right")
    off, silent = [], []
    shares: dict[str, float] = {}
    for entry in index:
        document = read(data / entry["name"])
        count, expected = sum(len(sentence.citations) for sentence in document.sentences), entry["cite_commands"]
        share = _words_read(document) / max(1, _words_in(data / entry["name"]))
        shares[entry["name"]] = share
        warns = any(sign in warning for warning in document.warnings for sign in SIGNS)
        noted = sum(bool(sentence.note_citations) for sentence in document.sentences)
        difference = abs(count - expected) / max(1, expected)
        if document.format == "latex" and difference > TOLERANCE:
            off.append(entry["name"])
        if share < HALF and not warns:
            silent.append(entry["name"])
        if count != expected or warns or share < HALF:
            shown = (str(expected), str(count), f"{difference:.1%}", str(noted), f"{share:.0%}", "yes" if warns else "")
            table.add_row(entry["name"], *shown)
    console = Console(width=120)
    console.print(table)
    console.print(f"LaTeX projects off by more than {TOLERANCE:.0%}: {', '.join(off) or 'none'}")
    least = sorted(shares, key=lambda name: shares[name])[:5]
    console.print(f"least prose read: {', '.join(f'{name} {shares[name]:.0%}' for name in least)}")
    console.print(f"read as less than half without a warning: {', '.join(silent) or 'none'}")


def _words_read(document: Document) -> int:
    return sum(
        len(_WORD.findall(sentence.with_citations(" ").replace("EQUATION", "").replace("REF", "")))
        for sentence in document.sentences
    )


def _words_in(folder: Path) -> int:
    return sum(_words_of(path) for path in sorted(folder.rglob("*")) if path.suffix.lower() in PAGES)


def _words_of(path: Path) -> int:
    text = decode(path.read_bytes())[0]
    is_document = "\\begin{document}" in text
    for number, pattern in enumerate(_LATEX if path.suffix == ".tex" else _MARKDOWN):
        if path.suffix == ".tex" and number == 1 and not is_document:
            continue
        text = pattern.sub(" ", text)
    return len(_WORD.findall(text))


if __name__ == "__main__":
    main()
