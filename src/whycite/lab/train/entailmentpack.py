"""Make an entailment model from data: what it learns from, a shorter vocabulary, and the stages of its training."""

from __future__ import annotations

import copy
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from whycite import structure
from whycite.documents import stream
from whycite.documents.identity import paper_key
from whycite.documents.jsontext import as_list, as_text
from whycite.documents.markers import find_markers
from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.files import make_folder
from whycite.lab.jsonlines import read_objects, read_rows
from whycite.lab.thesis import datasets
from whycite.lab.thesis.datasets import Label, PassageCase
from whycite.lab.thesis.experiment import folds as split_folds
from whycite.lab.thesis.experiment import without_shared_documents
from whycite.lab.train.bases import load_base
from whycite.lab.train.cards import write_card
from whycite.lab.train.contrasts import CONTRAST_KINDS, ArticleSentence
from whycite.lab.train.entailment import (
    UNLABELLED,
    EntailmentNetwork,
    EntailmentRecipe,
    LabelledPair,
    PairEncoder,
    TrainingPack,
    predict,
    shrink,
    train,
)
from whycite.lab.train.entailmentpairs import (
    ArticleText,
    WrittenClaim,
    case_lists,
    case_pairs,
    cited_pairs,
    contrast_rows,
    entailment_rows,
    wording_rows,
    written_lists,
    written_pairs,
)
from whycite.lab.train.export import export_judgements
from whycite.lab.train.verifyexamples import prepare
from whycite.lab.train.writtenclaims import article_part
from whycite.models import load_encoder
from whycite.models.cache import CachedEncoder
from whycite.models.entailment import OnnxEntailment
from whycite.models.folders import MODEL
from whycite.verify.features import shipped_weights
from whycite.verify.prose import own_sentences

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = [
    "SOURCES",
    "EntailmentData",
    "EntailmentPlan",
    "build_entailment_model",
    "fold_numbers",
    "load_data",
    "load_marked",
    "shorten_vocabulary",
]

Tell = Callable[[str], None]
SOURCES = ("elife", "pmc-rct", "clscisumm", "scifact", "citint", "entailment")
_WRITTEN_LABELS: Mapping[str, Label] = {"S": "backed", "C": "contradicted", "N": "not found"}
_ARTICLES_A_FILE = 200  # of eLife, where a file has hundreds of neighbouring topics
_MIN_SENTENCES = 40  # of an article: shorter ones are letters and corrections
_CONTRAST_ARTICLES = 2700  # contrast pairs take a fifth of a second an article
_ABSTRACT_ARTICLES, _ABSTRACT_CLAIMS = 1200, 3  # articles whose abstract is read against the body, and claims of each
_CLAIM_WORDS = (8, 60)  # fewer say nothing by themselves, more say too much
_AUTOMATIC = 3000  # lists with automatic gold, which is noisy
_WORDINGS = 8000
_FEVER = 9000  # rows: general knowledge would crowd out science
_SWAPPED = 500  # rows of a source that get the evidence of another row
_OWN_FOLDERS = frozenset({"scifact", "citint"})  # the rows have parts of these that are not to be learned from


@dataclass(frozen=True, slots=True)
class EntailmentData:
    """What a model learns from, and written claims about articles that it does not learn from."""

    pack: TrainingPack
    unlearned: tuple[LabelledPair, ...]

    @property
    def texts(self) -> list[str]:
        """Every text that is learned from, once."""
        pairs = (text for pair in self.pack.pairs for text in (pair.claim, pair.passage))
        lists = (text for item in self.pack.lists for text in (item.claim, *item.sentences))
        return list(dict.fromkeys([*pairs, *lists]))


def load_marked(data: Path) -> list[PassageCase]:
    """The claims of SciFact and CL-SciSumm that people marked, if the data has them."""
    loaders = {"scifact": datasets.load_scifact, "clscisumm": datasets.load_clscisumm}
    return [case for name, load in loaders.items() if (data / name).is_dir() for case in load(data / name)]


def fold_numbers(cases: Sequence[PassageCase], number: int) -> dict[str, int]:
    """The fold of each case by its id; without folds all are in one, which the first stages leave out."""
    if not number:
        return {case.id: 0 for case in cases}
    by_dataset: dict[str, list[PassageCase]] = {}
    for case in cases:
        by_dataset.setdefault(case.dataset, []).append(case)
    splits = [split for dataset in by_dataset.values() for split in enumerate(split_folds(dataset, number))]
    return {case.id: fold for fold, split in splits for case in split.test}


def load_data(
    data: Path,
    written: Path,
    marked: Sequence[PassageCase],
    folds: Mapping[str, int],
    tell: Tell,
    seed: int = 0,
    watch: Callable[[int], None] = lambda read: None,
) -> EntailmentData:
    """Pairs and lists of the folders in `data` (`SOURCES`) and of the written claims about articles in them."""
    present = [name for name in SOURCES if (data / name).is_dir()]
    if not present:
        raise UserError(f"{data}: has none of the folders {', '.join(SOURCES)}")
    for name in SOURCES:
        if name not in present:
            tell(f"skipped {name}: not in {data}")
    chance = Random(seed)
    rows = list(_written_rows(written))
    articles, citing = _read_articles(data, {claim.article for _, claim in rows}, watch)
    learned, unlearned = _written_claims(rows, articles, tell)
    pairs = [*case_pairs(marked, folds, chance), *written_pairs(learned, articles), *wording_rows(_WORDINGS, seed)]
    lists = [*case_lists(marked, folds), *written_lists(learned, articles)]
    if "clscisumm" in present:
        automatic = without_shared_documents(datasets.load_clscisumm_automatic(data / "clscisumm"), marked)
        lists += case_lists(chance.sample(automatic, min(_AUTOMATIC, len(automatic))), {})
    if "citint" in present:
        pairs += case_pairs(datasets.load_citint(data / "citint", "train"), {}, chance)
    if "entailment" in present:
        pairs += _labelled_rows(data / "entailment", chance)
    trained = [article for id, article in articles.items() if article_part(id) == "train"]
    chance.shuffle(trained)
    pairs += contrast_rows(trained[:_CONTRAST_ARTICLES], seed)
    pairs += _abstract_pairs(trained[:_ABSTRACT_ARTICLES], chance)
    for claim, key in citing:
        if key in articles and article_part(key) == "train":
            pairs += cited_pairs(claim, articles[key].texts, "cited")
    tell(f"{len(pairs):,} pairs and {len(lists):,} lists, {len(learned):,} written claims, {len(trained):,} articles")
    measured = tuple(pair for pair in written_pairs(unlearned, articles) if pair.label != UNLABELLED)
    return EntailmentData(TrainingPack(tuple(pairs), tuple(lists)), measured)


def _written_rows(path: Path) -> Iterator[tuple[str, WrittenClaim]]:
    """Written claims with their places in the file, but those that are to measure `verify` with."""
    for place, row in read_objects(path):
        label = as_text(row.get("label"))
        deciding = [number for number in as_list(row.get("deciding")) if isinstance(number, int)]
        if label not in _WRITTEN_LABELS or not deciding:
            raise UserError(f'{place}: expected a "label" S, C or N, and the numbers of sentences as "deciding"')
        article, claim, kind = (as_text(row.get(key)) for key in ("article", "claim", "kind"))
        if article_part(article) != "test":
            yield place, WrittenClaim(article, claim, _WRITTEN_LABELS[label], kind, tuple(deciding))


def _written_claims(
    rows: Iterable[tuple[str, WrittenClaim]], articles: Mapping[str, ArticleText], tell: Tell
) -> tuple[list[WrittenClaim], list[WrittenClaim]]:
    """The claims to learn from and the others; those about articles that are not in the data are left out."""
    learned: list[WrittenClaim] = []
    unlearned: list[WrittenClaim] = []
    missing = 0
    for place, claim in rows:
        if claim.article not in articles:
            missing += 1
        elif max(claim.deciding) >= len(articles[claim.article].sentences):
            raise UserError(f"{place}: article '{claim.article}' has no sentence {max(claim.deciding)}")
        else:
            (learned if article_part(claim.article) == "train" else unlearned).append(claim)
    if missing:
        tell(f"skipped written claims about articles that are not in the data: {missing:,}")
    return learned, unlearned


def _read_articles(
    data: Path, wanted: set[str], watch: Callable[[int], None]
) -> tuple[dict[str, ArticleText], list[tuple[str, str]]]:
    """The wanted articles and some to learn from by id; and claims in these with the key of the paper they cite."""
    articles: dict[str, ArticleText] = {}
    citing: list[tuple[str, str]] = []
    if (data / "clscisumm").is_dir():
        papers = {case.document: case for case in datasets.load_clscisumm_automatic(data / "clscisumm")}
        articles |= {f"acl:{id}": _scisumm_article(case) for id, case in papers.items()}
    for file in [*(data / "pmc-rct").glob("articles.tar*"), *sorted((data / "elife").glob("elife-[0-9]*"))]:
        limit = _ARTICLES_A_FILE if file.parent.name == "elife" else None
        for place, document in enumerate(stream(file)):
            id = Path(document.path).stem if document.format == "jats" else paper_key(document.paper) or ""
            eligible = (limit is None or place < limit) and len(document.sentences) > _MIN_SENTENCES
            if id in wanted or (eligible and id and article_part(id) == "train"):
                labelled = structure.label(document)
                articles[id] = ArticleText(id, tuple(_own_prose(labelled)))
                if article_part(id) == "train":
                    citing += _citing_claims(labelled, id)
                watch(len(articles))
    return articles, citing


def _scisumm_article(case: PassageCase) -> ArticleText:
    types = {heading: structure.section_type(heading) or "" for heading in set(case.sections)}
    sentences = (
        ArticleSentence(text, types[heading], bool(list(find_markers(text, ()))))
        for text, heading in zip(case.sentences, case.sections, strict=True)
    )
    return ArticleText(f"acl:{case.document}", tuple(sentences))


def _own_prose(document: Document) -> Iterator[ArticleSentence]:
    indices, _, types = own_sentences(document)
    for index, type in zip(indices, types, strict=True):
        sentence = document.sentences[index]
        if sentence.kind == "prose":
            yield ArticleSentence(sentence.text, type or "", bool(sentence.citations))


def _citing_claims(document: Document, id: str) -> Iterator[tuple[str, str]]:
    """Sentences that cite a single paper."""
    keys = {reference.id: paper_key(reference) for reference in document.references}
    for sentence in document.sentences:
        cited = {name for citation in sentence.citations for name in citation.keys}
        if len(cited) == 1 and (key := keys.get(cited.pop())) and key != id:
            claim = sentence.without_citations()
            if _CLAIM_WORDS[0] <= len(claim.split()) <= _CLAIM_WORDS[1]:
                yield claim, key


def _labelled_rows(folder: Path, chance: Random) -> Iterator[LabelledPair]:
    """Rows of claim and evidence by source, and some claims with the evidence of another row, which is neither."""
    by_source: dict[str, list[dict[str, Any]]] = {}
    for row in read_rows(folder, "train.jsonl"):
        if row["source"] not in _OWN_FOLDERS and ("article" not in row or article_part(row["article"]) == "train"):
            by_source.setdefault(row["source"], []).append(row)
    for source, rows in by_source.items():
        chosen = chance.sample(rows, min(_FEVER, len(rows))) if source == "fever" else rows
        yield from entailment_rows(chosen, frozenset())
        for row in chance.sample(rows, min(_SWAPPED, len(rows))):
            strange = chance.choice(rows)
            if strange["claim"] != row["claim"]:
                yield LabelledPair(row["claim"], strange["evidence"], 2, "swapped")


def _abstract_pairs(articles: Iterable[ArticleText], chance: Random) -> Iterator[LabelledPair]:
    """Sentences of abstracts against the body of the article: for the teacher to judge."""
    for article in articles:
        claims = [
            sentence.text
            for sentence in article.sentences
            if sentence.section_type == "abstract" and 10 <= len(sentence.text.split()) <= 40
        ]
        body = tuple(sentence.text for sentence in article.sentences if sentence.section_type != "abstract")
        if body:
            for claim in chance.sample(claims, min(_ABSTRACT_CLAIMS, len(claims))):
                yield from cited_pairs(claim, body, "abstract")


def shorten_vocabulary(model: Any, tokenizer: Tokenizer, texts: Sequence[str], words: int) -> Tokenizer:
    """A tokenizer with only the `words` pieces that occur most often in texts; the model's table is cut in place.

    Special tokens stay, and single characters that occur, so that no word becomes unknown.
    """
    content = json.loads(tokenizer.to_str())
    pieces = content["model"]["vocab"]
    if content["model"]["type"] not in ("WordPiece", "WordLevel"):
        raise UserError(f"cannot shorten the vocabulary of a {content['model']['type']} tokenizer, only of WordPiece")
    numbers = tokenizer.get_vocab(with_added_tokens=True)
    if words >= len(numbers):
        return tokenizer
    counts = Counter(
        number for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False) for number in encoding.ids
    )
    processor, padding = content["post_processor"] or {}, int(model.config.pad_token_id)
    special = {content["model"]["unk_token"], *(token["content"] for token in content["added_tokens"])}
    special |= {processor[end][0] for end in ("sep", "cls") if end in processor}
    special |= {*processor.get("special_tokens", ())}
    chosen = {number for piece, number in numbers.items() if piece in special or number <= padding}
    chosen |= {number for piece, number in numbers.items() if len(piece.removeprefix("##")) == 1 and counts[number]}
    common = sorted(counts.keys() - chosen, key=lambda number: (-counts[number], number))
    # By their old numbers: that of the padding, which positions are counted from, stays.
    order = sorted(chosen | {*common[: max(0, words - len(chosen))]})
    new = {number: place for place, number in enumerate(order)}
    content["model"]["vocab"] = {piece: new[number] for piece, number in pieces.items() if number in new}
    for token in content["added_tokens"]:
        token["id"] = new[token["id"]]
    for end in ("sep", "cls"):
        if end in processor:
            processor[end][1] = new[processor[end][1]]
    for token in processor.get("special_tokens", {}).values():
        token["ids"] = [new[number] for number in token["ids"]]
    table = model.get_input_embeddings().weight.detach()[order].clone()
    model.set_input_embeddings(torch.nn.Embedding.from_pretrained(table, freeze=False, padding_idx=padding))
    model.config.vocab_size = len(order)
    return type(tokenizer).from_str(json.dumps(content))


@dataclass(frozen=True, slots=True)
class _Stage:
    """A stage of training; `shares` say how often pairs and lists of a source are drawn."""

    name: str
    steps: int  # of the recipe; `EntailmentPlan.steps` scales them
    rate: float
    batch: int
    lists: int
    list_size: int
    shares: Mapping[str, float]
    seed: int = 0


def _contrast_shares(total: float) -> dict[str, float]:
    """All kinds of contrast alike, or the commonest would crowd out the others."""
    return {f"contrast {kind}": total / len(CONTRAST_KINDS) for kind in CONTRAST_KINDS}


# General knowledge teaches what a contradiction is; written claims are what the model is for.
_BROAD = {
    "fever": 0.10, "breaking-nli": 0.04, "evidence-inference": 0.10, "healthver": 0.05, "covidfact": 0.04,
    "climate-fever": 0.05, "nli4ct": 0.04, "wice": 0.01, "wice-partial": 0.01, "citint": 0.05, "citint whole": 0.06,
    "swapped": 0.03, "written": 0.12, "written together": 0.14, "written lists": 0.5,
    "clscisumm-automatic lists": 0.3, "scifact lists": 0.3, "clscisumm lists": 0.5, **_contrast_shares(0.20),
}  # fmt: skip
# Then science alone.
_SCIENCE = _BROAD | {
    "fever": 0.01, "breaking-nli": 0.01, "climate-fever": 0.03, "written": 0.18, "written together": 0.22,
}  # fmt: skip
# A third without labels: a student learns to judge as its teacher from what `verify` will read.
_TAUGHT = _SCIENCE | {"cited": 0.25, "abstract": 0.15, "written near": 0.2}
# What people marked is little and precise: often, but last, so that it is not learned by heart.
_MARKED = _TAUGHT | {
    "scifact": 0.25, "scifact whole": 0.25, "citint": 0.08, "citint whole": 0.12, "clscisumm lists": 1.2,
    "scifact lists": 0.6,
}  # fmt: skip
# Without the teacher, who is weak on contrasts that labels tell exactly, and on whole abstracts.
_LABELLED = _MARKED | {
    **{"written": 0.1, "written together": 0.14, "written abstract": 0.1, "scifact": 0.05, "scifact whole": 0.1},
    **{"citint whole": 0.1, "citint": 0.02, "evidence-inference": 0.08, **_contrast_shares(0.32)},
}
_TEACHER = (
    _Stage("teacher", 1256, 4e-5, 128, 12, 10, _BROAD),
    _Stage("teacher on science", 726, 2.5e-5, 128, 12, 10, _SCIENCE, 1),
)
_STUDENT = (
    _Stage("student", 1410, 1.5e-4, 256, 12, 10, _TAUGHT),
    _Stage("student at a lower rate", 561, 6e-5, 256, 12, 10, _TAUGHT, 1),
)
_WITH_MARKED = _Stage("with marked claims", 194, 5e-5, 256, 24, 12, _MARKED, 10)
_BY_LABELS = _Stage("by labels alone", 2170, 1e-4, 384, 8, 10, _LABELLED, 3)
_STAGES = (*_TEACHER, *_STUDENT, _WITH_MARKED, _BY_LABELS)
_LABELS_SHARE = 0.6  # of the last stage in the weights: contrasts prefer it, written claims the one before
_LONGEST = 320  # tokens of a pair: an abstract and a claim
_LEAST_CORRELATION = 0.95
_PARITY_SAMPLE = 200  # pairs for comparing the export
_RECORDED = "recorded.json"
_DESCRIPTION = (
    "An entailment model: a claim and a passage side by side, four numbers. The first says how relevant the passage "
    "is to the claim; the others are the logits of `supports`, `contradicts` and `neither`."
)


@dataclass(frozen=True, slots=True)
class EntailmentPlan:
    """The size of the model, and how long it is trained."""

    words: int = 13_000
    layers: int = 6
    inner: int = 1536
    steps: int = sum(stage.steps for stage in _STAGES)
    deadline: float = math.inf  # seconds of training, which ends with whichever comes first
    folds: int = 5
    seed: int = 0


def build_entailment_model(
    data: Path,
    written: Path,
    base_name: str,
    out: Path,
    plan: EntailmentPlan,
    tell: Tell,
    progress: Callable[[], AbstractContextManager[Callable[[int], None]]],
) -> None:
    """Train an entailment model from an MPNet into the folder `out`; nothing is written there before the end."""
    if (make_folder(out) / MODEL).exists():
        raise UserError(f"{out} already contains a model; choose another --out, or delete it")
    base = load_base(base_name)
    _check_plan(base_name, base.config, plan)
    marked = load_marked(data)
    folds = fold_numbers(marked, plan.folds)
    with progress() as watch:
        loaded = load_data(data, written, marked, folds, tell, plan.seed, watch)
    tokenizer = shorten_vocabulary(base.model, base.tokenizer, loaded.texts, plan.words)
    padding = int(base.config.pad_token_id)
    longest = min(_LONGEST, base.config.max_position_embeddings - padding - 1)
    encoder = PairEncoder(tokenizer, longest, padding)
    encoder.add(loaded.texts)
    trainer = _Trainer(loaded, encoder, plan if marked else replace(plan, folds=0), tell)
    network, recorded = trainer.train_all(base.model, marked, folds)
    network.cpu()
    with TemporaryDirectory(dir=out) as temporary:
        new = Path(temporary)
        export_judgements(network, tokenizer, new, name=out.resolve().name, max_tokens=longest)
        parity = _parity(network, encoder, new, Random(plan.seed).sample(loaded.pack.pairs, _PARITY_SAMPLE))
        if recorded:
            (new / _RECORDED).write_text(json.dumps(recorded), encoding="utf-8")
        introduction = (
            f"Share of {len(loaded.unlearned):,} pairs judged right, of written claims about articles that nothing was "
            "learned from, after each stage and with the weights averaged:"
        )
        facts = _facts(loaded.pack)
        write_card(new, out, _DESCRIPTION, base_name, facts, asdict(plan), introduction, [trainer.measured], parity)
        for file in sorted(new.iterdir()):
            file.replace(out / file.name)
    tell(f"saved to {out}: " + ", ".join(f"{name} {value:.4f}" for name, value in parity.items()))


def _check_plan(name: str, config: Any, plan: EntailmentPlan) -> None:
    if config.model_type != "mpnet":
        raise UserError(f"{name} is a '{config.model_type}' model; an entailment model is made from MPNet")
    for option, wanted, most in (
        ("--layers", plan.layers, config.num_hidden_layers),
        ("--inner", plan.inner, config.intermediate_size),
    ):
        if wanted > most:
            raise UserError(f"{option} {wanted}: {name} has only {most}")
    if plan.folds == 1:
        raise UserError("--folds 1: use 0 for none, or at least 2")


class _Trainer:
    """Runs the stages, each with its part of steps and time, and measures after each."""

    def __init__(self, data: EntailmentData, encoder: PairEncoder, plan: EntailmentPlan, tell: Tell) -> None:
        self._data, self._encoder, self._plan, self._tell = data, encoder, plan, tell
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._ends = time.monotonic() + plan.deadline
        self._steps_left = sum(stage.steps for stage in _STAGES) + plan.folds * _WITH_MARKED.steps
        self.measured: dict[str, float] = {}

    def train_all(
        self, model: Any, marked: Sequence[PassageCase], folds: Mapping[str, int]
    ) -> tuple[EntailmentNetwork, dict[str, Any]]:
        """The trained model, and judgements of marked claims by models that did not learn from their fold."""
        torch.manual_seed(self._plan.seed)
        pack = self._data.pack
        unmarked = pack.without_fold(None)
        teacher = EntailmentNetwork(model).to(self._device)
        for stage in _TEACHER:
            self._train(teacher, stage, unmarked)
        chosen = np.linspace(0, len(model.encoder.layer) - 1, self._plan.layers).round().astype(int)
        student = shrink(teacher, chosen.tolist(), self._plan.inner).to(self._device)
        for stage in _STUDENT:
            self._train(student, stage, unmarked, teacher)
        recorded: dict[str, Any] = {}
        for fold in range(self._plan.folds):
            partial = copy.deepcopy(student)
            self._train(partial, _WITH_MARKED, pack.without_fold(fold), teacher, f"without fold {fold + 1}")
            recorded |= self._record(partial, [case for case in marked if folds[case.id] == fold])
        self._train(student, _WITH_MARKED, pack, teacher)
        labelled = copy.deepcopy(student)
        self._train(labelled, _BY_LABELS, pack)
        averaged = _average(student, labelled, _LABELS_SHARE)
        self._measure("averaged", averaged)
        return averaged, recorded

    def _train(
        self,
        network: EntailmentNetwork,
        stage: _Stage,
        pack: TrainingPack,
        teacher: EntailmentNetwork | None = None,
        name: str = "",
    ) -> None:
        steps = max(1, round(stage.steps * self._plan.steps / EntailmentPlan().steps))
        seconds = max(1.0, (self._ends - time.monotonic()) * stage.steps / self._steps_left)
        self._steps_left -= stage.steps
        seed = self._plan.seed + stage.seed
        recipe = EntailmentRecipe(
            steps, seconds, stage.rate, stage.batch, stage.lists, stage.list_size, dict(stage.shares), seed
        )
        train(network, self._encoder, pack, recipe, teacher, lambda text: self._tell(f"{name or stage.name}: {text}"))
        if not name:
            self._measure(stage.name, network)

    def _measure(self, name: str, network: EntailmentNetwork) -> None:
        pairs = self._data.unlearned
        if pairs:
            outputs = predict(network, self._encoder, [(pair.claim, pair.passage) for pair in pairs])
            self.measured[name] = float(np.mean(outputs[:, 1:].argmax(1) == [pair.label for pair in pairs]))
            self._tell(f"{name}: {self.measured[name]:.3f} of {len(pairs):,} pairs right")
        else:
            self.measured[name] = math.nan

    def _record(self, network: EntailmentNetwork, cases: Iterable[PassageCase]) -> dict[str, Any]:
        """What a network says of each case, in the form of `verifyexamples.RecordedEntailment`."""
        model = _NetworkEntailment(network, self._encoder)
        ready = prepare(CachedEncoder(load_encoder()), model, shipped_weights())
        recorded = {}
        for case in cases:
            prepared = ready(case)
            ranked = prepared.rank(case.claim)
            read = sorted(ranked.read)
            joint = prepared.joint(case.claim, ranked)
            recorded[case.id] = [read, ranked.judgements[read].tolist(), joint.tolist()]
        return recorded


class _NetworkEntailment:
    """A network as `verify` uses an entailment model."""

    name = "trained"

    def __init__(self, network: EntailmentNetwork, encoder: PairEncoder) -> None:
        self._network, self._encoder = network, encoder

    def judge(self, claim: str, passages: Sequence[str]) -> NDArray[np.float64]:
        return predict(self._network, self._encoder, [(claim, text) for text in passages]).astype(np.float64)


def _average(first: EntailmentNetwork, second: EntailmentNetwork, share: float) -> EntailmentNetwork:
    """A network whose weights are between those of two, `share` of the way."""
    averaged, ends = copy.deepcopy(first), second.state_dict()
    averaged.load_state_dict(
        {name: torch.lerp(weight, ends[name], share) for name, weight in first.state_dict().items()}
    )
    averaged.eval()
    return averaged


def _facts(pack: TrainingPack) -> dict[str, object]:
    """What the card says that the model saw."""
    pairs = Counter(pair.source.split()[0] for pair in pack.pairs)
    lists = Counter(item.source for item in pack.lists)
    described = {
        "Pairs": ", ".join(f"{source} {number:,}" for source, number in pairs.most_common()),
        "Lists": ", ".join(f"{source} {number:,}" for source, number in lists.most_common()),
    }
    return {name: text for name, text in described.items() if text}


def _parity(
    network: EntailmentNetwork, encoder: PairEncoder, folder: Path, pairs: Sequence[LabelledPair]
) -> dict[str, float]:
    """How well the judgements of the exported model agree with those of the trained one."""
    model = OnnxEntailment(folder, 1)
    exported = np.concatenate([model.judge(pair.claim, [pair.passage]) for pair in pairs])
    trained = predict(network, encoder, [(pair.claim, pair.passage) for pair in pairs])
    correlation = float(np.corrcoef(exported[:, 1:].ravel(), trained[:, 1:].ravel())[0, 1])
    if not correlation >= _LEAST_CORRELATION:
        raise UserError(f"the exported model differs from the trained one (correlation {correlation:.3f})")
    same = float((exported[:, 1:].argmax(1) == trained[:, 1:].argmax(1)).mean())
    return {"correlation of logits": correlation, "same answer": same}
