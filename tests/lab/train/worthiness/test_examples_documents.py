"""Documents gathered and packed for training; needs no torch."""

import json
from pathlib import Path

from whycite.lab.train.worthiness.examples import load_labelled, pack_labelled, read_labelled


def test_packed_with_the_newest_first(tmp_path: Path) -> None:
    record = {
        "doi": "10.1/a",
        "year": 2020,
        "pub_date": "2020-02-03",
        "body_text": [{"section": "Introduction", "text": "Cells divide all day [1].", "cite_spans": []}],
    }
    older = record | {"doi": "10.1/b", "pub_date": "2019-02-03"}
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(older)}\n{json.dumps(record)}\n")
    seen: list[int] = []
    assert pack_labelled([tmp_path / "a.jsonl"], tmp_path / "p.jsonl.bz2", seen.append) == 2
    assert seen == [1, 2]
    newest, oldest = load_labelled(tmp_path / "p.jsonl.bz2")
    assert (newest.date, oldest.date) == ("2020-02-03", "2019-02-03")
    assert newest.paragraphs[0].sentences[0].text.startswith("Cells divide")
    assert list(read_labelled([tmp_path / "p.jsonl.bz2"])) == [newest, oldest]


CITING = [
    "Taggers are good by now (Brants, 2000).",
    "The tagger of Brants et al. (2000) is fast.",
    "Parsers were built later (Collins, 1997; Charniak, 2000).",
    "Others learn rules, as Brill (1995) shows, from errors.",
]
PLAIN = ["We count words.", "Each word is counted once.", "The year 2000 was dry.", "This is our method."]


def test_papers_as_lists_of_sentences(tmp_path: Path) -> None:
    rows = [("Title", "On tagging")]
    rows += [("Abstract", "We tag words.")]
    rows += [("1 Introduction", text) for text in [*CITING, *PLAIN]]
    rows += [("2 Method", text) for text in [*PLAIN, " ".join(["1 2 3"] * 60)]]
    papers = [
        {"paper_id": "P1", "title": "On tagging", "sentences": [{"section": a, "text": b} for a, b in rows]},
        {"paper_id": "P2", "title": "Marked otherwise", "sentences": [{"section": "1", "text": "As said [3]."}]},
    ]
    file = tmp_path / "papers.jsonl"
    file.write_text("".join(json.dumps(paper) + "\n" for paper in papers), "utf-8")
    (found,) = read_labelled([file])
    assert [len(paragraph.sentences) for paragraph in found.paragraphs] == [6, 2, 4]
    assert [paragraph.section_type for paragraph in found.paragraphs] == ["introduction", "introduction", "method"]
    sentences = [each for paragraph in found.paragraphs for each in paragraph.sentences]
    assert [each.worthy for each in sentences] == [True] * 4 + [False] * 8
    first, second = sentences[:2]
    assert first.text == "Taggers are good by now."
    assert first.group_offsets == (len("Taggers are good by now"),)
    assert first.conform
    assert "2000" not in second.text
