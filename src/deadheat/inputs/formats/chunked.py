"""HDF5 and Zarr: named arrays, in groups perhaps, stored in chunks. They need h5py and zarr.

In HDF5, an array that is stored in one piece is mapped and stays on disk; one in chunks, compressed or not, is read in
strips of rows. In Zarr, the format says that a missing chunk holds the fill value: a chunk that was lost looks like one
that was never written. Nor have its chunks a checksum, unless the writer asked for one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.errors import FileError
from deadheat.inputs.files import Content
from deadheat.inputs.formats.keyed import UNNAMED, Arrays, Reader, strips
from deadheat.support.arrays import Array
from deadheat.support.lazy import require


def _h5py(path: Path) -> Any:
    return require("h5py", "files", f"{path}: reading HDF5")


@contextmanager
def _opened_h5(path: Path) -> Iterator[Arrays]:
    h5py = _h5py(path)
    with opened_h5_file(path) as file:
        shapes: dict[str, Callable[[], tuple[int, ...] | None]] = {}

        def note(key: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset):
                shapes[key] = partial(getattr, item, "shape")

        file.visititems(note)
        yield Arrays(shapes, partial(_h5_embeddings, path, file), partial(_h5_array, path, file))


@contextmanager
def opened_h5_file(path: Path) -> Iterator[Any]:
    h5py = _h5py(path)
    with open(path, "rb") as content:  # what the system says of it comes first
        name = path if os.path.exists(os.path.realpath(path)) else content  # a file without a name
        with h5py.File(name, "r") as file:
            yield file


def _h5_embeddings(path: Path, file: Any, key: str) -> Content:
    """An array, mapped where it is stored as NumPy has it, and in strips where it is not."""
    array = file[key]
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "fiub":
        return _h5_array(path, file, key)
    in_pieces = array.chunks is not None or array.is_virtual or array.external or array.id.get_offset() is None
    if in_pieces or not array.id.get_type().equal(_h5py(path).h5t.py_create(array.dtype, logical=True)):
        return _h5_strips(path, key)
    return np.memmap(path, array.dtype, "r", array.id.get_offset(), array.shape)


def _h5_strips(path: Path, key: str) -> Iterator[Array]:
    with opened_h5_file(path) as file:
        array = file[key]
        for rows in strips(array.shape, array.dtype.itemsize, array.chunks):
            yield array[rows]


def _h5_array(path: Path, file: Any, key: str) -> Array:
    """A whole array; text as strings, if it is in UTF-8 as HDF5 has it."""
    array = file[key]
    text = _h5py(path).check_string_dtype(array.dtype)
    if array.shape is None:
        raise FileError(path, f" array {key!r} is empty")
    if text is None or text.length is not None:
        return np.asarray(array[()])
    try:
        return np.asarray(array.asstr()[()], dtype=np.str_)
    except UnicodeDecodeError:
        raise FileError(path, f" array {key!r} must hold text in UTF-8") from None


@contextmanager
def _opened_zarr(path: Path) -> Iterator[Arrays]:
    """The arrays in a folder, of which nothing but the metadata has been read."""
    zarr = require("zarr", "files", f"{path}: reading Zarr")
    os.stat(path)  # what the system says of it comes first
    opened = zarr.open(path, mode="r")
    members = {UNNAMED: opened} if isinstance(opened, zarr.Array) else dict(sorted(opened.members(max_depth=None)))
    arrays = {key: item for key, item in members.items() if isinstance(item, zarr.Array)}
    shapes = {key: partial(getattr, array, "shape") for key, array in arrays.items()}
    yield Arrays(shapes, lambda key: _zarr_embeddings(arrays[key]), lambda key: _zarr_labels(arrays[key]))


def _zarr_embeddings(array: Any) -> Content:
    if array.ndim == 2 and 0 not in array.shape and array.dtype.kind in "fiub":
        chunks = getattr(array, "shards", None) or array.chunks
        return (np.asarray(array[rows]) for rows in strips(array.shape, array.dtype.itemsize, chunks))
    return np.asarray(array[...])


def _zarr_labels(array: Any) -> Array:
    labels = np.asarray(array[...])
    return np.array(labels.tolist(), dtype=np.str_) if labels.dtype.kind == "T" else labels


HDF5, ZARR = Reader(_opened_h5), Reader(_opened_zarr)
