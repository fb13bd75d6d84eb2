"""How likely each sentence of a draft needs a citation (SCOPE 3.2), and rules that lower it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.check.calibration import bibliography_titles, title_signs
from whycite.check.detector import Detector, ParagraphText
from whycite.check.memory import Memory, memory_key
from whycite.check.paragraphs import UNLABELLED_TYPES, bare_text, prose_paragraphs
from whycite.documents.model import Document
from whycite.evidence.words import has_content_words
from whycite.models import Encoder
from whycite.text.language import is_english_draft

__all__ = ["MIN_REPORTED", "Judgement", "adjust_worthiness", "is_own_contribution", "judge", "method_names"]


# The lowest worthiness that is reported, in a finished draft and in one that hardly cites yet. Of what is reported so,
# a reader found 47 % plainly right and 16 % wrong in the former, 83 % and 4 % in the latter (`benchmarks/judged.py`).
MIN_REPORTED = 0.6
_MIN_REPORTED_EARLY = 0.4
_HARDLY = 0.25  # of the citations that are to be expected; with fewer, most are still to come
_PARAGRAPHS_AT_ONCE = 64  # a second or two of work, and enough sentences of equal length to fill batches


@dataclass(frozen=True, slots=True)
class Judgement:
    """The worthiness of each sentence, the detector that gave it, and whether most citations are still to come."""

    worthiness: NDArray[np.float64]
    detector: Detector
    hardly_cites: bool = False

    def threshold(self, section_type: str | None) -> float:
        """The worthiness from which a sentence in a section of this type needs a citation."""
        if self.detector.bibliography is not None:
            return self.detector.bibliography.threshold
        return self.detector.thresholds.get(section_type or "", self.detector.thresholds[""])

    def reporting_threshold(self, section_type: str | None) -> float:
        """The worthiness from which a check reports a sentence of such a section unless the user says otherwise.

        A detector's own threshold weighs a missed sentence like a false alarm. Readers of a report mind false alarms
        more. In a draft that hardly cites yet there are few; in a finished one most of what is likely already cites.
        """
        return max(self.threshold(section_type), _MIN_REPORTED_EARLY if self.hardly_cites else MIN_REPORTED)


def judge(
    document: Document,
    detector: Detector,
    encoder: Encoder,
    memory: Memory | None = None,
    ask_again: bool = False,
    extra_types: Collection[str] = (),
    progress: Callable[[str, int, int | None], None] = lambda stage, count, total: None,
) -> Judgement:
    """The worthiness of each sentence; 0 for captions, tables and sections without citations.

    Citations are removed first, so that a sentence is judged alike with and without them. A sentence close to an entry
    of the draft's bibliography is more worthy, one about the authors' own work less. So is one that names a method
    cited earlier in the draft, unless `ask_again` is set. What is judged is cached as it comes, so that a check that
    is stopped continues there. Sections of `extra_types` are judged even if they are left out by default. `progress` is
    called with the stage, a count, and the total if known.
    """
    prose = prose_paragraphs(document, extra_types)
    keys = [_paragraph_key(paragraph, detector) for paragraph, _ in prose]
    memory_values = memory.get(keys) if memory else {}
    missing = {key: paragraph for key, (paragraph, _) in zip(keys, prose, strict=True) if key not in memory_values}
    new_values = _judge_paragraphs(missing, detector, memory, progress)
    texts, worthiness = [""] * len(document.sentences), np.zeros(len(document.sentences))
    for key, (paragraph, places) in zip(keys, prose, strict=True):
        probabilities = new_values[key] if key in new_values else memory_values[key]
        for index, text, value in zip(places, paragraph.sentences, probabilities, strict=True):
            texts[index], worthiness[index] = text, value if has_content_words(text) else 0.0
    informed = _informed_worthiness(
        document,
        texts,
        worthiness,
        detector,
        encoder,
        lambda count, total: progress("comparing with the bibliography", count, total),
    )
    probabilities = adjust_worthiness(document, informed, ask_again, extra_types)
    citing = sum(sentence.cites for sentence in document.sentences)
    return Judgement(probabilities, detector, citing < _HARDLY * float(probabilities.sum()))


def _judge_paragraphs(
    paragraphs: Mapping[bytes, ParagraphText],
    detector: Detector,
    memory: Memory | None,
    progress: Callable[[str, int, int | None], None],
) -> dict[bytes, list[float]]:
    """The probabilities of the sentences of each paragraph, by its key."""
    values: dict[bytes, list[float]] = {}
    keys, judged = list(paragraphs), 0
    total = sum(len(paragraph.sentences) for paragraph in paragraphs.values())
    for start in range(0, len(keys), _PARAGRAPHS_AT_ONCE):
        progress("judging sentences", judged, total)
        part = {key: paragraphs[key] for key in keys[start : start + _PARAGRAPHS_AT_ONCE]}
        arrays = detector.worthiness(list(part.values()))
        new_values = {key: array.tolist() for key, array in zip(part, arrays, strict=True)}
        if memory:
            memory.put(new_values)
        values |= new_values
        judged += sum(map(len, arrays))
    return values


def _informed_worthiness(
    document: Document,
    texts: Sequence[str],
    worthiness: NDArray[np.float64],
    detector: Detector,
    encoder: Encoder,
    progress: Callable[[int, int], None],
) -> NDArray[np.float64]:
    """The worthiness of sentences given the draft's bibliography, if that says anything."""
    entry_titles, indices = (
        bibliography_titles(document.references),
        [index for index, text in enumerate(texts) if text],
    )
    if detector.bibliography is None or not entry_titles or not is_english_draft([texts[index] for index in indices]):
        return worthiness
    features = title_signs(worthiness[indices], [texts[index] for index in indices], entry_titles, encoder, progress)
    informed = worthiness.copy()
    informed[indices] = detector.bibliography.informed_worthiness(worthiness[indices], features)
    return informed


def _paragraph_key(paragraph: ParagraphText, detector: Detector) -> bytes:
    return memory_key("worthiness", detector.name, paragraph.headings, paragraph.section_type, paragraph.sentences)


_PART = r"(?:section|chapter|paper|work|article|thesis|part|appendix|document|book|manuscript|report)"
_HERE = re.compile(
    rf"\b(?:this|the (?:next|following|previous|present|remaining)) {_PART}s?\b|\bthe rest of (?:this|the) {_PART}\b",
    re.IGNORECASE,
)
_OWN_WORK = re.compile(
    rf"\b(?:we|I|this {_PART})\b(?: \w+ly| then| also| now| first| next| here| will| shall)*"
    r" (?:propose|present|introduce|describe|discuss|contribute|organi[sz]e|outline|conclude|report|begin|turn)s?\b",
    re.IGNORECASE,
)
# "AdaBoost", "BERT", "ResNet-50": names with capitals where ordinary words have none.
_NAME = re.compile(r"\b(?:[A-Z][a-z]+[A-Z][\w-]*|[A-Z]{2,}[\w-]*|[a-z]+[A-Z][\w-]*)")
# What each rule leaves of the odds. On 58 drafts the two rules change F1 by +.001 and -.004, precision by up to +.020
# (models/worthiness-30m/README.md).
_ODDS_FACTOR = 0.5


def adjust_worthiness(
    document: Document,
    probabilities: Sequence[float] | NDArray[np.float64],
    ask_again: bool = True,
    extra_types: Collection[str] = (),
) -> NDArray[np.float64]:
    """Lower the worthiness of sentences by rules.

    Captions, tables, headings and acknowledgements need no citation; sentences on the authors' own work rarely do, and
    without `ask_again` those on a method that an earlier sentence names with a citation (SCOPE 6.4.2).
    """
    worthiness = np.array(probabilities, np.float64)
    if len(worthiness) != len(document.sentences):
        raise ValueError(f"{len(document.sentences)} sentences, but {len(worthiness)} probabilities")
    cited: set[str] = set()
    for index, sentence in enumerate(document.sentences):
        type = document.sections[sentence.section].type if sentence.section < len(document.sections) else None
        methods = method_names(sentence.text)
        if sentence.kind not in ("prose", "footnote") or (type in UNLABELLED_TYPES and type not in extra_types):
            worthiness[index] = 0.0
        else:
            cited_before = not ask_again and bool(methods) and methods <= cited
            reasons = is_own_contribution(bare_text(sentence, document)) + cited_before
            worthiness[index] = _lower_odds(worthiness[index], reasons)
        if sentence.cites:
            cited |= methods
    return worthiness


def is_own_contribution(text: str) -> bool:
    """Whether a sentence is about its authors' own work: "we propose", "in the next section"."""
    return bool(_OWN_WORK.search(text) or _HERE.search(text))


def method_names(text: str) -> set[str]:
    """The names of methods in a sentence, by their capitals: "BERT", "AdaBoost"."""
    return set(_NAME.findall(text))


def _lower_odds(probability: float, times: int) -> float:
    odds = probability * _ODDS_FACTOR**times
    return odds / (odds + 1 - probability)
