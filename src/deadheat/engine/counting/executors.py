"""Work on an executor of PEP 3148: a job is sent to its workers with each number, and answers come in any order.

A job is pickled once. Large arrays in it, and rows that are in no file, are written to a temporary folder, and workers
map them into memory; files of rows stay where they are. A worker opens a job at its first number and keeps it open for
the next one. Retries, time-outs and the replacement of workers are left to the executor.
"""

from __future__ import annotations

import io
import os
import pickle
import shutil
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, as_completed
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Protocol
from uuid import uuid4

import numpy as np

from deadheat.errors import ClusterError, DeadheatError, InvalidTypeError
from deadheat.inputs import disk
from deadheat.inputs.disk import Place
from deadheat.inputs.source import Array, Chosen, Shards, Source
from deadheat.support import checks
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import tempfile
from deadheat.support.locks import process_lock
from deadheat.support.scratch import PREFIX, opened_folder

MOST_SENT = 1 << 20  # bytes of an array that is sent with every number; larger ones are written to the folder


class Job(Protocol):
    def open(self) -> Callable[[int], Any]: ...


def executor_given(executor: Any) -> Executor:
    """Check the argument `executor`."""
    if not isinstance(executor, Executor):
        rule = (
            "must be an executor of PEP 3148, such as concurrent.futures.ProcessPoolExecutor() or that of Dask, "
            "client.get_executor(pure=False)"
        )
        raise InvalidTypeError("executor", f"{rule}, but is {checks.shown(executor)}")
    return executor


class Folder:
    """A temporary folder for what is too large to send; it is deleted at the end."""

    def __enter__(self) -> Folder:
        self.path = tempfile.mkdtemp(prefix=f"{PREFIX}job-")
        self._users = opened_folder(self.path)
        return self

    def __exit__(self, *error: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)  # what is left costs disk space, and no result
        self._users.close()

    def new(self, ending: str) -> str:
        return os.path.join(self.path, f"{len(os.listdir(self.path))}{ending}")


@dataclass(frozen=True)
class SentRows:
    """Rows of queries and gallery: their places in files, or arrays."""

    query: list[Place | np.ndarray[Any, Any]]
    gallery: list[Place | np.ndarray[Any, Any]] | None

    @classmethod
    def of(cls, query: Source, gallery: Source | None, folder: Folder) -> SentRows:
        return cls(_sent(query, folder), None if gallery is None else _sent(gallery, folder))

    def open(self) -> tuple[Source, Source | None]:
        try:
            return _opened(self.query, "embeddings"), self.gallery and _opened(self.gallery, "gallery")
        except FileNotFoundError as error:
            came = f"but one does not find '{error.filename}'"
            raise ClusterError(f"every worker must see the embeddings, {came}") from None


def _sent(source: Source, folder: Folder) -> list[Any]:
    sent: list[Any] = []
    for part in disk.places_of(source):
        if isinstance(part, Array):
            sent.append(part.whole())
        elif isinstance(part, Place) and not part.path.startswith("/proc/"):
            sent.append(part)
        else:  # a temporary file without a name, or rows that lie otherwise
            path = folder.new(".rows")
            with open(path, "wb") as file:
                rows = disk.open_places([part], "embeddings") if isinstance(part, Place) else part
                sent.append(disk.write_rows(rows, file, path))
    return sent


def _opened(parts: list[Any], title: str) -> Source:
    sources = [disk.open_places([part], title) if isinstance(part, Place) else Array(part) for part in parts]
    return sources[0] if len(sources) == 1 else Shards(sources)


def first_row(source: Source) -> Source:
    return Chosen(source, np.zeros(1, dtype=np.int64))


def not_an_answer(value: Any) -> ClusterError:
    return ClusterError(f"an executor must return the results of its tasks, but returned {checks.shown(value)}")


class _Pickler(pickle.Pickler):
    """A pickler that writes large arrays to a folder, each once."""

    def __init__(self, file: Any, folder: Folder) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._folder, self._written = folder, dict[int, str]()

    def persistent_id(self, value: Any) -> str | None:
        if not isinstance(value, np.ndarray) or value.nbytes <= MOST_SENT:
            return None
        if id(value) not in self._written:
            self._written[id(value)] = self._folder.new(".npy")
            np.save(self._written[id(value)], value, allow_pickle=False)
        return self._written[id(value)]


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, path: Any) -> Any:
        try:
            return np.asarray(np.load(path, mmap_mode="r"))
        except FileNotFoundError:
            raise ClusterError(
                f"every worker must see the temporary files of the run, but one does not find '{path}': "
                "set TMPDIR of the run to a directory that all of them see"
            ) from None


def answers(executor: Executor, job: Job, numbers: Collection[int], folder: Folder) -> Iterator[tuple[int, Any]]:
    """Yield each number and the answer to it, in the order in which workers finish; cancel the others at an error.

    Raises
    ------
    ClusterError
        If an answer is an error, or a worker died and the executor does not replace it.
    """
    sent, key, handed = io.BytesIO(), uuid4().hex, dict[Future[Any], int]()
    _Pickler(sent, folder).dump(job)
    try:
        for number in numbers:
            future = executor.submit(work, version("deadheat"), key, sent.getvalue(), number)
            if not isinstance(future, Future):
                raise TypeError(f"submit returned {checks.shown(future)}")
            handed[future] = number
        for future in as_completed(handed):
            answer = future.result()
            yield handed.pop(future), answer
    except (DeadheatError, GeneratorExit):
        raise
    except BrokenExecutor as broken:
        died = f"a worker of the executor died ({type(broken).__name__})"
        raise ClusterError(f"{died}, and such an executor cannot be used again: make a new one") from broken
    except (Exception, CancelledError) as error:
        raise ClusterError(f"the executor failed: {checks.cause(error)}") from error
    finally:
        for future in handed:
            future.cancel()
        with _turn:
            _open.pop(key, None)  # if threads of this process were the workers


_turn = process_lock()
_open: dict[str, Callable[[int], Any]] = {}  # the job that is open in this process: at most one


@plain_floats
def work(sender: str, key: str, job: bytes, number: int) -> Any:
    """Return the answer to a number: the task of a worker."""
    if sender != version("deadheat"):
        own = version("deadheat")
        raise ClusterError(f"workers must have the version of deadheat that asks them, {sender}, but one has {own}")
    with _turn:
        if key not in _open:
            _open.clear()
            _open[key] = _Unpickler(io.BytesIO(job)).load().open()
        answer = _open[key]
    return answer(number)
