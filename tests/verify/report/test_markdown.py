"""The report as Markdown."""

import re

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.drafts import disputed_draft, reviewed_draft
from tests.verify.test_heatmap import Parsed
from whycite.verify.report import markdown


def test_what_a_review_gets() -> None:
    text = markdown(reviewed_draft())
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    assert headings == [
        "Citations of “How bees rest”",
        "Contradicted (2)",
        "Secondary (1)",
        "Not found (1)",
        "Backed (2)",
        "To look at, although there is no full text",
        "Papers without full text (2)",
        "Not checked for other reasons",
    ]
    assert text.splitlines()[2].startswith("12 citations: 2 contradicted, ")
    first = text.split("## Contradicted (2)")[1].split("\n- ")[1]
    assert first.rstrip().split("\n\n") == [
        "`parts/a.tex:3`, Sleep: **contradicted**, probably (80%)",
        "  > “Bees doze.”",
        "  Cites `kaiser` Kaiser (1988). Busy bees need rest, too.",
        "  Because.",
        "  > ▶ “Foragers never sleep.” (Results; p. 5; contradicts the claim)",
    ]
    link = "[doi:10.1000/ants](https://doi.org/10.1000/ants)"
    assert f"- `roe` Roe (2001). Ants in the dry season. {link}. 2 citations\n" in text
    assert "- `poe` Poe, A. Ravens. 1 citation\n" in text
    assert "  Note: The year differs.\n" in text
    assert "- It is no claim. `parts/a.tex:3`, `parts/a.tex:3`\n" in text


def elements(text: str) -> list[str]:
    """The elements of the report as a Markdown renderer shows it."""
    return [tag for tag, _ in Parsed(MarkdownIt().render(text)).elements]


def test_text_stays_text() -> None:
    evil = " <b>*x*</b> [y](z) `c` ``d @someone #12 $m$\n\n# Heading\n- item\x1b &lt; ![i](j) \\"
    text = markdown(reviewed_draft(evil))
    # A DOI with spaces in it is no link.
    assert elements(text) == [tag for tag in elements(markdown(reviewed_draft())) if tag != "a"]
    assert "@someone" not in re.sub(r"<code>.*?</code>", "", MarkdownIt().render(text))
    assert "\x1b" not in text
    assert r"\<b\>\*x\*\</b\> \[y\](z)" in text


@given(st.text(max_size=30))
def test_any_text_stays_on_its_lines(text: str) -> None:
    usual = markdown(reviewed_draft("x")).count("\n")
    assert markdown(reviewed_draft(f"x{text}x")).count("\n") == usual


def test_passages_that_disagree_are_both_shown() -> None:
    lines = markdown(disputed_draft()).splitlines()
    assert [line for line in lines if "▶" in line] == [
        "  > ▶ “Bees sleep.” (Results)",
        "  > ▶ “Bees never sleep.” (Discussion; contradicts the claim)",
    ]
