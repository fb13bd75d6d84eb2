"""Identifiers are found in messy fields, and references of one paper are joined, no others."""

import io
import json
import random
import time
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, examples, scaled
from whycite.documents.identity import (
    Papers,
    group_references,
    normalise_arxiv,
    normalise_doi,
    normalise_isbn,
    normalise_pmid,
    normalise_title,
    paper_key,
    title_key,
)
from whycite.documents.model import Reference
from whycite.documents.references import bibtex
from whycite.documents.sources import decode

LONG = "Measuring the slow drift of synthetic references in a long run"


def ref(
    title: str = LONG,
    author: str = "Smith, Jane",
    year: int | None = 2010,
    doi: str = "",
    arxiv: str = "",
    pmid: str = "",
    isbn: str = "",
    venue: str = "",
) -> Reference:
    authors = (author,) if author else ()
    return Reference("r", title, authors, year, venue, doi=doi, arxiv=arxiv, pmid=pmid, isbn=isbn)


def same(*references: Reference) -> bool:
    """Whether all are one paper, whatever their order."""
    groups = group_references(references)
    assert partition(references) == partition(references[::-1])
    return len(set(groups)) == 1


def partition(references: tuple[Reference, ...] | list[Reference]) -> set[frozenset[Reference]]:
    parts: dict[int, set[Reference]] = {}
    for reference, number in zip(references, group_references(references), strict=True):
        parts.setdefault(number, set()).add(reference)
    return {frozenset(part) for part in parts.values()}


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("10.1038/NATURE12373", "10.1038/nature12373"),
        ("https://doi.org/10.1/ABC.", "10.1/abc"),
        ("http://dx.doi.org/10.1016/j.cell.2010.01.001", "10.1016/j.cell.2010.01.001"),
        ("doi:10.1038/nature12373).", "10.1038/nature12373"),
        ("doi: 10.1038/nature12373;", "10.1038/nature12373"),
        ("(https://doi.org/10.1016/S0140-6736(20)30183-5)", "10.1016/s0140-6736(20)30183-5"),
        ("10.1016/S0140‐6736(20)30183–5", "10.1016/s0140-6736(20)30183-5"),
        ("10.1234/ab\u200bc", "10.1234/abc"),
        ("https://doi.org/10.1002%2Fabc.123", "10.1002/abc.123"),
        (r"10.1007/978-3-319-24574-4{\_}28", "10.1007/978-3-319-24574-4_28"),
        (
            "10.1002/(SICI)1097-4571(199806)49:8&lt;693::AID-ASI4&gt;3.0.CO;2-O",
            "10.1002/(sici)1097-4571(199806)49:8<693::aid-asi4>3.0.co;2-o",
        ),
        ("10.1002/(SICI)1097-4571(199806)49:8", ""),  # the issue, not the paper
        ('<a href="https://doi.org/10.1234/abc">10.1234/abc</a>', "10.1234/abc"),
        ("10.1101/2020.01.01.123456v2.full.pdf", "10.1101/2020.01.01.123456"),
        ("10.3389/fnins.2013.00001/full", "10.3389/fnins.2013.00001"),
        ("10.1371/journal.pone.0012345.g001", "10.1371/journal.pone.0012345"),
        ("10.7554/eLife.06738.001", "10.7554/elife.06738"),
        ("10.1037//0033-295X.84.3.279", "10.1037/0033-295x.84.3.279"),
        ("10.1093/nar/gkl888.PMC1781104", "10.1093/nar/gkl888"),
        ("10.1093/nar/gkl888;PMID:22", "10.1093/nar/gkl888"),
        ("10.1234/a, 10.1234/b", "10.1234/a"),
        ("a ratio of 10.5/3", ""),
        ("version 110.1234/abc", ""),
        ("10.1234/", ""),
        ("", ""),
    ],
)
def test_doi_in_messy_fields(text: str, doi: str) -> None:
    assert normalise_doi(text) == doi
    assert normalise_doi(doi) == doi


@pytest.mark.parametrize(
    ("text", "arxiv"),
    [
        ("1706.03762", "1706.03762"),
        ("1706.03762v5", "1706.03762"),
        ("arXiv:1706.03762 [cs.CL]", "1706.03762"),
        ("https://arxiv.org/pdf/1706.03762v5.pdf", "1706.03762"),
        ("arXiv preprint arXiv:0704.0001", "0704.0001"),
        ("CoRR, abs/1706.03762", "1706.03762"),
        ("10.48550/arXiv.1706.03762", "1706.03762"),
        ("10.48550/arXiv.math/0309136", "math/0309136"),
        ("hep-th/9901001v2", "hep-th/9901001"),
        ("math.GT/0309136", "math/0309136"),
        ("arXiv:astro-ph/9901001", "astro-ph/9901001"),
        ("https://arxiv.org/abs/cond-mat/0309136v1", "cond-mat/0309136"),
        ("1713.03762", ""),  # there is no thirteenth month
        ("10.1021/1706.03762", ""),
        ("pages 1706.03762", ""),
        ("aftermath/0309136", ""),
        ("", ""),
    ],
)
def test_arxiv_in_messy_fields(text: str, arxiv: str) -> None:
    assert normalise_arxiv(text) == arxiv


@pytest.mark.parametrize(
    ("text", "pmid"),
    [
        ("12345678", "12345678"),
        (" 00123 ", "123"),
        ("PMID: 123", "123"),
        ("PubMed ID: 123", "123"),
        ("https://pubmed.ncbi.nlm.nih.gov/12345678/", "12345678"),
        ("https://www.ncbi.nlm.nih.gov/pubmed/?term=123", "123"),
        ("PMC123", ""),
        ("PMCID: PMC123", ""),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/", ""),
        ("123456789", ""),
        ("0", ""),
    ],
)
def test_pmid_is_not_a_pmc_id(text: str, pmid: str) -> None:
    assert normalise_pmid(text) == pmid


@pytest.mark.parametrize(
    ("text", "isbn"),
    [
        ("0-262-03384-4", "9780262033848"),
        ("978-0-262-03384-8", "9780262033848"),
        ("ISBN 0262033844 (hbk)", "9780262033848"),
        ("080442957X", "9780804429573"),
        ("978–0–262–03384–8, 0804429570", "9780262033848"),
        ("9780262033849", ""),
        ("1234567890", ""),
    ],
)
def test_isbn_is_checked_and_has_thirteen_digits(text: str, isbn: str) -> None:
    assert normalise_isbn(text) == isbn


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Attention Is All You Need.", "attention is all you need"),
        ("TGFβ in <i>E. coli</i>", "tgfbeta in e coli"),
        (r"The {DNA} of $\alpha$-synuclein", "the dna of alpha synuclein"),
        ("Über die Straße: ‘Ænigma’", "uber die strasse aenigma"),
        ("Signal &amp; noise", "signal noise"),
        ("CO₂ and ﬁre", "co2 and fire"),
        ("深度学习", "深度学习"),
        ("...", ""),
    ],
)
def test_title(text: str, title: str) -> None:
    assert normalise_title(text) == title


@pytest.mark.parametrize(
    ("reference", "key"),
    [
        (ref(doi="https://doi.org/10.1038/X1", arxiv="1706.03762", pmid="5"), "doi:10.1038/x1"),
        (ref(doi="10.48550/arXiv.1706.03762", pmid="5"), "arxiv:1706.03762"),
        (ref(doi="arXiv:1706.03762v2"), "arxiv:1706.03762"),
        (ref(doi="10.48550/other.5"), "doi:10.48550/other.5"),
        (ref(arxiv="math.GT/0309136v1"), "arxiv:math/0309136"),
        (ref(pmid="PMID 5"), "pmid:5"),
        (ref(pmid="PMC5"), f"title:{LONG.lower()}|2010"),
        (ref(year=None), f"title:{LONG.lower()}"),
        (ref("Deep learning", "LeCun, Y.", 2015), "title:deep learning|2015|lecun"),
        (ref("Deep learning", "", 2015), "title:deep learning|2015"),
        (ref("Editorial", "Smith, J.", 2015, venue="J. Phys."), "title:editorial|2015|smith|j phys"),
        (Reference("r", text="Smith J., private notes"), "title:smith j private notes"),
        (Reference("r"), ""),
    ],
)
def test_key(reference: Reference, key: str) -> None:
    assert paper_key(reference) == key


def test_key_of_a_title() -> None:
    assert title_key(LONG, 2010) == paper_key(Reference("r", title=LONG, year=2010))
    assert not title_key(LONG, None)
    assert not title_key("Deep learning", 2015)


SAME = {
    "doi in two spellings": (ref(doi="10.1038/X1"), ref("Other", doi="https://doi.org/10.1038/x1.")),
    "arXiv versions": (ref(arxiv="1706.03762v1"), ref("Other", doi="10.48550/arXiv.1706.03762")),
    "arXiv id beside a DOI": (ref("A", doi="10.1038/x1", arxiv="1706.03762"), ref("B", arxiv="1706.03762v3")),
    "PMID beside a DOI": (ref("A", doi="10.1038/x1", pmid="5"), ref("B", "Doe, A.", pmid="5")),
    "two DOIs, PMID and title": (ref(doi="10.1038/x1", pmid="5"), ref(doi="10.1038/x2", pmid="5")),
    "ISBN-10 and ISBN-13": (
        ref("Algorithms", "Cormen, T.", 2009, isbn="0-262-03384-4"),
        ref("Algorithms", "", 2001, isbn="9780262033848"),
    ),
    "title and year within one": (ref(), ref(year=2011)),
    "short title, same author": (ref("Attention is all you need"), ref("Attention Is All You Need", year=2011)),
    "no identifier with a DOI": (ref(), ref(year=2011, doi="10.1038/x1")),
    "PMID with a DOI": (ref(pmid="5"), ref(doi="10.1038/x1")),
    "preprint and paper": (ref(doi="10.1101/2020.01.01.123456", year=2020), ref(doi="10.1038/x1", year=2022)),
    "arXiv and paper": (ref(arxiv="1706.03762", year=2017), ref(doi="10.1038/x1", year=2019)),
    "preprint by its venue": (ref(venue="bioRxiv", year=2017), ref(doi="10.1038/x1", year=2019)),
    "initials only": (ref(author="Smith J"), ref(author="Smith, Jane", year=2011)),
    "accents": (ref(author="Müller, A."), ref(author="Mueller, Anna", year=2011), ref(author="Muller", year=2010)),
    "particles": (ref(author="van der Berg, A."), ref(author="Berg, A. van der", year=2011)),
    "double names": (ref(author="Holler-Rickauer, S."), ref(author="Holler, S.", year=2011)),
    "O'Brien": (ref(author="O’Brien, C."), ref(author="OBrien, C.", year=2011)),
    "author missing, same year": (ref(author=""), ref(doi="10.1038/x1")),
    "author misread, same year": (ref(author="Jane, S."), ref(doi="10.1038/x1")),
    "year missing": (ref(year=None), ref(doi="10.1038/x1")),
    "title spelt apart": (
        ref("The data base of all the small things & others"),
        ref("Database of all the small things and others"),
    ),
    "subtitle cut": (
        ref("On the nature of things"),
        ref("On the nature of things: a poem in six books", doi="10.1038/x1"),
    ),
    "Greek": (ref("The role of TGF-β in the growth of roots"), ref("The role of TGFbeta in the growth of roots")),
}  # fmt: skip

DIFFERENT = {
    "two DOIs": (ref(doi="10.1038/x1"), ref(doi="10.1038/x2")),
    "two PMIDs": (ref(pmid="5"), ref(pmid="6")),
    "two arXiv ids": (ref(arxiv="1706.03762"), ref(arxiv="1706.03763")),
    "a PMID on the wrong entry": (
        ref("The wing of the fly", doi="10.1038/x1", pmid="5"),
        ref("The eye of the fly", doi="10.1038/x2", pmid="5"),
    ),
    "chapters of a book": (ref("First chapter", isbn="0262033844"), ref("Second chapter", isbn="0262033844")),
    "two years apart": (ref(), ref(year=2012)),
    "published two years apart": (ref(doi="10.1038/x1"), ref(year=2012)),
    "preprint long before": (ref(arxiv="1706.03762", year=2010), ref(doi="10.1038/x1", year=2016)),
    "another author, another year": (ref(), ref(author="Doe, A.", year=2011)),
    "short title, another author": (ref("Deep learning", "LeCun, Y."), ref("Deep learning", "Schmidhuber, J.")),
    "short title, no author": (ref("Deep learning", "LeCun, Y.", doi="10.1038/x1"), ref("Deep learning", "")),
    "editorials": (ref("Editorial", venue="Nature", doi="10.1038/x1"), ref("Editorial", venue="Nature")),
    "volumes": (
        ref("Proceedings of the twelfth annual conference on small things", "Doe, A."),
        ref("Proceedings of the twelfth annual conference on small things", "Roe, B."),
    ),
    "parts of a series": (
        ref("The locomotion of the low spinal cat: I. Coordination"),
        ref("The locomotion of the low spinal cat: II. Interlimb movement"),
        ref("The locomotion of the low spinal cat"),
    ),
    "other subtitles": (
        ref("On the nature of things: a poem"),
        ref("On the nature of things: a commentary"),
        ref("On the nature of things"),
    ),
    "nothing known": (Reference("a"), Reference("b")),
}


@pytest.mark.parametrize("case", SAME)
def test_same_paper(case: str) -> None:
    assert same(*SAME[case])


@pytest.mark.parametrize("case", DIFFERENT)
def test_different_papers(case: str) -> None:
    references = DIFFERENT[case]
    assert len(set(group_references(references))) == len(references)
    assert partition(references) == partition(references[::-1])


def test_reference_without_identifier_does_not_bridge_two_papers() -> None:
    paper, erratum, bare = ref(doi="10.1038/x1"), ref(doi="10.1038/x2"), ref()
    first, second, third, fourth = group_references([paper, paper, erratum, bare])
    assert first == second == fourth != third


def test_nearest_year_wins() -> None:
    old, new, bare = ref(doi="10.1038/x1", year=2009), ref(doi="10.1038/x2", year=2011), ref(year=2011)
    assert group_references([old, old, new, bare]) == [0, 0, 1, 1]


def test_years_do_not_chain() -> None:
    first, second, third = group_references(ref(year=year) for year in (2010, 2011, 2012))
    assert first != third
    assert second in (first, third)


def test_series_is_many_papers() -> None:
    assert len(set(group_references(ref(year=year) for year in range(2010, 2014)))) == 4


def test_undated_reference_joins_only_one_candidate() -> None:
    early, late, undated = ref(year=2001), ref(year=2011), ref(year=None)
    assert group_references([early, undated]) == [0, 0]
    assert group_references([early, late, undated]) == [0, 1, 2]


def test_wrong_pmid_leaves_reference_alone() -> None:
    one = ref("The wing of the fly", doi="10.1038/x1", pmid="5")
    two = ref("The eye of the fly", doi="10.1038/x2", pmid="5")
    three = ref("The eye of the fly", pmid="5")
    assert group_references([one, two, three]) == [0, 1, 1]


def test_representative_has_the_best_key() -> None:
    papers = Papers()
    references = [ref(), ref(arxiv="1706.03762"), ref(doi="10.1101/2020.01.01.123456"), ref(doi="10.1038/x1")]
    for reference in [*references, ref("Another title altogether", doi="10.1038/x9")]:
        papers.add(reference)
    assert papers.groups() == [0, 0, 0, 0, 1]
    assert papers.representatives() == [3, 4]
    papers.add(ref("Another title altogether"))
    assert papers.groups() == [0, 0, 0, 0, 1, 1]
    assert len(papers) == 6


_TITLES = [LONG, "Deep learning", "Deep learning: a review of reviews", "Editorial", "On the deep nature of things"]
_REFERENCES = st.builds(
    ref,
    title=st.sampled_from([*_TITLES, "On the deep nature of things: a poem", ""]),
    author=st.sampled_from(["Smith, J.", "Smith-Jones, J.", "Jones, B.", "Doe, A.", ""]),
    year=st.sampled_from([None, 2009, 2010, 2011, 2012, 2014]),
    doi=st.sampled_from(["", "", "10.1038/x1", "10.1038/x2", "10.1101/123456", "10.21203/rs.3.rs-1/v1"]),
    arxiv=st.sampled_from(["", "", "1706.03762", "1706.03763"]),
    pmid=st.sampled_from(["", "", "5", "6"]),
    isbn=st.sampled_from(["", "0262033844"]),
    venue=st.sampled_from(["", "arXiv"]),
)


@settings(max_examples=examples(300))
@given(st.lists(_REFERENCES, max_size=12), st.randoms(use_true_random=False))
def test_partition_does_not_depend_on_order(references: list[Reference], chance: random.Random) -> None:
    shuffled = references[:]
    chance.shuffle(shuffled)
    assert partition(references) == partition(shuffled)


@settings(max_examples=examples(300))
@given(st.lists(_REFERENCES, max_size=12))
def test_equal_keys_are_one_paper(references: list[Reference]) -> None:
    check_equivalence(references)


@settings(max_examples=examples(300))
@given(st.lists(_REFERENCES.map(lambda r: replace(r, pmid="", arxiv="", isbn="")), max_size=12))
def test_titles_never_join_two_published_papers_or_distant_years(references: list[Reference]) -> None:
    for paper in partition(references):
        assert len({r.doi for r in paper if r.doi.startswith("10.1038/")}) <= 1
        if not any(r.doi or r.venue for r in paper):
            years = [r.year for r in paper if r.year]
            assert max(years, default=0) - min(years, default=0) <= 1


def check_equivalence(references: list[Reference]) -> None:
    """Equal keys are one paper, adding a copy changes nothing, and every paper has a key of its own."""
    papers = Papers()
    for reference in references:
        papers.add(reference)
    numbers = papers.groups()
    by_key: dict[str, set[int]] = {}
    for reference, number in zip(references, numbers, strict=True):
        by_key.setdefault(paper_key(reference), set()).add(number)
    by_key.pop("", None)
    assert all(len(of_key) == 1 for of_key in by_key.values())
    keys = [paper_key(references[index]) for index in papers.representatives()]
    assert [numbers[index] for index in papers.representatives()] == list(range(len(keys)))
    named = [key for key in keys if key]
    assert len(set(named)) == len(named)
    doubled = group_references([*references, *(reference for reference in references if paper_key(reference))])
    assert doubled[: len(references)] == numbers


def elife(path: Path) -> list[Reference]:
    """The references of a shard of the eLife pack."""
    references = []
    with path.open("rb") as file:
        for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), encoding="utf-8"):
            for id, entry in json.loads(line)["bib_entries"].items():
                names = [name.rpartition(" ") for name in entry["authors"]]
                references.append(
                    Reference(
                        id,
                        entry["title"],
                        tuple(f"{family}, {given}" if family else given for family, _, given in names),
                        entry["year"],
                        entry.get("venue") or "",
                        doi=entry.get("doi") or "",
                        pmid=entry.get("pmid") or "",
                    )
                )
    return references


def hide(references: list[Reference], chance: random.Random) -> list[Reference]:
    """The references, half of them without identifiers."""
    return [replace(r, doi="", pmid="") if chance.random() < 0.5 else r for r in references]


def test_equivalence_on_real_references(data: Path) -> None:
    references = hide(elife(data / "elife" / "elife-tiny.jsonl.zst"), random.Random(1))
    check_equivalence(references)
    shuffled = references[:]
    random.Random(2).shuffle(shuffled)
    assert partition(references) == partition(shuffled)


@pytest.mark.slow
def test_equivalence_on_many_real_references(data: Path) -> None:
    references = hide(elife(data / "elife" / "elife-00.jsonl.zst"), random.Random(1))
    check_equivalence(references)
    shuffled = references[:]
    random.Random(2).shuffle(shuffled)
    assert partition(references) == partition(shuffled)


@pytest.mark.slow
def test_hidden_references_find_their_paper(data: Path) -> None:
    references = [r for shard in (0, 1, 2) for r in elife(data / "elife" / f"elife-{shard:02}.jsonl.zst") if r.doi]
    told = hide(references, random.Random(1))
    groups = group_references(told)
    shown: dict[str, int] = {}
    dois: dict[int, str] = {}
    for reference, number in zip(told, groups, strict=True):
        if reference.doi:
            shown[normalise_doi(reference.doi)] = number
            dois[number] = normalise_doi(reference.doi)
    found = [
        (shown[normalise_doi(real.doi)] == number, number in dois)
        for real, reference, number in zip(references, told, groups, strict=True)
        if not reference.doi and normalise_doi(real.doi) in shown
    ]
    assert sum(right for right, _ in found) / len(found) > 0.98
    assert sum(joined and not right for right, joined in found) / len(found) < 0.01


def test_equivalence_on_bibliographies_of_drafts(data: Path) -> None:
    references: list[Reference] = []
    for path in sorted((data / "drafts").rglob("*.bib"))[:12]:
        references += bibtex.parse(decode(path.read_bytes())[0], path.name)[0]
    assert references
    check_equivalence(references)
    assert partition(references) == partition(references[::-1])


@pytest.mark.parametrize("unit", ["10.1234/", "doi:", ")", "1706.", "0", "978-", "<a", "&lt;", "pmid", "{\\_}", "a "])
def test_linear_on_hostile_fields(unit: str) -> None:
    text = unit * (scaled(1_000_000) // len(unit))
    start = time.process_time()
    group_references([ref(text, text, 2010, f"10.1234/{text}", f"arxiv {text}", text, text, text)])
    assert time.process_time() - start < MAX_SECONDS


def test_linear_on_one_title_for_all() -> None:
    start = time.process_time()
    many = [ref(author=f"Name{n % 500}, A.", year=1900 + n % 100, doi=f"10.1038/x{n}") for n in range(scaled(20_000))]
    many += [ref("Introduction to it", author=f"Name{n % 500}, A.", year=1900 + n % 100) for n in range(scaled(20_000))]
    many += [ref("Wrong", doi=f"10.1038/y{n}", pmid="1") for n in range(scaled(20_000))]
    group_references(many)
    assert time.process_time() - start < MAX_SECONDS
