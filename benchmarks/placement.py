"""Does `check --fix` put a citation where the authors put it? Run: python benchmarks/placement.py

Sentences of the real drafts that cite one paper once: the citation is taken out of the source, and the place where a
fix would put it is compared with the place where it was. `end` always chooses the end of the sentence. The rules were
written with every second project in view; the others are the test.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from whycite import read
from whycite.check.fix.citations import citation_places, citation_style, clause_end, name_ends
from whycite.documents.model import Document, Reference, Sentence
from whycite.documents.sources import decode
from whycite.errors import UserError
from whycite.library.records import Paper

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
FORMATS = ("latex", "markdown", "typst")


def source_texts(document: Document) -> dict[str, str]:
    """The text of each file of a draft."""
    return {file: decode(Path(file).read_bytes())[0] for file in {sentence.file for sentence in document.sentences}}


def masked(document: Document) -> Iterator[tuple[str, int, Sentence, Reference]]:
    """The text of each such sentence without its citation, where it was, the sentence and the cited reference."""
    texts = source_texts(document)
    for sentence in document.sentences:
        if sentence.kind != "prose" or len(sentence.citations) != 1 or sentence.note_citations:
            continue
        [citation] = sentence.citations
        reference = document.by_id.get(citation.keys[0]) if len(citation.keys) == 1 else None
        if reference is None or not sentence.start < citation.start < citation.end <= sentence.end:
            continue
        text = texts[sentence.file]
        head = text[sentence.start : citation.start].rstrip(" ~\t\n")
        yield head + text[citation.end : sentence.end], len(head), sentence, reference


def main() -> None:
    counts: Counter[str] = Counter()
    for number, facts in enumerate(json.loads((DATA / "drafts" / "index.json").read_text("utf-8"))):
        try:
            document = read(DATA / "drafts" / facts["name"])
        except UserError:
            continue
        if document.format not in FORMATS:
            continue
        style = citation_style(document, source_texts(document))
        gap_after_stop = None if isinstance(style, str) else style.gap_after_stop
        for text, place, sentence, reference in masked(document):
            kind = (
                f"{'test' if number % 2 else 'seen'}, {'textual' if sentence.citations[0].textual else 'parenthetical'}"
            )
            paper = Paper("", reference.title, reference.authors, reference.year, "", "")
            ends = [there.offset for there in citation_places(text, 0, len(text), document.format)]
            habitual = [there.offset for there in citation_places(text, 0, len(text), document.format, gap_after_stop)]
            names = list(name_ends(text, 0, len(text), paper))
            clause = clause_end(text, 0, len(text))
            counts[kind] += 1
            counts[f"{kind} end"] += place in ends[:1]
            counts[f"{kind} fix"] += place in [*names, *([clause] if clause else []), *habitual][:1]
            counts[f"{kind} names"] += bool(names)
            counts[f"{kind} names right"] += bool(names) and place == names[0]
            counts[f"{kind} clauses"] += bool(clause and not names)
            counts[f"{kind} clauses right"] += bool(clause and not names) and place == clause
    print("| citations | sentences | end | fix | after a name: right / all | before a clause: right / all |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in (f"{half}, {form}" for half in ("seen", "test") for form in ("parenthetical", "textual")):
        total = max(counts[kind], 1)
        print(
            f"| {kind} | {counts[kind]:,} | {counts[f'{kind} end'] / total:.3f} | {counts[f'{kind} fix'] / total:.3f} "
            f"| {counts[f'{kind} names right']} / {counts[f'{kind} names']} "
            f"| {counts[f'{kind} clauses right']} / {counts[f'{kind} clauses']} |"
        )


if __name__ == "__main__":
    main()
