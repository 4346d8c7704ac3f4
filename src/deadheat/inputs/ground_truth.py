"""Nearest neighbours as benchmarks of vector indexes publish them: ids, and distances where a file has them.

- `.h5`, `.hdf5` as ann-benchmarks has them: arrays `neighbors` and `distances`.
- `.ibin`, `.fbin` as big-ann-benchmarks has them: two uint32 numbers, rows and columns, and then int32 or float32. A
  `.bin` file of its ground truth has both, first all ids and then all distances.
- `.npy`, an array of either.
- `.parquet` as VectorDBBench has it: a column of lists of ids, and perhaps one of distances.

Rows of HDF5 and Parquet may differ in length.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import FileError, InvalidValueError
from deadheat.inputs import limits
from deadheat.inputs.files import FileLayout, unreadable
from deadheat.inputs.formats import numpy_files
from deadheat.inputs.formats.columns import read_columns
from deadheat.inputs.formats.keyed import HDF5

_HEAD = 8  # bytes
_BINARY = {".ibin": ("<i4",), ".fbin": ("<f4",), ".bin": ("<i4", "<f4")}
_ENDINGS = (".h5", ".hdf5", *_BINARY, ".npy", ".parquet")
_ROUNDED = 1e-4  # of a distance in a file
_NAMES = {"i": ("neighbors", "neighbors_id", "neighbor_ids", "ids"), "f": ("distances", "neighbors_distance")}


class Neighbors(NamedTuple):
    """The neighbours of each query in a file, best first; None for ids or distances that it does not have."""

    ids: Any  # (n_query, depth), or a list of rows
    distances: Any  # the same

    def negated(self) -> Neighbors:
        """Return the same with similarities as distances, or the reverse."""
        far = self.distances
        return Neighbors(self.ids, [-row for row in far] if isinstance(far, list) else None if far is None else -far)


def read_neighbors(path: Path) -> Neighbors:
    """Read the ids and the distances in a file."""
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        raise InvalidValueError("neighbors", f"must be a file that ends in one of {', '.join(_ENDINGS)}, but is {path}")
    if ending in _BINARY:
        result = _binary(path, _BINARY[ending])
    elif ending == ".npy":
        array = numpy_files.labels(path, FileLayout())
        result = {"f" if np.asarray(array).dtype.kind == "f" else "i": np.asarray(array)}
    elif ending == ".parquet":
        with unreadable(path, "Parquet"):
            columns = read_columns(path, lambda held: list(_named(held).values()))
            result = {kind: _rows(columns[name].to_numpy()) for kind, name in _named(columns.column_names).items()}
    else:
        with unreadable(path, "HDF5"), HDF5.opened(path) as file:
            result = {kind: _rows(file.labels(name)) for kind, name in _named(list(file.shapes)).items()}
    odd = next((array.shape for array in result.values() if not isinstance(array, list) and array.ndim != 2), None)
    if not result or odd is not None:
        got = "has neither" if odd is None else f"has an array of shape {odd}"
        raise FileError(path, f" must have ids or distances with a row for each query, but {got}")
    return Neighbors(result.get("i"), result.get("f"))


def looks_swapped(true: Neighbors, result: Neighbors, k: int, tolerance: float) -> str | None:
    """Return what `result` has and a ground truth alone should have, if anything: then the two are perhaps swapped.

    No items are closer than the true ones, so that those of `result` are farther at the k-th place, or as far.
    Distances of files are rounded; where they are of two kinds, such as squared in one file, no conclusion is certain.
    """
    if true.distances is None or result.distances is None:
        if true.distances is not result.distances:
            return "distances" if true.distances is None else None
        more = len(result.ids) == len(true.ids) and min(map(len, result.ids)) > max(map(len, true.ids))
        return "more items for each query" if more else None
    if len(result.distances) != len(true.distances):
        return None
    far, other = (_farthest(each.distances, k) for each in (true, result))
    margin = tolerance + _ROUNDED * np.abs(far)
    with np.errstate(invalid="ignore"):  # infinite: fewer than k
        return "closer items" if (other < far - margin).any() and not (other > far + margin).any() else None


def _farthest(distances: Any, k: int) -> NDArray[np.float64]:
    """Return the largest of the first k distances of each query; infinite where there are fewer."""
    return np.array([np.max(row[:k]) if len(row) >= k else np.inf for row in distances], dtype=np.float64)


def _named(held: list[str]) -> dict[str, str]:
    """Return the names of the ids, "i", and of the distances, "f", as far as a file has them."""
    result = {kind: next((name for name in names if name in held), "") for kind, names in _NAMES.items()}
    return {kind: name for kind, name in result.items() if name}


def _rows(values: NDArray[Any]) -> Any:
    """Return a matrix, or a list of rows if they differ in length; None is a row without items."""
    if values.dtype != object:
        return values
    rows = [np.asarray([] if row is None else row) for row in values]
    return np.stack(rows) if len({len(row) for row in rows}) == 1 else rows


def _binary(path: Path, types: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """Return the matrices of a file by their kind: "i" for ids, "f" for distances."""
    with limits.opened(path) as file:
        head, size = np.fromfile(file, "<u4", 2), os.fstat(file.fileno()).st_size
        n_row, n_column = map(int, head if len(head) == 2 else (0, 0))
        if size != (due := _HEAD + 4 * len(types) * n_row * n_column) or not n_row * n_column:
            said = f"its head says {n_row} rows of {n_column} numbers" if len(head) == 2 else "it has no head"
            raise FileError(path, f" must have {due} bytes, for {said}, but has {size}")
        limits.require_bytes(path, "", size, limits.bytes_held(file))
        return {kind[1]: np.fromfile(file, kind, n_row * n_column).reshape(n_row, n_column) for kind in types}
