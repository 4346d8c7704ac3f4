"""Where each query is in the gallery, as a caller says it, so that no query is ranked for itself.

In comes a row of the gallery for each query, or the ids of both; out goes an array (n_query,), −1 for none.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs.conversion import plain
from deadheat.inputs.labels import label_codes, labels

Int64 = NDArray[np.int64]
OwnRows: TypeAlias = ArrayLike | tuple[ArrayLike, ArrayLike]

_RULE = "must be a row of the gallery for each query, -1 for none, or a pair: the ids of the queries and of the gallery"


def own_rows(exclude: OwnRows, n_query: int, n_gallery: int) -> Int64:
    """The row of the gallery that each query is, (n_query,), −1 for none.

    Parameters
    ----------
    exclude : (n_query,) integers, or a pair of arrays of integers or strings, (n_query,) and (n_gallery,)
        Rows, or ids: a query and a gallery item with equal ids are the same item. Queries may share an id.

    Raises
    ------
    InvalidTypeError, InvalidValueError
        If a row is not in the gallery, or two of its items have one id.

    Examples
    --------
    >>> own_rows([2, -1], 2, 3), own_rows((["b", "x"], ["a", "b", "c"]), 2, 3)
    (array([ 2, -1]), array([ 1, -1]))
    """
    if isinstance(exclude, (tuple, list)) and len(exclude) == 2 and not any(map(_is_single, exclude)):
        query_ids = labels(exclude[0], n_query, "exclude[0]", "embeddings")
        gallery_ids = labels(exclude[1], n_gallery, "exclude[1]", "gallery")
        return rows_by_id(query_ids, gallery_ids, "exclude", "exclude[1]")
    ragged = f"{_RULE}, but its entries differ in length"
    rows = plain(exclude, "exclude", ragged=ragged, unmasked="-1 stands for no row")
    if rows.shape != (n_query,):
        raise InvalidValueError("exclude", f"{_RULE}, but has shape {rows.shape} for {n_query} queries")
    if rows.dtype.kind not in "iu":
        raise InvalidTypeError("exclude", f"{_RULE}, but has dtype {rows.dtype}")
    outside = (rows < -1) | (rows >= n_gallery)
    if outside.any():
        query = int(np.argmax(outside))
        rule = f"must hold rows of the gallery, 0 to {n_gallery - 1}, or -1 for none, but holds {rows[query]}"
        raise InvalidValueError("exclude", f"{rule} for query {query}")
    return rows.astype(np.int64)


def _is_single(part: Any) -> bool:
    """Whether something is one value, and not many of them."""
    return isinstance(part, (str, bytes)) or not hasattr(part, "__len__") or getattr(part, "ndim", 1) == 0


def rows_by_id(ids: NDArray[Any], gallery_ids: NDArray[Any], name: str, gallery_name: str) -> Int64:
    """The row of the gallery with each id, −1 where none has it; the names are those of the arguments."""
    try:
        of_query, of_item = label_codes(ids, gallery_ids)
    except InvalidTypeError:
        rule = f"must have ids of one kind, but they have dtypes {ids.dtype} and {gallery_ids.dtype}"
        raise InvalidTypeError(name, rule) from None
    row = np.empty(int(of_item.max()) + 1, dtype=np.int64)
    row[of_item] = np.arange(len(of_item))
    twice = np.flatnonzero(row[of_item] != np.arange(len(of_item)))
    if len(twice):
        first, last = int(twice[0]), int(row[of_item[twice[0]]])
        rule = f"must have an id of its own for each row of the gallery, but rows {first} and {last}"
        raise InvalidValueError(gallery_name, f"{rule} have {gallery_ids[first]!r}")
    return np.where(of_query >= 0, row[of_query], -1)
