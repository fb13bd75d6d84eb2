"""Datasets of claims and the sentences that back them: CL-SciSumm, Citation-Integrity, SciFact.

Citation-Integrity has no gold sentences: it names the first of the five that were retrieved for every claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from whycite.documents.jsontext import as_dict, as_list, as_text
from whycite.documents.markers import find_markers
from whycite.documents.model import Citation, Sentence
from whycite.errors import UserError
from whycite.lab.jsonlines import find_file, read_objects, read_rows

__all__ = [
    "CITINT_LABELS",
    "CITINT_PARTS",
    "SCIFACT_LABELS",
    "Label",
    "PassageCase",
    "citint_cases",
    "claim_of",
    "load_citint",
    "load_clscisumm",
    "load_clscisumm_automatic",
    "load_scifact",
    "numbers",
    "rationales",
    "says_something",
    "scifact_cases",
    "scisumm_cases",
    "texts",
]


Label = Literal["backed", "contradicted", "not found"]


@dataclass(frozen=True, slots=True)
class PassageCase:
    """A claim and a document with the indices of gold sentences; empty if none exist or none were marked."""

    id: str
    dataset: str
    claim: str  # without citation markers
    citing: str  # source of the claim; never shared by two parts of a split
    document: str
    sentences: tuple[str, ...]
    gold: frozenset[int] = frozenset()
    label: Label | None = None  # None if not in the dataset
    sections: tuple[str, ...] = ()  # a heading per sentence, if known
    rationales: tuple[frozenset[int], ...] = ()  # sets of gold sentences, each sufficient by itself, if known

    def __post_init__(self) -> None:
        if not self.gold <= set(range(len(self.sentences))):
            raise ValueError(f"{self.id}: gold {sorted(self.gold)} is outside the {len(self.sentences)} sentences")
        if not frozenset[int]().union(*self.rationales) <= self.gold:
            raise ValueError(f"{self.id}: a rationale has sentences that are not gold")
        if self.sections and len(self.sections) != len(self.sentences):
            raise ValueError(f"{self.id}: {len(self.sections)} headings for {len(self.sentences)} sentences")


# Names before a year in brackets, coauthors, numbers in brackets, masks, and the empty brackets that are left.
# Repetitions are bounded, so matching takes linear time.
_NAME = r"[A-Z][\w’'-]{1,40}"
_NARRATIVE = re.compile(
    rf"\b{_NAME}(?:(?:, {_NAME}){{0,3}},? (?:and|&) {_NAME})?(?:[’']s)? ?[(\[](?:1[89]|20)\d\d[a-z]?[)\]]"
)
_COAUTHORS = re.compile(rf"\b{_NAME}(?:,? (?:and|&) {_NAME})?,? et al\b\.?")
_NUMBERS = re.compile(r"[(\[]\d{1,3}(?:\s?[-–,;]\s?\d{1,3}){0,20}\]")
_MASK = r"<\|(?:cit|multi_cit|other_cit)\|>"
_NAMED_MASK = re.compile(rf"(?<=[(;]) ?{_NAME}(?: (?:and|&) {_NAME})?,? {_MASK}")
_MASKED = re.compile(rf"(?:(?<!\d)(?:\d{{1,3}}\s?[-–,;]\s?){{1,20}})?{_MASK}(?:\s?[-–,;]\s?\d{{1,3}}(?![\w%])){{0,20}}")
_HUSK = re.compile(r"[(\[][\s,;:&.–-]*[)\]]")
_BEFORE_STOP = re.compile(r"\s+([.,;:!?)\]])")


def claim_of(citing: str) -> str:
    """A citing sentence without its citation markers: "(Doe and Roe, 2004)", "Doe et al. (2004)", "[12]", "<|cit|>"."""
    text = _without_markers(_MASKED.sub(" ", _NAMED_MASK.sub(" ", citing)))
    for pattern in (_NARRATIVE, _COAUTHORS, _NUMBERS, _HUSK):
        text = pattern.sub(" ", text)
    return _BEFORE_STOP.sub(r"\1", " ".join(text.split())).lstrip(" .,;:")


def says_something(claim: str) -> bool:
    """Whether a claim still has any words."""
    return any(map(str.isalpha, claim))


def _without_markers(text: str) -> str:
    markers = (Citation((), marker.start, marker.end, marker.start, marker.end) for marker in find_markers(text, ()))
    return Sentence(text, 0, 0, "", 0, len(text), tuple(markers)).without_citations()


def texts(value: object) -> tuple[str, ...]:
    """The items of a list as strings."""
    return tuple(map(as_text, as_list(value)))


def numbers(value: object) -> frozenset[int]:
    """The integers in a list."""
    return frozenset(number for number in as_list(value) if isinstance(number, int))


def rationales(row: dict[str, Any]) -> dict[str, tuple[tuple[frozenset[int], ...], str]]:
    """The rationales (sets of sentences) and label for each document, in a row in SciFact's format."""
    evidence: dict[str, tuple[tuple[frozenset[int], ...], str]] = {}
    for document, entries in as_dict(row.get("evidence")).items():
        marked = [as_dict(rationale) for rationale in as_list(entries)]
        sets = tuple(filter(None, (numbers(rationale.get("sentences")) for rationale in marked)))
        evidence[document] = sets, next((as_text(rationale.get("label")) for rationale in marked), "")
    return evidence


_AGREEING = 0.5  # minimum overlap of the copied text and the sentences with the given ids; below it, ids are unreliable


@dataclass(frozen=True, slots=True)
class _ScisummDocument:
    sentences: tuple[str, ...]
    sections: tuple[str, ...]
    places: dict[int, int]  # index by sentence number in the dataset


def load_clscisumm(folder: Path) -> list[PassageCase]:
    """The manually annotated cases, without rows whose ids and copied text disagree."""
    return scisumm_cases(find_file(folder, "train.jsonl"), find_file(folder, "train-documents.jsonl"), "clscisumm")


def load_clscisumm_automatic(folder: Path) -> list[PassageCase]:
    """The cases with automatic gold, two sentences each by word similarity: noisy, for training."""
    rows, documents = find_file(folder, "auto-scisummnet.jsonl"), find_file(folder, "auto-documents.jsonl")
    return scisumm_cases(rows, documents, "clscisumm-automatic")


def scisumm_cases(file: Path, documents: Path, dataset: str) -> list[PassageCase]:
    """The cases of a file in CL-SciSumm's form, without rows whose ids and copied text disagree."""
    documents_by_id = {as_text(row.get("paper_id")): _scisumm_document(row) for _, row in read_objects(documents)}
    cases = []
    for place, row in read_objects(file):
        agreement = row.get("offset_text_jaccard", 1.0)
        claim = claim_of(as_text(row.get("citance")))
        if not isinstance(agreement, int | float) or agreement < _AGREEING or not says_something(claim):
            continue
        id, cited = as_text(row.get("citance_id")), as_text(row.get("topic"))
        document = documents_by_id.get(cited)
        marked = numbers(row.get("gold_sids"))
        if document is None or not marked <= document.places.keys():
            raise UserError(f"{place}: the gold of '{id}' is not in {documents.name}")
        if marked:
            cases.append(
                PassageCase(
                    id=id,
                    dataset=dataset,
                    claim=claim,
                    citing=as_text(row.get("citing_paper")),
                    document=cited,
                    sentences=document.sentences,
                    gold=frozenset(document.places[number] for number in marked),
                    sections=document.sections,
                )
            )
    return cases


def _scisumm_document(row: dict[str, Any]) -> _ScisummDocument:
    sentences = [as_dict(sentence) for sentence in as_list(row.get("sentences"))]
    return _ScisummDocument(
        tuple(as_text(sentence.get("text")) for sentence in sentences),
        tuple(as_text(sentence.get("section")) for sentence in sentences),
        {number: index for index, sentence in enumerate(sentences) if isinstance(number := sentence.get("sid"), int)},
    )


CITINT_PARTS = ("train", "dev")
CITINT_LABELS: Mapping[str, Label] = MappingProxyType({"SUPPORT": "backed", "REFUTE": "contradicted"})
_CLAIMS_PER_ARTICLE = 1000  # document numbers combine article and claim: 66003 is the fourth claim about article 66


def load_citint(folder: Path, part: str) -> list[PassageCase]:
    """The cases of a published part: labels, no gold, and up to five sentences of the cited article."""
    if part not in CITINT_PARTS:
        raise UserError(f"unknown part '{part}' of Citation-Integrity; choose one of: {', '.join(CITINT_PARTS)}")
    return citint_cases(find_file(folder, f"claims_{part}.jsonl"), part)


def citint_cases(file: Path, part: str, dataset: str = "citint") -> list[PassageCase]:
    """The cases of a file in Citation-Integrity's form; corpus.jsonl must be in the same folder."""
    retrieved = _abstracts(file)
    cases = []
    for place, row in read_objects(file):
        id, evidence = as_text(row.get("id")), rationales(row)
        claim = claim_of(as_text(row.get("claim")))
        for document in texts(row.get("cited_doc_ids")):
            label = evidence[document][1] if document in evidence else ""
            if not document.isdecimal() or document not in retrieved or (label and label not in CITINT_LABELS):
                raise UserError(
                    f"{place}: the evidence of claim '{id}' in document '{document}' is malformed; "
                    f"{_expected_evidence('numbered document', CITINT_LABELS)}"
                )
            if says_something(claim):
                cases.append(
                    PassageCase(
                        id=f"{part}:{id}",
                        dataset=dataset,
                        claim=claim,
                        citing=f"{part} claim {id}",
                        document=str(int(document) // _CLAIMS_PER_ARTICLE),
                        sentences=retrieved[document],
                        label=CITINT_LABELS[label] if label else "not found",
                    )
                )
    return cases


SCIFACT_LABELS: Mapping[str, Label] = MappingProxyType({"SUPPORT": "backed", "CONTRADICT": "contradicted"})


def load_scifact(folder: Path) -> list[PassageCase]:
    """A case for each claim and abstract it cites; without gold if the abstract has no evidence."""
    return scifact_cases(find_file(folder, "claims_train.jsonl"))


def scifact_cases(file: Path, dataset: str = "scifact") -> list[PassageCase]:
    """The cases of a file in SciFact's form; corpus.jsonl must be in the same folder."""
    abstracts = _abstracts(file)
    cases = []
    for place, row in read_objects(file):
        id, evidence = as_text(row.get("id")), rationales(row)
        for document in dict.fromkeys([*evidence, *texts(row.get("cited_doc_ids"))]):
            sets, label = evidence.get(document, ((), ""))
            gold = frozenset[int]().union(*sets)
            sentences = abstracts.get(document)
            if sentences is None or not gold <= set(range(len(sentences))) or (gold and label not in SCIFACT_LABELS):
                raise UserError(
                    f"{place}: the evidence of claim '{id}' in abstract '{document}' is malformed; "
                    f"{_expected_evidence('document', SCIFACT_LABELS)}"
                )
            cases.append(
                PassageCase(
                    id=f"{id}:{document}",
                    dataset=dataset,
                    claim=as_text(row.get("claim")),
                    citing=f"claim {id}",
                    document=document,
                    sentences=sentences,
                    gold=gold,
                    label=SCIFACT_LABELS[label] if gold else "not found",
                    rationales=sets,
                )
            )
    return cases


def _abstracts(file: Path) -> dict[str, tuple[str, ...]]:
    """The sentences of each document in the corpus next to a file of claims."""
    return {as_text(row.get("doc_id")): texts(row.get("abstract")) for row in read_rows(file.parent, "corpus.jsonl")}


def _expected_evidence(document: str, labels: Iterable[str]) -> str:
    return f"expected a {document} of corpus.jsonl, the indices of its sentences, and the label {' or '.join(labels)}"
