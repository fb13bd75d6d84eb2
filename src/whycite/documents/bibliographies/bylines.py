"""Where the list of authors at the head of a printed bibliography entry ends."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["BLOCK", "CAPITAL", "EMPHASIS", "Byline", "find_byline"]

# Marks a caller may leave in the text: where a part ends, and around emphasised words.
BLOCK = "\ue010"
EMPHASIS = ("\ue011", "\ue012")

# `re` knows no class of capital letters: Latin, Greek, Cyrillic and their neighbours.
CAPITAL = "[" + "".join(filter(str.isupper, map(chr, [*range(0x590), *range(0x1E00, 0x2000)]))) + "]"

_PARTICLE = (
    r"(?:(?!and |und |et |in |for |of |the |on |to |by |a |an |via |as |at )(?:[a-z]{1,3}|[Vv]ander|della|"
    r"(?:Van|Von|De|Del|Della|Di|Da|Dos|Das|Du|La|Le|El|Al|Bin|Ibn|Mac)) |[’'][ts] |St\. |[Dd][’']|O[’'])"
)
_WORD = rf"{CAPITAL}[\w'’ʼ´-]{{1,40}}"
_SURNAME = rf"(?:{_PARTICLE}{{0,3}}{_WORD}(?:[ -]{_PARTICLE}{{0,2}}{_WORD}){{0,2}})"
_INITIAL = rf"(?:{CAPITAL}(?:[-‐]{CAPITAL})?|Yu|Ya|Ju|Th|Ch|Ph|Zs|Sz|Cs|Gy|Dz|St|Wm|Fr|Kh|Sh|Ts)\."
_DOTTED = rf"{_INITIAL}(?: ?[-‐–]?[^\W\d_]\.| ?{_INITIAL}){{0,5}}"
_CAPS = rf"{CAPITAL}{{1,5}}(?:[- ]{CAPITAL}){{0,3}}(?!\w)"
_SUFFIX = r"(?:,? (?:Jr|Sr|II|III|IV|2nd|3rd)\b\.?)?"
_GIVEN = rf"{_WORD}(?: {_WORD})?(?: {CAPITAL}\.?(?!\w)){{0,3}}"

_INVERTED = re.compile(
    rf"{_SURNAME}(?:, ?(?:Jr|Sr|II|III|IV)\b\.?)?, ?(?:{_DOTTED}|{_CAPS})"
    rf"(?: {_PARTICLE}{{1,2}}(?=[,;.&]| and))?{_SUFFIX}"
)
_TRAILING = re.compile(rf"{_SURNAME} (?:{_DOTTED}|{_CAPS}){_SUFFIX}")
_LEADING = re.compile(rf"(?:{_DOTTED} ?|{CAPITAL}{{1,3}}(?: {CAPITAL}){{0,2}} ){_SURNAME}{_SUFFIX}")
_FULL = re.compile(rf"{_GIVEN} {_SURNAME}{_SUFFIX}")
_INVERTED_FULL = re.compile(rf"{_SURNAME}, {_GIVEN}{_SUFFIX}")
_BODY = re.compile(
    rf"(?:[Tt]he )?(?:(?:{CAPITAL}|\d)[\w.&/-]{{0,30}} |(?:of|for|the|and|on) ){{1,9}}"
    r"(?:Collaborations?|Consortium|Team|Group|Project|Investigators|Network|Organi[sz]ation|Committee|Association|"
    r"Society|Institute|Foundation|Agency|Council|Initiative)(?![\w])(?: Team| Consortium)?"
)
# Words that stand in the names of journals and publishers, never in people's.
_NOT_PEOPLE = re.compile(
    r"\b(?:Journals?|Reviews?|Rev|Letters?|Lett|Physics|Phys|Nature|Science|Proceedings|Proc|Annals|Transactions|"
    r"Trans|Press|University|Advances|Communications?|Commun|Research|Reports?|IEEE|ACM|International|Nucl|Math|"
    r"Astrophys|Astron|Chem|Mod|Theor|Preprint|Springer|Ann|Soc|Acad|Bull|Acta|Am|Opt|Appl|Mech|Int)\b"
)
_HEADING = re.compile(r"(?:The|A|An|On|In|Why|How|What|Some|Towards?|Is|Are|Do|Does|From|For|Using|Two|Three|New)\b")
_SEPARATOR = re.compile(r" ?(?:[,;] ?(?:and|&|und|et|y|e) |; ?| (?:and|&|und|et|y|e) |, ?)")
_AND = re.compile(r"(?:and|&|und|et|y|e) $")
_ET_AL = re.compile(r"[,;]? ?(?:and )?(?:et\.? al\b\.?|(?:and|&) others\b\.?|(?:\. ?){3}|…)", re.IGNORECASE)
_NAME_OVER = re.compile(
    rf"[,;.:)\]]| ?[“\"{BLOCK}{EMPHASIS[0]}&]| (?:and|&|und|et|y|e) | ?et\.? al"
    r"|,? ?[(\[]?(?:1[5-9]|20)\d\d|,? \(?[Ee]ds?\b| ?$"
)
_IN_BRACKETS = re.compile(rf" ?[\[(]{CAPITAL}[\w /-]{{1,40}}[\])](?=,)")  # "S. Acharya et al. (ALICE), "
_YEAR_NEXT = re.compile(r"\. ?\(?(?:1[5-9]|20)\d\d\b")
_NUMBER_NEXT = re.compile(r",? \d{1,3}\b|:\d")
_FIRM = re.compile(rf"[.“\"{BLOCK}{EMPHASIS[0]}]|,? ?[(\[]?(?:1[5-9]|20)\d\d|, ?[“\"]|$")

_STYLES = (
    (_INVERTED, _BODY),
    (_TRAILING, _BODY),
    (_LEADING, _BODY),
    (_LEADING, _FULL, _BODY),
    (_INVERTED_FULL, _FULL, _LEADING, _BODY),
    (_FULL, _LEADING, _BODY),
    (_INVERTED, _LEADING, _BODY),
)


@dataclass(frozen=True, slots=True)
class Byline:
    """The authors' part of an entry: it ends at `end`; `firm` where what follows cannot be a name."""

    end: int
    count: int
    firm: bool


def find_byline(text: str) -> Byline | None:
    """The authors at the beginning of `text`: the style of names that goes furthest to a firm end, else the first."""
    found = [byline for style in _STYLES if (byline := _follow(text, style)) is not None]
    best = max((b for b in found if b.firm), key=lambda b: (b.count, b.end), default=found[0] if found else None)
    if best is not None and (body := _IN_BRACKETS.match(text, best.end)):
        return Byline(body.end(), best.count, firm=False)
    return best


def _follow(text: str, style: tuple[re.Pattern[str], ...]) -> Byline | None:
    at = end = count = 0
    last = False
    while True:
        if count and (more := _ET_AL.match(text, end)):
            return Byline(more.end(), count + 1, firm=True)
        name = next((m for pattern in style if (m := pattern.match(text, at)) and _stands(text, m, count, last)), None)
        if name is None:
            break
        end, count = name.end(), count + 1
        separator = _SEPARATOR.match(text, end)
        if separator is None or (last and not _AND.search(separator[0])):
            break
        last = bool(_AND.search(separator[0]))
        at = separator.end()
    if not count:
        return None
    return Byline(end, count, firm=_firm(text, end, colon=style[0] in (_INVERTED, _TRAILING)))


def _stands(text: str, name: re.Match[str], count: int, last: bool) -> bool:
    """Whether a name ends where a name can, and is not the beginning of a title or a journal."""
    after = text[name.end() : name.end() + 60]
    if not (_NAME_OVER.match(after) or (name[0].endswith(".") and after.startswith(" "))) or _NUMBER_NEXT.match(after):
        return False
    if name.re is _BODY:
        return True
    if (name.re in (_FULL, _INVERTED_FULL) and _HEADING.match(name[0])) or (count and _NOT_PEOPLE.search(name[0])):
        return False
    if after.startswith(".") and count and not last and name.re in (_LEADING, _FULL):
        return _like_title(after[1:]) or bool(_YEAR_NEXT.match(after))
    return True


def _like_title(text: str) -> bool:
    words = re.split(r"[.,;:]", text.strip(), maxsplit=1)[0].split()
    return sum(word[0].islower() for word in words) >= 1 and len(words) >= 3


def _firm(text: str, end: int, colon: bool) -> bool:
    """Whether the authors are over for certain: full stop, bracket, quote, mark, year, for some styles a colon."""
    after = text[end : end + 12].lstrip()
    if text[end - 1] == "." and text[end : end + 1] == " " and not after.startswith(","):
        return True
    return bool(_FIRM.match(after)) or (colon and after.startswith(":"))
