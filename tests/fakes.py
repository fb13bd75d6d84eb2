"""Stand-ins for what is slow or cannot be foreseen: encoders, rankers, entailment and worthiness models, a library.

Each keeps what it was asked (`asked`), so that a test can tell what was asked for and how often.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import shake_128
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from whycite.check.calibration import BibliographyWeights, Calibration
from whycite.check.detector import Decision, DetectorDescription, DetectorHead, ParagraphText
from whycite.cite.recommendations import Claim, Recommendation, Recommendations, answer_fits
from whycite.library import (
    Library,
    LibraryInfo,
    Paper,
    PaperHit,
    PaperOutline,
    PassageHit,
    SourceDocument,
    SpanCitation,
    SpanHit,
)
from whycite.library.tables import identifier
from whycite.models.folders import MODEL, RANKER, TOKENIZER, ModelSettings, Pooling
from whycite.text.tokens import terms
from whycite.verify.features import forms

if TYPE_CHECKING:
    from whycite.lab.train.bases import Base
    from whycite.lab.train.entailment import EntailmentNetwork

_T = TypeVar("_T")
SPANS = 22025  # log(1 + 22025) is 10
MARKS = ("<s>", "<pad>", "</s>", "<unk>")
TINY = {
    "vocab_size": 40,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 34,
    "initializer_range": 0.3,
}


class FakeEncoder:
    """Encodes each text by a rule."""

    def __init__(
        self,
        vector: Callable[[str], Sequence[float] | NDArray[np.float32] | float] = lambda text: (1, 0),
        dimensions: int = 2,
        name: str = "fake@1",
    ) -> None:
        self.name, self.dimensions = name, dimensions
        self.calls: list[list[str]] = []
        self._vector = vector

    @property
    def asked(self) -> list[str]:
        """The texts of all calls."""
        return [text for texts in self.calls for text in texts]

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """One vector a text."""
        self.calls.append(list(texts))
        if progress:
            progress(len(texts))
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._vector(text)
        return vectors


def hashing_encoder(name: str = "fake@1", dimensions: int = 16) -> FakeEncoder:
    """Gives each text a direction of its own, the same on every machine, another one by another name."""

    def vector(text: str) -> NDArray[np.float32]:
        digest = shake_128(f"{name} {text}".encode("utf-8", "surrogatepass")).digest(dimensions)
        return unit(np.frombuffer(digest, np.uint8).astype(np.float32) - 127.5)

    return FakeEncoder(vector, dimensions, name)


def word_encoder() -> FakeEncoder:
    """Texts that share words lie close together."""

    def vector(text: str) -> NDArray[np.float32]:
        counts = np.full(512, 1e-6, np.float32)
        for term in terms(text):
            counts[int.from_bytes(shake_128(term.encode()).digest(2), "big") % 512] += 1
        return unit(counts)

    return FakeEncoder(vector, 512, "words@1")


def letter_encoder(letters: str = "abcdefghijklmnopqrstuvwxyz") -> FakeEncoder:
    """Texts that share letters lie close together."""

    def vector(text: str) -> NDArray[np.float32]:
        return unit(np.array([1e-3 + text.lower().count(letter) for letter in letters], np.float32))

    return FakeEncoder(vector, len(letters), "letters@1")


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vector with length one."""
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


class FakeRanker:
    """Scores each text beside a claim by a rule."""

    def __init__(self, score: Callable[[str, str, str], float] = lambda kind, claim, text: 0, name: str = "fake@1"):
        self.name = name
        self.asked: list[tuple[str, str, list[str]]] = []
        self._score = score

    def score(self, kind: str, claim: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """One score a text."""
        self.asked.append((kind, claim, list(texts)))
        return np.array([self._score(kind, claim, text) for text in texts], np.float32)


class FakeEntailment:
    """Judges each passage beside a claim by a rule: relevance, supports, contradicts, neither."""

    def __init__(
        self,
        judgement: Callable[[str, str], Sequence[float]] = lambda claim, passage: (0, 0, 0, 0),
        name: str = "fake@1",
    ) -> None:
        self.name = name
        self.asked: list[tuple[str, list[str]]] = []
        self._judgement = judgement

    def judge(self, claim: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """One row a passage."""
        self.asked.append((claim, list(passages)))
        return np.array([self._judgement(claim, passage) for passage in passages], np.float64).reshape(-1, 4)


def word_entailment() -> FakeEntailment:
    """Takes a passage with most words of the claim to support it, or to contradict it by a denial or another number."""

    def judgement(claim: str, passage: str) -> tuple[float, float, float, float]:
        wanted = {form for form in forms(claim) if form.isalpha()}
        share = len(wanted & set(forms(passage))) / max(len(wanted), 1)
        numbers = re.findall(r"\d[\d.]*", claim)
        denied = len({bool(re.search(r"\b(?:not|never|no)\b", text)) for text in (claim, passage)}) > 1
        if share < 0.7:
            return 10 * share, -5, -5, 5
        if denied or not set(numbers) <= set(re.findall(r"\d[\d.]*", passage)):
            return 10 * share, -5, 5, -5
        return 10 * share, 5, -5, -5

    return FakeEntailment(judgement, "words@1")


class FakeDetector:
    """Gives each sentence a worthiness by a rule."""

    def __init__(
        self,
        worthiness: Callable[[str], float],
        thresholds: Mapping[str, float] | None = None,
        bibliography: BibliographyWeights | None = None,
        name: str = "fake@1",
    ) -> None:
        self.name = name
        self.thresholds: Mapping[str, float] = thresholds or {"": 0.5}
        self.bibliography = bibliography
        self.asked: list[ParagraphText] = []
        self._worthiness = worthiness

    def worthiness(self, paragraphs: Sequence[ParagraphText]) -> list[NDArray[np.float64]]:
        """For each paragraph a probability a sentence."""
        self.asked += paragraphs
        return [np.array([self._worthiness(text) for text in own.sentences]) for own in paragraphs]


def word_detector(word: str = "known") -> FakeDetector:
    """Takes sentences with a word for worthy."""
    thresholds = {"": 0.5, "conclusion": 0.95}
    return FakeDetector(lambda text: 0.9 if word in text else 0.1, thresholds, name="words@1")


class FakeMethod:
    """Recommends by a rule, or nothing."""

    name = "fake"

    def __init__(self, recommend: Callable[[Claim], Sequence[Recommendation]] = lambda claim: ()) -> None:
        self.asked: list[tuple[Claim, int]] = []
        self._recommend = recommend

    def recommend(self, claim: Claim, n: int = 10) -> list[Recommendation]:
        """What the rule says of a claim."""
        self.asked.append((claim, n))
        answer = self._recommend(claim)
        return Recommendations(answer[:n], answer_fits(answer))


class FakeLibrary(Library):
    """Finds every span, and every paper that was given a hit, whatever is searched for."""

    path = Path("nowhere")

    def __init__(self, shuffle: Random | None = None) -> None:
        self.shuffle = shuffle
        self.hits: dict[int, SpanHit] = {}
        self.paper_hits: dict[int, PaperHit] = {}
        self.known: dict[int, Paper] = {}
        self.about: dict[int, float] = {}
        self.rows: list[SpanCitation] = []
        self.said: dict[int, str] = {}
        self.quoted: dict[tuple[int, int], str] = {}
        self.homes: dict[int, SourceDocument] = {}
        self.beside: dict[int, float] = {}
        self.own_words: dict[int, PassageHit] = {}
        self.calls: Counter[str] = Counter()

    def add_paper(
        self, key: str, title: str = "", year: int | None = 2000, about: float = 0.0, hit: float | None = None
    ) -> int:
        """A paper; `hit`: BM25 of its title, which then is among those found."""
        paper = identifier(key)
        self.known[paper] = Paper(key, title or f"On {key}", ("Doe, Jane",), year, "Journal", "")
        self.about[paper] = about
        if hit is not None:
            self.paper_hits[paper] = PaperHit(paper, about, hit)
        return paper

    def cite(
        self,
        span: str,
        *keys: str,
        cosine: float = 0.5,
        lexical: float = 0.0,
        kind: str = "sentence",
        document: str = "document",
        section: str | None = None,
        sentence: str | None = None,
    ) -> None:
        """A span of a document that cites papers; those not known yet are added."""
        whole = span if sentence is None else sentence
        for key in keys:
            if identifier(key) not in self.known:
                self.add_paper(key)
        for text in (span, whole):
            self.said[identifier(text)] = text
        self.hits[identifier(span)] = SpanHit(identifier(span), span, cosine, lexical)
        self.homes[identifier(document)] = SourceDocument(f"doi:{document}", document, 2020)
        place = len(self.rows)
        self.rows += [
            SpanCitation(
                identifier(span), identifier(key), identifier(document), identifier(whole), kind, section, place
            )
            for key in keys
        ]

    @property
    def encoder(self) -> str:
        return "fake@1"

    def info(self) -> LibraryInfo:
        return LibraryInfo(
            "", 1, len(self.known), SPANS, len(self.rows), 0, self.encoder, 1, 1, "2026-01-01T00:00:00+00:00"
        )

    def search(
        self,
        text: str,
        meaning: Callable[[], NDArray[np.float32]],
        spans: int = 100,
        papers: int = 50,
        passages: int = 0,
    ) -> tuple[list[SpanHit], list[PaperHit], list[PassageHit]]:
        self.calls["search"] += 1
        return (
            self._shuffled(list(self.hits.values())),
            self._shuffled(list(self.paper_hits.values())),
            self._shuffled(list(self.own_words.values())),
        )

    def say(self, key: str, *sentences: str, lexical: float, section: str = "Results", page: int | None = None) -> None:
        """What a paper says in its own words."""
        paper = identifier(key)
        self.own_words[paper] = PassageHit(paper, sentences, section, page, lexical)

    def count_passages(self) -> int:
        return SPANS if self.own_words else 0

    def citing_documents(self, ids: Sequence[int]) -> dict[int, int]:
        self.calls["citing_documents"] += 1
        return {paper: len({row.document for row in self.rows if row.paper == paper}) for paper in ids}

    def citations(self, spans: Sequence[int]) -> list[SpanCitation]:
        self.calls["citations"] += 1
        return self._shuffled([row for row in self.rows if row.span in spans])

    def papers(self, ids: Sequence[int]) -> dict[int, Paper]:
        self.calls["papers"] += 1
        return {paper: self.known[paper] for paper in self._shuffled(list(ids))}

    def outlines(self, ids: Sequence[int], vector: NDArray[np.float32], texts: bool = False) -> dict[int, PaperOutline]:
        self.calls["outlines"] += 1
        found = {paper: self.known.get(paper) for paper in self._shuffled(list(ids)) if paper in self.about}
        return {
            id: PaperOutline(
                paper.year if paper else None,
                self.about[id],
                **{name: getattr(paper, name) for name in ("title", "authors", "abstract") if paper and texts},
            )
            for id, paper in found.items()
        }

    def support(self, ids: Sequence[int]) -> dict[int, int]:
        self.calls["support"] += 1
        places = {(row.paper, row.document, row.place) for row in self.rows}
        counted = Counter(paper for paper, _, _ in places)
        return {paper: counted[paper] for paper in ids}

    def cocited(self, keys: Sequence[str]) -> dict[int, float]:
        self.calls["cocited"] += 1
        return self.beside

    def sources(self, documents: Sequence[int]) -> dict[int, SourceDocument]:
        self.calls["sources"] += 1
        return {document: self.homes[document] for document in documents}

    def quotations(self, citations: Iterable[SpanCitation]) -> dict[tuple[int, int], str]:
        self.calls["quotations"] += 1
        return self.quoted

    def texts(self, spans: Sequence[int]) -> dict[int, str]:
        self.calls["texts"] += 1
        return {span: self.said[span] for span in spans}

    def occurrences(self) -> Iterator[tuple[str, str, int | None]]:
        self.calls["occurrences"] += 1
        for row in self.rows:
            if row.kind != "context":
                paper = self.known[row.paper]
                yield self.said[row.span], paper.key, paper.year

    def retitled(self, document: str, title: str) -> None:
        """Give a document a title that is not its name."""
        home = identifier(document)
        self.homes[home] = replace(self.homes[home], title=title)

    def _shuffled(self, items: list[_T]) -> list[_T]:
        if self.shuffle:
            self.shuffle.shuffle(items)
        return items


def word_tokenizer(words: Sequence[str], marks: Sequence[str] = MARKS) -> Tokenizer:
    """Knows these words and puts the first and the third mark around every text."""
    numbers = {word: number for number, word in enumerate([*marks, *words])}
    tokenizer = Tokenizer(WordLevel(numbers, unk_token=marks[3]))
    tokenizer.pre_tokenizer = Whitespace()
    ends = [(mark, numbers[mark]) for mark in (marks[0], marks[2])]
    tokenizer.post_processor = TemplateProcessing(single=f"{marks[0]} $A {marks[2]}", special_tokens=ends)
    return tokenizer


def tiny_model(kind: str = "roberta", seed: int = 0, *, pooler: bool = False, **settings: Any) -> Any:
    """A model of Hugging Face with random weights, two layers deep and 32 wide unless told otherwise."""
    torch = pytest.importorskip("torch", reason="tiny models need the extra train")
    transformers = pytest.importorskip("transformers", reason="tiny models need the extra train")
    torch.manual_seed(seed)
    config = transformers.AutoConfig.for_model(kind, **(TINY | settings))
    return transformers.AutoModel.from_config(config, **({} if pooler else {"add_pooling_layer": False}))


def tiny_folder(path: Path, kind: str = "bert", facts: dict[str, Any] | None = None) -> Path:
    """A tiny model as Hugging Face keeps it, which knows the words w4 to w39."""
    tiny_model(kind, pooler=True).save_pretrained(path)
    word_tokenizer([f"w{number}" for number in range(4, 40)]).save(str(path / TOKENIZER))
    if facts is not None:
        (path / "encoder.json").write_text(json.dumps(facts))
    return path


def transformers_vectors(path: Path, texts: Sequence[str], pooling: Pooling) -> Any:
    """The vectors by definition: a text at a time, nothing padded."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    model = transformers.AutoModel.from_pretrained(path).eval()
    tokenizer = Tokenizer.from_file(str(path / TOKENIZER))
    vectors = []
    for text in texts:
        with torch.inference_mode():
            states = model(torch.tensor([tokenizer.encode(text).ids])).last_hidden_state[0]
        vector = states[0] if pooling == "cls" else states.mean(0)
        vectors.append(torch.nn.functional.normalize(vector, dim=0).numpy())
    return np.stack(vectors)


def tiny_base(seed: int = 0) -> Base:
    """A RoBERTa to begin training with, which knows the words w4 to w199."""
    from whycite.lab.train.bases import Base

    settings: dict[str, Any] = {
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "initializer_range": 0.02,
    }
    model = tiny_model(seed=seed, vocab_size=200, max_position_embeddings=66, pad_token_id=1, **settings)
    tokenizer = word_tokenizer([f"w{number}" for number in range(4, 200)])
    return Base("tiny", model, tokenizer, model.config, ModelSettings("tiny", max_tokens=64))


def tiny_ranker(folder: Path, words: str, **settings: Any) -> Path:
    """The folder of a ranker with random weights, which knows these words."""
    import torch

    from whycite.lab.train.export import export_scores

    tokenizer = word_tokenizer(words.split())
    size: dict[str, Any] = {"vocab_size": tokenizer.get_vocab_size(), "max_position_embeddings": 66, "pad_token_id": 1}
    head = torch.nn.Linear(TINY["hidden_size"], 1)
    model = tiny_model(**size, **settings)
    export_scores(model, head, tokenizer, folder, name="tiny", max_tokens=48, kind=RANKER)
    return folder


def tiny_entailment_network(vocabulary: int, seed: int = 0, **settings: Any) -> EntailmentNetwork:
    """An entailment model on an MPNet with random weights."""
    torch = pytest.importorskip("torch", reason="tiny models need the extra train")
    from whycite.lab.train.entailment import EntailmentNetwork

    size: dict[str, Any] = {"vocab_size": vocabulary, "max_position_embeddings": 66, "pad_token_id": 1}
    size |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model = tiny_model("mpnet", seed, **size, **settings)
    torch.manual_seed(seed)
    network = EntailmentNetwork(model)
    network.eval()
    return network


def tiny_entailment(
    folder: Path, words: str, max_tokens: int = 48, seed: int = 0, bits: int = 8, **settings: Any
) -> Path:
    """The folder of an entailment model with random weights, which knows these words."""
    from whycite.lab.train.export import export_judgements

    tokenizer = word_tokenizer(words.split())
    network = tiny_entailment_network(tokenizer.get_vocab_size(), seed, **settings)
    export_judgements(network, tokenizer, folder, name="tiny", max_tokens=max_tokens, bits=bits)
    return folder


def random_weights(
    layers: int, vocabulary: int, positions: int, width: int = 32, inner: int = 64, types: int = 2, seed: int = 0
) -> dict[str, NDArray[np.float32]]:
    """The weights of a BERT or RoBERTa by name, by lot."""
    random = np.random.default_rng(seed)
    sizes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (vocabulary, width),
        "embeddings.position_embeddings.weight": (positions, width),
        "embeddings.token_type_embeddings.weight": (types, width),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(layers):
        name = f"encoder.layer.{layer}"
        dense = {f"attention.self.{part}": (width, width) for part in ("query", "key", "value")}
        dense |= {"attention.output.dense": (width, width)}
        dense |= {"intermediate.dense": (inner, width), "output.dense": (width, inner)}
        sizes |= {f"{name}.{part}.weight": size for part, size in dense.items()}
        sizes |= {f"{name}.{part}.bias": size[:1] for part, size in dense.items()}
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
    weights = {name: random.normal(0, 0.3, size).astype(np.float32) for name, size in sizes.items()}
    for norm in norms:
        weights[f"{norm}.weight"] = random.normal(1, 0.1, width).astype(np.float32)
        weights[f"{norm}.bias"] = random.normal(0, 0.1, width).astype(np.float32)
    return weights


def tiny_detector(folder: Path, tokens: int = 64, width: int = 16, words: int = 56) -> Path:
    """The folder of a detector with random weights, two layers deep, which knows the words w0 to w55."""
    pytest.importorskip("onnx", reason="building a graph needs onnx")
    from whycite.lab.train.quantisation import EncoderShape, build_graph

    tokenizer = word_tokenizer([f"w{number}" for number in range(words)], ("[CLS]", "[PAD]", "[SEP]", "[UNK]"))
    weights = random_weights(2, tokenizer.get_vocab_size(), tokens, width, 2 * width, types=1)
    folder.mkdir()
    graph = build_graph(weights, EncoderShape(2, 2, 1e-5, output="states"))
    (folder / MODEL).write_bytes(graph.SerializeToString(deterministic=True))
    tokenizer.save(str(folder / TOKENIZER))
    random = np.random.default_rng(1)
    sizes = ((width, width), width, width, 1)
    DetectorHead(*(random.normal(0, 0.3, size).astype(np.float32) for size in sizes)).write(folder)
    decisions = {
        "drafts": Decision(Calibration(0.5, -1.0), {"": 0.3}),
        "articles": Decision(Calibration(), {"": 0.4, "method": 0.6}),
    }
    DetectorDescription("tiny", "ctx-section-extra", "mean", tokens, decisions).write(folder)
    return folder


def word_table_folder(
    folder: Path, facts: dict[str, Any] | None = None, *, pooled: bool = False, inputs: tuple[str, ...] = ()
) -> Path:
    """The folder of an encoder whose model is a table of word vectors, with a tokenizer of four words."""
    words = {"<unk>": 0, "cells": 1, "divide": 2, "stars": 3, "shine": 4}
    folder.mkdir()
    tokenizer = Tokenizer(WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.enable_padding(length=16)  # as many published ones have
    tokenizer.save(str(folder / TOKENIZER))
    (folder / MODEL).write_bytes(_word_table(pooled, inputs))
    if facts is not None:
        (folder / "encoder.json").write_text(json.dumps(facts))
    return folder


def _word_table(pooled: bool, inputs: tuple[str, ...]) -> bytes:
    from onnx import TensorProto, helper, numpy_helper

    table = numpy_helper.from_array(np.eye(5, dtype=np.float32) * 3, "table")
    axis = numpy_helper.from_array(np.array([1]), "axis")
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["tokens"])]
    masked = "tokens"
    if "attention_mask" in inputs:  # a token that is not attended to does not count
        nodes.append(helper.make_node("Cast", ["attention_mask"], ["float"], to=TensorProto.FLOAT))
        nodes.append(helper.make_node("Unsqueeze", ["float", "two"], ["mask"]))
        nodes.append(helper.make_node("Mul", ["tokens", "mask"], ["masked"]))
        masked = "masked"
    nodes.append(
        helper.make_node("ReduceMax", [masked, "axis"], ["out"], keepdims=0)
        if pooled
        else helper.make_node("Identity", [masked], ["out"])
    )
    shape: list[str | int | None] = ["texts", 5] if pooled else ["texts", "tokens", 5]
    graph = helper.make_graph(
        nodes,
        "table",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "n"]) for name in ("input_ids", *inputs)],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, shape)],
        [table, axis, numpy_helper.from_array(np.array([2]), "two")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return bytes(model.SerializeToString())
