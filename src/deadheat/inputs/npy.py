"""NumPy's own files, read whole or mapped, and one line for everything that can be wrong with one."""

from __future__ import annotations

import errno
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_MAGIC = b"\x93NUMPY"

# What the readers below NumPy raise on bytes that are not theirs, beside built-in errors.
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError)


def read(path: str | os.PathLike[str], title: str | None = None) -> Array:
    """A ``.npy`` file in memory; messages call it `title`, by default its path."""
    title = title or os.fspath(path)
    with open(path, "rb") as file, reading(title):
        array = np.load(file, allow_pickle=False)
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{title} is not a .npy file, whatever its name says")
    return array


def mapped(path: str | os.PathLike[str], title: str) -> np.memmap[Any, Any]:
    """A ``.npy`` file as an array that stays on disk; messages call it `title`."""
    with open(path, "rb") as file:
        if not _MAGIC.startswith(file.read(len(_MAGIC))):
            raise ValueError(f"{title} is not a .npy file, whatever its name says")
    with reading(title):
        return np.lib.format.open_memmap(path, mode="r")


@contextmanager
def reading(title: object, part: str = "") -> Iterator[None]:
    """Say in one line what NumPy, zipfile and zlib say in many ways."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EINVAL:  # a damaged archive sends zipfile to a place before the file's beginning
            raise
        raise ValueError(f"{title}{part} cannot be read; truncated or damaged?") from None
    except (ArithmeticError, EOFError, LookupError, RuntimeError, TypeError, ValueError, *_DAMAGED) as error:
        reason = " ".join(str(error).split())
        if ("allow_pickle" in reason and "Object arrays" in reason) or "Python objects in dtype" in reason:
            raise ValueError(
                f"{title}{part} holds Python objects, which are pickled and never loaded: "
                "save numbers or strings of a fixed width (array.astype(str))"
            ) from None
        if "pickled" in reason:
            reason = "neither NumPy's format nor an archive (pickles are never loaded)"
        raise ValueError(f"{title}{part} cannot be read; truncated or damaged? {reason}") from None


def flat(labels: Array) -> Array:
    """A row or a column of labels as (n,); any other shape as it is."""
    return labels.ravel() if labels.ndim == 2 and 1 in labels.shape else labels
