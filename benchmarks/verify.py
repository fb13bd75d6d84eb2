"""How well are passages ranked and verdicts given, and how fast? Run: python benchmarks/verify.py [UNSEEN.json].

Passages of CL-SciSumm and SciFact: weights fitted to four fifths of the documents, measured on the others. What ships
was fitted to all of them, and the ranker has learnt from them: it is left out here, unless UNSEEN has scores of rankers
that had not (see `whycite.training.passagefitting`). Verdicts and altered claims: the dev part of Citation-Integrity,
from which nothing has learnt, with everything that ships.
"""

import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.documents import Document, Reference, Section, Sentence
from whycite.encoders import load
from whycite.encoders.cache import CachedEncoder
from whycite.evaluation.passages import citint, clscisumm, scifact
from whycite.evaluation.passages.alterations import KINDS, alter
from whycite.evaluation.passages.baselines import Cosine, bm25
from whycite.evaluation.passages.model import Case
from whycite.evaluation.passages.scoring import evaluate
from whycite.rerank.ranker import stored_with
from whycite.training.passagefitting import Unseen, fit_steps, prepare
from whycite.verify import Verdict, Verification, open_document, sentences

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
MEASURES = ("pairwise", "MRR", "nDCG@10", "R@5")
LABELS: tuple[Verdict, ...] = ("backed", "contradicted", "not found")
ALTERED = 100
FOLDS = 5


REMEMBERED = CachedEncoder(load())  # many claims share a document
RANKER = stored_with(load())


def verified(case: Case, claim: str = "") -> Verification:
    """A case as `whycite verify` sees it."""
    told = claim or case.claim
    return sentences(told, case.sentences, case.sections or None, encoder=REMEMBERED, ranker=RANKER)


def passages(name: str, cases: Sequence[Case], unseen: Mapping[str, Any] | None) -> None:
    """The order of sentences beside BM25 and the encoder alone, by cross-validation over documents."""
    cases = [case for case in cases if case.gold and (unseen is None or case.id in unseen["passage"])]
    documents = sorted({case.document for case in cases})
    Random(0).shuffle(documents)
    fold = {document: at % FOLDS for at, document in enumerate(documents)}
    ranker = Unseen((case, unseen["passage"][case.id]) for case in cases) if unseen else None
    ready = [
        prepare(REMEMBERED, ranker, fit_steps([c for c in cases if fold[c.document] != k], REMEMBERED, ranker))
        for k in range(FOLDS)
    ]
    by_claim = {(case.claim, case.sentences): case for case in cases}

    def ours(claim: str, texts: Sequence[str]) -> NDArray[np.floating]:
        case = by_claim[claim, tuple(texts)]
        return ready[fold[case.document]](case).ranked(claim).logits

    print(f"\n{name}: {len(cases)} claims, {len(documents)} documents, {'with' if ranker else 'without'} ranker")
    for method, scorer in (("BM25", bm25()), ("encoder", Cosine(REMEMBERED.encode)), ("whycite verify", ours)):
        found = evaluate(cases, scorer)
        print(f"  {method:16}" + "".join(f"{measure} {found.mean(measure):.3f}  " for measure in MEASURES))


def verdicts(name: str, cases: Sequence[Case]) -> None:
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


def altered(cases: Sequence[Case]) -> None:
    """How often the chance of backing falls once a claim says something else."""
    chance, falls, flips, kinds = Random(1), Counter[str](), Counter[str](), Counter[str]()
    for case in chance.sample(list(cases), len(cases)):
        options = [found for kind in KINDS if (found := alter(case.claim, kind, chance)) is not None]
        if not options or kinds.total() >= ALTERED:
            continue
        other = chance.choice(options)
        before, after = verified(case), verified(case, other.text)
        kinds[other.kind] += 1
        falls[other.kind] += after.chances["backed"] < before.chances["backed"] - 1e-9
        flips[other.kind] += before.verdict == "backed" != after.verdict
    print(f"\n{kinds.total()} claims that are backed, altered: the chance of backing falls in {falls.total()}")
    for kind in KINDS:
        print(f"  {kind:10} {falls[kind]} of {kinds[kind]}, and 'backed' is taken back in {flips[kind]}")


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
    papers, abstracts = clscisumm.load(DATA / "clscisumm"), scifact.load(DATA / "scifact")
    retrieved = citint.load(DATA / "citint", "dev")
    texts = list(dict.fromkeys(sentence for case in papers[:200] for sentence in case.sentences))
    sentences("Bees sleep", ["Bees sleep at night."])  # the models are loaded once
    print("Speed")
    for pages in (20, 100, 300):
        speed(pages, texts)
    verdicts("Citation-Integrity, dev", retrieved)
    altered([case for case in retrieved if case.label == "backed"])
    passages("CL-SciSumm", papers, unseen)
    passages("SciFact", abstracts, unseen)


if __name__ == "__main__":
    main()
