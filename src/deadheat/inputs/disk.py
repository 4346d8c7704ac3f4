"""Sources of rows in files, which are opened for each reading and never kept open.

The memory in use does not grow with a file: a set may have more files than a process may open, and rows are checked a
piece at a time. Rows that are not stored one after another (Parquet, Fortran order) are copied once, to a temporary
file that is deleted with its `Source`; ``TMPDIR`` names the directory. A `Place` is the position of rows on disk, so
that other processes can open them there.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import numpy as np

import deadheat._core as _core
from deadheat.errors import InvalidValueError
from deadheat.inputs.arrays import float_type, require_exact, require_filled
from deadheat.inputs.source import Array, Index, Rows, Shards, Source
from deadheat.support.arguments import VALUES
from deadheat.support.arrays import slices
from deadheat.support.lazy import tempfile
from deadheat.support.scratch import Unnamed, available_memory

TRANSPOSED = 16 << 20  # bytes of the rows that are put together from columns at once
RESIDENT = 8 << 20  # bytes of rows that are read at once


_FIRST = np.zeros(1, dtype=np.int64)


class File(Source):
    """Rows in a file, which is opened for each reading and never kept open, except for the temporary `spool`.

    It is read and not mapped: a file that is cut off meanwhile is an error, and not the end of the process.
    """

    spool: Unnamed | None = None
    by_column = False

    def __init__(self, rows: Place, title: str = VALUES) -> None:
        self.shape, self.stored, self.title = rows.shape, np.dtype(rows.dtype), title
        self.dtype = float_type(self.stored)
        self._path, self._offset = os.path.abspath(rows.path), rows.offset
        self._row = max(1, self.shape[1] * self.stored.itemsize)  # bytes
        self._state = self.state()

    @classmethod
    def of_map(cls, array: np.memmap[Any, Any]) -> File:
        """Return the rows of a map of a whole array; its columns, and `by_column`, if it is stored column by column."""
        by_column = array.flags.f_contiguous and min(array.shape) > 1
        assert array.filename is not None
        shape: Any = array.shape[::-1] if by_column else array.shape
        source = cls(Place(os.fspath(array.filename), array.dtype.str, array.offset, shape))
        source.by_column = by_column
        return source

    def state(self) -> Hashable:
        return _state_of(os.stat(self._path))

    def transposed(self) -> Iterator[Rows]:
        """Yield the columns in order, as rows, in pieces: those of a file that is stored column by column."""
        step = max(1, TRANSPOSED // (self.shape[0] * self.stored.itemsize))
        for start in range(0, self.shape[1], step):
            part = np.empty((self.shape[0], min(step, self.shape[1] - start)), dtype=self.stored)
            begin = self._offset + start * self.stored.itemsize
            with self._opened() as file:
                for row in range(self.shape[0]):
                    self._fill(file, begin + row * self._row, part[row : row + 1])
            yield np.ascontiguousarray(part.T)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        descriptor = os.open(self._path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            if _state_of(os.fstat(descriptor)) != self._state:
                raise self._changed()
            yield descriptor
        finally:
            os.close(descriptor)

    def _changed(self) -> InvalidValueError:
        return InvalidValueError(self.title, "must stay as it is while it is read, but has changed")

    def _fill(self, file: int, begin: int, out: Rows, rows: Index = _FIRST, places: Index = _FIRST) -> None:
        """Read rows with these ascending numbers, counted from a byte on, each to its place in the output."""
        failed = _core.read_rows(file, begin, rows, places, out.view(np.uint8))
        if failed > 0:
            raise OSError(failed, os.strerror(failed), self._path)
        if failed:
            raise self._changed()

    def _read_into(self, start: int, out: Rows) -> None:
        with self._opened() as file:
            for part, some in self._parts(out):
                self._fill(file, self._offset + (start + some.start) * self._row, part.reshape(1, -1))

    def _take_into(self, index: Index, out: Rows) -> None:
        with self._opened() as file:
            for part, some in self._parts(out):
                order = np.argsort(index[some], kind="stable")
                self._fill(file, self._offset, part, index[some][order], order)

    def _parts(self, out: Rows) -> Iterator[tuple[Rows, slice]]:
        """Yield parts of the output to fill, in the type in which the rows are stored."""
        at_once = out.dtype == self.stored and out.flags.c_contiguous
        step = max(1, len(out) if at_once else RESIDENT // self._row)
        for some in slices(len(out), step):
            part = out[some] if at_once else np.empty(out[some].shape, dtype=self.stored)
            yield part, some
            if not at_once:
                out[some] = part


def _state_of(file: os.stat_result) -> Hashable:
    """Return values that change when somebody writes to a file or replaces it."""
    return file.st_ino, file.st_size, file.st_mtime_ns


def pages(array: Any) -> mmap.mmap | None:
    """Return the map that an array lies in; None for an array in memory, even if it has the class of a map."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array if isinstance(array, mmap.mmap) else None


def checked(source: File) -> Source:
    """Return the source after checking all rows, a piece at a time."""
    if source.stored.kind == "f" or source.stored.itemsize == 8:
        for _ in _exact(rows for _, rows in source.stored_pieces(max(1, RESIDENT // source._row))):
            pass
    return source


def _exact(pieces: Iterable[Rows]) -> Iterator[Rows]:
    """Yield the same pieces, each after it has been checked."""
    start, kind = 0, None
    for rows in pieces:
        kind = kind or (rows.shape[1:], rows.dtype)
        if (rows.shape[1:], rows.dtype) != kind:
            raise InvalidValueError(VALUES, f"must be of one dim and one type throughout, but is not from row {start}")
        if len(rows):
            require_filled(rows.shape)
            require_exact(rows, VALUES, start)
        start += len(rows)
        yield rows


def spooled(pieces: Iterable[Rows]) -> Source:
    """Check rows and copy them to a temporary file, which is deleted with the source."""
    spool = Unnamed()
    try:
        written = copied(_exact(pieces), spool.file, tempfile.gettempdir())
        spool.written()
    except BaseException as error:
        spool.close()
        if isinstance(error, OSError):  # the disk is full: say which
            error.filename = error.filename or tempfile.gettempdir()
        raise
    if not written.shape[0]:
        spool.close()
        return Array(np.empty(written.shape, dtype=float_type(np.dtype(written.dtype))))
    source = File(written._replace(path=spool.path))
    source.spool = spool
    return source


def copied(pieces: Iterable[Rows], file: IO[bytes], path: str) -> Place:
    """Write pieces, of which there must be at least one, to a file, and return the place of their rows."""
    n = 0
    for rows in pieces:
        n, dim, dtype = n + len(rows), rows.shape[1], rows.dtype
        try:
            file.write(np.ascontiguousarray(rows).data)
        except OSError as error:  # the disk is full: say which
            error.filename = path
            raise
    return Place(path, dtype.str, 0, (n, dim))


_STAYS = 1 / 8  # of the memory that there is


class Place(NamedTuple):
    """The position of rows that lie one after another in a file."""

    path: str
    dtype: str
    offset: int  # bytes before the first row
    shape: tuple[int, int]


def places_of(source: Source) -> list[Place | Source]:
    """Return the parts of a source: each as a `Place`, or unchanged if it is not stored row after row on disk."""
    if isinstance(source, Shards):
        return [rows for part in source._sources for rows in places_of(part)]
    if isinstance(source, File):
        return [Place(source._path, source.stored.str, source._offset, source.shape)]
    return [(_place_of_map(source.whole()) if isinstance(source, Array) else None) or source]


def _place_of_map(array: Rows) -> Place | None:
    """Return the place of a memory map; None if it is not as in the file, or not stored row after row."""
    owner, mapped = array.base, pages(array)
    if not (isinstance(owner, np.memmap) and owner.filename and owner.mode in ("r", "r+") and array.flags.c_contiguous):
        return None
    assert mapped is not None
    begin = owner.offset - owner.offset % mmap.ALLOCATIONGRANULARITY  # of what is mapped, in the file
    address = np.frombuffer(mapped, dtype=np.uint8).ctypes.data
    if owner.mode == "r+":
        mapped.flush()
    return Place(os.path.abspath(owner.filename), array.dtype.str, begin + array.ctypes.data - address, array.shape)


def write_rows(source: Source, file: IO[bytes], path: str) -> Place:
    """Write all rows of a source to a file: those of an `Array` in its stored type, others in `dtype`."""
    pieces: Iterable[Rows] = [source.whole()] if isinstance(source, Array) else (rows for _, rows in source.pieces())
    return copied(pieces, file, path)


def open_place(rows: Place) -> Source:
    """Open a source of the rows at a place.

    Rows that are small compared with the memory stay mapped, and all processes of a machine share them.
    """
    dtype = np.dtype(rows.dtype)
    if rows.shape[0] * rows.shape[1] * dtype.itemsize <= available_memory() * _STAYS:
        array: Any = np.memmap(rows.path, dtype, "r", rows.offset, rows.shape)
        if array.flags.aligned:
            return Array(np.asarray(array))
    return File(rows, "rows")
