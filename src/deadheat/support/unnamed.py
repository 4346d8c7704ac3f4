"""Temporary files without a name: they go with the process, however that ends; until then a path opens them."""

from __future__ import annotations

import os
import weakref
from contextlib import suppress
from typing import IO, Any

from deadheat.support.lazy import lazy, tempfile

resource = lazy("resource")

PREFIX = "deadheat-"


class Unnamed:
    """A temporary file: written as `file`, and opened by `path` after `written()`; gone when nobody has this object.

    It has no name where the system shows a process its open files (Linux), so that not even a killed process leaves it.
    Elsewhere, and where half of the files are open that a process may have open, it has a name, and `close` deletes it.

    Examples
    --------
    >>> unnamed = Unnamed()
    >>> _ = unnamed.file.write(b"text")
    >>> unnamed.written()
    >>> with open(unnamed.path, "rb") as file:
    ...     file.read()
    b'text'
    >>> unnamed.close()
    """

    def __init__(self) -> None:
        self._close: Any
        file: IO[bytes] = tempfile.TemporaryFile(prefix=PREFIX)
        self.path = f"/proc/{os.getpid()}/fd/{file.fileno()}"
        if os.path.exists(self.path) and 2 * file.fileno() < resource.getrlimit(resource.RLIMIT_NOFILE)[0]:
            self.file, self.written = file, file.flush
            self._close = weakref.finalize(self, file.close)
        else:
            file.close()
            descriptor, self.path = tempfile.mkstemp(prefix=PREFIX)
            self.file = os.fdopen(descriptor, "wb")
            self.written = self.file.close
            self._close = weakref.finalize(self, _delete, self.file, self.path)

    def close(self) -> None:
        """Give the disk space back."""
        self._close()


def _delete(file: IO[bytes], path: str) -> None:
    file.close()
    with suppress(FileNotFoundError):
        os.unlink(path)
