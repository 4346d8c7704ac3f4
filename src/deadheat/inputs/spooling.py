"""Rows that are checked on their way: a piece at a time, and copied to a temporary file if they lie on disk otherwise.

What does not lie row after row (Parquet, columns in Fortran's order) is copied once, to a file that goes with its
`Source`; ``TMPDIR`` says where.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import IO, Any

import numpy as np

from deadheat.errors import InvalidValueError
from deadheat.inputs.arrays import float_type, require_exact, require_filled
from deadheat.inputs.mapped import File, Mapped
from deadheat.inputs.source import Array, Rows, Source


def checked(source: Source, mapped: Mapped) -> Source:
    """A source, when a piece at a time of what is mapped has been found to be in order."""
    if source.stored.kind == "f" or source.stored.itemsize == 8:
        for _ in _exact(mapped.as_stored(), mapped.title):
            pass
    return source


def _exact(pieces: Iterable[Rows], title: str) -> Iterator[Rows]:
    """The same pieces, each checked before it is passed on."""
    start, kind = 0, None
    for rows in pieces:
        kind = kind or (rows.shape[1:], rows.dtype)
        if (rows.shape[1:], rows.dtype) != kind:
            raise InvalidValueError(title, f"must be of one dim and one type throughout, but is not from row {start}")
        if len(rows):
            require_filled(rows.shape, title)
            require_exact(rows, title, start)
        start += len(rows)
        yield rows


def spooled(pieces: Iterable[Rows], title: str) -> Source:
    """Rows, checked and copied to a temporary file, which is deleted when nobody has the source any more."""
    descriptor, path = tempfile.mkstemp(prefix="deadheat-", suffix=".rows")
    try:
        with os.fdopen(descriptor, "wb") as file:
            shape, dtype = copied(_exact(pieces, title), file, path)
        if not shape[0]:
            _delete(path)
            return Array(np.empty(shape, dtype=float_type(dtype, title)))
        source = File(path, np.memmap(path, dtype, "r", shape=shape), title)
    except BaseException:
        _delete(path)
        raise
    weakref.finalize(source, _delete, path)
    return source


def copied(pieces: Iterable[Rows], file: IO[bytes], path: str) -> tuple[tuple[int, int], np.dtype[Any]]:
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
