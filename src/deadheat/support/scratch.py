"""Large arrays on disk: in unnamed temporary files mapped into memory, where only what is in use takes memory."""

from __future__ import annotations

import errno
import mmap
import os
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat.support.arrays import Array
from deadheat.support.lazy import tempfile

WORTH_A_FILE = 48 << 20  # bytes of arrays from which on they are better on disk
_PIECE = 1 << 22  # bytes that are written at once where a file system cannot just set them apart


def arrays(number: int, length: int, dtype: DTypeLike = np.int64) -> tuple[Array, ...]:
    """So many arrays of this length and type, to be filled; in memory, or on disk where they are large together.

    The disk space is theirs at once, and free again when they are gone.

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
    """A temporary file in memory."""
    with tempfile.TemporaryFile() as file:
        _take_room(file, size)
        return mmap.mmap(file.fileno(), size)


def _take_room(file: IO[bytes], size: int) -> None:
    """Make a file so long that no later write into it fails: in a mapped one that would end the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    for start in range(0, size, _PIECE):
        file.write(bytes(min(_PIECE, size - start)))
    file.flush()


def let_go(*arrays: NDArray[Any]) -> None:
    """Take what is on disk of some arrays, or of what they are views of, out of memory until it is used again."""
    for array in arrays:
        owner: Any = array
        while isinstance(owner, np.ndarray):
            owner = owner.base
        if isinstance(owner, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            owner.madvise(mmap.MADV_DONTNEED)
