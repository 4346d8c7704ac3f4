"""The table of file formats, and how a file is read by the ending of its name: in comes a path, out come arrays.

The arrays are not yet checked any further. A format may return embeddings as

- an array (n, dim), in memory;
- a `numpy.memmap`, which is then read a few megabytes at a time and never kept open;
- an iterator of arrays (n_i, dim), at least one, which are copied once to a temporary file.

A format raises whatever is wrong with the content of a file as a `FileError`, in one line. What a library raises of its
own on a damaged file becomes one here; what the system says of the file (`OSError`) passes.

A pipe or a device, such as ``<(zcat points.csv.gz)`` or ``/dev/stdin``, has no ending and cannot be read twice. It is
copied to a temporary file without a name, up to `limit`, for a pipe need not end; its first bytes decide its format.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

import numpy as np

from deadheat.errors import FileError, InvalidValueError
from deadheat.inputs.files import Content, Labels, Layout, unreadable
from deadheat.inputs.formats import columns, keyed, numpy_files, tables
from deadheat.support.atomic import is_special
from deadheat.support.scratch import Unnamed

What: TypeAlias = Literal["embeddings", "labels", "samples"]


@dataclass(frozen=True, kw_only=True)
class Format:
    """One row of the table: a kind of file, and how it is read. None says what a file of this kind cannot hold.

    Parameters
    ----------
    embeddings : function of (path, layout), or None
        Reads embeddings, whether or not the file has labels too.
    labels : function of (path, layout), or None
        Reads labels, (n,), from a file of labels.
    samples : function of (path, layout), or None
        Reads both from one file, as (embeddings, labels).
    embeddings_options, labels_options : tuple of str
        The fields of a `Layout` that are used where embeddings, or labels, are read: others are refused.
    kind : str
        What messages call a damaged file, if a library of its own reads it.
    """

    embeddings: Callable[[Path, Layout], Content] | None
    labels: Callable[[Path, Layout], Labels] | None
    samples: Callable[[Path, Layout], tuple[Content, Labels]] | None
    embeddings_options: tuple[str, ...] = ()
    labels_options: tuple[str, ...] = ()
    kind: str = ""


def _format(reader: Any, options: tuple[tuple[str, ...], tuple[str, ...]], kind: str = "") -> Format:
    """The row of a reader that can read anything."""
    read = {name: getattr(reader, name) for name in ("embeddings", "labels", "samples")}
    return Format(**read, embeddings_options=options[0], labels_options=options[1], kind=kind)


_TEXT = ("label_column", "header"), ("label_column", "header")
_COLUMNS = ("embeddings_key", "label_column"), ("label_column",)
_KEYED = ("embeddings_key",), ("labels_key",)

FORMATS: dict[str, Format] = {  # by the ending of a file's name, in lower case
    ".npz": _format(numpy_files.NPZ, _KEYED),
    ".npy": Format(embeddings=numpy_files.embeddings, labels=numpy_files.labels, samples=None),
    ".txt": Format(embeddings=None, labels=tables.line_labels, samples=None),
    ".csv": _format(tables.COMMAS, _TEXT),
    ".tsv": _format(tables.TABS, _TEXT),
    ".parquet": _format(columns.PARQUET, _COLUMNS, "Parquet"),
    ".arrow": _format(columns.ARROW, _COLUMNS, "Arrow"),
    ".feather": _format(columns.ARROW, _COLUMNS, "Arrow"),
    ".safetensors": _format(keyed.SAFETENSORS, _KEYED, "safetensors"),
    ".h5": _format(keyed.HDF5, _KEYED, "HDF5"),
    ".hdf5": _format(keyed.HDF5, _KEYED, "HDF5"),
    ".zarr": _format(keyed.ZARR, _KEYED, "Zarr"),
}


def ending_of(path: str | os.PathLike[str]) -> str:
    """The ending of a file's name in lower case, with its dot."""
    return Path(path).suffix.lower()


def holds_labels(path: str) -> bool:
    """Whether a file of this name can hold labels."""
    row = FORMATS.get(ending_of(path))
    return row is not None and row.labels is not None


def read(path: str, layout: Layout, title: str, what: What) -> Any:
    """Embeddings, labels, or both as a pair, from a file or a pipe; `title` is the argument in messages."""
    if not (path.startswith("/dev/") or is_special(Path(path))):  # no pipe and no device
        reader, kind = _reader(path, ending_of(path), title, what)
        with unreadable(path, kind):
            return _guarded(reader(Path(path), layout), path, kind)
    with _landed(path, alone=".txt" if what == "labels" else ".csv") as (file, ending):
        reader, kind = _reader(path, ending, title, what)
        try:
            with unreadable(path, kind):
                return in_memory(reader(file, layout))
        except FileError as error:
            raise FileError(path, error.args[1]) from None


def _guarded(content: Any, path: str, kind: str) -> Any:
    """The same content, whose pieces raise what `unreadable` says too."""

    def pieces() -> Iterator[Any]:
        with unreadable(path, kind):
            yield from content

    if isinstance(content, tuple):
        return tuple(_guarded(part, path, kind) for part in content)
    return pieces() if isinstance(content, Iterator) else content


def _reader(path: str, ending: str, title: str, what: What) -> tuple[Callable[[Path, Layout], Any], str]:
    held = "labels" if what == "labels" else "embeddings"
    rows = {ending: row for ending, row in FORMATS.items() if getattr(row, held) is not None}
    if ending not in rows:
        rule = f"must be a file of {held} that ends in one of {', '.join(rows)}"
        raise InvalidValueError(title, f"{rule}, but ends in {ending!r}")
    reader: Callable[[Path, Layout], Any] | None = getattr(rows[ending], what)
    if reader is None:
        raise FileError(path, " holds embeddings only: give a file of labels too")
    return reader, rows[ending].kind


def reject_unused_options(layout: Layout, embeddings: Iterable[str], labels: Iterable[str]) -> None:
    """Refuse a field of a layout that none of these files uses: it would be ignored."""
    of_embeddings, of_labels = [*map(ending_of, embeddings)], [*map(ending_of, labels)]
    if not {*of_embeddings, *of_labels} <= FORMATS.keys():  # a pipe, say, of which nothing is known yet
        return
    used = {name for ending in of_embeddings for name in FORMATS[ending].embeddings_options}
    used |= {name for ending in of_labels for name in FORMATS[ending].labels_options}
    for name in ("embeddings_key", "labels_key", "label_column", "header"):
        if getattr(layout, name) is not None and name not in used:
            users = [end for end, row in FORMATS.items() if name in (*row.embeddings_options, *row.labels_options)]
            raise InvalidValueError(name, f"must be left out unless a file that it is for is read: {', '.join(users)}")


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


def limit() -> int:
    """How many bytes of a stream are taken in."""
    text = os.environ.get(LIMIT)
    if text is None:
        return min(_USUAL, shutil.disk_usage(tempfile.gettempdir()).free // 2)
    found = re.fullmatch("([0-9]{1,15})([KMGT]?)", text, re.ASCII)
    if found is None:
        raise InvalidValueError(LIMIT, f"must be a number of bytes, such as 500M or 32G, but is {text!r}")
    return int(found[1]) * _UNITS[found[2]]


@contextmanager
def _landed(path: str, alone: str) -> Iterator[tuple[Path, str]]:
    """A file with all of a stream, and the ending of such files.

    Text without commas or tabs in its first line ends as `alone` says.
    """
    limit()  # refused before anything is read
    kept = Unnamed()
    try:
        with open(path, "rb") as stream:
            ending = copy(path, stream, kept.file, alone)
        kept.written()
        yield Path(kept.path), ending
    finally:
        kept.close()


def copy(path: str, stream: IO[bytes], file: IO[bytes], alone: str) -> str:
    """Write all that comes to a file, as long as that is not too much; how a file of this kind ends."""
    n_byte, most = 0, limit()
    start = piece = stream.read(1 << 16)
    ending = _ending(start, alone)
    if ending in (".csv", ".tsv", ".json", alone) and b"\0" in start:  # as of devices that never end
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
