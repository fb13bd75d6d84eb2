"""Defer the import of LanceDB's client for remote catalogues, which takes half of its import time."""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from threading import RLock
from typing import Any

__all__ = ["defer_import"]

CLIENT = "lance_namespace_urllib3_client"


def defer_import(name: str = CLIENT) -> None:
    """Make a package importable without running it; it runs on first access to anything but a submodule."""
    spec = find_spec(name) if name not in sys.modules else None
    if spec is None or spec.loader is None:  # already imported, or no longer needed by LanceDB
        return
    package, loader, lock, pending = module_from_spec(spec), spec.loader, RLock(), [True]

    def load_attribute(attribute: str) -> Any:
        with lock:
            if pending and not attribute.startswith("__"):
                pending.clear()
                loader.exec_module(package)
        try:
            return package.__dict__[attribute]
        except KeyError:
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}") from None

    package.__dict__["__getattr__"] = load_attribute
    sys.modules[name] = package
