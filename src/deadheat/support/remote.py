"""Files that may be on another machine: paths as they are, and URLs through fsspec, with one copy a machine."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from deadheat.support.lazy import glob, hashlib, lazy, require, tempfile

if sys.platform != "win32":
    import fcntl
atexit: Any = lazy("atexit")
atomic: Any = lazy("deadheat.support.atomic")
shutil: Any = lazy("shutil")

PREFIX = "deadheat-"  # of the folders among a machine's temporary ones
_USERS = "users"  # the file in such a folder that its users have locked
_NEW = 3600  # seconds in which a folder may have been made and not yet locked
_PIECE = 8 << 20  # bytes that are copied at once


def is_url(path: str) -> bool:
    """Whether a path is a URL, such as ``s3://bucket/run``."""
    return "://" in path


def joined(folder: str, name: str) -> str:
    """The path, or the URL, of what is in a folder."""
    return f"{folder.rstrip('/')}/{name}" if is_url(folder) else os.path.join(folder, name)


@contextmanager
def writing(path: str) -> Iterator[IO[bytes]]:
    """Open a new file to write into, wherever it is."""
    if is_url(path):
        with _fsspec(path).open(path, "wb") as file:
            yield file
    else:
        with open(path, "wb") as file:
            yield file


def delete_folder(folder: str) -> None:
    """Delete a folder with all that is in it, as far as that can be done."""
    with suppress(Exception):  # what is left costs disk space, and no result
        if is_url(folder):
            file_system, path = _fsspec(folder).core.url_to_fs(folder)
            file_system.rm(path, recursive=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def opened_folder(folder: str) -> IO[bytes]:
    """A lock on a temporary folder, to be closed, which says that the folder is in use.

    Such a folder has a name for other processes to find it, and stays where all of them are killed; so folders that
    are no longer in use are deleted first.
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


class LocalCopies:
    """Copies of files that are elsewhere, each fetched once by all processes of a machine that use the same `key`.

    They are deleted when the last of these processes closes its `LocalCopies`.

    Examples
    --------
    >>> copies = LocalCopies("a run")
    >>> copies.path("emb.npy")
    'emb.npy'
    >>> copies.close()
    """

    def __init__(self, key: str) -> None:
        digest = hashlib.blake2b(key.encode(), digest_size=12).hexdigest()
        self._folder = os.path.join(tempfile.gettempdir(), f"{PREFIX}copies-{digest}")
        self._users: IO[bytes] | None = None
        self.fetched = 0  # bytes, by this process

    def path(self, url: str) -> str:
        """The path of a file, or of its copy."""
        if not is_url(url):
            return url
        if self._users is None:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            self._users = opened_folder(self._folder)
        name = hashlib.blake2b(url.encode(), digest_size=12).hexdigest()
        copy = os.path.join(self._folder, f"{name}-{os.path.basename(url)}")  # with the ending, which names its format
        with open(os.path.join(self._folder, f"{name}.lock"), "ab") as lock:
            _lock(lock, shared=False)
            if not os.path.exists(copy):
                self._fetch(url, copy)
        return copy

    def _fetch(self, url: str, copy: str) -> None:
        with _fsspec(url).open(url, "rb") as file, atomic.replacing(copy) as out:
            while piece := file.read(_PIECE):
                out.write(piece)
                self.fetched += len(piece)

    def close(self) -> None:
        """Delete the copies if no other process uses them."""
        if self._users is not None:
            if _lock(self._users, shared=False, wait=False):
                shutil.rmtree(self._folder, ignore_errors=True)
            self._users.close()
            self._users = None


_fetched: dict[str, str] = {}  # the URL of each copy that this process has for itself
_own: list[LocalCopies] = []


def own_copy(path: str) -> str:
    """The path of a file, or of a copy that exists until this process ends."""
    if not is_url(path):
        return path
    if not _own:
        _own.append(LocalCopies(f"process {os.getpid()} {os.urandom(8).hex()}"))
        atexit.register(_own[0].close)
    copy = _own[0].path(path)
    _fetched[copy] = path
    return copy


def origin(path: str) -> str:
    """The URL that a file is a copy of, or the path as it is."""
    return _fetched.get(path, path)


def matching(pattern: str) -> list[str]:
    """The URLs that match a pattern; the URL itself if it is none."""
    if "*" not in pattern:
        return [pattern]
    file_system, path = _fsspec(pattern).core.url_to_fs(pattern)
    return [str(file_system.unstrip_protocol(found)) for found in file_system.glob(path)]


def _fsspec(url: str) -> Any:
    return require("fsspec", "files", f"'{url}'")


def _lock(file: IO[bytes], *, shared: bool, wait: bool = True) -> bool:
    """Lock a file against other processes, if possible. Without locks a file may be fetched twice, and stay."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
