"""Papers as BibTeX, read back with our own reader and with bibtexparser."""

import re
from collections.abc import Sequence

import pytest
from bibtexparser.entrypoint import parse_string
from hypothesis import given
from hypothesis import strategies as st

from whycite.cite.exports import as_bibtex
from whycite.documents.model import Notice, Publication, Reference
from whycite.documents.references.bibtex import parse
from whycite.documents.references.reader import strip_markup
from whycite.library import Paper

# Whatever may stand in a title; control characters and half characters are in none.
TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=60)
TRICKY = st.text(st.sampled_from("{}\\%&$#_~^\"'`-!?<>,=@ aB;:()[]|é"), max_size=30)


def paper(
    title: str = "", authors: Sequence[str] = (), year: int | None = 2013, venue: str = "", **given: str
) -> Paper:
    return Paper(given.get("key", "title:x"), title, tuple(authors), year, venue, given.get("doi", ""))


def back(*papers: Paper) -> list[Reference]:
    references, warnings = parse(as_bibtex(papers), "made.bib")
    assert not warnings
    return references


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Turney, SG", "Turney, S. G."),
        ("van der Berg, ABC", "van der Berg, A. B. C."),
        ("Turney, S G", "Turney, S G"),
        ("Li, Bo", "Li, Bo"),
        ("WANG, LI", "WANG, LI"),
        ("Lee, K", "Lee, K."),
    ],
)
def test_initials_stand_apart_since_styles_keep_the_first_letter_of_each(name: str, written: str) -> None:
    assert f"author = {{{written}}}" in as_bibtex([paper("Bees", [name])])


def test_an_entry() -> None:
    dyer = paper(
        "A simple, fast, and effective reparameterization of IBM model 2",
        ["Dyer, Chris", "Chahuneau, Victor", "Smith, Noah A."],
        venue="Proceedings of NAACL & HLT",
        key="doi:10.1/a_b",
        doi="10.1/a_b",
    )
    assert as_bibtex([dyer]) == (
        "@inproceedings{dyer2013simple,\n"
        "  title = {A simple, fast, and effective reparameterization of {IBM} model 2},\n"
        "  author = {Dyer, Chris and Chahuneau, Victor and Smith, Noah A.},\n"
        "  year = {2013},\n"
        "  booktitle = {Proceedings of NAACL \\& HLT},\n"
        "  doi = {10.1/a_b},\n"
        "}\n"
    )


@pytest.mark.parametrize(
    ("title", "written"),
    [
        ("The crow (Corvus corone)", "The crow ({Corvus} corone)"),
        ("(DNA) and “IBM”, NAACL: p. 3", "({DNA}) and “{IBM}”, {NAACL}: p. 3"),
        ("Cas9-mediated mRNA's & (A_B)", "Cas9-mediated {mRNA's} \\& ({A\\_B})"),
    ],
)
def test_braces_are_around_the_word_alone(title: str, written: str) -> None:
    assert f"title = {{{written}}}," in as_bibtex([paper(title)])


@pytest.mark.parametrize(
    ("venue", "written"),
    [
        ("Proceedings of ACL", "booktitle = {Proceedings of ACL}"),
        ("In Proceedings of the 5th Workshop on Bees", "booktitle = {Proceedings of the 5th Workshop on Bees}"),
        ("Proc. ICML", "booktitle = {Proc. ICML}"),
        ("Conference on Bees", "booktitle = {Conference on Bees}"),
        ("2017 IEEE International Conference on Bees", "booktitle = {2017 IEEE International Conference on Bees}"),
        (
            "Proceedings of the Annual Meeting of the Bee Society",
            "booktitle = {Proceedings of the Annual Meeting of the Bee Society}",
        ),
        ("Journal of Bees", "journal = {Journal of Bees}"),
        ("Journal of Bees: Conference Series", "journal = {Journal of Bees: Conference Series}"),
        ("Advances in Processing Bees", "journal = {Advances in Processing Bees}"),
        ("In Practice", "journal = {In Practice}"),
        ("Proceedings of the IEEE", "journal = {Proceedings of the IEEE}"),
        ("Proceedings of the Royal Society B", "journal = {Proceedings of the Royal Society B}"),
        ("Proc. Natl. Acad. Sci.", "journal = {Proc. Natl. Acad. Sci.}"),
        ("Proceedings. Biological sciences", "journal = {Proceedings. Biological sciences}"),
    ],
)
def test_a_meeting_is_no_journal(venue: str, written: str) -> None:
    entry = as_bibtex([paper("Rest", venue=venue)])
    assert f"  {written},\n" in entry
    assert entry.startswith("@inproceedings{" if "booktitle" in written else "@article{")
    (found,) = back(paper("Rest", venue=venue))
    assert found.venue == written.partition("{")[2][:-1]


def test_what_is_not_known_is_left_out() -> None:
    assert as_bibtex([paper(year=None)]) == "@misc{anonymous,\n}\n"


def test_a_series_a_publisher_and_a_notice_are_named_once() -> None:
    report = Publication(type="report", publisher="NBER", series="Working Papers", issue="7")
    part = Publication(type="chapter", publisher="Wiley", pages="7-9")
    notice = Notice("retraction", doi="10.1/x")
    written = as_bibtex(
        [
            Paper("title:a", "Money", (), 2018, "Working Papers", "", publication=report),
            Paper("title:b", "Bees", (), 1999, "Wiley", "", publication=part),
            Paper("doi:10.1/x", "Ants", (), 2001, "", "10.1/x", status="retracted", notices=(notice,)),
        ]
    )
    assert re.findall(r"@\w+|\w+ = {(?:Working Papers|Wiley|Retracted.*)}", written) == [
        "@techreport", "series = {Working Papers}", "@book", "publisher = {Wiley}", "@misc", "note = {Retracted}",
    ]  # fmt: skip


def test_no_papers() -> None:
    assert as_bibtex([]) == ""


def test_identifiers_of_the_key() -> None:
    arxiv, pmid, doi = back(
        paper("One", key="arxiv:1706.03762"), paper("Two", key="pmid:123"), paper("3", key="doi:10.1/x")
    )
    assert (arxiv.arxiv, pmid.pmid, doi.doi) == ("1706.03762", "123", "10.1/x")


def test_a_strange_doi_survives() -> None:
    (found,) = back(paper("One", doi="10.1002/(sici)1097-0258(19980815)17:15<1661::aid%sim968>3.0.co;2-2"))
    assert found.doi == "10.1002/(sici)1097-0258(19980815)17:15<1661::aid%sim968>3.0.co;2-2"


@pytest.mark.parametrize(
    ("authors", "title", "key"),
    [
        (["Müller, K."], "The β-cell of mice", "muller2013beta"),
        (["van der Berg, Jan"], "On and on", "vanderberg2013"),
        (["World Health Organization"], "1,000 days", "worldhealthorganization2013days"),
        ([], "Experience-dependent plasticity", "anonymous2013experience"),
        (["山田, 太郎"], "細胞", "anonymous2013"),
    ],
)
def test_keys_can_be_read(authors: list[str], title: str, key: str) -> None:
    assert [entry.id for entry in back(paper(title, authors))] == [key]


def test_keys_are_unique() -> None:
    same = paper("Cells", ["Doe, J."])
    references = parse(as_bibtex([same, same, same], used_keys=["doe2013cells-2", "other"]), "made.bib")[0]
    assert [reference.id for reference in references] == ["doe2013cells", "doe2013cells-3", "doe2013cells-4"]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("Dyer, Chris", "Dyer, Chris"),
        ("Chris Dyer", "Dyer, Chris"),
        ("World Health Organization", "World Health Organization"),
        ("Food and Agriculture Organization", "Food and Agriculture Organization"),
        ("Smith, J., Doe", "Smith, J., Doe"),
        ("Plato", "Plato"),
        ("O'Neil, {J}", "O'Neil, {J}"),
        ("Müller & Sons", "Müller & Sons"),
    ],
)
def test_each_author_stays_one(given: str, read: str) -> None:
    (found,) = back(paper("Cells", [given, "Last, One"]))
    assert found.authors == (read, "Last, One")


def test_bodies_are_in_braces() -> None:
    assert "{{World Health Organization} and Doe, Jane}" in as_bibtex(
        [paper("Cells", ["World Health Organization", "Doe, Jane"])]
    )


@given(st.one_of(TEXTS, TRICKY), st.one_of(TEXTS, TRICKY))
def test_texts_survive(title: str, venue: str) -> None:
    (found,) = back(paper(f"A {title} z", venue=f"A {venue} z"))
    # The reader takes HTML away, whatever format it reads.
    assert (found.title, found.venue) == (strip_markup(f"A {title} z"), strip_markup(f"A {venue} z"))


@given(st.lists(st.one_of(TEXTS, TRICKY), min_size=1, max_size=4))
def test_another_reader_reads_it_too(titles: list[str]) -> None:
    library = parse_string(as_bibtex([paper(f"A {title} z", [title]) for title in titles]))
    assert not library.failed_blocks
    assert len(library.entries) == len(titles)
