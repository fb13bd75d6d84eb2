"""Markers of plain text are found, kept apart and linked."""

import io
import json
import time
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents.markers import Marker, find_markers, find_reference_list, names_source, split_references
from whycite.documents.model import Reference

PAPERS = [
    Reference("smith", authors=("Smith, J.",), year=2010),
    Reference("smithlee", authors=("Smith, J.", "Lee, K."), year=2010),
    Reference("smithetal", authors=("Smith, J.", "Lee, K.", "Brown, A."), year=2011),
    Reference("kim-a", authors=("Lee, K.", "Kim, S."), year=2012),
    Reference("kim-b", authors=("Lee, K.", "Kim, S."), year=2012),
    Reference("berg", authors=("van der Berg, A.",), year=1999),
    Reference("muller", authors=("Müller-Lyer, F.", "Ørsted, H.", "Łoś, J."), year=1889),
    Reference("who", authors=("World Health Organization",), year=2019),
    Reference("jones", authors=("Jones, B.",), text="Jones, B. Of mice. In press."),
    Reference("pandas", authors=("The pandas development team",), year=2020),
]
NUMBERED = [Reference(str(number), authors=("Doe, J.",), year=1900 + number) for number in range(1, 21)]


def shown(text: str, references: list[Reference]) -> list[tuple[str, tuple[str, ...]]]:
    return [(text[m.start : m.end], m.keys) for m in find_markers(text, references)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is so (Smith, 2010).", [("Smith, 2010", ("smith",))]),
        ("It is so (Smith and Lee, 2010).", [("Smith and Lee, 2010", ("smithlee",))]),
        ("It is so (Smith & Lee 2010).", [("Smith & Lee 2010", ("smithlee",))]),
        (
            "So (Smith et al., 2011; Lee and Kim 2012a,b).",
            [("Smith et al., 2011", ("smithetal",)), ("Lee and Kim 2012a,b", ("kim-a", "kim-b"))],
        ),
        ("However, Smith et al. (2011) say so.", [("Smith et al. (2011)", ("smithetal",))]),
        ("In Smith and Lee's (2010) words.", [("Smith and Lee's (2010)", ("smithlee",))]),
        ("Smith, Lee, and Brown (2011) say so.", [("Smith, Lee, and Brown (2011)", ("smithetal",))]),
        (
            "So (see Smith 2010, p. 3; but cf. Jones, in press).",
            [("Smith 2010, p. 3", ("smith",)), ("Jones, in press", ("jones",))],
        ),
        ("It is so [see Smith, 2010, pp. 3-5].", [("Smith, 2010, pp. 3-5", ("smith",))]),
        ("It is so (Smith 2010: 35–36).", [("Smith 2010: 35–36", ("smith",))]),
        ("So (Smith 2010: a note, p. 3 of which is lost).", [("Smith 2010", ("smith",))]),
        ("It is so (Smith 2010, p. 3, and elsewhere).", [("Smith 2010, p. 3, and elsewhere", ("smith",))]),
        ("So said van der Berg (1999).", [("van der Berg (1999)", ("berg",))]),
        ("So said Berg (1999).", [("Berg (1999)", ("berg",))]),
        ("So (Muller-Lyer et al., 1889).", [("Muller-Lyer et al., 1889", ("muller",))]),
        ("So (Müller-Lyer, Orsted and Los 1889).", [("Müller-Lyer, Orsted and Los 1889", ("muller",))]),
        ("So (World Health Organization, 2019).", [("World Health Organization, 2019", ("who",))]),
        ("So (WHO, 2019).", [("WHO, 2019", ("who",))]),
        ("So (World Health Organization [WHO], 2019).", [("World Health Organization [WHO], 2019", ("who",))]),
        ("World Health Organization [WHO] (2019) says.", [("World Health Organization [WHO] (2019)", ("who",))]),
        ("So (Unknown and Body [UAB], 2001).", [("Unknown and Body [UAB], 2001", ())]),
        ("Smith & Lee (2010, p. 3) say.", [("Smith & Lee (2010, p. 3)", ("smithlee",))]),
        ("Smith & Lee (2010, in passing) say.", [("Smith & Lee (2010", ("smithlee",))]),
        ("So (The pandas development team, 2020).", [("The pandas development team, 2020", ("pandas",))]),
        (
            "So (Smith 2010, 2011; Berg, 1999).",
            [("Smith 2010", ("smith",)), ("2011", ("smithetal",)), ("Berg, 1999", ("berg",))],
        ),
        ("A year off (Smith et al., 2012).", [("Smith et al., 2012", ("smithetal",))]),
        ("Lee and Kim (2012b) too.", [("Lee and Kim (2012b)", ("kim-b",))]),
        ("So (Lee and Kim 2012b,a).", [("Lee and Kim 2012b,a", ("kim-b", "kim-a"))]),
    ],
)
def test_author_year(text: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert shown(text, PAPERS) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nobody knows (Unknown et al., 2001).", ["Unknown et al., 2001"]),
        ("Nobody knows (see Nobody, 2001; Smith, 2010).", ["Nobody, 2001", "Smith, 2010"]),
        ("Unknown et al. (2001) is not in the list.", ["Unknown et al. (2001)"]),
        ("In spring (May, 2010) it rained.", []),
        ("It happened in Vienna (2010).", []),
        ("The crisis (2010) came, and 1999 was a good year.", []),
        ("We used Windows 2010 and Office, 2010.", []),
    ],
)
def test_what_is_surely_a_citation_and_what_is_not(text: str, expected: list[str]) -> None:
    assert [marker for marker, _ in shown(text, PAPERS)] == expected


def test_the_printed_letter_counts_more_than_the_order() -> None:
    references = [
        Reference("second", authors=("Aso, Y.", "Rubin, G."), year=2014, text="Aso Y, Rubin G. 2014b. Two."),
        Reference("first", authors=("Aso, Y.", "Rubin, G."), year=2014, text="Aso Y, Rubin G. 2014a. One."),
    ]
    assert shown("So (Aso and Rubin, 2014a).", references) == [("Aso and Rubin, 2014a", ("first",))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("As shown [3].", [("[3]", ("3",))]),
        ("As shown [3, 5-7].", [("[3, 5-7]", ("3", "5", "6", "7"))]),
        ("As shown [3]–[5].", [("[3]–[5]", ("3", "4", "5"))]),
        ("As shown [3], [5].", [("[3]", ("3",)), ("[5]", ("5",))]),
        ("As shown [see 4, Theorem 2].", [("[see 4, Theorem 2]", ("4",))]),
        ("As shown [7, Propositions 31, 32; 9, p12].", [("[7, Propositions 31, 32; 9, p12]", ("7", "9"))]),
        ("As shown [7, Eqn.19] and [8, Th.10.1].", [("[7, Eqn.19]", ("7",)), ("[8, Th.10.1]", ("8",))]),
        ("As shown [3] and [21].", [("[3]", ("3",)), ("[21]", ())]),
        ("With x[1] and y = [1, 2] we have [3].", [("[3]", ("3",))]),
        ("In the interval [1, 2] we have [3].", [("[3]", ("3",))]),
        ("The gain was 48 [2, 6]% as in [3].", [("[3]", ("3",))]),
        ("Equation (3) and case (4).", []),
        ("In (2010) it was [3].", [("[3]", ("3",))]),
    ],
)
def test_numbers(text: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert shown(text, NUMBERED) == expected


def test_round_brackets_count_where_the_text_uses_them_throughout() -> None:
    cited = "".join(f"Claim number {word} holds ({n}). " for n, word in enumerate("abcdefghijklmno", 1))
    text = cited + "By equation (16) there are two ways: (1) one; (2) the other (3, 5-7)."
    markers = shown(text, NUMBERED)
    assert len(markers) == 16
    assert markers[-1] == ("(3, 5-7)", ("3", "5", "6", "7"))


def test_raised_numbers_are_footnotes_where_footnotes_have_numbers() -> None:
    text = "A tree¹ has leaves² and a root.³ So it was shown [2].\n\n¹ See there.\n\n² Or here.\n\n³ Not here."
    assert shown(text, NUMBERED[:4]) == [("[2]", ("2",))]


def test_raised_numbers_count_where_they_cite_most_of_the_list() -> None:
    text = " ".join(f"Something was shown.{n},{n + 1}" for n in range(1, 20)) + " See ref. 12 of Sox2 in Fig.3."
    markers = shown(text, NUMBERED)
    assert markers[0] == ("1,2", ("1", "2"))
    assert markers[-1] == ("12", ("12",))
    assert shown("Sox2 and Pax6 were bound.3", NUMBERED) == []
    assert shown("It was shown¹⁻³ and proven.⁴", NUMBERED[:5]) == [("¹⁻³", ("1", "2", "3")), ("⁴", ("4",))]


def test_labels() -> None:
    references = [Reference("Knu84"), Reference("ABC+99"), Reference("Emele, 1991")]
    assert shown("See [Knu84, p. 3; ABC+99], [Emele, 1991] and [not a label].", references) == [
        ("[Knu84, p. 3; ABC+99]", ("Knu84", "ABC+99")),
        ("[Emele, 1991]", ("Emele, 1991",)),
    ]
    assert shown("See [Knu84, in the notes of 1982].", references) == [
        ("[Knu84, in the notes of 1982]", ("Knu84",)),
    ]
    assert shown("The bracket [A, of B] is no citation.", [Reference("A"), Reference("B")]) == []


def test_author_year_wins_over_numbers_that_are_equations() -> None:
    references = [Reference("1", authors=("Zhao, L.",), year=1995), Reference("2", authors=("Ono, Y.",), year=1997)]
    text = "As Zhao (1995) and Ono (1997) show: (1) a; (2) b. By (1) and (2) it holds."
    assert [keys for _, keys in shown(text, references)] == [("1",), ("2",)]


@pytest.mark.parametrize(
    ("printed", "ids"),
    [
        ("[1] Smith, J. One. 2010.\n[2] Lee, K. Two,\n    in 1999.\n", ["1", "2"]),
        ("1. Smith J. One. 2010.\n2. Lee K. Two. 1999.\n12. no entry\n3. Kim S. Three. 2001.", ["1", "2", "3"]),
        ("1 Smith J. One. 2010.\n2 Lee K. Two. 1999.\n", ["1", "2"]),
        ("[Knu84] D. Knuth. The TeXbook.\n[ABC99] A. Aho. Dragons.\n", ["Knu84", "ABC99"]),
        ("Smith, J. (2010). One.\n\nLee, K. (1999). Two.\n\n", ["ref1", "ref2"]),
        ("Smith, J. (2010). One, a long\n   title.\nLee, K. (1999). Two, a long\n   title.\n", ["ref1", "ref2"]),
        ("John Smith. 2010. One and\nmore. In Proceedings.\nKim Lee and A. Doe. 1999. Two.\n", ["ref1", "ref2"]),
    ],
)
def test_reference_lists_are_split(printed: str, ids: list[str]) -> None:
    entries = split_references(printed)
    assert [id for id, *_ in entries] == ids
    for _, text, start, end in entries:
        assert text.split() == printed[start:end].removeprefix(printed[start:end].split(text.split()[0])[0]).split()


def test_hyphenation_in_an_entry_is_undone() -> None:
    assert split_references("[1] Smith, J. Proceed-\nings of it.")[0][1] == "Smith, J. Proceedings of it."


def test_the_reference_list_is_found() -> None:
    text = "Contents\nReferences\n\nWe cite.\n\n7. REFERENCES\r\n[1] Smith. 2010.\r\n\r\nAppendix A\r\nMore."
    found = find_reference_list(text)
    assert found is not None
    heading, start, end = found
    assert text[heading:start].strip() == "7. REFERENCES"
    assert text[start:end].split() == ["[1]", "Smith.", "2010."]
    assert find_reference_list("The references are good.") is None


@given(st.text(alphabet="ASmith Lee et al., &and(2010)[3-5];³\n'", max_size=200))
def test_any_text_gives_markers_in_order(text: str) -> None:
    at = 0
    for marker in find_markers(text, [*PAPERS, *NUMBERED]):
        assert at <= marker.start < marker.end <= len(text)
        at = marker.end
    for _, entry, start, end in split_references(text):
        assert entry
        assert 0 <= start < end <= len(text)


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "(",
        "[1,",
        "(1-",
        "2010 ",
        "A 2010,",
        "Aa ",
        "Aa, ",
        "¹",
        "a1,",
        "-",
        "& 2010",
        " ",
        "\n",
        "\n ",
        "#",
        "1. ",
    ],
)
def test_time_is_linear(unit: str) -> None:
    text = unit * (scaled(1_000_000) // len(unit))
    begun = time.process_time()
    find_markers(text, [*PAPERS, *NUMBERED])
    find_reference_list(text)
    split_references(text)
    assert time.process_time() - begun < MAX_SECONDS


def test_many_references_of_one_name_take_linear_time() -> None:
    references = [Reference(f"r{n}", authors=("Smith, J.",), year=2010) for n in range(scaled(20_000))]
    begun = time.process_time()
    markers = find_markers("(Smith, 2010) " * scaled(20_000), references)
    assert time.process_time() - begun < MAX_SECONDS
    assert markers[0] == Marker(("r0",), 1, 12)


def test_real_articles_are_linked_again(data: Path) -> None:
    right = found = true = 0
    with (data / "elife" / "elife-tiny.jsonl.zst").open("rb") as raw:
        for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(raw), "utf-8"):
            article = json.loads(line)
            references = [
                Reference(id, authors=tuple(entry["authors"]), year=entry.get("year"))
                for id, entry in article["bib_entries"].items()
            ]
            text, links = "", set()
            for paragraph in article["body_text"]:
                links |= {(span["ref_id"], len(text) + span["end"]) for span in paragraph["cite_spans"]}
                text += paragraph["text"] + "\n\n"
            pairs = {(key, marker.end) for marker in find_markers(text, references) for key in marker.keys}
            right += len(links & pairs)
            found += len(pairs)
            true += len(links)
    assert true > 5000
    assert right / found > 0.97
    assert right / true > 0.97


def test_a_number_beyond_the_list_is_a_citation_of_nothing_known() -> None:
    text = "So [3]. Done [99]. In [2015] and [1, 100] not."
    assert shown(text, NUMBERED) == [("[3]", ("3",)), ("[99]", ())]


def test_entries_between_blank_lines_may_run_over_several_lines() -> None:
    text = (
        "Huss-Danell, K. (1997). Actinorhizal symbioses and their fixation.\nNew Phytologist, 136, 375–405.\n\n"
        "Šimková, M. (2019). Farmers and alder trees. Journal of Trees, 1, 1–10.\nhttps://doi.org/10.1234/jt.2019.1\n\n"
        "Torrey, J. G. (1978). Nitrogen fixation by\nangiosperms. BioScience, 28, 586–592.\n"
    )
    assert [entry.partition(" (")[0] for _, entry, _, _ in split_references(text)] == [
        "Huss-Danell, K.", "Šimková, M.", "Torrey, J. G.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "note",
    [
        "Brian Cowan, The Social Life of Coffee (New Haven: Yale University Press, 2005), 12–45.",
        "Steve Pincus, “Coffee Politicians Does Create,” Journal of Modern History 67 (1995): 807–834.",
        "See also E. P. Thompson, The Making of the English Working Class (London: Gollancz, 1963).",
        "Cowan, Social Life, 99.",
        "Vgl. Habermas: Strukturwandel der Öffentlichkeit, S. 45f.",
        "Kelly, Rest, 99.",
        "Ibid., 45.",
    ],
)
def test_notes_that_name_their_source(note: str) -> None:
    assert names_source(note)


@pytest.mark.parametrize(
    "note",
    [
        "However, the colonies were kept in the dark for 12 days, 45.",
        "Interestingly, this was changed later (in 2005).",
        "Source: authors’ own calculation, 2019.",
        "In 2005, we moved to London.",
        "The code is available at https://example.org.",
        "Alice, Bob and Carol slept in 2005.",
        "",
    ],
)
def test_notes_that_say_something_else(note: str) -> None:
    assert not names_source(note)
