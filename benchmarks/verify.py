"""How well are passages ranked and verdicts given, and how fast? Run: python benchmarks/verify.py [RECORDED.json].

Written claims: the part of benchmarks/data/written-claims.jsonl from whose articles nothing was learned or fitted,
against whole articles. Contrast sets: pairs made by rule from those articles. Citation-Integrity: its dev part, from
which nothing was learned. Whole papers: articles of eLife that nothing was fitted to. SciFact: by RECORDED, the
judgements of models trained without the claims and abstracts that they judge (see `whycite.lab.train.verifyexamples`).
"""

import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random

from whycite import structure
from whycite.documents import Document, Reference, Section, Sentence
from whycite.lab.thesis import datasets
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.verdicts import VERDICTS, measure_labels
from whycite.lab.train.contrasts import CONTRAST_KINDS, ArticleSentence, ContrastPair, contrast_pairs, wording_pairs
from whycite.lab.train.verifyexamples import CITED_KINDS, cited_texts, load_recorded, load_written
from whycite.models import load_encoder
from whycite.models.cache import CachedEncoder
from whycite.verify.claims import open_document, verify_sentences
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


def show_written() -> list[PassageCase]:
    """Written claims against whole articles, by kind."""
    cases = load_written(WRITTEN, DATA, "test")
    judged = {case.id: verify_case(case) for case in cases}
    show_labels("Written claims, whole articles", cases, lambda case: judged[case.id])
    kinds = sorted({(str(case.label), case.citing) for case in cases})
    for label, kind in kinds:
        counts = Counter(judged[case.id].verdict for case in cases if (str(case.label), case.citing) == (label, kind))
        print(f"  {label:13}{kind:15}" + "".join(f"{verdict} {counts[verdict]:4}   " for verdict in VERDICTS))
    return cases


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


def main() -> None:
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    papers, abstracts = datasets.load_clscisumm(DATA / "clscisumm"), datasets.load_scifact(DATA / "scifact")
    texts = list(dict.fromkeys(sentence for case in papers[:200] for sentence in case.sentences))
    verify_sentences("Bees sleep", ["Bees sleep at night."])  # the models are loaded once
    print("Speed")
    for pages in (20, 100, 300):
        show_speed(pages, texts)
    show_labels("Citation-Integrity, dev", datasets.load_citint(DATA / "citint", "dev"), verify_case)
    if len(sys.argv) > 1:
        recorded = load_recorded(Path(sys.argv[1]), abstracts)
        verify = partial(verify_sentences, encoder=ENCODER, entailment=recorded)
        show_labels("SciFact in five folds", abstracts, lambda case: verify(case.claim, case.sentences))
    cases = show_written()
    show_contrasts(cases)
    show_whole_papers()


if __name__ == "__main__":
    main()
