"""Files that hold several arrays by name (``.npz``, ``.safetensors``, HDF5, Zarr): embeddings, labels and others.

Names and shapes decide which is which, so that nothing is read but what is asked for. A format opens its files as
`Arrays`; `Reader` has what all of them share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from deadheat.errors import FileError
from deadheat.inputs.files import Content, Labels, Layout
from deadheat.support.arrays import Array

UNNAMED = ""  # the name of an array that is all that a file holds
USUAL = {"embeddings": ("embeddings", "embedding", "features", "x"), "labels": ("labels", "label", "y")}
PIECE = 8 << 20  # bytes of a strip, about

What: TypeAlias = Literal["embeddings", "labels"]
Shape: TypeAlias = tuple[int, ...]


class Arrays(NamedTuple):
    """An open file: functions that give the shape of each array, None for one without, and read arrays by name."""

    shapes: Mapping[str, Callable[[], Shape | None]]
    embeddings: Callable[[str], Content]
    labels: Callable[[str], Array]


@dataclass(frozen=True)
class Reader:
    """The functions of a format whose files `opened` opens."""

    opened: Callable[[Path], AbstractContextManager[Arrays]]

    def embeddings(self, path: Path, layout: Layout) -> Content:
        """The array with the given name or a usual one, or else the only one of two dimensions."""
        with self.opened(path) as file:
            return file.embeddings(chosen(file, "embeddings", layout, path))

    def labels(self, path: Path, layout: Layout) -> Labels:
        """The array with the given name or a usual one, or else the only one that is a row or a column."""
        with self.opened(path) as file:
            return flat(file.labels(chosen(file, "labels", layout, path)))

    def samples(self, path: Path, layout: Layout) -> tuple[Content, Labels]:
        """Both, from one file."""
        with self.opened(path) as file:
            if UNNAMED in file.shapes:
                raise FileError(path, " holds embeddings only: give a file of labels too")
            embeddings = file.embeddings(chosen(file, "embeddings", layout, path))
            return embeddings, flat(file.labels(chosen(file, "labels", layout, path)))


def flat(array: Array) -> Labels:
    """A row or a column of labels as (n,); any other shape as it is."""
    return array.ravel() if array.ndim == 2 and 1 in array.shape else array


def chosen(file: Arrays, what: What, layout: Layout, path: Path) -> str:
    """The name of the embeddings or the labels: the one asked for, a usual one, or that of the only array that fits."""
    asked = layout.embeddings_key if what == "embeddings" else layout.labels_key
    names = list(file.shapes)
    listed = ", ".join(map(repr, names)) or "none at all"
    if asked is not None and names == [UNNAMED]:
        raise FileError(path, f" is one array without a name, but {what}_key is {asked!r}")
    if asked is not None and asked not in names:
        raise FileError(path, f" has no array {asked!r}, only {listed}")
    if asked is not None or names == [UNNAMED]:
        return asked or UNNAMED
    lower = {name.lower(): name for name in reversed(names)}
    for name in USUAL[what]:
        if name in lower:
            return lower[name]
    fitting = [name for name, shape in file.shapes.items() if _fits(shape(), what)]
    if len(fitting) == 1:
        return fitting[0]
    usual = f"{', '.join(USUAL[what][:-1])} or {USUAL[what][-1]}"
    raise FileError(path, f": none of its arrays is called {usual}; name the {what} (--{what}-key), one of {listed}")


def _fits(shape: Shape | None, what: What) -> bool:
    """Whether an array is a matrix; or, for labels, a row or a column."""
    if shape is None:
        return False
    is_matrix = len(shape) == 2 and 1 not in shape
    return is_matrix if what == "embeddings" else len(shape) == 1 or (len(shape) == 2 and 1 in shape)


def strips(shape: Shape, itemsize: int, chunks: Shape | None = None) -> Iterator[slice]:
    """Cut an array into strips of rows: whole chunks, as many as `PIECE` bytes hold, and one at least.

    Examples
    --------
    >>> [(rows.start, rows.stop) for rows in strips((5, 2), 4, (2, 2))]
    [(0, 5)]
    """
    n_byte = max(1, math.prod(shape[1:]) * itemsize)
    along = chunks[0] if chunks else 1
    step = max(1, PIECE // (n_byte * along)) * along
    return (slice(start, min(start + step, shape[0])) for start in range(0, shape[0], step))
