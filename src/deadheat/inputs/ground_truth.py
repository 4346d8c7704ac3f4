"""Nearest neighbours as benchmarks of vector indexes publish them: ids, and distances where a file has them.

- `.h5`, `.hdf5` as ann-benchmarks has them: arrays `neighbors` and `distances`.
- `.ibin`, `.fbin` as big-ann-benchmarks has them, `.ivecs`, `.fvecs` as TEXMEX (SIFT1M) does: see `vectors`. A `.bin`
  file of big-ann's ground truth has both, first all ids and then all distances.
- `.npy`, an array of either; `.npz` with arrays of these names, or one alone.
- `.parquet` as VectorDBBench has it: a column of lists of ids, and perhaps one of distances.
- `.jsonl`: for each query a line with a list of ids, a list of pairs of an id and a distance, or an object of lists.

Rows of HDF5, Parquet and JSON lines may differ in length.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import FileError, InvalidValueError
from deadheat.inputs.files import LABELS, FileLayout, unreadable, unzipped
from deadheat.inputs.formats import numpy_files, vectors
from deadheat.inputs.formats.columns import read_columns
from deadheat.inputs.formats.keyed import HDF5
from deadheat.support.lazy import json

_VECTORS = (".ibin", ".ivecs", ".fbin", ".fvecs")
_ENDINGS = (".h5", ".hdf5", *_VECTORS, ".bin", ".npy", ".npz", ".parquet", ".jsonl")
_ROUNDED = 1e-4  # of a distance in a file
_NAMES = {
    "i": ("neighbors", "neighbors_id", "neighbor_ids", "ids", "closest_ids"),
    "f": ("distances", "neighbors_distance", "scores", "closest_scores"),
}


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
    result: dict[str, Any]
    if ending in (*_VECTORS, ".bin"):
        types = ("<i4", "<f4") if ending == ".bin" else (None,)
        arrays = [np.array(array) for array in vectors.mapped(path, types)]
        result = {array.dtype.kind: array for array in arrays}
    elif ending == ".npy":
        (array,) = numpy_files.read(path, FileLayout(), LABELS)
        result = {"f" if array.dtype.kind == "f" else "i": array}
    elif ending == ".jsonl":
        result = _of_lines(path)
    elif ending == ".parquet":
        with unreadable(path, "Parquet"):
            columns = read_columns(path, lambda held: list(_named(held).values()))
            result = {kind: _rows(columns[name].to_numpy()) for kind, name in _named(columns.column_names).items()}
    else:
        reader, library = (numpy_files.NPZ, "") if ending == ".npz" else (HDF5, "HDF5")
        with unreadable(path, library), reader.opened(path) as file:
            held = list(file.shapes)
            named = _named(held) or ({"i": held[0]} if ending == ".npz" and len(held) == 1 else {})
            result = {kind: _rows(file.labels(name)) for kind, name in named.items()}
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
    return _even([np.asarray([] if row is None else row) for row in values])


def _even(rows: list[NDArray[Any]]) -> Any:
    """Return rows as a matrix, or unchanged if they differ in length."""
    return np.stack(rows) if len({len(row) for row in rows}) == 1 else rows


def _of_lines(path: Path) -> dict[str, Any]:
    """Return the rows of JSON lines: lists of ids, or of pairs of an id and a number, or objects of lists."""
    rows: dict[str, list[Any]] = {"i": [], "f": []}
    with unzipped(path) as file:
        for line, text in enumerate(file, 1):
            if not text.strip():
                continue
            try:
                ids, numbers = _lists_of(json.loads(text))
                rows["i"].append(np.array(ids, dtype=None if ids else np.int64))
                rows["f"].append(np.array(numbers, dtype=np.float64))
                ok = rows["i"][-1].dtype.kind in "iU" and rows["f"][-1].shape in ((0,), rows["i"][-1].shape)
            except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
                ok = False
            if not ok:
                raise FileError(path, f", line {line}: must be ids of one kind, each perhaps with a number")
    has_numbers = any(map(len, rows["f"]))
    odd = next((row for row, (i, f) in enumerate(zip(*rows.values(), strict=True)) if len(i) != len(f)), None)
    if has_numbers and odd is not None:
        raise FileError(path, f" must have numbers in each line, or in none, but has none for query {odd}")
    return {kind: _even(row) for kind, row in rows.items() if row and (kind == "i" or has_numbers)}


def _lists_of(record: Any) -> tuple[list[Any], list[Any]]:
    """Return the ids and the numbers of a line."""
    if isinstance(record, dict):
        named = _named(list(record))
        return record[named["i"]], record[named["f"]] if "f" in named else []
    pairs = [each for each in record if isinstance(each, list)]
    if not pairs:
        return record, []
    ids, numbers = zip(*record, strict=True)
    return list(ids), list(numbers)
