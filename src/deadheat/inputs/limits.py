"""Limits of the files that are read: one table for all formats, and the one function that opens a file.

A file can claim more than it holds: a kilobyte of HDF5 may stand for gigabytes. Readers compare what a file claims with
what it holds before they take memory. `ORDINARY` has the limits of files in general, `UNTRUSTED` those of files that
somebody else made, within a block `with untrusted():`. There, links, URLs and devices are refused too.
"""

from __future__ import annotations

import errno
import math
import os
import stat
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import IO, NamedTuple, TypeVar

from deadheat.errors import FileError
from deadheat.support import scratch
from deadheat.support.atomic import is_special

Name = TypeVar("Name", bound=Hashable)


class Limits(NamedTuple):
    """The limits of one file.

    Attributes
    ----------
    unpacked : int
        The bytes that an array may have, however few of them the file holds.
    text : int
        The same for text that is compressed.
    ratio : int
        The bytes unpacked from one byte of the file, of arrays and text that have more. Rows of numbers that differ
        stay far below 100.
    columns : int
        The columns of an array or a table: the dimension of an embedding.
    lines : int
        The lines of a table of text.
    members : int
        The arrays and groups in a file.
    nesting : int
        The depth of groups within groups, and of the objects of JSON.
    """

    unpacked: int
    text: int
    ratio: int
    columns: int
    lines: int
    members: int
    nesting: int


ORDINARY = Limits(2 << 30, 4 << 20, 100, 1 << 24, 1 << 31, 1 << 16, 64)
UNTRUSTED = Limits(512 << 20, 4 << 20, 100, 1 << 16, 1 << 22, 1 << 10, 8)

_is_untrusted = ContextVar("deadheat_untrusted", default=False)


@contextmanager
def untrusted() -> Iterator[None]:
    """Read files of strangers until the block ends: in this thread, with the limits `UNTRUSTED`.

    A symbolic link, a device, a pipe and a URL are refused.
    """
    token = _is_untrusted.set(True)
    try:
        yield
    finally:
        _is_untrusted.reset(token)


def current() -> Limits:
    """Return the limits of files that are read here."""
    return UNTRUSTED if _is_untrusted.get() else ORDINARY


def opened(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a regular file to read; refuse a pipe and a device, and within `untrusted` also a symbolic link and a URL.

    The file is checked by its descriptor, so that it cannot be exchanged after the check.
    """
    require_local(path)
    if is_special(path):  # before it is opened, which a device may notice
        raise _special(path)
    return open(path, "rb", opener=_descriptor)


def _descriptor(path: str, flags: int) -> int:
    flags |= getattr(os, "O_NONBLOCK", 0)  # a pipe without a writer would never open
    if _is_untrusted.get():
        if os.path.islink(path):
            raise _link(path)
        flags |= getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if _is_untrusted.get() and error.errno in (errno.ELOOP, errno.EMLINK):
            raise _link(path) from None
        raise
    mode = os.fstat(descriptor).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # `open` itself refuses a folder
        os.close(descriptor)
        raise _special(path)
    return descriptor


def _special(path: str | os.PathLike[str]) -> FileError:
    return FileError(path, " is a pipe or a device, and not a file: save it in one")


def _link(path: str | os.PathLike[str]) -> FileError:
    return FileError(path, " is a symbolic link: give the file itself")


def require_local(path: str | os.PathLike[str]) -> None:
    """Refuse a path that names a host, within `untrusted`."""
    text = os.fspath(path)
    if _is_untrusted.get() and (scratch.is_url(text) or text.startswith(("\\\\", "//"))):
        raise FileError(path, " names another host: give a file of this one")


def held_by(file: IO[bytes]) -> int:
    """Return the bytes that a file holds on disk: fewer than its size if it has holes."""
    state = os.fstat(file.fileno())
    blocks = 512 * getattr(state, "st_blocks", 0)  # 0 where the file system does not say
    return min(state.st_size, blocks) if blocks else state.st_size


def require_shape(path: str | os.PathLike[str], part: str, shape: Sequence[int], itemsize: int, held: int) -> None:
    """Refuse an array that has too many columns, or that needs far more bytes than the file holds of it.

    `part` is its name in the message, which begins with a blank.
    """
    most = current()
    if len(shape) > 1 and math.prod(shape[1:]) > most.columns:
        raise FileError(path, f"{part} has {math.prod(shape[1:])} columns, over the limit of {most.columns}")
    require_unpacked(path, part, math.prod(shape) * itemsize, held)


def require_unpacked(path: str | os.PathLike[str], part: str, n_byte: int, held: int, *, text: bool = False) -> None:
    """Refuse what unpacks to far more bytes than the file holds of it."""
    most = current()
    if n_byte > max(most.text if text else most.unpacked, most.ratio * held):
        came = f"claims {n_byte / 1e9:.3g} GB, of which the file holds {held} bytes"
        raise FileError(path, f"{part} {came}: save it uncompressed, as a .npy file for example")


def repeated(names: Iterable[Name]) -> Name | None:
    """Return the first name that comes again, or None.

    Examples
    --------
    >>> repeated(["a", "b", "c", "b"])
    'b'
    """
    known = set[Name]()
    return next((name for name in names if name in known or known.add(name)), None)  # type: ignore[func-returns-value]
