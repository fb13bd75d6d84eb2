"""Citation-Integrity (Sarol et al. 2024): citing sentences of biomedical articles, and whether the cited one says so.

Which sentence says so is not known: the data names the first of the five that were retrieved for every claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from whycite.documents.jsontext import as_text
from whycite.errors import UserError
from whycite.evaluation.passages.claims import claim_of, says_something
from whycite.evaluation.passages.model import Case, Label
from whycite.evaluation.passages.rows import rationales, texts
from whycite.evaluation.rows import read

__all__ = ["LABELS", "PARTS", "load"]

PARTS = ("train", "dev")
LABELS: Mapping[str, Label] = MappingProxyType({"SUPPORT": "backed", "REFUTE": "contradicted"})
_CLAIMS = 1000  # documents are numbered by cited article, then by claim: 66003 is the fourth claim about article 66


def load(folder: Path, part: str) -> list[Case]:
    """The cases of a published part, with a label and no gold; five sentences of the cited article each, or fewer."""
    if part not in PARTS:
        raise UserError(f"no part '{part}' of Citation-Integrity; there are: {', '.join(PARTS)}")
    retrieved = {as_text(row.get("doc_id")): texts(row.get("abstract")) for row in read(folder, "corpus.jsonl")}
    cases = []
    for row in read(folder, f"claims_{part}.jsonl"):
        id, found = as_text(row.get("id")), rationales(row)
        claim = claim_of(as_text(row.get("claim")))
        for document in texts(row.get("cited_doc_ids")):
            label = found[document][1] if document in found else ""
            if not document.isdecimal() or document not in retrieved or (label and label not in LABELS):
                raise UserError(f"{folder}: the evidence of claim '{id}' in document '{document}' cannot be understood")
            if says_something(claim):
                cases.append(
                    Case(
                        id=f"{part}:{id}",
                        dataset="citint",
                        claim=claim,
                        citing=f"{part} claim {id}",
                        document=str(int(document) // _CLAIMS),
                        sentences=retrieved[document],
                        label=LABELS[label] if label else "not found",
                    )
                )
    return cases
