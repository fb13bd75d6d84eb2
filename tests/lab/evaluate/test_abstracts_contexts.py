"""Citing sentences: nothing in them may tell the paper but what they say."""

import json
import re
import time
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from whycite.errors import UserError
from whycite.lab.evaluate.abstracts import claim_from_masked, load_contexts


@pytest.mark.parametrize(
    ("masked", "claim"),
    [
        ("We use TnT [CIT], a tagger.", "We use TnT, a tagger."),
        ("[CIT] proposed to align words.", "proposed to align words."),
        ("The lexicon of Sharoff et al [CIT], with forms.", "The lexicon of, with forms."),
        (
            "As shown by Doe and Roe et al. (2010a; 2011) and ([CIT]; [CIT], 1999) it works.",
            "As shown by and it works.",
        ),
        ("It works [12, 13] and [3-5].", "It works and."),
        ("A corpus (239,889 forms) of 1984 texts.", "A corpus (239,889 forms) of texts."),
        ("[CIT]", ""),
        ("", ""),
    ],
)
def test_claims(masked: str, claim: str) -> None:
    assert claim_from_masked(masked) == claim


@given(st.text("[CIT]()12089 ,;.and et alDoe", max_size=60))
def test_no_year_is_left(masked: str) -> None:
    assert not re.search(r"\b(19|20)\d\d\b", claim_from_masked(masked))


@pytest.mark.parametrize("text", ["[" * 50_000, "(" * 50_000 + ")", "A " * 50_000, "[1," * 20_000, "Aa and " * 20_000])
def test_long_texts_take_no_long_time(text: str) -> None:
    begun = time.process_time()
    claim_from_masked(text)
    assert time.process_time() - begun < 30


PAPERS = [
    {"paper_id": "P1", "title": "A tagger of parts of speech for English", "abstract": "Tags.", "year": 2000},
    {"paper_id": "P2", "title": "Parsing", "doi": "10.1/P", "authors": ["Jane Doe"]},
    {"paper_id": "P3", "title": "Parsing (reprint)", "doi": "10.1/p", "year": "1999"},
]
CONTEXTS = [
    {"context_id": f"c{number}", "text_masked": f"We parse {'x' * number} [CIT].", "cited": ["P3", "P9"]}
    for number in range(20)
] + [
    {"context_id": "none", "text_masked": "See [CIT] 2010.", "cited": ["P9"]},
    {"context_id": "empty", "text_masked": "[CIT] (2010).", "cited": ["P1"]},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "papers.jsonl").write_text("".join(json.dumps(paper) + "\n" for paper in PAPERS))
    contexts = "".join(json.dumps(context) + "\n" for context in CONTEXTS)
    (tmp_path / "contexts.jsonl.zst").write_bytes(zstandard.compress(contexts.encode()))
    return tmp_path


def test_papers_that_are_the_same_are_one(folder: Path) -> None:
    loaded = load_contexts(folder, 0, 0)
    assert [paper.id for paper in loaded.papers] == ["P1", "P2"]
    assert loaded.papers[1].authors == ("Jane Doe",)
    assert {context.truth for context in loaded.contexts} == {("P2",)}
    assert loaded.all == len(loaded.contexts) == 20  # none and empty are left out


def test_the_seed_decides_the_draw(folder: Path) -> None:
    ten = load_contexts(folder, 10, 0).contexts
    assert len(ten) == 10
    assert load_contexts(folder, 10, 0).contexts == ten
    assert load_contexts(folder, 15, 0).contexts[:10] == ten
    assert load_contexts(folder, 10, 1).contexts != ten


def test_mistakes(folder: Path) -> None:
    with pytest.raises(UserError, match="must be at least 0, not -1"):
        load_contexts(folder, -1, 0)
    with pytest.raises(UserError, match="no such folder"):
        load_contexts(folder / "none", 0, 0)
    (folder / "contexts.jsonl.zst").unlink()
    with pytest.raises(UserError, match=r"contains no contexts\.jsonl, compressed or not"):
        load_contexts(folder, 0, 0)
    (folder / "contexts.jsonl").write_text('{"context_id": "c", "cited": ["P9"]}\n')
    with pytest.raises(UserError, match=r"no sentence in contexts\.jsonl cites a paper"):
        load_contexts(folder, 0, 0)
    (folder / "contexts.jsonl").write_text("{}\nbroken\n")
    with pytest.raises(UserError, match=r"contexts\.jsonl:2: not JSON"):
        load_contexts(folder, 0, 0)
