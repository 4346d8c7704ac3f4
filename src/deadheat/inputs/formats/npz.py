"""NumPy's archives: several arrays in one file, of which one is the embeddings and one the labels.

Nothing is unpacked but what is asked for; embeddings that would fill much of the memory, in pieces. A small file can
unpack to any size; so what takes more memory than there is, of next to no bytes on disk, is refused before it is
unpacked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import FileError
from deadheat.inputs.formats import keyed, npy
from deadheat.inputs.layout import Content, Labels, Layout
from deadheat.support import memory

PIECE = 8 << 20  # bytes that are unpacked at once
SHARE = 4  # embeddings that take more than one part in so many of the memory are unpacked in pieces

_ABSURD = 100  # bytes unpacked from one: rows of numbers that differ stay far below, and the most is about 1000

Array = NDArray[Any]


def embeddings(path: Path, layout: Layout) -> Content:
    """The array of the given name or of a usual one, or else the only one of two dimensions."""
    with _archive(path) as archive:
        key = _key(archive, "embeddings", layout, path)
        if _is_large(archive, key, path):
            return _pieces(path, key)
        return _member(archive, key, path)


def labels(path: Path, layout: Layout) -> Labels:
    """The array of the given name or of a usual one, or else the only one that is a row or a column."""
    with _archive(path) as archive:
        return npy.flat(_member(archive, _key(archive, "labels", layout, path), path))


def samples(path: Path, layout: Layout) -> tuple[Content, Labels]:
    """Both, from one archive."""
    return embeddings(path, layout), labels(path, layout)


def _key(archive: Any, what: Literal["embeddings", "labels"], layout: Layout, path: Path) -> str:
    return keyed.chosen({key: partial(_shape, archive, key, path) for key in archive.files}, what, layout, path)


def _shape(archive: Any, key: str, path: Path) -> tuple[int, ...] | None:
    """The shape of an array; one that cannot be read has none."""
    try:
        found = _header(archive, key, path)
    except FileError:
        return None
    return None if found is None else found.shape


def _member(archive: Any, key: str, path: Path) -> Array:
    """One array of an archive; never a pickled one."""
    part, entry = f" array {key!r}", archive.zip.getinfo(_entry(archive, key))
    npy.require_size(path, part, _header(archive, key, path), entry.file_size)
    with npy.reading(path, part):
        return np.asarray(archive[key])


def _is_large(archive: Any, key: str, path: Path) -> bool:
    """Whether an array is better not in memory, and lies row after row."""
    found, entry = _header(archive, key, path), archive.zip.getinfo(_entry(archive, key))
    npy.require_size(path, f" array {key!r}", found, entry.file_size)
    if found is None or found.by_column or len(found.shape) != 2 or 0 in found.shape:
        return False
    return bool(SHARE * found.n_byte > memory.available())


def _pieces(path: Path, key: str) -> Iterator[Array]:
    """An array a few rows at a time."""
    with (
        _archive(path) as archive,
        npy.reading(path, f" array {key!r}"),
        archive.zip.open(_entry(archive, key)) as file,
    ):
        found = npy.header(file)
        assert found is not None
        n_byte = found.shape[1] * found.dtype.itemsize
        step = max(1, PIECE // n_byte)
        for start in range(0, found.shape[0], step):
            content = file.read(min(step, found.shape[0] - start) * n_byte)
            yield np.frombuffer(content, dtype=found.dtype).reshape(-1, found.shape[1])
        file.read(1)  # beyond the last one, where zipfile compares the checksum


def _header(archive: Any, key: str, path: Path) -> npy.Header | None:
    """What an array says of itself, of which nothing else is unpacked."""
    part, entry = f" array {key!r}", archive.zip.getinfo(_entry(archive, key))
    if entry.file_size > _ABSURD * entry.compress_size and entry.file_size > memory.available():
        raise FileError(
            path,
            f"{part} unpacks from {entry.compress_size} bytes to {entry.file_size / 1e9:.1f} GB, more than there is "
            f"memory ({memory.available() / 1e9:.1f} GB): save it as a .npy file, which stays on disk",
        )
    with npy.reading(path, part), archive.zip.open(entry) as file:
        return npy.header(file)


def _entry(archive: Any, key: str) -> str:
    """The name of an array's file in the archive; NumPy lets ``.npy`` out of names."""
    return key if key in archive.zip.namelist() else f"{key}.npy"


@contextmanager
def _archive(path: Path) -> Iterator[Any]:
    """An open ``.npz`` file."""
    with open(path, "rb") as file:
        with npy.reading(path):
            archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise FileError(path, " is not a .npz file, whatever its name says")
        with archive:
            yield archive
