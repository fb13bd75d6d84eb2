"""The API gives what the command line gives."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from whycite import cite
from whycite.cite.recommendations import recommendation_json
from whycite.library import Library, add
from whycite.library.retractionwatch import import_list
from whycite.web.guard import AccessRules
from whycite.web.serverstate import ServerSettings

Clients = Callable[..., TestClient]
CLAIM = "Killer whales hit herring with their tails."


def _problem(answer: Any, status: int) -> str:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    said: str = answer.json()["detail"]
    return said


def test_cite_answers_as_the_command_line_does(client: TestClient, kept_library: Path) -> None:
    answer = client.post("/api/cite", json={"text": CLAIM, "n": 2, "explain": True}).json()
    assert answer["recommendations"][0]["paper"]["title"].startswith("Killer whales feeding on schooling herring")
    assert answer["recommendations"][0]["bibtex"].startswith("@article{domenici2000killer,")
    told = [{key: value for key, value in each.items() if key != "bibtex"} for each in answer["recommendations"]]
    assert told == json.loads(json.dumps([recommendation_json(each, True) for each in cite(CLAIM, kept_library, 2)]))


def test_no_paper_is_newer_than_asked(client: TestClient) -> None:
    found = client.post("/api/cite", json={"text": "honey bee viruses", "year_max": 2003}).json()["recommendations"]
    assert found
    assert all((each["paper"]["year"] or 0) <= 2003 for each in found)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({}, "text"),
        ({"text": ""}, "text"),
        ({"text": "  …  "}, "no word"),
        ({"text": "bees", "n": 0}, "n"),
        ({"text": "bees", "methode": "x"}, "methode"),
        ({"text": "bees", "method": "magic"}, "magic"),
        ({"text": "bees", "section": "kitchen"}, "kitchen"),
        ({"text": "bees\ud800"}, ""),
    ],
)
def test_a_wrong_question_is_told_in_a_sentence(client: TestClient, question: dict[str, Any], said: str) -> None:
    body = json.dumps(question).encode()
    answer = client.post("/api/cite", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422), answer.text
    assert said in answer.json()["detail"]


def test_prometheus_learns_what_was_asked_but_not_its_words(client: TestClient, kept_library: Path) -> None:
    def counted() -> dict[str, float]:
        answer = client.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        samples = (line.rpartition(" ") for line in answer.text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _, value in samples}

    assert client.post("/api/cite", json={"text": CLAIM}).status_code == 200
    before = counted()
    for question in ({"text": CLAIM}, {"text": "bees"}, {"text": ""}):
        client.post("/api/cite", json=question)
    client.get("/papers/doi:10.1/secret")
    client.get("/secret")
    client.request("BREW", "/secret")
    after = counted()

    def more(name: str) -> float:
        return after.get(name, 0) - before.get(name, 0)

    route = 'route="/api/cite"'
    assert more(f'whycite_requests_total{{{route},method="POST",status="200"}}') == 2
    assert more(f'whycite_requests_total{{{route},method="POST",status="422"}}') == 1
    assert (
        more(f"whycite_request_seconds_count{{{route}}}")
        == more(f'whycite_request_seconds_bucket{{{route},le="+Inf"}}')
        == 3
    )
    assert 0 < more(f"whycite_request_seconds_sum{{{route}}}") < 60
    assert more('whycite_requests_total{route="/papers/{key:path}",method="GET",status="404"}') == 1
    assert not any("secret" in name or "BREW" in name for name in after)
    assert after["whycite_library_version"] == Library.open(kept_library).version
    assert after["whycite_questions_unfinished"] == 0


def test_prometheus_learns_what_was_refused(client_of: Clients, kept_library: Path) -> None:
    client = client_of(kept_library, AccessRules(token="secret"))
    client.get("/api/library")
    client.get("/cite")
    client.post("/api/cite", headers={"origin": "https://evil.example.org"})
    counts = client.get("/metrics", headers={"authorization": "Bearer secret"}).text
    for route, method, status in (("/api/other", "GET", 401), ("other", "GET", 401), ("/api/other", "POST", 403)):
        assert f'whycite_requests_total{{route="{route}",method="{method}",status="{status}"}} 1\n' in counts


def test_no_library_yet(tmp_path: Path, client_of: Clients) -> None:
    client = client_of(tmp_path / "none")
    assert client.get("/api/health").json()["documents"] is None
    assert "whycite add" in _problem(client.post("/api/cite", json={"text": CLAIM}), 422)
    assert "whycite add" in _problem(client.get("/api/library"), 422)


def test_what_is_in_the_library(client: TestClient, kept_library: Path) -> None:
    info = client.get("/api/library").json()
    assert (info["documents"], info["path"]) == (2, str(kept_library))
    page = client.get("/api/library/documents", params={"limit": 1}).json()
    assert (page["total"], len(page["documents"])) == (2, 1)
    found = client.get("/api/library/documents", params={"query": "WHALES herring"}).json()["documents"]
    assert [each["title"] for each in found] == ["How killer whales hunt herring"]


def test_figures(client: TestClient) -> None:
    figures = client.get("/api/library/statistics").json()
    assert figures["years"] == {"1993": 1, "2000": 1, "2003": 1, "2012": 1, "2013": 1}
    assert figures["support"] == {"1": 3, "2": 2}
    assert [each["support"] for each in figures["most_cited"]] == [2, 2, 1, 1, 1]


def test_read_gives_what_the_reader_sees(client: TestClient) -> None:
    draft = b"# Introduction\r\nWhales sing [@payne1971].\r\n"
    told = client.post("/api/read", files=[("files", ("draft.md", draft))]).json()
    assert told["sentences"][0]["text"].startswith("Whales sing")
    assert told["sections"][0]["type"] == "introduction"
    assert told["sentences"][0]["citations"][0]["keys"] == ["payne1971"]


def test_several_files_are_one_project(client: TestClient) -> None:
    files = [
        (
            "files",
            ("paper/main.tex", rb"\documentclass{article}\begin{document}\input{part}\bibliography{r}\end{document}"),
        ),
        ("files", ("paper/part.tex", rb"Whales sing \cite{payne}.")),
        ("files", ("paper/r.bib", b"@article{payne, title={Songs of humpback whales}, year={1971}}")),
    ]
    told = client.post("/api/read", files=files).json()
    assert told["sentences"][0]["file"].endswith("part.tex")
    assert told["references"][0]["title"] == "Songs of humpback whales"


def _events(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for block in filter(None, text.split("\n\n")):
        kind, data = block.split("\n")
        yield kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_papers_are_added_with_progress_and_removed(tmp_path: Path, papers: Path, client_of: Clients) -> None:
    client = client_of(tmp_path / "library")
    draft = (papers / "whales.md").read_bytes()
    sent = [("files", ("whales.md", draft)), ("files", ("notes.xyz", b"\0\1\2"))]
    begun = client.post("/api/library/documents", files=sent)
    assert begun.status_code == 202
    told = list(_events(client.get(f"/api/library/uploads/{begun.json()['id']}").text))
    assert [kind for kind, _ in told][-1] == "done"
    assert told[-1][1]["added"] == 1
    assert [each["path"] for each in told[-1][1]["skipped"]] == ["notes.xyz"]
    entry = client.get("/api/library/documents").json()["documents"][0]
    assert entry["path"] == "<upload>/whales.md"
    assert client.post("/api/cite", json={"text": CLAIM}).json()["recommendations"]
    assert client.delete(f"/api/library/documents/{entry['id']}").json()["removed"][0]["path"] == entry["path"]
    assert client.get("/api/library/documents").json()["total"] == 0
    assert "no such document" in _problem(client.delete(f"/api/library/documents/{entry['id']}"), 404)


def test_another_program_may_add_beside_it(tmp_path: Path, papers: Path, client_of: Clients) -> None:
    from whycite.library import add

    library = tmp_path / "library"
    add(library, [papers / "bees.md"], jobs=1)
    client = client_of(library)
    assert client.get("/api/library").json()["documents"] == 1
    add(library, [papers / "whales.md"], jobs=1)
    assert client.get("/api/library").json()["documents"] == 2
    assert "tail" in client.post("/api/cite", json={"text": CLAIM}).json()["recommendations"][0]["paper"]["title"]


def test_an_upload_that_is_none(client: TestClient) -> None:
    assert "No such upload" in _problem(client.get("/api/library/uploads/nothing"), 404)


def test_more_than_can_wait_is_refused(kept_library: Path, client_of: Clients) -> None:
    client = client_of(kept_library, threads=1, waiting=-1)
    answer = client.post("/api/cite", json={"text": CLAIM})
    assert "try again" in _problem(answer, 503)
    assert int(answer.headers["retry-after"]) > 0


def test_defaults_are_for_this_machine_alone() -> None:
    assert ServerSettings().rules.host == "127.0.0.1"


def test_retracted_papers_are_left_out_or_marked(papers: Path, tmp_path: Path, client_of: Clients) -> None:
    library = tmp_path / "library"
    add(library, [papers], jobs=1)
    client = client_of(library)
    title = "Killer whales feeding on schooling herring using tail-slaps"
    assert client.post("/api/cite", json={"text": CLAIM}).json()["recommendations"][0]["paper"]["title"] == title
    file = tmp_path / "retraction_watch.csv"
    header = (
        "Title,RetractionDate,RetractionDOI,OriginalPaperDate,OriginalPaperDOI,OriginalPaperPubMedID,RetractionNature"
    )
    file.write_text(f"{header}\n{title},3/4/2016 0:00,10.1000/n,1/1/2000 0:00,unavailable,0,Retraction\n", "utf-8")
    import_list(library, file)
    left = client.post("/api/cite", json={"text": CLAIM}).json()["recommendations"]
    assert title not in {one["paper"]["title"] for one in left}
    asked = client.post("/api/cite", json={"text": CLAIM, "include_retracted": True}).json()["recommendations"]
    assert asked[0]["paper"]["warning"] == "Retracted 2016-03-04 (doi:10.1000/n, according to Retraction Watch)"
    draft = [("files", (name, (papers / name).read_bytes())) for name in ("whales.md", "refs.bib")]
    checked = client.post("/api/check", files=draft).json()
    assert [p["rule"] for finding in checked["findings"] for p in finding.get("problems", [])] == ["retracted"]


def test_who_agrees_and_who_disagrees_is_told(tmp_path: Path, client_of: Clients) -> None:
    (tmp_path / "later.md").write_text(
        '---\ntitle: Sleep revisited\nreferences:\n- {id: kaiser, title: "Busy bees need rest, too", issued: 1988,\n'
        "   DOI: 10.1007/bf00603898, author: [{family: Kaiser, given: Walter}]}\n---\n# Results\n\n"
        "Our results do not support those of Kaiser [@kaiser].\n\n"
        "Our results are consistent with those of Kaiser [@kaiser].\n\n"
        "Bees were kept in hives of glass [@kaiser].\n"
    )
    add(tmp_path / "library", [tmp_path / "later.md"], jobs=1)
    client = client_of(tmp_path / "library")
    citing = client.get("/api/papers/doi:10.1007/bf00603898").json()["citing"]
    assert [one["agreement"] for one in citing] == ["disagree", "agree", None]


def test_citing_papers_that_were_retracted_are_marked(tmp_path: Path, client_of: Clients) -> None:
    (tmp_path / "later.md").write_text(
        '---\ntitle: "RETRACTED: Sleep revisited"\nreferences:\n- {id: kaiser, title: "Busy bees need rest, too",\n'
        "   DOI: 10.1007/bf00603898, author: [{family: Kaiser, given: Walter}]}\n---\n# Results\n\n"
        "Bees were kept in hives of glass [@kaiser].\n"
    )
    add(tmp_path / "library", [tmp_path / "later.md"], jobs=1)
    client = client_of(tmp_path / "library")
    [citing] = client.get("/api/papers/doi:10.1007/bf00603898").json()["citing"]
    assert citing["source"]["status"] == "retracted"
    page = client.get("/papers/doi:10.1007/bf00603898").text
    assert '<span class="wrong">, retracted</span>' in page[page.index('id="citing-1"') :]


def test_what_a_paper_says_is_not_told_twice(tmp_path: Path, client_of: Clients) -> None:
    abstract = "We watched the sleep of bees for two years and found that old foragers sleep less than young ones."
    result = "Old foragers slept five hours a night, and young ones slept eight hours in the same hive."
    (tmp_path / "bees.md").write_text(
        f"---\ntitle: Sleep of bees\ndoi: 10.1234/sleep\nabstract: {abstract}\n---\n# Results\n\n{result}\n"
    )
    add(tmp_path / "library", [tmp_path / "bees.md"], jobs=1)
    paper = client_of(tmp_path / "library").get("/api/papers/doi:10.1234/sleep").json()
    assert paper["abstract"] == abstract
    assert [passage["text"] for passage in paper["passages"]] == [result]
