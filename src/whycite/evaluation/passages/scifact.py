"""SciFact (Wadden et al. 2020): claims, abstracts, and the sentences that support or contradict them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from whycite.documents.jsontext import as_text
from whycite.errors import UserError
from whycite.evaluation.passages.model import Case, Label
from whycite.evaluation.passages.rows import rationales, texts
from whycite.evaluation.rows import read

__all__ = ["LABELS", "load"]

LABELS: Mapping[str, Label] = MappingProxyType({"SUPPORT": "backed", "CONTRADICT": "contradicted"})


def load(folder: Path) -> list[Case]:
    """A case for each claim and each abstract it cites; where the abstract has no evidence, without gold."""
    abstracts = {as_text(row.get("doc_id")): texts(row.get("abstract")) for row in read(folder, "corpus.jsonl")}
    cases = []
    for row in read(folder, "claims_train.jsonl"):
        id, found = as_text(row.get("id")), rationales(row)
        for document in dict.fromkeys([*found, *texts(row.get("cited_doc_ids"))]):
            sets, label = found.get(document, ((), ""))
            gold = frozenset[int]().union(*sets)
            sentences = abstracts.get(document)
            if sentences is None or not gold <= set(range(len(sentences))) or (gold and label not in LABELS):
                raise UserError(f"{folder}: the evidence of claim '{id}' in abstract '{document}' cannot be understood")
            cases.append(
                Case(
                    id=f"{id}:{document}",
                    dataset="scifact",
                    claim=as_text(row.get("claim")),
                    citing=f"claim {id}",
                    document=document,
                    sentences=sentences,
                    gold=gold,
                    label=LABELS[label] if gold else "not found",
                    rationales=sets,
                )
            )
    return cases
