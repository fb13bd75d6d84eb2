"""Sentence splitting for scientific prose: nupunkt with our abbreviations, then the repairs it needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

__all__ = ["split"]

Span = tuple[int, int]

ABBREVIATIONS = """
    fig figs eq eqs eqn eqns ref refs sec secs sect tab tabs tbl suppl supp ext app appx ch chap chaps thm lem prop cor
    defn alg algo ex exp al approx cf ca vs viz resp incl excl esp wrt w.r.t e.g i.e a.k.a i.i.d s.t n.b
    vol no nos pp pt pts ed eds edn rev publ proc conf int'l natl dept univ inst assoc soc trans lett
    sp spp ssp subsp var cv str st ste gen nov i.p i.v i.m s.c p.o b.i.d min max avg std dev temp conc wt
    equiv sim num dim deg lat long obs pers comm unpubl priv circ mol mw
""".split()
# Words that stand before a number or a label and never end a sentence there.
_LABEL_WORD = re.compile(
    r"(?:^|[\s(\[~])(?:figs?|tabs?|eqs?|eqns?|refs?|secs?|sect|chap|ch|thm|lem|prop|def|no|nos|vol|pp?|app|suppl?|ext|alg)\.\s*$",
    re.IGNORECASE,
)
_LABEL_START = re.compile(r"[(\[]?(?:[A-Z]?\d|[IVX]+\b|[A-Z]\b(?!\s+[a-z]))")
_SPECIES = re.compile(r"(?:^|[\s(])[A-Z][a-z]?\.\s*$")
_ET_AL = re.compile(r"\bet\s+al\.?,?\s*$")
_OPEN, _CLOSE = "([", ")]"


def split(text: str, protected: Sequence[Span] = (), breaks: Sequence[int] = ()) -> list[Span]:
    """The ranges of the sentences of a paragraph, white space left out.

    No sentence ends inside a `protected` range (a citation marker); one ends at every one of the `breaks`.
    """
    masked = _mask(text, protected)
    cuts = [0, *(at for at in sorted(set(breaks)) if 0 < at < len(text)), len(text)]
    spans: list[Span] = []
    for start, end in zip(cuts, cuts[1:], strict=False):
        spans += _split_run(masked[start:end], start, [p for p in protected if start <= p[0] < end])
    return [span for span in (_strip(text, *span) for span in spans) if span[0] < span[1]]


def _split_run(text: str, offset: int, protected: Sequence[Span]) -> list[Span]:
    if not text.strip():
        # A citation may show no text at all; it still needs a sentence to stand in only if there is text.
        return []
    markers = {start - offset: end - offset for start, end in protected}
    merged: list[Span] = []
    depth = 0
    for start, end in _tokenizer().spans(text):
        if merged and (depth > 0 or _belongs_to_previous(text, merged[-1], start)):
            merged[-1] = (merged[-1][0], end)
        else:
            tail = _glued_markers(text, start, end, markers) if merged else start
            if tail > start:
                merged[-1] = (merged[-1][0], tail)
            if tail < end:
                merged.append((tail, end))
        depth = _open_brackets(text, merged[-1])
    return [(start + offset, end + offset) for start, end in merged]


def _belongs_to_previous(text: str, previous: Span, start: int) -> bool:
    """Whether the splitter cut after an abbreviation: "Fig. | 3B", "E. | coli", "et al. | (2010)"."""
    before = text[max(previous[0], start - 40) : start]
    here = _skip_space(text, start)
    after = text[here : here + 20]
    if not after:
        return True
    if _LABEL_WORD.search(before) and _LABEL_START.match(after):
        return True
    if _SPECIES.search(before) and after[0].islower():
        return True
    return bool(_ET_AL.search(before) and (after[0] in "([" or after[0].islower() or after[0].isdigit()))


def _glued_markers(text: str, start: int, end: int, markers: dict[int, int]) -> int:
    """Where the sentence begins once markers glued to the last full stop ("shown.[3] We") are given back."""
    at = start
    while at in markers and at < end and (at == 0 or not text[at - 1].isspace()):
        at = min(markers[at], end)
    return at


def _open_brackets(text: str, span: Span) -> int:
    """Positive where a bracket opened near the end of `span` is closed soon after it."""
    depth = 0
    opened = span[0]
    for at in range(max(span[0], span[1] - 300), span[1]):
        if text[at] in _OPEN:
            depth += 1
            opened = at
        elif text[at] in _CLOSE:
            depth = max(0, depth - 1)
    if depth == 0:
        return 0
    close = min((i for i in (text.find(c, span[1], opened + 400) for c in _CLOSE) if i >= 0), default=-1)
    opening = min(
        (i for i in (text.find(c, span[1], opened + 400) for c in _OPEN) if i >= 0), default=len(text)
    )
    return int(0 <= close < opening)


def _mask(text: str, protected: Sequence[Span]) -> str:
    """The text with nothing in a protected range that could end a sentence; lengths stay as they are."""
    parts, at = [], 0
    for start, end in protected:
        parts += [text[at:start], _ENDERS.sub(",", text[start:end])]
        at = max(at, end)
    return "".join([*parts, text[at:]])


_ENDERS = re.compile(r"[.!?:\n]")


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _strip(text: str, start: int, end: int) -> Span:
    start = _skip_space(text, start)
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


@cache
def _tokenizer() -> Any:
    import nupunkt

    tokenizer = nupunkt.load_default_model()
    tokenizer.add_abbreviations(ABBREVIATIONS)
    return tokenizer
