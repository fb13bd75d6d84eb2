"""A sentence with one sign for every citation marker, out of the brackets that held it."""

from __future__ import annotations

import re

from whycite.documents.model import Sentence

__all__ = ["BARE", "HELD", "MARK", "NAMED", "marked"]

# What stands for a marker: in round brackets, a name in the running text ("Doe et al., 2010"), anything else.
HELD, NAMED, BARE = "\ufff9", "\ufffa", "\ufffb"
MARK = re.compile(f"[{HELD}{NAMED}{BARE}]")
_SIGNS = str.maketrans(dict.fromkeys((HELD, NAMED, BARE), " "))
_TO_HELD = str.maketrans({NAMED: HELD, BARE: HELD})
_TO_BARE = str.maketrans({NAMED: BARE})

_DEEPEST, _LONGEST = 8, 600  # brackets deeper or longer than this were not meant for citations
_SHORT_ASIDE = 5  # words

_BRACKET = re.compile(r"([()\[\]])")
_WORD = re.compile(r"[^\W_]+")
_ITEM = re.compile(r"[;,]")
# A marker that the reader did not link, among others in a bracket: "(Ikeda and Bekkers, 2006; …".
_AUTHOR_YEAR = re.compile(
    r"""(?:(?:[^\W\d_a-z][\w'’-]*\.?|and|&|et|al\.?|van|von|de|der|den|di|da|la|le|du|dos|del),?\s+){1,8}
        (?:1[89]|20)\d\d[a-z]?\b(?:,\s?(?:[a-z]|(?:1[89]|20)\d\d[a-z]?)\b)*""",
    re.VERBOSE,
)
_LINKS = frozenset(
    """
    and or eg e g ie i see also cf but reviewed review reviews in by for example examples instance as well ref refs
    reference references therein the a an of among others other from after following with adapted modified more further
    additional details discussed discussion described previously recently shown reported compare contrast to n b etc
    """.split()
)
_LABELS = re.compile(
    r"""(?:see|in|and|e\.g\.|also|supplementary|supplemental|extended|copy|archived|at|\s)*
        (?:fig(?:s|ures?)?\b|tables?\b|videos?\b|movies?\b|suppl|appendix|sec(?:tions?|s)?\b|§|chap(?:ters?)?\b|ch\b
         |theorems?\b|thm\b|lemmas?\b|prop(?:ositions?)?\b|def(?:initions?)?\b|cor(?:ollary)?\b|eqs?\b|equations?\b|pp?\b
         |pages?\b|slides?\b|materials|methods\b|data\b|source\b|left\b|right\b|top\b|bottom\b|middle\b|panels?\b|version\b
         |https?:|[\w-]+\.(?:org|com|net|edu|gov|io|ai)\b|ftp:|www\.|rrid|swh:|doi:|pdb\b|github|[A-Z]?[\d–-]+[A-Za-z]?$|[A-Z]$)""",
    re.VERBOSE | re.IGNORECASE,
)


def marked(sentence: Sentence) -> str:
    """The text with one sign for each citation, in their order; brackets that held nothing else are gone.

    What else such a bracket held comes after the sign: "CATMAID (RRID: 6; Doe, 2009)" as "CATMAID * (RRID: 6)". A
    bracket with prose of its own stays: "tools (BLAST, Doe, 1990; and HMMER, Roe, 1998)".
    """
    stack: list[tuple[str, list[str]]] = [("", [])]
    for token in _BRACKET.split(_with_signs(sentence)):
        buffer = stack[-1][1]
        if token in ("(", "[") and len(stack) <= _DEEPEST:
            stack.append((token, []))
        elif token not in (")", "]"):
            buffer.append(token)
        elif len(stack) > 1:
            opening, content = stack.pop()
            stack[-1][1].append(_bracket(opening, "".join(content), token))
        elif not MARK.match(buffer[-1].rstrip()[-1:]):  # else it is what is left of a marker's own bracket
            buffer.append(token)
    while len(stack) > 1:
        opening, parts = stack.pop()
        stack[-1][1].append(_unclosed(opening, "".join(parts)))
    return "".join(stack[0][1])


def _with_signs(sentence: Sentence) -> str:
    parts, at = [], 0
    for citation in sorted(sentence.citations, key=lambda citation: citation.text_start):
        start = min(max(citation.text_start, at), len(sentence.text))
        end = min(max(citation.text_end, start), len(sentence.text))
        parts += [sentence.text[at:start].translate(_SIGNS), _sign(sentence.text[start:end].strip())]
        at = end
    return "".join([*parts, sentence.text[at:].translate(_SIGNS)])


def _sign(marker: str) -> str:
    """The sign for a marker, with those of its brackets that are not part of a name: "Doe (2010)" has none."""
    opening = marker[:1] if marker[:1] in ("(", "[") else ""
    inner = marker[len(opening) :]
    spare = inner.count(")") + inner.count("]") > inner.count("(") + inner.count("[")
    closing = inner[-1:] if spare and inner[-1:] in (")", "]") else ""
    named = not opening and marker[:1].isalpha() and marker[1:2].isalpha()
    return f"{opening}{NAMED if named else BARE}{closing}"


def _bracket(opening: str, content: str, closing: str) -> str:
    sign = MARK.search(content)
    if sign is None:
        return f"{opening}{content}{closing}"
    content = content.translate(_TO_HELD if opening == "(" else _TO_BARE)
    if len(content) > _LONGEST:
        return f"{opening}{content}{closing}"
    gaps = [_AUTHOR_YEAR.sub(" ", gap) for gap in MARK.split(content)]
    last = len(gaps) - 1
    kinds = [_kind(gap, first=at == 0, last=at == last) for at, gap in enumerate(gaps)]
    if "text" in kinds:
        begin = sign.start() if kinds[0] == "link" else 0  # "(see Doe, 2010, for a proof of this)"
        return f"{opening}{content[begin:]}{closing}"
    asides = [
        " ".join(_without_links(gap)).strip(" ,;:.") for gap, kind in zip(gaps, kinds, strict=True) if kind == "aside"
    ]
    rest = f"{opening}{'; '.join(asides)}{closing}" if asides else ""
    return f" {''.join(MARK.findall(content))} {rest}"


def _unclosed(opening: str, content: str) -> str:
    """A bracket that is never closed goes where it was opened for a marker."""
    sign = MARK.search(content)
    if sign and sign.start() < _LONGEST and _is_link(content[: sign.start()]):
        return f" {content[sign.start() :]}"
    return f"{opening}{content}"


def _kind(gap: str, first: bool, last: bool) -> str:
    """What stands between the signs of a bracket: a "link", an "aside" that goes with another place, or "text"."""
    if _is_link(gap):
        return "link"
    if last and gap.lstrip()[:1] in (";", "."):
        return "aside"
    if all(_is_link(item) or _LABELS.match(item.lstrip()) for item in _ITEM.split(gap)):
        return "aside"
    words = _without_links(gap)
    if first and words and words[-1][-1] in ";,:" and len(words) <= _SHORT_ASIDE:
        return "aside"  # "lobe commissure (ALC: Doe, 2012)"
    return "text"


def _without_links(gap: str) -> list[str]:
    """The words up to those that lead to a citation: "Theorem 3 of", "Figure 1; reviewed in"."""
    words = gap.split()
    while words and _is_link(words[-1]):
        words.pop()
    return words


def _is_link(text: str) -> bool:
    return all(word.lower() in _LINKS for word in _WORD.findall(text))
