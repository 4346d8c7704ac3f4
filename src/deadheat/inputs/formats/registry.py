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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from deadheat.errors import FileError, InvalidValueError
from deadheat.inputs import limits
from deadheat.inputs.files import BOTH, EMBEDDINGS, LABELS, FileLayout, Parts, paths_in, unreadable
from deadheat.inputs.formats import columns, keyed, numpy_files, tables, vectors
from deadheat.support.arguments import VALUES


@dataclass(frozen=True, kw_only=True)
class FileFormat:
    """One row of the table: a kind of file and its reader.

    Parameters
    ----------
    read : function of (path, layout, parts)
        Reads parts of a file: `EMBEDDINGS`, whether or not it has labels too, `LABELS`, or `BOTH`; returns a list.
    holds : tuple
        Which of these three such a file may be read for.
    embeddings_options, labels_options : tuple of str
        The fields of a `FileLayout` that are used where embeddings, or labels, are read: others are refused.
    kind : str
        The name of the format in messages about a damaged file, if a library reads it.
    """

    read: Callable[[Path, FileLayout, Parts], list[Any]]
    holds: tuple[Parts, ...] = (EMBEDDINGS, LABELS, BOTH)
    embeddings_options: tuple[str, ...] = ()
    labels_options: tuple[str, ...] = ()
    kind: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        return (*self.embeddings_options, *self.labels_options)


def _of_text(delimiter: str) -> FileFormat:
    read, options = partial(tables.read, delimiter=delimiter), ("label_column", "header")
    return FileFormat(read=read, embeddings_options=(*options, "columns", "drop"), labels_options=options)


def _of_arrays(reader: keyed.ArrayFormat, kind: str = "") -> FileFormat:
    return FileFormat(
        read=reader.read, embeddings_options=("embeddings_key",), labels_options=("labels_key",), kind=kind
    )


FORMATS: dict[str, FileFormat] = {  # by the ending of a file's name, in lower case
    ".npz": _of_arrays(numpy_files.NPZ),
    ".npy": FileFormat(read=numpy_files.read, holds=(EMBEDDINGS, LABELS)),
    ".txt": FileFormat(read=tables.read_lines, holds=(LABELS,)),
    ".csv": _of_text(","),
    ".tsv": _of_text("\t"),
    ".parquet": FileFormat(
        read=columns.read, embeddings_options=("embeddings_key", "label_column", "columns", "drop"),
        labels_options=("label_column",), kind="Parquet",
    ),
    ".safetensors": _of_arrays(keyed.SAFETENSORS, "safetensors"),
    ".h5": _of_arrays(keyed.HDF5, "HDF5"),
    ".hdf5": _of_arrays(keyed.HDF5, "HDF5"),
} | dict.fromkeys(vectors.TYPES, FileFormat(read=vectors.read, holds=(EMBEDDINGS,)))  # fmt: skip


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
    return row is not None and LABELS in row.holds


def read(path: str, layout: FileLayout, parts: Parts) -> list[Any]:
    """Read embeddings, labels, or both from a file."""
    limits.require_file(path)
    held, ending = LABELS if parts == LABELS else EMBEDDINGS, ending_of(path)
    rows = {ending: row for ending, row in FORMATS.items() if held in row.holds}
    if ending not in rows:
        rule = f"must be a file of {held[0]} that ends in one of {', '.join(rows)}"
        end = f"ends in {ending!r}{_HINTS.get(ending, '')}" if ending else "has no ending"
        raise InvalidValueError(VALUES, f"{rule}, but {end}")
    if parts not in rows[ending].holds:
        raise FileError(path, " holds embeddings only: give a file of labels too")
    kind = rows[ending].kind
    with unreadable(path, kind):
        contents = rows[ending].read(Path(path), layout, parts)
    return [_guarded(each, path, kind) if isinstance(each, Iterator) else each for each in contents]


def _guarded(pieces: Iterator[Any], path: str, kind: str) -> Iterator[Any]:
    """Yield the same pieces, whose errors pass through `unreadable` too."""
    with unreadable(path, kind):
        yield from pieces


def reject_unused_options(layout: FileLayout, samples: Sequence[tuple[Any, Any]]) -> None:
    """Refuse a field of a layout that no file of these embeddings and labels uses, because it would be ignored."""
    of_embeddings = [ending_of(path) for rows, _ in samples for path in paths_in(rows)]
    of_labels = [ending_of(path) for rows, labels in samples for path in paths_in(rows if labels is None else labels)]
    if not {*of_embeddings, *of_labels} <= FORMATS.keys():  # refused when it is read
        return
    used = {option for ending in of_embeddings for option in FORMATS[ending].embeddings_options}
    used |= {option for ending in of_labels for option in FORMATS[ending].labels_options}
    for option in ("embeddings_key", "labels_key", "label_column", "header", "columns", "drop"):
        if getattr(layout, option) is not None and option not in used:
            users = ", ".join(ending for ending, row in FORMATS.items() if option in row.options)
            raise InvalidValueError(option, f"must be left out unless a file that it is for is read: {users}")
