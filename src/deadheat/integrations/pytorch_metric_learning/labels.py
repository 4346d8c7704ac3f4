"""Labels as pytorch-metric-learning takes them: numbers of any type, in tensors or arrays, perhaps several an item.

Out go numbers of classes, from 0, ascending as the labels do. Two labels are one class if all their numbers are equal
as they came; pytorch-metric-learning casts them to float32, which has one number for 16777216 and 16777217.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import plain
from deadheat.support.arrays import Array, Int64

_EXACT = 2**53  # beyond which a float64 may stand for several integers


class Classes(NamedTuple):
    """The class of each query and of each item by number."""

    query: Int64  # (n_query,)
    reference: Int64  # (n_reference,)
    plain: bool  # whether the labels came in one dimension, and float32 keeps them apart


def classes_of(query_labels: Any, reference_labels: Any) -> Classes:
    """Number the labels of queries and reference together.

    Parameters
    ----------
    query_labels, reference_labels : (n,) or (n, levels), integers, floats or bool
        Tensors, wherever they are, or arrays.

    Raises
    ------
    InvalidTypeError, InvalidValueError
        If they are not numbers, differ in their levels, or hold NaN, which equals nothing.

    Examples
    --------
    >>> import numpy as np
    >>> classes = classes_of(np.array([2**24, 2**24 + 1]), np.array([2**24 + 1]))
    >>> classes.query, classes.reference, classes.plain
    (array([0, 1]), array([1]), False)
    """
    parts = _numbers(query_labels, "query_labels"), _numbers(reference_labels, "reference_labels")
    if parts[0].shape[1:] != parts[1].shape[1:]:
        rule = f"must have as many levels, but have shapes {parts[0].shape} and {parts[1].shape}"
        raise InvalidValueError("query_labels and reference_labels", rule)
    together = np.concatenate(parts)
    if together.dtype.kind == "f":
        _require_kept(*parts)
    values, numbers = np.unique(together, axis=0 if together.ndim > 1 else None, return_inverse=True)
    query, reference = np.split(numbers.reshape(-1).astype(np.int64, copy=False), [len(parts[0])])
    return Classes(query, reference, together.ndim == 1 and _distinct_in_float32(values))


def _numbers(labels: Any, name: str) -> Array:
    """Labels as an array of numbers, (n,) or (n, levels)."""
    array = plain(labels, name)
    if array.dtype.kind not in "iubf":
        raise InvalidTypeError(name, f"must be numbers, but has dtype {array.dtype}")
    if array.ndim not in (1, 2):
        raise InvalidValueError(
            name, f"must be one label, or one for each level, an embedding, but has shape {array.shape}"
        )
    if np.isnan(array).any():
        raise InvalidValueError(name, "must not hold NaN, which equals no label")
    return array


def _require_kept(*parts: Array) -> None:
    """Refuse integers beside floats that float64 does not hold."""
    for part in parts:
        if part.dtype.kind in "iu" and part.size and max(-int(part.min()), int(part.max())) > _EXACT:
            rule = f"must be of one type where they exceed 2^53, but have dtypes {parts[0].dtype} and {parts[1].dtype}"
            raise InvalidValueError("query_labels and reference_labels", rule)


def _distinct_in_float32(values: Array) -> bool:
    """Whether different labels, ascending, stay so in float32."""
    with np.errstate(over="ignore"):
        short = values.astype(np.float32)
    return bool((short[1:] > short[:-1]).all())
