"""The citations of a draft as a reviewer wants them: verdicts worst first, what could not be checked in lists."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from urllib.parse import quote

from whycite.documents.model import Document, Reference
from whycite.verify.drafts import CitationVerdict
from whycite.verify.verification import WORST_FIRST, Passage, Verdict, Verification, passage_notes

__all__ = [
    "SHORT_LIST",
    "DraftComment",
    "DraftReport",
    "MissingPaper",
    "UncheckedGroup",
    "authors_and_year",
    "draft_report",
    "main_passages",
    "passage_facts",
    "place",
    "reference_link",
    "reference_title",
    "sentence_case",
    "shown_key",
    "split_passages",
    "waiting",
]

SHORT_LIST = 20  # missing papers that are shown at once; of a draft with hundreds, the others are folded


@dataclass(frozen=True, slots=True)
class MissingPaper:
    """A cited paper whose full text is not at hand, and the citations that wait for it."""

    reference: Reference
    citations: tuple[CitationVerdict, ...]


@dataclass(frozen=True, slots=True)
class UncheckedGroup:
    """Citations that could not be checked for the same reason."""

    reason: str
    citations: tuple[CitationVerdict, ...]


@dataclass(frozen=True, slots=True)
class DraftComment:
    """What somebody wrote about a sentence of the draft."""

    text: str
    sentence: str
    section: str


@dataclass(frozen=True, slots=True)
class DraftReport:
    """The verdicts on a draft's citations, and what there is to say about those without one."""

    draft: Document
    judged: tuple[CitationVerdict, ...]  # worst first
    noted: tuple[CitationVerdict, ...]  # could not be checked, but title, authors or year tell something
    missing: tuple[MissingPaper, ...]  # those that most citations wait for in front
    unchecked: tuple[UncheckedGroup, ...]  # the largest group in front
    counts: Mapping[Verdict, int]
    comments: tuple[DraftComment, ...] = ()  # in the order of the text

    @property
    def title(self) -> str:
        """The title of the draft, else the name of its file."""
        return self.draft.paper.title or PurePath(self.draft.path).name

    @property
    def summary(self) -> str:
        """ "3 citations: 1 contradicted, 2 could not check."."""
        total = sum(self.counts.values())
        verdicts = ", ".join(f"{self.counts[verdict]:,} {verdict}" for verdict in WORST_FIRST if self.counts[verdict])
        return f"{total:,} citation{'' if total == 1 else 's'}{': ' if verdicts else ''}{verdicts}."


def draft_report(
    draft: Document, verdicts: Iterable[CitationVerdict], comments: Iterable[DraftComment] = ()
) -> DraftReport:
    """The report on a draft from the verdicts on its citations, and what people wrote about its sentences."""
    verdicts = list(verdicts)
    judged = [checked for checked in verdicts if checked.verification.verdict != "could not check"]
    unchecked = [checked for checked in verdicts if checked.verification.verdict == "could not check"]
    missing: dict[str, list[CitationVerdict]] = {}
    reasons: dict[str, list[CitationVerdict]] = {}
    for checked in unchecked:
        if checked.missing:
            missing.setdefault(checked.reference.id, []).append(checked)
        else:
            reasons.setdefault(checked.verification.reason, []).append(checked)
    return DraftReport(
        draft,
        tuple(sorted(judged, key=_badness)),
        tuple(checked for checked in unchecked if checked.notes or checked.warning),
        tuple(MissingPaper(group[0].reference, tuple(group)) for group in _largest_first(missing)),
        tuple(UncheckedGroup(group[0].verification.reason, tuple(group)) for group in _largest_first(reasons)),
        Counter(checked.verification.verdict for checked in verdicts),
        tuple(comments),
    )


def _badness(checked: CitationVerdict) -> tuple[int, float]:
    """The order of verdicts; within one the surest first, but of those that are backed the least sure."""
    verification = checked.verification
    sure = verification.confidence if verification.verdict == "backed" else -verification.confidence
    return WORST_FIRST.index(verification.verdict), sure


def _largest_first(groups: Mapping[str, list[CitationVerdict]]) -> list[list[CitationVerdict]]:
    return sorted(groups.values(), key=len, reverse=True)


def main_passages(verification: Verification) -> tuple[Passage, ...]:
    """The passages that decided, else the best that does not merely quote the claim."""
    passages = verification.passages
    deciding = tuple(passage for passage in passages if passage.decides)
    return deciding or tuple(passage for passage in passages if not passage.quotes)[:1] or passages[:1]


def split_passages(verification: Verification, n: int) -> tuple[tuple[Passage, ...], tuple[Passage, ...]]:
    """The main passages, and others, up to `n` in all."""
    main = main_passages(verification)
    others = tuple(passage for passage in verification.passages if passage not in main)
    return main, others[: max(n - len(main), 0)]


def passage_facts(passage: Passage) -> list[str]:
    """Where a passage stands in its paper, and what a reader should know about it."""
    page = "" if passage.page is None else f"p. {passage.page}"
    return [part for part in (passage.section, page, *passage_notes(passage)) if part]


def place(checked: CitationVerdict, draft: Document) -> str:
    """File and line, or page, of a citation; no folders above the draft: a report is shared, they are private."""
    top = Path(draft.path)
    folder = top if top.is_dir() else top.parent
    file = Path(checked.file)
    name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name
    page = draft.sentences[checked.sentence].page if checked.sentence < len(draft.sentences) else None
    if page is not None:  # nobody can see the lines of a PDF
        return f"{name}, p. {page}"
    return name if checked.line is None else f"{name}:{checked.line}"


def shown_key(reference: Reference, draft: Document) -> str:
    """The key by which the draft cites a paper; empty where reading its list made one up."""
    is_made_up = draft.format not in _KEYS_WRITTEN and _MADE_UP.fullmatch(reference.id)
    return "" if is_made_up else reference.id


_MADE_UP = re.compile(r"ref\d+")
_KEYS_WRITTEN = frozenset({"latex", "typst"})  # formats whose authors may have named an entry "ref1" themselves


_MAX_AUTHORS = 3  # of a reference, before "et al."


def authors_and_year(reference: Reference) -> str:
    """ "Kaiser (1988)", "Doe, Roe and Poe (2001)", "Doe et al. (2001)"; empty if nothing is known."""
    families = [author.partition(",")[0] for author in reference.authors]
    if len(families) > _MAX_AUTHORS:
        who = f"{families[0]} et al."
    else:
        who = " and ".join(part for part in (", ".join(families[:-1]), *families[-1:]) if part)
    return " ".join(part for part in (who, f"({reference.year})" if reference.year else "") if part)


def reference_title(reference: Reference) -> str:
    """The title of a reference, else the entry as printed."""
    return " ".join((reference.title or reference.text or "(no title)").split())


_DOI = re.compile(r"10\.\d{4,9}/\S+")
_ARXIV = re.compile(r"[\w.-]+(?:/\d+)?")


def reference_link(reference: Reference) -> tuple[str, str]:
    """The label and the address of a reference's DOI or arXiv id; both empty if it has none that is well-formed."""
    if _DOI.fullmatch(reference.doi):
        return f"doi:{reference.doi}", f"https://doi.org/{quote(reference.doi, safe='/')}"
    if _ARXIV.fullmatch(reference.arxiv):
        return f"arXiv:{reference.arxiv}", f"https://arxiv.org/abs/{quote(reference.arxiv, safe='/')}"
    return "", ""


def waiting(paper: MissingPaper) -> str:
    """ "3 citations"."""
    number = len(paper.citations)
    return f"{number:,} citation{'' if number == 1 else 's'}"


def sentence_case(text: str) -> str:
    """A reason as a sentence of its own."""
    text = f"{text[:1].upper()}{text[1:]}"
    return text if text[-1:] in ("", ".", "!", "?") else f"{text}."
