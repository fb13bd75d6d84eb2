"""How well are passages ranked and verdicts given, and how fast? Run: python benchmarks/verify.py [UNSEEN.json].

Passages of CL-SciSumm and SciFact: weights fitted to four fifths of the documents, measured on the others. What ships
was fitted to all of them, and the ranker has learnt from them: it is left out here, unless UNSEEN has scores of rankers
that had not (see `whycite.lab.train.verifyweights`). Verdicts and altered claims: the dev part of Citation-Integrity,
from which nothing has learnt, with everything that ships, and SciFact by the stances of UNSEEN and weights fitted to
other claims and abstracts; then as many pairs of each together. Whole papers: articles of eLife held out of the fit.
"""

import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.documents import Document, Reference, Section, Sentence
from whycite.lab.thesis import datasets
from whycite.lab.thesis.alterations import KINDS
from whycite.lab.thesis.baselines import Cosine, bm25
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.experiment import folds
from whycite.lab.thesis.measures import evaluate_scorer
from whycite.lab.thesis.verdicts import altered_pairs, backing
from whycite.lab.train.verifyexamples import CITED_KINDS as CITED
from whycite.lab.train.verifyexamples import UnseenScores, cited_texts, examples_with_stances, prepare, verdict_examples
from whycite.lab.train.verifyweights import fit_kinds, fit_steps, fit_verdicts
from whycite.models import load_encoder
from whycite.models.cache import CachedEncoder
from whycite.models.rankers import ranker_of
from whycite.verify.claims import open_document, verify_sentences
from whycite.verify.polarity import is_negated
from whycite.verify.quantities import quantities
from whycite.verify.verdict import chances_of, collect_signs
from whycite.verify.verification import Verdict, Verification

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
MEASURES = ("pairwise", "MRR", "nDCG@10", "R@5")
LABELS: tuple[Verdict, ...] = ("backed", "contradicted", "not found")
ALTERED, CLAIMS = 100, 80
SEED = 1  # of the pairs: failures of those of seed 0 have been looked at
FOLDS = 5


REMEMBERED = CachedEncoder(load_encoder())  # many claims share a document
RANKER = ranker_of(load_encoder())


def verified(case: PassageCase, claim: str = "") -> Verification:
    """A case as `whycite verify` sees it."""
    told = claim or case.claim
    return verify_sentences(told, case.sentences, case.sections or None, encoder=REMEMBERED, ranker=RANKER)


def passages(name: str, cases: Sequence[PassageCase], unseen: Mapping[str, Any] | None) -> None:
    """The order of sentences beside BM25 and the encoder alone, by cross-validation over documents."""
    cases = [case for case in cases if case.gold and (unseen is None or case.id in unseen["passage"])]
    documents = sorted({case.document for case in cases})
    Random(0).shuffle(documents)
    fold = {document: at % FOLDS for at, document in enumerate(documents)}
    ranker = UnseenScores(cases, unseen) if unseen else None
    ready = [
        prepare(REMEMBERED, ranker, fit_steps([c for c in cases if fold[c.document] != k], REMEMBERED, ranker))
        for k in range(FOLDS)
    ]
    by_claim = {(case.claim, case.sentences): case for case in cases}

    def ours(claim: str, texts: Sequence[str]) -> NDArray[np.floating]:
        case = by_claim[claim, tuple(texts)]
        return ready[fold[case.document]](case).rank(claim).logits

    print(f"\n{name}: {len(cases)} claims, {len(documents)} documents, {'with' if ranker else 'without'} ranker")
    for method, scorer in (("BM25", bm25()), ("encoder", Cosine(REMEMBERED.encode)), ("whycite verify", ours)):
        found = evaluate_scorer(cases, scorer)
        print(f"  {method:16}" + "".join(f"{measure} {found.mean(measure):.3f}  " for measure in MEASURES))


def verdicts(name: str, cases: Sequence[PassageCase]) -> None:
    """The verdicts against labels, beside the label that most cases have."""
    pairs = [(case.label, verified(case)) for case in cases]
    right = sum(label == found.verdict for label, found in pairs) / len(pairs)
    most = Counter(label for label, _ in pairs).most_common(1)[0]
    print(f"\n{name}: {len(pairs)} claims, right {right:.3f}, always '{most[0]}' {most[1] / len(pairs):.3f}")
    for label in LABELS:
        counts = Counter(found.verdict for true, found in pairs if true == label)
        print(f"  {label:14}" + "".join(f"{verdict} {counts[verdict]:4}   " for verdict in LABELS))
    sure = [(found.confidence, label == found.verdict) for label, found in pairs]
    for low, high in ((0, 0.5), (0.5, 0.65), (0.65, 0.8), (0.8, 1.01)):
        inside = [each for each in sure if low <= each[0] < high]
        if inside:
            said, held = (sum(each[at] for each in inside) / len(inside) for at in (0, 1))
            print(f"  confidence {low}-{min(high, 1)}: {len(inside)} verdicts, said {said:.2f}, right {held:.2f}")


def altered(name: str, pairs: Sequence[tuple[str, bool]]) -> None:
    """How often the chance of backing falls once a claim says something else."""
    fell = fmean(each for _, each in pairs)
    print(f"\n{name}: {len(pairs)} claims that are backed, altered: the chance of backing falls in {fell:.3f}")
    for kind in KINDS:
        own = [each for of, each in pairs if of == kind]
        if own:
            print(f"  {kind:10} {sum(own)} of {len(own)}")


def altered_unseen(cases: Sequence[PassageCase], number: int) -> Sequence[tuple[str, bool]]:
    """Claims of Citation-Integrity, altered, with everything that ships: by kind, whether backing falls."""
    pairs = altered_pairs(cases, number, SEED)
    true = [verified(pair.case) for pair in pairs]
    false = [verified(pair.case, pair.altered) for pair in pairs]
    found = [
        (pair.kind, fell(*(backing(each) for each in both))) for pair, *both in zip(pairs, true, false, strict=True)
    ]
    altered("Citation-Integrity, dev", found)
    had = [late.verdict for early, late in zip(true, false, strict=True) if early.verdict == "backed"]
    print(f"  'backed' is taken back in {sum(each != 'backed' for each in had)} of {len(had)} that had it")
    return found


def altered_known(cases: Sequence[PassageCase], unseen: Mapping[str, Any]) -> Sequence[tuple[str, bool]]:
    """The same of SciFact, by stances of rankers and weights of verdicts that had seen neither claim nor abstract."""
    found = []
    for part in folds(cases, FOLDS):
        learnt = [*part.train, *part.dev]
        weights = fit_steps(learnt, REMEMBERED, None)
        weights = replace(
            weights, verdicts=fit_kinds(list(verdict_examples(learnt, (), Random(0))), REMEMBERED, weights)
        )
        stances = fit_verdicts(examples_with_stances(learnt, unseen), REMEMBERED, weights, stance=True)
        weights = replace(weights, verdicts={**weights.verdicts, "stance": stances})
        ready, before = prepare(REMEMBERED, None, weights), dict[str, tuple[str, float]]()
        for example in examples_with_stances([case for case in part.test if case.label == "backed"], unseen):
            prepared, claim, id = ready(example.case), example.case.claim, example.case.id
            given = collect_signs(claim, prepared, prepared.rank(claim), stance=example.stance)
            told = chances_of(given, prepared.kind, weights)["backed"] if given else 0.0
            if id in before:  # what comes after the claim is altered
                found.append((_kind(before[id][0], claim), fell(before[id][1], told)))
            before.setdefault(id, (claim, told))
    altered("SciFact", found)
    return found


def fell(before: float, after: float) -> bool:
    """Whether a chance is less than it was, by more than the last digit."""
    return after < before - 1e-9


def _kind(claim: str, other: str) -> str:
    """How a claim was altered."""
    if quantities(claim) != quantities(other):
        return "number"
    return "negation" if is_negated(claim) != is_negated(other) else "direction"


def whole_papers(number: int) -> None:
    """Claims against the article they cite and a like one, and another claim of their document against the cited."""
    paths = sorted((DATA / "elife").glob("elife-[0-9]*"))
    cases = cited_texts(paths, number, REMEMBERED, Random(1), held_out=True)
    found = [(case.id.split()[-1], verified(case)) for case in cases]
    print(f"\neLife articles that were not fitted to: {len(cases)} cases")
    for kind in CITED:
        own = [each for name, each in found if name == kind]
        verdicts = Counter(each.verdict for each in own)
        rest = "".join(
            f"   {bar:.0%}: {fmean(e.chances['backed'] >= bar for e in own):.3f}" for bar in (0.5, 0.6, 0.7, 0.8)
        )
        print(f"  {kind:8} {len(own)}: " + "".join(f"{name} {verdicts[name]:4}   " for name in LABELS) + rest)


def speed(pages: int, texts: Sequence[str]) -> None:
    """Seconds for one claim against a document of so many pages, models warm, the document new."""
    many = [f"{text} ({at // len(texts)})" for at in range(pages * 22) for text in (texts[at % len(texts)],)]
    found = tuple(Sentence(text, 0, at // 6, "x", 0, 0) for at, text in enumerate(many))
    document = Document("x", "plain", Reference(""), (Section("Results", 1),), found)
    start, processor = time.perf_counter(), time.process_time()
    open_document(document).verify("The model is trained on parsed sentences and improves accuracy by 5 %")
    taken, worked = time.perf_counter() - start, time.process_time() - processor
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {pages:4} pages, {len(many):5} sentences: {taken:.2f} s ({worked:.2f} of processor), {resident:.0f} MB")


def main() -> None:
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    unseen = json.loads(Path(sys.argv[1]).read_text("utf-8")) if len(sys.argv) > 1 else None
    papers, abstracts = datasets.load_clscisumm(DATA / "clscisumm"), datasets.load_scifact(DATA / "scifact")
    retrieved = datasets.load_citint(DATA / "citint", "dev")
    texts = list(dict.fromkeys(sentence for case in papers[:200] for sentence in case.sentences))
    verify_sentences("Bees sleep", ["Bees sleep at night."])  # the models are loaded once
    print("Speed")
    for pages in (20, 100, 300):
        speed(pages, texts)
    verdicts("Citation-Integrity, dev", retrieved)
    there = altered_unseen(retrieved, ALTERED)
    if unseen:
        drawn = Random(SEED).sample(altered_known(abstracts, unseen), ALTERED // 2)
        altered("Both together", [*drawn, *there[: ALTERED // 2]])
    whole_papers(CLAIMS)
    passages("CL-SciSumm", papers, unseen)
    passages("SciFact", abstracts, unseen)


if __name__ == "__main__":
    main()
