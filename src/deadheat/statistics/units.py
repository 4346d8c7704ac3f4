"""The independent units behind a mean: queries, classes or groups.

In come values of queries and perhaps their classes; out go the parts that whole classes have in a sum, an order of the
units that is their own, in which they are drawn, so that no result depends on the order in which they came, and what
there is to say of their number.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]

FEW_CLASSES = 10  # below, an interval or a test over classes says less than it seems to
UNITS = {"query": "queries", "class": "classes", "group": "groups"}


def class_sums(rows: Float64, classes: NDArray[Any]) -> tuple[Float64, Float64]:
    """Correctly rounded sums over each class that occurs, (k, n_class), and how many values each class has.

    Examples
    --------
    >>> class_sums(np.array([[1.0, 2.0, 4.0]]), np.array([7, 3, 7]))
    (array([[2., 5.]]), array([1., 2.]))
    """
    order = np.argsort(classes, kind="stable")
    starts = np.flatnonzero(np.diff(classes[order])) + 1
    ends = np.concatenate([[0], starts, [len(order)]])
    sums = [[math.fsum(row[i:j]) for i, j in pairwise(ends.tolist())] for row in rows[:, order].tolist()]
    sizes = np.diff(ends)
    if not len(order):
        return np.zeros((len(rows), 0)), np.zeros(0)
    return np.array(sums), sizes.astype(np.float64)


def own_order(*rows: Float64) -> NDArray[np.int64]:
    """The order of the columns by the first row, then by the second and so on, (n,); equal columns are alike.

    Examples
    --------
    >>> own_order(np.array([0.5, 0.0, 0.5]), np.array([2.0, 1.0, 1.0]))
    array([1, 2, 0])
    """
    return np.lexsort(rows[::-1])


def counted(n: int, unit: str) -> str:
    """How many of which unit.

    Examples
    --------
    >>> counted(1, "class"), counted(12, "class")
    ('1 class', '12 classes')
    """
    return f"{n} {unit if n == 1 else UNITS[unit]}"


def about_few(n: int, unit: str) -> tuple[str, ...]:
    """A sentence where units are too few to say much; none where they are not.

    Examples
    --------
    >>> about_few(6, "class")
    ('Only 6 classes: with fewer than about 10 neither intervals nor p-values can be trusted.',)
    """
    if unit != "class" or n >= FEW_CLASSES:
        return ()
    return (
        f"Only {counted(n, unit)}: with fewer than about {FEW_CLASSES} neither intervals nor p-values can be trusted.",
    )
