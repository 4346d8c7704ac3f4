"""Limits of the files that are read: one table for all formats, and the one function that opens a file.

A file can claim more than it holds: a kilobyte of HDF5 may stand for gigabytes. Readers compare what a file claims with
what it holds before they take memory. `ORDINARY` has the limits of files in general, `UNTRUSTED` those of files that
somebody else made, within a block `with untrusted():`. There, links, URLs and devices are refused too.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import IO, Any, NamedTuple, TypeVar

from deadheat.errors import FileError
from deadheat.support import scratch
from deadheat.support.lazy import lazy

atomic: Any = lazy("deadheat.support.atomic")

Name = TypeVar("Name", bound=Hashable)

_SPECIAL = " is a pipe or a device, and not a file: save it in one"
_LINK = " is a symbolic link: give the file itself"


class Limits(NamedTuple):
    """The limits of one file."""

    unpacked: int  # bytes that an array may have, however few of them the file holds
    text: int  # the same for text that is compressed
    ratio: int  # bytes unpacked from one byte of the file, of more than that; distinct rows stay far below 100
    columns: int  # of an array or a table: the dimension of an embedding
    lines: int  # of a table of text
    members: int  # arrays and groups in a file
    nesting: int  # of groups in groups


ORDINARY = Limits(
    unpacked=1 << 30, text=4 << 20, ratio=100, columns=1 << 24, lines=1 << 31, members=1 << 16, nesting=64
)
UNTRUSTED = Limits(
    unpacked=512 << 20, text=4 << 20, ratio=100, columns=1 << 16, lines=1 << 22, members=1 << 10, nesting=8
)

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


def opened(path: str | os.PathLike[str]) -> io.BufferedReader:
    """Open a file to read, unless `require_file` refuses it, or what was opened in its place."""
    require_file(path)
    return open(path, "rb", opener=_descriptor)


def require_file(path: str | os.PathLike[str]) -> None:
    """Refuse a pipe and a device, which opening may change; within `untrusted` also a symbolic link and a URL."""
    text = os.fspath(path)
    if _is_untrusted.get():
        if scratch.is_url(text) or os.path.splitdrive(text)[0].startswith(("\\\\", "//")):
            raise FileError(path, " names another host: give a file of this one")
        if os.path.islink(text):
            raise FileError(path, _LINK)
    if atomic.is_special(path):
        raise FileError(path, _SPECIAL)


def _descriptor(path: str, flags: int) -> int:
    flags |= getattr(os, "O_NONBLOCK", 0)  # a pipe without a writer would never open
    flags |= getattr(os, "O_NOFOLLOW", 0) if _is_untrusted.get() else 0
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if flags & getattr(os, "O_NOFOLLOW", 0) and error.errno in (errno.ELOOP, errno.EMLINK):
            raise FileError(path, _LINK) from None
        raise
    mode = os.fstat(descriptor).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # `open` itself refuses a folder
        os.close(descriptor)
        raise FileError(path, _SPECIAL)
    return descriptor


def require_columns(path: str | os.PathLike[str], part: str, n_column: int) -> None:
    """Refuse an array or a table with too many columns; `part` is its name in the message, after a blank."""
    most = current().columns
    if n_column > most:
        raise FileError(path, f"{part} must have at most {most} columns, but has {n_column}")


def require_bytes(path: str | os.PathLike[str], part: str, n_byte: int, n_held: int, most: int | None = None) -> None:
    """Refuse an array that takes more than `most` bytes, by default `unpacked`, and far more than its file has."""
    limit = current()
    if n_byte > max(limit.unpacked if most is None else most, limit.ratio * n_held):
        got = f"unpacks from {n_held} bytes to {n_byte / 1e9:.3g} GB, over {limit.ratio} for each"
        raise FileError(path, f"{part} {got}: save it uncompressed")


def path_of(file: IO[bytes]) -> str:
    """Return a path for a library that takes no open file: that of the descriptor, where the system has such paths."""
    path = f"/proc/self/fd/{file.fileno()}"
    return path if os.path.exists(path) else file.name


def bytes_held(file: IO[bytes]) -> int:
    """Return the bytes that a file has on disk: fewer than its size if it has holes."""
    state = os.fstat(file.fileno())
    on_disk = 512 * getattr(state, "st_blocks", 0)  # 0 where the file system does not say
    return min(state.st_size, on_disk) if on_disk else state.st_size


def repeated(names: Iterable[Name]) -> Name | None:
    """Return the first name that comes again, or None."""
    known = set[Name]()
    return next((name for name in names if name in known or known.add(name)), None)  # type: ignore[func-returns-value]
