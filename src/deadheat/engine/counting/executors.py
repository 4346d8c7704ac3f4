"""Work on an executor of PEP 3148: a job is sent to its workers with each number, and answers come in any order.

A job is pickled once. Rows that are in files stay there; large arrays in it, and other rows, are written to a temporary
folder, which workers map into memory. A worker opens a job at its first number and keeps it open for the next one.
Retries, time-outs and the replacement of workers are left to the executor.
"""

from __future__ import annotations

import io
import os
import pickle
import shutil
from collections.abc import Callable, Collection, Generator, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, as_completed
from contextlib import contextmanager
from importlib.metadata import version
from typing import IO, Any, Protocol
from uuid import uuid4

import numpy as np

from deadheat.errors import DeadheatError, ExecutorError, InvalidTypeError
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
    """Work that can be pickled, but for its sources, which are sent as places in files."""

    def open(self) -> Callable[[int], Any]:
        """Return the function that answers a number, in a worker."""


def executor_given(executor: Any) -> Executor:
    """Check the argument `executor`."""
    if not isinstance(executor, Executor):
        example = "ProcessPoolExecutor() or Dask's client.get_executor(pure=False)"
        rule = f"must be an executor of PEP 3148 (concurrent.futures), such as {example}"
        raise InvalidTypeError("executor", f"{rule}, but is {checks.shown(executor)}")
    return executor


def first_row(source: Source) -> Source:
    return Chosen(source, np.zeros(1, dtype=np.int64))


def not_an_answer(value: Any) -> ExecutorError:
    return ExecutorError(f"an executor must return the results of its tasks, but returned {checks.shown(value)}")


def answers(executor: Executor, job: Job, numbers: Collection[int]) -> Generator[tuple[int, Any]]:
    """Yield each number and the answer to it, in the order in which workers finish; cancel the others at an error.

    Raises
    ------
    ExecutorError
        If an answer is an error, or a worker died and the executor does not replace it.
    """
    key, handed = uuid4().hex, dict[Future[Any], int]()
    with _folder() as folder:
        try:
            sent = _pickled(job, folder)
            for number in numbers:
                future = executor.submit(work, version("deadheat"), key, sent, number)
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
            raise ExecutorError(f"{died}, and such an executor cannot be used again: make a new one") from broken
        except (Exception, CancelledError) as error:
            raise ExecutorError(f"the executor failed: {checks.cause(error)}") from error
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
    if sender != (own := version("deadheat")):
        raise ExecutorError(f"workers must have the version of deadheat that asks them, {sender}, but one has {own}")
    with _turn:
        if key not in _open:
            _open.clear()
            _open[key] = _Unpickler(io.BytesIO(job)).load().open()
        answer = _open[key]
    return answer(number)


# What is sent ---------------------------------------------------------------------------------------------------------


@contextmanager
def _folder() -> Iterator[str]:
    path = tempfile.mkdtemp(prefix=f"{PREFIX}job-")
    try:
        with opened_folder(path):
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)  # what is left costs disk space, and no result


def _pickled(job: Job, folder: str) -> bytes:
    file = io.BytesIO()
    _Pickler(file, folder).dump(job)
    return file.getvalue()


class _Pickler(pickle.Pickler):
    """A pickler of sources as places in files, and of large arrays as files, each written once."""

    def __init__(self, file: IO[bytes], folder: str) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._folder, self._known = folder, dict[int, Any]()

    def persistent_id(self, value: Any) -> Any:
        """Return the path of an array, or places and arrays of the rows of a source; None for anything else."""
        large = isinstance(value, np.ndarray) and value.nbytes > MOST_SENT
        if (large or isinstance(value, Source)) and id(value) not in self._known:
            self._known[id(value)] = self._saved(value) if large else [*map(self._part, disk.places_of(value))]
        return self._known.get(id(value))

    def _saved(self, array: Any) -> str:
        path = self._new()
        with open(path, "wb") as file:
            np.save(file, array, allow_pickle=False)
        return path

    def _part(self, part: Place | Source) -> Any:
        if isinstance(part, Array):
            return part.whole()
        if isinstance(part, Place) and not part.path.startswith("/proc/"):
            return part
        path = self._new()  # of rows that are not one after another, or in a temporary file without a name
        with open(path, "wb") as file:
            return disk.write_rows(disk.open_place(part) if isinstance(part, Place) else part, file, path)

    def _new(self) -> str:
        return os.path.join(self._folder, str(len(os.listdir(self._folder))))


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, known: Any) -> Any:
        try:
            if isinstance(known, str):
                return np.asarray(np.load(known, mmap_mode="r"))
            sources = [disk.open_place(part) if isinstance(part, Place) else Array(part) for part in known]
        except FileNotFoundError as error:
            missing = f"every worker must see the files of a run, but one does not find '{error.filename}'"
            remedy = "put embeddings in files, and TMPDIR for other data, where all workers see them"
            raise ExecutorError(f"{missing}: {remedy}") from None
        return sources[0] if len(sources) == 1 else Shards(sources)
