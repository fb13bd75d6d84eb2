"""A machine of a Ray cluster that is lost costs time only."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import hashing_encoder
from tests.library.mortal import start_mortal, write_papers
from whycite.library import add, add_on_cluster

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)  # Ray's


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("nodes", [2, 4])
def test_a_machine_that_is_lost_costs_time_only(nodes: int, tmp_path: Path, content: Callable[[Path], Any]) -> None:
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    papers = write_papers(tmp_path / "papers", 40)
    for paper in papers.rglob("*.md"):
        paper.write_text(paper.read_text() + "\nSome cells are SLOW.\n")
    add(tmp_path / "plain", [papers], encoder=hashing_encoder())
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    machines = [cluster.add_node(num_cpus=1) for _ in range(nodes - 1)]
    killer = threading.Thread(target=lambda: cluster.remove_node(machines[0], allow_graceful=False))
    try:
        start_mortal(address=cluster.address)
        started = False

        def kill_one(progress: Any) -> None:
            nonlocal started
            if not started:
                started = True
                killer.start()

        report = add_on_cluster(
            tmp_path / "cluster", [papers], cluster.address, encoder=hashing_encoder(), progress=kill_one
        )
        killer.join()
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert (report.added, report.skipped) == (40, [])
    assert content(tmp_path / "cluster") == content(tmp_path / "plain")
