"""Whatever is added and removed in whatever order and portions: what counts is what is there in the end."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.thoroughness import examples
from whycite.documents.model import Document, Reference
from whycite.library import add_documents, adding, maintenance, remove

Make = Callable[..., Document]
Read = Callable[[Path], Any]
STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "remove"]), st.sets(st.integers(0, 6), min_size=1, max_size=4)),
    min_size=1,
    max_size=5,
)
GROWTH = {"title": "The slow growth of cells in very cold ponds", "authors": ("Doe, J.",)}
# Papers 5 and 6 cite a preprint and its published version, which are one paper only where both are there.
VERSIONS = {5: Reference("v", doi="10.1234/growth", year=2012, **GROWTH), 6: Reference("v", arxiv="1101.1", **GROWTH)}  # type: ignore[arg-type]


def _papers(numbered: Make, make: Make) -> list[Document]:
    versions = [
        make(f"paper{at}.md", f"Claim {at} “holds” [@v].", references=[work], title=f"T {at}", doi=f"10.7/{at}")
        for at, work in VERSIONS.items()
    ]
    return [*(numbered(at) for at in range(5)), *versions]


@settings(
    max_examples=examples(12),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS, batch=st.integers(1, 4), pieces=st.integers(1, 5))
def test_any_way_there_is_the_same(
    encoder: Any, numbered: Make, make: Make, content: Read, steps: Any, batch: int, pieces: int
) -> None:
    papers = _papers(numbered, make)
    held: set[int] = set()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        place, fresh = Path(folder, "library"), Path(folder, "fresh")
        with pytest.MonkeyPatch.context() as small:
            small.setattr(adding, "BATCH_DOCUMENTS", batch)
            small.setattr(maintenance, "MAX_FRAGMENTS", pieces)
            for step, some in steps:
                if step == "add":
                    add_documents(place, [papers[at] for at in sorted(some)], jobs=1, encoder=encoder)
                    held |= some
                elif held & some:
                    remove(place, [papers[at].path for at in sorted(held & some)])
                    held -= some
        patch.setattr(adding, "BATCH_DOCUMENTS", 32)
        if held:
            add_documents(fresh, [papers[at] for at in sorted(held, reverse=True)], jobs=1, encoder=encoder)
            assert content(place) == content(fresh)
        elif place.exists():
            assert not any(content(place).values())
