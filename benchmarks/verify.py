"""How well are passages ranked and verdicts given, and how fast? Run: python benchmarks/verify.py.

Written claims: the part of benchmarks/data/written-claims.jsonl from whose articles nothing was learned or fitted,
against whole articles. Contrast sets: pairs made by rule from those articles. Citation-Integrity: its dev part, from
which nothing was learned. Whole papers: articles of eLife that nothing was fitted to. SciFact: the fifth of its claims
that was set aside, against whole abstracts.

Some of this alone: --only contrasts elife. What each part of `verify` adds: --ablation [CLAIMS], on written claims of
the half for fitting, to which the weights of verdicts were fitted; where a part gives signs, they are fitted anew, too,
in folds by article.
"""

import argparse
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from whycite import structure
from whycite.documents import Document, Reference, Section, Sentence
from whycite.lab.evaluate.comparison import draw
from whycite.lab.thesis import datasets
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.verdicts import VERDICTS, measure_labels
from whycite.lab.train.contrasts import CONTRAST_KINDS, ArticleSentence, ContrastPair, contrast_pairs, wording_pairs
from whycite.lab.train.entailmentpack import set_aside
from whycite.lab.train.verifyexamples import (
    CITED_KINDS,
    OTHERS,
    CachedEntailment,
    cited_texts,
    load_written,
    prepare,
)
from whycite.lab.train.verifyweights import fit_classes
from whycite.models import load_encoder
from whycite.models.cache import CachedEncoder
from whycite.models.pairs import EntailmentModel, load_entailment
from whycite.verify import claims, passages, verdict
from whycite.verify.claims import OpenDocument, open_document, verify_sentences
from whycite.verify.features import CLASSES, WORD_COLUMNS, PassageWeights, shipped_weights
from whycite.verify.passages import PreparedDocument, RankedSentences
from whycite.verify.verdict import Signs
from whycite.verify.verification import Verdict, Verification

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
WRITTEN = Path(__file__).parent / "data" / "written-claims.jsonl"
ENCODER = CachedEncoder(load_encoder())  # many claims share a document
CLAIMS = 80  # of eLife articles that cite another
PAIRS = 60  # contrast pairs of a kind and label
CONTRAST_ARTICLES = 60


def verify_case(case: PassageCase) -> Verification:
    """A case as `whycite verify` sees it."""
    return verify_sentences(case.claim, case.sentences, case.sections or None, encoder=ENCODER)


def show_labels(name: str, cases: Sequence[PassageCase], verify: Callable[[PassageCase], Verification]) -> None:
    """Verdicts against labels, and how often a confidence is right."""
    verifications = [verify(case) for case in cases]
    labels = [case.label for case in cases if case.label is not None]
    figures = measure_labels(labels, [verification.verdict for verification in verifications])
    contradicted = figures.classes["contradicted"].cases
    print(f"\n{name}: {len(cases)} claims, right {figures.accuracy:.3f}, macro F1 {figures.macro_f1:.3f}")
    print(f"  contradicted called backed {figures.called_backed} of {contradicted}")
    for label, row in zip(figures.classes, figures.confusion, strict=True):
        print(f"  {label:13}" + "".join(f"{verdict} {n:4}   " for verdict, n in zip(VERDICTS, row, strict=True)))
    for low, high in ((0.0, 0.6), (0.6, 0.75), (0.75, 0.9), (0.9, 1.01)):
        rows = [(v.confidence, _is_right(v.verdict, c.label)) for v, c in zip(verifications, cases, strict=True)]
        inside = [(confidence, right) for confidence, right in rows if low <= confidence < high]
        if inside:
            mean, share = (sum(column) / len(inside) for column in zip(*inside, strict=True))
            print(f"  confidence {low:.2f}-{min(high, 1):.2f}: {len(inside):4}, mean {mean:.2f}, right {share:.2f}")


def _is_right(verdict: Verdict, label: str | None) -> bool:
    """ "Not found" is also right of what is contradicted, since its confidence is that nothing backs the claim."""
    return (
        verdict == label
        or (verdict == "secondary" and label == "backed")
        or (verdict == "not found" and label == "contradicted")
    )


def show_written(cases: Sequence[PassageCase]) -> None:
    """Written claims against whole articles, by kind."""
    judged = {case.id: verify_case(case) for case in cases}
    show_labels("Written claims, whole articles", cases, lambda case: judged[case.id])
    kinds = sorted({(str(case.label), case.citing) for case in cases})
    for label, kind in kinds:
        counts = Counter(judged[case.id].verdict for case in cases if (str(case.label), case.citing) == (label, kind))
        print(f"  {label:13}{kind:15}" + "".join(f"{verdict} {counts[verdict]:4}   " for verdict in VERDICTS))


def show_contrasts(cases: Sequence[PassageCase]) -> None:
    """Contrast pairs of the articles of written claims: how often the verdict on the passage alone is right."""
    chance = Random(0)
    pairs: list[ContrastPair] = list(wording_pairs(3 * PAIRS, Random(1)))
    documents = {case.document: case for case in cases}
    for case in chance.sample(
        sorted(documents.values(), key=lambda c: c.document), min(CONTRAST_ARTICLES, len(documents))
    ):
        types = [structure.section_type(heading) or "" if heading else "" for heading in case.sections]
        sentences = [ArticleSentence(text, t, False) for text, t in zip(case.sentences, types, strict=True)]
        pairs += contrast_pairs(sentences, chance)
    print("\nContrast sets, other articles than those learned from: right / not called backed if it should not be")
    total: list[tuple[bool, bool]] = []
    for kind in CONTRAST_KINDS:
        chosen = []
        for label in ("backed", "contradicted", "not found"):
            of_label = [pair for pair in pairs if pair.kind == kind and pair.label == label]
            chosen += chance.sample(of_label, min(PAIRS, len(of_label)))
        if not chosen:
            print(f"  {kind:12} no pairs")
            continue
        verdicts = [verify_sentences(pair.claim, [pair.passage], encoder=ENCODER).verdict for pair in chosen]
        as_labels = ["backed" if verdict == "secondary" else verdict for verdict in verdicts]
        rows = [
            (verdict == pair.label, pair.label == "backed" or verdict != "backed")
            for pair, verdict in zip(chosen, as_labels, strict=True)
        ]
        total += rows
        right, safe = (sum(column) / len(rows) for column in zip(*rows, strict=True))
        print(f"  {kind:12} {len(rows):4} pairs: {right:.3f} / {safe:.3f}")
    right, safe = (sum(column) / len(total) for column in zip(*total, strict=True))
    print(f"  {'all':12} {len(total):4} pairs: {right:.3f} / {safe:.3f}")


def show_whole_papers() -> None:
    """Claims against the article they cite and a like one, and another claim of their document against the cited."""
    paths = sorted((DATA / "elife").glob("elife-[0-9]*"))
    cases = cited_texts(paths, CLAIMS, ENCODER, Random(1), held_out=True)
    print(f"\neLife articles that nothing was fitted to: {len(cases)} cases")
    for kind in CITED_KINDS:
        verifications = [verify_case(case) for case in cases if case.id.split()[-1] == kind]
        counts = Counter(verification.verdict for verification in verifications)
        print(
            f"  {kind:8} {len(verifications)}: " + "".join(f"{verdict} {counts[verdict]:4}   " for verdict in VERDICTS)
        )


def show_speed(pages: int, texts: Sequence[str]) -> None:
    """Seconds for one claim against a document of so many pages, models warm, the document new."""
    many = [f"{texts[index % len(texts)]} ({index // len(texts)})" for index in range(pages * 22)]
    sentences = tuple(Sentence(text, 0, index // 6, "x", 0, 0) for index, text in enumerate(many))
    document = Document("x", "plain", Reference(""), (Section("Results", 1),), sentences)
    start, processor = time.perf_counter(), time.process_time()
    open_document(document).verify("The model is trained on parsed sentences and improves accuracy by 5 %")
    seconds, used = time.perf_counter() - start, time.process_time() - processor
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {pages:4} pages, {len(many):5} sentences: {seconds:.2f} s ({used:.2f} of processor), {resident:.0f} MB")


StandIns = tuple[tuple[object, str, object], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of `verify`, and what stands in for it while it is left out."""

    name: str
    stand_ins: StandIns
    gives_signs: bool = False  # weights fitted without them lean on the others

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """While this lasts, `verify` does without the part."""
        with ExitStack() as stack:
            for owner, name, stand_in in self.stand_ins:
                stack.enter_context(mock.patch.object(owner, name, stand_in))
            yield


def _closest_alone(
    prepared: PreparedDocument, claim: str, ranked: RankedSentences, skipped: frozenset[int] = frozenset()
) -> NDArray[np.float64]:
    closest = next(index for index in ranked.read if index not in skipped)
    return np.asarray(ranked.judgements[closest])


def _without_neighbours(prepared: PreparedDocument, index: int) -> str:
    return prepared.sentences[index]


ROLES: StandIns = ((claims, "role_of", lambda *_: "own"),)
NUMBERS: StandIns = ((verdict, "quantities", lambda _: []), (passages, "quantities", lambda _: []))
QUOTATIONS: StandIns = ((claims, "quotes", lambda *_: False),)
SAME_WORDS: StandIns = ((verdict, "says_in_same_words", lambda *_: False),)
BEST_RANKED: StandIns = ((verdict, "_best_ranked_first", lambda clearest, *_: tuple(clearest)),)
SHARED_WORDS: StandIns = ((verdict, "_CONTRADICTION_COVERAGE", 0.0),)
RULES: StandIns = (*NUMBERS, *QUOTATIONS, *SAME_WORDS, *BEST_RANKED, *SHARED_WORDS)
PARTS = (
    Part("nothing", (), gives_signs=True),
    Part("roles", ROLES),
    Part("numbers", NUMBERS, gives_signs=True),
    Part("quotations of the claim", QUOTATIONS),
    Part("findings in the same words", SAME_WORDS),
    Part("of clear sentences, the best ranked decides", BEST_RANKED),
    Part("words that a contradiction must share", SHARED_WORDS),
    Part("all of these", (*ROLES, *RULES), gives_signs=True),
    Part("contradictions must hold among neighbours", ((verdict, "_CONTRADICTS_IN_CONTEXT", -np.inf),)),
    Part("only the neighbours", ((PreparedDocument, "_with_neighbours", _without_neighbours),)),
    Part("the joint reading", ((PreparedDocument, "joint", _closest_alone),), gives_signs=True),
)
FOLDS = 5
AS_VERDICT: Mapping[str, Verdict] = {"supports": "backed", "contradicts": "contradicted", "neither": "not found"}


def show_ablation(number: int) -> None:
    """Verdicts on written claims without each part of `verify`; the entailment model reads each pair once."""
    cases = draw(load_written(WRITTEN, DATA, "fit"), lambda case: case.id, number, 0)
    entailment = CachedEntailment(load_entailment())
    articles = len({case.document for case in cases})
    print(f"\nAblation: {len(cases)} written claims of the half for fitting, {articles} whole articles")
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
    shipped = [shipped_weights()] * len(cases)
    whole: list[Verdict] = []  # the verdicts of `verify` as it is
    for part in PARTS:
        with part.left_out():
            signs, verdicts = _judge_all(cases, entailment, shipped)
            whole = whole or verdicts
            _show_row(part.name, cases, verdicts, whole)
            if part.gives_signs:
                _, verdicts = _judge_all(cases, entailment, _fold_weights(cases, signs))
                _show_row(f"{part.name}, weights fitted anew", cases, verdicts, whole)
    ready = prepare(ENCODER, entailment, shipped_weights())
    ranked = [ready(case).rank(case.claim) for case in cases]
    stances = [verdict.stance_of(rows.judgements[rows.read[0]]) for rows in ranked]
    _show_row("all but what the closest sentence says", cases, [AS_VERDICT[stance] for stance in stances], whole)
    signs = [_signs_of_words(rows) for rows in ranked]
    likely = [weights.chances("paper", row) for weights, row in zip(_fold_weights(cases, signs), signs, strict=True)]
    verdicts = [max(AS_VERDICT.values(), key=chances.__getitem__) for chances in likely]
    _show_row("entailment; words, cosine and numbers fitted", cases, verdicts, whole)


def _judge_all(
    cases: Sequence[PassageCase], entailment: EntailmentModel, weights: Sequence[PassageWeights]
) -> tuple[list[Mapping[str, float]], list[Verdict]]:
    """The signs that `verify` collects of each case, and its verdict by the weights of each."""
    ready = prepare(ENCODER, entailment, shipped_weights())
    signs: list[Mapping[str, float]] = []

    def collect_signs(*arguments: Any) -> Signs | None:
        collected = verdict.collect_signs(*arguments)
        signs.append(collected.values if collected else {})
        return collected

    verdicts = []
    with mock.patch.object(claims, "collect_signs", collect_signs):
        for case, case_weights in zip(cases, weights, strict=True):
            prepared = ready(case)
            prepared.weights = case_weights
            document = OpenDocument(prepared, range(len(case.sentences)), case.sections)
            verdicts.append(document.verify(case.claim).verdict)
    return signs, verdicts


def _fold_weights(cases: Sequence[PassageCase], signs: Sequence[Mapping[str, float]]) -> list[PassageWeights]:
    """For each case, the shipped weights with those of verdicts fitted to the articles of the other folds."""
    folds = [crc32(case.document.encode()) % FOLDS for case in cases]
    shipped, fitted = shipped_weights(), []
    for fold in range(FOLDS):
        rows = [
            (row, str(case.label))
            for case, row, case_fold in zip(cases, signs, folds, strict=True)
            if case_fold != fold and case.citing != OTHERS
        ]
        classes = fit_classes([row for row, _ in rows], [label for _, label in rows], CLASSES)
        fitted.append(replace(shipped, verdicts={**shipped.verdicts, "paper": classes}))
    return [fitted[fold] for fold in folds]


def _signs_of_words(ranked: RankedSentences) -> Mapping[str, float]:
    """What the steps before the entailment model know of a claim."""
    names = ("bm25", "coverage", "stated", "otherwise")
    best = {name: float(ranked.words[:, WORD_COLUMNS.index(name)].max()) for name in names}
    return {**best, "cosine": float(np.nanmax(ranked.cosines))}


COLUMNS = (
    "left out",
    "macro F1",
    "backed found",
    "contradicted found",
    "contradicted called backed",
    "unsaid called backed",
    "true ones accused",
    "unsaid ones accused",
    "others' findings: backed, secondary",
    "right only now, only as it is",
)


def _show_row(name: str, cases: Sequence[PassageCase], verdicts: Sequence[Verdict], whole: Sequence[Verdict]) -> None:
    """A row of the table; the last cell compares each claim with `verify` as a whole."""
    rows = [
        (case.label, _as_label(now), _as_label(before))
        for case, now, before in zip(cases, verdicts, whole, strict=True)
        if case.label and case.citing != OTHERS
    ]
    figures = measure_labels([label for label, _, _ in rows], [now for _, now, _ in rows])
    count = Counter((label, now) for label, now, _ in rows)
    totals = Counter(label for label, _, _ in rows)
    of_others = Counter(now for case, now in zip(cases, verdicts, strict=True) if case.citing == OTHERS)
    right = Counter((now == label, before == label) for label, now, before in rows)
    cells = (
        name,
        f"{figures.macro_f1:.3f}",
        f"{count['backed', 'backed']} of {totals['backed']}",
        f"{count['contradicted', 'contradicted']} of {totals['contradicted']}",
        count["contradicted", "backed"],
        f"{count['not found', 'backed']} of {totals['not found']}",
        count["backed", "contradicted"],
        count["not found", "contradicted"],
        f"{of_others['backed']}, {of_others['secondary']} of {of_others.total()}",
        f"{right[True, False]}, {right[False, True]}",
    )
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def _as_label(verdict: Verdict) -> Verdict:
    return "backed" if verdict == "secondary" else verdict


PRINTED = ("speed", "citint", "scifact", "written", "contrasts", "elife")


def arguments() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PRINTED, default=PRINTED, help="the parts to print")
    parser.add_argument("--ablation", nargs="?", type=int, const=120, metavar="CLAIMS", help="only the ablation")
    return parser.parse_args()


def main() -> None:
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    given = arguments()
    if given.ablation:
        show_ablation(given.ablation)
        return
    if "speed" in given.only:
        papers = datasets.load_clscisumm(DATA / "clscisumm")
        texts = list(dict.fromkeys(sentence for case in papers[:200] for sentence in case.sentences))
        verify_sentences("Bees sleep", ["Bees sleep at night."])  # the models are loaded once
        print("Speed")
        for pages in (20, 100, 300):
            show_speed(pages, texts)
    if "citint" in given.only:
        show_labels("Citation-Integrity, dev", datasets.load_citint(DATA / "citint", "dev"), verify_case)
    if "scifact" in given.only:
        aside = set_aside(datasets.load_scifact(DATA / "scifact"))
        show_labels("SciFact, whole abstracts, the fifth set aside", aside, verify_case)
    if not {"written", "contrasts"}.isdisjoint(given.only):
        cases = load_written(WRITTEN, DATA, "test")
        if "written" in given.only:
            show_written(cases)
        if "contrasts" in given.only:
            show_contrasts(cases)
    if "elife" in given.only:
        show_whole_papers()


if __name__ == "__main__":
    main()
