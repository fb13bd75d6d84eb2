"""A draft is checked and changed over the API."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from tests.documents.word.test_opendocument import odt
from tests.wordfiles import docx, paragraph, zotero_field
from whycite.cli import app
from whycite.documents.model import Reference
from whycite.documents.word import text_of
from whycite.documents.word.opendocument import opendocument_text

MAIN = rb"""\documentclass{article}
\begin{document}
\section{Introduction}
Killer whales stun herring with blows of their tails. Varroa mites spread viruses among honey bees \cite{martin}.
In this note we describe our own approach.
\bibliography{refs}
\end{document}
"""
REFS = b"""@article{martin, title={Global honey bee viral landscape altered by a parasitic mite}, year={2012}}
@article{Domenici, title={Killer whales feeding on schooling herring using tail-slaps}, year={2000}}
"""
FILES = [("files", ("paper/main.tex", MAIN)), ("files", ("paper/refs.bib", REFS))]


def _checked(client: TestClient, files: Any = FILES, **more: str) -> dict[str, Any]:
    answer = client.post("/api/check", files=files, data=more)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_findings_with_the_papers_that_fit(client: TestClient) -> None:
    told = _checked(client, threshold="0.05")
    kinds = {finding["text"].split()[0]: finding["kind"] for finding in told["findings"]}
    assert kinds["Killer"] == "needs-citation"
    assert kinds["Varroa"] == "cited"
    first = told["findings"][0]
    assert (first["file"], first["line"]) == ("paper/main.tex", 4)
    best = first["recommendations"][0]
    assert (best["cite_key"], best["known"]) == ("Domenici", True)
    assert [sentence["finding"] for sentence in told["sentences"]] == [0, 1, 2]
    assert [sentence["text"] for sentence in told["sentences"]] == [each["text"] for each in told["findings"]]
    assert "/" + "tmp" not in json.dumps(told)


def test_findings_are_those_of_the_command_line(client: TestClient, kept_library: Path, tmp_path: Path) -> None:
    (tmp_path / "main.tex").write_bytes(MAIN)
    (tmp_path / "refs.bib").write_bytes(REFS)
    command = ["check", str(tmp_path), "--library", str(kept_library), "--threshold", "0.05", "--json"]
    printed = json.loads(CliRunner().invoke(app, command).stdout.replace(f"{tmp_path}/", "paper/"))
    told = _checked(client, threshold="0.05")
    assert told["findings"] == printed["findings"]
    assert set(printed) <= set(told)


@pytest.mark.parametrize(("asked", "threshold"), [({}, 0.6), ({"threshold": "0.3"}, 0.3)])
def test_a_draft_without_sentences_has_the_threshold_of_a_check(
    client: TestClient, asked: dict[str, str], threshold: float
) -> None:
    told = _checked(client, [("files", ("main.md", b"# Whales\n"))], **asked)
    assert (told["sentences"], told["threshold"]) == ([], threshold)


def test_a_long_draft_comes_in_pages(client: TestClient) -> None:
    whole = _checked(client, threshold="0.05")
    pages = [_checked(client, threshold="0.05", offset=str(at), limit="2") for at in (0, 2, 4)]
    assert [page["total"] for page in pages] == [3, 3, 3]
    assert [len(page["sentences"]) for page in pages] == [2, 1, 0]
    assert [each for page in pages for each in page["findings"]] == whole["findings"]
    assert pages[1]["sentences"][0]["finding"] == 0


def test_without_a_library_the_bibliography_is_enough(tmp_path: Path, client_of: Callable[..., TestClient]) -> None:
    told = _checked(client_of(tmp_path / "none"), threshold="0.05")
    assert told["findings"][0]["recommendations"][0]["cite_key"] == "Domenici"


def test_an_archive_is_a_project(client: TestClient) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for _, (name, data) in FILES:
            archive.writestr(name, data)
    told = _checked(client, [("files", ("paper.zip", packed.getvalue()))], threshold="0.05")
    assert told["findings"][0]["file"] == "paper/main.tex"


def test_accepted_citations_come_back_in_the_files(client: TestClient) -> None:
    start = MAIN.decode().index("Killer")
    wanted = [{"file": "paper/main.tex", "start": start, "key": "Domenici"}]
    asked = {"choices": json.dumps(wanted), "threshold": "0.05"}
    answer = client.post("/api/check/fix", files=FILES, data=asked)
    assert answer.status_code == 200, answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.namelist() == ["paper/main.tex"]
        changed = archive.read("paper/main.tex")
    assert b"\\cite{Domenici}." in changed
    assert changed.replace(b" \\cite{Domenici}", b"").replace(b"~\\cite{Domenici}", b"") == MAIN
    asked["threshold"] = "1"
    refused = client.post("/api/check/fix", files=FILES, data=asked)
    assert refused.status_code == 422
    assert "'Domenici' was not recommended" in refused.json()["detail"]


def test_choices_that_are_none(client: TestClient) -> None:
    for choices in ("", "{}", "[]", "[1]", '[{"file": "paper/main.tex", "start": 1, "key": "x"}]'):
        answer = client.post("/api/check/fix", files=FILES, data={"choices": choices})
        assert answer.status_code == 422, choices
        assert answer.json()["detail"]


def test_a_word_document_comes_back_with_tracked_changes(client: TestClient) -> None:
    work = Reference("D", title="The kinematics of killer whales", authors=("Domenici, Paolo",), year=2000)
    cited = paragraph("Tails were filmed ", zotero_field([work], "(Domenici, 2000)"), ".")
    files = [("files", ("draft.docx", docx(paragraph(CLAIM) + cited)))]
    told = _checked(client, files, threshold="0.05")
    assert (told["format"], told["unwritable"]) == ("docx", "")
    wanted = [{"file": "draft.docx", "start": told["sentences"][0]["start"], "key": "Domenici2000"}]
    answer = client.post("/api/check/fix", files=files, data={"choices": json.dumps(wanted), "threshold": "0.05"})
    assert answer.status_code == 200, answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert text_of(archive.read("draft.docx"), "").startswith(CLAIM[:-1] + " (Domenici, 2000).")


def test_a_word_document_comes_back_with_comments(client: TestClient) -> None:
    files = [("files", ("draft.docx", docx(paragraph(CLAIM))))]
    asked = {"marks": "comments", "threshold": "0.05"}
    answer = client.post("/api/check/fix", files=files, data=asked)
    assert answer.status_code == 200, answer.text
    assert "with-comments.zip" in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        draft = archive.read("draft.docx")
    assert text_of(draft, "") == f"{CLAIM}\n"
    with zipfile.ZipFile(io.BytesIO(draft)) as archive:
        assert b"tail-slaps" in archive.read("word/comments.xml")
    for name, data in (("draft.md", CLAIM.encode()), ("draft.docx", docx(paragraph("We thank our dogs.")))):
        refused = client.post("/api/check/fix", files=[("files", (name, data))], data={"marks": "comments"})
        assert refused.status_code == 422, name
    assert "no sentence needs a comment" in refused.json()["detail"]


def test_an_odt_file_comes_back_with_tracked_changes(client: TestClient) -> None:
    entries = "<text:h text:outline-level='1'>References</text:h><text:p>Doe, J. (1999). Bees at night.</text:p>"
    body = f"<text:p>{CLAIM}</text:p><text:p>Bees sleep (Doe, 1999).</text:p>{entries}"
    files = [("files", ("draft.odt", odt(body)))]
    told = _checked(client, files, threshold="0.05")
    assert (told["format"], told["unwritable"]) == ("odt", "")
    wanted = [{"file": "draft.odt", "start": told["sentences"][0]["start"], "key": "domenici2000killer"}]
    answer = client.post("/api/check/fix", files=files, data={"choices": json.dumps(wanted), "threshold": "0.05"})
    assert answer.status_code == 200, answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        text = opendocument_text(archive.read("draft.odt"), "")
    assert text.startswith(CLAIM[:-1] + " (Domenici, 2000).")


CLAIM = "Killer whales stun herring with blows of their tails."
TEX = f"\\documentclass{{article}}\\begin{{document}}\n{CLAIM}\n\\end{{document}}\n"
CANNOT = {"draft.md": CLAIM, "draft.tex": TEX, "draft.txt": CLAIM}


@pytest.mark.parametrize(("name", "text"), CANNOT.items(), ids=list(CANNOT))
def test_a_draft_that_cannot_be_changed_says_so_before_and_after(client: TestClient, name: str, text: str) -> None:
    files = [("files", (name, text.encode()))]
    told = _checked(client, files, threshold="0.05")
    why = "plain drafts" if name.endswith(".txt") else "no bibliography; create references.bib"
    assert why in told["unwritable"]
    key = told["findings"][0]["recommendations"][0]["cite_key"]
    wanted = [{"file": name, "start": told["sentences"][0]["start"], "key": key}] * 2
    answer = client.post("/api/check/fix", files=files, data={"choices": json.dumps(wanted), "threshold": "0.05"})
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert answer.json()["detail"].startswith("Nothing was changed: ")
    assert answer.json()["detail"].count(why) == 1
    assert "/" + "tmp" not in answer.text


def test_a_draft_that_can_be_changed_says_nothing(client: TestClient) -> None:
    assert _checked(client)["unwritable"] == ""
    empty = [("files", ("draft.md", f"---\nbibliography: new.bib\n---\n{CLAIM}".encode())), ("files", ("new.bib", b""))]
    assert _checked(client, empty)["unwritable"] == ""
