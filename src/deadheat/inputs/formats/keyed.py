"""Files that hold several arrays by name, of which one is the embeddings and one the labels.

Which is which is told by names and shapes, so that nothing is read but what is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from deadheat.errors import FileError
from deadheat.inputs.layout import Layout

USUAL = {"embeddings": ("embeddings", "embedding", "features", "x"), "labels": ("labels", "label", "y")}

Shape: TypeAlias = tuple[int, ...]
Shapes: TypeAlias = Mapping[str, Callable[[], Shape | None]]


def chosen(shapes: Shapes, what: Literal["embeddings", "labels"], layout: Layout, path: Path) -> str:
    """The name of the array that is meant: the one asked for, a usual one, or that of the only array of such a shape.

    Parameters
    ----------
    shapes : mapping of str to function
        What gives the shape of each array, None for one that has none.
    """
    asked = layout.embeddings_key if what == "embeddings" else layout.labels_key
    if asked is not None:
        if asked not in shapes:
            raise FileError(path, f" has no array {asked!r}, only {listed(shapes)}")
        return asked
    lower = {key.lower(): key for key in reversed(list(shapes))}
    for name in USUAL[what]:
        if name in lower:
            return lower[name]
    fitting = [key for key, shape in shapes.items() if _fits(shape(), what)]
    if len(fitting) == 1:
        return fitting[0]
    usual = f"{', '.join(USUAL[what][:-1])} or {USUAL[what][-1]}"
    which = f"none of its arrays is called {usual}"
    raise FileError(path, f": {which}; name the {what} (--{what}-key), one of {listed(shapes)}")


def _fits(shape: Shape | None, what: str) -> bool:
    """Whether an array is a matrix; or, for labels, a row or a column."""
    if shape is None:
        return False
    is_matrix = len(shape) == 2 and 1 not in shape
    return is_matrix if what == "embeddings" else len(shape) == 1 or (len(shape) == 2 and 1 in shape)


def listed(keys: Mapping[str, object]) -> str:
    """The names of the arrays, for a message."""
    return ", ".join(map(repr, keys)) or "none at all"
