"""Griffe extension for the API page: functions that share their name with a package, and fields of dataclasses."""

from __future__ import annotations

from typing import Any

import griffe

_FUNCTIONS = ("read", "cite", "check", "verify")


class PublicApi(griffe.Extension):
    """Gives the functions of `whycite` as `whycite.functions`, and lists fields of dataclasses with their comments."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        if pkg.path != "whycite":
            return
        # Packages take the place of the functions, so that the file is visited once more without them.
        file = pkg.filepath
        assert not isinstance(file, list)
        alone = griffe.visit(pkg.name, filepath=file, code=file.read_text("utf-8"))
        functions = griffe.Module("functions", filepath=file, parent=pkg)
        for name in _FUNCTIONS:
            functions.set_member(name, alone.members[name])
        pkg.set_member("functions", functions)

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        file = cls.filepath
        if (
            isinstance(file, list)
            or cls.docstring is None
            or not any("dataclass" in str(mark.value) for mark in cls.decorators)
        ):
            return
        rows = []
        for name, field in cls.attributes.items():
            if field.annotation is not None and "property" not in field.labels:
                lines = cls.lines_collection[file]
                comment = lines[field.lineno - 1].partition("  # ")[2] if field.lineno else ""
                rows.append(f"    {name}: {comment[:1].upper()}{comment[1:]}")
        if rows:
            cls.docstring.value += "\n\nAttributes:\n" + "\n".join(rows)
