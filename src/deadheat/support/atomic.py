"""Atomic writing: a file is written whole or not at all."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from deadheat.support import checks
from deadheat.support.locks import process_lock

_UMASK = process_lock()


def is_special(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is that of a device, a pipe or the like, which nothing can replace."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file that replaces `path` when the block ends without an error.

    Whatever goes wrong (a full disk, an interrupt), `path` stays as it was and no temporary file is left. Links are
    followed, permissions are kept, and a device or a pipe is written as it is. An `OSError` has `path` as `filename`.
    """
    checks.path(path)
    try:
        if is_special(path):  # by the path as it is: a pipe has no other
            with open(path, "wb") as file:
                yield file
        else:
            with _replacing(Path(os.path.realpath(path))) as file:
                yield file
    except OSError as error:
        if error.errno is not None:
            error.filename = os.fspath(path)  # and not the temporary one
        raise


@contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {target}: it is a folder")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask()
    temporary = target.with_name(f".{target.name}.{os.urandom(4).hex()}")
    try:
        with _without_a_name(target.parent) or _new(temporary) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if not temporary.exists():
                _link(file, temporary)
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _without_a_name(folder: Path) -> IO[bytes] | None:
    """Open a new file that is deleted even if the process is killed; None if the system has no such files."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600), "w+b")
    except OSError:  # not on this file system, or for a reason that a file with a name has too
        return None


def _new(path: Path) -> IO[bytes]:
    return open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600))


def _link(file: IO[bytes], path: Path) -> None:
    """Give this path to a file without a name."""
    try:
        root = os.open("/", os.O_RDONLY)  # with a folder, os.link follows the link in /proc
        try:
            os.link(f"/proc/self/fd/{file.fileno()}", path, src_dir_fd=root)
        finally:
            os.close(root)
    except OSError:  # there is no /proc, or no second name: what took long to compute must not be lost
        file.seek(0)
        with _new(path) as copy:
            shutil.copyfileobj(file, copy)
            os.fsync(copy.fileno())


def _umask() -> int:
    with _UMASK:  # it can only be read by setting it, and two threads at once could leave it at 0
        mask = os.umask(0)
        os.umask(mask)
    return mask
