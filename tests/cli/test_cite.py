"""`whycite cite` as a user runs it, on a small library."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from tests.fakes import FakeMethod
from whycite.cite import recommendations
from whycite.cite.fit import BAR
from whycite.documents import stream
from whycite.errors import UserError
from whycite.lab.evaluate.comparison import read_run
from whycite.library import add

Run = Callable[..., Result]

CLAIM = "Foraging honeybees sleep at night."


def _recommendations(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, (result.output, result.exception)
    content = json.loads(result.stdout)
    assert content.keys() == {"text", "fits", "recommendations", "state"}
    assert len(content["state"]) == 32
    found: list[dict[str, Any]] = content["recommendations"]
    return found


@pytest.mark.parametrize("option", [["--json"], ["--format", "json"]], ids=" ".join)
def test_json_has_the_agreed_keys(run: Run, library: Path, option: list[str]) -> None:
    found = _recommendations(run("cite", CLAIM, "--library", library, *option))
    assert [one["rank"] for one in found] == list(range(1, len(found) + 1))
    best = found[0]
    keys = {"rank", "score", "fits", "support", "citing_documents", "title_matches", "paper", "evidence", "passages"}
    assert best.keys() == keys
    assert best["support"] == 1
    assert best["paper"] == {
        "key": "title:busy bees need rest too|1988|kaiser",
        "title": "Busy bees need rest, too",
        "authors": ["Kaiser, Walter"],
        "year": 1988,
        "venue": "Journal of Comparative Physiology",
        "doi": "",
    }
    evidence = best["evidence"][0]
    assert evidence.keys() == {"span", "score", "sentence", "source"}
    assert evidence["sentence"].startswith("Honeybees that forage sleep at night")
    assert evidence["source"] == {"key": "title:how bees rest|2023", "title": "How bees rest", "year": 2023}


def test_a_person_reads_paper_support_and_evidence(run: Run, library: Path) -> None:
    shown = run("cite", CLAIM, "--library", library, "-n", "1").stdout
    assert shown.splitlines() == [
        " 1  Busy bees need rest, too",
        "    Kaiser (1988), Journal of Comparative Physiology",
        "    cited once in your library:",
        "      “Honeybees that forage sleep at night and hang their antennae (Kaiser 1988).”",
        "        — How bees rest (2023)",
    ]


RECEPTION = """\
---
title: Sleep at noon
year: 2024
references:
- id: kaiser
  title: Busy bees need rest, too
  author: [{family: Kaiser, given: Walter}]
  issued: 1988
  container-title: Journal of Comparative Physiology
---

# Discussion

Our bees slept at noon, in contrast to previous reports [@kaiser].
"""


def test_how_papers_are_cited(run: Run, papers: Path, tmp_path: Path) -> None:
    (tmp_path / "noon.md").write_text(RECEPTION, "utf-8")
    library = tmp_path / "library"
    add(library, [papers, tmp_path / "noon.md"], jobs=1)
    [best] = _recommendations(run("cite", CLAIM, "--library", library, "--json", "-n", "1", "--how-cited"))
    citing = best["citing"]
    examples = citing.pop("examples")
    assert citing == {"background": 1, "method": 0, "result": 1, "pointer": 0, "agree": 0, "disagree": 1, "unread": 0}
    assert examples.keys() == {"background", "result", "disagree"}
    assert examples["disagree"] == {
        "sentence": "Our bees slept at noon, in contrast to previous reports (Kaiser 1988).",
        "source": {"key": "title:sleep at noon|2024", "title": "Sleep at noon", "year": 2024},
    }
    shown = run("cite", CLAIM, "--library", library, "-n", "1", "--how-cited").stdout
    assert "cited for background once, for a result once, disagreeing with it once\n" in shown
    claims = tmp_path / "claims.jsonl"
    claims.write_text(json.dumps({"id": 1, "text": CLAIM}), "utf-8")
    line = json.loads(run("cite", "--batch", claims, "--library", library, "-n", "1", "--how-cited").stdout)
    assert line["recommendations"][0]["citing"] == citing | {"examples": examples}
    with pytest.raises(UserError, match="--how-cited cannot be used with --format ris"):
        raise run("cite", CLAIM, "--library", library, "--how-cited", "--format", "ris").exception or AssertionError


def test_a_claim_with_a_paper_fits_and_one_without_does_not(run: Run, library: Path) -> None:
    fitting = json.loads(run("cite", CLAIM, "--library", library, "--json", "-n", "1").stdout)
    assert fitting["fits"] == fitting["recommendations"][0]["fits"] > BAR
    foreign = "Medieval monasteries sold beer to travellers."
    other = json.loads(run("cite", foreign, "--library", library, "--json").stdout)
    assert other["fits"] == max(one["fits"] for one in other["recommendations"]) < BAR
    note = "No paper in your library is a clear match for this claim."
    assert run("cite", foreign, "--library", library).stdout.startswith(note)
    batch = library.parent / "claims.jsonl"
    batch.write_text("".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in ((1, CLAIM), (2, foreign))))
    lines = run("cite", "--batch", batch, "--library", library, "-n", "1").stdout.splitlines()
    assert [json.loads(line)["fits"] for line in lines] == [fitting["fits"], other["fits"]]


def test_the_number_of_papers_and_the_year_are_kept(run: Run, library: Path) -> None:
    claim = ["cite", "Attention layers represent text", "--library", library, "--json"]
    assert len(_recommendations(run(*claim, "-n", "2"))) == 2
    years = [one["paper"]["year"] for one in _recommendations(run(*claim, "--year-max", "2017"))]
    assert years
    assert all(year <= 2017 for year in years)
    nothing = run("cite", CLAIM, "--library", library, "--year-max", "1900")
    assert nothing.exit_code == 0
    assert nothing.stdout.startswith("No papers from 1900 or earlier match this claim")
    for year, limit in (("-5", "1000"), ("999", "1000"), ("3000", "2999"), ("20177", "2999")):
        refused = run("cite", CLAIM, "--library", library, "--year-max", year)
        assert refused.exit_code == 2
        assert "--year-max" in refused.stderr
        assert limit in refused.stderr


def test_explain_tells_what_a_score_is_made_of(run: Run, library: Path) -> None:
    best = _recommendations(run("cite", CLAIM, "--library", library, "--json", "--explain"))[0]
    assert sum(best["explain"].values()) == pytest.approx(best["score"])
    shown = run("cite", CLAIM, "--library", library, "-n", "1", "--explain").stdout
    assert f"score {best['score']:.3f} = " in shown
    assert all((name in shown) == (abs(share) >= 0.0005) for name, share in best["explain"].items())


def test_bibtex_reads_back(run: Run, library: Path, tmp_path: Path) -> None:
    written = run("cite", CLAIM, "--library", library, "--format", "bibtex").stdout
    (tmp_path / "found.bib").write_text(written, "utf-8")
    (document,) = stream(tmp_path / "found.bib")
    keys = [one["paper"]["title"] for one in _recommendations(run("cite", CLAIM, "--library", library, "--json"))]
    assert [reference.title for reference in document.references] == keys
    assert document.references[0].authors == ("Kaiser, Walter",)


@pytest.mark.parametrize("format", ["bibtex", "csl", "ris"])
def test_entries_that_fit_badly_come_with_a_warning(run: Run, library: Path, format: str) -> None:
    assert not run("cite", CLAIM, "--library", library, "--format", format).stderr
    result = run("cite", "Concrete gains strength for weeks after casting.", "--library", library, "--format", format)
    warning = "warning: no paper in your library is a clear match for this claim. The closest ones follow."
    assert " ".join(result.stderr.split()) == warning
    assert result.stdout


def test_a_cited_paper_that_is_unknown_is_told(run: Run, library: Path, tmp_path: Path) -> None:
    (tmp_path / "claims.jsonl").write_text(json.dumps({"id": 1, "text": CLAIM}), "utf-8")
    known = run("cite", CLAIM, "--library", library, "--cited", "title:busy bees need rest too|1988|kaiser")
    assert not known.stderr
    for claim in ([CLAIM], ["--batch", tmp_path / "claims.jsonl"]):
        result = run("cite", *claim, "--library", library, "--cited", "kaiser1988")
        assert "--cited kaiser1988: no paper in your library has this key" in " ".join(result.stderr.split())
        assert result.exit_code == 0


def test_a_trec_run_reads_back(run: Run, library: Path, tmp_path: Path) -> None:
    (tmp_path / "run").write_text(run("cite", CLAIM, "--library", library, "--format", "trec").stdout, "utf-8")
    found = _recommendations(run("cite", CLAIM, "--library", library, "--json"))
    assert read_run(tmp_path / "run") == {"1": [(one["paper"]["key"], one["score"]) for one in found]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_claim_on_standard_input(run: Run, library: Path, encoding: str) -> None:
    claim = f"“{CLAIM}”"
    named = run("cite", claim, "--library", library, "--json").stdout
    assert run("cite", "-", "--library", library, "--json", stdin=f"\n {claim}\n".encode(encoding)).stdout == named


def test_words_without_quotation_marks_are_one_claim(run: Run, library: Path) -> None:
    named = run("cite", CLAIM, "--library", library, "--json").stdout
    assert run("cite", *CLAIM.split(), "--library", library, "--json").stdout == named


def test_what_is_known_of_the_draft_is_passed_on(run: Run, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    method = FakeMethod()
    monkeypatch.setattr(recommendations, "load_method", lambda name, library: method)
    options = ["--title", "On bees", "--section", "Related Works", "--cited", "doi:10.1/a", "--cited", "pmid:1"]
    run("cite", CLAIM, "--library", library, *options, "--year-max", "2020", "-n", "7")
    ((claim, number),) = method.asked
    assert (claim.text, claim.title, claim.section_type) == (CLAIM, "On bees", "related work")
    assert (claim.cited, claim.year, number) == (("doi:10.1/a", "pmid:1"), 2020, 7)


def test_another_method(run: Run, library: Path) -> None:
    from whycite.cite.recommendations import methods

    for method in methods():
        found = _recommendations(run("cite", CLAIM, "--library", library, "--method", method, "--json"))
        assert found[0]["paper"]["title"] == "Busy bees need rest, too"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one claim in quotation marks, or use --batch FILE for several"),
        ([CLAIM, "--batch", "claims.jsonl"], "give one claim in quotation marks, or use --batch FILE for several"),
        ([CLAIM, CLAIM], "give one claim in quotation marks, or use --batch FILE for several"),
        ([CLAIM, CLAIM, "--batch", "claims.jsonl"], "give one claim in quotation marks"),
        (["Bees", "sleep", "--batch", "claims.jsonl"], "give one claim in quotation marks"),
        ([""], "the claim has no words"),
        ([" \n"], "the claim has no words"),
        (["…?!"], "the claim has no words"),
        (["bees " * 5000], "claim is too long: 24,999 characters, but at most 10,000 are allowed"),
        ([CLAIM, "--method", "magic"], "no method 'magic'; choose one of: "),
        ([CLAIM, "--section", "Growing Trees"], "unknown section type 'Growing Trees'; choose one of: introduction, "),
        ([CLAIM, "--json", "--format", "trec"], "--json cannot be used with --format trec"),
        (["--batch", "claims.jsonl", "--format", "text"], "--batch cannot be used with --format text"),
        (["--batch", "gone.jsonl"], "gone.jsonl: No such file or directory"),
    ],
    ids=lambda value: "-".join(value)[:20] if isinstance(value, list) else "",
)
def test_a_mistake_is_one_plain_sentence(run: Run, library: Path, arguments: list[str], message: str) -> None:
    result = run("cite", *arguments, "--library", library)
    assert isinstance(result.exception, UserError)
    assert str(result.exception).startswith(message)


def test_without_a_library_the_user_is_told_how_to_make_one(run: Run, tmp_path: Path) -> None:
    result = run("cite", CLAIM)
    assert isinstance(result.exception, UserError)
    assert str(result.exception) == (
        f"{tmp_path / 'own library'}: no library here yet; create one with: whycite add FOLDER"
    )


@pytest.mark.parametrize("n", ["0", "1001", "ten"])
def test_the_number_of_papers_is_checked(run: Run, library: Path, n: str) -> None:
    assert run("cite", CLAIM, "--library", library, "-n", n).exit_code == 2
