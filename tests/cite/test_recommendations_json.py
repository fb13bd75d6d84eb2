"""The JSON of a recommendation, key by key."""

import json

import pytest

from whycite.cite.recommendations import Evidence, OwnPassage, Recommendation, recommendation_json
from whycite.library import Paper, SourceDocument


@pytest.fixture
def recommendation() -> Recommendation:
    paper = Paper("doi:10.1/x", "On cells", ("Doe, Jane", "Müller, K"), 2010, "Cell", "10.1/x", "An abstract.")
    evidence = Evidence("cells", 0.5, "It is about cells.", SourceDocument("doi:10.1/y", "Elsewhere", None))
    own = OwnPassage("Cells divide.", 0.5, "Results", 3)
    return Recommendation(1, 12.5, 3, paper, (evidence,), {"title": 10.0, "support": 2.5}, 0.8, 2, (own,), False)


def test_the_keys_of_the_interface(recommendation: Recommendation) -> None:
    assert recommendation_json(recommendation) == {
        "rank": 1,
        "score": 12.5,
        "fits": 0.8,
        "support": 3,
        "citing_documents": 2,
        "title_matches": False,
        "paper": {
            "key": "doi:10.1/x",
            "title": "On cells",
            "authors": ["Doe, Jane", "Müller, K"],
            "year": 2010,
            "venue": "Cell",
            "doi": "10.1/x",
        },
        "evidence": [
            {
                "span": "cells",
                "score": 0.5,
                "sentence": "It is about cells.",
                "source": {"key": "doi:10.1/y", "title": "Elsewhere", "year": None},
            }
        ],
        "passages": [{"text": "Cells divide.", "score": 0.5, "section": "Results", "page": 3}],
    }


def test_explained(recommendation: Recommendation) -> None:
    explained = recommendation_json(recommendation, explain=True)
    assert explained.pop("explain") == {"title": 10.0, "support": 2.5}
    assert explained == recommendation_json(recommendation)


def test_it_is_json(recommendation: Recommendation) -> None:
    found = recommendation_json(recommendation, explain=True)
    assert json.loads(json.dumps(found)) == found
