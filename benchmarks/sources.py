"""What each source of evidence brings: citing sentences, titles, abstracts, and what papers say in their own words.

Run: python benchmarks/sources.py --work DIR. The claims are sentences of the newest 800 eLife articles that cite an
older eLife article; these older articles, with their full text, are the library. As many claims cite papers that the
library only knows because these articles cite them. Half of the claims, by citing article, fit the weights of own
words, and the other half is reported.
"""

import argparse
import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from whycite.cite.evidence_sum import EvidenceSum
from whycite.cite.recommendations import Claim
from whycite.cite.scoring import PASSAGE, TITLE, RankingFeatures, RankingWeights, stored_with
from whycite.documents import Document, Reference
from whycite.documents.identity import paper_key
from whycite.documents.reading import stream
from whycite.lab.evaluate.comparison import bootstrap, draw
from whycite.lab.train.citeweights import LabelledFeatures, fit, ranks
from whycite.library import Library, add_documents
from whycite.library.encoding import encoder_of
from whycite.library.tables import identifier

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
OWN = ("own", "own_coverage", "own_lexical")
MAX_LOSS = 0.005  # of MRR on papers that are only cited, which are most of a library
SOURCES = ("citing sentences", "title", "own words")


@dataclass(frozen=True, slots=True)
class CitingClaim:
    """A sentence and the papers of the library that it cites."""

    text: str
    truth: Collection[str]
    is_reported: bool


def read_articles(numbers: Sequence[int]) -> list[Document]:
    """The articles of some files of eLife, of which the first has the newest."""
    return [document for number in numbers for document in stream(DATA / "elife" / f"elife-{number:02}.jsonl.zst")]


def claims_of(articles: Sequence[Document], papers: Collection[str]) -> list[CitingClaim]:
    """The sentences that cite one of the papers, without their citations."""
    claims = []
    for article in articles:
        keys = {reference.id: paper_key(reference) for reference in article.references}
        is_reported = bool(blake2b(article.paper.title.encode(), digest_size=1).digest()[0] % 2)
        for sentence in article.sentences:
            truth = {keys[id] for id in sentence.cited_keys if keys.get(id) in papers}
            if truth and any(map(str.isalpha, sentence.without_citations())):
                claims.append(CitingClaim(sentence.without_citations(), truth, is_reported))
    return claims


def without_abstract(document: Document) -> Document:
    """The document with its own abstract and those of its references unknown."""
    references: list[Reference] = [replace(reference, abstract="") for reference in document.references]
    return replace(document, paper=replace(document.paper, abstract=""), references=tuple(references))


def label(library: Library, claims: Sequence[CitingClaim]) -> list[LabelledFeatures]:
    """The features of all candidates of each claim."""
    method = EvidenceSum(library, encoder_of(library.encoder, library.path))
    labelled = []
    for claim in claims:
        features = method.features(Claim(claim.text))
        labelled.append(LabelledFeatures(features, np.isin(features.papers, [identifier(key) for key in claim.truth])))
    return labelled


def narrow(claim: LabelledFeatures, sources: Collection[str]) -> LabelledFeatures:
    """The claim as if there were evidence of these sources alone."""
    features = claim.features
    rows = np.isin(np.select([features.spans == TITLE, features.spans == PASSAGE], [1, 2]), _numbers(sources))
    has_rows = np.zeros(len(features.papers), bool)
    has_rows[features.paper_index[rows]] = True
    bare: RankingFeatures = replace(
        features, paper_index=features.paper_index[rows], spans=features.spans[rows], evidence=features.evidence[rows]
    ).select_papers(has_rows)
    return LabelledFeatures(bare, claim.relevant[has_rows])


def _numbers(sources: Collection[str]) -> list[int]:
    return [number for number, source in enumerate(SOURCES) if source in sources]


def row(name: str, labelled: Sequence[LabelledFeatures], sources: Collection[str], weights: RankingWeights) -> str:
    """A line of the table."""
    if "title" not in sources:
        weights = replace(weights, about=0.0)
    best_ranks = ranks([narrow(claim, sources) for claim in labelled], weights)
    values = [1 / rank if rank else 0.0 for rank in best_ranks]
    interval = bootstrap(values)
    recall = sum(0 < rank <= 10 for rank in best_ranks) / len(best_ranks)
    return f"{name:<48}{np.mean(values):>8.3f} ({interval.low:.3f}–{interval.high:.3f}){recall:>8.3f}"


def mean_reciprocal_rank(labelled: Sequence[LabelledFeatures], weights: RankingWeights) -> float:
    """The MRR of claims with all their evidence."""
    return float(np.mean([1 / rank if rank else 0.0 for rank in ranks(labelled, weights)]))


def lower_own(weights: RankingWeights, cited_claims: Sequence[LabelledFeatures]) -> RankingWeights:
    """The weights, with less for own words until claims on papers that are only cited lose next to nothing."""
    bare = [narrow(claim, SOURCES[:2]) for claim in cited_claims]
    least = mean_reciprocal_rank(bare, weights) - MAX_LOSS
    while (mrr := mean_reciprocal_rank(cited_claims, weights)) < least:
        print(
            f"own {weights.own:.2f}: papers that are only cited MRR {mrr:.3f}, without own words {least + MAX_LOSS:.3f}"
        )
        weights = replace(weights, own=weights.own - 0.5)
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="where libraries are kept")
    parser.add_argument("--files", type=int, default=6, help="files of 400 older articles to choose from")
    given = parser.parse_args()
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    newest = read_articles((0, 1))
    cited = {paper_key(reference) for article in newest for reference in article.references if "elife" in reference.doi}
    older = [article for article in read_articles(range(3, 3 + given.files)) if paper_key(article.paper) in cited]
    own = {paper_key(article.paper) for article in older}
    others = {paper_key(reference) for article in older for reference in article.references} - own
    claims = claims_of(newest, own)
    # Claims on papers that the library cites but does not have, so that having a paper is no sign of being right.
    cited_claims = draw(claims_of(newest, others), lambda claim: claim.text, len(claims), 0)
    for name, documents in {"full": older, "bare": [*map(without_abstract, older)]}.items():
        add_documents(given.work / name, documents, jobs=1)
    full, bare = (Library.open(given.work / name) for name in ("full", "bare"))
    weights = stored_with(encoder_of(full.encoder, full.path)).weights
    fitting = [label(full, [claim for claim in some if not claim.is_reported]) for some in (claims, cited_claims)]
    fitted = lower_own(fit(fitting[0], weights, OWN, fitting[1:]), fitting[1])
    print(f"papers whose full text is there, on the claims to fit: MRR {mean_reciprocal_rank(fitting[0], fitted):.3f}")
    print("weights of own words: " + ", ".join(f"{name} {getattr(fitted, name):.3f}" for name in OWN))
    print(f"{len(older)} articles, {sum(map(len, fitting))} claims to fit; MRR (95 %), R@10")
    for name, some in (("papers whose full text is there", claims), ("papers that are only cited", cited_claims)):
        reported = [claim for claim in some if claim.is_reported]
        by_title, by_abstract = label(bare, reported), label(full, reported)
        print(f"{len(reported)} claims on {name}")
        print(row("citing sentences alone", by_abstract, SOURCES[:1], fitted))
        print(row("title alone", by_title, SOURCES[1:2], fitted))
        print(row("title and abstract alone", by_abstract, SOURCES[1:2], fitted))
        print(row("own words alone", by_abstract, SOURCES[2:], fitted))
        print(row("citing sentences and title", by_title, SOURCES[:2], fitted))
        print(row("+ abstract", by_abstract, SOURCES[:2], fitted))
        print(row("+ own words", by_abstract, SOURCES, fitted))
        print(row("+ own words, with the weights as shipped", by_abstract, SOURCES, weights))


if __name__ == "__main__":
    main()
