"""Real drafts run through, and what is found stands where it says."""

import time
from pathlib import Path

import pytest

from tests.fakes import FakeDetector, FakeEncoder
from whycite.check.findings import CheckedDraft, checked_draft_json
from whycite.check.pipeline import check_draft
from whycite.cli.terminal import json_line
from whycite.documents.sources import decode

SOME = ("bayes-vis", "emerick-2018a-bbl", "joss-bumbl", "monero-0003", "hogg-decision", "exoabc-early")


def stands_right(checked: CheckedDraft) -> None:
    texts: dict[str, list[str]] = {}
    for finding in checked.findings:
        if finding.file not in texts:
            texts[finding.file] = decode(Path(finding.file).read_bytes())[0].splitlines()
        assert 1 <= finding.line <= finding.end_line <= len(texts[finding.file])
        assert 0 <= finding.worthiness <= 1
        assert len({proposal.key for proposal in finding.recommendations}) == len(finding.recommendations)
        assert (finding.kind == "cited") == bool(finding.cites) or finding.kind == "cited"
    json_line(checked_draft_json(checked))


@pytest.mark.parametrize("name", SOME)
def test_some_drafts_run_through(data: Path, name: str, detector: FakeDetector, encoder: FakeEncoder) -> None:
    checked = check_draft(data / "drafts" / name, detector=detector, encoder=encoder, all=True, threshold=0.05)
    assert len(checked.findings) == len(checked.document.sentences)
    stands_right(checked)


@pytest.mark.slow
def test_all_drafts_run_through(data: Path) -> None:
    drafts = sorted(path for path in (data / "drafts").iterdir() if path.is_dir())
    assert len(drafts) == 62
    for draft in drafts:
        stands_right(check_draft(draft, use_library=False))


def test_a_huge_bibliography_does_not_freeze_it(tmp_path: Path, detector: FakeDetector, encoder: FakeEncoder) -> None:
    entry = (
        "@article{{k{0},\n author={{Doe{0}, Jane}}, title={{Growth of cells number {0} in ponds}}, year={{2001}},\n}}\n"
    )
    (tmp_path / "refs.bib").write_text("".join(entry.format(number) for number in range(6_000)), "utf-8")
    claims = "".join(f"It is known that cells number {number} grow.\n" for number in range(20))
    (tmp_path / "draft.md").write_text(f"---\nbibliography: refs.bib\n---\n\n# Introduction\n\n{claims}", "utf-8")
    start = time.process_time()
    checked = check_draft(tmp_path / "draft.md", detector=detector, encoder=encoder)
    assert time.process_time() - start < 20
    assert len(encoder.asked) < 4_500
    assert checked.findings[7].recommendations[0].key == "k7"
