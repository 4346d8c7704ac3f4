"""What a file format is, and the table in which each is looked up by the ending of a file's name.

A format reads a file: in comes a path, out come arrays, not yet checked any further. It may hand out embeddings as

- an array (n, dim), in memory;
- a `numpy.memmap`, which is then read a few megabytes at a time and never kept open;
- an iterator of arrays (n_i, dim), at least one, which are copied once to a temporary file.

Whatever is wrong with what is in the file it says as a `FileError`, in one line; what the system says of the file
(`OSError`) it lets pass.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from deadheat.errors import DeadheatError, FileError, InvalidValueError
from deadheat.inputs.formats import stream
from deadheat.inputs.layout import Content, Labels, Layout
from deadheat.printable import reason


class FormatError(DeadheatError, ValueError):
    """The row of a format lacks something."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """One row of the table: a kind of file, and how it is read. None says what a file of this kind cannot hold.

    Parameters
    ----------
    endings : tuple of str
        How names of such files end, in lower case, each with its dot.
    embeddings : function of (path, layout), or None
        Reads embeddings, whether or not there are labels beside them.
    labels : function of (path, layout), or None
        Reads labels, (n,), from a file of labels.
    samples : function of (path, layout), or None
        Reads both from one file, as (embeddings, labels).
    embeddings_heed, labels_heed : tuple of str
        Which fields of a `Layout` matter where embeddings, or labels, are read: others are refused.
    """

    endings: tuple[str, ...]
    embeddings: Callable[[Path, Layout], Content] | None
    labels: Callable[[Path, Layout], Labels] | None
    samples: Callable[[Path, Layout], tuple[Content, Labels]] | None
    embeddings_heed: tuple[str, ...] = ()
    labels_heed: tuple[str, ...] = ()


FORMATS: dict[str, Format] = {}  # by ending

_FIELDS = tuple(name for name in Layout.__annotations__ if name != "left_out")  # which a file may have no use for


def register(row: Format) -> Format:
    """Put a format into the table.

    Raises
    ------
    FormatError
        If it has no ending, one that is none or is taken, reads nothing, or reads both and not each.
    """
    if not row.endings:
        raise FormatError("a format needs an ending, but has none")
    for ending in row.endings:
        if not ending.startswith(".") or ending != ending.lower() or len(ending) < 2:
            raise FormatError(f"the ending of a format must be a dot and lower case, such as '.csv', but is {ending!r}")
        if ending in FORMATS:
            raise FormatError(f"the ending {ending!r} belongs to another format")
    if row.embeddings is None and row.labels is None:
        raise FormatError(f"the format {row.endings[0]!r} must read embeddings or labels, but has a reader of neither")
    if row.samples is not None and (row.embeddings is None or row.labels is None):
        raise FormatError(f"the format {row.endings[0]!r} reads both from one file, so it must read each by itself too")
    odd = next((name for name in (*row.embeddings_heed, *row.labels_heed) if name not in _FIELDS), None)
    if odd is not None:
        raise FormatError(f"the format {row.endings[0]!r} heeds {odd!r}, which is no field of a layout")
    for what in ("embeddings", "labels", "samples"):
        reader = getattr(row, what)
        if reader is not None and not callable(reader):
            raise FormatError(f"the format {row.endings[0]!r} must have a function that reads {what}, or None")
    FORMATS.update(dict.fromkeys(row.endings, row))
    return row


def ending_of(path: str | os.PathLike[str]) -> str:
    """The ending of a file's name in lower case, with its dot."""
    return Path(path).suffix.lower()


def holds_labels(ending: str) -> bool:
    """Whether files that end so can hold labels."""
    return ending in FORMATS and FORMATS[ending].labels is not None


def read_embeddings(path: str, layout: Layout, title: str) -> Content:
    """The embeddings in a file, or in what comes through a pipe; messages about its name call it `title`."""
    content: Content = _read(path, layout, title, "embeddings")
    return content


def read_labels(path: str, layout: Layout, title: str) -> Labels:
    """The labels in a file of labels, or in what comes through a pipe."""
    labels: Labels = _read(path, layout, title, "labels")
    return labels


def read_samples(path: str, layout: Layout, title: str) -> tuple[Content, Labels]:
    """The embeddings in a file, or in what comes through a pipe, and the labels beside them."""
    samples: tuple[Content, Labels] = _read(path, layout, title, "samples")
    return samples


def _read(path: str, layout: Layout, title: str, what: Literal["embeddings", "labels", "samples"]) -> Any:
    if not stream.is_stream(path):
        with _whatever_is_raised(path):
            return _guarded(_reader(path, ending_of(path), title, what)(Path(path), layout), path)
    with stream.landed(path, alone=".txt" if what == "labels" else ".csv") as (file, ending):
        try:
            with _whatever_is_raised(path):
                return stream.in_memory(_reader(path, ending, title, what)(file, layout))
        except FileError as error:
            raise FileError(path, error.args[1]) from None


@contextmanager
def _whatever_is_raised(path: str) -> Iterator[None]:
    """Say in one line what a library raises on a damaged file that its format has not foreseen."""
    try:
        yield
    except (DeadheatError, OSError, MemoryError):
        raise
    except Exception as error:
        raise FileError(path, f" cannot be read; truncated or damaged? {reason(error)}") from None


def _guarded(content: Any, path: str) -> Any:
    """The same where it comes in pieces, while these come."""
    if isinstance(content, tuple):
        return tuple(_guarded(part, path) for part in content)
    return _guarded_pieces(content, path) if isinstance(content, Iterator) else content


def _guarded_pieces(pieces: Iterator[Any], path: str) -> Iterator[Any]:
    with _whatever_is_raised(path):
        yield from pieces


def _reader(
    path: str, ending: str, title: str, what: Literal["embeddings", "labels", "samples"]
) -> Callable[[Path, Layout], Any]:
    """What reads a file whose name ends so."""
    held: Literal["embeddings", "labels"] = "labels" if what == "labels" else "embeddings"
    rows = {ending: row for ending, row in FORMATS.items() if getattr(row, held) is not None}
    if ending not in rows:
        endings = ", ".join(rows)
        raise InvalidValueError(
            title, f"must be a file of {held} that ends in one of {endings}, but ends in {ending!r}"
        )
    reader: Callable[[Path, Layout], Any] | None = getattr(rows[ending], what)
    if reader is None:
        raise FileError(path, " holds embeddings only: give a file of labels too")
    return reader


def unheeded(layout: Layout, embeddings: Iterable[str], labels: Iterable[str]) -> tuple[str, list[str]] | None:
    """A field of a layout that none of the files has a use for, and the endings of those that would have one."""
    of_embeddings, of_labels = [*map(ending_of, embeddings)], [*map(ending_of, labels)]
    if not {*of_embeddings, *of_labels} <= FORMATS.keys():  # a pipe, say, of which nothing is known yet
        return None
    heeded = {name for ending in of_embeddings for name in FORMATS[ending].embeddings_heed}
    heeded |= {name for ending in of_labels for name in FORMATS[ending].labels_heed}
    for name in _FIELDS:
        if getattr(layout, name) is not None and name not in heeded:
            return name, [end for end, row in FORMATS.items() if name in (*row.embeddings_heed, *row.labels_heed)]
    return None
