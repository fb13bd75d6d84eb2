"""Records of JSON files, and the places of their strings."""

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents.builder import Prose
from whycite.documents.jsontext import MAX_RECORD, JsonRecord, StringFinder, as_dict, as_list, as_text, read_records
from whycite.documents.sources import MemoryFolder, Source


def _records(data: bytes, name: str = "a.jsonl") -> list[JsonRecord]:
    return list(read_records(Source(MemoryFolder({name: data}, ""), name)))


def test_lines_are_records_and_know_their_offset() -> None:
    data = '{"a":"é"}\r\n\n  \n{"b":"𝛼"}\n{"c":1}'.encode()
    text = data.decode()
    found = _records(data)
    assert [(r.path, r.line, r.data) for r in found] == [
        ("a.jsonl:1", 1, {"a": "é"}),
        ("a.jsonl:4", 4, {"b": "𝛼"}),
        ("a.jsonl:5", 5, {"c": 1}),
    ]
    assert [text[r.start :].startswith(r.raw) for r in found] == [True] * 3


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.json", b'{"a": 1}'),
        ("a.json", b'{\n "a": 1\n}\n'),
        ("a.json", b'\xef\xbb\xbf{"a": 1}\n'),
        ("a", b'{"a":\n1}'),
    ],
)
def test_a_file_of_one_record_keeps_its_name(name: str, data: bytes) -> None:
    (record,) = _records(data, name)
    assert (record.path, record.data) == (name, {"a": 1})


def test_several_records_in_a_json_file_are_lines() -> None:
    assert [r.path for r in _records(b'{"a": 1}\n{"a": 2}\n', "a.json")] == ["a.json:1", "a.json:2"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"a": ', "a.jsonl:2: not JSON: Expecting value at character"),
        (b"[1]", "a.jsonl:2: not a JSON object"),
        (b'{"a": "\xe9"}', "a.jsonl:2: not UTF-8 at byte 8"),
        (b"[" * 100_000, "a.jsonl:2: JSON nested too deeply"),
        (b'{"a":' * 100_000, "a.jsonl:2: JSON nested too deeply"),
        (b'{"a": ' + b"1" * 10_000 + b"}", "a.jsonl:2: not JSON: a number has too many digits"),
        (b'{"a": "' + b"x" * MAX_RECORD + b'"}', "a.jsonl:2: longer than 16 MB"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_broken_line_is_said_and_the_next_is_read(line: bytes, problem: str) -> None:
    began = time.process_time()
    before, broken, after = _records('{"a":"é"}\n'.encode() + line + b'\n{"b":1}\n')
    assert time.process_time() - began < 30
    assert broken.data is None
    assert broken.problem.startswith(problem)
    assert broken.problem.endswith("skipped")
    assert (before.data, after.data, after.path) == ({"a": "é"}, {"b": 1}, "a.jsonl:3")
    if b"\xe9" not in line:
        assert after.start == len('{"a":"é"}\n') + len(line) + 1


@pytest.mark.parametrize(("name", "data"), [("a.jsonl", b""), ("a.jsonl", b"\n \n"), ("a.json", b"")])
def test_an_empty_file_is_said(name: str, data: bytes) -> None:
    (record,) = _records(data, name)
    assert record.data is None
    assert record.problem.startswith(f"{name}:1: ")


def test_values_of_the_wrong_kind() -> None:
    wrong: list[Any] = [None, True, 1.5, b"x"]
    assert [as_text(value) for value in [*wrong, [], {}]] == [""] * 6
    assert [as_list(value) for value in [*wrong, "x", {}]] == [[]] * 6
    assert [as_dict(value) for value in [*wrong, "x", []]] == [{}] * 6
    assert (as_text(2011), as_text("x")) == ("2011", "x")


def _slashed(value: list[str]) -> str:
    """JSON as PHP writes it, in capitals here and there."""
    return json.dumps(value).replace("/", "\\/").replace("\\u00e", "\\u00E")


_WRITERS = [
    lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
    json.dumps,
    lambda value: json.dumps(value, indent=1),
    _slashed,
]


@settings(deadline=None)
@given(
    st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=6),
    st.sampled_from(_WRITERS),
    st.randoms(use_true_random=False),
)
def test_every_string_is_found_with_the_place_of_each_character(texts: list[str], write: Any, random: Any) -> None:
    texts = [*texts, 'a/é"\\\n\n😀']
    raw = write(texts)
    base = 7
    strings = StringFinder(JsonRecord("", 1, base, raw, {}))
    random.shuffle(texts)
    for text in texts:
        passage = strings.find(text)
        assert passage.text == text
        start = random.randrange(len(text))
        end = random.randrange(start, len(text)) + 1
        low, high = passage.source(start, end)
        cut = json.loads(f'"{raw[low - base : high - base]}"')
        assert text[start:end] in cut
        assert cut.strip("\n\r\t") in text
        prose = Prose()
        passage.add(prose, "f", start, end)
        assert prose.text == " ".join(text[start:end].split())


def test_repeated_strings_are_found_one_after_the_other() -> None:
    raw = json.dumps(["same", "x", "same", "y", "same"])
    strings = StringFinder(JsonRecord("", 1, 0, raw, {}))
    assert [strings.find("same").source(0, 4)[0] for _ in range(3)] == [2, 15, 28]


@pytest.mark.parametrize(
    "text",
    [
        "\n" * scaled(1_000_000),
        '"' * scaled(300_000),
        "é" * scaled(150_000),
        "ab\t" * scaled(200_000),
        "\\u00e9" * scaled(100_000),
    ],
)
@pytest.mark.parametrize("ascii", [True, False])
def test_escapes_take_linear_time(text: str, ascii: bool) -> None:
    raw = json.dumps([text, "end"], ensure_ascii=ascii)
    began = time.process_time()
    passage = StringFinder(JsonRecord("", 1, 0, raw, {})).find(text)
    prose = Prose()
    passage.add(prose, "f", 0, len(text))
    assert time.process_time() - began < MAX_SECONDS
    low, high = passage.source(0, len(text))
    assert raw[low - 1] == raw[high] == '"'


def test_many_strings_take_linear_time() -> None:
    texts = [f"{n}/" for n in range(scaled(50_000))] + ["a"] * scaled(50_000)
    raw = json.dumps(texts).replace("/", "\\/")
    strings = StringFinder(JsonRecord("", 1, 0, raw, {}))
    began = time.process_time()
    for text in reversed(texts):
        strings.find(text)
    assert time.process_time() - began < MAX_SECONDS
