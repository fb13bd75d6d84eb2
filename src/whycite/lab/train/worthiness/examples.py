"""Labelled documents in one packed file, and noise that makes sentences look like those of drafts."""

from __future__ import annotations

import bz2
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from whycite.check.paragraphs import LabelledDocument, LabelledParagraph, LabelledSentence
from whycite.errors import UserError

__all__ = ["NOISES", "SUFFIX", "add_noise", "load_labelled", "save_labelled"]


_FORM = "whycite-worthiness-4"
_WORTHY, _CONFORM, _HAD_HOLE = 1, 2, 4
SUFFIX = ".jsonl.bz2"
"""The suffix of packed files."""


def save_labelled(documents: Iterable[LabelledDocument], path: Path) -> int:
    """Write documents into one file; return how many there were."""
    written = 0
    with bz2.open(path, "wb") as file:
        file.write(_line(_FORM))
        for document in documents:
            file.write(_line(_record(document)))
            written += 1
    return written


def load_labelled(path: Path) -> Iterator[LabelledDocument]:
    """Yield the documents of a packed file."""
    try:
        with bz2.open(path, "rt", encoding="utf-8") as file:
            records = map(json.loads, file)
            if next(records, None) != _FORM:
                raise UserError(f"{path} was written by another version; create it again with --pack")
            for record in records:
                yield _document(*record)
    except (OSError, EOFError, ValueError, TypeError) as error:
        raise UserError(
            f"{path} cannot be read as labelled paragraphs ({error}); create it again with --pack"
        ) from error


def _line(record: Any) -> bytes:
    return (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "replace")


def _record(document: LabelledDocument) -> list[Any]:
    """Keep texts together and signs together, which compresses best."""
    paragraphs = [
        [
            paragraph.headings,
            paragraph.section_type,
            "".join(
                str(sentence.worthy * _WORTHY + sentence.conform * _CONFORM + sentence.had_hole * _HAD_HOLE)
                for sentence in paragraph.sentences
            ),
            [sentence.text for sentence in paragraph.sentences],
            {
                index: sentence.text_with_names
                for index, sentence in enumerate(paragraph.sentences)
                if sentence.text_with_names
            },
            {
                index: sentence.group_offsets
                for index, sentence in enumerate(paragraph.sentences)
                if sentence.group_offsets
            },
        ]
        for paragraph in document.paragraphs
    ]
    return [document.key, document.title, document.date, paragraphs, document.titles]


def _document(key: str, title: str, date: str, paragraphs: list[list[Any]], titles: list[str]) -> LabelledDocument:
    return LabelledDocument(key, title, date, tuple(_paragraph(*paragraph) for paragraph in paragraphs), tuple(titles))


def _paragraph(
    headings: list[str],
    type: str | None,
    signs: str,
    texts: list[str],
    texts_with_names: dict[str, str],
    places: dict[str, list[int]],
) -> LabelledParagraph:
    sentences = tuple(
        LabelledSentence(
            text,
            bool(int(sign) & _WORTHY),
            bool(int(sign) & _CONFORM),
            texts_with_names.get(str(index), ""),
            tuple(places.get(str(index), ())),
            bool(int(sign) & _HAD_HOLE),
        )
        for index, (sign, text) in enumerate(zip(signs, texts, strict=True))
    )
    return LabelledParagraph(tuple(headings), type, sentences)


_COMMANDS = (r"\emph{", r"\textit{", r"\textbf{", r"\texttt{", r"{\em ", r"{\it ")
_MACROS = (r"\ours", r"\method", r"\eg", r"\ie", r"\xspace", r"\noindent", r"\vspace{1em}", r"\label{sec:main}")
_NOTES = ("TODO", "XXX", "???", "[TODO]", "(cite)", "TBD", "FIXME")
_HUSKS = ("()", "( )", "[]", "[ ]", "(; )", "(,)", "")
_FIGURE = re.compile(r"\b(Fig(?:ure|\.)|Table|Section|Equation|Eq\.) ?(?:S?\d+[A-Z]?)")
_STOP = re.compile(r"[.!?]$")


def add_noise(text: str, random: Random) -> str:
    """Apply one kind of noise found in drafts; the same draw gives the same text."""
    noisy_text = random.choice(NOISES)(text, random)
    return noisy_text if noisy_text.strip() else text


def _latex(text: str, random: Random) -> str:
    """Add commands, ties and symbols that a reader failed to strip."""
    text = _FIGURE.sub(lambda match: f"{match[1]}~\\ref{{{'fig' if match[1][0] == 'F' else 'tab'}:a}}", text)
    words = text.replace("%", r"\%").replace("–", "--").replace("‘", "`").replace("’", "'").split(" ")
    for _ in range(1 + len(words) // 12):
        position = random.randrange(len(words))
        draw = random.random()
        if draw < 0.4:
            words[position] = f"{random.choice(_COMMANDS)}{words[position]}}}"
        elif draw < 0.6:
            words[position] = f"${words[position]}$"
        elif draw < 0.8:
            words[position] = (
                f"{words[position]}~{words.pop(position + 1)}" if position + 1 < len(words) else words[position]
            )
        else:
            words[position] = f"{random.choice(_MACROS)} {words[position]}"
    return " ".join(words)


def _unfinished(text: str, random: Random) -> str:
    """Cut off the end, as if not yet written."""
    words = text.split(" ")
    if len(words) < 6:
        return _STOP.sub("", text)
    cut = " ".join(words[: random.randrange(max(5, len(words) // 2), len(words))])
    return cut + random.choice(("", "", " ...", "…", f" {random.choice(_NOTES)}"))


def _unpolished(text: str, random: Random) -> str:
    """Drop the capital or the full stop, or add a note to oneself."""
    draw = random.random()
    if draw < 0.35:
        return _STOP.sub("", text)
    if draw < 0.7:
        return text[:1].lower() + text[1:]
    return f"{random.choice(_NOTES)} {text}" if draw < 0.85 else f"{text} {random.choice(_NOTES)}"


def _husk(text: str, random: Random) -> str:
    """Add the remains of a carelessly removed marker, even to sentences that never had one."""
    husk = random.choice(_HUSKS)
    if random.random() < 0.6:
        stop = text[-1:] if _STOP.search(text) else ""
        return f"{text.removesuffix(stop)} {husk}{stop}"
    words = text.split(" ")
    words.insert(random.randrange(len(words) + 1), husk)
    return " ".join(words)


NOISES: tuple[Callable[[str, Random], str], ...] = (_latex, _unfinished, _unpolished, _husk)
