"""A client of the HTTP API: the answers of a running server, with their types."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import httpx

from whycite.errors import UserError
from whycite.web.projects.verdicts import VerdictRecord
from whycite.web.schemas import (
    CheckAnswer,
    CiteAnswer,
    Collection,
    ProjectAnswer,
    ProjectDraft,
    ProjectProgress,
    VerifyAnswer,
)

__all__ = ["ServerClient"]

_COLLECTIONS = "/api/library/collections"
_WAIT = 0.5  # seconds between two questions about progress
_SECONDS = 600.0  # to wait for an answer


class ServerClient:
    """Asks the server at an address; `token` is needed where the server has one."""

    def __init__(self, address: str = "http://127.0.0.1:8642", token: str = "") -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(base_url=address, headers=headers, timeout=_SECONDS)

    def __enter__(self) -> ServerClient:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def cite(self, text: str, n: int = 10, **options: Any) -> CiteAnswer:
        """The papers that a claim should cite; `options` are further fields of the question, such as `year_max`."""
        answer: CiteAnswer = self._ask("POST", "/api/cite", json={"text": text, "n": n, **options})
        return answer

    def cite_all(self, texts: Sequence[str], n: int = 10, **options: Any) -> list[CiteAnswer]:
        """The papers that each claim should cite."""
        questions = [{"text": text, "n": n, **options} for text in texts]
        answers: list[CiteAnswer] = self._ask("POST", "/api/cite/batch", json={"questions": questions})["answers"]
        return answers

    def check(self, *files: Path | str) -> CheckAnswer:
        """Which sentences of a draft need a citation."""
        answer: CheckAnswer = self._send("/api/check", {"files": files})
        return answer

    def verify(self, claim: str, *paper: Path | str) -> VerifyAnswer:
        """Whether a paper backs a claim."""
        answer: VerifyAnswer = self._send("/api/verify", {"files": paper}, claim=claim)
        return answer

    def create_project(
        self, draft: Sequence[Path | str], papers: Sequence[Path | str], name: str = ""
    ) -> ProjectAnswer:
        """Create a project from a draft and the papers it cites; its citations are verified from now on."""
        answer: ProjectAnswer = self._send("/api/projects", {"draft": draft, "papers": papers}, name=name)
        return answer

    def verdicts(self, project: str) -> Iterator[VerdictRecord]:
        """The verdicts of a project as they come, until its run ends."""
        token, seen = "", 0
        while True:
            progress = self.progress(project, token, seen)
            yield from progress["verdicts"]
            if progress["state"] != "running":
                return
            token, seen = progress["token"], progress["seen"]
            time.sleep(_WAIT)

    def progress(self, project: str, token: str = "", seen: int = 0) -> ProjectProgress:
        """How far a project is, what people decided and wrote, and the verdicts after those of an earlier answer."""
        address = f"/api/projects/{project}/progress"
        answer: ProjectProgress = self._ask("GET", address, params={"token": token, "seen": seen})
        return answer

    def draft(self, project: str) -> ProjectDraft:
        """The sections and sentences of the draft of a project, with the ids of its sentences."""
        answer: ProjectDraft = self._ask("GET", f"/api/projects/{project}/draft")
        return answer

    def accept(self, project: str, finding: str) -> None:
        """Agree with a verdict, or that a sentence needs a citation, by its id."""
        self._ask("PUT", f"/api/projects/{project}/acceptances/{finding}")

    def dismiss(self, project: str, finding: str, reason: str = "") -> None:
        """Set a verdict aside, or a sentence that needs a citation, by its id."""
        self._ask("PUT", f"/api/projects/{project}/dismissals/{finding}", json={"reason": reason})

    def reopen(self, project: str, finding: str) -> None:
        """Take back that a finding was accepted or dismissed."""
        for decisions in ("acceptances", "dismissals"):
            self._ask("DELETE", f"/api/projects/{project}/{decisions}/{finding}")

    def comment(self, project: str, sentence: str, text: str) -> None:
        """Write a comment on a sentence of the draft, by its id; it replaces an earlier one."""
        self._ask("PUT", f"/api/projects/{project}/comments/{sentence}", json={"text": text})

    def remove_comment(self, project: str, sentence: str) -> None:
        """Delete the comment on a sentence."""
        self._ask("DELETE", f"/api/projects/{project}/comments/{sentence}")

    def collections(self) -> list[Collection]:
        """The collections of the library, with the keys of their papers."""
        collections: list[Collection] = self._ask("GET", _COLLECTIONS)["collections"]
        return collections

    def change_collection(self, name: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Collection:
        """Put papers into a collection and take some out, by their keys; creates it if there is none of this name."""
        address = f"{_COLLECTIONS}/{quote(name, safe='')}"
        collection: Collection = self._ask("PUT", address, json={"add": [*add], "remove": [*remove]})
        return collection

    def delete_collection(self, name: str) -> None:
        """Delete a collection; its papers stay in the library."""
        self._ask("DELETE", f"{_COLLECTIONS}/{quote(name, safe='')}")

    def report(self, project: str, format: Literal["html", "markdown"] = "markdown") -> str:
        """The report on a project."""
        return self._response("GET", f"/api/projects/{project}/report", params={"format": format}).text

    def _send(self, address: str, files: dict[str, Sequence[Path | str]], **data: str) -> Any:
        with ExitStack() as opened:
            sent = [
                (field, (Path(path).name, opened.enter_context(Path(path).open("rb"))))
                for field, paths in files.items()
                for path in paths
            ]
            return self._ask("POST", address, files=sent, data=data)

    def _ask(self, method: str, address: str, **options: Any) -> Any:
        return self._response(method, address, **options).json()

    def _response(self, method: str, address: str, **options: Any) -> httpx.Response:
        try:
            response = self._http.request(method, address, **options)
        except httpx.TransportError as error:
            raise UserError(f"{self._http.base_url}: the server does not answer ({error})") from error
        if response.is_error:
            raise UserError(_detail(response))
        return response


def _detail(response: httpx.Response) -> str:
    if response.headers.get("content-type", "").startswith("application/problem+json"):
        return str(response.json()["detail"])
    return f"{response.url}: status {response.status_code}"
