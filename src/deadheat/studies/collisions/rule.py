"""The rule of the published picture beside the real numbers: two neighbours in rank less than e apart collide.

In come embeddings and labels; out go the collisions, and how many of them are ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.analyses.collisions import Kind
from deadheat.counting.ranking import Rankings
from deadheat.support.extras import require

DISTANCES = ("cosine", "euclidean", "cityblock")

Matrix = NDArray[Any]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]


@dataclass(frozen=True)
class Data:
    """Embeddings and labels, how messages call them, and the e of the published picture."""

    name: str
    title: str
    embeddings: Matrix
    labels: Matrix
    eps: float

    def __getitem__(self, rows: slice) -> Data:
        return Data(self.name, self.title, self.embeddings[rows], self.labels[rows], self.eps)

    @property
    def relevant(self) -> Bool:
        return np.asarray(self.labels[:, None] == self.labels)


@dataclass(frozen=True)
class Published:
    """The collisions of the published picture.

    Attributes
    ----------
    order : (n, n) int64
        All items, the query itself among them, in the order of rounded distances.
    gap : (n, n - 1) float64
        What each of them but the first is farther away than the one before it.
    colliding, relevant : (n, n - 1) bool
        Where that gap is below e, and whether the farther item is relevant.
    """

    order: Int64
    gap: NDArray[np.float64]
    colliding: Bool
    relevant: Bool

    @property
    def with_itself(self) -> Bool:
        """Which of the colliding pairs the query itself is one of."""
        itself = self.order == np.arange(len(self.order))[:, None]
        return np.asarray(self.colliding & (itself[:, :-1] | itself[:, 1:]))

    @property
    def kind(self) -> NDArray[np.int8]:
        """The picture: the farther item of each colliding pair is marked by what it is."""
        marks = np.where(self.relevant, Kind.RELEVANT, Kind.IRRELEVANT)
        return np.where(self.colliding, marks, Kind.NONE).astype(np.int8)


class Ruled(NamedTuple):
    """How many collisions of the published picture there are, how many of them tie, and the shares on its right.

    The shares are of the collisions whose place is in the right half of the ranks, and in the last quarter; NaN without
    a collision.
    """

    n_collision: int
    n_tie: int
    right_half: float
    last_quarter: float

    @classmethod
    def of(cls, published: Published, ties: int = 0) -> Ruled:
        place, n_place = np.nonzero(published.colliding)[1], published.colliding.shape[1]
        shares = (float((place >= start * n_place).mean()) if len(place) else np.nan for start in (0.5, 0.75))
        return cls(len(place), ties, *shares)


def published_rule(distances: Matrix, relevant: Bool, eps: float) -> Published:
    """Two neighbours in rank collide where their rounded distances differ by less than eps.

    Parameters
    ----------
    distances : (n, n) float64
        Of every item to every item.
    relevant : (n, n) bool
    """
    order = np.argsort(distances, axis=1, kind="stable")
    gap = np.diff(np.take_along_axis(distances, order, axis=1), axis=1)
    return Published(order, gap, gap < eps, np.take_along_axis(relevant, order[:, 1:], axis=1))


def real_ties(rankings: Rankings, published: Published) -> int:
    """How many colliding pairs of the published picture are equally far from the query as real numbers."""
    row, place = np.nonzero(published.colliding)
    near, far = published.order[row, place], published.order[row, place + 1]
    itself = published.with_itself[row, place]
    number = group_numbers(rankings)
    ties = int((number[row, near] == number[row, far])[~itself].sum())
    metric = rankings.metric
    columns = metric.columns.column_of_item
    nearer, farther = (metric.exact_closeness(row[itself], columns[item[itself]]) for item in (near, far))
    pairs = np.arange(len(nearer))
    return ties + int((nearer.compare(pairs, farther, pairs) == 0).sum())


def group_numbers(rankings: Rankings) -> NDArray[np.int32]:
    """The number of each item's exact tie group for each query, −1 for the query itself; (n_query, n_gallery)."""
    number = np.full((rankings.n_query, rankings.n_gallery), -1, dtype=np.int32)
    for block in rankings:
        row, place = np.nonzero(block.items >= 0)
        number[block.queries[row], block.items[row, place]] = block.group[row, place]
    return number


def split_and_merged(number: NDArray[np.int32], distances: Matrix) -> tuple[int, int]:
    """How many exact tie groups rounded distances split, and how many groups of equal ones are no tie of all of them.

    Examples
    --------
    >>> split_and_merged(np.array([[0, 0, 1, 2]]), np.array([[0.1, 0.2, 0.3, 0.3]]))
    (1, 1)
    """
    split = merged = 0
    for groups, values in zip(number, distances, strict=True):
        ranked = groups >= 0
        value = np.unique(values[ranked], return_inverse=True)[1]
        both = np.unique(np.stack([groups[ranked], value]), axis=1)
        split += int((np.bincount(both[0]) > 1).sum())
        merged += int((np.bincount(both[1]) > 1).sum())
    return split, merged


def distances_of(data: Data, distance: str) -> Matrix:
    """SciPy's distances in float64, as the published code takes them."""
    cdist = require("scipy.spatial.distance", "stats", "the published rule").cdist
    return np.asarray(cdist(data.embeddings, data.embeddings, distance))
