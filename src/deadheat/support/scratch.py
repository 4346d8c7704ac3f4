"""Where large data is kept: how much memory there is, arrays in mapped temporary files, and temporary files to write.

A temporary file has no name where the system allows it, so that it goes with the process, however that ends.
"""

from __future__ import annotations

import errno
import mmap
import os
import weakref
from contextlib import suppress
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat.support.arrays import Array
from deadheat.support.lazy import lazy, tempfile

WORTH_A_FILE = 48 << 20  # bytes of arrays from which on they are better on disk
_PIECE = 1 << 22  # bytes that are written at once where a file system cannot reserve them
_PREFIX = "deadheat-"
_USUAL_MEMORY = 8 << 30  # bytes, where the system does not say

resource = lazy("resource")


def arrays(number: int, length: int, dtype: DTypeLike = np.int64) -> tuple[Array, ...]:
    """`number` arrays of this length and type, to be filled; in memory, or on disk where they are large together.

    The disk space is reserved at once, and free again when they are deleted.

    Raises
    ------
    OSError
        If the directory of temporary files has no room for them.
    """
    size = np.dtype(dtype).itemsize * length
    if not size or number * size < WORTH_A_FILE:
        return tuple(np.empty(length, dtype=dtype) for _ in range(number))
    try:
        return tuple(np.ndarray(length, dtype=dtype, buffer=_mapped(size)) for _ in range(number))
    except OSError as error:
        raise OSError(
            error.errno or errno.EIO,
            f"cannot keep {number * size / 1e6:.0f} MB in temporary files in '{tempfile.gettempdir()}' "
            f"(TMPDIR names another directory): {error.strerror or error}",
        ) from None


def _mapped(size: int) -> mmap.mmap:
    with tempfile.TemporaryFile() as file:
        _reserve(file, size)
        return mmap.mmap(file.fileno(), size)


def _reserve(file: IO[bytes], size: int) -> None:
    """Reserve disk space: a write into a mapped file that finds none would end the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    for start in range(0, size, _PIECE):
        file.write(bytes(min(_PIECE, size - start)))
    file.flush()


def let_go(*arrays: NDArray[Any]) -> None:
    """Free the memory of arrays on disk, or of what they are views of, until they are used again."""
    for array in arrays:
        owner: Any = array
        while isinstance(owner, np.ndarray):
            owner = owner.base
        if isinstance(owner, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            owner.madvise(mmap.MADV_DONTNEED)


class Unnamed:
    """A temporary file: written as `file`, opened by `path` after `written()`, deleted with this object.

    It has no name on Linux, where a process can open its open files by number: so not even a killed process leaves it.
    Elsewhere, and where half of the files that a process may open are open, it has a name, and `close` deletes it.

    Examples
    --------
    >>> unnamed = Unnamed()
    >>> _ = unnamed.file.write(b"text")
    >>> unnamed.written()
    >>> with open(unnamed.path, "rb") as file:
    ...     file.read()
    b'text'
    >>> unnamed.close()
    """

    def __init__(self) -> None:
        self._close: Any
        file: IO[bytes] = tempfile.TemporaryFile(prefix=_PREFIX)
        self.path = f"/proc/{os.getpid()}/fd/{file.fileno()}"
        if os.path.exists(self.path) and 2 * file.fileno() < resource.getrlimit(resource.RLIMIT_NOFILE)[0]:
            self.file, self.written = file, file.flush
            self._close = weakref.finalize(self, file.close)
        else:
            file.close()
            descriptor, self.path = tempfile.mkstemp(prefix=_PREFIX)
            self.file = os.fdopen(descriptor, "wb")
            self.written = self.file.close
            self._close = weakref.finalize(self, _delete, self.file, self.path)

    def close(self) -> None:
        """Give the disk space back."""
        self._close()


def _delete(file: IO[bytes], path: str) -> None:
    file.close()
    with suppress(FileNotFoundError):
        os.unlink(path)


def available_memory() -> int:
    """About how many bytes a process could take now without anything being swapped out."""
    free = _free_memory()
    with suppress(OSError, ValueError), open("/sys/fs/cgroup/memory.max") as file:  # no container, or it says "max"
        return min(free, int(file.read()))
    return free


def _free_memory() -> int:
    with suppress(OSError, StopIteration), open("/proc/meminfo") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    with suppress(AttributeError, ValueError, OSError):  # all memory, free or not
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return _USUAL_MEMORY
