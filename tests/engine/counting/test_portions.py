"""Portions add up to the profile of one process, whether a task, an executor or a checkpoint counts them."""

from __future__ import annotations

import io
import os
import pickle
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from keyed import in_many_portions, profiled
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.engine import count
from deadheat.engine.counting import executors, portions
from deadheat.engine.counting.candidates import Candidates, Relevance
from deadheat.errors import ExecutorError, InvalidTypeError, InvalidValueError
from deadheat.inputs import disk
from deadheat.inputs.samples import open_rows

EXACT_OR_NOT = ("exact", "float16", dh.Tolerance(0.25))


def processes() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))  # a process with threads must not be forked


def samples(n: int, seed: int = 0, size: int = 3, classes: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Small integers: many distances are equal, and some rows."""
    rng = np.random.default_rng(seed)
    return rng.integers(-size, size + 1, (n, 4)).astype(np.float32), rng.integers(0, classes, n)


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    in_many_portions(monkeypatch)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as executor:
        yield executor


class Instead(Executor):
    """Hands tasks on, except those with these numbers: `make` returns a future or a function in their place."""

    def __init__(self, executor: Executor, numbers: set[int], make: Callable[[], Any]) -> None:
        self.executor, self.numbers, self.make, self.tasks = executor, numbers, make, list[tuple[Any, ...]]()

    def submit(self, function: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        self.tasks.append(args)
        made = self.make() if len(self.tasks) - 1 in self.numbers else function
        return made if isinstance(made, Future) else self.executor.submit(made, *args)


def failed() -> Future[Any]:
    future: Future[Any] = Future()
    future.set_exception(OSError("the network is gone"))
    return future


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


# The same profile -----------------------------------------------------------------------------------------------------


def require_same(tmp_path: Path, executor: Executor, *given: Any, **settings: Any) -> None:
    task = dh.Task(*given, **settings)
    wanted = task.profile.digest()
    for n in (1, 2, 5, 8, 13):
        parts = pickle.loads(pickle.dumps([task.portion(number, n) for number in range(n)]))
        for part in parts:
            part.groups.packed.flags.writeable = False  # as Ray returns them
        assert dh.TieProfile.from_portions(parts[::-1]).digest() == wanted
    folder = tempfile.mkdtemp(dir=tmp_path)
    assert profiled(*given, **settings, executor=executor, checkpoint=folder).digest() == wanted
    kept = sorted(Path(folder).glob("portion-*"))
    assert len(kept) > 1
    for path in kept[1:]:
        path.unlink()
    assert profiled(*given, **settings, checkpoint=folder).digest() == wanted  # goes on without the executor


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("ties", EXACT_OR_NOT, ids=str)
@pytest.mark.parametrize("size", [1, 100], ids=["many equal rows", "no equal rows"])
def test_leave_one_out(ties: Any, size: int, threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for junk in (None, rng.random(120) < 0.2, rng.random((120, 120)) < 0.2):
        require_same(tmp_path, threads, *samples(120, size=size), distance="euclidean", ties=ties, junk=junk)


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("distance", ["cosine", "cityblock"])
@pytest.mark.parametrize("n_query", [20, 60])
def test_a_gallery(distance: str, n_query: int, threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    given = *samples(n_query, 1), *samples(150, 2, size=1, classes=40)
    for junk in (None, rng.random(150) < 0.2, rng.random((n_query, 150)) < 0.2):
        exclude = np.where(rng.random(n_query) < 0.3, rng.integers(0, 150, n_query), -1)
        require_same(tmp_path, threads, *given, distance=distance, junk=junk, exclude=exclude)


@pytest.mark.usefixtures("_small")
def test_skewed_classes_binary_codes_singletons_and_reports(threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    rows, labels = samples(160, size=40)[0], np.arange(160)
    labels[:80] = 160  # half in one class, and many singletons
    labels[80:120] //= 4
    labels = np.random.default_rng(1).permutation(labels)
    require_same(tmp_path, threads, rows, labels)
    require_same(tmp_path, threads, rows > 0, labels, distance="hamming")
    assert profiled(rows, np.arange(160), executor=threads) == profiled(rows, np.arange(160))
    report = dh.evaluate(rows, labels, average="class", executor=threads)
    assert report.to_dict() == dh.evaluate(rows, labels, average="class").to_dict()


# The cut --------------------------------------------------------------------------------------------------------------


def work_of(number: int, n: int, *given: Any) -> int:
    """Count the products of a portion, in tiles."""
    made = count.opened_portions(dh.Task(*given).pair, dh.Task(*given).options)(n)
    products: list[int] = []

    def count_shards(shards: Any, *_: Any, **__: Any) -> None:
        for blocks, sections in shards:
            for section in sections:
                for tile in section.ranges:
                    rows = [b for b in section.blocks if b in blocks and (tile.block not in blocks or b <= tile.block)]
                    products.extend(len(blocks[b]) * len(tile.columns) // (1 + (b == tile.block)) for b in rows)

    made.counting.count_shards = count_shards  # type: ignore[method-assign]
    made.divide = lambda blocks: iter([(type(made.counting).tiles, blocks.numbers)])
    made.count(number, 1)
    return sum(products)


def test_portions_are_equal_work_and_leave_one_out_multiplies_each_pair_once() -> None:
    rows, labels = samples(4800, size=1000, classes=4800)
    for n in (2, 8, 9, 18):
        work = [work_of(number, n, rows, labels) for number in range(n)]
        assert sum(work) < 0.55 * 4800**2
        assert max(work) < 1.3 * sum(work) / n
    for n in (4, 9, 16):  # few queries: columns are cut, too
        work = [work_of(number, n, rows[:300], labels[:300], rows, labels) for number in range(n)]
        assert sum(work) <= 300 * 4800
        assert max(work) < 1.2 * sum(work) / n


def test_the_default_number_follows_from_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    def default(n_query: int, n_item: int, classes: int) -> int:
        labels, alone = np.arange(n_item) % classes, n_query == 0
        candidates = Candidates.of(n_query or n_item, n_item, leave_one_out=alone)
        queries = labels if alone else np.arange(n_query) % classes
        return portions.default_number(Relevance(queries, labels, candidates))

    assert default(0, 1000, 500) == 1  # a million pairs
    assert default(0, 1400, 1400) == 2
    assert default(0, 100_000, 100_000) == 72
    assert default(0, 20_000, 4) == 19  # many relevant items: shares of the queries
    assert default(100, 30_000, 30_000) == 3  # few queries: shares of the columns
    assert default(100_000, 100_000, 20_000) == 72
    monkeypatch.setattr(portions, "MOST_PAIRS", portions.MOST_PAIRS // 10_000)
    assert default(500_000, 500_000, 100_000) > 5000  # as of 50 million rows: none takes hours


def test_which_portions_are_refused() -> None:
    task = dh.Task(*samples(40))
    three = [task.portion(number, 3) for number in range(3)]
    assert repr(three[1]).startswith("Portion(1 of 3: ")
    for wrong, message in (
        (three[:2], r"must be all portions of one task, each once, but are 2 of 3"),
        ([*three, three[0]], "each once, but one comes twice"),
        ([*three[:2], task.portion(2, 4)], "but were cut differently"),
        ([*three[:2], dh.Task(*samples(41)).portion(2, 3)], "but were cut differently"),
        ([*three[:2], dh.Task(*samples(40), ties=dh.Tolerance(0.1)).portion(2, 3)], "must be of one task"),
        ([], "must be the portions of one task, .* but has none"),
        ([1], "must be the portions of one task, .* but has 1"),
    ):
        with pytest.raises((InvalidTypeError, InvalidValueError), match=message):
            dh.TieProfile.from_portions(wrong)
    for number, n, message in ((3, 3, "number must be at most 2"), (0, 0, "n must be at least 1")):
        with pytest.raises(InvalidValueError, match=message):
            task.portion(number, n)
    with pytest.raises(InvalidTypeError, match="labels must be one a row for portions"):
        dh.Task([[0.0], [1.0]], [{"a"}, {"a", "b"}]).portion(0, 2)


# What is sent ---------------------------------------------------------------------------------------------------------


def test_processes_open_files_where_they_are_and_get_the_rest(tmp_path: Path) -> None:
    rows, labels = samples(1600, size=50, classes=1600)
    wanted = profiled(rows, labels)
    np.save(tmp_path / "emb.npy", rows)
    parts = [tmp_path / f"emb-{number}.npy" for number in range(2)]
    for path, part in zip(parts, np.split(rows, 2), strict=True):
        np.save(path, part)
    with processes() as executor:
        for given in (rows, tmp_path / "emb.npy", parts, np.load(tmp_path / "emb.npy", mmap_mode="r")[:]):
            assert profiled(given, labels, executor=executor) == wanted


@pytest.mark.parametrize("memory", [0, 1 << 40], ids=["large files", "small files"])
@pytest.mark.parametrize("most", [0, 1 << 20], ids=["by files", "sent"])
def test_any_rows_travel_and_large_arrays_are_written_once(
    memory: int, most: int, tmp_path: Path, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "available_memory", lambda: memory)
    monkeypatch.setattr(executors, "MOST_SENT", most)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rows, labels = samples(200, size=50)
    for number, dtype in enumerate((np.float32, np.float64, ">f4", np.int8)):
        np.save(tmp_path / f"{number}.npy", rows.astype(dtype))
        assert profiled(tmp_path / f"{number}.npy", labels, executor=threads) == profiled(rows, labels)
    mapped, seen = np.load(tmp_path / "0.npy", mmap_mode="r"), list[int]()
    for view, of_view in ((mapped[37:], labels[37:]), (mapped[::2], labels[::2]), (rows, labels)):
        watched = Instead(
            threads, {0}, lambda: seen.append(len([*tmp_path.glob("deadheat-job-*/*")])) or executors.work
        )
        assert profiled(view, of_view, executor=watched) == profiled(np.array(view), of_view)
        assert max(len(pickle.dumps(task)) for task in watched.tasks) < (3000 if most == 0 else 20_000)
    n_array = 3 if most == 0 else 0  # classes, itself, ranked; `users` is in each folder
    assert seen == [1 + n_array, *[1 + n_array + (most == 0)] * 2]
    assert not [*tmp_path.glob("deadheat-job-*")]
    assert executors._open == {}


def test_invalid_data_are_refused_before_any_task(threads: ThreadPoolExecutor) -> None:
    executor = Instead(threads, set(), failed)
    with pytest.raises(InvalidValueError, match="dim"):
        dh.Task([[0.0]], [0], [[0.0, 1.0]], [0], executor=executor)
    with pytest.raises(InvalidValueError, match="bool"):
        dh.Task([[0.5]], [0], distance="hamming", executor=executor)
    assert executor.tasks == []


@pytest.mark.parametrize("value", [3, "dask", processes, ThreadPoolExecutor, lambda: None, [ThreadPoolExecutor]])
def test_only_executors_are_executors(value: Any) -> None:
    with pytest.raises(InvalidTypeError, match=r"^executor must be an executor of PEP 3148 .*get_executor.* but is "):
        profiled([[0.0]], [0], executor=value)


# What goes wrong ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_worker_is_one_error_and_a_checkpoint_goes_on(tmp_path: Path) -> None:
    rows, labels = samples(3000, size=50, classes=3000)
    with processes() as executor, pytest.raises(ExecutorError) as error:
        profiled(rows, labels, executor=Instead(executor, {5}, lambda: die), checkpoint=tmp_path / "kept")
    kept = len([*(tmp_path / "kept").glob("portion-*")])
    assert str(error.value) == (
        "a worker of the executor died (BrokenProcessPool), and such an executor cannot be used again: make a new one; "
        f"{kept} of 8 portions are kept in checkpoint '{tmp_path}/kept'"
    )
    assert kept < 8
    with ThreadPoolExecutor(1) as pool:
        again = Instead(pool, set(), failed)
        assert profiled(rows, labels, executor=again, checkpoint=tmp_path / "kept") == profiled(rows, labels)
    assert len(again.tasks) == 8 - kept


@pytest.mark.usefixtures("_small")
def test_a_task_that_fails_ends_the_run_and_cancels_what_has_not_begun() -> None:
    with ThreadPoolExecutor(1) as pool:
        executor, futures, gate = Instead(pool, {1}, failed), list[Future[Any]](), Event()
        pool.submit(gate.wait)  # the only worker is busy until the run has ended
        hand_on = executor.submit
        executor.submit = lambda *task: futures.append(hand_on(*task)) or futures[-1]  # type: ignore[method-assign]
        with pytest.raises(ExecutorError, match=r"^the executor failed: OSError: the network is gone; nothing is kept"):
            profiled(*samples(100), executor=executor)
        gate.set()
        assert [future.cancelled() for future in futures] == [number != 1 for number in range(len(futures))]
        pool.shutdown(cancel_futures=False)
        with pytest.raises(ExecutorError, match="the executor failed: RuntimeError: cannot schedule new futures"):
            profiled(*samples(100), executor=pool)


@pytest.mark.usefixtures("_small")
def test_workers_that_see_no_files_or_are_of_another_version_say_so(
    threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(executors, "MOST_SENT", 0)

    def deleted() -> Any:
        for path in tmp_path.glob("deadheat-job-*/*"):
            path.unlink()
        return executors.work

    with pytest.raises(ExecutorError, match=r"every worker must see the files .* does not find '.*job-.*TMPDIR"):
        profiled(*samples(100), executor=Instead(threads, {0}, deleted))

    def elsewhere(_: str, *args: Any) -> Any:
        return executors.work("0.0.9", *args)

    with pytest.raises(ExecutorError, match=r"must have the version of deadheat that asks them, 0\.0\.9, but one has"):
        profiled(*samples(100), executor=Instead(threads, {0}, lambda: elsewhere))


@pytest.mark.usefixtures("_small")
def test_progress_counts_pairs_and_an_interrupt_says_what_is_kept(tmp_path: Path) -> None:
    reported: list[tuple[int, int]] = []
    with ThreadPoolExecutor(1) as pool:
        profiled(*samples(100), executor=pool, progress=lambda *state: reported.append(state))
        done = [state[0] for state in reported]
        assert (done[0], reported[0][1], done[-1], done.count(10_000)) == (0, 10_000, 10_000, 1)
        assert done == sorted(done)

        def interrupt(done: int, total: int) -> None:
            if done:
                raise KeyboardInterrupt

        executor = Instead(pool, set(), failed)
        for given, message in (
            ({"executor": executor}, r"^nothing is kept: give a checkpoint"),
            ({"checkpoint": tmp_path / "kept"}, r"^1 of \d+ portions are kept in checkpoint '.*kept'$"),
        ):
            with pytest.raises(KeyboardInterrupt, match=message):
                profiled(*samples(100), **given, progress=interrupt)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="files of this process have a path in Linux")
def test_rows_in_a_file_that_only_this_process_can_open_are_sent_as_a_copy(tmp_path):
    rows = np.arange(12.0).reshape(4, 3)
    rows.tofile(tmp_path / "rows")
    with open(tmp_path / "rows", "rb") as file:
        mapped = np.memmap(f"/proc/self/fd/{file.fileno()}", rows.dtype, "r", shape=rows.shape)
        (tmp_path / "folder").mkdir()
        sent = executors._pickled(open_rows(mapped, "embeddings"), str(tmp_path / "folder"))
    assert b"/proc/" not in sent
    assert len([*(tmp_path / "folder").iterdir()]) == 1
    assert_array_equal(executors._Unpickler(io.BytesIO(sent)).load().whole(), rows)
