"""The table of file formats: a file is read by the ending of its name, and its arrays are returned.

The arrays are not yet checked any further. A format may return embeddings as

- an array (n, dim), in memory;
- a `numpy.memmap`, which is then read a few megabytes at a time and never kept open;
- an iterator of arrays (n_i, dim), at least one, which are copied once to a temporary file.

A format reports invalid content of a file as a `FileError` of one line. An error that a library raises on a damaged
file becomes a `FileError` here; an `OSError` of the system is passed on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from deadheat.errors import FileError, InvalidValueError
from deadheat.inputs import limits
from deadheat.inputs.files import Content, FileLayout, Labels, unreadable
from deadheat.inputs.formats import columns, keyed, numpy_files, tables, vectors
from deadheat.support.arguments import VALUES

What: TypeAlias = Literal["embeddings", "labels", "samples"]


@dataclass(frozen=True, kw_only=True)
class FileFormat:
    """One row of the table: a kind of file and its readers; None for content that such a file cannot hold.

    Parameters
    ----------
    embeddings : function of (path, layout), or None
        Reads embeddings, whether or not the file has labels too.
    labels : function of (path, layout), or None
        Reads labels, (n,), from a file of labels.
    samples : function of (path, layout), or None
        Reads both from one file, as (embeddings, labels).
    embeddings_options, labels_options : tuple of str
        The fields of a `FileLayout` that are used where embeddings, or labels, are read: others are refused.
    kind : str
        The name of the format in messages about a damaged file, if a library reads it.
    """

    embeddings: Callable[[Path, FileLayout], Content] | None = None
    labels: Callable[[Path, FileLayout], Labels] | None = None
    samples: Callable[[Path, FileLayout], tuple[Content, Labels]] | None = None
    embeddings_options: tuple[str, ...] = ()
    labels_options: tuple[str, ...] = ()
    kind: str = ""

    @classmethod
    def of_reader(cls, reader: Any, options: tuple[tuple[str, ...], tuple[str, ...]], kind: str = "") -> FileFormat:
        """Return the row of an object that reads embeddings, labels and both."""
        return cls(embeddings=reader.embeddings, labels=reader.labels, samples=reader.samples,
                   embeddings_options=options[0], labels_options=options[1], kind=kind)  # fmt: skip

    @property
    def options(self) -> tuple[str, ...]:
        return (*self.embeddings_options, *self.labels_options)


_TEXT = ("label_column", "header", "columns", "drop"), ("label_column", "header")
_COLUMNS = ("embeddings_key", "label_column", "columns", "drop"), ("label_column",)
_KEYED = ("embeddings_key",), ("labels_key",)

FORMATS: dict[str, FileFormat] = {  # by the ending of a file's name, in lower case
    ".npz": FileFormat.of_reader(numpy_files.NPZ, _KEYED),
    ".npy": FileFormat(embeddings=numpy_files.embeddings, labels=numpy_files.labels),
    ".txt": FileFormat(labels=tables.line_labels),
    ".csv": FileFormat.of_reader(tables.COMMAS, _TEXT),
    ".tsv": FileFormat.of_reader(tables.TABS, _TEXT),
    ".parquet": FileFormat.of_reader(columns, _COLUMNS, "Parquet"),
    ".safetensors": FileFormat.of_reader(keyed.SAFETENSORS, _KEYED, "safetensors"),
    ".h5": FileFormat.of_reader(keyed.HDF5, _KEYED, "HDF5"),
    ".hdf5": FileFormat.of_reader(keyed.HDF5, _KEYED, "HDF5"),
} | dict.fromkeys(vectors.TYPES, FileFormat(embeddings=vectors.embeddings))


_HINTS = dict.fromkeys(
    (".pt", ".pth", ".bin"), ", which is never loaded: torch.load it, and save it as .npy or .safetensors"
) | dict.fromkeys((".pkl", ".pickle"), ", which is never loaded: load it yourself, and save it as .npy")
_OF_RUNS = ".qrels", ".run", ".trec", ".txt", ".json", ".jsonl"
_HINTS |= dict.fromkeys(_OF_RUNS, ": dh.from_run (deadheat run) takes runs and qrels")


def ending_of(path: str | os.PathLike[str]) -> str:
    """Return the ending of a file's name in lower case, with its dot."""
    return Path(path).suffix.lower()


def holds_labels(path: str) -> bool:
    """Return whether a file of this name can hold labels."""
    row = FORMATS.get(ending_of(path))
    return row is not None and row.labels is not None


def read(path: str, layout: FileLayout, what: What) -> Any:
    """Read embeddings, labels, or both as a pair, from a file."""
    limits.require_file(path)
    held, ending = "labels" if what == "labels" else "embeddings", ending_of(path)
    rows = {ending: row for ending, row in FORMATS.items() if getattr(row, held) is not None}
    if ending not in rows:
        rule = f"must be a file of {held} that ends in one of {', '.join(rows)}"
        end = f"ends in {ending!r}{_HINTS.get(ending, '')}" if ending else "has no ending"
        raise InvalidValueError(VALUES, f"{rule}, but {end}")
    reader, kind = getattr(rows[ending], what), rows[ending].kind
    if reader is None:
        raise FileError(path, " holds embeddings only: give a file of labels too")
    with unreadable(path, kind):
        return _guarded(reader(Path(path), layout), path, kind)


def _guarded(content: Any, path: str, kind: str) -> Any:
    """Return the same content; if it is an iterator, errors of its pieces pass through `unreadable` too."""

    def pieces() -> Iterator[Any]:
        with unreadable(path, kind):
            yield from content

    if isinstance(content, tuple):
        return tuple(_guarded(part, path, kind) for part in content)
    return pieces() if isinstance(content, Iterator) else content


def reject_unused_options(layout: FileLayout, embeddings: Iterable[str], labels: Iterable[str]) -> None:
    """Refuse a field of a layout that none of these files uses, because it would be ignored."""
    of_embeddings, of_labels = [*map(ending_of, embeddings)], [*map(ending_of, labels)]
    if not {*of_embeddings, *of_labels} <= FORMATS.keys():  # refused when it is read
        return
    used = {option for ending in of_embeddings for option in FORMATS[ending].embeddings_options}
    used |= {option for ending in of_labels for option in FORMATS[ending].labels_options}
    for option in ("embeddings_key", "labels_key", "label_column", "header", "columns", "drop"):
        if getattr(layout, option) is not None and option not in used:
            users = ", ".join(ending for ending, row in FORMATS.items() if option in row.options)
            raise InvalidValueError(option, f"must be left out unless a file that it is for is read: {users}")
