"""A client of the HTTP API: the answers of a running server, with their types."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import httpx

from whycite.errors import UserError
from whycite.web.projects.verdicts import VerdictRecord
from whycite.web.schemas import CheckAnswer, CiteAnswer, ProjectAnswer, ProjectProgress, VerifyAnswer

__all__ = ["ServerClient"]

_WAIT = 0.5  # seconds between two questions about progress
_SECONDS = 600.0  # to wait for an answer


class ServerClient:
    """Asks the server at an address; `token` is needed where the server has one."""

    def __init__(self, address: str = "http://127.0.0.1:8000", token: str = "") -> None:
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
            address = f"/api/projects/{project}/progress"
            progress: ProjectProgress = self._ask("GET", address, params={"token": token, "seen": seen})
            yield from progress["verdicts"]
            if progress["state"] != "running":
                return
            token, seen = progress["token"], progress["seen"]
            time.sleep(_WAIT)

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
