"""Embeddings that need not fit in memory: rows handed out in pieces, from arrays, files and sets of files.

In come what people have: an array, a memory-mapped array, a path to a ``.npy`` or ``.parquet`` file, a pattern such
as ``emb-*.npy``, or a list of these, taken one after another. Out comes a `Source`, whose rows have been checked by
the rules of `inputs`, piece by piece, before anybody sees them:

    array ──────────────> Array ───┐
    np.memmap ──────────> Mapped ──┤
    .npy ───────────────> File ────┼──> read, take, pieces: float32 or float64 rows, C-contiguous
    .parquet ──spooled──> File ────┤
    several of these ───> Shards ──┘

A file is mapped a few megabytes at a time and let go again, so that what is resident does not grow with it, and no
file is kept open: a set may have more files than a process may open. What does not lie row after row (Parquet, columns
in Fortran's order) is first copied, once, to a temporary file that goes with its `Source`; ``TMPDIR`` says where.
"""

from __future__ import annotations

import glob
import hashlib
import mmap
import os
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat import inputs
from deadheat.inputs import npy, tabular

Rows: TypeAlias = NDArray[Any]
Index: TypeAlias = NDArray[np.int64]
Files: TypeAlias = str | os.PathLike[str] | Sequence[str] | Sequence[os.PathLike[str]]
LabelsLike: TypeAlias = ArrayLike | Files

ENDINGS = (".npy", ".parquet")

_PIECE = 32 << 20  # bytes of a piece
_RESIDENT = 8 << 20  # bytes of a file that are mapped at once
_AROUND = 2 << 20  # bytes that may become resident beside the row that was asked for


class Source(ABC):
    """Rows of embeddings, wherever they are.

    Attributes
    ----------
    shape : (n, dim)
    dtype : numpy.dtype
        The type in which rows are handed out, float32 or float64: whichever holds every value exactly.
    stored : numpy.dtype
        The type in which they are kept; for several sources of different types, `dtype`.
    in_memory : bool
        Whether there is an attribute `array`.
    array : (n, dim)
        Everything, in `dtype` and C-contiguous.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    stored: np.dtype[Any]
    in_memory: bool = False
    array: Rows

    def __len__(self) -> int:
        return self.shape[0]

    def read(self, start: int, stop: int) -> Rows:
        """Rows from `start` to before `stop`, (stop - start, dim), C-contiguous; not to be written to."""
        start, stop, _ = slice(start, stop).indices(len(self))
        out = self._room(max(0, stop - start))
        self._read_into(start, out)
        return out

    def take(self, index: Index) -> Rows:
        """The rows with these numbers, counted from 0, in the order of `index`."""
        index = np.asarray(index, dtype=np.int64)
        if len(index) and (index.min() < 0 or index.max() >= len(self)):
            raise IndexError(f"index must be within 0 and {len(self) - 1}, but is {index.min()} to {index.max()}")
        out = self._room(len(index))
        if len(index):
            self._take_into(index, out)
        return out

    def pieces(self, step: int | None = None) -> Iterator[tuple[int, Rows]]:
        """Everything in order, as (start, rows), `step` rows at a time; by default, as many as take about 32 MB."""
        step = max(1, _PIECE // (self.shape[1] * self.dtype.itemsize)) if step is None else step
        for start in range(0, len(self), step):
            yield start, self.read(start, start + step)

    def _room(self, n: int) -> Rows:
        return np.empty((n, self.shape[1]), dtype=self.dtype)

    @abstractmethod
    def _read_into(self, start: int, out: Rows) -> None:
        """Fill `out`, of any type that holds the numbers, with rows from `start`."""

    @abstractmethod
    def _take_into(self, index: Index, out: Rows) -> None:
        """Fill `out` with the rows of `index`."""


EmbeddingsLike: TypeAlias = ArrayLike | Source | Files | Sequence[Source]


class Array(Source):
    """A checked array in memory: handed out as it is where that is possible, else converted on the way out."""

    def __init__(self, values: Rows) -> None:
        self.shape, self.stored = (values.shape[0], values.shape[1]), values.dtype
        self.dtype = inputs.float_type(values.dtype, "values")
        self._values = values
        self.in_memory = values.dtype == self.dtype and values.flags.c_contiguous
        if self.in_memory:
            self.array = values

    def read(self, start: int, stop: int) -> Rows:
        """Rows from `start` to before `stop`; where nothing needs to be converted, a view."""
        return self.array[start:stop] if self.in_memory else super().read(start, stop)

    def _read_into(self, start: int, out: Rows) -> None:
        out[:] = self._values[start : start + len(out)]

    def _take_into(self, index: Index, out: Rows) -> None:
        out[:] = self._values[index]


class Mapped(Source):
    """A memory-mapped array, read through windows of a few megabytes, whose pages are then given back.

    Parameters
    ----------
    array : (n, dim)
        What is on disk. It may be a view with steps between its rows.
    title : str
        What messages call it.
    """

    def __init__(self, array: np.memmap[Any, Any], title: str) -> None:
        self.shape, self.stored, self.title = (array.shape[0], array.shape[1]), array.dtype, title
        self.dtype = inputs.float_type(array.dtype, title)
        self._array, self._pages = np.asarray(array), _pages(array)
        # of a copy on write (mode "c") the pages may hold what is nowhere else
        self._may_drop = array.mode != "c" and hasattr(mmap, "MADV_DONTNEED")
        down, along = map(abs, array.strides)
        self.by_column = along > down and min(self.shape) > 1
        self._spread = max(1, down, self.shape[1] * self.stored.itemsize)  # bytes from one row to the next

    def as_stored(self) -> Iterator[Rows]:
        """Everything in order, in pieces of the type that it is stored in."""
        step = max(1, _RESIDENT // self._spread)
        for start in range(0, len(self), step):
            rows = np.empty((min(step, len(self) - start), self.shape[1]), dtype=self.stored)
            self._copy(slice(start, start + step), rows, slice(None))
            yield rows

    def turned(self) -> Iterator[Rows]:
        """The same of an array that lies on disk column after column: some rows of some columns at a time."""
        step = max(1, _PIECE // 2 // (self.shape[1] * self.stored.itemsize))
        for start in range(0, len(self), step):
            rows = np.empty((min(step, len(self) - start), self.shape[1]), dtype=self.stored)
            width = max(1, _RESIDENT // (len(rows) * self.stored.itemsize + _AROUND))
            for column in range(0, self.shape[1], width):
                columns = slice(column, column + width)
                self._copy((slice(start, start + step), columns), rows, (slice(None), columns))
            yield rows

    def _read_into(self, start: int, out: Rows) -> None:
        step = max(1, _RESIDENT // self._spread)
        for first in range(0, len(out), step):
            last = min(first + step, len(out))
            self._copy(slice(start + first, start + last), out, slice(first, last))

    def _take_into(self, index: Index, out: Rows) -> None:
        order = np.argsort(index, kind="stable")
        wanted = index[order]
        for first, last in pairwise(self._windows(wanted)):
            self._copy(wanted[first:last], out, order[first:last])

    def _windows(self, wanted: Index) -> list[int]:
        """Where to cut sorted row numbers so that each run of them touches little more than `_RESIDENT` bytes.

        A row that is far from the one before it brings its surroundings with it: the system maps what it has cached
        next to a page that is asked for, up to a huge page.
        """
        near = self.shape[1] * self.stored.itemsize + _AROUND
        touched = np.minimum(np.diff(wanted, prepend=wanted[:1]) * self._spread, near).cumsum()
        cuts = np.flatnonzero(np.diff(touched // _RESIDENT)) + 1
        return [0, *cuts.tolist(), len(wanted)]

    def _copy(self, where: Any, out: Rows, places: Any) -> None:
        """``out[places] = everything[where]``, with nothing of it resident afterwards. An index must be sorted."""
        out[places] = self._array[where]
        if self._may_drop:
            self._drop(self._array[where[0] : where[-1] + 1] if isinstance(where, np.ndarray) else self._array[where])

    def _drop(self, view: Rows) -> None:
        """Give back the pages that a part of the array lies on, and those that may have come with them."""
        assert self._pages is not None
        base = np.frombuffer(self._pages, dtype=np.uint8).ctypes.data
        low, high = np.lib.array_utils.byte_bounds(view)
        first = max(0, low - base - _AROUND) // mmap.PAGESIZE * mmap.PAGESIZE
        self._pages.madvise(mmap.MADV_DONTNEED, first, min(high - base + _AROUND, len(self._pages)) - first)


class File(Source):
    """Rows in a file, which is mapped anew for each reading and never kept open."""

    def __init__(self, path: str, array: np.memmap[Any, Any], title: str) -> None:
        self.shape, self.stored, self.title = (array.shape[0], array.shape[1]), array.dtype, title
        self.dtype = inputs.float_type(array.dtype, title)
        self._path, self._offset = os.path.abspath(path), array.offset
        self._state = self._stat()

    def _stat(self) -> tuple[int, int, int]:
        """What changes when somebody writes to the file or puts another in its place."""
        state = os.stat(self._path)
        return state.st_ino, state.st_size, state.st_mtime_ns

    def _mapped(self) -> Mapped:
        if self._stat() != self._state:
            raise ValueError(f"{self.title} must stay as it is while it is read, but has changed")
        return Mapped(np.memmap(self._path, self.stored, "r", self._offset, self.shape), self.title)

    def _read_into(self, start: int, out: Rows) -> None:
        if len(out):
            self._mapped()._read_into(start, out)

    def _take_into(self, index: Index, out: Rows) -> None:
        self._mapped()._take_into(index, out)


class Shards(Source):
    """Several sources with the same dim, one after another."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = tuple(sources)
        self._starts = np.cumsum([0, *map(len, self._sources)])
        self.shape = (int(self._starts[-1]), self._sources[0].shape[1])
        self.dtype = max((source.dtype for source in self._sources), key=lambda dtype: dtype.itemsize)
        stored = {source.stored.newbyteorder("=") for source in self._sources}
        self.stored = stored.pop() if len(stored) == 1 else self.dtype

    def _read_into(self, start: int, out: Rows) -> None:
        stop = start + len(out)
        for source, (first, last) in zip(self._sources, pairwise(self._starts.tolist()), strict=True):
            low, high = max(start, first), min(stop, last)
            if low < high:
                source._read_into(low - first, out[low - start : high - start])

    def _take_into(self, index: Index, out: Rows) -> None:
        order = np.argsort(index, kind="stable")
        wanted = index[order]
        cuts = np.searchsorted(wanted, self._starts).tolist()
        for source, start, (first, last) in zip(self._sources, self._starts[:-1], pairwise(cuts), strict=True):
            if first < last:
                out[order[first:last]] = source.take(wanted[first:last] - start)


def open_rows(
    value: Any, name: str, *, list_column: str | None = None, column: str | int | None = None, with_labels: bool = False
) -> Source:
    """Check embeddings, wherever they are, and make a source of them.

    Parameters
    ----------
    value : array-like (n, dim), memory-mapped array, path, list of these, or Source
        A path leads to a ``.npy`` or ``.parquet`` file, or is a pattern such as ``"emb-*.npy"``, which stands for all
        files that it fits, in the order of their names as text. A list of paths or of two-dimensional arrays is taken
        one after another; parts without rows may be among them. A list of rows is an array, as ever.
    name : str
        What the caller calls the argument.
    list_column, column, with_labels
        In Parquet, the column of lists that is the embedding, the column of labels that is not part of it, and
        whether there must be one: as for `files.read`.

    Raises
    ------
    OSError
        If a file cannot be read.
    TypeError
        If the values are not real numbers.
    ValueError
        If a file is damaged or holds Python objects, no file fits a pattern, parts differ in dim, there is not a single
        number, or a value is NaN, infinite, or a 64-bit integer that float64 does not hold.

    Examples
    --------
    >>> source = open_rows([np.zeros((2, 3), np.float16), np.ones((1, 3))], "gallery")
    >>> source.shape, source.dtype
    ((3, 3), dtype('float64'))
    >>> source.take(np.array([2, 0]))
    array([[1., 1., 1.],
           [0., 0., 0.]])
    """
    if isinstance(value, Source):
        return value
    entries = list(_entries(value, name))
    opened = [_open(entry, title, list_column, column, with_labels) for entry, title in entries]
    filled = [place for place, source in enumerate(opened) if len(source)]
    if not filled:
        inputs.require_filled(opened[0].shape, entries[0][1] if len(entries) == 1 else name)
    first = filled[0]
    for place in filled:
        if opened[place].shape[1] != opened[first].shape[1]:
            raise ValueError(
                f"{entries[place][1]} must have the dim of {entries[first][1]}, {opened[first].shape[1]}, "
                f"but has {opened[place].shape[1]} columns"
            )
    return opened[first] if len(filled) == 1 else Shards([opened[place] for place in filled])


def open_labels(value: Any, name: str) -> Any:
    """Labels as `inputs.labels` takes them: read from files if `value` is a path, else as they are.

    Parameters
    ----------
    value : array-like (n,), path, or list of these
        A path leads to a ``.npy`` file or is a pattern, as for `open_rows`. A list of paths, all of which are path
        objects or end in ``.npy``, or of one-dimensional arrays, is put together; any other list is labels.
    name : str
        What the caller calls the argument.

    Raises
    ------
    OSError
        If a file cannot be read.
    TypeError
        If parts hold labels of different kinds.
    ValueError
        If a file is damaged or holds Python objects, or no file fits a pattern.

    Examples
    --------
    >>> open_labels([np.array([7, 9]), np.array([7])], "labels")
    array([7, 9, 7])
    """
    if not _is_path(value) and not _are_label_parts(value):
        return value
    entries = [(value, name)] if _is_path(value) else [(part, f"{name}[{i}]") for i, part in enumerate(value)]
    found = [pair for entry, title in entries for pair in _label_parts(entry, title, name)]
    filled = [(part, title) for part, title in found if len(part)] or found[:1]
    parts = [part for part, _ in filled]
    for part, title in filled:
        if _kind(part) != _kind(parts[0]):
            raise TypeError(
                f"{name} must be of one kind throughout, but the dtypes are {parts[0].dtype} in {filled[0][1]} "
                f"and {part.dtype} in {title}"
            )
    joined = np.concatenate(parts)
    if _kind(joined) == _kind(parts[0]):
        return joined
    return np.concatenate([part.astype(object) for part in parts])  # int64 and uint64 meet in float64


def fingerprint(source: Source) -> bytes:
    """A digest of the numbers in a source, the same however they are kept: in files or memory, float16 or float32.

    Examples
    --------
    >>> whole = np.arange(6.0).reshape(3, 2)
    >>> parts = open_rows([whole[:1], whole[1:].astype(np.float16)], "gallery")
    >>> fingerprint(open_rows(whole, "gallery")) == fingerprint(parts)
    True
    """
    digest = hashlib.blake2b(f"{source.shape} {source.dtype.name}".encode(), digest_size=32)
    for _, rows in source.pieces(max(1, _RESIDENT // (source.shape[1] * source.dtype.itemsize))):
        plain = (rows + 0.0).astype(source.dtype.newbyteorder("<"), copy=False)  # -0 and 0 are one number
        digest.update(plain.data)
    return digest.digest()


def _entries(value: Any, name: str) -> Iterator[tuple[Any, str]]:
    """The parts that an argument consists of, and what messages call each."""
    if _is_path(value):
        yield from ((path, f"{name}: {path}") for path in fitting(value, name))
    elif isinstance(value, (list, tuple)) and any(_is_path(part) or getattr(part, "ndim", 1) == 2 for part in value):
        for place, part in enumerate(value):
            if _is_path(part):
                yield from _entries(part, name)
            else:
                yield part, f"{name}[{place}]"
    else:
        yield value, name


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def fitting(path: str | os.PathLike[str], name: str) -> list[str]:
    """The files that a pattern fits, or the path itself if it is none."""
    text = os.fspath(path)
    if os.path.exists(text) or not glob.has_magic(text):
        return [text]
    found = sorted(glob.glob(text, recursive=True))
    if not found:
        raise ValueError(f"{name} must be files that are there, but none fits {text!r}")
    return found


def _open(entry: Any, title: str, list_column: str | None, column: str | int | None, with_labels: bool) -> Source:
    """A source of one part, which may have no rows."""
    if not _is_path(entry):
        return _open_array(entry, title)
    ending = Path(entry).suffix.lower()
    if ending == ".npy":
        return _open_npy(entry, title)
    if ending == ".parquet":
        pieces = tabular.parquet_pieces(Path(entry), list_column, column, with_labels, _RESIDENT // 8)
        return _spooled(pieces, title)
    raise ValueError(f"{title} must end in {' or '.join(ENDINGS)}, but ends in {ending!r}")


def _open_array(entry: Any, title: str) -> Source:
    values = inputs.matrix(entry, title)
    if not len(values):
        return Array(np.asarray(values, dtype=inputs.float_type(values.dtype, title)))
    inputs.require_filled(values.shape, title)
    if isinstance(entry, np.memmap) and _pages(entry) is not None:
        mapped = Mapped(entry, title)
        return _spooled(mapped.turned(), title) if mapped.by_column else _checked(mapped, mapped)
    if isinstance(entry, (list, tuple)):
        return Array(inputs.embeddings(values, title))
    inputs.float_type(values.dtype, title)
    inputs.require_exact(values, title)
    return Array(values)


def _pages(array: Any) -> mmap.mmap | None:
    """The map that an array lies in, or None: what is computed from a map may be of its class and yet in memory."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array if isinstance(array, mmap.mmap) else None


def _open_npy(path: str, title: str) -> Source:
    array = npy.mapped(path, title)
    if len(inputs.matrix(array, title)):
        inputs.require_filled(array.shape, title)
    mapped = Mapped(array, title)
    return _spooled(mapped.turned(), title) if mapped.by_column else _checked(File(path, array, title), mapped)


def _checked(source: Source, mapped: Mapped) -> Source:
    """A source, when a piece at a time of what is mapped has been found to be in order."""
    if source.stored.kind == "f" or source.stored.itemsize == 8:
        for _ in _exact(mapped.as_stored(), mapped.title):
            pass
    return source


def _exact(pieces: Iterable[Rows], title: str) -> Iterator[Rows]:
    """The same pieces, each checked before it is passed on."""
    start = 0
    for rows in pieces:
        if len(rows):
            inputs.require_filled(rows.shape, title)
            inputs.require_exact(rows, title, start)
        start += len(rows)
        yield rows


def _spooled(pieces: Iterable[Rows], title: str) -> Source:
    """Rows, checked and copied to a temporary file, which is deleted when nobody has the source any more."""
    descriptor, path = tempfile.mkstemp(prefix="deadheat-", suffix=".rows")
    try:
        with os.fdopen(descriptor, "wb") as file:
            shape, dtype = _copied(_exact(pieces, title), file, path)
        if not shape[0]:
            _delete(path)
            return Array(np.empty(shape, dtype=inputs.float_type(dtype, title)))
        source = File(path, np.memmap(path, dtype, "r", shape=shape), title)
    except BaseException:
        _delete(path)
        raise
    weakref.finalize(source, _delete, path)
    return source


def _copied(pieces: Iterable[Rows], file: IO[bytes], path: str) -> tuple[tuple[int, int], np.dtype[Any]]:
    """Write pieces, of which there must be one, and say what shape and type they have together."""
    n = 0
    for rows in pieces:
        n, dim, dtype = n + len(rows), rows.shape[1], rows.dtype
        try:
            file.write(np.ascontiguousarray(rows).data)
        except OSError as error:  # the disk is full: say which
            error.filename = path
            raise
    return (n, dim), dtype


def _delete(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def _are_label_parts(value: Any) -> bool:
    """Whether a list is one of paths or arrays, and not one of labels."""
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(map(_is_label_part, value))


def _is_label_part(part: Any) -> bool:
    if isinstance(part, str):
        return part.lower().endswith(".npy")
    return isinstance(part, os.PathLike) or getattr(part, "ndim", 0) == 1


def _label_parts(entry: Any, title: str, name: str) -> Iterator[tuple[NDArray[Any], str]]:
    """Arrays of labels, and what messages call each: all files that a pattern fits, or the array itself."""
    if not _is_path(entry):
        yield np.asarray(entry), title
        return
    for path in fitting(entry, name):
        title = f"{name}: {path}"
        if Path(path).suffix.lower() != ".npy":
            raise ValueError(f"{title} must end in .npy, but ends in {Path(path).suffix!r}")
        labels = npy.flat(npy.read(path, title))
        if labels.ndim != 1:
            raise ValueError(f"{title} must be one-dimensional, but has shape {labels.shape}")
        yield labels, title


def _kind(labels: NDArray[Any]) -> str:
    """Labels of one kind can be compared: integers, text, bytes."""
    kind = labels.dtype.kind
    return "integers" if kind in "iub" else "text" if kind in "UT" else kind
