"""`whycite fetch`: from where files come, what is sent, what a second run does, and what happens when services fail."""

import gzip
import io
import json
import signal
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from tests.references.conftest import NAMES, Failure, LocalServices
from tests.sources.test_zotero import SENTENCE, article
from tests.thoroughness import THOROUGH
from whycite.demo import articles
from whycite.documents import read
from whycite.documents.model import Reference
from whycite.errors import UserError
from whycite.references.client import Clock, ServiceClient, ServiceFailure
from whycite.sources.fetching import identified_references

Run = Callable[..., Result]

JATS = """<?xml version="1.0"?>
<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>
<article-id pub-id-type="doi">10.1371/{number}</article-id>
<title-group><article-title>{title}</article-title></title-group>
<pub-date><year>2001</year></pub-date></article-meta></front><body><sec><title>Introduction</title>
<p>{sentence}</p></sec></body></article>"""
TEI = """<?xml version="1.0"?><TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt>
<title level="a" type="main">On wasps and the night</title></titleStmt></fileDesc></teiHeader><text><body><div>
<head>Introduction</head><p>Wasps are active at night in the tropics.</p></div></body></text></TEI>"""
LATEX = r"""\documentclass{article}
\title{Attention Is All You Need}
\begin{document}\maketitle\section{Introduction}
%s
\end{document}
"""
BIBLIOGRAPHY = """\
@article{bees, title = {Busy bees need rest, too}, author = {Kaiser, W.}, doi = {10.1371/bees}, year = 1988}
@misc{attention, title = {Attention Is All You Need}, eprint = {1706.03762}, archiveprefix = {arXiv}, year = 2017}
@article{wasps, title = {On wasps and the night}, doi = {10.1000/wasps}, year = 2003}
@article{moths, title = {On moths and the moon of the summer}, author = {Roe, Ann}, year = 2005}
@book{nowhere, title = {A book that nobody scanned}, doi = {10.1000/nowhere}, year = 1950}
@misc{nothing, note = {personal communication}}
"""


def tarball(**files: str) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name.replace("_", "."))
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return data.getvalue()


def found(**result: Any) -> str:
    """An answer of Europe PMC."""
    return json.dumps({"version": "6.9", "hitCount": 1, "resultList": {"result": [result]}})


def jats(number: str, title: str, sentence: str) -> bytes:
    return JATS.format(number=number, title=title, sentence=sentence).encode()


@pytest.fixture
def services(local_services: LocalServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalServices:
    """Services that have what the bibliography wants."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("WHYCITE_OPENALEX_KEY", "secret")
    (tmp_path / "refs.bib").write_text(BIBLIOGRAPHY, "utf-8")
    pdf = {"documentStyle": "pdf", "availabilityCode": "OA", "url": f"{local_services.base}/publisher/moths.pdf"}
    local_services.answers = {
        'europepmc/search?DOI:"10.1371/bees"': found(
            id="1", pmcid="PMC1234501", doi="10.1371/bees", title="Busy bees need rest, too.", isOpenAccess="Y"
        ),
        "europepmc/PMC1234501/fullTextXML": jats("bees", "Busy bees need rest, too", SENTENCE),
        'europepmc/search?TITLE:"On moths and the moon of the summer"': found(
            id="2", pmid="2", doi="10.1371/moths", title="On moths and the moon of the summer", pubYear="2005",
            isOpenAccess="N", fullTextUrlList={"fullTextUrl": [pdf]},
            authorList={"author": [{"lastName": "Roe", "firstName": "Ann"}]},
        ),
        "europepmc/search": json.dumps({"resultList": {"result": []}}),
        "publisher/moths.pdf": article("Moths fly to the moon in the summer nights."),
        "arxiv/e-print/1706.03762": tarball(main_tex=LATEX % "Attention layers alone represent text well."),
        "openalex/works/doi:10.1000/wasps": json.dumps(
            {"id": "https://openalex.org/W3", "has_content": {"grobid_xml": True, "pdf": True}}
        ),
        "openalexfiles/works/W3.grobid-xml": TEI.encode(),
    }  # fmt: skip
    return local_services


def fetched(run: Run, *arguments: str | Path) -> dict[str, Any]:
    result = run("fetch", *arguments, "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_a_bibliography(run: Run, services: LocalServices, tmp_path: Path) -> None:
    result = run("fetch", "--from", "refs.bib", "--json")
    assert "Sending the identifiers of 5 papers, or titles where there are none, to Europe PMC, arXiv, OpenAlex" in (
        result.stderr
    )
    answer = json.loads(result.stdout)
    assert (answer["fetched"], answer["there"], answer["missing"]) == (4, 0, 2)
    files = {paper["id"]: (paper["file"], paper["source"], paper["format"]) for paper in answer["papers"]}
    assert files == {
        "bees": ("papers/doi_10.1371_bees.xml", "Europe PMC", "JATS"),
        "attention": ("papers/arxiv_1706.03762.tar.gz", "arXiv", "LaTeX"),
        "wasps": ("papers/doi_10.1000_wasps.tei.xml", "OpenAlex", "TEI"),
        "moths": (files["moths"][0], "127.0.0.1", "PDF"),
        "nowhere": (None, None, None),
        "nothing": (None, None, None),
    }
    assert sorted(str(file) for file in Path("papers").iterdir()) == sorted(file for file, *_ in files.values() if file)
    reasons = [paper["reason"] for paper in answer["papers"] if paper["status"] == "missing"]
    assert reasons == [
        "not open access, or not known to the services that were asked", "has neither an identifier nor a title",
    ]  # fmt: skip
    assert answer["library"]["documents"] == 4
    # What a file does not say itself is known from the bibliography and the services.
    documents = map(json.loads, run("library", "list", "--json").stdout.splitlines())
    keys = {"doi:10.1371/bees", "arxiv:1706.03762", "doi:10.1000/wasps", "doi:10.1371/moths"}
    assert {document["key"] for document in documents} == keys
    assert "secret" not in "".join(file.read_text("utf-8") for file in (tmp_path / "cache").rglob("*.json"))


def test_a_second_run_sends_nothing(run: Run, services: LocalServices) -> None:
    first = fetched(run, "--from", "refs.bib")
    number = len(services.asked)
    again = fetched(run, "--from", "refs.bib")
    assert len(services.asked) == number
    assert (again["fetched"], again["there"], again["missing"]) == (0, 4, 2)
    assert again["library"]["version"] == first["library"]["version"]
    text = run("fetch", "--from", "refs.bib")
    assert text.stdout.splitlines()[-1] == (
        "0 fetched, 4 there before, 2 could not be had; your library now has 4 documents."
    )
    assert "Sending the identifiers of 1 paper," in text.stderr  # the other has nothing that could be sent
    # Nor if only the library has them, in another folder.
    assert fetched(run, "--from", "refs.bib", "--to", "elsewhere")["there"] == 4
    assert not Path("elsewhere").exists()


def test_a_draft_can_then_be_verified(run: Run, services: LocalServices) -> None:
    draft = (
        "---\nreferences:\n- {id: k, title: 'Busy bees need rest, too', DOI: 10.1371/bees, issued: 1988}\n"
        "- {id: u, title: 'Never cited here', DOI: 10.1371/uncited}\n---\n"
        "# Introduction\r\n\r\nHoneybees sleep in the hive at night [@k].\r\n"
    )
    Path("draft.md").write_text(draft, "utf-8")
    assert [paper["status"] for paper in fetched(run, "--from", "draft.md")["papers"]] == ["fetched"]
    [answer] = run("verify", "draft.md", "--json").stdout.splitlines()
    assert json.loads(answer)["verdict"] == "backed"


def test_identifiers(run: Run, services: LocalServices) -> None:
    services.answers["europepmc/search?PMCID:PMC1234501"] = services.answers['europepmc/search?DOI:"10.1371/bees"']
    answer = fetched(
        run, "https://doi.org/10.1371/BEES", "PMC1234501", "arXiv:1706.03762v5", "--no-library", "--to", "here"
    )
    assert [paper["status"] for paper in answer["papers"]] == ["fetched"] * 3
    assert answer["library"] is None
    assert sorted(file.name for file in Path("here").iterdir()) == [
        "arxiv_1706.03762.tar.gz", "doi_10.1371_bees.xml", "pmc1234501.xml",
    ]  # fmt: skip


def test_a_topic(run: Run, services: LocalServices) -> None:
    query = '(sleep and memory) AND OPEN_ACCESS:Y AND IN_EPMC:Y NOT PUB_TYPE:"Retracted Publication"'
    results = [
        {"id": str(number), "pmcid": f"PMC12345{number}", "doi": f"10.1371/{number}", "isOpenAccess": "Y",
         "title": f"Sleep and memory, part {number}"}
        for number in range(10, 13)
    ]  # fmt: skip
    services.answers[f"europepmc/search?{query}"] = json.dumps(
        {"nextCursorMark": "next", "resultList": {"result": results}}
    )
    for paper in results:
        services.answers[f"europepmc/search?PMCID:{paper['pmcid']}"] = found(**paper)
        sentence = f"In part {paper['id']} mice that slept knew the way through the maze."
        services.answers[f"europepmc/{paper['pmcid']}/fullTextXML"] = jats(paper["id"], paper["title"], sentence)
    result = run("fetch", "sleep", "and", "memory", "-n", "3")
    assert result.exit_code == 0, result.output
    assert "Sending the topic “sleep and memory” to Europe PMC." in result.stderr
    assert result.stdout.splitlines()[-1] == (
        "3 fetched, 0 there before, 0 could not be had; your library now has 3 documents."
    )
    number = len(services.asked)
    assert fetched(run, "sleep and memory", "-n", "3")["there"] == 3
    assert len(services.asked) == number
    services.answers["europepmc/search"] = json.dumps({"resultList": {"result": []}})
    nothing = run("fetch", "unicorns").exception
    assert str(nothing) == "Europe PMC has no open-access papers on “unicorns”; try fewer or other words"


@pytest.mark.skipif(find_spec("allofplos") is None, reason="allofplos is not installed")
def test_articles_of_plos(run: Run, services: LocalServices) -> None:
    files = articles()[: 8 if THOROUGH else 3]
    papers = [read(file).paper for file in files]
    for number, (file, paper) in enumerate(zip(files, papers, strict=True)):
        pmcid = f"PMC77000{number:02}"
        services.answers[f'europepmc/search?DOI:"{paper.doi}"'] = found(
            id=str(number), pmcid=pmcid, doi=paper.doi, title=paper.title, isOpenAccess="Y"
        )
        services.answers[f"europepmc/{pmcid}/fullTextXML"] = Path(file).read_bytes()
    answer = fetched(run, *(paper.doi for paper in papers))
    assert (answer["fetched"], answer["library"]["documents"]) == (len(files), len(files))
    assert [read(paper["file"]).paper for paper in answer["papers"]] == papers


def test_one_latex_file_alone_and_a_pdf_in_place_of_source(run: Run, services: LocalServices) -> None:
    services.answers["arxiv/e-print/1706.03762"] = gzip.compress((LATEX % "Attention layers suffice.").encode())
    assert fetched(run, "1706.03762", "--no-library")["papers"][0]["file"] == "papers/arxiv_1706.03762.tex.gz"
    services.answers["arxiv/e-print/1801.00001"] = services.answers["arxiv/pdf/1801.00001"] = article(SENTENCE)
    assert fetched(run, "1801.00001", "--no-library")["papers"][0]["format"] == "PDF"
    # Source that has no text: the next place is tried, and nothing is left behind.
    services.answers["arxiv/e-print/1801.00002"] = tarball(picture_eps="%!PS")
    answer = fetched(run, "1801.00002", "--no-library")
    assert answer["papers"][0]["reason"] == "arXiv has a LaTeX file without readable text"
    assert sorted(file.name for file in Path("papers").iterdir()) == ["arxiv_1706.03762.tex.gz", "arxiv_1801.00001.pdf"]


def test_without_a_key_openalex_is_not_asked(
    run: Run, services: LocalServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WHYCITE_OPENALEX_KEY")
    assert fetched(run, "10.1000/wasps", "--no-library")["missing"] == 1
    assert set(services.services()) == {"europepmc"}


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (Failure(429, headers={"Retry-After": "3600"}), "127.0.0.1 asks to wait 3,600 seconds; try again later"),
        (Failure(200, b"<html>Please log in</html>"), "127.0.0.1 answered with something else than a paper"),
        (Failure(403), "127.0.0.1 refused to answer (status 403)"),
    ],
)
def test_a_publisher_that_fails_is_asked_again_next_time(
    run: Run, services: LocalServices, failure: Failure, reason: str
) -> None:
    Path("moths.bib").write_text(BIBLIOGRAPHY.splitlines()[3], "utf-8")
    services.failures["publisher"] = [failure]
    result = run("fetch", "--from", "moths.bib")
    assert f"1 paper could not be had:\n  moths, On moths and the moon of the summer: {reason}\n" in result.stdout
    assert result.exit_code == 0
    assert fetched(run, "--from", "moths.bib")["fetched"] == 1


def test_a_service_that_fails_leaves_the_others(run: Run, services: LocalServices) -> None:
    services.failures["europepmc"] = [Failure(403)]
    answer = fetched(run, "--from", "refs.bib", "--no-library")
    assert (answer["fetched"], answer["missing"]) == (2, 4)
    assert answer["papers"][0]["reason"] == "Europe PMC refused to answer (status 403)"
    assert fetched(run, "--from", "refs.bib", "--no-library")["there"] == 2


SAVED = b"<article>" + b"x" * 20_000 + b"</article>"


@pytest.mark.parametrize(
    ("failures", "waited", "reason"),
    [
        ([Failure(429, headers={"Retry-After": "7"})], [7.0], ""),
        ([Failure(500), Failure(503)], [1.0, 2.0], ""),
        ([Failure(cut_off=True)], [1.0], ""),
        ([Failure(silent=True)], [1.0], ""),
        ([Failure(500)] * 3, [1.0, 2.0], "answered with status 500"),
        ([Failure(429, headers={"Retry-After": "3600"})], [], "asks to wait 3,600 seconds; try again later"),
        ([Failure(200, b"<html>Please log in</html>")], [], "answered with something else than a paper"),
        ([Failure(200, b"<html>" + b"x" * 20_000)], [], "answered with something else than a paper"),
        ([Failure(403)], [], "refused to answer (status 403)"),
    ],
)
def test_downloads_are_tried_again(
    local_services: LocalServices, tmp_path: Path, failures: list[Failure], waited: list[float], reason: str
) -> None:
    local_services.answers["europepmc/file"] = SAVED
    local_services.failures["europepmc"] = list(failures)
    waits: list[float] = []
    target = tmp_path / "papers" / "file.xml"
    with ServiceClient(tmp_path / "cache", clock=Clock(lambda: 0.0, waits.append), timeout=0.5) as client:

        def download() -> bool:
            address = f"{local_services.base}/europepmc/file"
            return client.download("Europe PMC", address, {}, 0.0, target, lambda head: b"<article" in head)

        if reason:
            with pytest.raises(ServiceFailure) as failure:
                download()
            assert str(failure.value) == reason
            assert not target.parent.exists() or list(target.parent.iterdir()) == []
        else:
            assert download()
            assert target.read_bytes() == SAVED
    assert waits == waited


def test_that_there_is_no_file_is_remembered(local_services: LocalServices, tmp_path: Path) -> None:
    for _ in range(2):
        with ServiceClient(tmp_path / "cache") as client:
            address = f"{local_services.base}/europepmc/none"
            assert not client.download("Europe PMC", address, {}, 0.0, tmp_path / "file.xml", lambda head: True)
    assert len(local_services.asked) == 1


CHILD = """
import json, sys
from whycite.references import services
base, names = sys.argv[1], json.loads(sys.argv[2])
services.SERVICES = {name: services.Service(name, f"{base}/{names[name]}", 0.0) for name in services.SERVICES}
from whycite.cli import main
sys.argv = ["whycite", "fetch", "--from", "many.bib", "--library", "library", "--json"]
main()
"""


@pytest.mark.parametrize(
    ("request_number", "number"),
    [
        (1, signal.SIGKILL),
        pytest.param(4, signal.SIGKILL, marks=pytest.mark.slow),
        (11, signal.SIGKILL),
        pytest.param(24, signal.SIGKILL, marks=pytest.mark.slow),
        (11, signal.SIGINT),
    ],
)
def test_stopped_at_any_moment_it_goes_on(
    run: Run, services: LocalServices, request_number: int, number: signal.Signals
) -> None:
    entries = [f"@article{{a{n}, title = {{Bees of the year {n}}}, doi = {{10.1371/{n}}}}}" for n in range(12)]
    Path("many.bib").write_text("\n".join(entries), "utf-8")
    for n in range(12):
        services.answers[f'europepmc/search?DOI:"10.1371/{n}"'] = found(
            id=str(n), pmcid=f"PMC99000{n}", doi=f"10.1371/{n}", title=f"Bees of the year {n}", isOpenAccess="Y"
        )
        sentence = f"In year {n} the bees slept in the hive at night."
        services.answers[f"europepmc/PMC99000{n}/fullTextXML"] = jats(str(n), f"Bees of the year {n}", sentence)
    reached = threading.Event()
    answer = services.answer

    def count_requests(service: str, path: str, query: str = "") -> bytes | None:
        if len(services.asked) >= request_number:
            reached.set()
        return answer(service, path, query)

    services.answer = count_requests  # type: ignore[method-assign]
    arguments = [sys.executable, "-c", CHILD, services.base, json.dumps(NAMES)]
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert reached.wait(200)  # on a busy machine the command takes long to start
        process.send_signal(number)
        _, errors = process.communicate()
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "papers; run the command again to continue" in errors
    there = len([file for file in Path("papers").glob("*.xml") if not file.name.startswith(".")])
    asked = [path for service, path, *_ in services.asked if path.endswith("fullTextXML")]
    report = fetched(run, "--from", "many.bib", "--library", "library")
    assert (report["there"], report["fetched"], report["missing"]) == (there, 12 - there, 0)
    assert report["library"]["documents"] == 12
    again = [path for service, path, *_ in services.asked if path.endswith("fullTextXML")][len(asked) :]
    assert len(again) <= 12 - there  # nothing that was there is asked for again
    assert not list(Path("papers").glob(".*"))


def test_mistakes(run: Run, services: LocalServices) -> None:
    def message(*arguments: str) -> str:
        error = run("fetch", *arguments).exception
        assert isinstance(error, UserError)
        return str(error)

    assert message() == "give DOIs or a topic, or a bibliography or draft with --from"
    assert message("10.1371/bees", "--from", "refs.bib") == message()
    assert message("10.1371/bees", "-n", "3") == "-n is the number of papers on a topic; leave it out"
    assert message("10.1371/bees", "sleep").startswith("sleep: not a DOI, an arXiv id")
    assert message("10.1371").startswith("10.1371: not a DOI")
    assert message("?!") == "the topic has no words"
    assert message("x", "--library", "a", "--no-library") == "--library cannot be used with --no-library"
    assert message("--from", "none.bib") == "none.bib: no such file or folder"
    Path("draft.md").write_text("# Introduction\n\nBees sleep.\n", "utf-8")
    assert message("--from", "draft.md") == "draft.md: cites nothing that its bibliography has"
    assert services.asked == []
    services.failures["europepmc"] = [Failure(403)]
    assert message("sleep and memory") == "Europe PMC refused to answer (status 403); try again later"


def test_what_is_an_identifier() -> None:
    assert identified_references(["pmid:123456"]) == [Reference("pmid:123456", pmid="123456")]
    assert identified_references(["10.48550/arXiv.1706.03762"])[0].arxiv == "1706.03762"
    assert identified_references(["sleep and memory"]) == []
    assert identified_references(["123456"]) == []  # of what, it does not say
    twice = identified_references(["10.1371/bees", "https://doi.org/10.1371/BEES", "10.1371/bees.", "pmid:7"])
    assert [reference.id for reference in twice] == ["10.1371/bees", "pmid:7"]
