"""From what people hand over as embeddings, or as labels, to rows and arrays; which files there are `formats` knows.

In come an array, a memory-mapped array, the path of a file, a pattern such as ``emb-*.npy``, or a list of these, taken
one after another. Out comes a `Source`, whose rows have been checked, piece by piece, before anybody sees them; or an
array of labels:

    array ───────────────────────────────> Array ───┐
    np.memmap ───────────────────────────> Mapped ──┤
    path: an array (.npz, .csv) ─────────> Array ───┤
          a map (.npy, .safetensors) ────> File ────┼──> read, take, pieces: float32 or float64 rows, C-contiguous
          pieces (.parquet) ───spooled───> File ────┤
    several of these ────────────────────> Shards ──┘
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deadheat.errors import InvalidValueError
from deadheat.inputs.arrays import embeddings as checked_array
from deadheat.inputs.arrays import float_type, matrix, require_exact, require_filled
from deadheat.inputs.conversion import n_dim, plain
from deadheat.inputs.disk import File, Mapped, checked, pages, spooled
from deadheat.inputs.labels import alike, joined
from deadheat.inputs.layout import Content, Labels, Layout
from deadheat.inputs.patterns import fitting, is_path
from deadheat.inputs.source import Array, Shards, Source, fingerprint
from deadheat.support import remote
from deadheat.support.lazy import lazy

if TYPE_CHECKING:
    from deadheat.inputs import formats
else:
    formats = lazy("deadheat.inputs.formats")

__all__ = ["Array", "EmbeddingsLike", "LabelsLike", "Source", "fingerprint", "open_labels", "open_rows"]

Files: TypeAlias = str | os.PathLike[str] | Sequence[str] | Sequence[os.PathLike[str]]
LabelsLike: TypeAlias = ArrayLike | Files
EmbeddingsLike: TypeAlias = ArrayLike | Source | Files | Sequence[Source]

USUAL = Layout()  # arrays and columns have the names that they usually have


class Part(NamedTuple):
    """One of the things that an argument consists of: the path of a file, or an array; and what messages call it."""

    value: Any
    title: str

    @property
    def is_file(self) -> bool:
        return is_path(self.value)


def open_rows(value: Any, name: str, layout: Layout = USUAL) -> Source:
    """Check embeddings, wherever they are, and make a source of them.

    Parameters
    ----------
    value : array-like (n, dim), memory-mapped array, path, list of these, or Source
        As in `deadheat.profile`. A pattern stands for all files that it fits, in natural order: emb-2 before emb-10. A
        list of paths or of two-dimensional arrays is taken one after another; parts without rows may be among them. A
        list of rows is an array, as ever.
    name : str
        What the caller calls the argument.
    layout : Layout
        Which array or column of a file is the embedding: as in `deadheat.read`.

    Raises
    ------
    OSError
        If a file cannot be read.
    FileError
        If a file is damaged or holds Python objects.
    InvalidTypeError, InvalidValueError
        If no file fits a pattern, no format is known by the ending of a file's name, parts differ in dim, there is not
        a single number, or a value is not a finite real number that float64 holds.

    Examples
    --------
    >>> source = open_rows([np.zeros((2, 3), np.float16), np.ones((1, 3))], "gallery")
    >>> source.shape, source.dtype
    ((3, 3), dtype('float64'))
    >>> source.take(np.array([2, 0]))
    array([[1., 1., 1.],
           [0., 0., 0.]])
    """
    if isinstance(value, Source):
        return value
    parts = row_parts(value, name)
    return join_rows([_open_part(part, layout) for part in parts], parts, name)


def open_labels(value: Any, name: str, layout: Layout = USUAL) -> Any:
    """Labels as `inputs.labels` takes them: read from files if `value` is a path, else as they are.

    Parameters
    ----------
    value : array-like (n,), path, or list of these
        As in `deadheat.profile`. A list of paths, all of which are path objects or end as files of one format do, or of
        one-dimensional arrays, is put together; any other list is labels.
    name, layout
        As of `open_rows`.

    Raises
    ------
    OSError, FileError, InvalidValueError
        As `open_rows` does.
    InvalidTypeError
        If arrays hold labels of different kinds; of files see `deadheat.inputs.labels`.

    Examples
    --------
    >>> open_labels([np.array([7, 9]), np.array([7])], "labels")
    array([7, 9, 7])
    """
    if not is_path(value) and not _are_label_parts(value):
        return value
    parts = _files(value, name) if is_path(value) else _parts(value, name)
    arrays = [
        formats.read_labels(part.value, layout, part.title) if part.is_file else plain(part.value, part.title)
        for part in parts
    ]
    return join_labels(arrays, parts, name)


def are_label_files(value: Any) -> bool:
    """Whether labels come from files, all of them."""
    return is_path(value) or (_are_label_parts(value) and all(map(is_path, value)))


def row_parts(value: Any, name: str) -> list[Part]:
    """The parts that embeddings consist of, with each pattern as the files that it fits."""
    if is_path(value):
        return _files(value, name)
    if isinstance(value, (list, tuple)) and any(map(_is_row_part, value)):
        return _parts(value, name)
    return [Part(value, name)]


def open_content(content: Content, part: Part) -> Source:
    """A source of what a format reads from a file; it may have no rows."""
    if isinstance(content, Iterator):
        return spooled(content, part.title)
    return _open_array(content, part.title, may_close=True)


def join_rows(sources: Sequence[Source], parts: Sequence[Part], name: str) -> Source:
    """Sources of an argument's parts as one; parts without rows do not count."""
    filled = [place for place, source in enumerate(sources) if len(source)]
    if not filled:
        require_filled(sources[0].shape, parts[0].title if len(parts) == 1 else name)
    first = filled[0]
    dim = sources[first].shape[1]
    for place in filled:
        if sources[place].shape[1] != dim:
            raise InvalidValueError(
                parts[place].title,
                f"must have the dim of {parts[first].title}, {dim}, but has {sources[place].shape[1]} columns",
            )
    return sources[first] if len(filled) == 1 else Shards([sources[place] for place in filled])


def join_labels(arrays: Sequence[Labels], parts: Sequence[Part], name: str) -> Labels:
    """Labels of an argument's parts as one array: text throughout if all are in files and some are text."""
    for array, part in zip(arrays, parts, strict=True):
        if array.ndim != 1:
            raise InvalidValueError(part.title, f"must be one-dimensional, but has shape {array.shape}")
    compared = alike(arrays) if all(part.is_file for part in parts) else arrays
    return joined([(array, part.title) for array, part in zip(compared, parts, strict=True)], name)


def _parts(values: Sequence[Any], name: str) -> list[Part]:
    """The parts in a list, with each pattern as the files that it fits."""
    parts = []
    for place, entry in enumerate(values):
        parts += _files(entry, name) if is_path(entry) else [Part(entry, f"{name}[{place}]")]
    return parts


def _files(path: str | os.PathLike[str], name: str) -> list[Part]:
    """The files that a pattern fits, or the path itself if it is none."""
    paths = fitting(path, name)
    if not paths:
        raise InvalidValueError(name, f"must be files that are there, but none fits {os.fspath(path)!r}")
    return [Part(remote.own_copy(path), f"{name}: {path}") for path in paths]


def _is_row_part(value: Any) -> bool:
    return is_path(value) or isinstance(value, Source) or n_dim(value) == 2


def _open_part(part: Part, layout: Layout) -> Source:
    if isinstance(part.value, Source):
        return part.value
    if part.is_file:
        return open_content(formats.read_embeddings(part.value, layout, part.title), part)
    return _open_array(part.value, part.title)


def _open_array(value: Any, title: str, may_close: bool = False) -> Source:
    """A source of an array, which may have no rows; where it is a map, its file may be closed between readings."""
    array = matrix(value, title)
    if not len(array):
        return Array(np.asarray(array, dtype=float_type(array.dtype, title)))
    require_filled(array.shape, title)
    if isinstance(value, np.memmap) and pages(value) is not None:
        mapped = Mapped(value, title)
        if mapped.by_column:
            return spooled(mapped.turned(), title)
        base: Any = value.base
        path = value.filename if may_close and base is pages(value) else None  # a view has not the offset that it says
        return checked(mapped if path is None else File(path, value, title), mapped)
    if isinstance(value, (list, tuple)) and array.dtype != np.bool_:  # bool may be binary codes, which stay bits
        return Array(checked_array(array, title))
    float_type(array.dtype, title)
    require_exact(array, title)
    return Array(array)


def _are_label_parts(value: Any) -> bool:
    """Whether a list is one of paths or arrays, and not one of labels."""
    if not isinstance(value, (list, tuple)) or not len(value):
        return False
    if all(isinstance(part, str) for part in value):
        if "." not in value[0] or not formats.holds_labels(formats.ending_of(value[0])):  # told from the first
            return False
        endings = {formats.ending_of(part) for part in value}
        return len(endings) == 1 and formats.holds_labels(endings.pop())
    return all(_is_label_part(part) for part in value)


def _is_label_part(part: Any) -> bool:
    if isinstance(part, str):
        return formats.holds_labels(formats.ending_of(part))
    return isinstance(part, os.PathLike) or n_dim(part) == 1
