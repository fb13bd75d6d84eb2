"""The rules that docs/how-to/headings.md shows are rules."""

import re
from pathlib import Path

from whycite.structure import SECTION_TYPES, HeadingRules, load_rules

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "headings.md"


def test_rules_example(tmp_path: Path) -> None:
    shown = re.search(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert shown
    path = tmp_path / "sections.toml"
    path.write_text(shown[1])
    assert load_rules(path, SECTION_TYPES) == HeadingRules({"growing tree from seed": "method"}, frozenset({"roadmap"}))
