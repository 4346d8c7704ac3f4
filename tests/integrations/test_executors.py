"""Dask's and loky's workers count: the same digest, also when one of them is killed in the middle."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from integrations.needs import needs

import deadheat as dh
from deadheat.engine.counting.cluster import n_worker

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Dask's sockets and processes, which it closes late
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    pytest.importorskip("distributed", reason=needs("distributed").kwargs["reason"])
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=60, memory_limit=0
    )
    with cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def samples() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.integers(-50, 51, (1500, 8)).astype(np.float32), rng.integers(0, 100, 1500)


def test_the_profile_is_the_same_for_arrays_and_files(
    client: Any, samples: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    rows, labels = samples
    executor = client.get_executor(pure=False, retries=2)
    assert n_worker(executor) == 2
    np.save(tmp_path / "emb.npy", rows)
    gallery, gallery_labels = rows[::-1][:1200] + 1, labels[::-1][:1200]
    for given in ((rows, labels), (tmp_path / "emb.npy", labels), (rows, labels, gallery, gallery_labels)):
        alone = dh.profile(*given)
        cluster = dh.Cluster(executor, scratch=tmp_path, tasks=6, gallery_items=1000)
        assert dh.profile(*given, executor=cluster).digest() == alone.digest()


@pytest.fixture
def loky_executor() -> Iterator[Any]:
    """A function that makes an executor: loky replaces a broken one by another."""
    loky = pytest.importorskip("loky", reason=needs("loky").kwargs["reason"])
    yield lambda: loky.get_reusable_executor(2, timeout=30)
    loky.get_reusable_executor(2).shutdown(wait=True, kill_workers=True)


@pytest.mark.parametrize("library", ["dask", "loky"])
@pytest.mark.filterwarnings("ignore:A worker stopped while some jobs:UserWarning")
def test_a_worker_that_is_killed_in_the_middle(
    library: str, samples: tuple[np.ndarray, np.ndarray], request: pytest.FixtureRequest
) -> None:
    killed: list[int] = []
    if library == "dask":
        client = request.getfixturevalue("client")
        executor = client.get_executor(pure=False, retries=2)
        pids = list(client.run(os.getpid).values())
    else:
        executor, pids = request.getfixturevalue("loky_executor"), None
        assert n_worker(executor()) == 2

    def progress(done: int, total: int) -> None:
        if done and not killed:
            killed.extend(pids[:1] if pids else [next(iter(executor()._processes))])
            os.kill(killed[0], signal.SIGKILL)

    found = dh.profile(*samples, executor=dh.Cluster(executor, tasks=15), progress=progress)
    assert killed
    assert found.digest() == dh.profile(*samples).digest()


@needs("fsspec")
def test_the_page_runs_as_it_is_written(client: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """But for its addresses. The files that it names exist, and no others; a pattern matches two."""
    page = Path(__file__).parents[2] / "docs" / "how-to" / "cluster.md"
    code = re.search(r"^```\n(from dask\.distributed.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    assert code is not None
    text = code[1]
    local = {"tcp://scheduler:8786": client.scheduler.address, "s3://bucket": f"file://{tmp_path}", "/shared": tmp_path}
    for address, here in local.items():
        assert address in text
        text = text.replace(address, str(here))
    rng = np.random.default_rng(4)
    for name in re.findall(r'"s3://bucket/(.*?)"', code[1]):
        for path in {tmp_path / name.replace("*", number) for number in "01"}:
            np.save(path, rng.integers(0, 5, 40 if "labels" in name else (40, 8)))
    (tmp_path / "scratch").mkdir()
    found: dict[str, Any] = {}
    exec(compile(text, str(page), "exec"), found)
    try:
        assert found["report"].profile.n_query == 40
        assert found["cluster"].summary.pairs == 40 * 80
        assert str(found["cluster"].summary) in capsys.readouterr().out
    finally:
        found["client"].close()


@needs("distributed", "sklearn")
def test_the_example() -> None:
    script = Path(__file__).parents[2] / "examples" / "dask_workers.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("The same profile as in one process: True\n")
    assert "1797 queries" in done.stdout
