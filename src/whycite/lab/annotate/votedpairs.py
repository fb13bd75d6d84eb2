"""Pairs of `annotate split` as comparisons to train and test on, in the parts they were split into."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from whycite.errors import UserError
from whycite.lab.annotate.pairs import PARTS, SentencePair
from whycite.lab.annotate.tasks import LABELS, parse_kind, parse_options
from whycite.lab.jsonlines import find_file, read_objects, text_of
from whycite.lab.thesis.comparisons import SentenceComparison
from whycite.lab.thesis.datasets import PassageCase

__all__ = ["as_comparisons", "is_split", "read_pairs", "read_split"]


def is_split(folder: Path) -> bool:
    """Whether a folder has the three parts of comparisons that `annotate split` writes."""
    try:
        files = [find_file(folder, f"{part}.jsonl") for part in PARTS]
    except UserError:
        return False
    rows = [row for file in files for _, row in zip(range(1), read_objects(file), strict=False)]
    return bool(rows) and all("asked" in row[1] and "options" in row[1] for row in rows)


def read_split(folder: Path, dataset: str) -> dict[str, list[SentenceComparison]]:
    """The comparisons of each part of a folder."""
    return {part: as_comparisons(read_pairs(find_file(folder, f"{part}.jsonl")), dataset) for part in PARTS}


def read_pairs(path: Path) -> list[SentencePair]:
    """The pairs of a file that `annotate split` wrote."""
    pairs = []
    for place, row in read_objects(path):
        options = parse_options(row, "options", place)
        parse_kind(row | {"kind": row.get("kind", "BR")}, options, place)
        label = text_of(row, "label", place)
        if label not in LABELS["BR"]:
            raise UserError(f'{place}: "label" of a comparison must be one of {", ".join(LABELS["BR"])}')
        pairs.append(
            SentencePair(
                text_of(row, "id", place),
                text_of(row, "claim", place),
                options[0],
                options[1],
                label,
                text_of(row, "citing", place, ""),
                text_of(row, "document", place, ""),
                float(row.get("share", 1)),
                bool(row.get("asked", True)),
            )
        )
    return pairs


def as_comparisons(pairs: Iterable[SentencePair], dataset: str) -> list[SentenceComparison]:
    """The pairs as comparisons; what was compared for one claim and document is one case."""
    by_claim: dict[tuple[str, str, str], list[SentencePair]] = {}
    for pair in pairs:
        by_claim.setdefault((pair.claim, pair.citing, pair.document), []).append(pair)
    comparisons = []
    for (claim, citing, document), claim_pairs in by_claim.items():
        options = {option.index: option for pair in claim_pairs for option in (pair.first_option, pair.second_option)}
        places = {index: place for place, index in enumerate(sorted(options))}
        winners = {(pair.first_option if pair.label == "1" else pair.second_option).index for pair in claim_pairs}
        losers = {(pair.second_option if pair.label == "1" else pair.first_option).index for pair in claim_pairs}
        id = claim_pairs[0].id.partition("+")[0].rsplit(":", 2)[0]
        case = PassageCase(
            id=f"{id} {citing} {document}",
            dataset=dataset,
            claim=claim,
            citing=citing or id,
            document=document or id,
            sentences=tuple(options[index].text for index in sorted(options)),
            gold=frozenset(places[index] for index in winners - losers),
        )
        comparisons += [
            SentenceComparison(
                case,
                places[pair.first_option.index],
                places[pair.second_option.index],
                0 if pair.label == "1" else 1,
            )
            for pair in claim_pairs
        ]
    return comparisons
