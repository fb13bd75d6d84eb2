"""RIS files and PubMed's .nbib."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents.model import Document, Publication, Reference
from whycite.documents.references.ris import READER, parse

RIS = """TY  - JOUR
ID  - smith2010
AU  - Smith, John A.
AU  - van der Berg, Jan, Jr.
TI  - A title that
  goes on.
T2  - Nature
PY  - 2010/05/03/
VL  - 466
IS  - 7
SP  - 12
EP  - 19
SN  - 0028-0836
PB  - Springer
A2  - Roe, Rita
DO  - https://doi.org/10.1038/NATURE1
N2  - An abstract.
UR  - http://www.ncbi.nlm.nih.gov/pubmed/123456
ER  -

"""
NBIB = """
PMID- 27050461
OWN - NLM
DP  - 2016 Apr 6
TI  - Some long title of a paper
      that goes on.
FAU - Smith, John
AU  - Smith J
VI  - 11
IP  - 4
PG  - e1-12
IS  - 1932-6203 (Electronic)
PMC - PMC4822000
LID - 1234 [pii]
LID - 10.1371/journal.pone.0000001 [doi]
TA  - PLoS One
JT  - PloS one
AB  - Abstract text

PMID- 2
TI  - Second.
"""


@pytest.mark.parametrize("text", [RIS, RIS.replace("\n", "\r\n"), "\ufeff" + RIS, RIS.replace("ER  -\n", "")])
def test_reads_a_record(text: str) -> None:
    references, warnings = parse(text, "refs.ris")
    assert warnings == []
    assert references == [
        Reference(
            id="smith2010",
            title="A title that goes on",
            authors=("Smith, John A.", "van der Berg, Jan Jr."),
            year=2010,
            venue="Nature",
            doi="10.1038/nature1",
            pmid="123456",
            abstract="An abstract.",
            publication=Publication(
                type="article-journal",
                date="2010-05-03",
                editors=("Roe, Rita",),
                volume="466",
                issue="7",
                pages="12-19",
                publisher="Springer",
                issn="0028-0836",
                url="http://www.ncbi.nlm.nih.gov/pubmed/123456",
            ),
        )
    ]


def test_reads_pubmed_records() -> None:
    references, _ = parse(NBIB, "refs.nbib")
    assert references[0] == Reference(
        id="27050461",
        title="Some long title of a paper that goes on",
        authors=("Smith, John",),
        year=2016,
        venue="PloS one",
        doi="10.1371/journal.pone.0000001",
        pmid="27050461",
        abstract="Abstract text",
        publication=Publication(
            type="article-journal",
            date="2016-04-06",
            volume="11",
            issue="4",
            pages="e1-12",
            issn="1932-6203",
            pmcid="PMC4822000",
        ),
    )
    assert [r.id for r in references] == ["27050461", "2"]


@pytest.mark.parametrize(
    ("lines", "name", "value"),
    [
        ("T1  - Title", "title", "Title"),
        ("CT  - Title", "title", "Title"),
        ("TI  - A &amp; <i>B</i>", "title", "A & B"),
        ("A1  - Doe, Jane", "authors", ("Doe, Jane",)),
        ("ED  - Doe, Jane", "authors", ("Doe, Jane",)),
        ("AU  - World Health Organization", "authors", ("World Health Organization",)),
        ("Y1  - 1999///", "year", 1999),
        ("DA  - 1999/01", "year", 1999),
        ("JO  - J. Name", "venue", "J. Name"),
        ("JF  - Journal of Names", "venue", "Journal of Names"),
        ("PB  - Springer", "venue", "Springer"),
        ("UR  - https://doi.org/10.1000/x.1", "doi", "10.1000/x.1"),
        ("N1  - doi: 10.1000/x.2", "doi", "10.1000/x.2"),
        ("UR  - https://arxiv.org/abs/1203.4567", "arxiv", "1203.4567"),
        ("DB  - Medline\nAN  - 19872477", "pmid", "19872477"),
        ("AN  - 19872477", "pmid", ""),
        ("AB  - Abstract", "abstract", "Abstract"),
        ("SN  - 978-3-16-148410-0", "isbn", ""),
        ("AU  -\nTI  - T", "authors", ()),
    ],
)
def test_finds_fields_where_they_stand(lines: str, name: str, value: object) -> None:
    (reference,) = parse(f"TY  - JOUR\n{lines}\nER  - \n", "refs.ris")[0]
    assert getattr(reference, name) == value


def test_proceedings_stand_where_zotero_writes_them() -> None:
    record = "TY  - CONF\nTI  - A\nC3  - Proceedings of Bees\nPB  - Springer\n"
    assert parse(record, "refs.ris")[0][0].venue == "Proceedings of Bees"
    assert parse(record.replace("CONF", "BOOK"), "refs.ris")[0][0].venue == "Springer"


def test_books_have_an_isbn() -> None:
    assert parse("TY  - BOOK\nSN  - 978-3-16-148410-0\n", "refs.ris")[0][0].isbn == "9783161484100"


def test_records_without_id_are_numbered_and_the_first_of_two_is_used() -> None:
    references, warnings = parse(
        "TY  - JOUR\nTI  - A\nER  -\nTY  - JOUR\nTI  - B\nTY  - JOUR\nID  - ref1\n", "refs.ris"
    )
    assert [(r.id, r.title) for r in references] == [("ref1", "A"), ("ref2", "B")]
    assert warnings == ["refs.ris:6: duplicate id 'ref1'; using the first record"]


def test_reader_and_sniff(read_bytes: Callable[..., list[Document]]) -> None:
    (document,) = read_bytes(READER, RIS.encode("utf-8-sig"), "refs.ris")
    assert (document.format, [r.id for r in document.references]) == ("ris", ["smith2010"])
    assert READER.sniff(RIS.encode("utf-8-sig"))
    assert READER.sniff(NBIB.encode())
    assert not READER.sniff(b"Some prose - with a dash\n@article{k,}")


@pytest.mark.parametrize("unit", ["TY  - JOUR\n", "a\n", "AU  - a\n", "-", " ", "\n", "AB  - \n x\n", "\0", "TI  - <i"])
def test_hostile_files_end_soon(unit: str) -> None:
    start = time.process_time()
    parse("TY  - JOUR\nTI  - x\n" + unit * scaled(50_000), "refs.ris")
    assert time.process_time() - start < MAX_SECONDS


_PIECES = ["TY  - JOUR", "ER  - ", "AU  - ", "TI  - x", "PMID- 1", "\n", "\r\n", " y", "ID  - k", "PY  - 1"]


@given(st.lists(st.sampled_from(_PIECES)).map("".join) | st.text(max_size=80))
def test_any_text_gives_references_with_ids_of_their_own(text: str) -> None:
    references, _ = parse(text, "refs.ris")
    assert len({reference.id for reference in references}) == len(references)
