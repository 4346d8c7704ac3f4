"""How a counting pass is handed to the workers of an executor: on this machine, or on many."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.support import checks
from deadheat.support.progress import rate_text
from deadheat.support.scratch import is_url

_NOBODY_SAYS = 16  # workers


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
    bytes_moved : int
        Written for the workers, fetched by them, and sent back.

    Examples
    --------
    >>> print(Summary(pairs=10**10, seconds=8.0, tasks=78, retries=1, bytes_moved=25_400_000))
    10000000000 pairs in 8.0 s, 1.2 G pairs/s; 78 tasks, 1 retry, 25.4 MB moved
    """

    pairs: int
    seconds: float
    tasks: int
    retries: int
    bytes_moved: int

    def __str__(self) -> str:
        retries = "1 retry" if self.retries == 1 else f"{self.retries} retries"
        rate = rate_text(self.pairs / self.seconds, "pairs")
        return (
            f"{self.pairs} pairs in {self.seconds:.1f} s, {rate}; {self.tasks} tasks, {retries}, "
            f"{self.bytes_moved / 1e6:.1f} MB moved"
        )


class Cluster:
    """Workers of an executor, and how they are used: ``deadheat.evaluate(..., executor=Cluster(executor, ...))``.

    Parameters
    ----------
    executor : concurrent.futures.Executor, or a function without arguments that makes one
        Any that is as PEP 3148 has it: of processes, of threads, loky's, Dask's (``client.get_executor(pure=False,
        retries=2)``), ``mpi4py.futures.MPIPoolExecutor``. A pool of processes is broken for good when one of them is
        killed; a function is asked for another one, and the run goes on.
    scratch : path or URL, optional
        A directory that all workers see. What they need and is not in a file (labels, arrays) is written to a new
        directory in it, which is deleted in the end. By default, the directory of temporary files, which workers on
        other machines do not see. A URL, such as ``s3://bucket/scratch``, needs the extra `files`.
    tasks : int, optional
        About how many tasks the work is cut into. By default 64 or so, less where there is little to do. More than
        four times as many as workers keep all of these busy until the end.
    retries : int
        How many times a task is handed out again whose worker died, or raised an error, or did not answer.
    timeout : float, optional
        Seconds after which a task is handed to another worker as well; the first answer counts, and all are the same.
        By default ten times the longest that a task has taken, and at least a minute, once one has been answered.
    in_flight : int, optional
        How many tasks the executor is given at once; by default, two for each worker.
    gallery_items : int
        How many items of a gallery a worker opens at once, about; it takes some 60 bytes for each.

    Attributes
    ----------
    summary : Summary or None
        What the last run took: pairs, seconds, tasks, retries, bytes.

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
        timeout: float | None = None,
        in_flight: int | None = None,
        gallery_items: int = 20_000_000,
    ) -> None:
        if not (hasattr(executor, "submit") or callable(executor)):
            raise InvalidTypeError(
                "executor", f"must be an executor of tasks, or a function that makes one, but is {executor!r}"
            )
        self.executor = executor
        self.scratch = None if scratch is None else _directory(scratch)
        self.tasks = None if tasks is None else checks.positive_integer(tasks, "tasks")
        self.retries = checks.whole_number(retries, "retries")
        self.timeout = None if timeout is None else checks.real_number(timeout, "timeout", least=0)
        self.in_flight = None if in_flight is None else checks.positive_integer(in_flight, "in_flight")
        self.gallery_items = checks.positive_integer(gallery_items, "gallery_items")
        self.summary: Summary | None = None


def cluster_of(executor: Any) -> Cluster:
    return executor if isinstance(executor, Cluster) else Cluster(executor)


def n_worker(executor: Any) -> int:
    """How many workers an executor has, if it says so."""
    client = getattr(executor, "_client", None)  # Dask's
    if client is not None:
        return max(1, sum(map(int, client.nthreads().values())))
    for name in ("_max_workers", "num_workers"):  # of the standard library and loky, and of mpi4py
        number = getattr(executor, name, None)
        if isinstance(number, int) and number > 0:
            return number
    return _NOBODY_SAYS


def _directory(scratch: Any) -> str:
    if not isinstance(scratch, str | os.PathLike):
        raise InvalidTypeError("scratch", f"must be the path or the URL of a directory, but is {scratch!r}")
    path = os.fspath(scratch)
    if is_url(path):
        return path
    if not os.path.isdir(path):
        raise InvalidValueError("scratch", f"must be a directory that exists, but is '{path}'")
    return os.path.abspath(path)
