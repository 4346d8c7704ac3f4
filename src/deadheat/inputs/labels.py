"""Labels: parsed from text, concatenated, checked and numbered. The rule for 7 and "7" is here, and only here.

Array-likes and cells of text become one-dimensional arrays with one label per item, and the number of each item's
label. Two labels are one class if they are equal as integers or as strings, never through floats:

- *In a file of text* labels are integers if all of them are written as integers ("7", not "07" or "7.0"), else strings.
- *In several files*, of queries and gallery or of parts of either, they are strings in all as soon as they are strings
  in one: a class called 7 in one file is "7" in the other.
- *Given as arrays* they are compared as they came, and a mixture of integers and strings is refused.
- *Floats* are taken for integers where all are whole numbers that their type distinguishes from their neighbours, such
  as pandas makes of integers with a missing one; others are refused.
- *Bytes* are compared as bytes; with strings they are compared as text in UTF-8, or refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs.conversion import is_array, plain
from deadheat.support import checks
from deadheat.support.arguments import VALUES, names_argument, naming

Labels = NDArray[Any]


def require_together(
    gallery: Any | None, gallery_labels: Any | None, names: tuple[str, str] = ("gallery", "gallery_labels")
) -> None:
    """Refuse a gallery without labels, and labels without a gallery; `names` are those of the arguments."""
    if (gallery is None) != (gallery_labels is None):
        given, missing = names if gallery_labels is None else names[::-1]
        raise InvalidValueError(" and ".join(names), f"must be given together, but got {given} without {missing}")


def flat(array: Labels) -> Labels:
    """Return a row or a column of labels as (n,); any other shape unchanged."""
    return array.ravel() if array.ndim == 2 and 1 in array.shape else array


def labels(values: ArrayLike, n: int, name: str, what: str) -> Labels:
    """Check labels: an integer (or whole float) or a string for each of `n` items, also as a row or a column."""
    with naming(name):
        array = flat(_label_array(values))
        if array.ndim != 1:
            raise InvalidValueError(VALUES, f"must be one-dimensional, but has shape {array.shape}")
        if array.dtype.kind == "f" or (len(array) and all(isinstance(item, float) for item in array)):
            array = _whole_numbers(array)
        if array.dtype.kind in "OT":
            array = array.astype(object)  # of NumPy's own strings some may be missing
            _require_plain_objects(array)
        elif array.dtype.kind not in "iubUS":
            raise InvalidTypeError(VALUES, f"must be integers or strings, but has dtype {array.dtype}")
        if len(array) != n:
            rule = f"must have one entry per row of {what}, but got {len(array)} labels for {n} rows"
            raise InvalidValueError(VALUES, rule)
    return array.copy()  # which the caller cannot change


def label_codes(query: Labels, gallery: Labels | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the labels of queries and gallery as numbers from 0; −1 if no gallery item has a query's label.

    Labels are compared as integers or as strings, never through floats.

    Examples
    --------
    >>> label_codes(np.array(["b", "x"]), np.array(["b", "a", "b"]))
    (array([ 1, -1]), array([1, 0, 1]))
    """
    names, codes = _factorize(query if gallery is None else gallery)
    if gallery is None:
        return codes, codes
    query_names, query_codes = _factorize(query)
    if {bytes, str} == {type(name) for name in (*query_names[:1], *names[:1])}:
        query_names, names = _as_text(query_names, "labels"), _as_text(names, "gallery_labels")
    if query_names and names and type(query_names[0]) is not type(names[0]):
        kinds = " and ".join("integers" if isinstance(kind[0], int) else "text" for kind in (query_names, names))
        rule = f"must be of the same kind, but are {kinds}: str() makes text of integers"
        raise InvalidTypeError("labels and gallery_labels", rule)
    number = {name: code for code, name in enumerate(names)}
    gallery_code = np.array([number.get(name, -1) for name in query_names], dtype=np.int64)
    return gallery_code[query_codes], codes


def from_text(cells: Sequence[str]) -> Labels:
    """Parse labels in text: integers if all of them are plain integers, so that no two labels become one."""
    with suppress(ValueError, OverflowError):
        values = [int(cell) for cell in cells]
        if [str(value) for value in values] == list(cells):
            return np.array(values, dtype=np.int64)
    return np.array(cells, dtype=np.str_)


def common_kind(parts: Iterable[Labels]) -> list[Labels]:
    """Return labels from several files, all as strings if some are strings."""
    arrays = list(parts)
    if not any(array.dtype.kind == "U" for array in arrays):
        return arrays
    for index, array in enumerate(arrays):
        with suppress(UnicodeDecodeError):  # such bytes stay bytes, and no string equals them
            if array.dtype.kind == "S":
                arrays[index] = np.char.decode(array, "utf-8")
        if array.dtype.kind in "iub":
            arrays[index] = array.astype(np.str_)
    return arrays


def joined(parts: Sequence[tuple[Labels, str]]) -> Labels:
    """Concatenate labels that came in parts, each with its name in messages; empty parts do not count."""
    filled = [(part, title) for part, title in parts if len(part)] or list(parts[:1])
    first, first_title = filled[0]
    for part, title in filled:
        if _kind(part) != _kind(first):
            kinds = f"{first.dtype} in {first_title} and {part.dtype} in {title}"
            raise InvalidTypeError(VALUES, f"must be of one kind throughout, but the dtypes are {kinds}")
    whole = np.concatenate([part for part, _ in filled])
    if _kind(whole) == _kind(first):
        return whole
    return np.concatenate([part.astype(object) for part, _ in filled])  # int64 and uint64 meet in float64


def _kind(array: Labels) -> str:
    """Return the kind of labels: integers, text or bytes. Labels of one kind can be compared."""
    kind = array.dtype.kind
    if kind == "O" and len(array) and isinstance(array[0], (str, int, np.integer)):  # all are checked later
        return "text" if isinstance(array[0], str) else "integers"
    return "integers" if kind in "iub" else "text" if kind in "UT" else kind


def _label_array(values: Any) -> Labels:
    """Return labels as an array; integers in a list stay exact, whatever their size."""
    if is_array(values):
        return plain(values)
    if isinstance(values, (Mapping, Set)):
        rule = "must be a sequence of integers or strings, one for each row in their order"
        raise InvalidTypeError(VALUES, f"{rule}, but is a {type(values).__name__}")
    items = checks.listed(values, VALUES, "a sequence of integers or strings")
    if items and is_array(items[0]) and not isinstance(items[0], np.generic):  # of a tensor for each item, say
        return plain(items)
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _whole_numbers(array: Labels) -> Labels:
    """Convert whole floats to integers, and refuse other floats."""
    floats = array.astype(np.float64) if array.dtype.kind == "O" else array
    digits = min(np.finfo(floats.dtype).nmant + 1, 53)
    distinct = np.abs(floats) < 2.0**digits  # to which the next integer rounds
    odd = np.flatnonzero(~(distinct & (floats == np.rint(floats))))
    if len(odd):
        value = floats[odd[0]]
        shown = "another number" if np.isfinite(value) else value
        rule = f"must be integers or strings, but has dtype {floats.dtype} and holds {shown} in row {odd[0]}"
        hint = f"; a float stands for one integer only below 2**{digits}" if value == np.rint(value) else ""
        raise InvalidTypeError(VALUES, f"{rule}{hint}")
    return floats.astype(np.int64)


def _require_plain_objects(array: Labels) -> None:
    """Refuse object labels other than all integers or all strings."""
    integer = (int, np.integer, np.bool_)
    if all(isinstance(item, integer) for item in array) or all(isinstance(item, str) for item in array):
        return
    odd = next(((row, item) for row, item in enumerate(array) if not isinstance(item, (*integer, str))), None)
    held = "a mixture of both" if odd is None else f"an entry of type {type(odd[1]).__name__} in row {odd[0]}"
    raise InvalidTypeError(VALUES, f"must be all integers or all strings, but holds {held}")


@names_argument
def _as_text(names: list[Any]) -> list[Any]:
    """Return labels as strings; those that are bytes must be UTF-8."""
    try:
        return [item.decode() if isinstance(item, bytes) else item for item in names]
    except UnicodeDecodeError:
        rule = "must be text in UTF-8 to be compared with strings, but hold other bytes"
        raise InvalidValueError(VALUES, rule) from None


def _factorize(array: Labels) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the distinct labels, ascending, as Python objects, and the number of each item's label."""
    if array.dtype.kind == "O":
        plain = [str(item) if isinstance(item, str) else int(item) for item in array]
        names = {name: code for code, name in enumerate(sorted(set(plain)))}
        return list(names), np.array([names[item] for item in plain], dtype=np.int64)
    distinct, codes = np.unique(array, return_inverse=True)
    listed = distinct.tolist()
    return (listed if array.dtype.kind not in "b" else [int(x) for x in listed]), codes.astype(np.int64)
