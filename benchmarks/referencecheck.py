"""Are references told right, and how often is a real one doubted? Run: python benchmarks/referencecheck.py

1. HALLMARK: entries that are real, or made up in fourteen ways. Rules were chosen on one half (`--half 0`), the other
   is what counts. Offline, most can be neither confirmed nor denied.
2. References of the newest 300 eLife articles beside what the other 5,700 cite: as they are, and with one field
   altered. Again rules were chosen on every second article.
3. The same, with what the 5,700 cite as answers in Crossref's format, through the code that asks services.
"""

import argparse
import io
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import unquote

import zstandard

from whycite.documents.identity import normalise_doi, normalise_title, paper_key, traits
from whycite.documents.identity.identifiers import family_name
from whycite.documents.model import Document, Reference
from whycite.documents.references.bibtex import locate_entries, reference_of
from whycite.documents.references.names import parse_people
from whycite.documents.s2orc import read_reference
from whycite.references.checking import PaperKnowledge, check_bibliography
from whycite.references.client import ServiceAnswer, ServiceClient
from whycite.references.entries import Bibliography, Entry
from whycite.references.online import service_knowledge
from whycite.references.report import CheckedReference
from whycite.references.services import Services

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
NEW_ARTICLES = 300
SAMPLE = 1000
COMMON = (300, 3_000, 30_000)  # family names
TODAY = date(2026, 3, 1)  # both collections end in February 2026


def rows(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a compressed JSONL file."""
    with zstandard.open(file, "rb") as stream:
        yield from map(json.loads, io.TextIOWrapper(stream, "utf-8"))


class CitedPapers:
    """The papers of reference lists, merged by key as a library merges them."""

    def __init__(self, references: Sequence[Reference]) -> None:
        self.versions: dict[str, Reference] = {}
        for reference in references:
            if key := paper_key(reference):
                self.versions.setdefault(key, replace(reference, id=key))
        self._by_trait: defaultdict[int, list[str]] = defaultdict(list)
        for key, reference in self.versions.items():
            for trait in traits(reference):
                self._by_trait[trait].append(key)

    def similar_papers(self, references: Sequence[Reference]) -> list[list[Reference]]:
        """For each reference those that share an identifier or the title."""
        shared = [
            dict.fromkeys(key for trait in traits(reference) for key in self._by_trait.get(trait, ()))
            for reference in references
        ]
        return [[self.versions[key] for key in keys] for keys in shared]


class AnsweredQuestions(ServiceClient):
    """Answers as Crossref and doi.org would, if they had the papers of reference lists and nothing else."""

    def __init__(self, papers: CitedPapers) -> None:
        super().__init__()
        works = [reference for reference in papers.versions.values() if reference.doi]
        self._by_doi = {normalise_doi(work.doi): work for work in works}
        self._by_title: defaultdict[str, list[Reference]] = defaultdict(list)
        for work in works:
            self._by_title[normalise_title(work.title)].append(work)

    def get(
        self,
        service: str,
        address: str,
        parameters: Mapping[str, str],
        pause: float,
        headers: Mapping[str, str] | None = None,
        *,
        is_json: bool = True,
    ) -> ServiceAnswer:
        """The answer to a question; nothing is sent."""
        doi = normalise_doi(unquote(address))
        if service == "Crossref" and doi:
            work = self._by_doi.get(doi)
            return ServiceAnswer(json.dumps({"message": _crossref_work(work)}) if work else None)
        if service == "Crossref":
            works = self._by_title.get(normalise_title(parameters.get("query.bibliographic", "")), [])
            return ServiceAnswer(json.dumps({"message": {"items": [_crossref_work(work) for work in works]}}))
        if service == "doi.org":
            return ServiceAnswer(json.dumps({"responseCode": 1}))  # that others registered it is never ruled out
        return ServiceAnswer(None)


def _crossref_work(reference: Reference) -> dict[str, Any]:
    names = [author.partition(", ") for author in reference.authors]
    return {
        "DOI": reference.doi,
        "title": [reference.title],
        "author": [{"family": family, "given": given} for family, _, given in names],
        "issued": {"date-parts": [[reference.year]]},
        "container-title": [reference.venue],
        "type": "journal-article",
    }


def check(
    entries: Sequence[Entry], papers: CitedPapers | None, services: Services | None = None
) -> tuple[CheckedReference, ...]:
    """Check entries as one bibliography, beside papers or through services."""
    references = [entry.reference for entry in entries]
    records = papers.similar_papers(references) if papers and not services else [[] for _ in entries]
    knowledge = [PaperKnowledge(records=tuple(similar)) for similar in records]
    if services:
        knowledge = service_knowledge(references, knowledge, services)
    document = Document("references.bib", "bibtex", Reference(""))
    return check_bibliography(Bibliography(document, tuple(entries)), knowledge, TODAY).references


def hallmark(half: int) -> None:
    """What is said of real entries and of each kind of made-up ones, entry by entry and all in one file."""
    entries: list[Entry] = []
    kinds: list[str] = []
    for row in rows(DATA / "hallmark" / "dev.jsonl.zst"):
        if sha256(row["bibtex_key"].encode()).digest()[0] % 2 == half:
            fields = "".join(f"  {name} = {{{value}}},\n" for name, value in row["fields"].items())
            [source] = locate_entries(f"@{row['bibtex_type']}{{{row['bibtex_key']},\n{fields}}}\n")
            entries.append(
                Entry(reference_of(source, source.fields), "dev", len(entries), source.type, source.fields, source)
            )
            kinds.append(row.get("hallucination_type") or "real")
    alone = [check([entry], None)[0] for entry in entries]
    together = check(entries, None)
    print(f"\nHALLMARK, half {half}: {len(entries)} entries")
    print("kind | entries | verdict differs | an error of its own | doubled in the file | unknown")
    for kind in sorted(set(kinds), key=lambda kind: (kind != "real", kind)):
        chosen = [position for position, entry_kind in enumerate(kinds) if entry_kind == kind]
        differs = sum(alone[position].verdict == "differs" for position in chosen)
        errors = sum(any(p.severity == "error" for p in alone[position].problems) for position in chosen)
        doubled = sum(
            any(p.rule in ("duplicate", "shared-identifier") for p in together[position].problems)
            for position in chosen
        )
        unknown = sum(alone[position].verdict == "unknown" for position in chosen)
        print(f"{kind} | {len(chosen)} | {differs} | {errors} | {doubled} | {unknown / len(chosen):.3f}")

    first: dict[str, int] = {}
    repeated = []
    for position, entry in enumerate(entries):
        if (key := normalise_doi(entry.reference.doi)) and first.setdefault(key, position) != position:
            repeated.append(position)
    told = sum(
        any(p.rule in ("duplicate", "shared-identifier") for p in together[position].problems) for position in repeated
    )
    print(f"entries with a DOI that an entry before has: {len(repeated)}, told {told}")
    disputed = _disputed_keys(together)
    for kind in ("placeholder_authors", "swapped_authors"):
        keys = {entry.key for entry, entry_kind in zip(entries, kinds, strict=True) if entry_kind == kind}
        print(f"{kind}: {len(keys & disputed)} of {len(keys)} beside an entry of its paper with other authors, told so")


def _disputed_keys(references: Sequence[CheckedReference]) -> set[str]:
    """The keys of entries that are one paper and name different authors."""
    keys: set[str] = set()
    for reference in references:
        for problem in reference.problems:
            if problem.rule == "duplicate" and problem.field == "author":
                keys |= {reference.entry.key, problem.message.split("'")[1]}
    return keys


def elife_articles() -> Iterator[list[Reference]]:
    """The reference lists of the articles, newest first."""
    for file in sorted((DATA / "elife").glob("elife-[01]*.jsonl.zst")):
        for row in rows(file):
            yield [read_reference(key, entry) for key, entry in row["bib_entries"].items()]


def invented_names(half: int, articles: Sequence[Sequence[Reference]]) -> None:
    """Whether signs of names alone tell invented author lists from real ones: how common they are, their order."""
    papers = {normalise_title(reference.title): reference for article in articles for reference in article}
    families = Counter(family_name(author) for reference in papers.values() for author in reference.authors)
    ranks = {family: rank for rank, (family, _) in enumerate(families.most_common())}
    lists: dict[str, list[tuple[str, ...]]] = {"placeholder_authors": [], "real": []}
    for row in rows(DATA / "hallmark" / "dev.jsonl.zst"):
        kind = row.get("hallucination_type") or "real"
        if kind in lists and sha256(row["bibtex_key"].encode()).digest()[0] % 2 == half:
            lists[kind].append(parse_people(row["fields"].get("author", "")))
    print(f"\nInvented author lists beside real ones, half {half}; {len(ranks):,} family names of eLife's references")
    for name, authors in lists.items():
        common = [
            sum(all(ranks.get(family_name(author), len(ranks)) < limit for author in people) for people in authors)
            for limit in COMMON
        ]
        initials = [[ord(author.partition(", ")[2][:1] or " ") for author in people] for people in authors]
        in_order = sum(
            len(signs) > 1 and all(after - before == 1 for before, after in pairwise(signs)) for signs in initials
        )
        repeated = sum(number > 1 for number in Counter(authors).values())
        shares = ", ".join(f"{number} within {limit:,}" for number, limit in zip(common, COMMON, strict=True))
        print(
            f"{name}: {len(authors)} lists; all names common: {shares}; initials in order {in_order}, twice {repeated}"
        )


Alteration = Callable[[Reference, Reference, Random], Reference]


def _one_word(reference: Reference, stranger: Reference, random: Random) -> Reference:
    words = list(re.finditer(r"\w{5,}", reference.title))
    strange = [word for word in re.findall(r"\w{5,}", stranger.title) if word.lower() not in reference.title.lower()]
    if not words or not strange:
        return reference
    word = random.choice(words)
    return replace(
        reference, title=reference.title[: word.start()] + random.choice(strange) + reference.title[word.end() :]
    )


def _later_author(reference: Reference, stranger: Reference, random: Random) -> Reference:
    if len(reference.authors) < 2:
        return reference
    position = random.randrange(1, len(reference.authors))
    authors = (*reference.authors[:position], stranger.authors[0], *reference.authors[position + 1 :])
    return replace(reference, authors=authors)


def _mistyped_doi(reference: Reference, stranger: Reference, random: Random) -> Reference:
    prefix, _, suffix = reference.doi.partition("/")
    places = [index for index, sign in enumerate(suffix) if sign.isdigit()]
    if not places:
        return reference
    place = random.choice(places)
    digit = random.choice([digit for digit in "0123456789" if digit != suffix[place]])
    return replace(reference, doi=f"{prefix}/{suffix[:place]}{digit}{suffix[place + 1 :]}", pmid="")


def _shifted_year(reference: Reference, stranger: Reference, random: Random) -> Reference:
    assert reference.year
    return replace(reference, year=reference.year + random.choice((-5, -4, -3, -2, -1, 1, 2, 3)))


ALTERATIONS: dict[str, tuple[Alteration, tuple[str, ...]]] = {
    "another title": (lambda r, s, _: replace(r, title=s.title), ("title", "doi")),
    "one word of the title": (_one_word, ("title", "doi")),
    "another first author": (lambda r, s, _: replace(r, authors=(s.authors[0], *r.authors[1:])), ("author",)),
    "other authors": (lambda r, s, _: replace(r, authors=s.authors), ("author",)),
    "another later author": (_later_author, ("author",)),
    "another year": (_shifted_year, ("year",)),
    "the DOI of another paper": (lambda r, s, _: replace(r, doi=s.doi, pmid=""), ("doi", "title")),
    "a mistyped DOI": (_mistyped_doi, ("doi", "title")),
}


def elife(new: Sequence[Reference], papers: CitedPapers, services: Services | None, show: bool) -> None:
    """References of new articles beside those of the others: unaltered, and altered one field at a time."""
    print(f"\neLife{' through services' if services else ''}: {len(new):,} references, {len(papers.versions):,} papers")
    checked = [check([Entry(reference, "new")], papers, services)[0] for reference in new]
    verdicts = Counter(result.verdict for result in checked)
    known = [result for result in checked if result.sources]
    print(f"as they are: known {len(known) / len(new):.3f}, {dict(verdicts)}")
    alarms = [result for result in known if result.verdict == "differs"]
    fields = Counter(problem.field for result in alarms for problem in result.problems if "differs" in problem.rule)
    shares = f"{len(alarms) / len(known):.4f} of the known, {len(alarms) / len(new):.4f} of all"
    print(f"false alarms: {len(alarms)} of {len(known):,} known, {len(new):,} in all: {shares}; {dict(fields)}")
    if show:
        for result in alarms:
            print("   ", result.entry.reference.title[:90], "|", [p.message for p in result.problems][:2])
    random = Random(0)
    complete = [
        result.entry.reference
        for result in known
        if result.entry.reference.doi
        and result.entry.reference.authors
        and result.entry.reference.year
        and normalise_title(result.entry.reference.title)
    ]
    sample = random.sample(complete, min(SAMPLE, len(complete)))
    total = right = 0
    for name, (alter, accepted) in ALTERATIONS.items():
        pairs = [(reference, alter(reference, random.choice(complete), random)) for reference in sample]
        altered = [changed for reference, changed in pairs if changed != reference]
        results = [check([Entry(reference, "new")], papers, services)[0] for reference in altered]
        told = [
            result.verdict == "differs" and any(problem.field in accepted for problem in result.problems)
            for result in results
        ]
        print(f"{name}: told {sum(told)} of {len(told)} = {sum(told) / len(told):.3f}")
        if show:
            missed = [result for result, is_told in zip(results, told, strict=True) if not is_told]
            for result in missed[:12]:
                print(
                    "   ",
                    result.verdict,
                    result.entry.reference.doi,
                    result.entry.reference.title[:100],
                    result.entry.reference.authors[:3],
                    result.entry.reference.year,
                )
        total, right = total + len(told), right + sum(told)
    print(f"all: told {right / total:.4f}")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", type=int, default=1, help="0 is the half that rules were chosen on")
    parser.add_argument("--show", action="store_true", help="print what was missed")
    options = parser.parse_args()
    hallmark(options.half)
    articles = list(elife_articles())
    invented_names(0, articles)
    papers = CitedPapers([reference for article in articles[NEW_ARTICLES:] for reference in article])
    new = [reference for article in articles[options.half : NEW_ARTICLES : 2] for reference in article]
    elife(new, papers, None, options.show)
    elife(new, papers, Services(AnsweredQuestions(papers)), options.show)


if __name__ == "__main__":
    main()
