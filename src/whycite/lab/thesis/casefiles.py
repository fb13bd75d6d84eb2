"""Read claims with their passages or labels from any file or folder; their form is recognised by its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from whycite.errors import UserError
from whycite.lab.annotate.pairs import is_judgement, judged_cases
from whycite.lab.jsonlines import find_file, read_objects, text_of
from whycite.lab.thesis.datasets import Label, PassageCase, citint_cases, scifact_cases, scisumm_cases
from whycite.text.sentences import split_sentences

__all__ = ["ENTAILMENT_LABELS", "load_cases", "load_datasets"]

ENTAILMENT_LABELS: Mapping[str, Label] = MappingProxyType(
    {
        "SUPPORT": "backed",
        "SUPPORTS": "backed",
        "CONTRADICT": "contradicted",
        "REFUTE": "contradicted",
        "REFUTES": "contradicted",
        "NEI": "not found",
        "NOT ENOUGH INFO": "not found",
    }
)
_SUFFIXES = (".jsonl", ".jsonl.zst", ".jsonl.gz", ".jsonl.bz2", ".jsonl.xz")
_EXPECTED = (
    'expected the keys "claim", "evidence" and "cited_doc_ids" (SciFact, Citation-Integrity), "citance", "topic" and '
    '"gold_sids" (CL-SciSumm), "claim", "evidence" and "label" (entailment), or a file made by `whycite annotate '
    "aggregate` or `split`"
)
_RECOGNITION_ROWS = 50  # by which Citation-Integrity is told from SciFact: the first ones may have no evidence

Row = Mapping[str, Any]
Load = Callable[[Path, str], list[PassageCase]]


def load_datasets(paths: Sequence[Path]) -> dict[str, list[PassageCase]]:
    """The cases of files and folders by name: a folder's own, or a file's with its folder's."""
    datasets: dict[str, list[PassageCase]] = {}
    seen_paths: set[Path] = set()
    for path in paths:
        if (resolved := path.resolve()) in seen_paths:
            continue
        seen_paths.add(resolved)
        name = resolved.name if resolved.is_dir() else f"{resolved.parent.name}/{_stem(resolved)}"
        if name in datasets:
            raise UserError(f"{path}: there is another dataset '{name}'; rename one of them")
        datasets[name] = load_cases(path)
    return datasets


def load_cases(path: Path) -> list[PassageCase]:
    """The cases of a file, or of all files of a folder in a form that is recognised; automatic gold only as a file."""
    if path.is_file():
        return _load_file(path, f"{path.resolve().parent.name}/{_stem(path)}")
    if not path.is_dir():
        raise UserError(f"{path}: no such file or folder")
    name = path.resolve().name
    files = [file for file in sorted(path.iterdir()) if file.is_file() and file.name.endswith(_SUFFIXES)]
    usable = [file for file in files if (loader := _loader(_first_rows(file))) and loader is not _load_automatic]
    if not usable:
        raise UserError(f"{path}: not a dataset of passages; {_EXPECTED}")
    cases = [case for file in usable for case in _load_file(file, name)]
    if len(usable) > 1:
        cases = _with_distinct_ids(cases)
    return cases


def _load_file(path: Path, dataset: str) -> list[PassageCase]:
    loader = _loader(_first_rows(path))
    if loader is None:
        raise UserError(f"{path}:1: not a claim with passages; {_EXPECTED}")
    return loader(path, dataset)


def _first_rows(path: Path) -> list[Row]:
    return [row for _, row in islice(read_objects(path), _RECOGNITION_ROWS)]


def _loader(rows: Sequence[Row]) -> Load | None:
    """The loader for rows of this form."""
    head = rows[0]
    if {"citance", "topic", "gold_sids"} <= head.keys():
        return _load_automatic if head.get("annotator") == "auto" else _load_scisumm
    if {"claim", "evidence", "cited_doc_ids"} <= head.keys():
        return _load_citint if any(map(_is_from_citint, rows)) else scifact_cases
    if is_judgement(head):
        return _load_judgements
    if {"claim", "evidence", "label"} <= head.keys():
        return _load_entailment
    return None


def _is_from_citint(row: Row) -> bool:
    """Whether a row has Citation-Integrity's masks or labels, which say that its sentences are not gold."""
    return "cit|>" in str(row["claim"]) or "'REFUTE'" in str(row["evidence"])


def _load_citint(path: Path, dataset: str) -> list[PassageCase]:
    return citint_cases(path, _stem(path).removeprefix("claims_"), dataset)


def _load_scisumm(path: Path, dataset: str) -> list[PassageCase]:
    """The documents of train.jsonl are in train-documents.jsonl, of auto-scisummnet.jsonl in auto-documents.jsonl."""
    return scisumm_cases(path, find_file(path.parent, f"{_stem(path).partition('-')[0]}-documents.jsonl"), dataset)


def _load_automatic(path: Path, dataset: str) -> list[PassageCase]:
    return _load_scisumm(path, dataset)


def _load_judgements(path: Path, dataset: str) -> list[PassageCase]:
    return judged_cases(path, dataset)


def _load_entailment(path: Path, dataset: str) -> list[PassageCase]:
    return [_entailment_case(row, place, dataset) for place, row in read_objects(path)]


def _entailment_case(row: Row, place: str, dataset: str) -> PassageCase:
    """A claim against a text; every row is its own document unless "article" names one."""
    label = ENTAILMENT_LABELS.get(str(row.get("label")).upper())
    if label is None:
        raise UserError(f'{place}: "label" must be one of {", ".join(ENTAILMENT_LABELS)}, not {row.get("label")!r}')
    claim = text_of(row, "claim", place)
    number = place.rpartition(":")[2]
    return PassageCase(
        id=number,
        dataset=dataset,
        claim=claim,
        citing=f"claim {claim}",
        document=text_of(row, "article", place, "") or f"row {number}",
        sentences=_evidence_sentences(row, place),
        label=label,
    )


def _evidence_sentences(row: Row, place: str) -> tuple[str, ...]:
    evidence = row.get("evidence")
    if isinstance(evidence, list) and all(isinstance(sentence, str) for sentence in evidence):
        return tuple(evidence)
    if not isinstance(evidence, str):
        raise UserError(f'{place}: "evidence" must be a text or a list of sentences')
    return tuple(evidence[start:end] for start, end in split_sentences(evidence))


def _with_distinct_ids(cases: Iterable[PassageCase]) -> list[PassageCase]:
    """The cases, with a number added to an id that an earlier file has, too."""
    distinct: list[PassageCase] = []
    counts: dict[str, int] = {}
    for case in cases:
        counts[case.id] = count = counts.get(case.id, 0) + 1
        distinct.append(case if count == 1 else replace(case, id=f"{case.id}#{count}"))
    return distinct


def _stem(path: Path) -> str:
    return path.name.partition(".jsonl")[0]
