"""Where in a sentence a citation belongs: after the authors it names, or where the clause that needs it ends."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whycite.evidence.groups import REPORTING_VERBS
from whycite.evidence.words import has_content_words
from whycite.library.records import Paper

__all__ = ["clause_end", "name_ends"]


_SPACE = r"(?:\s|~)+"
_AND = rf",?{_SPACE}(?:and|&|\\&){_SPACE}"
_AND_OTHERS = (
    rf"(?:,?{_SPACE}(?:\\(?:emph|textit){{|[*_])?et{_SPACE}al\b\.?(?:[}}*_](?!\w))?"
    rf"|{_AND}(?:(?:his|her|their){_SPACE})?(?:colleagues|co-?workers))"
)
_POSSESSIVE = r"['’]s?(?=\s|~)"
_YEAR = r"(?:\s|~)*\(\s*(?P<year>(?:1[89]|20)\d\d)[a-z]?\s*\)"
_AGENT = re.compile(rf"\b(?:by|to){_SPACE}\Z")  # "as shown by Kaiser", "according to Kaiser"
_NEXT_WORD = re.compile(rf"{_SPACE}([^\W\d_]+)")
_MIN_NAME = 3  # letters; shorter names are too often something else

# Where the authors' own work begins after a clause about others: "Bees rest at night, so we …", "While bees rest, we".
# After "and we", "but we" or "To model this, we", the citation as often belongs to the second clause.
_OWN = rf"(?:we|our|this{_SPACE}(?:paper|work|study|article|thesis|section))\b"
_CONSEQUENCE = re.compile(rf"[,;](?={_SPACE}(?:and{_SPACE})?(?:so|thus|hence|therefore|consequently),?{_SPACE}{_OWN})")
_OWN_CLAUSE = re.compile(rf"[,;](?={_SPACE}{_OWN})")
_SUBORDINATE = re.compile(r"\s*(?:while|although|though|even though|whereas|since|because)\b", re.IGNORECASE)
_OWN_WORD = re.compile(r"\b(?:we|our|us)\b", re.IGNORECASE)
_MIN_CLAUSE_WORDS = 3  # content words that make a clause


def name_ends(text: str, start: int, end: int, paper: Paper) -> Iterator[int]:
    """The offsets in the sentence text[start:end] after each mention of a paper's authors.

    A name counts if something shows that it is one: "et al.", another author, a year, a reporting verb, "by" before it.
    A year that is not the paper's speaks of another paper; "Mercer's theorem" is cited after the theorem.
    """
    families = [family for author in paper.authors[:2] if (family := author.partition(",")[0].strip())]
    if not families or len(families[0]) < _MIN_NAME:
        return
    second = rf"|(?P<second>{_AND}{re.escape(families[1])}(?!\w))" if len(families) > 1 else ""
    mention = re.compile(
        rf"(?<![\w-]){re.escape(families[0])}(?![\w-])"
        rf"(?:(?P<others>{_AND_OTHERS}){second})?(?:{_POSSESSIVE})?(?:{_YEAR})?"
    )
    for match in mention.finditer(text, start, end):
        year = match["year"]
        if year and paper.year and int(year) != paper.year:
            continue
        if any(match.groupdict().values()) or _is_named(text, match.start(), match.end(), start, end):
            yield match.end()


def _is_named(text: str, begin: int, stop: int, start: int, end: int) -> bool:
    """Whether the words around a bare name show that it is one."""
    following = _NEXT_WORD.match(text, stop, end)
    return bool(_AGENT.search(text[start:begin])) or bool(following and following[1] in REPORTING_VERBS)


def clause_end(text: str, start: int, end: int) -> int | None:
    """The offset where the clause that needs the citation ends, if the sentence goes on with the authors' own work."""
    own = (_OWN_CLAUSE if _SUBORDINATE.match(text, start, end) else _CONSEQUENCE).search(text, start, end)
    if own is None:
        return None
    clause = text[start : own.start()]
    if _OWN_WORD.search(clause) or not has_content_words(clause, enough=_MIN_CLAUSE_WORDS):
        return None
    return start + len(clause.rstrip())
