"""The door: in come embeddings and labels, out go the collisions of each query, or their counts by distance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from deadheat import distances, inputs
from deadheat.analyses.collisions.groups import GroupedRanks, require_room
from deadheat.analyses.collisions.linking import checked_width, linked
from deadheat.analyses.collisions.results import Collisions, CollisionTable, Counts
from deadheat.counting import CountingOptions, queries_in_gallery
from deadheat.counting.ranking import Rankings
from deadheat.errors import InvalidValueError
from deadheat.inputs import Pair
from deadheat.inputs.own_rows import OwnRows
from deadheat.inputs.sources import EmbeddingsLike, LabelsLike
from deadheat.support import checks
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Progress, Reporting
from deadheat.ties import Ties


@overload
def collisions(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = ...,
    gallery: EmbeddingsLike | None = ...,
    gallery_labels: LabelsLike | None = ...,
    *,
    distance: str = ...,
    ties: str | Ties = ...,
    within: float | None = ...,
    depth: int | None = ...,
    junk: ArrayLike | None = ...,
    exclude: OwnRows | None = ...,
    threads: int | None = ...,
    progress: bool | Progress = ...,
) -> Collisions: ...


@overload
def collisions(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = ...,
    gallery: EmbeddingsLike | None = ...,
    gallery_labels: LabelsLike | None = ...,
    *,
    distance: list[str] | tuple[str, ...],
    ties: str | Ties = ...,
    within: float | None = ...,
    depth: int | None = ...,
    junk: ArrayLike | None = ...,
    exclude: OwnRows | None = ...,
    threads: int | None = ...,
    progress: bool | Progress = ...,
) -> CollisionTable: ...


@plain_floats
def collisions(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    distance: str | Iterable[str] = "cosine",
    ties: str | Ties = "exact",
    within: float | None = None,
    depth: int | None = None,
    junk: ArrayLike | None = None,
    exclude: OwnRows | None = None,
    threads: int | None = None,
    progress: bool | Progress = False,
) -> Collisions | CollisionTable:
    """Find, for each query and rank, whether the item there collides with a neighbour in rank, and what the group is.

    Two items collide where their distances to the query are equal: as real numbers, or once rounded to the type that
    `ties` names. With `within`, two neighbours in rank collide where their distances differ by at most so much, and a
    chain of such neighbours is one group, whose ends may lie farther apart than that. The distances are the real
    numbers here too: no rounded value decides.

    Parameters
    ----------
    embeddings, labels, gallery, gallery_labels
        As in `deadheat.profile`.
    distance : str, or a list of str
        ``"cosine"``, ``"euclidean"``, ``"inner_product"``, ``"cityblock"`` or ``"hamming"``. A name gives the
        collisions rank by rank, in memory that grows with n_query · depth, 6 bytes each. A list of one or more gives
        counts alone, distance by distance, in memory that does not grow with the number of queries.
    ties : {"exact", "float16", "bfloat16", "float32"} or Rounded
        What tied means.
    within : float, optional
        0 or more, in the unit of the distance, taken as the exact number that the float is; 0 is exact ties. This is
        not a `deadheat.Tolerance`, which has no groups: that moves each relevant item by eps, either way, against all
        others, to see how far a measure can move; this links neighbours in rank, whatever they are.
    depth : int, optional
        How many ranks to look at; by default all of them.
    junk, exclude, threads, progress
        As in `deadheat.profile`; progress is in queries, for each distance in turn.

    Returns
    -------
    Collisions or CollisionTable
        For one distance three matrices (n_query, depth) and the counts; for a list of distances the counts. **Ties:**
        a mixed group is where lower and upper bounds of measures come apart; with `within` above 0 a group need hold
        no tie at all. A group that the depth cuts has the kind and the size of the whole.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule, `within` is given together with rounded ties, `ties` is a tolerance, or no
        distance is named.

    References
    ----------
    Nicolaou et al. 2018, "Non-deterministic Behavior of Ranking-based Metrics when Evaluating Embeddings",
    arXiv:1806.07171, figures 2 and 3.

    Examples
    --------
    Points on a line. Seen from 0, the points 2 and -2 are equally far, one of them relevant; and 3 is within 1 of them:

    >>> from deadheat.analyses.collisions import Kind
    >>> line, labels = [[0], [2], [-2], [3], [9]], ["a", "a", "b", "b", "b"]
    >>> found = collisions(line[:1], labels[:1], line[1:], labels[1:], distance="euclidean")
    >>> [Kind(code).name for code in found.kind[0]]
    ['MIXED', 'MIXED', 'NONE', 'NONE']
    >>> collisions(line[:1], labels[:1], line[1:], labels[1:], distance="euclidean", within=1).size
    array([[3, 3, 3, 1]], dtype=int32)
    >>> print(found)
    euclidean, exact  groups  items  queries  largest
    relevant               0      0        0        0
    irrelevant             0      0        0        0
    mixed                  1      2        1        2
    together               1      2        1        2
    <BLANKLINE>
    1 query, 4 ranks looked at.

    Seen from (0, 0), the points (3, 4) and (5, 0) are equally far, but not along the streets:

    >>> table = collisions([[0, 0]], ["a"], [[3, 4], [5, 0]], ["a", "b"], distance=["euclidean", "cityblock"])
    >>> table["euclidean"].mixed.groups, table["cityblock"].mixed.groups
    (1, 0)
    """
    several = isinstance(distance, Iterable) and not isinstance(distance, str)
    names = list(dict.fromkeys(map(distances.named, distance if several else [distance])))
    if not names:
        raise InvalidValueError("distance", "must name at least one distance, but got none")
    shared: dict[str, Any] = {"ties": ties, "junk": junk, "exclude": exclude, "threads": threads, "progress": progress}
    passes = [CountingOptions.checked(distance=each, **shared) for each in names]
    width, most = checked_reach(within, depth, passes[0].rule)
    pair = inputs.open_pair(embeddings, labels, gallery, gallery_labels)
    queries_in_gallery(pair, passes[0])
    if isinstance(distance, str):
        return collisions_of_pair(pair, passes[0], width, most)
    return counts_of_pair(pair, passes, width, most)


def checked_reach(within: float | None, depth: int | None, rule: Ties) -> tuple[Fraction | None, int | None]:
    """How far apart what collides may be, and how many ranks to look at, as `collisions` takes and refuses them."""
    return checked_width(within, rule), None if depth is None else checks.positive_integer(depth, "depth")


def collisions_of_pair(
    pair: Pair, options: CountingOptions, width: Fraction | None = None, depth: int | None = None
) -> Collisions:
    """`collisions` of queries and a gallery that have been opened, rank by rank, for one distance."""
    return _Search(pair, options, width, depth).collisions()


def counts_of_pair(
    pair: Pair, passes: Iterable[CountingOptions], width: Fraction | None = None, depth: int | None = None
) -> CollisionTable:
    """The counts alone, for the distance of each pass."""
    by_distance, rules = {}, {}
    for options in passes:  # one search at a time: each holds its own rows
        search = _Search(pair, options, width, depth)
        by_distance[options.distance], rules[options.distance] = search.counts(), search.rule
    return CollisionTable(by_distance, rules)


class _Search:
    """The groups of all queries under one distance, block by block when iterated; without a width, of ties alone."""

    def __init__(self, pair: Pair, options: CountingOptions, width: Fraction | None, depth: int | None) -> None:
        self.options, self.width = options.fitted(pair), width
        self.rule = options.rule.describe(options.distance) if width is None else f"within {float(width)!r}"
        (embeddings, labels), (gallery, gallery_labels) = pair.query, pair.gallery or (None, None)
        self._rankings = Rankings(
            embeddings, gallery, distance=options.distance, ties=options.rule, junk=options.junk,
            exclude=self.options.exclude, threads=options.threads,
        )  # fmt: skip
        self._depth = int(self._rankings.candidates.n_ranked().max()) if depth is None else depth
        self._query_class, self._item_class = inputs.label_codes(labels, gallery_labels)

    def __iter__(self) -> Iterator[GroupedRanks]:
        title = f"ranking ({self.options.distance})"
        with Reporting(self.options.progress, self._rankings.n_query, title, "queries") as report:
            for block in self._rankings:
                valid = block.items >= 0
                relevant = (self._item_class[block.items] == self._query_class[block.queries, None]) & valid
                tie_starts = valid.copy()
                tie_starts[:, 1:] &= block.group[:, 1:] != block.group[:, :-1]
                starts = tie_starts
                if self.width is not None:
                    starts = tie_starts & ~linked(self._rankings, block, tie_starts, self.width)
                yield GroupedRanks.of(block.queries, valid, relevant, tie_starts, starts)
                report(len(block.queries))

    def collisions(self) -> Collisions:
        """All that was found, rank by rank."""
        shape = self._rankings.n_query, self._depth
        require_room(*shape)
        kind, relevant, size = np.empty(shape, np.int8), np.empty(shape, np.bool_), np.empty(shape, np.int32)
        counts = Counts()
        for ranks in self:
            kind[ranks.queries], relevant[ranks.queries], size[ranks.queries] = ranks.matrices(self._depth)
            counts += ranks.counts(self._depth)
        return Collisions(kind, relevant, size, counts, self.options.distance, self.rule)

    def counts(self) -> Counts:
        """The counts alone, in memory that does not grow with the queries."""
        depth = min(self._depth, self._rankings.n_gallery)
        return sum((ranks.counts(depth) for ranks in self), Counts())
