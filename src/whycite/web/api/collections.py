"""Collections: papers of the library that somebody put together under a name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path as FilePath
from threading import Lock
from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import TypeAdapter, ValidationError

from whycite.errors import UserError
from whycite.files import atomic_write
from whycite.library.paths import library_exists
from whycite.web import schemas
from whycite.web.guard import Problem
from whycite.web.serverstate import PROBLEMS, CurrentServer, json_response

__all__ = ["collection_keys", "router"]

router = APIRouter(prefix="/library/collections", tags=["collections"], responses=PROBLEMS)
_FILE = "collections.json"  # in the folder of the library
_RECORD = TypeAdapter(dict[str, list[str]])
_MAX_COLLECTIONS = 500
_CHANGING = Lock()

CollectionName = Annotated[str, Path(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")]


@router.get("", response_model=schemas.Collections)
async def collections(here: CurrentServer) -> Response:
    """The collections of the library, and the keys of their papers."""
    return await here.ask(
        lambda: json_response(
            {"collections": [{"name": name, "papers": keys} for name, keys in _load(here.current.path).items()]}
        )
    )


@router.put("/{name:path}", response_model=schemas.Collection)
async def change(here: CurrentServer, name: CollectionName, change: schemas.CollectionChange) -> Response:
    """Put papers into a collection, and take papers out of it; it is created if there is none of this name."""
    return await here.work(lambda: json_response(_change(here.current.path, _plain_name(name), change)))


@router.delete("/{name:path}", response_model=schemas.RemovedCollection)
async def delete(here: CurrentServer, name: CollectionName) -> Response:
    """Delete a collection; its papers stay in the library."""

    def forget() -> Response:
        with _CHANGING:
            present = _load(here.current.path)
            if _plain_name(name) not in present:
                raise _missing(name)
            _save(here.current.path, {other: keys for other, keys in present.items() if other != _plain_name(name)})
        return json_response({"deleted": _plain_name(name)})

    return await here.work(forget)


def collection_keys(library: FilePath, name: str) -> frozenset[str]:
    """The keys of the papers in a collection."""
    present = _load(library)
    if _plain_name(name) not in present:
        raise _missing(name)
    return frozenset(present[_plain_name(name)])


def _change(library: FilePath, name: str, change: schemas.CollectionChange) -> schemas.Collection:
    if not name:
        raise UserError("a collection needs a name")
    if not library_exists(library):
        raise UserError("there is no library yet; add papers first")
    with _CHANGING:
        present = _load(library)
        if name not in present and len(present) >= _MAX_COLLECTIONS:
            raise Problem(422, f"There are {_MAX_COLLECTIONS} collections already; delete one first.")
        keys = [key for key in present.get(name, []) if key not in change.remove]
        keys = list(dict.fromkeys([*keys, *change.add]))
        _save(library, dict(sorted({**present, name: keys}.items(), key=lambda item: item[0].casefold())))
    return {"name": name, "papers": keys}


def _load(library: FilePath) -> dict[str, list[str]]:
    try:
        present: dict[str, list[str]] = _RECORD.validate_json((library / _FILE).read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UserError(f"{_FILE} in the folder of the library cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        raise UserError(f"{_FILE} in the folder of the library is damaged; restore or delete it") from error
    return present


def _save(library: FilePath, collections: Mapping[str, list[str]]) -> None:
    try:
        with atomic_write(library / _FILE) as file:
            file.write(json.dumps(collections, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass"))
    except OSError as error:
        raise UserError(f"the collections cannot be saved: {error.strerror or error}") from error


def _plain_name(name: str) -> str:
    return " ".join(name.split())


def _missing(name: str) -> Problem:
    return Problem(404, f"The library has no collection “{_plain_name(name)}”.")
