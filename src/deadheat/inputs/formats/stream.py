"""What comes through a pipe or from a device, such as ``<(zcat points.csv.gz)`` or ``/dev/stdin``: read once, whole.

A pipe has no ending and cannot be read twice; so it is put down in a temporary file without a name, whose kind its
first bytes tell. No more is taken in than `limit` says: a pipe need not end.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from deadheat.errors import FileError, InvalidValueError
from deadheat.support.atomic import is_special
from deadheat.support.scratch import Unnamed

LIMIT = "DEADHEAT_STREAM_LIMIT"  # in the environment: bytes, or 500M, 32G
_USUAL = 16 << 30  # bytes, but no more than half of the free disk space
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_PIECE = 1 << 20  # bytes that are copied at once

_BEGINNINGS = {
    b"PK": ".npz",
    b"\x93NUMPY": ".npy",
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",  # of a stream
    b"\x89HDF": ".h5",
    b"\x1f\x8b": ".gz",
}


def is_stream(path: str) -> bool:
    """Whether a path is of something that passes by."""
    return path.startswith("/dev/") or is_special(Path(path))


class Landed(NamedTuple):
    """What came: a file with all of it, and how the name of a file of that kind ends."""

    path: Path
    ending: str


def limit() -> int:
    """How many bytes of a stream are taken in.

    Raises
    ------
    InvalidValueError
        If the environment says something else than a number of bytes.
    """
    text = os.environ.get(LIMIT)
    if text is None:
        return min(_USUAL, shutil.disk_usage(tempfile.gettempdir()).free // 2)
    found = re.fullmatch("([0-9]{1,15})([KMGT]?)", text, re.ASCII)
    if found is None:
        raise InvalidValueError(LIMIT, f"must be a number of bytes, such as 500M or 32G, but is {text!r}")
    return int(found[1]) * _UNITS[found[2]]


@contextmanager
def landed(path: str, alone: str) -> Iterator[Landed]:
    """A file with all that comes; text without commas or tabs in its first line ends as `alone` says.

    Raises
    ------
    FileError
        If it is of no known kind, or more than `limit`.
    """
    limit()  # refused before anything is read
    kept = Unnamed()
    try:
        with open(path, "rb") as stream:
            ending = copy(path, stream, kept.file, alone)
        kept.written()
        yield Landed(Path(kept.path), ending)
    finally:
        kept.close()


def copy(path: str, stream: IO[bytes], file: IO[bytes], alone: str) -> str:
    """Write all that comes to a file, as long as that is not too much; how a file of this kind ends."""
    n_byte, most = 0, limit()
    start = piece = stream.read(1 << 16)
    ending = _ending(start, alone)
    if ending in (".csv", ".tsv", alone) and b"\0" in start:  # as of devices that never end
        line = start[: start.index(b"\0")].count(b"\n") + 1
        raise FileError(path, f", line {line}: a zero byte; not a text file?")
    while piece:
        n_byte += len(piece)
        if n_byte > most:
            rule = f" is a stream of over {most} bytes, the most that is taken in ({LIMIT}=64G, say, allows more)"
            raise FileError(path, f"{rule}: save it in a file, which may have any size")
        file.write(piece)
        piece = stream.read(_PIECE)
    return ending


def _ending(start: bytes, alone: str) -> str:
    line = start.partition(b"\n")[0]
    text = ".tsv" if b"\t" in line else ".csv" if b"," in line else alone
    beginning = ".safetensors" if start[6:10] == b'\0\0{"' else ".json" if start.lstrip()[:1] == b"{" else text
    return next((ending for bytes_, ending in _BEGINNINGS.items() if start.startswith(bytes_)), beginning)


def in_memory(content: Any) -> Any:
    """What a format has read, without its file: arrays, in pairs too."""
    if isinstance(content, tuple):
        return tuple(map(in_memory, content))
    return np.concatenate(list(content)) if isinstance(content, Iterator) else np.array(content)
