"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import IO

from deadheat.support import checks
from deadheat.support.lazy import tempfile

_UMASK = Lock()


def is_special(path: Path) -> bool:
    """Whether a path is there and is a device, a pipe or the like, which nothing can replace."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file that takes the place of `path` when the block ends without an error.

    Whatever goes wrong (a full disk, an interrupt), `path` stays as it was and no temporary file is left. A link is
    followed, the permissions of a file that was there are kept, and a device or a pipe is written as it is.

    Raises
    ------
    OSError
        If the folder does not exist, cannot be written, or is full; `filename` is `path`.
    """
    checks.without_nul(path)
    with _named(path):
        if is_special(Path(path)):  # by the path as it is: a pipe has no other
            with open(path, "wb") as file:
                yield file
        else:
            with _replacing(Path(os.path.realpath(path))) as file:
                yield file


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say of an error which file could not be written, and not which temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename = os.fspath(path)
        raise


@contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {target}: it is a folder")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask()
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The umask of this process, which can only be read by setting it."""
    with _UMASK:  # two threads at once could leave it at 0
        mask = os.umask(0)
        os.umask(mask)
    return mask
