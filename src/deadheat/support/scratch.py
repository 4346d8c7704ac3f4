"""Storage of large data: memory, arrays in mapped temporary files, temporary files and folders, and URLs.

A temporary file has no name where the system allows it, so that it goes with the process, however that ends. Paths may
be URLs, which fsspec opens; a process keeps one copy of such a file.
"""

from __future__ import annotations

import _thread
import errno
import mmap
import os
import stat
import sys
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat.errors import DeadheatError, FileError, MissingPackageError, StorageError, reason
from deadheat.support.arrays import Array
from deadheat.support.checks import cause
from deadheat.support.lazy import glob, lazy, require, tempfile
from deadheat.support.locks import process_lock

if sys.platform != "win32":
    import fcntl
atexit: Any = lazy("atexit")
atomic: Any = lazy("deadheat.support.atomic")
shutil: Any = lazy("shutil")

WORTH_A_FILE = 48 << 20  # bytes of arrays from which on they are better on disk
_WORKING = 256 << 20  # bytes of memory that work on arrays on disk takes
_PIECE = 1 << 22  # bytes that are written at once where a file system cannot reserve them
PREFIX = "deadheat-"  # of the names of temporary files and folders
_USUAL_MEMORY = 8 << 30  # bytes, where the system does not say

resource = lazy("resource")


def arrays(number: int, length: int, dtype: DTypeLike = np.int64) -> tuple[Array, ...]:
    """Return `number` arrays of this length and type, to be filled; in memory, or on disk if they are large together.

    The disk space is reserved at once, and free again when they are deleted. It is a `StorageError` if the directory of
    temporary files has no room for them, or the process no address space to map them and to work on them.
    """
    size = np.dtype(dtype).itemsize * length
    if not size or number * size < WORTH_A_FILE:
        return tuple(np.empty(length, dtype=dtype) for _ in range(number))
    try:
        made = tuple(np.ndarray(length, dtype=dtype, buffer=_mapped(size)) for _ in range(number))
        mmap.mmap(-1, _WORKING).close()
        return made
    except OSError as error:
        megabytes, folder = f"{number * size / 1e6:.0f} MB", tempfile.gettempdir()
        refused = f"keep {megabytes} in temporary files in '{folder}' (TMPDIR names another directory)"
        if error.errno == errno.ENOMEM:
            refused = f"map {megabytes} of temporary files and take {_WORKING / 1e6:.0f} MB to work on them"
        raise StorageError(error.errno or errno.EIO, f"cannot {refused}: {error.strerror or error}") from None


class FileMap(mmap.mmap):
    descriptor = -1


def _mapped(size: int) -> mmap.mmap:
    with tempfile.TemporaryFile() as file:
        _reserve(file, size)
        mapped = FileMap(file.fileno(), size)
        if hasattr(os, "pwrite"):  # on a system where what is written and what is mapped are the same pages
            mapped.descriptor = os.dup(file.fileno())
            weakref.finalize(mapped, _close_in_thread, mapped.descriptor)
        return mapped


def _close_in_thread(descriptor: int) -> None:
    """Close a large file in a thread: to free its pages takes 6 % of an evaluation in two classes (20,000 x 64).

    The garbage collector may call this anywhere, so it takes no lock and waits for nothing, as `threading.Thread` does.
    """
    try:
        _thread.start_new_thread(_close, (descriptor,))
    except RuntimeError:  # no more threads, or the interpreter ends
        _close(descriptor)


def _close(descriptor: int) -> None:
    with suppress(OSError):  # nobody reads the file any more, and an error could only be printed
        os.close(descriptor)


def descriptor_of(array: NDArray[Any]) -> int:
    """Return a descriptor of the file that one of `arrays` begins, to write into its pages; −1 if it is in memory."""
    return array.base.descriptor if isinstance(array.base, FileMap) else -1


def _reserve(file: IO[bytes], size: int) -> None:
    """Reserve disk space: a write into a mapped file that finds none would end the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    for start in range(0, size, _PIECE):
        file.write(bytes(min(_PIECE, size - start)))
    file.flush()


def let_go(*arrays: NDArray[Any]) -> None:
    """Free the memory of contiguous arrays on disk, or of such parts of them, until they are used again."""
    for array in arrays:
        owner: Any = array
        while isinstance(owner, np.ndarray):
            owner = owner.base
        if isinstance(owner, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") and array.nbytes:
            whole = np.frombuffer(owner, dtype=np.uint8)
            start = array.ctypes.data - whole.ctypes.data
            first = start // mmap.PAGESIZE * mmap.PAGESIZE
            owner.madvise(mmap.MADV_DONTNEED, first, start + array.nbytes - first)


class Unnamed:
    """A temporary file: written as `file`, opened by `path` after `written()`, deleted with this object.

    It has no name on Linux, where a process can open its open files by number: so not even a killed process leaves it.
    Elsewhere, and where half of the files that a process may open are open, it has a name, and `close` deletes it.
    """

    def __init__(self) -> None:
        self._close: Any
        file: IO[bytes] = tempfile.TemporaryFile(prefix=PREFIX)
        self.path = f"/proc/{os.getpid()}/fd/{file.fileno()}"
        if os.path.exists(self.path) and 2 * file.fileno() < resource.getrlimit(resource.RLIMIT_NOFILE)[0]:
            self.file, self.written = file, file.flush
            self._close = weakref.finalize(self, _delete, file)
        else:
            file.close()
            descriptor, self.path = tempfile.mkstemp(prefix=PREFIX)
            self.file = os.fdopen(descriptor, "wb")
            self.written = self.file.close
            self._close = weakref.finalize(self, _delete, self.file, self.path)

    def close(self) -> None:
        """Release the disk space."""
        self._close()


def _delete(file: IO[bytes], path: str = "") -> None:
    """Close a file that nobody reads any more, and delete it if it has a name; an error could only be printed."""
    with suppress(OSError):
        file.close()
    if path:
        with suppress(OSError):
            os.unlink(path)


def available_memory() -> int:
    """Estimate how many bytes a process could take now without anything being swapped out."""
    free = _free_memory()
    with suppress(OSError, ValueError), open("/sys/fs/cgroup/memory.max") as file:  # no container, or it says "max"
        return min(free, int(file.read()))
    return free


def _free_memory() -> int:
    with suppress(OSError, StopIteration), open("/proc/meminfo") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    with suppress(AttributeError, ValueError, OSError):  # all memory, free or not
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return _USUAL_MEMORY


# On other machines ----------------------------------------------------------------------------------------------------

_USERS = "users"  # the file in such a folder that its users have locked
_NEW = 3600  # seconds in which a folder may have been made and not yet locked
_FETCHED_AT_ONCE = 8 << 20  # bytes


def is_url(path: str) -> bool:
    """Return whether a path is a URL, such as ``s3://bucket/run``."""
    return "://" in path


def opened_folder(folder: str) -> IO[bytes]:
    """Lock a temporary folder as in use, and return the lock, to be closed.

    Such a folder has a name, by which other processes find it, and stays if all of them are killed; so folders that are
    no longer in use are deleted here.
    """
    users = open(os.path.join(folder, _USERS), "ab")  # noqa: SIM115
    _lock(users, shared=True)
    _delete_left_behind()
    return users


def _delete_left_behind() -> None:
    """Delete the folders that killed processes of this user have left: those not locked, and not new."""
    if not hasattr(os, "getuid"):  # Windows, where nothing is locked
        return
    for folder in glob.glob(os.path.join(glob.escape(tempfile.gettempdir()), f"{PREFIX}*")):
        with suppress(OSError), open(os.path.join(folder, _USERS), "r+b") as users:
            state = os.lstat(folder)
            is_ours = stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid()
            if is_ours and time.time() - state.st_mtime > _NEW and _lock(users, shared=False, wait=False):
                shutil.rmtree(folder, ignore_errors=True)


_copies: dict[str, str] = {}  # of URLs, which this process has fetched
_folders: list[str] = []  # that they are in: at most one
_turn = process_lock()


def own_copy(path: str) -> str:
    """Return the path of a file, or of a copy of the file at a URL, which exists until this process ends."""
    if not is_url(path):
        return path
    with _turn:
        if not _folders:
            _folders.append(tempfile.mkdtemp(prefix=f"{PREFIX}copies-"))
            users = opened_folder(_folders[0])
            atexit.register(_leave, _folders[0], users, os.getpid())
        if path not in _copies:
            # with the ending, which names its format
            copy = os.path.join(_folders[0], f"{len(_copies)}-{os.path.basename(path)}")
            with _fetching(path) as fsspec, fsspec.open(path, "rb") as file, atomic.replacing(copy) as out:
                shutil.copyfileobj(file, out, _FETCHED_AT_ONCE)
            _copies[path] = copy
        return _copies[path]


def _leave(folder: str, users: IO[bytes], owner: int) -> None:
    if os.getpid() == owner:  # and not a process that it forked
        shutil.rmtree(folder, ignore_errors=True)
    users.close()


def matching(pattern: str) -> list[str]:
    """Return the URLs that match a pattern; the URL itself if it is no pattern."""
    if "*" not in pattern:
        return [pattern]
    with _fetching(pattern) as fsspec:
        file_system, path = fsspec.core.url_to_fs(pattern)
        return [str(file_system.unstrip_protocol(found)) for found in file_system.glob(path)]


@contextmanager
def _fetching(url: str) -> Iterator[Any]:
    """Import fsspec; errors of it and of its plug-ins name the URL."""
    try:
        yield require("fsspec", "files", f"'{url}'")
    except (DeadheatError, OSError):
        raise
    except ImportError as error:
        raise MissingPackageError(f"'{url}' needs another package: {reason(error)}") from error
    except Exception as error:
        raise FileError(url, f" cannot be fetched: {cause(error)}") from error


def _lock(file: IO[bytes], *, shared: bool, wait: bool = True) -> bool:
    """Lock a file against other processes, if possible. Without locks a file may be fetched twice, and left behind."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
