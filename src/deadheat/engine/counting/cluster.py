"""How a counting pass is handed to the workers of an executor: on this machine, or on many."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.support import checks
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
    """What a run on an executor took.

    Attributes
    ----------
    pairs : int
        Of query and item, without those that a checkpoint had.
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
    """Workers of an executor, and how they are used: ``deadheat.evaluate(..., executor=Cluster(executor, ...))``.

    Parameters
    ----------
    executor : concurrent.futures.Executor, or a function without arguments that makes one
        Any of PEP 3148: of processes, of threads, loky's, Dask's (``client.get_executor(pure=False, retries=2)``),
        ``mpi4py.futures.MPIPoolExecutor``. A pool of processes is broken for good when one of them is killed; a
        function is asked for another one, and the run goes on.
    scratch : path, optional
        A directory that all workers see. What they need and is not in a file (labels, arrays) is written to a new
        directory in it, which is deleted in the end. By default, the directory of temporary files, which workers on
        other machines do not see.
    tasks : int, optional
        About how many tasks the work is cut into. By default 64 or so, less where there is little to do. More than
        four times as many as workers keep all of these busy until the end.
    retries : int
        How many times a task is handed out again that raised an error, and how many executors in a row may break
        without an answer.

    Attributes
    ----------
    summary : Summary or None
        What the last run took: pairs, seconds, tasks, retries.

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

    def __init__(
        self,
        executor: Executor | Callable[[], Executor],
        *,
        scratch: str | os.PathLike[str] | None = None,
        tasks: int | None = None,
        retries: int = 2,
    ) -> None:
        if not (isinstance(executor, Executor) or _makes_one(executor)):
            _refuse(executor, "is")
        self.executor = executor
        self.scratch = None if scratch is None else _directory(scratch)
        self.tasks = None if tasks is None else checks.positive_integer(tasks, "tasks")
        self.retries = checks.whole_number(retries, "retries")
        self.summary: Summary | None = None

    def made(self) -> Executor:
        """The executor, or a new one where a function makes them."""
        if isinstance(self.executor, Executor):
            return self.executor
        executor = self.executor()
        if not isinstance(executor, Executor):
            _refuse(executor, "makes")
        return executor


def cluster_of(executor: Any) -> Cluster:
    return executor if isinstance(executor, Cluster) else Cluster(executor)


def _makes_one(executor: Any) -> bool:
    """Whether it can be called without arguments, as far as it says, and belongs to no library whose objects cannot."""
    if not callable(executor) or _remedy(executor):
        return False
    with suppress(ValueError):  # it does not say
        try:
            inspect.signature(executor).bind()
        except TypeError:
            return False
    return True


def _remedy(value: Any) -> str | None:
    """What to give in the place of an object of a known library, or of the library itself."""
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
    if not isinstance(scratch, str | os.PathLike):
        raise InvalidTypeError("scratch", f"must be the path of a directory, but is {checks.shown(scratch)}")
    path = os.fspath(scratch)
    if not os.path.isdir(path):
        raise InvalidValueError("scratch", f"must be a directory that exists, but is '{path}'")
    return os.path.abspath(path)
