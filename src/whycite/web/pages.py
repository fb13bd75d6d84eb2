"""The pages: HTML from templates, with small modules that ask the API."""

from __future__ import annotations

import os
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates
from starlette.types import Scope

from whycite.structure import SECTION_TYPES

__all__ = ["PAGES", "missing", "mount", "router"]

_HERE = Path(__file__).parent
_TEMPLATES = Jinja2Templates(_HERE / "templates")
PAGES = {"cite": "Cite", "check": "Check", "verify": "Verify", "library": "Library"}

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


class _RevalidatedFiles(StaticFiles):
    """Files that browsers keep and ask about each time: after an upgrade nobody sees a mixture of old and new."""

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """The file, or that it has not changed."""
        answer = super().file_response(full_path, stat_result, scope, status_code)
        answer.headers["cache-control"] = "no-cache"
        return answer


def mount(app: FastAPI) -> None:
    """Serve what the pages need: styles, scripts, pictures."""
    app.mount("/static", _RevalidatedFiles(directory=_HERE / "static"), "static")


@router.api_route("/", methods=["GET", "HEAD"])
async def first() -> RedirectResponse:
    """The page that most people want first."""
    return RedirectResponse("/cite")


@router.api_route("/{name}", methods=["GET", "HEAD"])
async def page(name: str, request: Request) -> Response:
    """A page by name."""
    if name not in PAGES:
        return missing(request)
    return _TEMPLATES.TemplateResponse(request, f"{name}.html", {"pages": PAGES, "name": name, "types": SECTION_TYPES})


def missing(request: Request) -> Response:
    """What people see who went astray."""
    return _TEMPLATES.TemplateResponse(request, "missing.html", {"pages": PAGES, "name": ""}, 404)
