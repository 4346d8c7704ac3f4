"""Labels, checked and numbered: integers or strings, compared as what they are.

In come array-likes; out go one-dimensional arrays with one label an item, and the number of each item's label.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.inputs.arrays import from_tensor


def require_together(gallery: Any | None, gallery_labels: Any | None) -> None:
    """Refuse a gallery without labels, and labels without a gallery."""
    if (gallery is None) != (gallery_labels is None):
        given, missing = ("gallery", "gallery_labels") if gallery_labels is None else ("gallery_labels", "gallery")
        raise ValueError(f"gallery and gallery_labels must be given together, but got {given} without {missing}")


def labels(values: ArrayLike, n: int, name: str, what: str) -> NDArray[Any]:
    """Check labels: one integer or string for each of `n` items.

    Raises
    ------
    TypeError
        If they are neither integers nor strings.
    ValueError
        If there are not `n` of them in one dimension.

    Examples
    --------
    >>> labels(["cat", "dog"], 3, "labels", "embeddings")
    Traceback (most recent call last):
    ValueError: labels must have one entry per row of embeddings, but got 2 labels for 3 rows
    """
    array = values if isinstance(values, np.ndarray) else _label_array(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, but has shape {array.shape}")
    if array.dtype.kind == "O":
        _require_plain_objects(array, name)
    elif array.dtype.kind not in "iubUS" and getattr(array.dtype, "char", "") != "T":
        raise TypeError(f"{name} must be integers or strings, but has dtype {array.dtype}")
    if len(array) != n:
        raise ValueError(f"{name} must have one entry per row of {what}, but got {len(array)} labels for {n} rows")
    return array


def label_codes(
    query: NDArray[Any], gallery: NDArray[Any] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the gallery's labels from 0 and give each query its number, or −1 if no gallery item has its label.

    Labels are compared as the integers or strings that they are, never through floats.

    Examples
    --------
    >>> label_codes(np.array(["b", "x"]), np.array(["b", "a", "b"]))
    (array([ 1, -1]), array([1, 0, 1]))
    """
    names, codes = _factorize(query if gallery is None else gallery)
    if gallery is None:
        return codes, codes
    wanted, query_codes = _factorize(query)
    if wanted and names and isinstance(wanted[0], int) != isinstance(names[0], int):
        raise TypeError(
            f"labels and gallery_labels must be of the same kind, but have dtypes {query.dtype} and {gallery.dtype}"
        )
    number = {name: code for code, name in enumerate(names)}
    found = np.array([number.get(name, -1) for name in wanted], dtype=np.int64)
    return found[query_codes], codes


def _label_array(values: Any, name: str) -> NDArray[Any]:
    """Labels that came as something other than an array: lists stay exact, whatever their size."""
    if hasattr(values, "__array__"):
        return np.asarray(from_tensor(values))
    try:
        items = list(values)
    except TypeError:
        raise TypeError(f"{name} must be a sequence of integers or strings, but is {values!r}") from None
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _require_plain_objects(array: NDArray[Any], name: str) -> None:
    """Refuse object labels other than all integers or all strings."""
    for kinds in ((int, np.integer, np.bool_), (str,)):
        if all(isinstance(item, kinds) for item in array):
            return
    odd = next((type(i).__name__ for i in array if not isinstance(i, (int, np.integer, np.bool_, str))), None)
    came = "a mixture of both" if odd is None else f"an entry of type {odd}"
    raise TypeError(f"{name} must be all integers or all strings, but holds {came}")


def _factorize(array: NDArray[Any]) -> tuple[list[int | str], NDArray[np.int64]]:
    """The distinct labels as Python integers or strings, and the number of each item's label among them."""
    if array.dtype.kind == "O":
        plain = [item if isinstance(item, str) else int(item) for item in array]
        names = {name: code for code, name in enumerate(dict.fromkeys(plain))}
        return list(names), np.array([names[item] for item in plain], dtype=np.int64)
    distinct, codes = np.unique(array, return_inverse=True)
    if array.dtype.kind == "S":
        return [name.decode("latin-1") for name in distinct.tolist()], codes.astype(np.int64)
    listed = distinct.tolist()
    return (listed if array.dtype.kind not in "b" else [int(x) for x in listed]), codes.astype(np.int64)
