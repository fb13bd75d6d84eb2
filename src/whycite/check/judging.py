"""How likely each sentence of a draft needs a citation (SCOPE 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.check.memory import Memory, key_of
from whycite.documents.model import Document
from whycite.encoders import Encoder
from whycite.evidence.words import content_words
from whycite.worthiness.bibliography import signs, titles
from whycite.worthiness.detector import Detector, Paragraph
from whycite.worthiness.reading import paragraphs
from whycite.worthiness.rules import adjusted, english

__all__ = ["Judgement", "judge"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A probability a sentence, by a detector that may have read the draft's bibliography."""

    worthiness: NDArray[np.float64]
    detector: Detector

    def threshold(self, section_type: str | None) -> float:
        """From which probability on a sentence in a section of this type needs a citation."""
        if self.detector.bibliography is not None:
            return self.detector.bibliography.threshold
        return self.detector.thresholds.get(section_type or "", self.detector.thresholds[""])


def judge(
    document: Document,
    detector: Detector,
    encoder: Encoder,
    memory: Memory | None = None,
    ask_again: bool = False,
) -> Judgement:
    """A probability a sentence; 0 for what is not asked about: captions, tables, sections where nobody cites.

    Citations are taken out before, so that a sentence is judged alike with and without them. What says the same as an
    entry of the draft's bibliography is more likely. What tells of the authors' own work is less likely, and so is,
    unless it is to `ask_again`, what names a method cited earlier in the draft.
    """
    asked = paragraphs(document)
    keys = [_key(paragraph, detector) for paragraph, _ in asked]
    known = memory.get(keys) if memory else {}
    missing = {key: paragraph for key, (paragraph, _) in zip(keys, asked, strict=True) if key not in known}
    made = dict(zip(missing, detector.worthiness(list(missing.values())), strict=True)) if missing else {}
    values = {key: found.tolist() for key, found in made.items()}
    if memory:
        memory.put(values)
    texts, worthiness = [""] * len(document.sentences), np.zeros(len(document.sentences))
    for key, (paragraph, places) in zip(keys, asked, strict=True):
        found = values[key] if key in values else known[key]
        for at, text, value in zip(places, paragraph.sentences, found, strict=True):
            texts[at], worthiness[at] = text, value if content_words(text) else 0.0
    informed = _informed(document, texts, worthiness, detector, encoder)
    found = adjusted(document, informed, ask_again)
    return Judgement(found, detector)


def _informed(
    document: Document, texts: Sequence[str], worthiness: NDArray[np.float64], detector: Detector, encoder: Encoder
) -> NDArray[np.float64]:
    """How worthy sentences are in the light of the draft's own bibliography, where that tells something."""
    listed, asked = titles(document.references), [at for at, text in enumerate(texts) if text]
    if detector.bibliography is None or not listed or not english([texts[at] for at in asked]):
        return worthiness
    found = signs(worthiness[asked], [texts[at] for at in asked], listed, encoder)
    informed = worthiness.copy()
    informed[asked] = detector.bibliography.informed(worthiness[asked], found)
    return informed


def _key(paragraph: Paragraph, detector: Detector) -> bytes:
    return key_of("worthiness", detector.name, paragraph.headings, paragraph.section_type, paragraph.sentences)
