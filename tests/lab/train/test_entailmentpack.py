"""From data to what the entailment model learns from, and a vocabulary cut to the words that occur."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
import torch
import zstandard

from tests.fakes import tiny_model, word_tokenizer
from whycite.errors import UserError
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.train.entailmentpack import EntailmentData, fold_numbers, load_data, load_marked, set_aside
from whycite.lab.train.entailmentstages import shorten_vocabulary
from whycite.lab.train.verifyexamples import Part, article_part

ARTICLE = """<article><front><article-meta><title-group><article-title>On bees</article-title></title-group>
<abstract><p>We filmed many bees at night in ten hives of the town and in two of the village.</p></abstract>
</article-meta></front><body><sec><title>Results</title><p>Treatment with caffeine increased the sleep of foragers by
20 minutes in the hive. They hang their antennae low. {}</p></sec></body></article>"""
FILLER = " ".join(f"Bee number {number} was seen in the hive." for number in range(45))


def article_id(part: Part) -> str:
    """The first id of an article in a part."""
    return next(id for number in range(100) if article_part(id := f"PMC{number}") == part)


def write_lines(path: Path, *rows: dict[str, Any]) -> Path:
    """Write JSON lines."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def make_data(folder: Path) -> Path:
    """Articles of two parts, SciFact, rows of claim and evidence; the written claims are in written.jsonl."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for part in ("train", "fit", "test"):
            member = tarfile.TarInfo(f"{article_id(part)}.xml")
            content = ARTICLE.format(FILLER).encode()
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    (folder / "pmc-rct").mkdir()
    (folder / "pmc-rct" / "articles.tar.zst").write_bytes(zstandard.compress(packed.getvalue()))
    claims = [
        {"id": number, "claim": f"Bees of hive {number} sleep.", "cited_doc_ids": [number],
         "evidence": {str(number): [{"sentences": [0], "label": ("SUPPORT", "CONTRADICT")[number % 2]}]}}
        for number in range(6)
    ]  # fmt: skip
    documents = [
        {"doc_id": number, "abstract": [f"Hive {number} slept.", "It was night.", "Rain fell."]} for number in range(6)
    ]
    write_lines(folder / "scifact" / "claims_train.jsonl", *claims)
    write_lines(folder / "scifact" / "corpus.jsonl", *documents)
    rows = [
        {"claim": f"Claim {number}", "evidence": f"Evidence {number}", "label": "NEI", "source": source}
        for number, source in enumerate(("fever", "fever", "citint"))
    ]
    trial = {"claim": "Trial", "evidence": "It was", "label": "SUPPORT", "source": "evidence-inference"}
    trials = [{**trial, "article": article_id(part), "claim": part} for part in ("train", "test")]
    write_lines(folder / "entailment" / "train.jsonl", *rows, *trials)
    write_lines(
        folder / "written.jsonl",
        *(
            {"article": article_id(part), "claim": f"Caffeine makes bees sleep, {part} {label}.", "label": label,
             "kind": "close", "deciding": [1]}
            for part in ("train", "fit", "test") for label in "SCN"
        ),
    )  # fmt: skip
    return folder


def _load(data: Path) -> tuple[EntailmentData, list[str]]:
    told: list[str] = []
    marked = load_marked(data)
    loaded = load_data(data, [data / "written.jsonl"], marked, fold_numbers(marked, 0), told.append)
    return loaded, told


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> tuple[EntailmentData, list[str]]:
    return _load(make_data(tmp_path_factory.mktemp("data")))


def test_what_is_learned_from(loaded: tuple[EntailmentData, list[str]]) -> None:
    data, told = loaded
    sources = {pair.source for pair in data.pack.pairs}
    assert {"written", "written near", "scifact", "scifact whole", "fever", "abstract", "contrast wording"} <= sources
    assert {"contrast direction", "contrast number"} <= sources
    assert {item.source for item in data.pack.lists} == {"written", "scifact"}
    assert any("skipped elife: not in" in line for line in told)
    assert not any("skipped scifact" in line for line in told)


def test_what_is_not_learned_from(loaded: tuple[EntailmentData, list[str]]) -> None:
    data, _ = loaded
    claims = {pair.claim for pair in data.pack.pairs if pair.source.startswith("written")}
    assert {claim.split()[-2] for claim in claims} == {"train"}
    assert {pair.claim.split()[-2] for pair in data.unlearned} == {"fit"}
    assert [pair.claim for pair in data.pack.pairs if pair.source == "evidence-inference"] == ["train"]
    assert not any(pair.source == "citint" for pair in data.pack.pairs)  # the rows have its development part, too
    assert not any("scifact" in pair.source for pair in data.pack.without_fold(None).pairs)


def test_passages_written_with_claims(tmp_path: Path) -> None:
    make_data(tmp_path)
    passage = {"passage": "Rents rose.", "field": "economics", "claims": [["S", "Rents went up."]]}
    write_lines(tmp_path / "passages.jsonl", passage)
    loaded = load_data(tmp_path, [tmp_path / "written.jsonl", tmp_path / "passages.jsonl"], [], {}, print)
    assert [pair.passage for pair in loaded.pack.pairs if pair.claim == "Rents went up."] == ["Rents rose."]
    assert any(pair.source == "written" for pair in loaded.pack.pairs)
    for wrong in (["X", "Rents went up."], ["S"]):
        write_lines(tmp_path / "passages.jsonl", {**passage, "claims": [wrong]})
        with pytest.raises(UserError, match=r'passages\.jsonl:1: expected "claims", each a label S, C or N and a text'):
            load_data(tmp_path, [tmp_path / "passages.jsonl"], [], {}, print)


def test_data_that_lacks_things(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has none of the folders elife, "):
        _load(tmp_path)
    make_data(tmp_path)
    row = {"article": article_id("train"), "claim": "Bees sleep.", "label": "S", "kind": "close", "deciding": [1]}
    assert article_part("PMC5000") == "train"
    write_lines(tmp_path / "written.jsonl", row, {**row, "article": "PMC5000"})
    assert "skipped written claims about articles that are not in the data: 1" in _load(tmp_path)[1]
    write_lines(tmp_path / "written.jsonl", {**row, "deciding": [500]})
    with pytest.raises(UserError, match=r"written\.jsonl:1: article 'PMC\d+' has no sentence 500"):
        _load(tmp_path)
    write_lines(tmp_path / "written.jsonl", {**row, "label": "X"})
    with pytest.raises(UserError, match=r'written\.jsonl:1: expected a "label" S, C or N'):
        _load(tmp_path)


def test_folds_share_no_documents() -> None:
    cases = [
        PassageCase(str(number), "scifact", "c", f"claim {number}", f"d{number // 2}", ("s",)) for number in range(24)
    ]
    folds = fold_numbers(cases, 3)
    assert sorted(folds.values()) == [0] * 8 + [1] * 8 + [2] * 8
    assert all(folds[str(number)] == folds[str(number + 1)] for number in range(0, 24, 2))


def test_a_fifth_of_two_sets_is_set_aside() -> None:
    cases = [
        PassageCase(f"{name} {number}", name, "c", f"{name} {number}", f"d{name} {number}", ("s",))
        for name in ("scifact", "clscisumm", "citint")
        for number in range(20)
    ]
    aside = set_aside(cases)
    assert sorted(case.dataset for case in aside) == ["clscisumm"] * 4 + ["scifact"] * 4
    # What is set aside of one set does not depend on whether the others are at hand.
    assert set_aside(cases[:20]) == aside[:4]


def test_a_vocabulary_is_cut_to_what_occurs_most() -> None:
    tokenizer = word_tokenizer([*(f"w{number}" for number in range(4, 39)), "a"])
    model = tiny_model("mpnet", pad_token_id=1)
    before = model.get_input_embeddings().weight.detach().clone()
    short = shorten_vocabulary(model, tokenizer, ["w30 w10 w10 w20 w20 w20 a", "w30 w30"], 7)
    assert short.get_vocab_size() == model.config.vocab_size == 7
    assert short.encode("w30 w20 w4 a").tokens == ["<s>", "w30", "w20", "<unk>", "a", "</s>"]
    assert [short.token_to_id(mark) for mark in ("<s>", "<pad>", "</s>", "<unk>")] == [0, 1, 2, 3]
    after = model.get_input_embeddings().weight
    for word in ("<s>", "w20", "w30", "a"):
        assert torch.equal(after[short.token_to_id(word)], before[tokenizer.token_to_id(word)])
    assert short.encode("w20").ids == [0, short.token_to_id("w20"), 2]


def test_a_vocabulary_that_is_short_stays() -> None:
    tokenizer, model = word_tokenizer(["a"]), tiny_model("mpnet", pad_token_id=1)
    assert shorten_vocabulary(model, tokenizer, ["a"], 100) is tokenizer
    assert model.config.vocab_size == 40
