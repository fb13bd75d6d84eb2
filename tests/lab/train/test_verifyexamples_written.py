"""Claims written about articles: their parts, and the articles they are about."""

import io
import json
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest
import zstandard

from whycite import demo
from whycite.errors import UserError
from whycite.lab.train.verifyexamples import Part, abstract_cases, article_part, load_written

ARTICLE = """<article><front><article-meta><title-group><article-title>On bees</article-title></title-group>
<abstract><p>We filmed bees at night.</p></abstract></article-meta></front>
<body><sec><title>Results</title><p>Foragers sleep at night. They hang their antennae low.</p></sec></body></article>"""


def _id(part: Part, start: int = 0) -> str:
    """The first id of an article in a part."""
    return next(id for number in range(start, start + 100) if article_part(id := f"PMC{number}") == part)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """An archive with an article of each part."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for part in get_args(Part):
            member = tarfile.TarInfo(f"{_id(part)}.xml")
            member.size = len(ARTICLE.encode())
            archive.addfile(member, io.BytesIO(ARTICLE.encode()))
    (tmp_path / "pmc-rct").mkdir()
    (tmp_path / "pmc-rct" / "articles.tar.zst").write_bytes(zstandard.compress(packed.getvalue()))
    return tmp_path


def _write(data: Path, *rows: dict[str, Any]) -> Path:
    path = data / "written.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def _row(article: str, label: str = "S", **values: Any) -> dict[str, Any]:
    return {
        "article": article,
        "claim": f"Foragers sleep, {label}.",
        "label": label,
        "kind": "close",
        "deciding": [1],
        **values,
    }


def test_parts_are_stable_and_a_third_is_not_learned_from() -> None:
    ids = ("PMC1468428", "PMC1584256", "PMC2689169", "acl:P05-1013")
    assert [article_part(id) for id in ids] == ["train", "fit", "test", "test"]
    counts = Counter(article_part(f"PMC{number}") for number in range(3000))
    assert counts["train"] == pytest.approx(2000, abs=120)
    assert counts["fit"] == pytest.approx(500, abs=80)
    assert counts["test"] == pytest.approx(500, abs=80)


@pytest.mark.parametrize("part", get_args(Part))
def test_a_part_has_its_own_articles_only(data: Path, part: Part) -> None:
    path = _write(data, *(_row(_id(other), label) for other in get_args(Part) for label in "SCN"))
    cases = load_written(path, data, part)
    assert {case.document for case in cases} == {_id(part)}
    assert [case.label for case in cases] == ["backed", "contradicted", "not found"]


def test_a_claim_is_a_case_of_the_whole_article(data: Path) -> None:
    (case,) = load_written(_write(data, _row(_id("test"))), data, "test")
    assert case.claim == "Foragers sleep, S."
    assert case.sentences == (
        "We filmed bees at night.", "Foragers sleep at night.", "They hang their antennae low."
    )  # fmt: skip
    assert case.sections == ("Abstract", "Results", "Results")
    assert (case.gold, case.citing, case.dataset) == (frozenset({1}), "close", "written")
    assert case.sentences[1] == "Foragers sleep at night."


def test_what_the_abstract_decides_is_judged_against_it_alone(data: Path) -> None:
    id = _id("test")
    rows = (_row(id, deciding=[0]), _row(id, "C", deciding=[1]), _row(id, "N", deciding=[1]))
    abstracts = list(abstract_cases(load_written(_write(data, *rows), data, "test")))
    assert [(case.label, sorted(case.gold)) for case in abstracts] == [("backed", [0]), ("not found", [])]
    for case in abstracts:
        assert (case.sentences, case.sections) == (("We filmed bees at night.",), ("Abstract",))
        assert case.dataset == "written abstract"


def test_an_article_that_is_not_there_is_a_mistake(data: Path) -> None:
    strange = _id("fit", 200)
    with pytest.raises(UserError, match=rf"written\.jsonl:2: article '{strange}' is not in "):
        load_written(_write(data, _row(_id("fit")), _row(strange)), data, "fit")


def test_no_file_of_claims(data: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        load_written(data / "none.jsonl", data, "fit")


def test_parts_of_the_claims_that_come_with_the_benchmarks() -> None:
    path = Path(__file__).parents[3] / "benchmarks" / "data" / "written-claims.jsonl"
    articles: dict[Part, set[str]] = {part: set() for part in get_args(Part)}
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        assert row["label"] in "SCN"
        assert row["deciding"]
        articles[article_part(row["article"])].add(row["article"])
    assert all(articles.values())


def test_nothing_is_learned_from_the_articles_of_the_demo(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"pone.{number:07}" for number in range(8)]
    files = [tmp_path / f"journal.{name}.xml" for name in names]
    for file in files:
        file.write_text(ARTICLE, "utf-8")
    monkeypatch.setattr(demo, "articles", lambda: files)
    parts = {article_part(f"plos:{name}") for name in names}
    assert parts == {"fit", "test"}
    rows = [_row(f"plos:{name}") for name in names]
    cases = [case for part in get_args(Part) for case in load_written(_write(data, *rows), data, part)]
    assert {case.document for case in cases} == {f"plos:{name}" for name in names}
    assert {case.sentences[1] for case in cases} == {"Foragers sleep at night."}
