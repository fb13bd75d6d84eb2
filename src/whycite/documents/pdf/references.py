"""The entries of a printed reference list, told apart by their layout and their labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from whycite.documents.markers import split_references
from whycite.documents.pdf.hyphens import Vocabulary
from whycite.documents.pdf.lines import Line
from whycite.documents.pdf.paragraphs import Text

__all__ = ["entries_of", "unheaded_list"]

_LABEL = re.compile(
    r"(?:\[(?P<bracket>[^\[\]]{1,40})\]|\(?(?P<number>\d{1,4})[.)]|(?P<bare>\d{1,4})(?=\s+[^\W\d_a-z]))\s*"
)
_FIRST = re.compile(r"(\[|\(?)1([\].)])\s")
_FEWEST = 5  # entries; fewer may be any list
_EARLIEST = 0.4  # of the document: no reference list begins before
_YEAR = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")


def unheaded_list(lines: Sequence[Line]) -> Line | None:
    """The first line of a numbered reference list that stands at the end of a document without a heading."""
    body = [line for line in lines if line.role == "body"]
    for i in range(len(body) - 1, int(_EARLIEST * len(body)), -1):
        first = _FIRST.match(body[i].text)
        if first:
            labels = [f"{first[1]}{n}{first[2]}" for n in range(2, _FEWEST + 1)]
            rest = iter(body[i + 1 :])
            counted = all(any(line.text.startswith(label) for line in rest) for label in labels)
            entries = sum(line.text.startswith(first[1] or tuple("123456789")) for line in body[i:])
            dated = sum(bool(_YEAR.search(line.text)) for line in body[i:])
            if counted and 2 * dated > entries:
                return body[i]
    return None


def entries_of(lines: Sequence[Line], vocabulary: Vocabulary) -> list[tuple[str, str]]:
    """Id and text of every entry; entries without a printed label are called "ref1", "ref2", …"""
    if not lines:
        return []
    printed = "\n".join(line.text for line in lines)
    labelled = [entry for entry in split_references(printed) if not entry[0].startswith("ref")]
    if 2 * sum(bool(_YEAR.search(entry[1])) for entry in labelled) > len(labelled) > 2:
        starts = {printed.count("\n", 0, entry[2]) for entry in labelled}
        groups = _grouped(lines, starts)
    else:
        groups = _hanging(lines) or _grouped(lines, {printed.count("\n", 0, e[2]) for e in split_references(printed)})
    entries = []
    for group in groups:
        text = Text(vocabulary)
        for line in group:
            text.add(line)
        entries.append(text.text)
    return _with_ids(entries)


def _grouped(lines: Sequence[Line], starts: set[int]) -> list[list[Line]]:
    groups: list[list[Line]] = []
    for i, line in enumerate(lines):
        if i in starts or not groups:
            groups.append([])
        groups[-1].append(line)
    return groups


def _hanging(lines: Sequence[Line]) -> list[list[Line]]:
    """Entries by hanging indent, or by the white space between them; nothing where neither tells."""
    size = Counter(line.size for line in lines).most_common(1)[0][0]
    insets = _insets(lines, size)
    flush = [inset < 0.4 * size for inset in insets]
    hung = sum(0.5 * size < inset < 5 * size for inset in insets)
    if 0.15 * len(lines) < sum(flush) < 0.85 * len(lines) and hung > 0.6 * (len(lines) - sum(flush)):
        starts = {i for i, is_flush in enumerate(flush) if is_flush}
        if _plausible(lines, starts):
            return _grouped(lines, starts)
    steps = [a.y - b.y if a.columns == b.columns and a.page == b.page else 0.0 for a, b in pairwise(lines)]
    pitch = min((step for step in steps if step > 0.8 * size), default=0.0)
    wide = {i + 1 for i, step in enumerate(steps) if pitch and step > 1.2 * pitch}
    if wide:
        wide |= {0} | {i + 1 for i, step in enumerate(steps) if step <= 0 and _ends(lines[i].text)}
        if _plausible(lines, wide):
            return _grouped(lines, wide)
    return []


def _insets(lines: Sequence[Line], size: float) -> list[float]:
    """How far each line is indented in its column; one that only goes on with an entry is indented throughout."""
    columns: dict[tuple[int, tuple[int, int]], list[float]] = {}
    for line in lines:
        columns.setdefault((line.page, line.columns), []).append(line.x0)
    edges = {key: min(starts) for key, starts in columns.items()}
    for (page, column), starts in columns.items():
        even = max(starts) - min(starts) < 0.4 * size
        others = [edge for (p, c), edge in edges.items() if c == column and p != page]
        if even and others and 0.5 * size < min(starts) - min(others) < 4 * size:
            edges[page, column] = min(others)
    return [line.x0 - edges[line.page, line.columns] for line in lines]


def _plausible(lines: Sequence[Line], starts: set[int]) -> bool:
    """Whether most of the groups hold a year and few hold many lines."""
    groups = _grouped(lines, starts)
    dated = sum(any(_YEAR.search(line.text) for line in group) for group in groups)
    return len(groups) >= 3 and dated > 0.75 * len(groups) and len(lines) / len(groups) < 8


def _ends(text: str) -> bool:
    return text.rstrip().endswith((".", ")", "]")) or bool(re.search(r"\d$", text))


def _with_ids(entries: Sequence[str]) -> list[tuple[str, str]]:
    """Entries with the labels they are printed with, where most have one; ids are told apart."""
    labels = [_LABEL.match(entry) for entry in entries]
    use = 2 * sum(label is not None for label in labels) > len(entries)
    seen: Counter[str] = Counter()
    result = []
    for count, (entry, label) in enumerate(zip(entries, labels, strict=True), 1):
        id = f"ref{count}"
        if use and label:
            id = label["bracket"] or label["number"] or label["bare"]
            entry = entry[label.end() :]
        seen[id] += 1
        if entry.strip():
            result.append((id if seen[id] == 1 else f"{id}-{seen[id]}", entry.strip()))
    return result
