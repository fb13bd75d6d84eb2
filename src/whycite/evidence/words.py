"""Words that say nothing on their own, and whether a text holds others."""

from __future__ import annotations

import re

__all__ = ["CONJUNCTIONS", "FUNCTION_WORDS", "content_words", "last_word", "leads_on"]

# After these a clause begins: what stands before them belongs to another claim.
CONJUNCTIONS = frozenset(
    "and or but nor yet so whereas while whilst although though because since that if when".split()
)
_DETERMINERS = frozenset(
    "a an the this these those each every both all any some no such my our your his her its their".split()
)
_PREPOSITIONS = frozenset(
    """
    about above across after against along amid among around as at before behind below beneath beside besides between
    beyond by despite during except for from in inside into like near of off on onto out outside over past per
    regarding since than through throughout till to toward towards under underneath unlike until up upon via with
    within without following see e.g i.e cf
    """.split()
)
# Closed classes: no name of anything ends with one of these.
FUNCTION_WORDS = (
    CONJUNCTIONS
    | _DETERMINERS
    | _PREPOSITIONS
    | frozenset(
        """
        either neither same other others another own one ones
        i me mine we us ours you yours he him she hers it they them theirs itself themselves
        who whom whose which what where why how there here
        am is are was were be been being has have had having do does did doing done can could may might must shall
        should will would cannot ll ve re don didn doesn isn aren wasn weren won wouldn couldn shouldn s t d m
        not only also very too quite rather just even still already again once then thus hence therefore however
        moreover furthermore further more most much many few less least several well ever never now
        et al etc
        """.split()
    )
)
# Words that point at something else, and what stands in place of a formula or a cross-reference.
_EMPTY = FUNCTION_WORDS | frozenset(
    """
    example examples instance figure figures fig figs table tables section sections sec appendix ref refs equation eq
    eqs supplement supplementary review reviews reviewed therein namely respectively
    """.split()
)

_WORD = re.compile(r"[^\W_]+")
_LAST = re.compile(r"[^\s(\[{]+$")


def content_words(text: str, enough: int = 1) -> bool:
    """Whether at least `enough` words of the text say something: no function words, numbers or labels ("1D")."""
    found = 0
    for word in _WORD.finditer(text):
        if _speaks(word[0]):
            found += 1
            if found >= enough:
                return True
    return False


def last_word(text: str) -> str:
    """The last word in lower case, without the full stop of an abbreviation."""
    found = _LAST.search(text, max(0, len(text) - 40))
    return found[0].lower().rstrip(".") if found else ""


def leads_on(text: str) -> bool:
    """Whether the text ends in a preposition or an article: "as suggested by", "we follow the"."""
    word = last_word(text)
    return word in _PREPOSITIONS or word in _DETERMINERS


def _speaks(word: str) -> bool:
    if len(word) == 1:  # the language R, vitamin C
        return word.isalpha() and word.isupper() and word not in "AI"
    return word.lower() not in _EMPTY and sum(map(str.isalpha, word)) > 1
