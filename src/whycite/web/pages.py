"""The pages: HTML from templates, with small modules that ask the API."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

from whycite.structure import TYPES
from whycite.web.api.shared import Here

__all__ = ["mount", "router"]

_HERE = Path(__file__).parent
_TEMPLATES = Jinja2Templates(_HERE / "templates")
PAGES = {"cite": "Cite", "check": "Check", "verify": "Verify", "library": "Library"}

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


def mount(app: FastAPI) -> None:
    """Serve what the pages need: styles, scripts, pictures."""
    app.mount("/static", StaticFiles(directory=_HERE / "static"), "static")


@router.get("/")
async def first() -> RedirectResponse:
    """The page that most people want first."""
    return RedirectResponse("/cite")


@router.get("/{name}")
async def page(name: str, request: Request, here: Here) -> HTMLResponse:
    """A page by name."""
    if name not in PAGES:
        return _TEMPLATES.TemplateResponse(request, "missing.html", {"pages": PAGES, "name": ""}, 404)
    shown = {"pages": PAGES, "name": name, "types": TYPES, "library": here.current.path.name}
    return _TEMPLATES.TemplateResponse(request, f"{name}.html", shown)
