"""NumPy's own files: one array, mapped or read whole, and one line for everything that can be wrong with one."""

from __future__ import annotations

import errno
import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import FileError
from deadheat.inputs.layout import Labels, Layout
from deadheat.printable import MOST, printable, reason

Array = NDArray[Any]

_MAGIC = b"\x93NUMPY"

# What the readers below NumPy raise on bytes that are not theirs, beside built-in errors.
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError)


class Header(NamedTuple):
    """What a file in NumPy's format says at its beginning, where that could be read."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    begins: int  # bytes before the numbers
    by_column: bool  # whether they lie column after column

    @property
    def n_byte(self) -> int:
        """The size of the whole, in Python's integers, which do not overflow."""
        return self.begins + math.prod(self.shape) * self.dtype.itemsize


def embeddings(path: Path, layout: Layout) -> Array:
    """The array of a ``.npy`` file, which stays on disk."""
    with open(path, "rb") as file:
        _require_whole(path, file)
    with reading(path):
        return np.lib.format.open_memmap(path, mode="r")


def labels(path: Path, layout: Layout) -> Labels:
    """The array of a ``.npy`` file, in memory."""
    with open(path, "rb") as file:
        _require_whole(path, file)
        file.seek(0)
        with reading(path):
            return flat(np.load(file, allow_pickle=False))


def _require_whole(path: Path, file: IO[bytes]) -> None:
    """Refuse a file that is of another kind, or shorter than it says."""
    _require_magic(path, file.read(len(_MAGIC)))
    file.seek(0)
    with reading(path):
        found = header(file)
    require_size(path, "", found, os.fstat(file.fileno()).st_size)


def require_size(path: Path, part: str, found: Header | None, n_byte: int) -> None:
    """Refuse an array whose numbers are not all there, before NumPy makes room for them, and one that more follows."""
    if found is None or found.n_byte == n_byte:
        return
    came = f"its shape {found.shape} needs {found.n_byte} bytes, and there are {n_byte}"
    if found.n_byte > n_byte:
        raise FileError(path, f"{part} cannot be read; truncated or damaged? {came}")
    raise FileError(path, f"{part} goes on after its array; several files in one? {came}")


def header(file: IO[bytes]) -> Header | None:
    """The header of an array; None for what has no size: Python objects.

    What NumPy says of one that it cannot read repeats it, and advises to trust it.
    """
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError("its version is that of no array of numbers or text")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        shape, by_column, dtype = read(file)
    except (ArithmeticError, LookupError, MemoryError, RuntimeError, SyntaxError, TypeError, ValueError, *_DAMAGED):
        raise ValueError("its header is none of an array") from None
    if any(not 0 <= length < 2**62 for length in shape):
        raise ValueError(f"its shape {shape} is none that an array can have")
    return None if dtype.hasobject else Header(shape, dtype, file.tell(), by_column)


def _require_magic(path: Path, start: bytes) -> None:
    """Refuse what does not begin as a ``.npy`` file does; a file that is cut off within that is for NumPy to refuse."""
    if not _MAGIC.startswith(start):
        pickled = " (pickles are never loaded)" if start.startswith(b"\x80") else ""
        raise FileError(path, f" is not a .npy file, whatever its name says{pickled}")


@contextmanager
def reading(path: Path, part: str = "") -> Iterator[None]:
    """Say in one line what NumPy, zipfile and zlib say in many ways."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EINVAL:  # a damaged archive sends zipfile to a place before the file's beginning
            raise
        raise FileError(path, f"{part} cannot be read; truncated or damaged?") from None
    except MemoryError as error:
        raise MemoryError(printable(f"{path}{part}: {error}", MOST)) from None
    except (ArithmeticError, EOFError, LookupError, RuntimeError, TypeError, ValueError, *_DAMAGED) as error:
        said = reason(error)
        if "Object arrays" in said or "Python objects in dtype" in said:
            raise FileError(
                path,
                f"{part} holds Python objects, which are pickled and never loaded: "
                "save numbers or strings of a fixed width (array.astype(str))",
            ) from None
        if "pickle" in said:
            said = "neither NumPy's format nor an archive (pickles are never loaded)"
        raise FileError(path, f"{part} cannot be read; truncated or damaged? {said}") from None


def flat(array: Array) -> Labels:
    """A row or a column of labels as (n,); any other shape as it is."""
    return array.ravel() if array.ndim == 2 and 1 in array.shape else array
