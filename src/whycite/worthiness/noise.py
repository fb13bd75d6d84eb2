"""What drafts look like: sentences with left-overs of LaTeX, unfinished ones, places where something was taken out."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

__all__ = ["KINDS", "noisy"]

_COMMANDS = (r"\emph{", r"\textit{", r"\textbf{", r"\texttt{", r"{\em ", r"{\it ")
_MACROS = (r"\ours", r"\method", r"\eg", r"\ie", r"\xspace", r"\noindent", r"\vspace{1em}", r"\label{sec:main}")
_NOTES = ("TODO", "XXX", "???", "[TODO]", "(cite)", "TBD", "FIXME")
_HUSKS = ("()", "( )", "[]", "[ ]", "(; )", "(,)", "")
_FIGURE = re.compile(r"\b(Fig(?:ure|\.)|Table|Section|Equation|Eq\.) ?(?:S?\d+[A-Z]?)")
_STOP = re.compile(r"[.!?]$")


def noisy(text: str, random: Random) -> str:
    """The sentence as it might stand in a draft, by one kind of noise; the same draw gives the same text."""
    made = random.choice(KINDS)(text, random)
    return made if made.strip() else text


def _latex(text: str, random: Random) -> str:
    """Commands, ties and signs that a reader did not take away."""
    text = _FIGURE.sub(lambda found: f"{found[1]}~\\ref{{{'fig' if found[1][0] == 'F' else 'tab'}:a}}", text)
    words = text.replace("%", r"\%").replace("–", "--").replace("‘", "`").replace("’", "'").split(" ")
    for _ in range(1 + len(words) // 12):
        at = random.randrange(len(words))
        draw = random.random()
        if draw < 0.4:
            words[at] = f"{random.choice(_COMMANDS)}{words[at]}}}"
        elif draw < 0.6:
            words[at] = f"${words[at]}$"
        elif draw < 0.8:
            words[at] = f"{words[at]}~{words.pop(at + 1)}" if at + 1 < len(words) else words[at]
        else:
            words[at] = f"{random.choice(_MACROS)} {words[at]}"
    return " ".join(words)


def _unfinished(text: str, random: Random) -> str:
    """A sentence whose end is not written yet."""
    words = text.split(" ")
    if len(words) < 6:
        return _STOP.sub("", text)
    cut = " ".join(words[: random.randrange(max(5, len(words) // 2), len(words))])
    return cut + random.choice(("", "", " ...", "…", f" {random.choice(_NOTES)}"))


def _unpolished(text: str, random: Random) -> str:
    """No capital, no full stop, a note to oneself."""
    draw = random.random()
    if draw < 0.35:
        return _STOP.sub("", text)
    if draw < 0.7:
        return text[:1].lower() + text[1:]
    return f"{random.choice(_NOTES)} {text}" if draw < 0.85 else f"{text} {random.choice(_NOTES)}"


def _husk(text: str, random: Random) -> str:
    """What a marker leaves that was taken out carelessly; sentences that never had one get it too."""
    husk = random.choice(_HUSKS)
    if random.random() < 0.6:
        stop = text[-1:] if _STOP.search(text) else ""
        return f"{text.removesuffix(stop)} {husk}{stop}"
    words = text.split(" ")
    words.insert(random.randrange(len(words) + 1), husk)
    return " ".join(words)


KINDS: tuple[Callable[[str, Random], str], ...] = (_latex, _unfinished, _unpolished, _husk)
