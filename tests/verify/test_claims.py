"""Claims against documents: passages in order, and verdicts."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.fakes import word_encoder, word_entailment
from whycite import documents
from whycite.documents import Document, Reference, Section, Sentence
from whycite.documents.model import Coverage
from whycite.errors import UserError
from whycite.verify.claims import open_document
from whycite.verify.claims import verify_claim as verify_claim_by_models
from whycite.verify.claims import verify_sentences as verify_sentences_by_models
from whycite.verify.heatmap import heat_map_json
from whycite.verify.verification import verification_json

CLAIM = "Honeybees that forage sleep at night"
verify_claim = partial(verify_claim_by_models, encoder=word_encoder(), entailment=word_entailment())
verify_sentences = partial(verify_sentences_by_models, encoder=word_encoder(), entailment=word_entailment())


def test_the_sentence_that_says_so_comes_first(paper: Path) -> None:
    found = verify_claim(CLAIM, paper)
    assert found.passages[0].text.startswith("Foraging honeybees sleep at night")
    assert found.passages[0].section == "Results"
    assert found.verdict == "backed"
    assert 0.5 < found.confidence == found.chances["backed"]
    assert sum(found.chances.values()) == pytest.approx(1)
    assert "Results" in found.reason
    assert [passage.rank for passage in found.passages] == list(range(1, len(found.passages) + 1))
    scores = [passage.score for passage in found.passages]
    assert scores == sorted(scores, reverse=True)
    assert 0 <= scores[-1] <= scores[0] <= 1


def test_passages_are_sentences_of_the_document_by_their_index(paper: Path) -> None:
    document = documents.read(paper)
    for passage in verify_claim(CLAIM, document).passages:
        assert document.sentences[passage.index].text == passage.text


def test_the_reference_list_and_headings_back_nothing(paper: Path) -> None:
    texts = " ".join(passage.text for passage in verify_claim("On the work of bees through all hours", paper).passages)
    assert "Bee Journal" not in texts
    assert "Discussion" not in texts


def test_a_claim_that_may_stand_on_an_unread_page_could_not_be_checked(paper: Path) -> None:
    document = documents.read(paper)
    claim = "Wasps of the genus Vespa hibernate under bark"
    assert verify_claim(claim, document).verdict == "not found"
    partly = replace(document, coverage=Coverage(0.4, "pages 3-5 are scanned"))
    verification = verify_claim(claim, partly)
    assert verification.verdict == "could not check"
    assert verification.reason == "only 40 % of the text could be read; pages 3-5 are scanned"
    assert verification.passages
    assert verify_claim(CLAIM, partly).verdict == "backed"
    nearly = replace(document, coverage=Coverage(0.97, "page 30 is scanned"))
    assert verify_claim(claim, nearly).verdict == "not found"


def test_passages_of_a_pdf_have_their_page(paper: Path) -> None:
    document = documents.read(paper)
    numbered = tuple(replace(s, page=3 + index) for index, s in enumerate(document.sentences))
    for passage in verify_claim(CLAIM, replace(document, sentences=numbered)).passages:
        assert passage.page == 3 + passage.index
    assert verify_claim(CLAIM, document).passages[0].page is None


def test_references_that_were_read_as_text_are_left_out() -> None:
    entry = "Doe, J. On the sleep of bees in hives of wood and clay. Bee Journal 3."
    found = verify_claim(
        "Sleep of bees in hives of wood and clay", _document("Bees sleep in hives made of wood.", entry)
    )
    assert [passage.text for passage in found.passages] == ["Bees sleep in hives made of wood."]


def test_captions_and_boxes_of_a_published_article_are_searched(paper: Path) -> None:
    read = documents.read(paper)
    last = read.sentences[-1]
    caption = replace(last, text="Wasps of the genus Vespa hibernate under loose bark.", kind="caption")
    article = replace(read, asides=(caption,))
    claim = "Wasps of the genus Vespa hibernate under bark"
    found = verify_claim(claim, article, k=1)
    assert found.verdict == "backed"
    assert found.passages[0].index == len(read.sentences)
    assert found.passages[0].section.endswith("(caption)")
    assert heat_map_json(article, found)["sentences"][found.passages[0].index]["text"] == caption.text
    assert verify_claim(claim, read).verdict != "backed"


def test_another_number_is_not_backed(paper: Path) -> None:
    right = verify_claim("During sleep the temperature of the thorax fell by 7.7 %", paper)
    wrong = verify_claim("During sleep the temperature of the thorax fell by 77 %", paper)
    assert right.verdict == "backed"
    assert wrong.verdict != "backed"
    assert wrong.chances["backed"] < right.chances["backed"] / 2
    assert "77 % in the claim, 7.7 % here" in wrong.reason
    assert right.passages[0].numbers == "7.7 % here too"


def test_a_quotation_of_the_claim_is_marked_and_backs_nothing(paper: Path) -> None:
    found = verify_claim("Bees never rest and work through all the hours of the night", paper)
    (marked,) = [passage for passage in found.passages if passage.quotes]
    assert "Doe, 1950" in marked.text
    assert found.verdict != "backed"


def test_nothing_there_is_not_found(paper: Path) -> None:
    found = verify_claim("Convolutional networks classify images of galaxies by their shape", paper)
    assert found.verdict == "not found"


@pytest.mark.parametrize("claim", ["12 % in 2010", "of the and", "…"])
def test_a_claim_without_words_cannot_be_checked(paper: Path, claim: str) -> None:
    found = verify_claim(claim, paper)
    assert (found.verdict, found.confidence, found.passages) == ("could not check", 0.0, ())
    assert "no content words" in found.reason


def test_a_document_without_text_cannot_be_checked(paper: Path) -> None:
    found = verify_claim(CLAIM, replace(documents.read(paper), sentences=()))
    assert found.verdict == "could not check"
    assert "contains no readable text" in found.reason


def test_a_document_in_another_language_cannot_be_checked() -> None:
    text = "Die Bienen schlafen nachts und lassen dabei ihre Fühler hängen, wie schon lange bekannt ist."
    found = verify_claim("Bienen schlafen nachts", _document(*[f"{text} Nummer {n}." for n in range(10)]))
    assert found.verdict == "could not check"
    assert "not in English" in found.reason
    assert found.passages


def test_a_claim_in_another_language_cannot_be_checked(paper: Path) -> None:
    found = verify_claim("Die Temperatur von Bienen sinkt nachts um 7,7 % und der Flug endet.", paper)
    assert (found.verdict, found.confidence) == ("could not check", 0.0)
    assert found.reason == "the claim does not seem to be in English"
    assert found.passages


DAMS = (
    "Beavers that live in rivers build better dams than otters of the lakes.",
    "We filmed beavers and otters in three rivers of the north.",
    "Dams of beavers held on 93.3 % of days in winter and on 71 % of days in summer.",
    "Cutting wood is the most expensive part of building a dam.",
    "Beavers of the lakes do not repair any old dams in winter.",
    *(f"Camera {at} recorded the water level of the river by night." for at in range(40)),
)


@pytest.mark.parametrize(
    ("true", "false", "reason"),
    [
        (
            "Dams of beavers held on 93.3 % of days in winter and on 71 % in summer.",
            "Dams of beavers held on 93.3 % of days in winter and on less than 17 % in summer.",
            "less than 17 % in the claim, 71 % here",
        ),
        (
            "Beavers of the lakes do not repair old dams in winter.",
            "Beavers of the lakes repair old dams in winter.",
            "otherwise",
        ),
    ],
    ids=["another number", "denied"],
)
def test_what_says_the_contrary_is_not_backed(true: str, false: str, reason: str) -> None:
    backed, contradicted = verify_sentences(true, DAMS), verify_sentences(false, DAMS)
    assert backed.verdict == "backed"
    assert contradicted.verdict == "contradicted"
    assert reason in contradicted.reason
    assert contradicted.chances["backed"] < backed.chances["backed"] / 2
    assert sum(contradicted.chances.values()) == pytest.approx(1)


def test_the_section_of_the_sentence_that_says_the_contrary_is_told() -> None:
    texts = ["We filmed two hunters, the minks and the martens.", "Minks never outperform martens.", *DAMS[5:]]
    sections = ["Methods", "Results", *("Notes" for _ in DAMS[5:])]
    contradicted = verify_sentences("Minks outperform martens.", texts, sections)
    assert contradicted.reason == "a sentence in “Results” says otherwise"


@pytest.mark.parametrize("claim", ["", "  \n"])
def test_an_empty_claim_is_a_mistake(paper: Path, claim: str) -> None:
    with pytest.raises(UserError, match="claim is empty"):
        verify_claim(claim, paper)


def test_how_many_passages(paper: Path) -> None:
    assert len(verify_claim(CLAIM, paper, k=2).passages) == 2
    with pytest.raises(UserError, match="k must be 1 or more"):
        verify_claim(CLAIM, paper, k=0)


def test_a_list_of_sentences() -> None:
    texts = ["Wasps build nests.", "Bees that forage sleep at night.", "Ants carry leaves."]
    found = verify_sentences(CLAIM, texts, ["Introduction", "Results", "Results"])
    assert found.passages[0].index == 1
    assert sorted(passage.index for passage in found.passages) == [0, 1, 2]
    assert verify_sentences(CLAIM, []).verdict == "could not check"
    with pytest.raises(UserError, match="2 headings for 3 sentences"):
        verify_sentences(CLAIM, texts, ["a", "b"])


def test_one_document_many_claims(paper: Path) -> None:
    opened = open_document(documents.read(paper), encoder=word_encoder(), entailment=word_entailment())
    assert opened.verify(CLAIM) == verify_claim(CLAIM, paper)
    assert opened.verify("Antennae were painted").passages[0].section == "Methods"


def test_json(paper: Path) -> None:
    found = verification_json(verify_claim(CLAIM, paper), 2)
    assert found.keys() == {"claim", "verdict", "confidence", "chances", "reason", "passages"}
    assert len(found["passages"]) == 2
    keys = {"rank", "index", "score", "text", "section", "stance", "role"}
    assert [passage.keys() for passage in found["passages"]] == [keys | {"decides"}, keys]


def test_odd_text() -> None:
    found = verify_sentences(
        "Bees \ud800 sleep\n at night", ["", "\x00", "Bees sleep \udfff at night", "x" * 10_000, "…"]
    )
    assert found.passages[0].index == 2


def _document(*texts: str) -> Document:
    reference = Reference("a", title="On the sleep of bees in hives of wood and clay")
    found = tuple(Sentence(text, 0, 0, "a.md", 0, len(text)) for text in texts)
    return Document("a.md", "markdown", Reference(""), (Section("Results", 1),), found, (reference,))


TRIAL = (
    "Colorectal cancer is a common disease.",
    "We randomly assigned 861 adults to aspirin or placebo.",
    "Aspirin reduced the risk of colorectal cancer.",
    "Bleeding was more frequent in the aspirin group.",
)


@pytest.mark.parametrize(
    ("claim", "verdicts"),
    [
        ("Aspirin reduces the risk of colorectal cancer.", ("backed",)),
        ("Aspirin increases the risk of colorectal cancer.", ("contradicted", "not found")),
        ("Deep networks classify images of galaxies by their shape.", ("not found",)),
    ],
    ids=["said", "the opposite", "nothing"],
)
def test_the_bundled_models(claim: str, verdicts: tuple[str, ...]) -> None:
    assert verify_sentences_by_models(claim, TRIAL).verdict in verdicts
