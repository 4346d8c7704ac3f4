"""Zarr: a folder with an array in chunks, or with several in groups. It needs zarr.

What is in no chunk is, by the format, the array's fill value: a chunk that was lost cannot be told from one that was
never written. Nor have chunks a checksum, unless whoever wrote them asked for one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import FileError
from deadheat.inputs.formats import keyed, npy, strips
from deadheat.inputs.layout import Content, Labels, Layout
from deadheat.printable import reason
from deadheat.support.extras import require

Array = NDArray[Any]


def embeddings(path: Path, layout: Layout) -> Content:
    """The array of the given name or of a usual one, or else the only one of two dimensions."""
    array = _array(path, "embeddings", layout)
    if array.ndim == 2 and 0 not in array.shape and array.dtype.kind in "fiub":
        return _pieces(path, array)
    return _read(path, array)


def labels(path: Path, layout: Layout) -> Labels:
    """The array of the given name or of a usual one, or else the only one that is a row or a column."""
    array = npy.flat(_read(path, _array(path, "labels", layout)))
    return np.array(array.tolist(), dtype=np.str_) if array.dtype.kind == "T" else array


def samples(path: Path, layout: Layout) -> tuple[Content, Labels]:
    """Both, from one folder."""
    if isinstance(_opened(path), require("zarr", "zarr", f"{path}: reading Zarr").Array):
        raise FileError(path, " holds embeddings only: give a file of labels too")
    return embeddings(path, layout), labels(path, layout)


def _array(path: Path, what: Literal["embeddings", "labels"], layout: Layout) -> Any:
    """The array that is meant: the only one that there is, or one of a group."""
    zarr = require("zarr", "zarr", f"{path}: reading Zarr")
    opened = _opened(path)
    asked = layout.embeddings_key if what == "embeddings" else layout.labels_key
    if isinstance(opened, zarr.Array):
        if asked is not None:
            raise FileError(path, f" is one array without a name, but {what}_key is {asked!r}")
        return opened
    with _errors(path):
        arrays = {key: item for key, item in sorted(opened.members(max_depth=None)) if isinstance(item, zarr.Array)}
    return arrays[
        keyed.chosen({key: partial(getattr, item, "shape") for key, item in arrays.items()}, what, layout, path)
    ]


def _pieces(path: Path, array: Any) -> Iterator[Array]:
    """An array some rows at a time, which are whole chunks where possible."""
    chunks = getattr(array, "shards", None) or array.chunks
    for rows in strips.of(array.shape, array.dtype.itemsize, chunks):
        with _errors(path):
            piece = np.asarray(array[rows])
        yield piece


def _read(path: Path, array: Any) -> Array:
    with _errors(path):
        return np.asarray(array[...])


def _opened(path: Path) -> Any:
    """The array or the group in a folder, of which nothing but the metadata has been read."""
    zarr = require("zarr", "zarr", f"{path}: reading Zarr")
    os.stat(path)  # what the system says of it comes first
    with _errors(path):
        return zarr.open(path, mode="r")


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Say in one line what Zarr and its codecs say in many ways."""
    try:
        yield
    except (ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
        raise FileError(path, f" cannot be read as Zarr; truncated or damaged? {reason(error)}") from None
