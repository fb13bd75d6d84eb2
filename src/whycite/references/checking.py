"""Checks the references of a draft or a bibliography offline: by themselves, together, and beside the library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from whycite.documents.identity import is_preprint_reference, key_rank, normalise_doi, paper_key
from whycite.documents.identity.identifiers import is_preprint
from whycite.documents.model import Reference
from whycite.library.notices import PaperNotices, look_up, stated
from whycite.library.paths import default_path, library_exists
from whycite.references.comparison import (
    differences,
    has_many_dois,
    same_identifier,
    same_work,
    titles_agree,
    venues_agree,
)
from whycite.references.entries import Bibliography, Entry, load_bibliography
from whycite.references.hygiene import entry_problems, missing_entries, problems_between, venue_problems
from whycite.references.report import (
    REFERENCE_RULES,
    SEVERITIES,
    CheckedReference,
    ReferenceProblem,
    ReferenceReport,
    Verdict,
)

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = [
    "PaperKnowledge",
    "Records",
    "check_bibliography",
    "check_references",
    "compare_records",
    "judge",
    "library_knowledge",
]

_LIBRARY = "your library"
_IS_REPORTED = re.compile(r"duplicate key|keys occur more than once|no entry in the bibliography")  # as problems


class Records(Protocol):
    """Something that knows papers."""

    def similar_papers(self, references: Sequence[Reference]) -> list[list[Reference]]:
        """For each reference what is known under the same identifier or title."""


@dataclass(frozen=True, slots=True)
class PaperKnowledge:
    """What is known of the paper of a reference, and by whom."""

    source: str = _LIBRARY
    records: tuple[Reference, ...] = ()  # they may be of other papers
    notices: PaperNotices = field(default_factory=PaperNotices)
    unregistered: bool = False  # no agency has registered its DOI


def check_references(
    path: str | Path,
    library: Library | Path | str | None = None,
    *,
    use_library: bool = True,
    today: date | None = None,
) -> ReferenceReport:
    """Check the references of a bibliography file or a draft, offline.

    `library` is an open one or a path; by default it is the user's own, if there is one. Without `use_library`, none is
    asked.
    """
    bibliography = load_bibliography(path)
    references = [entry.reference for entry in bibliography.entries]
    return check_bibliography(bibliography, library_knowledge(references, library, use_library=use_library), today)


def library_knowledge(
    references: Sequence[Reference], library: Library | Path | str | None = None, *, use_library: bool = True
) -> list[PaperKnowledge]:
    """What a library knows of papers; retractions may be known without any document in it."""
    if not use_library:
        return [PaperKnowledge(notices=stated(reference)) for reference in references]
    if library is None and not library_exists(default_path()):
        return [PaperKnowledge(notices=notices) for notices in look_up(default_path(), references)]
    from whycite.library import Library  # the store takes time and memory, which a caller may not need otherwise

    opened = library if isinstance(library, Library) else Library.open(library)
    records = opened.similar_papers(references)
    notices = opened.notices(references, opened.find(references))
    return [
        PaperKnowledge(records=tuple(similar), notices=paper_notices)
        for similar, paper_notices in zip(records, notices, strict=True)
    ]


def check_bibliography(
    bibliography: Bibliography, knowledge: Sequence[PaperKnowledge], today: date | None = None
) -> ReferenceReport:
    """Check entries that were read, beside what is known of each of them."""
    today = today or date.today()
    problems_by_position = problems_between(bibliography)
    checked = []
    for position, (entry, paper) in enumerate(zip(bibliography.entries, knowledge, strict=True)):
        compared, agrees = compare_records(entry.reference, paper.records, paper.source)
        # Of two entries with one DOI, the one that a record confirms is right.
        problems = [p for p in problems_by_position.get(position, ()) if not (agrees and p.rule == "shared-identifier")]
        if not any(problem.rule == "doubled-key" for problem in problems):  # the first one has its own problems
            problems += [*compared, *_status_problems(paper), *_registration(entry, paper)]
            problems += [*venue_problems(entry.reference), *entry_problems(entry, today)]
            problems = list(_without_consequences(problems))
        checked.append(judge(entry, problems, (paper.source,) if agrees is not None else (), bool(agrees)))
    checked += [judge(entry, [problem], (), False) for entry, problem in missing_entries(bibliography)]
    warnings = [warning for warning in bibliography.document.warnings if not _IS_REPORTED.search(warning)]
    return ReferenceReport(bibliography.document.path, tuple(checked), (*bibliography.warnings, *warnings))


def _without_consequences(problems: Sequence[ReferenceProblem]) -> Iterator[ReferenceProblem]:
    """Problems without those that others bring about."""
    rules = {(problem.rule, problem.field) for problem in problems}
    hidden = set()
    if ("missing-entry", "crossref") in rules or ("key-case", "crossref") in rules:
        hidden.add("missing-field")  # it would come from there
    if any(rule == "missing-doi" for rule, _ in rules):
        hidden.add("no-identifier")
    if ("placeholder", "year") in rules:
        hidden.add("missing-field")
    return (problem for problem in problems if problem.rule not in hidden)


def _status_problems(paper: PaperKnowledge) -> list[ReferenceProblem]:
    status = paper.notices.status
    return [ReferenceProblem(status, "", paper.notices.description)] if status else []


def _registration(entry: Entry, paper: PaperKnowledge) -> list[ReferenceProblem]:
    if not paper.unregistered:
        return []
    return [ReferenceProblem("unregistered-doi", "doi", f"doi.org does not know {normalise_doi(entry.reference.doi)}")]


def judge(
    entry: Entry, problems: Iterable[ReferenceProblem], sources: tuple[str, ...], agrees: bool
) -> CheckedReference:
    """The verdict for a reference with these problems; `agrees` if a record of it was found that agrees."""
    order = [rule.id for rule in sorted(REFERENCE_RULES.values(), key=lambda rule: SEVERITIES.index(rule.severity))]
    sorted_problems = tuple(sorted(problems, key=lambda problem: order.index(problem.rule)))
    rules = {problem.rule for problem in sorted_problems}
    verdict: Verdict = "unknown"
    if "retracted" in rules:
        verdict = "retracted"
    elif any(REFERENCE_RULES[rule].differs for rule in rules):
        verdict = "differs"
    elif agrees:
        verdict = "confirmed"
    return CheckedReference(entry, verdict, sorted_problems, sources)


def compare_records(
    reference: Reference, records: Sequence[Reference], source: str
) -> tuple[list[ReferenceProblem], bool | None]:
    """How a reference differs from records that may be of its paper, and whether it agrees; None if there are none.

    The record with the same identifier counts. Without one, those with the same title and author or year do, and the
    nearest of them counts, since a paper may have several.
    """
    by_identifier = [record for record in records if same_identifier(reference, record)]
    by_title = [record for record in records if same_work(reference, record)]
    candidates = by_identifier or by_title
    if not candidates:
        return [], None
    compared = [(list(differences(reference, record, source)), record) for record in candidates]
    problems, record = min(compared, key=lambda pair: (_severity(pair[0]), key_rank(pair[1]), paper_key(pair[1])))
    if any(problem.rule == "title-differs" for problem in problems):
        problems = [_with_right_doi(problem, by_title) for problem in problems]
        return problems, False
    family = [record, *(candidate for candidate in by_title if candidate is not record)]
    return [*problems, *_additions(reference, family, source)], _severity(problems) == 0 and _says_enough(
        reference, record
    )


def _severity(problems: Sequence[ReferenceProblem]) -> int:
    """How many problems say that a reference differs."""
    return sum(REFERENCE_RULES[problem.rule].differs for problem in problems)


def _says_enough(reference: Reference, record: Reference) -> bool:
    """Whether a record has what confirms a reference: the title, and the authors or the year.

    One from another year, which may be another edition, confirms nothing without a common identifier.
    """
    if not (reference.title and record.title) or not titles_agree(reference.title, record.title):
        return False  # without a word about it, since preprints and parts of books may have another title
    if None in (reference.year, record.year):
        return bool(reference.authors and record.authors)
    is_same = reference.year == record.year or bool(same_identifier(reference, record))
    return is_same or is_preprint_reference(reference) or is_preprint_reference(record)


def _with_right_doi(problem: ReferenceProblem, by_title: Sequence[Reference]) -> ReferenceProblem:
    """A title that does not belong to its DOI may have one of its own."""
    doi = next((doi for record in by_title if (doi := normalise_doi(record.doi))), "")
    if problem.rule != "title-differs" or not doi:
        return problem
    return ReferenceProblem("doi-differs", "doi", f"{problem.message}; the DOI of this title is {doi}")


def _additions(reference: Reference, family: Sequence[Reference], source: str) -> Iterator[ReferenceProblem]:
    """What records of the same paper have and the reference lacks: a DOI, a published version."""
    own_doi = normalise_doi(reference.doi)
    dois = [doi for record in family if (doi := normalise_doi(record.doi))]
    preprint = next(filter(is_preprint, dois), "")
    published = next((doi for doi in dois if not is_preprint(doi)), "")
    names_preprint = is_preprint(own_doi) if own_doi else is_preprint_reference(reference)
    missing = "" if own_doi else preprint if names_preprint else published
    if missing and not (names_preprint and reference.arxiv):
        record = next(record for record in family if normalise_doi(record.doi) == missing)
        is_edition = has_many_dois(missing) and bool(reference.year and record.year) and reference.year != record.year
        if names_preprint or (venues_agree(reference.venue, record.venue) and not is_edition):
            yield ReferenceProblem("missing-doi", "doi", f"the DOI is {missing}, says {source}", correction=missing)
        else:  # of the same paper, perhaps, but not for certain
            which = f"{record.venue}, {record.year}" if is_edition else record.venue
            yield ReferenceProblem("missing-doi", "doi", f"the DOI may be {missing} of “{which}”, says {source}")
    if names_preprint and published:
        yield ReferenceProblem("published-version", "doi", f"published as {published}, says {source}")
