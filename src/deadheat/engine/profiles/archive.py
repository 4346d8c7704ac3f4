"""A profile as bytes: the canonical ones for its digest, and a compressed NumPy archive (`.npz`)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import DeadheatError, FileError
from deadheat.support import checks, scratch
from deadheat.support.arrays import slices
from deadheat.support.atomic import replacing
from deadheat.support.lazy import lazy

numpy_files: Any = lazy("deadheat.inputs.formats.numpy_files")

_AT_ONCE = 1 << 20  # entries
_FORMAT = "deadheat.TieProfile 1"


def canonical(arrays: Mapping[str, NDArray[Any]], bounds_only: bool) -> Iterator[bytes]:
    """Yield the bytes that `TieProfile.digest` describes, in pieces that are the same for equal profiles."""
    yield f"{_FORMAT}\n{'bounds' if bounds_only else 'exact'}\n".encode()
    for name, array in arrays.items():
        yield f"{name} {' '.join(map(str, array.shape))}\n".encode()
        for some in slices(len(array), _AT_ONCE):
            yield array[some].astype(f"<{array.dtype.kind}8").tobytes()
            scratch.let_go(array)
        yield b"\n"


def write(path: str | os.PathLike[str], bounds_only: bool, digest: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    with replacing(path) as file:
        np.savez_compressed(file, allow_pickle=False, format=_FORMAT, bounds_only=bounds_only, digest=digest, **arrays)
    scratch.let_go(*arrays.values())


def read(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """Return the digest, and all else that `write` was given."""
    checks.without_nul(path)
    try:
        with numpy_files.NPZ.opened(path) as archive:
            content: dict[str, Any] = {name: archive.labels(name) for name in archive.shapes}
    except FileError as error:
        raise not_a_profile(path, error) from None
    if str(content.pop("format", "")) != _FORMAT:
        raise FileError(path, f" does not hold a tie profile of this version ({_FORMAT!r})")
    return str(content.pop("digest", "")), content


def not_a_profile(path: str | os.PathLike[str], error: Exception) -> FileError:
    """Return the error for a file that is no profile, without NumPy's message, which advises to trust the file."""
    why = f": {error}" if isinstance(error, DeadheatError) else ""
    return FileError(path, f" is not a saved tie profile, or is damaged{why}")
