"""NumPy's own files: one array, mapped or read whole, and one line for everything that can be wrong with one."""

from __future__ import annotations

import errno
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import FileError
from deadheat.inputs.layout import Labels, Layout

Array = NDArray[Any]

_MAGIC = b"\x93NUMPY"

# What the readers below NumPy raise on bytes that are not theirs, beside built-in errors.
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError)


def embeddings(path: Path, layout: Layout) -> Array:
    """The array of a ``.npy`` file, which stays on disk."""
    with open(path, "rb") as file:
        start = file.read(len(_MAGIC))
    _require_magic(path, start)
    with reading(path):
        return np.lib.format.open_memmap(path, mode="r")


def labels(path: Path, layout: Layout) -> Labels:
    """The array of a ``.npy`` file, in memory."""
    with open(path, "rb") as file:
        _require_magic(path, file.read(len(_MAGIC)))
        file.seek(0)
        with reading(path):
            return flat(np.load(file, allow_pickle=False))


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
    except (ArithmeticError, EOFError, LookupError, RuntimeError, TypeError, ValueError, *_DAMAGED) as error:
        reason = " ".join(str(error).split())
        if ("allow_pickle" in reason and "Object arrays" in reason) or "Python objects in dtype" in reason:
            raise FileError(
                path,
                f"{part} holds Python objects, which are pickled and never loaded: "
                "save numbers or strings of a fixed width (array.astype(str))",
            ) from None
        if "pickled" in reason:
            reason = "neither NumPy's format nor an archive (pickles are never loaded)"
        raise FileError(path, f"{part} cannot be read; truncated or damaged? {reason}") from None


def flat(array: Array) -> Labels:
    """A row or a column of labels as (n,); any other shape as it is."""
    return array.ravel() if array.ndim == 2 and 1 in array.shape else array
