"""NumPy's archives: several arrays in one file, of which one is the embeddings and one the labels.

Which is which is told by names and shapes, so that nothing is unpacked but what is asked for. A small file can unpack
to any size; so what takes more memory than there is, of next to no bytes on disk, is refused before it is unpacked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import FileError
from deadheat.inputs.formats import npy
from deadheat.inputs.layout import Labels, Layout
from deadheat.support import memory

EMBEDDING_KEYS = ("embeddings", "embedding", "features", "x")
LABEL_KEYS = ("labels", "label", "y")

_ABSURD = 100  # bytes unpacked from one: rows of numbers that differ stay far below, and the most is about 1000

Array = NDArray[Any]
Shape: TypeAlias = tuple[int, ...]


def embeddings(path: Path, layout: Layout) -> Array:
    """The array of the given name or of a usual one, or else the only one of two dimensions."""
    with _archive(path) as archive:
        return _embeddings(archive, path, layout)


def labels(path: Path, layout: Layout) -> Labels:
    """The array of the given name or of a usual one, or else the only one that is a row or a column."""
    with _archive(path) as archive:
        return _labels(archive, path, layout)


def samples(path: Path, layout: Layout) -> tuple[Array, Labels]:
    """Both, from one archive."""
    with _archive(path) as archive:
        return _embeddings(archive, path, layout), _labels(archive, path, layout)


def _embeddings(archive: Any, path: Path, layout: Layout) -> Array:
    key = layout.embeddings_key or _key(
        archive, path, "embeddings", EMBEDDING_KEYS, lambda shape: len(shape) == 2 and 1 not in shape
    )
    return _member(archive, key, path)


def _labels(archive: Any, path: Path, layout: Layout) -> Labels:
    key = layout.labels_key or _key(
        archive, path, "labels", LABEL_KEYS, lambda shape: len(shape) == 1 or (len(shape) == 2 and 1 in shape)
    )
    return npy.flat(_member(archive, key, path))


def _key(archive: Any, path: Path, what: str, usual: tuple[str, ...], fits: Callable[[Shape], bool]) -> str:
    """The name of the array that is meant: a usual one, or that of the only array that has the shape."""
    lower = {key.lower(): key for key in reversed(archive.files)}
    for name in usual:
        if name in lower:
            return str(lower[name])
    fitting = [key for key in archive.files if _fits(archive, key, path, fits)]
    if len(fitting) == 1:
        return str(fitting[0])
    which = f"none of its arrays is called {', '.join(usual[:-1])} or {usual[-1]}"
    raise FileError(path, f": {which}; name the {what} (--{what}-key), one of {_listed(archive.files)}")


def _fits(archive: Any, key: str, path: Path, fits: Callable[[Shape], bool]) -> bool:
    """Whether an array has the shape; one that cannot be read has not."""
    try:
        found = _header(archive, key, path)
    except FileError:
        return False
    return found is not None and fits(found.shape)


def _member(archive: Any, key: str, path: Path) -> Array:
    """One array of an archive; never a pickled one."""
    if key not in archive.files:
        raise FileError(path, f" has no array {key!r}, only {_listed(archive.files)}")
    part, entry = f" array {key!r}", archive.zip.getinfo(_entry(archive, key))
    npy.require_size(path, part, _header(archive, key, path), entry.file_size)
    with npy.reading(path, part):
        return np.asarray(archive[key])


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


def _listed(keys: list[str]) -> str:
    return ", ".join(map(repr, keys)) or "none at all"
