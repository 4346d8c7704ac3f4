"""Ids of queries, gallery items and neighbours, checked and matched. An id is an integer or a string, never a float.

`own_rows` gives the row of the gallery that each query is, so that no query is ranked for itself. The results of vector
indexes (ids and scores of each query's neighbours) are given as matrices in which short rows are padded, or as lists of
rows; they become flat arrays without padding, with the length of each row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs.arrays import float_type
from deadheat.inputs.conversion import on_host, plain
from deadheat.inputs.labels import joined, label_codes, labels
from deadheat.support import checks
from deadheat.support.arguments import VALUES, names_argument, naming
from deadheat.support.arrays import Array, Bool, Int64, offsets_of

OwnRows: TypeAlias = ArrayLike | tuple[ArrayLike, ArrayLike]

_ROW_RULE = (
    "must be a row of the gallery for each query, -1 for none, or a pair: the ids of the queries and of the gallery"
)
NOTHING = -1  # the id of faiss where a row is short
_ID_RULE = "must be integers or strings, a row of them for each query"


def own_rows(exclude: OwnRows, n_query: int, n_gallery: int) -> Int64:
    """Return the row of the gallery that each query is, (n_query,), −1 for none.

    `exclude` has these rows, or is a pair of ids, (n_query,) and (n_gallery,): a query and a gallery item with equal
    ids are the same item. Queries may share an id, but items of the gallery may not.
    """
    if isinstance(exclude, (tuple, list)) and len(exclude) == 2 and not any(map(_is_single, exclude)):
        query_ids = labels(exclude[0], n_query, "exclude[0]", "embeddings")
        gallery_ids = labels(exclude[1], n_gallery, "exclude[1]", "gallery")
        return rows_by_id(query_ids, gallery_ids, ("exclude", "exclude[1]"))
    ragged = f"{_ROW_RULE}, but its entries differ in length"
    rows = plain(exclude, "exclude", ragged=ragged, unmasked="-1 stands for no row")
    if rows.shape != (n_query,):
        raise InvalidValueError("exclude", f"{_ROW_RULE}, but has shape {rows.shape} for {n_query} queries")
    if rows.dtype.kind not in "iu":
        raise InvalidTypeError("exclude", f"{_ROW_RULE}, but has dtype {rows.dtype}")
    outside = (rows < -1) | (rows >= n_gallery)
    if outside.any():
        query = int(np.argmax(outside))
        rule = f"must hold rows of the gallery, 0 to {n_gallery - 1}, or -1 for none, but holds {rows[query]}"
        raise InvalidValueError("exclude", f"{rule} for query {query}")
    return rows.astype(np.int64)


def _is_single(part: Any) -> bool:
    return isinstance(part, (str, bytes)) or not hasattr(part, "__len__") or getattr(part, "ndim", 1) == 0


def rows_by_id(ids: NDArray[Any], gallery_ids: NDArray[Any], names: tuple[str, str]) -> Int64:
    """Return the row of the gallery with each id, −1 if none has it; `names` are those of the arguments."""
    try:
        of_query, of_item = label_codes(ids, gallery_ids)
    except InvalidTypeError:
        rule = f"must have ids of one kind, but they have dtypes {ids.dtype} and {gallery_ids.dtype}"
        raise InvalidTypeError(names[0], rule) from None
    row = np.empty(int(of_item.max()) + 1, dtype=np.int64)
    row[of_item] = np.arange(len(of_item))
    twice = np.flatnonzero(row[of_item] != np.arange(len(of_item)))
    if len(twice):
        first, last = int(twice[0]), int(row[of_item[twice[0]]])
        rule = f"must have an id of its own for each row of the gallery, but rows {first} and {last}"
        raise InvalidValueError(names[1], f"{rule} have {gallery_ids[first]!r}")
    return np.where(of_query >= 0, row[of_query], -1)


class IdRows(NamedTuple):
    """Rows of ids of different lengths, concatenated."""

    values: Array  # (n,)
    lengths: Int64  # (n_row,)

    @property
    def row(self) -> Int64:
        """The row of each value."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def place(self) -> Int64:
        """The place of each value in its row."""
        return np.arange(len(self.values)) - np.repeat(offsets_of(self.lengths)[:-1], self.lengths)

    def take(self, kept: Bool) -> IdRows:
        """Return some of the values, in the same number of rows."""
        return IdRows(self.values[kept], np.bincount(self.row[kept], minlength=len(self.lengths)))

    def matrix(self, values: Array, padding: float) -> Array:
        """Return other values at the same places, as rows of one length, filled up with `padding`."""
        width = int(self.lengths.max(initial=1))
        whole = np.full((len(self.lengths), width), padding, dtype=values.dtype)
        whole[self.row, self.place] = values
        return whole


@names_argument
def id_rows(ids: Any) -> IdRows:
    """Return rows of ids as given, padding included."""
    ids = on_host(ids)
    if hasattr(ids, "__array__"):
        array = plain(ids)
        if array.ndim != 2:
            raise InvalidValueError(VALUES, f"must be two-dimensional (n_query, k), but has shape {array.shape}")
        return IdRows(_ids(array.ravel()), np.full(len(array), array.shape[1]))
    if not hasattr(ids, "__len__") or isinstance(ids, (str, bytes, Mapping)):
        raise InvalidTypeError(VALUES, f"{_ID_RULE}, but is {type(ids).__name__}")
    rows = [[] if row is None else row for row in checks.listed(ids, VALUES, _ID_RULE.removeprefix("must be "))]
    parts = [(_id_row(row, f"{VALUES}[{i}]"), f"row {i}") for i, row in enumerate(rows)]
    values = joined(parts) if parts else np.empty(0, dtype=np.int64)
    return IdRows(values, np.array([len(part) for part, _ in parts], dtype=np.int64))


@names_argument
def _id_row(row: Any) -> Array:
    if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
        raise InvalidTypeError(VALUES, f"must be a row of ids, but is {checks.shown(row)}")
    listed = on_host(row) if hasattr(row, "__array__") else checks.listed(row, VALUES, "a row of ids")
    if isinstance(listed, list) and len({isinstance(item, str) for item in listed}) > 1:
        raise InvalidTypeError(VALUES, "must be all integers or all strings, but holds both")
    array = plain(listed)
    if array.ndim != 1:
        raise InvalidValueError(VALUES, f"must be a row of ids, but has shape {array.shape}")
    return _ids(array if len(array) else np.empty(0, dtype=np.int64))


def _ids(array: Array) -> Array:
    array = array.astype(object) if array.dtype.kind == "T" else array  # of NumPy's own strings some may be missing
    if array.dtype.kind == "O" and all(isinstance(item, str) for item in array.tolist()):
        return array.astype(np.str_)
    if array.dtype.kind == "O" and all(type(item) is int for item in array.tolist()):
        return array
    if array.dtype.kind not in "iuUS":
        swapped = "; faiss returns scores first and ids second" if array.dtype.kind == "f" else ""
        raise InvalidTypeError(VALUES, f"{_ID_RULE}, but have dtype {array.dtype}{swapped}")
    return array


@names_argument
def score_rows(scores: Any, ids: IdRows) -> Array:
    """Return the scores of ids, flat like the ids; the scores of padding may be anything."""
    scores = on_host(scores)
    flat = _flat_matrix(scores, ids) if hasattr(scores, "__array__") else _flat_rows(scores, ids)
    float_type(flat.dtype)
    return flat


def _flat_matrix(scores: Any, ids: IdRows) -> Array:
    array, shape = plain(scores), (len(ids.lengths), int(ids.lengths.max(initial=0)))
    if array.shape != shape:
        raise InvalidValueError(VALUES, f"must have a score for each id, {shape}, but has shape {array.shape}")
    return array.ravel()


def _flat_rows(scores: Any, ids: IdRows) -> Array:
    listed = checks.listed(scores, VALUES, "a row of numbers for each query")
    listed = [[] if row is None else row for row in listed]
    rows = [
        np.ravel(row).tolist()
        if hasattr(row, "__array__")
        else checks.listed(row, f"{VALUES}[{i}]", "a row of numbers")
        for i, row in enumerate(listed)
    ]
    lengths = [len(row) for row in rows]
    if lengths != ids.lengths.tolist():
        pairs = enumerate(zip(lengths, ids.lengths, strict=False))
        odd = (f"{a} scores for {b} ids of query {i}" for i, (a, b) in pairs if a != b)
        got = next(odd, f"{len(rows)} rows for {len(ids.lengths)}")
        raise InvalidValueError(VALUES, f"must have a score for each id, but got {got}")
    return plain([score for row in rows for score in row])


def filled(ids: IdRows, counts: Any = None) -> Bool:
    """Mark the ids that stand for an item: not −1, and among the first `counts` of their row."""
    signed = ids.values.dtype.kind in "iO" and len(ids.values) > 0
    there = ids.values != NOTHING if signed else np.ones(len(ids.values), dtype=np.bool_)
    if counts is None:
        return np.asarray(there, dtype=np.bool_)
    numbers = plain(counts, "counts")
    if numbers.shape != ids.lengths.shape or numbers.dtype.kind not in "iu":
        rule = f"must be one integer for each of the {len(ids.lengths)} queries"
        raise InvalidValueError("counts", f"{rule}, but has dtype {numbers.dtype} and shape {numbers.shape}")
    if ((numbers < 0) | (numbers > ids.lengths)).any():
        rule = f"must be from 0 to the length of a row, but holds {numbers.tolist()}"
        raise InvalidValueError("counts", rule[:120])
    return np.asarray(there & (ids.place < numbers[ids.row]), dtype=np.bool_)


@names_argument
def require_distinct(ids: IdRows, codes: Int64) -> None:
    """Refuse an id that occurs twice within a row; `codes` are equal where ids are."""
    order = np.lexsort((codes, ids.row))
    row, code = ids.row[order], codes[order]
    twice = np.flatnonzero((row[1:] == row[:-1]) & (code[1:] == code[:-1]))
    if len(twice):
        index = order[twice[0]]
        item = ids.values[index : index + 1].tolist()[0]
        raise InvalidValueError(VALUES, f"must be distinct in a row, but query {ids.row[index]} has {item!r} twice")


def numbered(parts: list[tuple[Array, str]]) -> list[Int64]:
    """Assign numbers to ids, equal ones to equal ids; each part has its name in messages."""
    with naming(" and ".join(title for part, title in parts if len(part))):
        whole = joined(parts)
    codes = label_codes(whole)[0] if len(whole) else np.empty(0, dtype=np.int64)
    return np.split(codes, np.cumsum([len(part) for part, _ in parts])[:-1])


@names_argument
def gallery_rows(ids: IdRows, gallery_ids: Any, n_gallery: int, missing: bool = False) -> Int64:
    """Return the row of the gallery that each id is, −1 if it is not in `gallery_ids` and `missing` allows that."""
    of_gallery = None if gallery_ids is None else labels(gallery_ids, n_gallery, "gallery_ids", "the gallery")
    if not len(ids.values):
        return np.empty(0, dtype=np.int64)
    if of_gallery is not None:
        rows = rows_by_id(ids.values, of_gallery, (VALUES, "gallery_ids"))
        unknown = np.flatnonzero(rows < 0)
        if len(unknown) and not missing:
            query, item = ids.row[unknown[0]], ids.values[unknown[0]]
            raise InvalidValueError(VALUES, f"must be among gallery_ids, but query {query} has {item!s}")
        return rows
    if ids.values.dtype.kind not in "iu":
        rule = "must be rows of the gallery, unless gallery_ids says what its items are called"
        raise InvalidTypeError(VALUES, f"{rule}, but have dtype {ids.values.dtype}")
    outside = np.flatnonzero((ids.values < 0) | (ids.values >= n_gallery))
    if len(outside):
        query, item = ids.row[outside[0]], ids.values[outside[0]]
        rule = f"must be rows of the gallery, 0 to {n_gallery - 1}, or -1 for nothing"
        raise InvalidValueError(VALUES, f"{rule}, but query {query} has {item}")
    return ids.values.astype(np.int64)
