"""Build a model folder from data: train, export, compare the export with the trained model, write the card."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import torch

from whycite.errors import UserError
from whycite.files import make_folder
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.train import claimencoder, ranker
from whycite.lab.train.bases import Base, Tensor, Tokens, encode, load_base, save_base
from whycite.lab.train.claimencoder import ClaimExamples
from whycite.lab.train.corpus import Corpus
from whycite.lab.train.export import check_exportable, export, export_scores, file_name, write_card
from whycite.lab.train.ranker import PairTokens, RankerNetwork, score
from whycite.lab.train.rankerexamples import (
    RankList,
    Stance,
    altered_stances,
    backed_pairs,
    draw_claims,
    hide_abstracts,
    marked_stances,
    paper_lists,
    passage_lists,
    same_span_pairs,
    span_lists,
)
from whycite.models.encoders import OnnxEncoder
from whycite.models.folders import MODEL, RANKER
from whycite.models.pairs import OnnxRanker, claim_text

__all__ = [
    "LEAST_CORRELATION",
    "CorpusSplit",
    "build_claim_encoder",
    "build_ranker",
    "encoder_parity",
    "ranker_parity",
    "split_corpus",
]

_LEAST_COSINE = 0.98
LEAST_CORRELATION = 0.95


def encoder_parity(base: Base, folder: Path, texts: Sequence[str]) -> dict[str, float]:
    """How close the exported encoder's vectors are to the trained one's on some texts."""
    exported = OnnxEncoder(folder, 1).encode(texts)
    tokens = Tokens(base, texts, base.facts.max_tokens)
    trained = encode(base.model, tokens, range(len(texts)), base.facts.pooling).float().cpu().numpy()
    cosines = (exported * trained).sum(1)
    figures = {"cosine, mean": float(cosines.mean()), "cosine, least": float(cosines.min())}
    if figures["cosine, mean"] < _LEAST_COSINE:
        raise UserError(f"{folder}: the exported model differs from the trained one (mean cosine {cosines.mean():.3f})")
    return {**figures, "same neighbour": _same_neighbour(exported, trained)}


def ranker_parity(
    base: Base,
    scorer: RankerNetwork,
    folder: Path,
    pairs: Sequence[tuple[str, str]],
    longest: int,
    least: float | None = LEAST_CORRELATION,
) -> dict[str, float]:
    """How well the exported ranker's scores agree with the trained one's on pairs of a claim and a paper.

    A ranker whose scores correlate less than `least` is refused; None accepts any.
    """
    import torch

    from whycite.models.pairs import claim_text

    ranker = OnnxRanker(folder, 1)
    exported = np.array([ranker.score("paper", claim, [text])[0] for claim, text in pairs])
    scorer.eval()
    with torch.no_grad():
        text_pairs = [(claim_text("paper", claim), text) for claim, text in pairs]
        trained = score(scorer, PairTokens(base, longest), text_pairs).float().cpu().numpy()
    correlation = float(np.corrcoef(exported, trained)[0, 1])
    if least is not None and not correlation >= least:
        raise UserError(f"{folder}: the exported ranker differs from the trained one (correlation {correlation:.3f})")
    return {"correlation of scores": correlation, "difference, mean": float(np.abs(exported - trained).mean())}


def _same_neighbour(exported: np.ndarray, trained: np.ndarray) -> float:
    """The share of texts whose nearest neighbour is the same."""
    nearest = []
    for vectors in (exported, trained):
        near = vectors @ vectors.T
        np.fill_diagonal(near, -2)
        nearest.append(near.argmax(1))
    return float((nearest[0] == nearest[1]).mean())


Tell = Callable[[str], None]
_TRAINED_FOLDER = "trained"  # the model as trained, for further training
_CHECKPOINT = "checkpoint.pt"
_PARITY_SAMPLE = 500  # texts or pairs for comparing the export
_LIST_LENGTH = 30  # candidates in a list
_REPEATS = 2  # times that examples marked by people are shown
_PAPERS_PER_SPAN = 4  # claims are compared with papers this many times as often as with spans


@dataclass(frozen=True, slots=True)
class CorpusSplit:
    """The articles to train on, and the newest ones before the cut, which are held out."""

    trained: Corpus
    held_out: Corpus

    @property
    def facts(self) -> dict[str, object]:
        """The facts about the split for a model card."""
        sentences = sum(len(article.sentences) for article in self.trained.articles)
        papers = len(self.trained.papers)
        trained = f"{_describe_corpus(self.trained)}, {sentences:,} citing sentences, {papers:,} cited papers"
        return {"Trained on": trained, "Held out": _describe_corpus(self.held_out)}


def split_corpus(corpus: Corpus, held_out: int, until: str = "", without: Iterable[str] = ()) -> CorpusSplit:
    """Drop articles dated `until` or later and those with the given keys, then hold out the newest."""
    eligible = (corpus.until(until) if until else corpus).without(without)
    if len(eligible.articles) <= held_out:
        remainder = f"{len(eligible.articles)} of {len(corpus.articles)} articles are left"
        raise UserError(f"{remainder}, too few to hold out {held_out}; add data or lower --held-out")
    parts = CorpusSplit(eligible.only(eligible.articles[:-held_out]), eligible.only(eligible.articles[-held_out:]))
    if not parts.trained.papers.keys() & parts.held_out.papers.keys():
        raise UserError("the held-out articles share no cited papers with the others; add data or raise --held-out")
    return parts


def build_claim_encoder(
    parts: CorpusSplit, base_name: str, out: Path, recipe: claimencoder.EncoderRecipe, tell: Tell
) -> None:
    """Train a claim encoder from the base into the folder `out`; a stopped run resumes after its last epoch."""
    base = _load_exportable_base(base_name, out)
    measured = claimencoder.train(base, parts.trained, parts.held_out, recipe, tell, out / _CHECKPOINT)
    use = base.facts
    save_base(
        out / _TRAINED_FOLDER,
        base.model.cpu(),
        base.tokenizer,
        pooling=use.pooling,
        max_tokens=use.max_tokens,
        prefix=use.prefix,
    )
    texts = [sentence.text for article in parts.held_out.articles for sentence in article.sentences][:_PARITY_SAMPLE]
    with _staging_folder(out) as new:
        export(out / _TRAINED_FOLDER, new, name=out.resolve().name)
        parity_figures = encoder_parity(base, new, texts)
        description = "A claim encoder: texts that cite the same paper, and that paper, lie close together."
        introduction = "On the held-out articles, before training, after each epoch, and in the end:"
        write_card(
            new, out, description, base_name, parts.facts, asdict(recipe), introduction, measured, parity_figures
        )
    (out / _CHECKPOINT).unlink()
    tell(f"saved to {out}: " + ", ".join(f"{name} {value:.4f}" for name, value in parity_figures.items()))


def build_ranker(
    parts: CorpusSplit,
    passages: Sequence[PassageCase],
    encoder: str,
    base_name: str,
    out: Path,
    number: int,
    recipe: ranker.RankerRecipe,
    tell: Tell,
    unseen: Collection[str] = (),
    paraphrases: Sequence[tuple[str, str]] = (),
) -> None:
    """Train a ranker from the base into the folder `out`, on lists made by the encoder.

    `unseen` are keys of articles that the encoder was not trained on. Only these supply claims, since an encoder finds
    what it has memorised better than anything else. `alike` are pairs of texts that say the same thing.
    """
    base = _load_exportable_base(base_name, out)
    lists, held_out = _build_lists(load_base(encoder), parts, number, Random(recipe.seed), unseen)
    lists = [rank_list for rank_list in lists if rank_list.relevant]
    marked = [case for case in passages if not case.dataset.endswith("automatic")]
    lists += passage_lists(case for case in passages if case.dataset.endswith("automatic"))
    if not lists:
        raise UserError("the encoder finds no correct paper for any claim to train on; add data")
    stances = list(altered_stances([*paraphrases, *same_span_pairs(lists)], Random(recipe.seed)))
    tell(f"{len(lists)} lists and {len(stances)} stances to train on, {len(held_out)} lists held out")
    scorer = ranker.train(base, lists, recipe, tell, stances)
    if marked:
        scorer = _settle(base, scorer, marked, lists, stances, recipe, tell)
    measured = _measure(base, scorer, held_out, recipe.longest)
    tell(", ".join(f"{name} {value:.4f}" for name, value in measured.items()))
    scorer.cpu()
    name, longest = out.resolve().name, recipe.longest
    pairs = [
        (rank_list.claim, text) for rank_list in lists if rank_list.kind == "paper" for text in rank_list.texts[:5]
    ][:_PARITY_SAMPLE]
    with _staging_folder(out) as new:
        export_scores(scorer.model, scorer.head, base.tokenizer, new, name=name, max_tokens=longest, kind=RANKER)
        parity_figures = ranker_parity(base, scorer, new, pairs, longest)
        description = (
            "A ranker: a claim and a paper, a citing span or a passage side by side, one score. Asked for the stance "
            "of a passage it scores above 0 what says so, and below 0 what says otherwise."
        )
        introduction = (
            f"On {len(held_out)} lists of thirty papers for claims of the held-out articles, a right one in each:"
        )
        facts = {"Lists by": file_name(encoder), **parts.facts}
        write_card(new, out, description, base_name, facts, asdict(recipe), introduction, [measured], parity_figures)
    tell(f"saved to {out}: " + ", ".join(f"{name} {value:.4f}" for name, value in parity_figures.items()))


def _settle(
    base: Base,
    scorer: ranker.RankerNetwork,
    marked: Sequence[PassageCase],
    lists: Sequence[RankList],
    stances: Sequence[Stance],
    recipe: ranker.RankerRecipe,
    tell: Tell,
) -> ranker.RankerNetwork:
    """Train the scorer further, at a lower rate, on examples marked by people and some of the earlier ones."""
    chance = Random(recipe.seed)
    settling_lists = [*passage_lists(marked)] * _REPEATS
    settling_stances = [*marked_stances(marked, chance), *altered_stances([*backed_pairs(marked)] * _REPEATS, chance)]
    settling_lists += chance.sample(lists, min(len(lists), len(settling_lists)))
    settling_stances += chance.sample(stances, min(len(stances), len(settling_stances)))
    tell(f"{len(settling_lists)} lists and {len(settling_stances)} stances to settle on")
    smaller = replace(recipe, epochs=_REPEATS, rate=recipe.rate / 2)
    return ranker.train(base, settling_lists, smaller, tell, settling_stances, scorer)


def _load_exportable_base(name: str, out: Path) -> Base:
    """Load the base, checking that its kind can be exported and that the folder holds no model yet."""
    if (make_folder(out) / MODEL).exists():
        raise UserError(f"{out} already contains a model; choose another --out, or delete it")
    base = load_base(name)
    check_exportable(name, base.config)
    return base


@contextmanager
def _staging_folder(out: Path) -> Iterator[Path]:
    """A temporary folder whose files are moved to `out` on success, so that a failed model is not kept."""
    with TemporaryDirectory(dir=out) as new:
        yield Path(new)
        for file in sorted(Path(new).iterdir()):
            file.replace(out / file.name)


def _describe_corpus(corpus: Corpus) -> str:
    dates = [article.date for article in corpus.articles if article.date]
    period = f" of {dates[0]} to {dates[-1]}" if dates else ""
    return f"{len(corpus.articles):,} articles{period}"


def _build_lists(
    finder: Base, parts: CorpusSplit, number: int, chance: Random, unseen: Collection[str]
) -> tuple[list[RankList], list[RankList]]:
    """Build lists for training, and lists for held-out claims over the same papers."""
    finder.model.to("cuda" if torch.cuda.is_available() else "cpu")
    examples = ClaimExamples(parts.trained)
    articles = (
        {index for index, article in enumerate(parts.trained.articles) if article.key in unseen} if unseen else None
    )
    drawn_claims = draw_claims(examples, number, chance, articles)
    held_out_claims = [
        (-1, view.text, frozenset(view.papers))
        for article in parts.held_out.articles
        for sentence in article.sentences
        for view in sentence.views
    ]
    held_out_claims = chance.sample(held_out_claims, min(len(held_out_claims), 500))
    texts = [*examples.texts, *(text for _, text, _ in held_out_claims)]
    tokens = Tokens(finder, texts, finder.facts.max_tokens)

    def vectors(chosen: Sequence[int]) -> Tensor:
        return encode(finder.model, tokens, chosen, finder.facts.pooling)

    sentence_vectors = vectors([sentence.text for sentence in examples.sentences])
    title_vectors = vectors([examples.abstracts[paper] for paper in sorted(examples.titles)])
    claim_vectors = vectors([text for _, text, _ in drawn_claims])
    papers = paper_lists(examples, drawn_claims, claim_vectors, sentence_vectors, title_vectors, _LIST_LENGTH)
    span_count = len(drawn_claims) // _PAPERS_PER_SPAN
    spans = span_lists(examples, drawn_claims[:span_count], claim_vectors[:span_count], sentence_vectors, _LIST_LENGTH)
    text_count = len(examples.texts)
    examples.texts.extend(texts[text_count:])
    held_out = [(home, text_count + position, cited) for position, (home, _, cited) in enumerate(held_out_claims)]
    held_out_lists = paper_lists(
        examples, held_out, vectors(range(text_count, len(texts))), sentence_vectors, title_vectors, _LIST_LENGTH
    )
    return [*hide_abstracts(papers, chance), *spans], [rank_list for rank_list in held_out_lists if rank_list.relevant]


def _measure(base: Base, scorer: ranker.RankerNetwork, lists: Sequence[RankList], longest: int) -> dict[str, float]:
    """MRR within the lists by the encoder, the ranker, and both together."""
    pairs = ranker.PairTokens(base, longest)
    ranks: dict[str, list[float]] = {"MRR by the encoder": [], "by the ranker": [], "by both": []}
    scorer.eval()
    with torch.no_grad():
        for rank_list in lists:
            text_pairs = [(claim_text(rank_list.kind, rank_list.claim), text) for text in rank_list.texts]
            ranker_scores = ranker.score(scorer, pairs, text_pairs).float().cpu().numpy()
            encoder_scores = np.array(rank_list.scores)
            for name, scores in zip(
                ranks, (encoder_scores, ranker_scores, encoder_scores + ranker_scores), strict=True
            ):
                order = np.argsort(-scores, kind="stable").tolist()
                ranks[name].append(
                    next(1 / rank for rank, position in enumerate(order, 1) if position in rank_list.relevant)
                )
    return {name: float(np.mean(values)) if values else 0.0 for name, values in ranks.items()}
