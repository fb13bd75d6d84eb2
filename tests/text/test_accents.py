"""TeX strings as plain text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.text.accents import ACCENTS, MATH_SYMBOLS, SYMBOLS, untex


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"{\"O}ber {DNA}-bind\'ing $\alpha$ \emph{in vivo} \& co", "Öber DNA-bindíng α in vivo & co"),
        (r"na\"{\i}ve D{\'\i}az \'\i", "naïve Díaz í"),
        (r"\v{c}\v C \H{o} \c c \k{a} \u{g} \r{a} \d{s}", "čČ ő ç ą ğ å ṣ"),
        (r"\'{\^e} \~n \`{a} \=u \.z", "ế ñ à ū ż"),
        (r"Stra{\ss}e {\ss}\ss{} \o stergaard {\AA}ngstr{\"o}m \L{}\'od\'z", "Straße ßß østergaard Ångström Łódź"),
        (r"CO$_2$ at $z \sim 2$, $10^{-3}$, \ensuremath{\mu}m", "CO2 at z ∼ 2, 10-3, μm"),
        (r"pages 3--5 --- ``quoted'' J.~Smith", "pages 3–5 — “quoted” J. Smith"),
        (r"\href{http://x.org}{Text} \textcolor{red}{red}\footnote{gone}", "Text red"),
        (r"\enquote{a} \frac{1}{2} \textbf{b}\textsuperscript{2}", "“a” 1/2 b2"),
        (r"http://a.b/\~{}x\_y a_b", "http://a.b/~x_y a_b"),
        (r"\LaTeX{} \TeX\ and \S 3 \textmu m 5\% \$3 \#1 \{x\}", "LaTeX TeX and §3 µm 5% $3 #1 {x}"),
        (r"line\\break a\-b \unknown word", "line break ab word"),
        ("  plain \n text  ", "plain text"),
        ("{{{unbalanced", "unbalanced"),
        ("ends in a backslash\\", "ends in a backslash"),
        (r"ends in an accent \'", "ends in an accent '"),
        ("", ""),
    ],
)
def test_reads_tex(tex: str, text: str) -> None:
    assert untex(tex) == text


def test_tables_hold_what_the_latex_reader_needs() -> None:
    assert ACCENTS['"'] == "\u0308"
    assert ACCENTS["v"] == "\u030c"
    assert SYMBOLS["textendash"] == "–"
    assert MATH_SYMBOLS["leq"] == "≤"
    assert all(len(accent) == 1 for accent in ACCENTS.values())


@given(st.text(alphabet=st.sampled_from("\\{}$_^~'`\"-aeinou c%&\né"), max_size=60) | st.text(max_size=60))
def test_never_fails_and_leaves_no_markup(tex: str) -> None:
    text = untex(tex)
    assert text == " ".join(text.split())
    assert "\\" not in text or "\\" in tex


@given(st.text(alphabet=st.characters(exclude_characters="\\{}$~`'-!?"), max_size=80))
def test_leaves_plain_text_alone(text: str) -> None:
    assert untex(text) == " ".join(text.split())


@pytest.mark.parametrize(
    "unit", ["\\", "{", "}", "\\'", "$", "\\frac{", "\\href{", "~", "--", "\\a", "\\'{", " ", "``"]
)
def test_long_strings_take_linear_time(unit: str) -> None:
    start = time.process_time()
    untex(unit * (scaled(1_000_000) // len(unit)))
    assert time.process_time() - start < MAX_SECONDS
