"""Packages that are called like the one function they are for: `whycite.check("draft.tex")`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["make_callable"]


def make_callable(package: str, function: Callable[..., Any]) -> None:
    """Let calling a package call a function of it, which has the same name and so cannot stand beside it."""

    class Package(ModuleType):
        def __call__(self, *args: Any, **options: Any) -> Any:
            return function(*args, **options)

    sys.modules[package].__class__ = Package
