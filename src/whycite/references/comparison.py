"""A reference beside a record of the same paper, field by field.

Few false alarms matter most. Sources shorten titles at a colon, print a rubric before them, spell words in two ways;
they write names in any order, cut author lists off, and date a paper by its first version, its issue or its book.
Nothing of that counts as a difference. `python benchmarks/referencecheck.py` measures what does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_pmid, normalise_title, tells_paper
from whycite.documents.identity.identifiers import bare_title, family_name, is_preprint, same_family
from whycite.documents.model import Reference
from whycite.documents.references.names import is_institution
from whycite.references.report import ReferenceProblem
from whycite.text.tokens import fold
from whycite.text.wordlists import FUNCTION_WORDS, load_tables

__all__ = [
    "VENUES",
    "authors_agree",
    "differences",
    "has_many_dois",
    "same_identifier",
    "same_work",
    "titles_agree",
    "venues_agree",
]

_SAME_WORD = 0.75  # similarity of letters from which two spellings are one word or name
_MIN_SHORT_TITLE = (
    0.3  # share of the longer title's words that a shortened one has, unless it is the part before a colon
)
_MAX_MISSING = 0.5  # share of the shorter title's words that the longer one may lack
_MIN_TITLE_WORDS = 3  # of a record that counts beside a title of twice as many
_MAX_NUMBER = 4  # letters of a word whose digits count
_BOOK_DOI = re.compile(r"/(?:[a-z]{0,4}978|.{0,40}97[89]\d{10}|oso/|acprof|mitpress/|\w+book)")
_DATA_DOI = re.compile(r"10\.(?:5281/zenodo|5061/dryad|6084/m9|17605/osf|17632/|7910/dvn|18129/b9)")
_RENAMED_DOI = re.compile(r"10\.(?:1023/a:|1007/bf)")  # the same articles have one of each
_ASIDE = re.compile(r"\([^)]*\)")  # "Science (New York, N.Y.)"
# What a name has besides that of the conference: "Proceedings of the 2019 Conference of the", "9th Annual".
_EVENT = re.compile(r"proc(?:s|eedings?)?|conf(?:erence)?|symposium|meeting|\d+(?:st|nd|rd|th)?")
_EVENT_DETAIL = re.compile(r"annual|international|int|intl|joint|[ivxl]{2,}|volume|vol|main")
_OTHER_EVENT = re.compile(r"\b(?:workshops?|findings|transactions|companion|tutorials?|demonstrations?)\b")
# Another conference: "International Conference on Machine Learning and Applications".
_LONGER_NAME = r" (?i:and (?!the\b)|theory\b)"
_SERIES = re.compile(r"[^\w]+(?:in )?lecture notes in .*$", re.IGNORECASE)
_ACRONYM = re.compile(r"\w*[A-Z]\w*[A-Z]\w*")
_WITH_INITIALS = re.compile(r"[^\W\d_]+, (?:[A-Z]\.?[ -]?){1,3}")
_PREPRINT_YEARS = 5  # how far the years of a preprint and of what it became may be apart


def same_identifier(reference: Reference, record: Reference) -> str:
    """The name of the identifier that both have; "" if they share none."""
    pairs = (
        ("DOI", normalise_doi(reference.doi), normalise_doi(record.doi)),
        ("arXiv id", _arxiv(reference), _arxiv(record)),
        ("PubMed id", normalise_pmid(reference.pmid), normalise_pmid(record.pmid)),
    )
    return next((name for name, identifier, recorded in pairs if identifier and identifier == recorded), "")


def _arxiv(reference: Reference) -> str:
    """The arXiv id, which arXiv's own DOIs contain."""
    return normalise_arxiv(reference.arxiv) or normalise_arxiv(reference.doi)


def same_work(reference: Reference, record: Reference) -> bool:
    """Whether a record without a common identifier is of the same work: by title, and author or year.

    Two published DOIs and two years are two works: a talk and a paper, or data and a paper, may share their title.
    """
    title = normalise_title(reference.title)
    if not title or bare_title(title) != bare_title(normalise_title(record.title)):
        return False
    dois = {normalise_doi(reference.doi), normalise_doi(record.doi)}
    if len(dois - {""}) == 2 and reference.year != record.year and not any(map(is_preprint, dois)):
        return False
    if reference.authors and record.authors and _same_person(reference.authors[0], record.authors[0]):
        return True
    return tells_paper(title) and reference.year is not None and reference.year == record.year


def titles_agree(title: str, recorded_title: str) -> bool:
    """Whether two titles are of one paper, or one is missing."""
    words, recorded_words = (normalise_title(text).split() for text in (title, recorded_title))
    if not words or not recorded_words or bare_title(" ".join(words)) == bare_title(" ".join(recorded_words)):
        return True
    shorter, longer = sorted((words, recorded_words), key=len)
    matcher = SequenceMatcher(None, words, recorded_words, autojunk=False)
    changed, missing = False, 0
    for tag, start, end, recorded_start, recorded_end in matcher.get_opcodes():
        if tag == "replace" and not _same_words(words[start:end], recorded_words[recorded_start:recorded_end]):
            return False
        changed = changed or tag in ("insert", "delete")
        gap = end - start if shorter is words else recorded_end - recorded_start
        missing += gap if tag in ("insert", "delete") else 0
    if not changed:
        return True
    if missing > _MAX_MISSING * len(shorter):
        return False  # two titles with a few words in common
    is_head = longer[: len(shorter)] == shorter
    return is_head or len(shorter) >= _MIN_SHORT_TITLE * len(longer)


def _same_words(words: Sequence[str], recorded_words: Sequence[str]) -> bool:
    """Whether words are the same but for spelling, hyphens and letters that were lost."""
    if FUNCTION_WORDS.issuperset((*words, *recorded_words)):
        return True
    letters, recorded_letters = "".join(words), "".join(recorded_words)
    if _numbers(words) != _numbers(recorded_words):
        return False
    return SequenceMatcher(None, letters, recorded_letters, autojunk=False).ratio() >= _SAME_WORD


def _numbers(words: Sequence[str]) -> list[str]:
    """What tells one part of a series from another; a footnote's mark at the end of a long word does not."""
    return re.findall(r"\d", " ".join(word for word in words if len(word) <= _MAX_NUMBER))


def authors_agree(authors: Sequence[str], recorded_authors: Sequence[str]) -> str:
    """The author who is not one of the paper's; "" if all are, or too little is known."""
    if not authors or not recorded_authors or any(map(_is_no_person, (*authors, *recorded_authors))):
        return ""
    for position, (author, recorded) in enumerate(zip(authors, recorded_authors, strict=False)):
        if _same_person(author, recorded):
            continue
        if position and _is_among(author, recorded_authors):
            continue  # a name that one of the lists has earlier or twice
        if not position and _is_among(author, recorded_authors) and _is_among(recorded, authors):
            continue  # the same people in another order
        if position and _is_among(recorded, authors):
            continue
        return author
    return ""


@dataclass(frozen=True, slots=True)
class Venue:
    """A journal or a conference that can be recognised by its name or its DOIs."""

    label: str
    doi: re.Pattern[str] | None
    name: re.Pattern[str] | None
    titles: frozenset[str]
    year: int | None

    def is_named(self, venue: str) -> bool:
        """Whether a venue field means this one."""
        return bool(self.name and self.name.search(venue)) or normalise_title(venue) in self.titles


def _load_venues() -> tuple[Venue, ...]:
    venues = []
    for label, row in load_tables(__name__).items():
        names = "|".join(
            re.escape(name) if name.isupper() else f"(?i:{re.escape(name)})" for name in row.get("names", ())
        )
        venues.append(
            Venue(
                label,
                re.compile(row["doi"]) if "doi" in row else None,
                re.compile(rf"(?<![\w-])(?:{names})(?![\w-]|{_LONGER_NAME})") if names else None,
                frozenset(row.get("titles", ())),
                row.get("year"),
            )
        )
    return tuple(venues)


VENUES = _load_venues()


def venues_agree(venue: str, recorded_venue: str) -> bool:
    """Whether two names are of one journal or conference, in full, shortened or as initials, or one is missing."""
    texts = [_SERIES.sub("", _ASIDE.sub(" ", text)) or text for text in (venue, recorded_venue)]
    words, recorded_words = map(_venue_words, texts)
    if not words or not recorded_words or _words_agree(words, recorded_words):
        return True
    if len({tuple(_OTHER_EVENT.findall(text.lower())) for text in texts}) > 1:
        return False
    if any(all(candidate.is_named(text) for text in texts) for candidate in VENUES):
        return True
    bare, recorded_bare = _without_event(words), _without_event(recorded_words)
    events = bare != words, recorded_bare != recorded_words
    # "Neural Networks" is a journal, "Conference on Neural Networks" is none; NAACL is one whatever stands before it.
    is_told = all(events) or (any(events) and any(_ACRONYM.fullmatch(text.strip()) for text in texts))
    return is_told and bool(bare and recorded_bare) and _words_agree(bare, recorded_bare)


def _venue_words(text: str) -> list[str]:
    return [word for word in normalise_title(text).split() if word not in FUNCTION_WORDS or len(word) == 1]


def _without_event(words: Sequence[str]) -> list[str]:
    """A conference's own name: NAACL of "Proceedings of the 2019 Conference of the NAACL"."""
    if not any(map(_EVENT.fullmatch, words)):
        return [*words]
    return [word for word in words if not _EVENT.fullmatch(word) and not _EVENT_DETAIL.fullmatch(word)]


def _words_agree(words: Sequence[str], recorded_words: Sequence[str]) -> bool:
    """Whether two names have the same words in any order, each perhaps shortened, or one has the other's initials."""
    shorter, longer = sorted((words, recorded_words), key=len)
    if len(shorter) == 1 and len(longer) > 1:
        return shorter[0] in "".join(word[0] for word in longer)
    if sorted(words) == sorted(recorded_words) or "".join(words) == "".join(recorded_words):
        return True
    if _without_own_initials(words) == _without_own_initials(recorded_words):
        return True
    return len(shorter) == len(longer) and all(
        _is_shortened(*sorted(pair, key=len)) for pair in zip(shorter, longer, strict=True)
    )


def _without_own_initials(words: Sequence[str]) -> list[str]:
    """A name without its initials behind it: "Journal of Machine Learning Research: JMLR"."""
    initials = "".join(word[0] for word in words[:-1])
    return [*words[:-1]] if len(words) > 2 and words[-1] == initials else [*words]


def _is_shortened(short: str, word: str) -> bool:
    """Whether a word has the first letter and then, in order, the letters of its abbreviation: "natl", "national"."""
    letters = iter(word)
    return short[0] == word[0] and all(letter in letters for letter in short)


def _is_among(author: str, authors: Sequence[str]) -> bool:
    return any(_same_person(author, other_author) for other_author in authors)


def _is_no_person(author: str) -> bool:
    if _WITH_INITIALS.fullmatch(author):
        return False  # "Company, C." is somebody
    return is_institution(author) or not re.search(r"[\s,]", author.strip())  # "MICrONS", "Anonymous"


def _same_person(author: str, recorded: str) -> bool:
    """Whether two names may be one person's: family and given names come in any order and spelling."""
    family, recorded_family = family_name(author), family_name(recorded)
    if same_family(family, recorded_family) or not _long_words(family) or not _long_words(recorded_family):
        return True  # initials alone are nobody's name
    if _initials(author) == _initials(recorded)[::-1]:
        return True  # "York, D" and "Darrin, Y"
    joined, recorded_joined = family.replace(" ", ""), recorded_family.replace(" ", "")
    if SequenceMatcher(None, joined, recorded_joined, autojunk=False).ratio() >= _SAME_WORD:
        return True
    return bool(_long_words(author) & _long_words(recorded))


def _initials(name: str) -> str:
    """The first letters of the family name and of the given name."""
    return "".join(part.strip()[:1] for part in fold(name).split(",", 1))


def _long_words(name: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{2,}", fold(name)))


def differences(reference: Reference, record: Reference, source: str) -> Iterator[ReferenceProblem]:
    """How a reference differs from a record of the paper; `source` is who says so."""
    identifier = same_identifier(reference, record)
    if identifier and not titles_agree(reference.title, record.title):
        if not _may_have_another_title(reference, record):
            yield ReferenceProblem(
                "title-differs",
                "title",
                f"the {identifier} belongs to “{record.title}”{_byline(record)}, says {source}",
            )
        return
    stranger = authors_agree(*_comparable_authors(reference, record))
    if stranger and (identifier or _is_paper(reference, record)):
        yield ReferenceProblem(
            "author-differs", "author", f"{_family(stranger)} is not an author; {source} has {_people(record)}"
        )
    elif missing := _missing_authors(reference, record):
        yield ReferenceProblem(
            "authors-missing", "author", f"{source} has {missing} more; write “and others” if that is meant"
        )
    if _years_differ(reference, record):
        yield ReferenceProblem("year-differs", "year", f"{reference.year}, but {source} has {record.year}")
    doi, recorded_doi = normalise_doi(reference.doi), normalise_doi(record.doi)
    if not identifier and doi and recorded_doi and not any(map(has_many_dois, (doi, recorded_doi))):
        yield ReferenceProblem("doi-differs", "doi", f"the DOI of this title is {recorded_doi}, says {source}")


def _may_have_another_title(reference: Reference, record: Reference) -> bool:
    """Whether two titles may belong to one identifier: of a chapter and its book, of two versions of a preprint.

    A record whose title is a word or two beside a whole title was misread.
    """
    words, recorded_words = (len(normalise_title(title).split()) for title in (reference.title, record.title))
    if _is_book(record) or (recorded_words < _MIN_TITLE_WORDS and words >= 2 * _MIN_TITLE_WORDS):
        return True
    people = reference.authors and record.authors and not authors_agree(reference.authors[:1], record.authors[:1])
    return bool(people) and _is_preprint(record) and _share_words(reference.title, record.title)


def _share_words(title: str, recorded_title: str) -> bool:
    """Whether two titles have a word in common that says something."""
    words, recorded_words = ({*normalise_title(text).split()} - FUNCTION_WORDS for text in (title, recorded_title))
    return bool(words & recorded_words)


def _missing_authors(reference: Reference, record: Reference) -> int:
    """How many authors a reference leaves out without saying so; 0 if a list may be cut off."""
    if not reference.authors or reference.publication.et_al or _is_preprint(reference) != _is_preprint(record):
        return 0
    if any(map(_is_no_person, (*reference.authors, *record.authors))):
        return 0
    return max(0, len(record.authors) - len(reference.authors))


def _comparable_authors(reference: Reference, record: Reference) -> tuple[Sequence[str], Sequence[str]]:
    """The authors to compare: later ones may join when a preprint is published, so there only the first counts."""
    if _is_preprint(reference) != _is_preprint(record):
        return reference.authors[:1], record.authors[:1]
    return reference.authors, record.authors


def _is_preprint(reference: Reference) -> bool:
    doi = normalise_doi(reference.doi)
    return is_preprint(doi) if doi else bool(reference.arxiv)


def _is_paper(reference: Reference, record: Reference) -> bool:
    """Whether a common title stands for one paper: the editions of a book and the releases of a program keep theirs."""
    return bool(record.doi) and tells_paper(normalise_title(reference.title))


def has_many_dois(doi: str) -> bool:
    """Whether what a DOI belongs to may have others: preprints, data, books and their chapters, renamed articles."""
    return is_preprint(doi) or bool(_DATA_DOI.match(doi) or _RENAMED_DOI.match(doi) or _BOOK_DOI.search(doi))


def _years_differ(reference: Reference, record: Reference) -> bool:
    if reference.year is None or record.year is None or reference.year == record.year:
        return False
    if not same_identifier(reference, record) and not _is_paper(reference, record):
        return False
    apart = abs(reference.year - record.year)
    if any(is_preprint(normalise_doi(doi)) for doi in (reference.doi, record.doi)) or reference.arxiv or record.arxiv:
        return apart > _PREPRINT_YEARS
    return not _is_book(record)


def _is_book(record: Reference) -> bool:
    return bool(record.isbn) or bool(_BOOK_DOI.search(normalise_doi(record.doi)))


def _byline(record: Reference) -> str:
    people = _people(record)
    parts = [part for part in (people, str(record.year or "")) if part]
    return f" ({', '.join(parts)})" if parts else ""


def _people(record: Reference) -> str:
    families = [_family(author) for author in record.authors]
    if len(families) > 2:
        return f"{families[0]} et al."
    return " and ".join(families)


def _family(author: str) -> str:
    return author.partition(",")[0]
