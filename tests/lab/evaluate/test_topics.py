"""Topics: how they are named, and which papers they hold."""

import pytest

from whycite.errors import UserError
from whycite.lab.evaluate.topics import Topic, parse_topics, resolve

SUBJECTS = ["Cell Biology", "Cancer Biology", "Microbiology and Infectious Disease", "Cell"]


def test_names() -> None:
    assert parse_topics("cell biology, NER=named entity recognition|NER") == (
        Topic("cell biology", "cell biology"),
        Topic("NER", terms=("named entity recognition", "NER")),
    )


@pytest.mark.parametrize("text", ["", "a,,b", "NER=", "=words", "NER=|"])
def test_what_is_no_topic(text: str) -> None:
    with pytest.raises(UserError, match=r"is not a topic; give a subject, or NAME=words\|ABBREVIATION"):
        parse_topics(text)


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("microbiology", "Microbiology and Infectious Disease"),
        ("CANCER", "Cancer Biology"),
        ("cell", "Cell"),  # exactly so, though two begin like it
    ],
)
def test_subjects_by_how_they_begin(name: str, subject: str) -> None:
    assert resolve(parse_topics(name), SUBJECTS * 2) == [Topic(name, subject)]


@pytest.mark.parametrize(
    ("name", "subjects", "message"),
    [
        (
            "botany",
            SUBJECTS,
            "'botany' is not a subject of these papers; choose one of: Cancer Biology, Cell, Cell Biology, Mic",
        ),
        ("c", SUBJECTS, "'c' is ambiguous; choose one of: Cancer Biology, Cell, Cell Biology$"),
        ("NER", [], r"the papers have no subjects; describe 'NER' by words in abstracts: --topics 'NER=words\|ABBR'"),
    ],
    ids=["unknown", "ambiguous", "no subjects"],
)
def test_subjects_that_are_none(name: str, subjects: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        resolve(parse_topics(name), subjects)


def test_words_need_no_subjects() -> None:
    topics = parse_topics("NER=named entities")
    assert resolve(topics, []) == list(topics)


@pytest.mark.parametrize(
    ("abstract", "holds"),
    [
        ("On Named  entity\nrecognition in tweets.", True),
        ("We improve NER.", True),
        ("We dine at Ner's.", False),  # an abbreviation only in capitals
        ("Our PLANNER plans; NERF renders.", False),
        ("Renamed entity recognition", False),
        ("", False),
    ],
)
def test_abstracts_name_the_topic(abstract: str, holds: bool) -> None:
    (topic,) = parse_topics("NER=named entity recognition|NER")
    assert topic.holds(["NER"], abstract) is holds


def test_subjects_decide_where_there_are_any() -> None:
    topic = Topic("cell", "Cell Biology")
    assert topic.holds(["Medicine", "Cell Biology"], "")
    assert not topic.holds(["Cell"], "Cell Biology")
    assert topic.rule == "subject Cell Biology"
    assert Topic("NER", terms=("a b", "AB")).rule == "abstract holds a b or AB"
