"""What comes through a pipe, such as ``<(zcat points.csv.gz)`` or ``/dev/stdin``: read once, whole, into memory.

A pipe has no ending and cannot be read twice; so it is put down in a temporary file, whose kind its first bytes tell.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.support.atomic import is_special

_BEGINNINGS = {
    b"PK": ".npz",
    b"\x93NUMPY": ".npy",
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",  # of a stream
    b"\x89HDF": ".h5",
}


def is_stream(path: str) -> bool:
    """Whether a path is of something that passes by."""
    return path.startswith("/dev/") or is_special(Path(path))


@contextmanager
def landed(path: str, alone: str) -> Iterator[Path]:
    """A file with all that comes; text without commas or tabs in its first line ends as `alone` says."""
    with tempfile.TemporaryDirectory(prefix="deadheat-") as folder:
        file = Path(folder, "stream")
        with open(path, "rb") as stream, open(file, "wb") as copy:
            shutil.copyfileobj(stream, copy)
        with open(file, "rb") as copy:
            line = copy.readline(1 << 16)
        text = ".tsv" if b"\t" in line else ".csv" if b"," in line else alone
        beginning = ".safetensors" if line[6:10] == b'\0\0{"' else text  # after its length, in eight bytes
        ending = next((ending for start, ending in _BEGINNINGS.items() if line.startswith(start)), beginning)
        yield file.rename(file.with_suffix(ending))


def in_memory(content: Any) -> Any:
    """What a format has read, without its file: arrays, in pairs too."""
    if isinstance(content, tuple):
        return tuple(map(in_memory, content))
    return np.concatenate(list(content)) if isinstance(content, Iterator) else np.array(content)
