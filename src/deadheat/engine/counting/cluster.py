"""Settings for a counting pass on the workers of an executor: on one machine or on many."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.support import checks
from deadheat.support.floats import plain_floats
from deadheat.support.progress import rate_text

_REMEDIES = {  # of what belongs to a library and is no executor: what to give in its place
    "dask": "Dask's is client.get_executor(pure=False, retries=2)",
    "distributed": "Dask's is client.get_executor(pure=False, retries=2)",
    "joblib": "joblib's is joblib.externals.loky.get_reusable_executor(max_workers)",
    "loky": "loky's is loky.get_reusable_executor(max_workers)",
    "mpi4py": "mpi4py's is mpi4py.futures.MPIPoolExecutor()",
    "multiprocessing": "of processes, it is concurrent.futures.ProcessPoolExecutor(max_workers)",
    "ray": "Ray has none: the page 'A cluster' (docs/how-to/cluster.md) has four lines that make one",
}


@dataclass(frozen=True)
class Summary:
    """Work and time of a run on an executor.

    Attributes
    ----------
    pairs : int
        Pairs of query and item, without those that a checkpoint had.
    seconds : float
    tasks, retries : int
        Answers that were used, and tasks that were handed out once more.

    Examples
    --------
    >>> print(Summary(pairs=10**10, seconds=8.0, tasks=78, retries=1))
    10000000000 pairs in 8.0 s, 1.2 G pairs/s; 78 tasks, 1 retry
    """

    pairs: int
    seconds: float
    tasks: int
    retries: int

    def __str__(self) -> str:
        retries = "1 retry" if self.retries == 1 else f"{self.retries} retries"
        rate = rate_text(self.pairs / self.seconds, "pairs")
        return f"{self.pairs} pairs in {self.seconds:.1f} s, {rate}; {self.tasks} tasks, {retries}"


class Cluster:
    """Workers of an executor, and options for their use: ``deadheat.evaluate(..., executor=Cluster(executor, ...))``.

    Parameters
    ----------
    executor : concurrent.futures.Executor, or a function without arguments that makes one
        Any of PEP 3148: of processes, of threads, loky's, Dask's (``client.get_executor(pure=False, retries=2)``),
        ``mpi4py.futures.MPIPoolExecutor``. A pool of processes is broken for good when one of them is killed; a
        function is asked for another one, and the run goes on.
    scratch : path, optional
        A directory that all workers see. Data that they need and that are in no file (labels, arrays) are written to a
        new directory in it, which is deleted in the end. By default, the directory of temporary files, which workers
        on other machines do not see.
    tasks : int, optional
        Approximate number of tasks that the work is cut into. By default about 64, fewer if there is little to do. More
        than four tasks per worker keep all workers busy until the end.
    retries : int
        Retries of a task that raised an error, and successive executors that may break without an answer.
    device : str or torch.device, optional
        Where workers count: "cuda" for one card each, as far as their machine has so many, "cuda:1" for this one. By
        default on the processor.

    Attributes
    ----------
    summary : Summary or None
        Work and time of the last run: pairs, seconds, tasks, retries.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import deadheat as dh
    >>> with ThreadPoolExecutor(2) as executor:
    ...     cluster = dh.Cluster(executor, tasks=3)
    ...     report = dh.evaluate([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean", executor=cluster)
    >>> report["mAP"].lower, cluster.summary.tasks
    (0.75, 3)
    """

    @plain_floats
    def __init__(
        self,
        executor: Executor | Callable[[], Executor],
        *,
        scratch: str | os.PathLike[str] | None = None,
        tasks: int | None = None,
        retries: int = 2,
        device: Any = None,
    ) -> None:
        if not (isinstance(executor, Executor) or _makes_one(executor)):
            _refuse(executor, "is")
        self.executor = executor
        self.scratch = None if scratch is None else _directory(scratch)
        self.tasks = None if tasks is None else checks.positive_integer(tasks, "tasks")
        self.retries = checks.whole_number(retries, "retries")
        if not (device is None or isinstance(device, str) or type(device).__name__ == "device"):  # torch's
            raise InvalidTypeError("device", f"must be None, a string or a torch.device, but is {checks.shown(device)}")
        self.device = None if device is None else str(device)
        self.summary: Summary | None = None

    def made(self) -> Executor:
        """Return the executor, or a new one if a function makes them."""
        if isinstance(self.executor, Executor):
            return self.executor
        executor = self.executor()
        if not isinstance(executor, Executor):
            _refuse(executor, "makes")
        return executor


def cluster_of(executor: Any) -> Cluster:
    return executor if isinstance(executor, Cluster) else Cluster(executor)


def _makes_one(executor: Any) -> bool:
    """Return whether it can be called without arguments, by its signature, and is of no library in `_REMEDIES`."""
    return checks.takes(executor) and not _remedy(executor)


def _remedy(value: Any) -> str | None:
    """Return the advice for an object of a known library, or for the library itself: the executor to give instead."""
    name = value.__name__ if isinstance(value, ModuleType) else type(value).__module__
    return _REMEDIES.get(name.partition(".")[0])


def _refuse(value: Any, verb: str) -> None:
    remedy = _remedy(value)
    raise InvalidTypeError(
        "executor",
        "must be an executor of PEP 3148 (concurrent.futures), or a function without arguments that makes one, "
        f"but {verb} {checks.shown(value)}" + (f": {remedy}" if remedy else ""),
    )


def _directory(scratch: Any) -> str:
    path = checks.path(scratch, "scratch")
    if not os.path.isdir(path):
        raise InvalidValueError("scratch", f"must be a directory that exists, but is '{path}'")
    return os.path.abspath(path)
