"""The order of a file as knowledge: the score of row numbers, and whether embeddings are close because their rows are.

Where classes come one after the other, a row number says much of the label. An embedding that knows it scores well and
knows nothing else. Labels do not explain that the last row of a class is closer to the first row of the next class than
to others of that class: given the labels, an embedding of the items alone has no reason for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.literals import DistanceName
from deadheat.engine.task import Task, with_rows
from deadheat.inputs.samples import Pair, Samples
from deadheat.inputs.source import Array, Source
from deadheat.reports.averaging import Averaging
from deadheat.reports.result import results_of
from deadheat.support.arrays import Bool, Int64
from deadheat.trust.audits import thresholds


@dataclass(frozen=True)
class Nearness:
    """The nearness of pairs of neighbouring rows.

    Attributes
    ----------
    n : int
        The number of pairs.
    share : float
        The mean share of the other rows of the class of one of the pair that are farther from the other one, the
        smaller mean of the two directions; a tie counts half, and 0.5 is expected of embeddings that know no order.
    std : float
        The standard deviation of that mean in random orders within classes.
    across : bool
        Whether the rows of a pair are of different classes.
    """

    n: int
    share: float
    std: float
    across: bool

    @property
    def decides(self) -> bool:
        """True if there are enough pairs for a share of 1 to be beyond chance."""
        return thresholds.BEYOND_ORDERS * self.std < 0.5

    @property
    def found(self) -> bool:
        """True if neighbouring rows are closer than others, by far and beyond chance."""
        return self.share >= max(thresholds.NEARER_ROWS, 0.5 + thresholds.BEYOND_ORDERS * self.std)


def row_numbers(task: Task) -> Task:
    """Return the task with the number of its row as the embedding of each item, at the same scale in both files."""
    query, gallery = task.pair[:2]
    n_query, n_gallery = (len((part or query).labels) for part in (query, gallery))

    def numbered(samples: Samples[Source], scale: int) -> Samples[Source]:
        numbers = (2.0 * np.arange(len(samples.labels)) + 1) * scale
        return samples._replace(embeddings=Array(numbers[:, None]))

    pair = Pair(numbered(query, n_gallery), None if gallery is None else numbered(gallery, n_query))
    return with_rows(task, pair, task.options.exclude, distance="euclidean")


def nearness(items: Source, classes: Int64, distance: DistanceName, threads: int) -> Nearness:
    """Return the nearness of neighbouring rows of different classes or, if these are too few, of the same class."""
    changes = classes[1:] != classes[:-1]
    across = _nearness(items, classes, changes, True, distance, threads)
    return across if across.decides else _nearness(items, classes, ~changes, False, distance, threads)


def _nearness(
    items: Source, classes: Int64, pairs: Bool, across: bool, distance: DistanceName, threads: int
) -> Nearness:
    """Return the nearness of some of all pairs of a row and the next one, (n - 1,)."""
    rows = np.flatnonzero(pairs)
    n_other = np.bincount(classes)[classes] - 1  # of the class of each row
    rows = rows[np.minimum(n_other[rows], n_other[rows + 1]) > 1]
    most = max(thresholds.FEWEST_PAIRS, thresholds.PAIRS_OF_ROWS // len(classes))
    rows = rows[np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(np.int64)]
    if not len(rows):
        return Nearness(0, math.nan, math.inf, across)
    means, stds = [], []
    for queries, targets in ((rows, rows + 1), (rows + 1, rows)):
        n = n_other[targets] - (classes[queries] == classes[targets])
        means.append(_mean_share(items, classes, queries, targets, distance, threads))
        stds.append(math.sqrt(float(np.sum((n + 2) / (12 * np.maximum(n, 1))))) / len(rows))  # of uniform ranks
    return Nearness(len(rows), min(means), max(stds), across)


def _mean_share(
    items: Source, classes: Int64, queries: Int64, targets: Int64, distance: DistanceName, threads: int
) -> float:
    """Return the mean share of the class of each target that is farther from its query than the target."""
    relevant = np.full(len(classes), -1)
    relevant[targets] = np.arange(len(targets))
    junk = classes[None, :] != classes[targets][:, None]
    junk[np.arange(len(queries)), queries] = True
    numbers = np.arange(len(queries))
    task = Task(taken(items, queries), numbers, items, relevant, junk=junk, distance=distance, threads=threads)
    averaging = Averaging("query", len(queries))
    return results_of(task.profile, ("AUC",), "skip", averaging, threads)["AUC"].expected


def taken(source: Source, rows: Int64) -> NDArray[np.generic]:
    """Return some rows, in the type in which they are stored: binary codes stay binary codes."""
    values = source.take(rows)
    return values if source.stored.kind == "f" else values.astype(source.stored)
