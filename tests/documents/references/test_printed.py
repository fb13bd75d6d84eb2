"""Printed bibliography entries in the common styles."""

import gzip
import json
import re
import time
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents.identity import normalise_title
from whycite.documents.references.printed import BLOCK, EMPHASIS, parse_list, parse_printed

APA = "Smith, J. A., van der Berg, K., & Li, X. (2010a). A title: with, commas. Journal of Names, 12(3), 34–56."
VANCOUVER = "1. Smith JA, van der Berg K, Li X, et al. A title: with, commas. J Name. 2010;12(3):34-56. PMID: 123456"
IEEE = "[3] J. A. Smith, K. van der Berg, and X. Li, “A title: with, commas,” J. Name, vol. 12, pp. 34–56, 2010."
NATURE = "Smith, J. A., van der Berg, K. & Li, X. A title: with, commas. J. Name 12, 34–56 (2010)."
ACL = "John A. Smith, Kim van der Berg, and Xia Li. 2010. A title: with, commas. In Proceedings of ACL, pages 34–56."
CHICAGO = (
    'Smith, John, Kim van der Berg, and Xia Li. "A title: with, commas." Journal of Names 12, no. 3 (2010): 34–56.'
)
MLA = 'Smith, John A., et al. "A title: with, commas." Journal of Names 12.3 (2010): 34-56. Print.'
ELSEVIER = "J.A. Smith, K. van der Berg, X. Li, A title: with, commas, J. Name 12 (2010) 34–56."
LNCS = "Smith, J.A., van der Berg, K., Li, X.: A title: with, commas. J. Name 12(3), 34–56 (2010)"
SPRINGER = "Smith JA, van der Berg K, Li X (2010) A title: with, commas. J Name 12:34–56"
SCIENCE = "J. A. Smith, K. van der Berg, X. Li, A title: with, commas. J. Name 12, 34–56 (2010)."
HOGG = "Smith, J. A., van der Berg, K., & Li, X., 2010, A title: with, commas, arXiv:1008.4686 [astro-ph.IM]"
ON, OFF = EMPHASIS
BIBTEX = f"J. A. Smith, K. van der Berg, and X. Li.{BLOCK} A title: with, commas.{BLOCK} {ON}J. Name{OFF}, 12, 2010."
AMS = f"J. A. Smith and K. van der Berg, {ON}A title: with, commas{OFF}, J. Name 12 (2010), no. 3, 34–56."
ABNT = f"SMITH, J. A.; BERG, K. {ON}A title: with, commas{OFF}. São Paulo: Perspectiva, 2010."
STYLES = [APA, VANCOUVER, IEEE, NATURE, ACL, CHICAGO, MLA, ELSEVIER, LNCS, SPRINGER, SCIENCE, HOGG, BIBTEX, AMS, ABNT]


@pytest.mark.parametrize("text", STYLES)
def test_styles_with_titles(text: str) -> None:
    reference = parse_printed("k", text)
    assert reference.title == "A title: with, commas"
    assert reference.year == 2010
    assert reference.authors[0].lower().startswith("smith, j")
    assert reference.text == " ".join(re.sub("[\ue011\ue012]", "", text).replace(BLOCK, " ").split())


@pytest.mark.parametrize(
    ("text", "venue"),
    [
        ("J. Smith and K. Doe, Phys. Rev. Lett. 12, 345 (2010).", "Phys. Rev. Lett"),
        ("J. Smith, J. Chem. Phys. 147, 064103 (2010).", "J. Chem. Phys"),
        ("Smith, J., Doe, K., et al. 2010, ApJ, 263, 723", "ApJ"),
        (
            "R. Aaij et al. [LHCb], Eur. Phys. J. C 60 (2010), 25-45 doi:10.1140/epjc/x [arXiv:0807.1290 [hep-ex]].",
            "Eur. Phys. J. C",
        ),
        ("Y. Cao, V. Fatemi, and P. Jarillo-Herrero, Nature 556, 43 (2010).", "Nature"),
        ("J. Smith, The Journal of Chemical Physics 118, 3764 (2010b).", "The Journal of Chemical Physics"),
    ],
)
def test_styles_without_titles_give_none(text: str, venue: str) -> None:
    reference = parse_printed("k", text)
    assert (reference.title, reference.year, reference.venue) == ("", 2010, venue)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Doe A. Does E. coli matter? Evidence from the long experiment. Science. 2010;347:673–677.",
         "Does E. coli matter? Evidence from the long experiment"),
        ("Doe, A. (1999). Predicting the evolution of human influenza A. Science, 286, 1921–1925.",
         "Predicting the evolution of human influenza A"),
        ("Doe, A. (1994). “The arrival of the fittest”: Toward a theory. Bulletin of Biology, 56, 1–64.",
         "“The arrival of the fittest”: Toward a theory"),
        ("Doe A. 2010. The locomotion of cats. II. Coordination of limbs. Acta Physiol 108:283–295.",
         "The locomotion of cats. II. Coordination of limbs"),
        ("Doe, A.: Dense networks and their uses (2019)", "Dense networks and their uses"),
        ("A. Doe, Quantum theory of everything (Prentice Hall, New York, 1966).", "Quantum theory of everything"),
        ("Doe A, Roe B. In vitro growth of cells. eLife. 2019;8:e1.", "In vitro growth of cells"),
        ("Planck Collaboration. Cosmological parameters here. A&A, 571:1, 2014.", "Cosmological parameters here"),
        (r"J.~Clark and D.~A. Holton, ``A first look at graphs,'' in Proc. X, 1991.", "A first look at graphs"),
    ],
)  # fmt: skip
def test_where_titles_end(text: str, title: str) -> None:
    assert normalise_title(parse_printed("k", text).title) == normalise_title(title)


@pytest.mark.parametrize(
    ("text", "authors"),
    [
        ("Ada B. Lee , Kim Doe, and Jo Fang. On bees. ApJ, 2019.", ("Lee, Ada B.", "Doe, Kim", "Fang, Jo")),
        ("P. F Lee, A. Doe, and D. Fang. On bees. ApJ, 2019.", ("Lee, P. F", "Doe, A.", "Fang, D.")),
    ],
)
def test_names_are_read_although_a_stop_is_missing_or_a_space_too_many(text: str, authors: tuple[str, ...]) -> None:
    assert parse_printed("1", text).authors == authors


def test_a_dash_stands_for_the_authors_of_the_entry_before() -> None:
    entries = [
        ("1", "Lee, K. 2013, ApJ, 207, 35"),
        ("2", "—. 2015, ApJ, 810, 95"),
        ("3", "Fang, J. 2012, ApJ, 761, 92"),
    ]
    references = parse_list(entries)
    assert [(reference.authors, reference.year) for reference in references] == [
        (("Lee, K.",), 2013),
        (("Lee, K.",), 2015),
        (("Fang, J.",), 2012),
    ]


def test_identifiers() -> None:
    reference = parse_printed(
        "k", "Smith J. A title. J Name. 2010. https://doi.org/10.1000/ABC.1. arXiv:1203.4567v2 PMID: 99"
    )
    assert (reference.doi, reference.arxiv, reference.pmid) == ("10.1000/abc.1", "1203.4567", "99")


@pytest.mark.parametrize(
    "text", ["", "   ", "http://x.org", "12", "private communication", "…", "“", "Title only without people"]
)
def test_leaves_empty_what_cannot_be_told(text: str) -> None:
    reference = parse_printed("k", text)
    assert (reference.id, reference.title, reference.text) == ("k", "", " ".join(text.split()))


def test_mixed_citations_of_a_real_article(data: Path) -> None:
    source = (data / "formats" / "PMC6398430.nxml").read_text(encoding="utf-8")
    root = ElementTree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", source))
    citations = [*root.iter("mixed-citation")]
    right = 0
    for citation in citations:
        for surname in citation.iter("surname"):
            surname.tail = " "
        title = next(node for name in ("article-title", "chapter-title", "source") for node in citation.iter(name))
        reference = parse_printed("k", "".join(citation.itertext()))
        assert str(reference.year) == citation.findtext("year", "")[:4]
        right += normalise_title(reference.title) == normalise_title("".join(title.itertext()))
    assert len(citations) == 80
    assert right >= 78


STYLE_OF = {
    "APA": "{inverted} ({year}). {title}. {venue}, 12, 34–56.",
    "Vancouver": "{trailing}. {title}. {venue}. {year};12:34–56.",
    "IEEE": "{leading}, “{title},” {venue}, vol. 12, {year}.",
    "Elsevier": "{leading}, {title}, {venue} 12 ({year}) 34–56.",
    "Science": "{leading}, {title}. {venue} 12, 34–56 ({year}).",
    "ACL": "{full}. {year}. {title}. {venue}, 12:34–56.",
}


@pytest.mark.parametrize("style", STYLE_OF)
def test_real_references_in_many_styles(data: Path, style: str) -> None:
    right = seen = 0
    for path in sorted((data / "jats-raw").glob("*.xml.gz")):
        root = ElementTree.fromstring(gzip.decompress(path.read_bytes()))
        for citation in [*root.iter("element-citation")][::6]:
            names = [(n.findtext("surname", ""), n.findtext("given-names", "")) for n in citation.iter("name")]
            title = "".join(text for node in citation.findall("article-title") for text in node.itertext())
            if title and names and all(family and given for family, given in names):
                entry = STYLE_OF[style].format(
                    inverted=", ".join(f"{family}, {given[0]}." for family, given in names),
                    trailing=", ".join(f"{family} {given[0]}" for family, given in names),
                    leading=", ".join(f"{given[0]}. {family}" for family, given in names),
                    full=", ".join(f"{given} {family}" for family, given in names),
                    title=title,
                    venue=citation.findtext("source", "Nature"),
                    year=citation.findtext("year", "2000")[:4],
                )
                seen += 1
                right += normalise_title(parse_printed("k", entry).title) == normalise_title(title)
    assert seen > 200
    assert right / seen > 0.93


def test_entries_of_arxiv_papers_have_their_parts(data: Path) -> None:
    with gzip.open(data / "formats" / "unarxive-sample.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    entries = [entry["bib_entry_raw"] for record in records for entry in record["bib_entries"].values()]
    references = [parse_printed("k", entry) for entry in entries]
    assert len(references) > 1400
    assert sum(bool(r.authors) for r in references) / len(references) > 0.95
    assert sum(r.year is not None for r in references) / len(references) > 0.95


@pytest.mark.parametrize(
    "unit",
    ["A-", "A ", "Aa-Aa ", "A. ", "Aa, A., ", "A. Aa, ", "Aa Bb and ", "van der ", "“", '"', "1", "(2010) ", ".",
     "? Aa bb. ", ", ", "et al. ", "10.1234/)", "http://", BLOCK, EMPHASIS[0], "\\", "The Aa Team ", "\0"],
)  # fmt: skip
def test_hostile_entries_end_soon(unit: str) -> None:
    start = time.process_time()
    parse_printed("k", unit * (scaled(1_000_000) // len(unit)))
    assert time.process_time() - start < MAX_SECONDS


_PIECES = [
    "Smith",
    "J.",
    "AB",
    ", ",
    ". ",
    " and ",
    "(2010)",
    "2010",
    "“",
    "”",
    "Title of it",
    BLOCK,
    ON,
    OFF,
    ":",
    "12",
]


@given(st.lists(st.sampled_from(_PIECES)).map("".join) | st.text(max_size=120))
def test_any_text_keeps_its_text(text: str) -> None:
    reference = parse_printed("k", text)
    assert reference.id == "k"
    assert not set(reference.title + reference.venue + reference.text) & {BLOCK, ON, OFF}


def test_accents_may_be_characters_of_their_own() -> None:
    entry = unicodedata.normalize("NFD", "Šimková, M. (2019). Čas a stromy. Věda, 1, 1–10.")
    reference = parse_printed("1", entry)
    assert (reference.authors, reference.title, reference.venue) == (("Šimková, M.",), "Čas a stromy", "Věda")
