"""What the user has taught: positive and negative rules for headings, in the user's own TOML file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from platformdirs import user_config_path

from whycite.errors import UserError
from whycite.files import make_folder, write_lines
from whycite.structure.headings import normalise_heading

__all__ = ["HeadingRules", "load_rules", "rules_path", "save_rules"]

_NOTE = "# Section headings taught to whycite, by hand or with `whycite structure --learn`.\n"


@dataclass(frozen=True)
class HeadingRules:
    """Headings that mean a type, and headings that mean none; both as `normalise_heading` spells them."""

    positive: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    negative: frozenset[str] = frozenset()

    def accept(self, heading: str, type: str) -> HeadingRules:
        """The rules with one more positive rule, in place of an opposite one."""
        term = normalise_heading(heading)
        return HeadingRules({**self.positive, term: type}, self.negative - {term})

    def reject(self, heading: str) -> HeadingRules:
        """The rules with one more negative rule, in place of an opposite one."""
        term = normalise_heading(heading)
        positive = {positive_term: type for positive_term, type in self.positive.items() if positive_term != term}
        return HeadingRules(positive, self.negative | {term})


def rules_path() -> Path:
    """Where the user's rules are stored."""
    return user_config_path("whycite") / "sections.toml"


def load_rules(path: Path, types: tuple[str, ...]) -> HeadingRules:
    """The rules in a file; none if there is no file."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return HeadingRules()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid TOML: {error}") from error
    return _parse_rules(content, path, types)


def _parse_rules(content: dict[str, Any], path: Path, types: tuple[str, ...]) -> HeadingRules:
    if unknown := sorted(content.keys() - {"positive", "negative"}):
        raise UserError(f"{path}: unknown key '{unknown[0]}'; use 'positive' and 'negative'")
    table = content.get("positive", {})
    if not isinstance(table, dict):
        raise UserError(f"{path}: 'positive' must be a table of section types, each with a list of headings")
    positive: dict[str, str] = {}
    for type, headings in table.items():
        if type not in types:
            raise UserError(f"{path}: unknown section type '{type}'; choose one of: {', '.join(types)}")
        for term in _terms(headings, path, f"positive.{type}"):
            positive[term] = type
    return HeadingRules(positive, frozenset(_terms(content.get("negative", []), path, "negative")))


def _terms(headings: object, path: Path, name: str) -> list[str]:
    if not isinstance(headings, list) or not all(isinstance(heading, str) for heading in headings):
        raise UserError(f"{path}: '{name}' must be a list of quoted headings")
    return [normalise_heading(heading) for heading in headings]


def save_rules(path: Path, rules: HeadingRules) -> None:
    """Write the rules atomically: whatever happens, the file holds the old rules or the new ones."""
    make_folder(path.resolve().parent)
    write_lines(path, [_toml(rules)])


def _toml(rules: HeadingRules) -> str:
    by_type: dict[str, list[str]] = {}
    for term, type in sorted(rules.positive.items()):
        by_type.setdefault(type, []).append(term)
    lines = [f"negative = {_array(sorted(rules.negative))}", "", "[positive]"]
    lines += [f"{_string(type)} = {_array(terms)}" for type, terms in sorted(by_type.items())]
    return _NOTE + "\n".join(lines) + "\n"


def _array(terms: list[str]) -> str:
    return "[" + "".join(f"\n  {_string(term)}," for term in terms) + ("\n]" if terms else "]")


def _string(text: str) -> str:
    # JSON strings are valid TOML strings as long as non-ASCII characters are not escaped.
    return json.dumps(text, ensure_ascii=False)
