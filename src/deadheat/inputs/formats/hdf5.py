"""HDF5: named arrays, in groups perhaps. It needs h5py.

An array that lies in one piece is mapped and stays on disk; one in chunks, compressed or not, is read in pieces.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
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
    with _opened(path) as file:
        key, array = _array(file, "embeddings", layout, path)
        if array.ndim == 2 and 0 not in array.shape and array.dtype.kind in "fiub":
            mapped = _mapped(path, array)
            return _pieces(path, key) if mapped is None else mapped
        return _read(path, key, array)


def labels(path: Path, layout: Layout) -> Labels:
    """The array of the given name or of a usual one, or else the only one that is a row or a column."""
    with _opened(path) as file:
        return npy.flat(_read(path, *_array(file, "labels", layout, path)))


def samples(path: Path, layout: Layout) -> tuple[Content, Labels]:
    """Both, from one file."""
    return embeddings(path, layout), labels(path, layout)


def _array(file: Any, what: Literal["embeddings", "labels"], layout: Layout, path: Path) -> tuple[str, Any]:
    """The array that is meant, and its name, with those of its groups before it."""
    h5py = require("h5py", "hdf5", f"{path}: reading HDF5")
    shapes: dict[str, Callable[[], tuple[int, ...] | None]] = {}

    def note(key: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            shapes[key] = partial(getattr, item, "shape")

    with _errors(path):
        file.visititems(note)
    key = keyed.chosen(shapes, what, layout, path)
    with _errors(path):
        return key, file[key]


def _mapped(path: Path, array: Any) -> Array | None:
    """An array that lies in the file as NumPy has it; None for any other."""
    h5t = require("h5py", "hdf5", f"{path}: reading HDF5").h5t
    in_pieces = array.chunks is not None or array.is_virtual or array.external or array.id.get_offset() is None
    if in_pieces or not array.id.get_type().equal(h5t.py_create(array.dtype, logical=True)):
        return None
    return np.memmap(path, array.dtype, "r", array.id.get_offset(), array.shape)


def _pieces(path: Path, key: str) -> Iterator[Array]:
    """An array some rows at a time, which are whole chunks where possible."""
    with _opened(path) as file:
        array = file[key]
        for rows in strips.of(array.shape, array.dtype.itemsize, array.chunks):
            with _errors(path):
                piece = array[rows]
            yield piece


def _read(path: Path, key: str, array: Any) -> Array:
    """A whole array; text as strings, if it is in UTF-8 as HDF5 has it."""
    h5py = require("h5py", "hdf5", f"{path}: reading HDF5")
    text = h5py.check_string_dtype(array.dtype)
    if array.shape is None:
        raise FileError(path, f" array {key!r} is empty")
    with _errors(path):
        if text is None or text.length is not None:
            return np.asarray(array[()])
        try:
            return np.asarray(array.asstr()[()], dtype=np.str_)
        except UnicodeDecodeError:
            raise FileError(path, f" array {key!r} must hold text in UTF-8") from None


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """An open file."""
    h5py = require("h5py", "hdf5", f"{path}: reading HDF5")
    with open(path, "rb") as content:  # what the system says of it comes first
        with _errors(path):
            file = h5py.File(path if os.path.exists(os.path.realpath(path)) else content, "r")  # one without a name
        with file:
            yield file


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Say in one line what HDF5 says in many."""
    try:
        yield
    except (OSError, RuntimeError, KeyError) as error:
        raise FileError(path, f" cannot be read as HDF5; truncated or damaged? {reason(error)}") from None
