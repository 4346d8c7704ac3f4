"""Sparse embeddings, of SciPy or PyTorch: kept as compressed rows, and made dense a few rows at a time."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs.arrays import float_type, require_exact, require_filled
from deadheat.inputs.conversion import compressed_rows, converting, on_host
from deadheat.inputs.source import Index, Rows, Source
from deadheat.support.arguments import VALUES
from deadheat.support.arrays import Bool, Int64, offsets_of, runs_joined
from deadheat.support.caching import cached_property
from deadheat.support.lazy import lazy

zlib: Any = lazy("zlib")


_MOST_COLUMNS = 1 << 20  # of rows that are multiplied as they are, which takes memory for each


class SparseRows(Source):
    """Rows of a sparse matrix: row i has `values` at `columns`, from ``starts[i]`` to before ``starts[i + 1]``."""

    def __init__(self, shape: tuple[int, int], starts: Int64, columns: Index, values: Rows) -> None:
        self.shape, self.stored, self.dtype = shape, values.dtype, float_type(values.dtype)
        self._starts, self._columns, self._values = starts, columns, values

    @cached_property
    def compressed(self) -> tuple[Rows, Rows, Rows] | None:  # type: ignore[override]
        if self.shape[1] > _MOST_COLUMNS or not len(self._values):
            return None
        parts = (self._starts, np.int64), (self._columns, np.int32), (self._values, self.dtype)
        starts, columns, values = (np.ascontiguousarray(array, dtype=dtype) for array, dtype in parts)
        return starts, columns, values

    def state(self) -> Hashable:
        return int(zlib.crc32(np.ascontiguousarray(self._values), zlib.crc32(np.ascontiguousarray(self._columns))))

    def _read_into(self, start: int, out: Rows) -> None:
        self._take_into(np.arange(start, start + len(out)), out)

    def _take_into(self, index: Index, out: Rows) -> None:
        lengths = self._starts[index + 1] - self._starts[index]
        places = runs_joined(self._starts[index], lengths)
        out[:] = 0
        out[np.repeat(np.arange(len(index)), lengths), self._columns[places]] = self._values[places]

    def of_columns(self, chosen: Bool) -> SparseRows:
        """Return the same rows, of the chosen columns alone."""
        kept, column = chosen[self._columns], np.cumsum(chosen) - 1
        shape = self.shape[0], int(column[-1]) + 1
        return SparseRows(shape, offsets_of(kept)[self._starts], column[self._columns[kept]], self._values[kept])


def shared_columns(query: Source, gallery: Source) -> tuple[Source, Source]:
    """Return sparse rows without the columns that are 0 in all queries or in all items, which no product needs."""
    if not (isinstance(query, SparseRows) and isinstance(gallery, SparseRows)):
        return query, gallery
    used = [np.isin(np.arange(rows.shape[1]), rows._columns) for rows in (query, gallery)]
    both = used[0] & used[1]
    both[0] |= not both.any()  # there is a column
    return query.of_columns(both), gallery.of_columns(both)


def is_sparse(values: Any) -> bool:
    """Return whether something is a sparse matrix of SciPy, or a sparse tensor of PyTorch."""
    return (hasattr(values, "tocsr") and hasattr(values, "todense")) or _is_tensor(values)


def _is_tensor(values: Any) -> bool:
    return hasattr(values, "to_dense") and str(getattr(values, "layout", "")).startswith("torch.sparse")


def sparse_rows(values: Any) -> Source:
    """Check a sparse matrix, which may have no rows; entries that are given twice add up, as in ``toarray()``."""
    if len(values.shape) != 2:
        raise InvalidValueError(VALUES, f"must be two-dimensional (n, dim), but has shape {tuple(values.shape)}")
    shape = int(values.shape[0]), int(values.shape[1])
    if shape[0]:
        require_filled(shape)
    starts, columns, numbers = _of_tensor(values) if _is_tensor(values) else _of_scipy(values)
    source = SparseRows(shape, starts, columns, numbers)
    with np.errstate(invalid="ignore"):
        inexact = ~np.isfinite(numbers) if numbers.dtype.kind == "f" else (numbers > 2**53) | (numbers < -(2**53))
    for index in np.flatnonzero(inexact)[:1]:
        row = int(np.searchsorted(starts, index, side="right")) - 1
        is_float = numbers.dtype.kind == "f"
        require_exact(source.read(row, row + 1) if is_float else numbers[index : index + 1, None], VALUES, row)
    return source


def _of_scipy(values: Any) -> tuple[Int64, Index, Rows]:
    rows = compressed_rows(values)
    float_type(rows.dtype)
    return rows.indptr.astype(np.int64), rows.indices, rows.data


def _of_tensor(values: Any) -> tuple[Int64, Index, Rows]:
    with converting(values):  # PyTorch cannot sort those of float8, or on the device "meta"
        rows = values.detach().cpu().to_sparse_coo().coalesce()
    if rows.sparse_dim() != 2:
        raise InvalidTypeError(
            VALUES, "must hold numbers, but is a sparse tensor of dense rows: give tensor.to_dense()"
        )
    row, columns = rows.indices().numpy()
    wrong = (columns < 0) | (columns >= rows.shape[1])  # PyTorch does not check by default
    for index in np.flatnonzero(wrong)[:1]:
        rule = f"must have columns from 0 to {rows.shape[1] - 1}, but row {row[index]} has column {columns[index]}"
        raise InvalidValueError(VALUES, rule)
    return offsets_of(np.bincount(row, minlength=len(rows))), columns, on_host(rows.values())
