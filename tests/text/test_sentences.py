"""Sentences of scientific prose are split where a reader would, citations are never cut, time is linear."""

import io
import json
import time
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, examples, scaled
from whycite.text.sentences import split_sentences

# One paragraph a line, its sentences parted by " | ".
PARAGRAPHS = r"""
We used E. coli and S. cerevisiae. | The rest was water.
This was seen in mice. | E. coli was grown overnight.
This was seen in S. cerevisiae. | Next we tested it. | Ae. aegypti was not used.
See Fig. 3B for details. | Then see Figs. 2A–C and S4. | It ends.
The results are in Suppl. Fig. 3 and Ext. Data Fig. 4a. | Next.
Fig. A shows it. | Eq. (3) follows. | Sec. 3, Tab. II and App. C show it as well.
This holds for cells (e.g. HeLa cells) and others, i.e. The Rest. | We go on.
Smith et al. showed this. | Jones et al. (2010) did not. | It was Doe et al. | The next did.
It took approx. 5 min. | The end came after ca. 3 h. | It works.
The min. value was low. | The max. value was not. | Fish were found. | They were in a bin. | So it was.
Levels rose at p < 0.05. | p53 was then lost. | mTOR was blocked at 37 °C. | siRNA was not.
α-Synuclein was low. | β-catenin was high. | 14-3-3 was not.
The pH was 7.4. | NaCl was added. | It was 3.5 mm. | 4 of them were lost.
The work was done by J. R. R. Tolkien and A. Einstein. | Dr. Smith and Prof. Jones came.
It was measured with R. | The next step used vitamin C. | This is G. | However, it is.
The U.S. population grew. | This was in the U.S. | The law differs in Washington D.C. and elsewhere.
Compare A vs. B in No. 5. | The answer was no. | We will not. | Cat. No. 12 is from Sigma Inc. in St. Louis.
Drosophila sp. and Bacillus spp. were used i.p. at 75 b.p. reads. | Next.
The file data.csv holds it. | See https://a.b/c.html. | It is open at https://doi.org/10.1038/nature12373. | So.
He said “It works.” | Then he asked “Does it work?” and left. | “Why?” they asked. | Is huh? a word? | Yes!
It ended (see below.) | Then it began (Smith said so. Jones too.) and ended. | (See above.) | It is over.
We do three things: (i) run. | (ii) walk. | (iii) sit.
1. Run the code. | 2. Stop it. | 3. Sit.
2.1. Materials and methods
Figure 1. Original and mutant. | Table 2. It was long.
It was long ... and then short. | It was long… | The end.
The cells were lysed at 4°C. | The pellet was kept (p. 5). | See p. 5 and v. 4.6.0 of it.
Values are means ± s.e.m. | The bar is 5 µm. | Most, etc. | Some are etc. and others.
It was shown. [12] | We agree. [3–5, 7] | Others do not.
As shown in ref. 2. | The next step follows. | This is it – and this. | It is new.
这是第一句。 | 这是第二句！ | 是吗？
Это первое предложение. | Это второе.
यह पहला वाक्य है। | यह दूसरा है।
"""


@pytest.mark.parametrize("paragraph", PARAGRAPHS.strip().split("\n"))
def test_sentences(paragraph: str) -> None:
    sentences = paragraph.split(" | ")
    joint = "" if "。" in paragraph else " "
    text = joint.join(sentences)
    assert [text[start:end] for start, end in split_sentences(text)] == sentences


def test_missing_space_after_a_stop() -> None:
    text = "The cells were found.The rest of node.js was not."
    assert [text[a:b] for a, b in split_sentences(text)] == ["The cells were found.", "The rest of node.js was not."]


def cut(text: str, *markers: str) -> list[str]:
    """The sentences of a text in which the markers are protected."""
    protected = [(text.index(marker), text.index(marker) + len(marker)) for marker in markers]
    return [text[start:end] for start, end in split_sentences(text, protected)]


@pytest.mark.parametrize(
    ("text", "markers", "sentences"),
    [
        ("So it is. See Doe (A. B. Press. 2010). So.", ["Doe (A. B. Press. 2010)"], 3),
        ("It was shown.12 We agree.", ["12"], 2),
        ("It was shown.12,13 We agree.", ["12", "13"], 2),
        ("It was shown.[3] We agree.", ["[3]"], 2),
        ("It was shown. (Doe, 2010; Roe, 2011) We agree.", ["Doe, 2010", "Roe, 2011"], 2),
        ("It was shown. [3] is the proof.", ["[3]"], 2),
        ("It was shown. Doe (2010) agrees.", ["Doe (2010)"], 2),
        ("It was shown. Doe, 2010 We agree.", ["Doe, 2010"], 2),
        ("This is due to Doe et al. [3] and others.", ["[3]"], 1),
        ("It was shown in 2010.[3]", ["[3]"], 1),
    ],
)
def test_protected(text: str, markers: list[str], sentences: int) -> None:
    found = cut(text, *markers)
    assert len(found) == sentences
    assert all(any(marker in sentence for sentence in found) for marker in markers)


def test_marker_behind_the_stop_stays_with_its_sentence() -> None:
    assert cut("It was shown.12 We agree.", "12") == ["It was shown.12", "We agree."]
    assert cut("It was shown. (Doe, 2010) We agree.", "Doe, 2010") == ["It was shown. (Doe, 2010)", "We agree."]
    assert cut("It was shown. [3] is the proof.", "[3]") == ["It was shown.", "[3] is the proof."]
    assert cut("It was shown. Doe (2010) agrees.", "Doe (2010)") == ["It was shown.", "Doe (2010) agrees."]
    assert cut("It was shown. [doe] 's bees agree.", "[doe]") == ["It was shown.", "[doe] 's bees agree."]
    assert cut("It was shown. [doe] ’s bees agree.", "[doe]") == ["It was shown.", "[doe] ’s bees agree."]


def test_breaks_end_sentences() -> None:
    assert split_sentences("one two three", breaks=[4, 8]) == [(0, 3), (4, 7), (8, 13)]
    assert split_sentences("one two", breaks=[-1, 0, 7, 99]) == [(0, 7)]


def test_nothing_to_split() -> None:
    assert split_sentences("") == []
    assert split_sentences(" \n ") == []
    assert split_sentences(" a ") == [(1, 2)]


_PIECES = [
    *"ab. .. ! ? … ( ) [ ] “ ” ' - – 。 ！ α Ж \n 1 2. (i) A. B".split(" "),
    *["Fig.", "e.g.", "et al.", "E. coli", "The", "We saw it.", "[3]", "(Doe, 2010)", "p53", "0.05.", " ", " ", " "],
]
_TEXTS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(_PIECES), max_size=40).map(" ".join))


@st.composite
def _cases(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]], list[int]]:
    text = draw(_TEXTS)
    places = st.integers(0, len(text))
    ends = sorted(draw(st.lists(places, max_size=8)))
    protected = [(start, end) for start, end in zip(ends[::2], ends[1::2], strict=False) if start < end]
    breaks = [at for at in draw(st.lists(places, max_size=4)) if not any(a < at < b for a, b in protected)]
    return text, protected, breaks


@settings(max_examples=examples(500))
@given(_cases())
def test_spans_cover_the_text_and_nothing_is_cut(case: tuple[str, list[tuple[int, int]], list[int]]) -> None:
    text, protected, breaks = case
    spans = split_sentences(text, protected, breaks)
    places = [place for span in spans for place in span]
    assert places == sorted(places)
    assert all(start < end for start, end in spans)
    covered = {at for start, end in spans for at in range(start, end)}
    assert all(at in covered or char.isspace() for at, char in enumerate(text))
    assert all(not text[start].isspace() and not text[end - 1].isspace() for start, end in spans)
    starts = {start for start, _ in spans}
    assert not any(low < start < high and text[low:start].strip() for start in starts for low, high in protected)
    assert not any(start < at < end for start, end in spans for at in breaks)


@pytest.mark.parametrize(
    "unit",
    [
        "a.",
        "(",
        ". ",
        "a",
        "a. ",
        "? ",
        "a.)",
        "?",
        "(a. b) ",
        "[1] ",
        ".[1]",
        "e.g. ",
        "“a.” ",
        " ",
        "\n",
        "。",
        "( a bc",
    ],
)
def test_linear_on_hostile_text(unit: str) -> None:
    text = unit * (scaled(1_000_000) // len(unit))
    start = time.process_time()
    split_sentences(text)
    assert time.process_time() - start < MAX_SECONDS


def test_linear_in_markers_and_breaks() -> None:
    text = "This is a text. " * scaled(10_000)
    start = time.process_time()
    split_sentences(text, [(at, at + 4) for at in range(0, len(text), 8)])
    split_sentences(text, [(at, at + 4) for at in range(0, len(text), 8)], range(0, len(text), 16))
    assert time.process_time() - start < MAX_SECONDS


def test_speed_on_real_articles(data: Path) -> None:
    with (data / "elife" / "elife-tiny.jsonl.zst").open("rb") as file:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), encoding="utf-8")
        texts = [
            (part["text"], [(span["start"], span["end"]) for span in part["cite_spans"]])
            for line in lines
            for part in json.loads(line)["body_text"]
        ]
    start = time.process_time()
    spans = [split_sentences(text, protected) for text, protected in texts]
    rate = sum(map(len, spans)) / (time.process_time() - start)
    assert rate > 10_000  # 50,000 on one free core
    for (text, protected), found in zip(texts, spans, strict=True):
        starts = [start for start, _ in found]
        assert not any(low < at < high for at in starts for low, high in protected), text
    lengths = sorted(end - start for found in spans for start, end in found)
    assert 100 < lengths[len(lengths) // 2] < 200


def test_agrees_with_annotators(data: Path) -> None:
    """Boundaries inside the paragraphs of GUM's academic texts, but those after a colon or a semicolon."""
    paragraphs: list[list[str]] = []
    academic = False
    with (data / "ud" / "en_gum-ud-train.conllu.zst").open("rb") as file:
        for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), encoding="utf-8"):
            if line.startswith("# newdoc id"):
                academic = "GUM_academic" in line
            if line.startswith(("# newdoc id", "# newpar\n")):
                paragraphs.append([])
            elif academic and line.startswith("# text = "):
                paragraphs[-1].append(line.removeprefix("# text = ").strip())
    right = wanted = found = 0
    for sentences in paragraphs:
        merged = sentences[:1]
        for sentence in sentences[1:]:
            if merged[-1][-1] in ":;":
                merged[-1] += " " + sentence
            else:
                merged.append(sentence)
        text = " ".join(merged)
        gold = {sum(len(sentence) + 1 for sentence in merged[:n]) for n in range(1, len(merged))}
        ours = {start for start, _ in split_sentences(text)[1:]}
        right, wanted, found = right + len(gold & ours), wanted + len(gold), found + len(ours)
    assert wanted > 200
    assert 2 * right / (wanted + found) > 0.97
