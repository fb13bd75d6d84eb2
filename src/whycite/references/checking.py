"""Checks the references of a draft or a bibliography offline: by themselves, together, and beside the library."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from whycite.documents.identity import (
    group_references,
    is_preprint_reference,
    key_rank,
    normalise_arxiv,
    normalise_doi,
    normalise_isbn,
    normalise_pmid,
    normalise_title,
    paper_key,
    tells_paper,
)
from whycite.documents.identity.identifiers import is_preprint
from whycite.documents.model import Reference
from whycite.library.notices import PaperNotices, look_up, stated
from whycite.library.paths import default_path, library_exists
from whycite.references.comparison import (
    authors_agree,
    differences,
    has_many_dois,
    same_identifier,
    same_work,
    titles_agree,
    venues_agree,
)
from whycite.references.entries import Bibliography, Entry, load_bibliography
from whycite.references.hygiene import arxiv_year, entry_problems, venue_problems
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
    problems_by_position = _problems_between(bibliography)
    checked = []
    for position, (entry, paper) in enumerate(zip(bibliography.entries, knowledge, strict=True)):
        compared, agrees = compare_records(entry.reference, paper.records, paper.source)
        # Of two entries with one DOI, the one that a record confirms is right.
        problems = [p for p in problems_by_position.get(position, ()) if not (agrees and p.rule == "shared-identifier")]
        if not any(problem.rule == "doubled-key" for problem in problems):  # the first one has its own problems
            problems += [*compared, *_status_problems(paper), *_registration(entry, paper)]
            problems += [*venue_problems(entry.reference), *entry_problems(entry, today)]
            problems = [_with_known_year(p, entry.reference, paper) for p in _without_consequences(problems)]
        checked.append(judge(entry, problems, (paper.source,) if agrees is not None else (), bool(agrees)))
    checked += [judge(entry, [problem], (), False) for entry, problem in _missing_entries(bibliography)]
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


def _with_known_year(problem: ReferenceProblem, reference: Reference, paper: PaperKnowledge) -> ReferenceProblem:
    """A problem; that the year is in the future is told with the year that records of the same work have."""
    years = {record.year for record in paper.records if record.year and same_work(reference, record)}
    if problem.rule != "future-year" or len(years) != 1:
        return problem
    return replace(problem, message=f"{problem.message}; {paper.source} has {years.pop()}")


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


def _problems_between(bibliography: Bibliography) -> Mapping[int, list[ReferenceProblem]]:
    """Problems by the position of the entry that has them."""
    problems: defaultdict[int, list[ReferenceProblem]] = defaultdict(list)
    for position, problem in (
        *_doubled_keys(bibliography.entries),
        *_duplicates(bibliography.entries),
        *_missing_parents(bibliography.entries),
        *_uncited(bibliography),
    ):
        problems[position].append(problem)
    return problems


def _missing_entries(bibliography: Bibliography) -> list[tuple[Entry, ReferenceProblem]]:
    """Stand-ins for the keys that a draft cites without an entry, each where it is cited first."""
    keys = {*(entry.key for entry in bibliography.entries), *bibliography.document.by_id}
    spellings = {key.lower(): key for key in sorted(keys)}
    missing = []
    for key, place in (bibliography.citations or {}).items():
        if key not in keys:
            problem = ReferenceProblem("missing-entry", "", "the draft cites this key, but no entry has it")
            if spelling := spellings.get(key.lower()):
                # BibTeX finds the entry, biber and all others do not.
                rule = "key-case" if bibliography.document.format == "latex" else "missing-entry"
                message = f"the draft cites this key, but the entry is called '{spelling}'; only BibTeX ignores case"
                problem = ReferenceProblem(rule, "", message)
            missing.append((Entry(Reference(key), *place), problem))
    return missing


def _doubled_keys(entries: Sequence[Entry]) -> Iterator[tuple[int, ReferenceProblem]]:
    by_key: dict[str, Entry] = {}
    by_spelling: dict[str, Entry] = {}
    for position, entry in enumerate(entries):
        earlier = by_key.setdefault(entry.key, entry)
        namesake = by_spelling.setdefault(entry.key.lower(), entry)
        if earlier is entry and namesake is not entry and entry.source and namesake.source:
            message = f"BibTeX, which ignores capitals, takes this key for '{namesake.key}' ({namesake.place})"
            yield position, ReferenceProblem("key-case", "", message)
        elif earlier is not entry:
            same = entry.source and earlier.source and entry.source.fields == earlier.source.fields
            reason = "the same entry stands" if same else "another entry has this key"
            yield position, ReferenceProblem("doubled-key", "", f"{reason} on line {earlier.line} of {earlier.file}")


def _duplicates(entries: Sequence[Entry]) -> Iterator[tuple[int, ReferenceProblem]]:
    """Entries of one paper under two keys, and papers that share an identifier though their titles disagree."""
    by_key: dict[str, Entry] = {}
    by_identifier: dict[str, int] = {}
    by_paper: defaultdict[int, list[Entry]] = defaultdict(list)
    for position, (entry, paper) in enumerate(zip(entries, _papers(entries), strict=True)):
        if by_key.setdefault(entry.key, entry) is not entry:
            continue  # said of its key
        shared = False
        for name, identifier in _identifiers(entry.reference):
            earlier_position = by_identifier.setdefault(f"{name} {identifier}", position)
            earlier = entries[earlier_position]
            if earlier is not entry and not titles_agree(earlier.reference.title, entry.reference.title):
                shared = True
                for owner, twin in ((position, earlier), (earlier_position, entry)):
                    message = f"'{twin.key}' ({twin.place}) has the same {name} and another title"
                    yield owner, ReferenceProblem("shared-identifier", name.lower(), message)
                break
        twins = [twin for twin in by_paper[paper] if not _stand_apart(entry.reference, twin.reference)]
        if twins and not shared:
            yield position, _duplicate(entry.reference, twins)
        by_paper[paper].append(entry)


def _duplicate(reference: Reference, earlier_entries: Sequence[Entry]) -> ReferenceProblem:
    """That a reference is the paper of an earlier entry, the one with its title if any, and how they disagree."""
    entry = next(
        (entry for entry in earlier_entries if titles_agree(entry.reference.title, reference.title)), earlier_entries[0]
    )
    message = f"the same paper as '{entry.key}' ({entry.place})"
    stranger = authors_agree(reference.authors, entry.reference.authors)
    if not stranger:
        if reference.year and entry.reference.year and reference.year != entry.reference.year:
            message += f", which is from {entry.reference.year}"
        return ReferenceProblem("duplicate", "", message)
    return ReferenceProblem(
        "duplicate", "author", f"{message}, which does not name “{stranger}” among its authors; one of the two is wrong"
    )


def _stand_apart(reference: Reference, other_reference: Reference) -> bool:
    """Whether two references are two works after all: a thesis and its paper, two "Editorials" of a journal."""
    if _is_thesis(reference) != _is_thesis(other_reference):
        return True
    if tells_paper(normalise_title(reference.title)):
        return False
    pages, other_pages = (ref.publication.pages.partition("-")[0] for ref in (reference, other_reference))
    volume, other_volume = (ref.publication.volume for ref in (reference, other_reference))
    return bool(
        volume and other_volume and (volume != other_volume or (pages and other_pages and pages != other_pages))
    )


def _is_thesis(reference: Reference) -> bool:
    """Whether a reference is to a thesis, beside which a paper may have the same title."""
    return reference.publication.type == "thesis"


def _papers(entries: Sequence[Entry]) -> list[int]:
    return group_references(_as_first_posted(entry.reference) for entry in entries)


def _as_first_posted(reference: Reference) -> Reference:
    """A preprint with the year of its number, since arXiv's own entries have that of the latest version."""
    year = arxiv_year(normalise_arxiv(reference.arxiv))
    return replace(reference, year=year) if year and reference.year and year < reference.year else reference


def _identifiers(reference: Reference) -> Iterator[tuple[str, str]]:
    if doi := normalise_doi(reference.doi):
        yield "DOI", doi
    if arxiv := normalise_arxiv(reference.arxiv):
        yield "arXiv id", arxiv
    if pmid := normalise_pmid(reference.pmid):
        yield "PubMed id", pmid
    if isbn := normalise_isbn(reference.isbn):
        yield "ISBN", isbn


def _missing_parents(entries: Sequence[Entry]) -> Iterator[tuple[int, ReferenceProblem]]:
    """Entries that take fields from an entry which is not there."""
    keys = {entry.key for entry in entries}
    spellings = {key.lower(): key for key in sorted(keys)}
    for position, entry in enumerate(entries):
        parent = entry.source.fields.get("crossref", "").strip() if entry.source else ""
        spelling = spellings.get(parent.lower(), "")
        if parent and not spelling:
            message = f"the entry takes fields from '{parent}', but no entry has this key"
            yield position, ReferenceProblem("missing-entry", "crossref", message)
        elif parent and parent not in keys:
            message = (
                f"the entry takes fields from '{parent}', but its key is '{spelling}'; only BibTeX ignores capitals"
            )
            yield position, ReferenceProblem("key-case", "crossref", message)


def _uncited(bibliography: Bibliography) -> Iterator[tuple[int, ReferenceProblem]]:
    if bibliography.citations is None:
        return
    for position, entry in enumerate(bibliography.entries):
        if entry.key not in bibliography.used_keys and entry.key not in bibliography.citations:
            yield position, ReferenceProblem("uncited", "", "the draft never cites this entry")
