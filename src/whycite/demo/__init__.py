"""What `whycite demo` works on: articles that the package allofplos brings, and a small draft written for whycite."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from whycite.errors import UserError

__all__ = ["articles", "licences"]

_INSTALL_COMMAND = "pip install --no-deps allofplos==0.11.1"  # its dependencies are for what else it does
_LICENCE = re.compile(rb"<license\b.*?</license>", re.DOTALL)
_PUBLIC = (b"free of all copyright", b"Public Domain")


def articles() -> list[Path]:
    """The files of the articles."""
    package = find_spec("allofplos")
    places = package.submodule_search_locations if package else None
    paths = sorted(path for place in places or () for path in Path(place, "starter_corpus").glob("*.xml"))
    if not paths:
        raise UserError(f"the demo reads articles that another package brings; install it with: {_INSTALL_COMMAND}")
    return paths


def licences(articles: Sequence[Path]) -> Counter[str]:
    """How many articles are under which licence, by what they say of it."""
    return Counter(_licence(path.read_bytes()) for path in articles)


def _licence(article: bytes) -> str:
    licence = _LICENCE.search(article)
    if licence and b"Creative Commons Attribution License" in b" ".join(licence[0].split()):
        return "CC BY"
    return "public domain" if licence and any(words in licence[0] for words in _PUBLIC) else "other open access"
