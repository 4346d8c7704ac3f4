"""Several labels a row: read from a matrix of 0 and 1 or from sets, and kept as bits.

matrix (n, n_label), sparse matrix, list of sets ──label_sets──> LabelSets ──aligned──> the same labels in both
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import conversion
from deadheat.inputs.labels import labels as checked_labels
from deadheat.support.arguments import VALUES, names_argument, naming
from deadheat.support.arrays import Bool, Int64

Words = NDArray[np.uint64]
_SETS = (set, frozenset, list, tuple)


@dataclass(frozen=True, eq=False)
class LabelSets:
    """The labels of rows that may have several each."""

    words: Words  # (n, n_word), one bit for each label, that of label i in word i // 64
    names: tuple[Any, ...]  # the labels, bit by bit: column numbers, integers or strings

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, rows: Any) -> LabelSets:
        return LabelSets(self.words[rows], self.names)

    def shared(self, other: LabelSets, rows: slice) -> Int64:
        """Return how many labels some of the rows share with every row of another, (n_row, n_other)."""
        n_shared: Int64 = np.zeros((len(self.words[rows]), len(other)), dtype=np.int64)
        for mine, theirs in zip(self.words[rows].T, other.words.T, strict=True):
            n_shared += np.bitwise_count(mine[:, None] & theirs)
        return n_shared

    def shares(self, other: LabelSets, rows: slice | Int64) -> Bool:
        """Return which rows of another share a label with some of the rows, (n_row, n_other)."""
        shares = np.zeros((len(self.words[rows]), len(other)), dtype=np.bool_)
        for mine, theirs in zip(self.words[rows].T, other.words.T, strict=True):
            shares |= (mine[:, None] & theirs) != 0
        return shares

    def rows(self) -> list[list[Any]]:
        """Return the labels of each row in ascending order; those of a matrix are the numbers of columns."""
        bits = self.bits()
        names = list(map(int, self.names)) if all(isinstance(name, ColumnLabel) for name in self.names) else self.names
        return [[names[i] for i in np.flatnonzero(row)] for row in bits]

    def bits(self) -> NDArray[np.uint8]:
        """Return 0 or 1 for each row and label, padded with zeros."""
        return np.unpackbits(self.words.view(np.uint8), axis=1, bitorder="little")

    def classes(self) -> Int64:
        """Return rows of equal labels as classes, by number from 0 on, (n,); a row without labels has its own."""
        return np.asarray(np.unique(numbered(self)[0], return_inverse=True)[1], dtype=np.int64).reshape(-1)

    def sizes(self) -> Int64:
        """Return the number of labels of each row, (n,)."""
        return np.asarray(np.bitwise_count(self.words).sum(axis=1, dtype=np.int64))


def are_several(values: Any) -> bool:
    """Return whether labels are several a row: a matrix of more than one row and column, or a list of sets."""
    if isinstance(values, LabelSets):
        return True
    if isinstance(values, (list, tuple)):
        return len(values) > 0 and all(isinstance(row, _SETS) for row in values)
    shape = getattr(values, "shape", ())
    return len(shape) == 2 and (hasattr(values, "tocsr") or 1 not in shape)


def as_sets(values: Any) -> Any:
    """Return a column of lists, of pandas, NumPy or Arrow, as a list of sets of labels; anything else unchanged."""
    if conversion.speaks_arrow(values) and not conversion.is_frame(values):
        with naming("labels"):
            column = conversion.from_arrow(values)
        kind = getattr(column, "type", None)
        return column.to_pylist() if kind is not None and conversion.is_list_type(kind) else values
    if getattr(getattr(values, "dtype", None), "kind", "") != "O" or len(getattr(values, "shape", ())) != 1:
        return values
    rows = list(values)
    several = bool(rows) and all(isinstance(row, (*_SETS, np.ndarray)) for row in rows)
    return [row.tolist() if isinstance(row, np.ndarray) else row for row in rows] if several else values


@names_argument
def label_sets(values: Any, n: int, what: str) -> LabelSets:
    """Check labels of several a row: one row of labels for each of `n` items."""
    if isinstance(values, LabelSets):
        sets = values
    elif isinstance(values, (list, tuple)):
        sets = _of_sets(values)
    else:
        sets = _of_sparse(values) if hasattr(values, "tocsr") else _of_matrix(values)
    if len(sets) != n:
        rule = f"must have one entry per row of {what}, but got labels of {len(sets)} rows for {n} rows"
        raise InvalidValueError(VALUES, rule)
    return sets


def aligned(query: LabelSets, gallery: LabelSets) -> tuple[LabelSets, LabelSets]:
    """Return the labels of queries and gallery with one bit for the same label in both."""
    columns = [any(isinstance(label, ColumnLabel) for label in sets.names) for sets in (query, gallery)]
    with naming("labels and gallery_labels"):
        if all(columns):
            if len(query.names) != len(gallery.names):
                rule = f"must have as many columns, but have {len(query.names)} and {len(gallery.names)}"
                raise InvalidValueError(VALUES, rule)
            return query, gallery
        if any(columns):
            raise InvalidTypeError(VALUES, "must both be matrices or both be sets of labels")
        names = _sorted({*query.names, *gallery.names})
    return _renamed(query, names), _renamed(gallery, names)


@names_argument
def require_no_relevance(sets: Any) -> None:
    """Refuse a relevance matrix, whose entries say which rows are relevant to which, in the place of labels.

    It is square and symmetric with a full diagonal. Where each row has only its own label, either reading is the same.
    """
    n = len(sets)
    if not isinstance(sets, LabelSets) or n < 3 or len(sets.names) != n or not isinstance(sets.names[0], ColumnLabel):
        return
    row = np.arange(n)
    diagonal = sets.words[row, row // 64] >> (row % 64).astype(np.uint64) & np.uint64(1)
    if diagonal.all() and (sets.sizes() > 1).any() and _is_symmetric(sets.words, n):
        rule = f"must have a column for each label, but is a relevance matrix, ({n}, {n}), symmetric and with"
        takes = f"from_scores(scores, relevant, junk=np.eye({n}, dtype=bool)) takes it"
        raise InvalidValueError(VALUES, f"{rule} a full diagonal: {takes}, and from_judged takes its pairs")


def _is_symmetric(words: Words, n: int) -> bool:
    """Return whether the bits of n rows are those of n columns, compared in blocks of 64 rows."""
    for word in range(words.shape[1]):
        columns, rows = (
            np.unpackbits(np.ascontiguousarray(part).view(np.uint8), axis=1, bitorder="little")
            for part in (words[:, word : word + 1], words[64 * word : 64 * (word + 1)])
        )
        if not np.array_equal(columns[:, : len(rows)].T, rows[:, :n]):
            return False
    return True


class ColumnLabel(int):
    """The number of a column of a matrix, which stands for its label."""


_BITS_ALONE = "must hold 0 and 1 alone where a row has several"


def _of_matrix(values: Any) -> LabelSets:
    matrix = conversion.plain(values)
    if matrix.dtype.kind not in "biuf":
        raise InvalidTypeError(VALUES, f"{_BITS_ALONE}, but has dtype {matrix.dtype}")
    wrong = np.flatnonzero(((matrix != 0) & (matrix != 1)).any(axis=1))
    if len(wrong):
        raise InvalidValueError(VALUES, f"{_BITS_ALONE}, but row {wrong[0]} has another")
    packed = np.packbits(matrix.astype(np.bool_), axis=1, bitorder="little")
    words = np.zeros((len(packed), max(1, -(-packed.shape[1] // 8)) * 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    return LabelSets(words.view("<u8").astype(np.uint64), tuple(map(ColumnLabel, range(matrix.shape[1]))))


def _of_sparse(values: Any) -> LabelSets:
    matrix = conversion.compressed_rows(values)
    given = matrix.data != 0
    if (matrix.data[given] != 1).any():
        raise InvalidValueError(VALUES, f"{_BITS_ALONE}, but holds another")
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[given]
    return LabelSets(_bits(row, matrix.indices[given], matrix.shape), tuple(map(ColumnLabel, range(matrix.shape[1]))))


def _of_sets(values: Sequence[Any]) -> LabelSets:
    """Return the labels of sets, which are all integers or all strings."""
    every = [label for row in values for label in row]
    listed = checked_labels(every, len(every), VALUES, "itself").tolist() if every else []
    names = _sorted(set(listed))
    number = {label: i for i, label in enumerate(names)}
    row = np.repeat(np.arange(len(values)), [len(labels) for labels in values])
    column = np.array([number[label] for label in listed], dtype=np.int64)
    return LabelSets(_bits(row, column, (len(values), len(names))), names)


def _sorted(labels: Iterable[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(labels))
    except TypeError:
        raise InvalidTypeError(VALUES, "must be all integers or all strings, but holds a mixture of both") from None


def _renamed(sets: LabelSets, names: tuple[Any, ...]) -> LabelSets:
    number = {label: i for i, label in enumerate(names)}
    row, column = np.nonzero(sets.bits()[:, : len(sets.names)])
    moved = np.array([number[label] for label in sets.names], dtype=np.int64)
    return LabelSets(_bits(row, moved[column], (len(sets), len(names))), names)


def _bits(row: Int64, column: Int64, shape: tuple[int, int]) -> Words:
    words = np.zeros((shape[0], max(1, -(-shape[1] // 64))), dtype=np.uint64)
    np.bitwise_or.at(words, (row, column // 64), np.uint64(1) << (column % 64).astype(np.uint64))
    return words


def numbered(query: LabelSets, gallery: LabelSets | None = None) -> tuple[Int64, Int64]:
    """Return one integer for each row, equal where the sets of labels are; of a row without labels, one of its own.

    Without a gallery both are those of the queries.
    """
    every = query.words if gallery is None else np.concatenate([query.words, gallery.words])
    _, code = np.unique(every, axis=0, return_inverse=True)
    code = code.reshape(-1).astype(np.int64)
    empty = ~every.any(axis=1)
    code[empty] = -1 - np.arange(np.count_nonzero(empty))
    return (code, code) if gallery is None else (code[: len(query)], code[len(query) :])
