"""SCOPE's reranker by name: its lists, and from documents to a folder."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.fakes import tiny_base
from whycite.errors import UserError
from whycite.lab.scope.candidates import CandidatePaper, CitingContext, CitingCorpus, CitingDocument
from whycite.lab.scope.inputvariants import ranker_variant
from whycite.lab.scope.reranking import RankerEntry, TokenRoom, rerankers, room_of, trained_variant
from whycite.lab.scope.triplets import RECIPE, build_scope_ranker, exclude_documents, scope_lists
from whycite.lab.train import build, ranker
from whycite.lab.train.bases import save_base
from whycite.models import pairs

PAPERS = {f"p{at:02}": CandidatePaper(f"p{at:02}", f"w{4 + at} w{50 + at} w100", year=2000) for at in range(20)}


def _gathered(documents: int = 12) -> CitingCorpus:
    made = []
    for at in range(documents):
        cited = [(at + step) % 20 for step in range(0, 8, 2)]
        said = tuple(f"w{4 + n} w{120 + n} w100" for n in cited)
        contexts = [
            CitingContext(said, place, "method", frozenset({f"p{n:02}", f"p{(n + 1) % 20:02}"}))
            for place, n in enumerate(cited)
        ]
        made.append(CitingDocument(f"d{at}", "w180 w181", "", 2010, f"2010-01-{at + 1:02}", tuple(contexts)))
    return CitingCorpus(tuple(made), PAPERS)


def test_one_positive_and_what_bm25_finds() -> None:
    learned, kept = scope_lists(
        _gathered(), ranker_variant("section-paragraph"), TokenRoom(64, lambda word: 1), 10, 2, 0, max_wrong=5
    )
    assert len(learned) == 20  # two papers a sentence
    assert all(each.relevant == {0} and len(each.texts) == 6 for each in learned)
    assert {len(each.relevant) for each in kept} == {1, 2}
    for each in learned:
        assert "TARGETSENT" in each.claim
        assert " method " in each.claim
        cited = int(each.claim.split()[0][1:]) - 4
        others = {f"w{4 + n}" for n in (cited, (cited + 1) % 20)} - {each.texts[0].split()[0]}
        assert not any(text.startswith(f"{other} ") for text in each.texts[1:] for other in others)
        assert "\n2000" in each.texts[0]


def test_the_published_recipe() -> None:
    assert (RECIPE.loss, RECIPE.negatives, RECIPE.epochs, RECIPE.rate, RECIPE.longest) == ("triplet", 62, 5, 1e-5, 512)


def test_what_is_left_out() -> None:
    whole = _gathered(4)
    assert [each.key for each in exclude_documents(whole, "2010-01-03").documents] == ["d0", "d1"]
    assert [each.key for each in exclude_documents(whole, without=["d0", "unknown"]).documents] == ["d1", "d2", "d3"]
    assert exclude_documents(whole, "2010").documents == ()
    assert exclude_documents(whole) == whole


def test_from_documents_to_a_folder(tmp_path: Path) -> None:
    tiny = tiny_base()
    save_base(tmp_path / "base", tiny.model, tiny.tokenizer, max_tokens=32)
    told: list[str] = []
    recipe = ranker.RankerRecipe(epochs=2, batch=8, negatives=5, rate=3e-3, longest=512, loss="triplet", on_top=False)
    out = tmp_path / "out"
    build_scope_ranker(_gathered(), "paragraph", str(tmp_path / "base"), out, 30, 2, told.append, recipe)
    assert any(line.startswith("MRR") for line in told)
    assert pairs.load_ranker(out, threads=1).score("paper", "w4 w120", ["w4 w50", "w9"]).shape == (2,)
    assert room_of(out).longest == 64
    assert "input variant paragraph" in (out / "README.md").read_text("utf-8")
    variant = trained_variant(out)
    assert variant is not None
    assert variant.name == "paragraph"
    epochs = json.loads((out / "scope.json").read_text("utf-8"))["epochs"]
    assert [row["epoch"] for row in epochs] == [1, 2]
    assert all(0 <= row["MRR"] <= 1 and row["MRR error"] >= 0 for row in epochs)
    entry = RankerEntry("ranker", pairs.load_ranker(out, threads=1), None, variant)
    table_6, table_7 = rerankers(_gathered().papers.values(), None, [entry])
    names = [reranker.name for reranker in table_6 if reranker.name.startswith("ranker")]
    assert names == ["ranker-paragraph"]  # never an input that it was not trained with
    assert table_7[0].name == "ranker-paragraph"
    assert trained_variant(tmp_path / "base") is None
    with pytest.raises(UserError, match="already contains a model"):
        build_scope_ranker(_gathered(), "paragraph", str(tmp_path / "base"), out, 30, 2, told.append, recipe)
    with pytest.raises(UserError, match="unknown input variant 'x'"):
        build_scope_ranker(_gathered(), "x", str(tmp_path / "base"), tmp_path / "other", 30, 2, told.append, recipe)


def test_by_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from whycite.cli import app

    made = tiny_base()
    save_base(tmp_path / "base", made.model, made.tokenizer, max_tokens=32)
    entries = [f"@article{{p{at}, title = {{w{4 + at} w{50 + at} w100 w101 w102}}, year = 2000}}" for at in range(9)]
    (tmp_path / "refs.bib").write_text("\n".join(entries), encoding="utf-8")
    for at in range(6):
        said = "\n\n".join(f"w{4 + n} w{120 + n} w100 w101 [@p{n}]." for n in range(at, at + 4))
        paper = f"---\ntitle: Paper {at}\ndate: {2010 + at}\nbibliography: refs.bib\n---\n# Introduction\n{said}\n"
        (tmp_path / f"{at}.md").write_text(paper, encoding="utf-8")
    monkeypatch.setattr("whycite.lab.scope.triplets.RECIPE", replace(RECIPE, epochs=1, negatives=3))
    options = ["--recipe", "scope", "--variant", "section", "--lists", "8", "--held-out", "1"]
    places = ["--data", str(tmp_path), "--base", str(tmp_path / "base"), "--out", str(tmp_path / "ranker")]
    result = CliRunner().invoke(app, ["train", "ranker", *places, *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "triplet" in (tmp_path / "ranker" / "README.md").read_text("utf-8")


def test_a_ranker_that_hardly_learned_is_kept_only_where_that_is_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = tiny_base()
    save_base(tmp_path / "base", tiny.model, tiny.tokenizer, max_tokens=32)
    recipe = replace(RECIPE, epochs=1, negatives=2, longest=64)
    # However it was trained, its 8 bits agree with nothing.
    monkeypatch.setattr(build, "OnnxRanker", lambda folder, threads: _Unrelated())

    def train(out: str, least: float | None) -> None:
        arguments = (_gathered(), "paragraph", str(tmp_path / "base"), tmp_path / out, 4, 2, print, recipe)
        build_scope_ranker(*arguments, least_parity=least)

    with pytest.raises(UserError, match="the exported ranker differs from the trained one"):
        train("refused", 0.5)
    train("kept", None)
    assert (tmp_path / "kept" / "model.onnx").is_file()


class _Unrelated:
    def __init__(self) -> None:
        self._chance = np.random.default_rng(0)

    def score(self, kind: str, claim: str, texts: list[str]) -> NDArray[np.float64]:
        return self._chance.normal(size=len(texts))
