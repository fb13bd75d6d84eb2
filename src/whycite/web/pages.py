"""The pages: HTML templates with small scripts that call the API."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates
from starlette.types import Scope

from whycite.library.paths import library_exists
from whycite.structure import SECTION_TYPES
from whycite.web.api.librarypapers import citation_graph, library_paper
from whycite.web.guard import Problem, root_of
from whycite.web.serverstate import Server

__all__ = ["PAGES", "missing", "mount", "refusal", "router"]

_HERE = Path(__file__).parent
_TEMPLATES = Jinja2Templates(_HERE / "templates", context_processors=[lambda request: {"root": root_of(request.scope)}])
PAGES = {"projects": "Projects", "cite": "Cite", "check": "Check", "verify": "Verify", "library": "Library"}

_CITATION = re.compile(r"[0-9a-f]{16}")

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


class _RevalidatedFiles(StaticFiles):
    """Static files that browsers revalidate, so that an upgrade never mixes old and new files."""

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """Send the file, or 304 if it has not changed."""
        answer = super().file_response(full_path, stat_result, scope, status_code)
        answer.headers["cache-control"] = "no-cache"
        return answer


def mount(app: FastAPI) -> None:
    """Serve styles, scripts and images."""
    app.mount("/static", _RevalidatedFiles(directory=_HERE / "static"), "static")


@router.api_route("/", methods=["GET", "HEAD"])
async def first(request: Request) -> RedirectResponse:
    """Redirect to the page most people want first: on the first visit, to the ways to begin."""
    server: Server = request.app.state.server
    is_new = not library_exists(server.current.path) and not await server.ask(server.desk.store.projects)
    return RedirectResponse(root_of(request.scope) + ("/welcome" if is_new else "/cite"))


@router.api_route("/welcome", methods=["GET", "HEAD"])
async def welcome(request: Request) -> Response:
    """The ways to begin."""
    return _TEMPLATES.TemplateResponse(request, "welcome.html", {"pages": PAGES, "name": ""})


@router.api_route("/{name}", methods=["GET", "HEAD"])
async def page(name: str, request: Request) -> Response:
    """A page by name."""
    if name not in PAGES:
        return missing(request)
    return _TEMPLATES.TemplateResponse(request, f"{name}.html", {"pages": PAGES, "name": name, "types": SECTION_TYPES})


@router.api_route("/projects/{id}", methods=["GET", "HEAD"])
@router.api_route("/projects/{id}/sentences/{number}", methods=["GET", "HEAD"])
async def project(id: str, request: Request, number: str = "") -> Response:
    """A project, and one of its sentences; the script of the page shows which."""
    server: Server = request.app.state.server
    is_number = number == "" or (number.isascii() and number.isdecimal())
    if not is_number or not await server.ask(lambda: server.desk.store.exists(id)):
        return missing(request)
    return _TEMPLATES.TemplateResponse(request, "project.html", {"pages": PAGES, "name": "projects", "id": id})


@router.api_route("/projects/{id}/citations/{citation}", methods=["GET", "HEAD"])
async def citation(id: str, citation: str, request: Request) -> Response:
    """A citation of a project beside the paper it cites."""
    server: Server = request.app.state.server
    if not _CITATION.fullmatch(citation) or not await server.ask(lambda: server.desk.store.exists(id)):
        return missing(request)
    context = {"pages": PAGES, "name": "projects", "id": id, "citation": citation}
    return _TEMPLATES.TemplateResponse(request, "citation.html", context)


@router.api_route("/papers/{key:path}", methods=["GET", "HEAD"])
async def paper(key: str, request: Request) -> Response:
    """A paper of the library."""
    server: Server = request.app.state.server
    try:
        page = await server.work(lambda: library_paper(server, key))
    except Problem as problem:
        if problem.status != 404:
            raise
        kind, _, name = key.partition(":")
        unknown = {"pages": PAGES, "name": "library", "doi": name if kind == "doi" else "", "words": name or key}
        return _TEMPLATES.TemplateResponse(request, "nopaper.html", unknown, 404)
    context = {"pages": PAGES, "name": "library", "page": page, "graph": citation_graph(page)}
    return _TEMPLATES.TemplateResponse(request, "paper.html", context)


def refusal(status: int, detail: str, path: str, fields: Sequence[tuple[str, str]]) -> str:
    """The page for people whose request is refused; whoever lacks a token can enter it and goes on from there."""
    context = {
        "title": "This server asks for a token" if status == HTTPStatus.UNAUTHORIZED else HTTPStatus(status).phrase,
        "detail": detail,
        "needs_token": status == HTTPStatus.UNAUTHORIZED,
        "is_wrong": any(name == "token" and value for name, value in fields),
        "path": quote(path, safe="/:"),
        "fields": [field for field in fields if field[0] != "token"],
    }
    return _TEMPLATES.get_template("refused.html").render(context)


def missing(request: Request) -> Response:
    """The page for unknown addresses."""
    return _TEMPLATES.TemplateResponse(request, "missing.html", {"pages": PAGES, "name": ""}, 404)
