"""Files of vectors as benchmarks of vector indexes publish them; what a head claims is compared with the file's size.

- `.fbin`, `.ibin`, `.u8bin`, `.i8bin` of big-ann-benchmarks: two uint32 numbers, rows and columns, and all rows.
- `.fvecs`, `.ivecs`, `.bvecs` of TEXMEX: before each row its dim, int32.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from deadheat.errors import FileError
from deadheat.inputs import limits
from deadheat.inputs.files import FileLayout, Parts
from deadheat.inputs.formats.keyed import strips
from deadheat.support.arrays import Array

_HEAD = 8  # bytes
TYPES = {
    ".fbin": "<f4", ".ibin": "<i4", ".u8bin": "u1", ".i8bin": "i1", ".fvecs": "<f4", ".ivecs": "<i4", ".bvecs": "u1",
}  # fmt: skip


def read(path: Path, layout: FileLayout, parts: Parts) -> list[Any]:
    """Map the rows of a file; where each begins with its dim, return them in pieces, of which each is checked."""
    ending = path.suffix.lower()
    return [_pieces(path, np.dtype(TYPES[ending]))] if ending.endswith("vecs") else mapped(path)


def mapped(path: Path, types: tuple[str | None, ...] = (None,)) -> list[Array]:
    """Return the matrices of a file, one after another, of these types, by default of that of its ending."""
    ending = path.suffix.lower()
    if ending.endswith("vecs"):
        return [np.concatenate([*_pieces(path, np.dtype(TYPES[ending]))])]
    kinds = [np.dtype(kind or TYPES[ending]) for kind in types]
    with limits.opened(path) as file:
        head, size = np.fromfile(file, "<u4", 2), os.fstat(file.fileno()).st_size
        n_row, n_column = map(int, head if len(head) == 2 else (0, 0))
        due = _HEAD + sum(kind.itemsize for kind in kinds) * n_row * n_column
        if size != due or not n_row * n_column:
            said = f"its head says {n_row} rows of {n_column} numbers" if len(head) == 2 else "it has no head"
            raise FileError(path, f" must have {due} bytes, for {said}, but has {size}")
        _require(path, file, n_column)
        places = [_HEAD + sum(kind.itemsize for kind in kinds[:i]) * n_row * n_column for i in range(len(kinds))]
        return [np.memmap(file, kind, "r", place, (n_row, n_column)) for kind, place in zip(kinds, places, strict=True)]


def _pieces(path: Path, kind: np.dtype[Any]) -> Iterator[Array]:
    """Yield rows that each begin with their dim, which is the same for all."""
    with limits.opened(path) as file:
        head, size = np.fromfile(file, "<i4", 1), os.fstat(file.fileno()).st_size
        dim = int(head[0]) if len(head) else 0
        row = 4 + dim * kind.itemsize
        if dim < 1 or size % row:
            said = f"its first row says a dim of {dim}" if len(head) else "it has no row"
            raise FileError(path, f" must be rows of one dim, but {said}, and the file has {size} bytes")
        _require(path, file, dim)
        file.seek(0)
        for rows in strips((size // row, row), 1):
            content = np.fromfile(file, np.uint8, (rows.stop - rows.start) * row)
            if len(content) != (rows.stop - rows.start) * row:
                raise FileError(path, " must stay as it is while it is read, but has changed")
            content = content.reshape(-1, row)
            dims = np.ascontiguousarray(content[:, :4]).view("<i4")[:, 0]
            for wrong in np.flatnonzero(dims != dim)[:1]:
                rule = f"must have the dim of the first, {dim}, but has {dims[wrong]}"
                raise FileError(path, f", row {rows.start + wrong}: {rule}")
            yield np.ascontiguousarray(content[:, 4:]).view(kind)


def _require(path: Path, file: IO[bytes], dim: int) -> None:
    limits.require_columns(path, "", dim)
    limits.require_bytes(path, "", os.fstat(file.fileno()).st_size, limits.bytes_held(file))
