"""Checkpoints: finished portions of a long run, kept in a directory, so that a killed run can resume.

A portion counts only if it is complete, with the checksum of its bytes, its number and the identity of the run. The
directory holds

    deadheat-checkpoint.json    identity of the run
    deadheat-checkpoint.lock    locked by the run that is at work; the system unlocks it, however the run ends
    portion-00000012.npz        arrays, as NumPy keeps them, and 64 bytes of checksum, which NumPy overlooks
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import logging
import os
import re
import sys
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.errors import FileError, InvalidValueError
from deadheat.inputs import limits
from deadheat.support import checks
from deadheat.support.arrays import Array
from deadheat.support.atomic import replacing

if sys.platform != "win32":
    import fcntl

_FORMAT = "deadheat.Checkpoint 4"
_MANIFEST, _LOCK = "deadheat-checkpoint.json", "deadheat-checkpoint.lock"
_PORTION = re.compile(r"portion-\d{8,}\.npz")
_TEMPORARY = re.compile(rf"\.({_PORTION.pattern}|{re.escape(_MANIFEST)})\.\w+")  # begun by `replacing`
_DIGEST = re.compile(r"[0-9a-f]{32,}")
_CHECKSUM_BYTES = hashlib.blake2b().digest_size


class Checkpoint:
    """The finished portions of one run in one directory, which no other run can use at the same time.

    The directory is one that another run of the same identity used, or an empty one, or a new one in one that exists.
    An identity has digests of the data, and options. ValueError is raised if the directory has other files in it, is of
    another identity, or is in use; OSError, of the system's class and `errno`, if it cannot be read or written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Checkpoint(folder, {"distance": "cosine"}) as checkpoint:
    ...     checkpoint.save(3, {"closer": np.arange(4)})
    ...     checkpoint.load(3), checkpoint.load(4)
    ({'closer': array([0, 1, 2, 3])}, None)
    """

    def __init__(self, directory: str | os.PathLike[str], identity: Mapping[str, str]) -> None:
        self.directory = Path(checks.path(directory, "checkpoint"))
        self._identity = {"format": _FORMAT, **identity}
        with self._trouble("open"):
            self._enter_directory()
            self._unlock = weakref.finalize(self, os.close, self._lock())
        try:
            with self._trouble("open"):
                self._check_identity()
                for name in filter(_TEMPORARY.fullmatch, os.listdir(self.directory)):
                    (self.directory / name).unlink(missing_ok=True)
        except BaseException:
            self.close()
            raise

    def load(self, number: int) -> dict[str, Array] | None:
        """Return the arrays of a portion, or None if it was not saved, cannot be read, or is damaged."""
        try:
            with limits.opened(self._path(number)) as file:
                content = memoryview(file.read())
        except OSError:
            return None
        archive, checksum = content[:-_CHECKSUM_BYTES], content[-_CHECKSUM_BYTES:]
        if self._checksum(number, archive) != checksum:
            return None
        with np.load(io.BytesIO(archive), allow_pickle=False) as arrays:
            return dict(arrays)

    def save(self, number: int, arrays: Mapping[str, Array]) -> None:
        """Save the arrays of a finished portion, whole or not at all."""
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        with self._trouble("write"), replacing(self._path(number)) as file:
            file.write(buffer.getbuffer())
            file.write(self._checksum(number, buffer.getbuffer()))

    def close(self) -> None:
        """Let other runs use the directory."""
        self._unlock()

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _path(self, number: int) -> Path:
        return self.directory / f"portion-{number:08}.npz"

    def _checksum(self, number: int, archive: memoryview) -> bytes:
        """Return the checksum of a portion, which is of this run and has this number."""
        seal = json.dumps([self._identity, number], sort_keys=True).encode()
        checksum = hashlib.blake2b(b"%d %s\n" % (len(seal), seal))
        checksum.update(archive)
        return checksum.digest()

    def _enter_directory(self) -> None:
        """Make the directory, or check that it may be used for this checkpoint."""
        parent = self.directory.parent
        if not parent.is_dir():
            raise self._refusal(f"must be in a directory that exists, but there is no directory '{parent}'")
        try:
            self.directory.mkdir(exist_ok=True)
        except FileExistsError:
            raise self._refusal("must be a directory, but is a file") from None
        names = os.listdir(self.directory)
        other = min((name for name in names if name != _LOCK and not _TEMPORARY.fullmatch(name)), default=None)
        if other and _MANIFEST not in names:
            raise self._refusal(f"must be a new or empty directory, or a checkpoint, but holds {other!r}")

    def _lock(self) -> int:
        """Lock the directory for as long as a file is open, and return its descriptor."""
        descriptor = os.open(self.directory / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if sys.platform != "win32":
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise self._refusal("is in use by another run") from None
        except OSError:  # a file system without locks, where two runs at once can stop each other, but spoil nothing
            pass
        return descriptor

    def _check_identity(self) -> None:
        path = self.directory / _MANIFEST
        try:
            with limits.opened(path) as file:
                there = json.load(file)
        except FileError:
            raise
        except (FileNotFoundError, ValueError, RecursionError):
            there = None
        if not (isinstance(there, dict) and all(isinstance(value, str) for value in there.values())):
            if any(_PORTION.fullmatch(name) for name in os.listdir(self.directory)):
                raise self._refusal(f"has portions but a damaged '{_MANIFEST}'; give another directory or remove it")
            with replacing(path) as file:
                file.write(f"{json.dumps(self._identity, indent=1)}\n".encode())
        elif there != self._identity:
            differ = differences(there, self._identity)
            raise self._refusal(f"is of other data or options: {differ}; give another directory or remove it")

    @contextmanager
    def _trouble(self, action: str) -> Iterator[None]:
        """Name the checkpoint in an error of the file system, not the file in it."""
        try:
            yield
        except OSError as error:
            raise OSError(error.errno or errno.EIO, f"cannot {action} {self}: {error.strerror or error}") from None

    def _refusal(self, rule: str) -> InvalidValueError:
        return InvalidValueError(str(self), rule)

    def __str__(self) -> str:
        return f"checkpoint '{self.directory}'"


def differences(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """Describe the differences in words, without the digests."""
    words = []
    for key in {**here, **there}:
        old, new = there.get(key, "none"), here.get(key, "none")
        if old != new:
            kinds = {
                (True, True): f"other {key}", (True, False): f"{key} there and none here",
                (False, True): f"{key} here and none there", (False, False): f"{key} is {old!r} there and {new!r} here",
            }  # fmt: skip
            words.append(kinds[bool(_DIGEST.fullmatch(old)), bool(_DIGEST.fullmatch(new))])
    return ", ".join(words)


def report_found(checkpoint: Checkpoint, n_found: int, n: int, progress: Any) -> None:
    """Say how much of a run a checkpoint has: in the log of deadheat, and next to its own progress bar."""
    if n_found:
        text = f"resuming: {n_found} of {n} portions found in {checkpoint}"
        logging.getLogger("deadheat").info(text)
        if progress is True:
            print(text, file=sys.stderr)
