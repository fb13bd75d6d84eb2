"""Which sentences of a cited paper back a claim, and whether they do."""

from whycite.callable import make_callable
from whycite.verify.drafts import CitationVerdict, draft
from whycite.verify.jsonform import as_dict, citation_as_dict
from whycite.verify.model import Passage, Verdict, Verification
from whycite.verify.verifying import Opened, open_document, sentences, verify

__all__ = [
    "CitationVerdict",
    "Opened",
    "Passage",
    "Verdict",
    "Verification",
    "as_dict",
    "citation_as_dict",
    "draft",
    "open_document",
    "sentences",
    "verify",
]

make_callable(__name__, verify)
