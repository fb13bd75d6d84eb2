"""A Ray cluster makes the library that one process makes, whatever happens to its processes."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeEncoder, hashing_encoder
from tests.library.mortal import start_mortal, write_papers
from whycite.errors import MissingExtra, UserError
from whycite.library import Library, add, add_on_cluster
from whycite.library.cluster import LOCAL

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)  # Ray's
Read = Callable[[Path], Any]


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """A cluster of two cores."""
    ray = start_mortal(address="local", num_cpus=2, include_dashboard=False)
    yield ray
    ray.shutdown()


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """A folder of 40 papers."""
    return write_papers(tmp_path / "papers", 40)


@pytest.fixture(name="fake")
def _fake() -> FakeEncoder:
    return hashing_encoder()


def test_without_the_extra_the_install_line_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'whycite\[scale\]'"):
        add_on_cluster(tmp_path / "library", [tmp_path], LOCAL)


def test_standard_input_is_for_one_machine(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="standard input cannot be read by other machines"):
        add_on_cluster(tmp_path / "library", ["-"], LOCAL)


@pytest.mark.slow
def test_no_cluster_at_an_address(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    with pytest.raises(UserError, match="start one with: ray start --head"):
        add_on_cluster(tmp_path / "library", [tmp_path], "127.0.0.1:1")


@pytest.mark.slow
def test_the_library_is_that_of_one_process(
    tmp_path: Path, papers: Path, fake: FakeEncoder, ray: Any, content: Read
) -> None:
    archive = tmp_path / "bees.md"
    archive.write_text("Bees sleep at night [@x].")
    inputs = [papers, archive, papers / "1"]
    add(tmp_path / "plain", inputs, encoder=fake)
    report = add_on_cluster(tmp_path / "cluster", inputs, LOCAL, encoder=hashing_encoder())
    assert (report.added, report.unchanged) == (41, 8)
    assert content(tmp_path / "cluster") == content(tmp_path / "plain")
    again = add_on_cluster(tmp_path / "cluster", inputs, LOCAL, encoder=hashing_encoder())
    assert (again.added, again.unchanged) == (0, 49)
    assert content(tmp_path / "cluster") == content(tmp_path / "plain")


@pytest.mark.slow
def test_a_second_run_adds_what_a_first_left(
    tmp_path: Path, papers: Path, fake: FakeEncoder, ray: Any, content: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whycite.library.adding.BATCH_DOCUMENTS", 8)

    def stop(progress: Any) -> None:
        if progress.added >= 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        add_on_cluster(tmp_path / "cluster", [papers], LOCAL, encoder=fake, progress=stop)
    assert 16 <= Library.open(tmp_path / "cluster").info().documents < 40
    report = add_on_cluster(tmp_path / "cluster", [papers], LOCAL, encoder=fake)
    assert report.added + report.unchanged == 40
    assert report.unchanged >= 16
    add(tmp_path / "plain", [papers], encoder=fake)
    assert content(tmp_path / "cluster") == content(tmp_path / "plain")


@pytest.mark.slow
def test_a_document_that_ends_its_process_is_skipped(
    tmp_path: Path, papers: Path, fake: FakeEncoder, ray: Any, content: Read
) -> None:
    add(tmp_path / "plain", [papers], encoder=fake)
    for name in ("1/paper11a.md", "4/zoo.md"):
        (papers / name).write_text("Some cells are POISON for others [@x].\n")
    report = add_on_cluster(tmp_path / "cluster", [papers], LOCAL, encoder=hashing_encoder())
    assert sorted((Path(path).name, reason.partition(": ")[2]) for path, reason in report.skipped) == [
        ("paper11a.md", "ended its process 3 times"),
        ("zoo.md", "ended its process 3 times"),
    ]
    assert report.added == 40
    assert content(tmp_path / "cluster") == content(tmp_path / "plain")
