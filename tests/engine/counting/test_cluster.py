"""Counting on an executor: the profile of one machine, whoever counts, dies, or never answers on the way."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from keyed import profiled

import deadheat as dh
from deadheat.engine.counting import layout
from deadheat.engine.counting.distributed import running, worker
from deadheat.errors import ClusterError, InvalidTypeError, InvalidValueError
from deadheat.inputs import disk

SPAWN = multiprocessing.get_context("spawn")  # what runs threads must not be forked


def processes() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=SPAWN)


def samples(n: int, seed: int = 0, dim: int = 4, size: int = 3, classes: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Small integers, of which many are equally far from each other, and some are equal."""
    rng = np.random.default_rng(seed)
    return rng.integers(-size, size + 1, (n, dim)).astype(np.float32), rng.integers(0, classes, n)


def skewed(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Half of all samples in one class, and many alone."""
    rows, _ = samples(n, size=40)
    labels = np.arange(n)
    labels[: n // 2] = n
    labels[n // 2 : 3 * n // 4] //= 4
    return rows, np.random.default_rng(1).permutation(labels)


@pytest.fixture
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that small data has many blocks and tiles; workers are threads of this process."""
    for name, value in {"BLOCK_ROWS": 8, "TILE_COLUMNS": 16}.items():
        monkeypatch.setattr(layout, name, value)
    monkeypatch.setattr(running, "_QUERIES", 16)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as executor:
        yield executor


class Watched(Executor):
    """Hands tasks on, or in their place what `watch` makes of number and task: another function, or a future."""

    def __init__(self, executor: Executor, watch: Callable[..., Any] = lambda number, function, *args: None) -> None:
        self.executor, self.watch, self.n = executor, watch, 0

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        assert not kwargs
        self.n += 1
        instead = self.watch(self.n - 1, function, *args)
        return instead if isinstance(instead, Future) else self.executor.submit(instead or function, *args)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.executor.shutdown(wait, cancel_futures=cancel_futures)


def with_tasks(executor: Executor, numbers: set[int], instead: Callable[..., Any]) -> Watched:
    """In these tasks, another function or a future is in the place of the task."""
    return Watched(executor, lambda number, *_: instead() if number in numbers else None)


def fails() -> Future[Any]:
    failed: Future[Any] = Future()
    failed.set_exception(OSError("the network is gone"))
    return failed


def breaks() -> Future[Any]:
    broken: Future[Any] = Future()
    broken.set_exception(BrokenExecutor("a worker died"))
    return broken


def die(*_: Any) -> None:
    """The worker kills itself: from outside it could come while the worker holds the lock of a queue, or has sent half
    an answer, and concurrent.futures then waits forever."""
    os.kill(os.getpid(), signal.SIGKILL)


def same(workers: Any, *given: Any, **options: Any) -> None:
    """The profile is that of this process alone."""
    assert profiled(*given, **options, executor=workers) == profiled(*given, **options)


# The same profile ---------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("ties", ["exact", "float16", dh.Tolerance(0.25)], ids=str)
@pytest.mark.parametrize("size", [1, 100], ids=["many equal rows", "no equal rows"])
def test_leave_one_out_adds_up(ties: Any, size: int, threads: ThreadPoolExecutor) -> None:
    for tasks in (1, 3, 10):
        cluster = dh.Cluster(threads, tasks=tasks)
        same(cluster, *samples(120, size=size), distance="euclidean", ties=ties)
        assert cluster.summary is not None
        assert (cluster.summary.tasks, cluster.summary.retries, cluster.summary.pairs) == (tasks, 0, 120**2)


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("distance", ["cosine", "cityblock"])
def test_a_gallery_adds_up_with_junk_and_rows_left_out(distance: str, threads: ThreadPoolExecutor) -> None:
    rng = np.random.default_rng(5)
    given = *samples(60, 1), *samples(150, 2, size=1, classes=40)
    for junk in (None, rng.random(150) < 0.2, rng.random((60, 150)) < 0.2):
        exclude = np.where(rng.random(60) < 0.3, rng.integers(0, 150, 60), -1)
        for tasks in (1, 5, 12):
            same(dh.Cluster(threads, tasks=tasks), *given, distance=distance, junk=junk, exclude=exclude)


@pytest.mark.usefixtures("_small_blocks")
def test_skewed_classes_binary_codes_and_reports_are_the_same(threads: ThreadPoolExecutor) -> None:
    rows, labels = skewed(160)
    same(dh.Cluster(threads, tasks=10), rows, labels)
    same(dh.Cluster(threads, tasks=10), rows > 0, labels, distance="hamming")
    report = dh.evaluate(rows, labels, average="class", executor=threads)
    assert report.to_dict() == dh.evaluate(rows, labels, average="class").to_dict()


@pytest.mark.parametrize(("n_query", "n_gallery", "n_task"), [(0, 1400, 3), (1000, 2000, 2), (100, 20_000, 2)])
def test_two_million_pairs_keep_two_workers_busy(
    n_query: int, n_gallery: int, n_task: int, threads: ThreadPoolExecutor
) -> None:
    """In leave one out, of two groups: two tasks within them, and one as large as both between them."""
    queries = samples(n_query, 1, size=50, classes=n_gallery) if n_query else ()
    cluster = dh.Cluster(threads)
    same(cluster, *queries, *samples(n_gallery, size=50, classes=n_gallery))
    assert cluster.summary is not None
    assert cluster.summary.tasks == n_task


@pytest.mark.usefixtures("_small_blocks")
def test_queries_without_anything_relevant(threads: ThreadPoolExecutor) -> None:
    rows, _ = samples(30)
    same(threads, rows, np.arange(30))
    same(threads, rows, np.arange(30), rows[:7] + 1, np.arange(23, 30))


def test_processes_open_files_where_they_are(tmp_path: Path) -> None:
    rows, labels = samples(900, size=50)
    alone = profiled(rows, labels)
    np.save(tmp_path / "emb.npy", rows)
    parts = [tmp_path / f"emb-{number}.npy" for number in range(2)]
    for path, part in zip(parts, np.split(rows, 2), strict=True):
        np.save(path, part)
    with processes() as executor:
        cluster = dh.Cluster(executor, tasks=6)
        for given in (rows, tmp_path / "emb.npy", parts, np.load(tmp_path / "emb.npy", mmap_mode="r")[:]):
            assert profiled(given, labels, executor=cluster) == alone


@pytest.mark.parametrize("memory", [0, 1 << 40], ids=["large files", "small files"])
def test_files_are_mapped_as_a_whole_or_read_in_pieces_and_views_opened_where_they_are(
    memory: int, tmp_path: Path, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "available_memory", lambda: memory)
    rows, labels = samples(200, size=50)
    cluster = dh.Cluster(threads, tasks=3)
    for number, dtype in enumerate((np.float32, np.float64, ">f4", np.int8)):
        np.save(tmp_path / f"{number}.npy", rows.astype(dtype))
        assert profiled(tmp_path / f"{number}.npy", labels, executor=cluster) == profiled(rows, labels)
    mapped = np.load(tmp_path / "0.npy", mmap_mode="r")
    for view, of_view in ((mapped[37:], labels[37:]), (mapped[::2], labels[::2])):
        assert profiled(view, of_view, executor=cluster) == profiled(np.array(view), of_view)


def test_scratch_is_used_and_left_empty(tmp_path: Path, threads: ThreadPoolExecutor) -> None:
    rows, labels = samples(100)
    seen: list[int] = []

    def progress(done: int, total: int) -> None:
        seen.append(len(list(tmp_path.glob("deadheat-job-*/*"))))

    profiled(rows, labels, progress=progress, executor=dh.Cluster(threads, scratch=tmp_path, tasks=3))
    assert seen == [2, 2, 2, 2]  # rows and classes
    assert list(tmp_path.iterdir()) == []
    assert worker._open == {}


def test_files_at_urls_are_fetched_by_the_caller_and_written_for_the_workers(
    tmp_path: Path, threads: ThreadPoolExecutor
) -> None:
    pytest.importorskip("fsspec", reason="needs the extra 'files'")
    rows, labels = samples(300, size=50)
    np.save(tmp_path / "emb.npy", rows)
    written: list[int] = []
    watched = Watched(threads, lambda *_: written.append(len(list(tmp_path.glob("deadheat-job-*/*.rows")))))
    cluster = dh.Cluster(watched, scratch=tmp_path, tasks=3)
    assert profiled(f"file://{tmp_path}/emb.npy", labels, executor=cluster) == profiled(rows, labels)
    assert written == [1, 1, 1]


# What goes wrong ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_worker_is_replaced_where_a_function_makes_executors(tmp_path: Path) -> None:
    rows, labels = samples(1500, classes=500)
    made: list[Watched] = []

    def make() -> Watched:
        made.append(with_tasks(processes(), set() if made else {5}, lambda: die))
        return made[-1]

    cluster = dh.Cluster(make, tasks=10)
    found = profiled(rows, labels, executor=cluster, checkpoint=tmp_path / "kept")
    assert found == profiled(rows, labels)
    assert len(made) == 2
    assert cluster.summary.retries > 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_worker_ends_a_run_on_an_executor_that_was_given_and_a_checkpoint_goes_on(tmp_path: Path) -> None:
    rows, labels = samples(1500, classes=500)
    with processes() as executor:
        cluster = dh.Cluster(with_tasks(executor, {5}, lambda: die), tasks=10)
        with pytest.raises(ClusterError, match=r"died .* after \d+ of 10 tasks, .* a function that makes one, or give"):
            profiled(rows, labels, executor=cluster, checkpoint=tmp_path / "kept")
    with ThreadPoolExecutor(1) as executor:
        cluster = dh.Cluster(executor, tasks=10)
        again = profiled(rows, labels, executor=cluster, checkpoint=tmp_path / "kept")
    assert again == profiled(rows, labels)
    assert cluster.summary.tasks < 10  # the others were kept
    with pytest.raises(InvalidValueError, match="tasks is '4 x 4' there"):
        profiled(rows, labels, executor=dh.Cluster(executor, tasks=3), checkpoint=tmp_path / "kept")


@pytest.mark.parametrize(("n_broken", "n_retry"), [(2, 2), (3, 2), (1, 0), (0, 0)])
def test_executors_that_break_without_an_answer_are_replaced_so_many_times(
    n_broken: int, n_retry: int, threads: ThreadPoolExecutor
) -> None:
    made: list[Watched] = []

    def make() -> Watched:
        made.append(with_tasks(threads, set(range(3)) if len(made) < n_broken else set(), breaks))
        made[-1].shutdown = lambda *_, **__: None  # type: ignore[method-assign]
        return made[-1]

    cluster = dh.Cluster(make, tasks=3, retries=n_retry)
    if n_broken > n_retry:
        with pytest.raises(ClusterError, match=r"died .* after 0 of 3 tasks, as others did before it"):
            profiled(*samples(100), executor=cluster)
    else:
        same(cluster, *samples(100))
        assert cluster.summary.retries == 3 * n_broken
    assert len(made) == min(n_broken, n_retry) + 1


def test_executors_may_break_as_often_as_they_answer_before(threads: ThreadPoolExecutor) -> None:
    def one_answer(number: int, function: Callable[..., Any], *args: Any) -> Future[Any]:
        answered: Future[Any] = Future()
        answered.set_result(function(*args) if number == 0 else None)
        return breaks() if number else answered

    class Lasting(Watched):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            pass

    cluster = dh.Cluster(lambda: Lasting(threads, one_answer), tasks=6, retries=1)
    same(cluster, *samples(100))
    assert (cluster.summary.tasks, cluster.summary.retries) == (6, 5 + 4 + 3 + 2 + 1)


def test_tasks_that_fail_are_tried_again_so_many_times(threads: ThreadPoolExecutor) -> None:
    cluster = dh.Cluster(with_tasks(threads, {1, 3}, fails), tasks=3)
    same(cluster, *samples(100))
    assert cluster.summary.retries == 2
    cluster = dh.Cluster(with_tasks(threads, {1, 3, 4}, fails), tasks=3)
    with pytest.raises(ClusterError, match="failed 3 times, at last with OSError: the network is gone"):
        profiled(*samples(100), executor=cluster)


def test_tasks_are_small(threads: ThreadPoolExecutor) -> None:
    sizes: list[int] = []
    watched = Watched(threads, lambda _, *task: sizes.append(len(pickle.dumps(task))))
    profiled(*samples(2000), executor=dh.Cluster(watched, tasks=21))
    assert len(sizes) == 21
    assert max(sizes) < 2000


def test_workers_that_see_no_files_or_are_of_another_version_say_so(
    tmp_path: Path, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete(*_: Any) -> None:
        for path in tmp_path.glob("deadheat-job-*/*"):
            path.unlink()

    def update(*_: Any) -> None:
        monkeypatch.setattr(worker, "version", lambda _: "0.0.9")

    for spoil, message in (
        (delete, r"one does not find .*query_class.npy.* give Cluster\(executor, scratch="),
        (update, r"must have the version of deadheat .* but one has 0\.0\.9"),
    ):
        with pytest.raises(ClusterError, match=message):
            profiled(*samples(50), executor=dh.Cluster(Watched(threads, spoil), scratch=tmp_path))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scratch": "nowhere/at/all"}, "scratch must be a directory that exists, but is 'nowhere/at/all'"),
        ({"scratch": 3}, "scratch must be a path"),
        ({"tasks": 0}, "tasks must be at least 1, but is 0"),
        ({"retries": -1}, "retries must be at least 0"),
    ],
)
def test_options_are_refused_in_one_line(options: Any, message: str, threads: ThreadPoolExecutor) -> None:
    with pytest.raises((InvalidTypeError, InvalidValueError), match=message):
        dh.Cluster(threads, **options)


@pytest.mark.parametrize(
    ("module", "remedy"),
    [
        ("distributed.client", r": Dask's is client.get_executor\(pure=False, retries=2\)$"),
        ("dask.base", ": Dask's is client.get_executor"),
        ("joblib.parallel", r": joblib's is joblib.externals.loky.get_reusable_executor\(max_workers\)$"),
        ("loky.backend", ": loky's is loky.get_reusable_executor"),
        ("mpi4py.MPI", r": mpi4py's is mpi4py.futures.MPIPoolExecutor\(\)$"),
        ("multiprocessing.pool", ": of processes, it is concurrent.futures.ProcessPoolExecutor"),
        ("ray.util.actor_pool", ": Ray has none: .*cluster.md.* four lines that make one$"),
        ("elsewhere", r"but \w+ <.*>$"),
    ],
)
def test_what_is_no_executor_is_refused_with_what_to_give_in_its_place(module: str, remedy: str) -> None:
    kind = type("Thing", (), {"__module__": module, "submit": None, "__call__": lambda self, *jobs: self})
    library = ModuleType(module)
    for value in (kind(), library, kind, lambda: kind(), lambda: library):
        with pytest.raises(InvalidTypeError, match=rf"^executor must be an executor of PEP 3148 .*{remedy}") as error:
            profiled([[0.0]], [0], executor=value)
        assert "\n" not in str(error.value)
    if module != "elsewhere":  # known before it is called
        with pytest.raises(InvalidTypeError, match=f"but is .*{remedy}"):
            dh.Cluster(kind())


@pytest.mark.parametrize("value", [3, "dask", lambda n: processes(), processes().submit, abs, [ThreadPoolExecutor]])
def test_functions_with_arguments_and_other_things_are_no_executors(value: Any) -> None:
    for call in (dh.Cluster, lambda value: profiled([[0.0]], [0], executor=value)):
        with pytest.raises(InvalidTypeError, match=r"executor must be an executor of PEP 3148 .* but is "):
            call(value)


def test_classes_and_functions_that_make_executors(threads: ThreadPoolExecutor) -> None:
    for made in (ThreadPoolExecutor, partial(ThreadPoolExecutor, 2), lambda: ThreadPoolExecutor(1)):
        same(made, *samples(50))


def test_what_does_not_fit_is_refused_before_any_task(threads: ThreadPoolExecutor) -> None:
    executor = Watched(threads)
    with pytest.raises(InvalidValueError, match="dim"):
        dh.Task([[0.0]], [0], [[0.0, 1.0]], [0], executor=executor)
    with pytest.raises(InvalidValueError, match="bool"):
        dh.Task([[0.5]], [0], distance="hamming", executor=executor)
    assert executor.n == 0


# What is reported ---------------------------------------------------------------------------------------------------


def test_progress_counts_pairs_and_ends_with_a_line(
    threads: ThreadPoolExecutor, capsys: pytest.CaptureFixture[str]
) -> None:
    reported: list[tuple[int, int]] = []
    cluster = dh.Cluster(threads, tasks=6)
    profiled(*samples(100), executor=cluster, progress=lambda *state: reported.append(state))
    done = [state[0] for state in reported]
    assert (done[0], reported[0][1], done[-1], done.count(10_000), len(done)) == (0, 10_000, 10_000, 1, 7)
    assert done == sorted(done)
    profiled(*samples(100), executor=cluster, progress=True)
    assert capsys.readouterr().err.splitlines()[-1] == str(cluster.summary)


def test_an_interrupt_says_what_is_kept(tmp_path: Path, threads: ThreadPoolExecutor) -> None:
    rows, labels = samples(100)

    def progress(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    cluster = dh.Cluster(threads, tasks=6)
    with pytest.raises(KeyboardInterrupt, match=r"1 of 6 tasks are kept in checkpoint"):
        profiled(rows, labels, executor=cluster, progress=progress, checkpoint=tmp_path / "kept")
    with pytest.raises(KeyboardInterrupt, match="nothing is kept"):
        profiled(rows, labels, executor=cluster, progress=progress)
