"""A profile as bytes: the canonical ones for its digest, and a compressed NumPy archive (`.npz`)."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from deadheat.errors import DeadheatError, FileError
from deadheat.support import checks
from deadheat.support.arrays import Array, slices
from deadheat.support.atomic import replacing
from deadheat.support.lazy import lazy

numpy_files: Any = lazy("deadheat.inputs.formats.numpy_files")

_AT_ONCE = 1 << 18  # entries
_FORMAT = "deadheat.TieProfile 1"


class ArrayPieces(NamedTuple):
    """An array of a profile, in pieces that are the same for equal profiles."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    pieces: Callable[[], Iterable[Array]]

    @classmethod
    def of(cls, array: Array) -> ArrayPieces:
        return cls(array.shape, array.dtype, lambda: (array[some] for some in slices(len(array), _AT_ONCE)))


def canonical(columns: Mapping[str, ArrayPieces], bounds_only: bool) -> Iterator[bytes]:
    """Yield the bytes that `TieProfile.digest` describes, in pieces that are the same for equal profiles."""
    yield f"{_FORMAT}\n{'bounds' if bounds_only else 'exact'}\n".encode()
    for name, column in columns.items():
        yield f"{name} {' '.join(map(str, column.shape))}\n".encode()
        for piece in column.pieces():
            yield piece.astype(f"<{column.dtype.kind}8").tobytes()
        yield b"\n"


def write(path: str | os.PathLike[str], bounds_only: bool, digest: str, columns: Mapping[str, ArrayPieces]) -> None:
    """Write an archive as `numpy.savez_compressed` does, but of columns in pieces."""
    texts = {"format": _FORMAT, "bounds_only": bounds_only, "digest": digest}
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in texts.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.array(value), allow_pickle=False)
        for name, (shape, dtype, pieces) in columns.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(member, header)
                for piece in pieces():
                    member.write(np.ascontiguousarray(piece).tobytes())


def read(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """Return the digest, and all else that `write` was given."""
    checks.path(path)
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
