"""Whether it works."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter

from whycite.errors import UserError
from whycite.web.api.shared import PROBLEMS, Here, Server
from whycite.web.schemas import Health

__all__ = ["router"]

router = APIRouter(tags=["health"])


@router.get("/health", response_model=Health, responses=PROBLEMS)
async def health(here: Here) -> Any:
    """Version and library; whoever gets this answer can ask the rest."""
    documents = await here.work.do(_documents, here)
    return {"status": "ok", "version": version("whycite"), "library": str(here.current.path), "documents": documents}


def _documents(here: Server) -> int | None:
    try:
        return here.current.library().info().documents
    except UserError:  # none yet
        return None
