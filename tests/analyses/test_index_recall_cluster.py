"""The exact search of `index_recall` on an executor: the same bits, whoever searches, in tasks of equal size."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.analyses.index_recall import IndexRecall
from deadheat.engine.counting.distributed import worker
from deadheat.errors import ClusterError, InvalidValueError


def made(n_query: int, n_base: int, *, seed: int = 0, bits: bool = False) -> tuple[Any, Any, dict[str, Any]]:
    """Points on a grid, and two indexes: one that returns lists of any length, one of rows that are full."""
    rng = np.random.default_rng(seed)
    queries, base = (rng.integers(-2, 3, (n, 6)).astype(np.float32) for n in (n_query, n_base))
    ragged = [rng.permutation(n_base)[: rng.integers(0, 20)].tolist() for _ in range(n_query)]
    full = np.stack([rng.permutation(n_base)[:12] for _ in range(n_query)])
    both = {"ragged": ragged, "full": full}
    return (queries > 0, base > 0, both) if bits else (queries, base, both)


def require_same(found: IndexRecall, alone: IndexRecall) -> None:
    assert found.n_tied == alone.n_tied
    assert alone.n_tied > 0
    for name, recall in alone.recalls.items():
        for values, wanted in zip(found[name].by_id, recall.by_id, strict=True):
            assert_array_equal(values, wanted)
    assert str(found) == str(alone)


class Counted(Executor):
    """Knows the arguments of the tasks that it has handed on, and refuses the first ones."""

    def __init__(self, executor: Executor, n_failing: int = 0) -> None:
        self.executor, self.n_failing = executor, n_failing
        self.tasks: list[tuple[Any, ...]] = []

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.tasks.append(args[1:])
        if len(self.tasks) <= self.n_failing:
            failed: Future[Any] = Future()
            failed.set_exception(OSError("the network is gone"))
            return failed
        return self.executor.submit(function, *args, **kwargs)


@pytest.mark.parametrize(
    ("distance", "tasks"), [("cosine", None), ("euclidean", 1), ("cityblock", 7), ("hamming", 1000)]
)
def test_workers_find_the_same(distance: str, tasks: int | None) -> None:
    queries, base, returned = made(90, 300, bits=distance == "hamming")
    given = {"distance": distance, "exclude": np.where(np.arange(90) % 3, -1, np.arange(90))}
    alone = dh.index_recall(returned, queries, base, **given)
    with ThreadPoolExecutor(2) as threads:
        cluster = dh.Cluster(threads, tasks=tasks)
        require_same(dh.index_recall(returned, queries, base, **given, executor=cluster), alone)
    assert cluster.summary is not None
    assert cluster.summary.tasks == {None: 1, 1: 1, 7: 7, 1000: 90}[tasks]
    assert cluster.summary.pairs == 90 * 300
    assert worker._open == []


@pytest.mark.slow
def test_processes_find_the_same_in_tasks_of_equal_size(tmp_path: Path) -> None:
    """Two million pairs were one task."""
    queries, base, returned = made(1000, 2000)
    alone = dh.index_recall(returned, queries, base, distance="euclidean", threads=2)
    np.save(tmp_path / "base.npy", base)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        counted = Counted(executor)
        file = tmp_path / "base.npy"
        require_same(dh.index_recall(returned, queries, file, distance="euclidean", executor=counted, threads=1), alone)
    assert len(counted.tasks) == 2
    assert {stop - start for start, stop in counted.tasks} == {500}


def test_ids_of_strings_and_files_of_codes(tmp_path: Path) -> None:
    queries, base, returned = made(40, 100, bits=True)
    names = [f"item {number}" for number in range(100)]
    named = [[names[item] for item in row] for row in returned["full"]]
    np.save(tmp_path / "base.npy", np.packbits(base, axis=1))
    given = {"distance": "hamming", "base_ids": names}
    codes = np.packbits(queries, axis=1)
    alone = dh.index_recall(named, codes, np.packbits(base, axis=1), **given)
    with ThreadPoolExecutor(2) as threads:
        require_same(dh.index_recall(named, codes, tmp_path / "base.npy", **given, executor=threads), alone)


def test_failures_progress_and_what_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queries, base, returned = made(60, 80)
    told: list[tuple[int, int]] = []
    with ThreadPoolExecutor(2) as threads:
        given = {"distance": "cosine"}
        cluster = dh.Cluster(Counted(threads, 2), tasks=6, scratch=tmp_path, in_flight=1)
        found = dh.index_recall(
            returned, queries, base, **given, executor=cluster, progress=lambda *state: told.append(state)
        )
        require_same(found, dh.index_recall(returned, queries, base, **given))
        assert cluster.summary is not None
        assert cluster.summary.retries == 2
        assert (told[0], told[-1], len(told)) == ((0, 4800), (4800, 4800), 7)
        dh.index_recall(returned, queries, base, **given, executor=cluster, progress=True)
        assert capsys.readouterr().err.splitlines()[-1] == str(cluster.summary)
        failing = dh.Cluster(Counted(threads, 3), tasks=1, scratch=tmp_path, in_flight=1)
        with pytest.raises(ClusterError, match="failed 3 times, at last with OSError: the network is gone"):
            dh.index_recall(returned, queries, base, **given, executor=failing)
    assert list(tmp_path.iterdir()) == []


def test_what_is_wrong_is_said_before_any_task() -> None:
    queries, base, returned = made(9, 30)
    with ThreadPoolExecutor(1) as threads:
        executor = Counted(threads)
        with pytest.raises(
            InvalidValueError, match="queries and base must have the same dim, but have 5 and 6 columns"
        ):
            dh.index_recall(returned, queries[:, :5], base, distance="cosine", executor=executor)
        with pytest.raises(InvalidValueError, match="has 9 for 8 queries"):
            dh.index_recall(returned, queries[:8], base, distance="cosine", executor=executor)
        with pytest.raises(dh.errors.InvalidTypeError, match="executor must be an executor"):
            dh.index_recall(returned, queries, base, distance="cosine", executor=3)
    assert executor.tasks == []
