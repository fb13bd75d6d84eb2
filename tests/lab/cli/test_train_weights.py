"""From papers to the weights that lie with an encoder, by the command."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.fakes import tiny_base
from whycite.cite.evidence_sum import EvidenceSum
from whycite.cite.recommendations import Claim
from whycite.cite.scoring import EVIDENCE, PAPER, RankingWeights, stored_with
from whycite.cli import app
from whycite.errors import UserError
from whycite.lab.train.bases import save_base
from whycite.lab.train.export import export, export_scores
from whycite.lab.train.ranker import RankerNetwork
from whycite.library import Library
from whycite.models import load_encoder
from whycite.models.folders import RANKER
from whycite.models.pairs import RANKER_FOLDER

WORKS = {at: [f"w{4 + 6 * at + word}" for word in range(6)] for at in range(12)}  # words of each work's own


def record(number: int, chance: Random) -> dict[str, Any]:
    """A paper that cites six works, each in words of its own, and the paper five before it."""
    text, spans = "", []
    for at in chance.sample(sorted(WORKS), 6):
        said = chance.sample(WORKS[at], 4)
        text += f"{' '.join(said).capitalize()} are what was found there ("
        spans.append({"start": len(text), "end": len(text) + 9, "text": "Doe, 2001", "ref_id": f"b{at}"})
        text += "Doe, 2001). "
    papers = {
        f"b{at}": {"title": f"Work {at} on {words[0]}", "year": 2001, "doi": f"10.1/{at}"}
        for at, words in WORKS.items()
    }
    if number >= 5:
        text += f"Words of study {number - 5} were counted before ("
        spans.append({"start": len(text), "end": len(text) + 9, "text": "Roe, 2020", "ref_id": "own"})
        text += "Roe, 2020)."
        papers["own"] = {"title": title(number - 5), "year": 2020, "doi": f"10.9/{number - 5:02}"}
    return {
        "paper_id": str(number),
        "doi": f"10.9/{number:02}",
        "title": title(number),
        "abstract": f"We count the words of study {number}.",
        "year": 2020,
        "pub_date": f"2020-01-{number + 1:02}",
        "subjects": ["Words"],
        "body_text": [{"section": "Introduction", "text": text.strip(), "cite_spans": spans}],
        "bib_entries": papers,
    }


def title(number: int) -> str:
    return f"Study number {number} of words"


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    chance = Random(0)
    path = tmp_path / "papers.jsonl"
    path.write_text("".join(json.dumps(record(number, chance)) + "\n" for number in range(14)), encoding="utf-8")
    return path


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """A tiny encoder with a ranker that was never trained."""
    tiny, out = tiny_base(), tmp_path / "encoder"
    save_base(tmp_path / "trained", tiny.model, tiny.tokenizer, max_tokens=32)
    export(tmp_path / "trained", out, name="tiny")
    ranker = RankerNetwork(tiny_base(1).model)
    export_scores(
        ranker.model,
        ranker.head,
        tiny.tokenizer,
        out / RANKER_FOLDER,
        name="ranker",
        max_tokens=64,
        kind=RANKER,
    )
    return out


def fitted(papers: Path, encoder: Path, *more: str | Path) -> str:
    result = CliRunner().invoke(
        app,
        [
            *("train", "weights", "--data", str(papers), "--topics", "words", "--out", str(encoder)),
            *("--claims", "20", "--held-out", "4", "--jobs", "1", *map(str, more)),
        ],
        catch_exceptions=False,
    )
    assert result.exit_code == 0, result.output
    return result.output


def test_weights_are_fitted_kept_and_used(papers: Path, encoder: Path, tmp_path: Path) -> None:
    told = fitted(papers, encoder, "--work", tmp_path / "work")
    assert "claims only: MRR " in told
    assert "without citing documents: MRR " in told
    assert "abstracts only, 4 claims: MRR " in told  # one of each paper held out
    assert "with context of the draft: MRR " in told
    assert "with the ranker: MRR " in told

    held = json.loads((encoder / "weights.json").read_text("utf-8"))
    assert held["weights"].keys() == {*EVIDENCE, *PAPER}
    used = stored_with(load_encoder(str(encoder)))
    assert used.weights == RankingWeights(**held["weights"])
    assert used.doubt == held["doubt"]
    assert used.weights.sentence_coverage != RankingWeights().sentence_coverage

    alone = Library.open(tmp_path / "work" / "words" / "abstracts").info()
    assert (alone.papers, alone.spans) == (10, 0)
    library = Library.open(tmp_path / "work" / "words" / "library")
    asked = Claim("W4 w5 w6 w7 are what was found there")
    best = EvidenceSum(library, load_encoder(str(encoder))).recommend(asked, 3)[0]
    assert best.paper.title == "Work 0 on w4"
    assert best.score == pytest.approx(
        EvidenceSum(library, load_encoder(str(encoder)), used.weights).recommend(asked)[0].score
    )
    assert best.score != pytest.approx(
        EvidenceSum(library, load_encoder(str(encoder)), RankingWeights()).recommend(asked)[0].score
    )

    first = (encoder / "weights.json").read_bytes()
    assert fitted(papers, encoder, "--work", tmp_path / "work").splitlines()[0] == told.splitlines()[0]
    assert (encoder / "weights.json").read_bytes() == first


def test_weights_need_the_folder_of_an_encoder(papers: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder; weights are saved in the folder of their encoder"):
        fitted(papers, tmp_path / "none")
