"""Collisions: which neighbours of a query are equally far, or closer together than ε, and whether that matters.

In come embeddings and labels; out goes, for each query and rank, whether the item there collides with a neighbour in
rank, and whether the group that collides is all relevant, all irrelevant, or mixed. Only a mixed group can change a
measure. A profile counts the mixed groups without any of this; what is here shows where they are, and the others too.

    rank              1    2    3    4    5    6    7    8
    distance         .1   .2   .2   .3   .4   .4   .4   .5
    label             a    a    b    a    b    b    b    a      of a query with label a
    kind              ·    m    m    ·    i    i    i    ·      mixed, irrelevant
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat import inputs
from deadheat import ties as tie_rules
from deadheat.counting.ranking import Ranked, Rankings
from deadheat.distances import names as distance_names
from deadheat.inputs.sources import EmbeddingsLike, LabelsLike, open_labels
from deadheat.reports.render import plain_table
from deadheat.support import checks
from deadheat.ties import Ties, Tolerance

Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]

_SETTLED_AT_ONCE = 4096  # pairs whose exact distances are held at a time

DISTANCES = distance_names(takes="numbers", target="distance")


class Kind(IntEnum):
    """What is at a rank. Where marks overlap in a picture, the highest is seen.

    BEYOND: the ranking has ended. NONE: no collision. IRRELEVANT, RELEVANT, MIXED: a collision of items all of which
    are irrelevant, all of which are relevant, or some of each.
    """

    BEYOND = -1
    NONE = 0
    IRRELEVANT = 1
    RELEVANT = 2
    MIXED = 3


@dataclass(frozen=True)
class Count:
    """How many collisions of a kind there are.

    Attributes
    ----------
    groups : int
        Groups of colliding items that begin within the depth.
    items : int
        How many of their items are at ranks within the depth, over all queries.
    queries : int
        Queries that have such a group.
    largest : int
        Items of the largest group, those beyond the depth included.
    """

    groups: int = 0
    items: int = 0
    queries: int = 0
    largest: int = 0

    def __add__(self, other: Count) -> Count:
        """The count over the queries of both."""
        return Count(
            self.groups + other.groups,
            self.items + other.items,
            self.queries + other.queries,
            max(self.largest, other.largest),
        )


@dataclass(frozen=True)
class Counts:
    """Collisions by kind.

    Attributes
    ----------
    relevant, irrelevant, mixed, together : Count
        `together` is all three; a query that has several kinds counts once in it.
    n_query : int
    n_place : int
        Ranks that were looked at, over all queries.
    """

    relevant: Count = Count()
    irrelevant: Count = Count()
    mixed: Count = Count()
    together: Count = Count()
    n_query: int = 0
    n_place: int = 0

    def __add__(self, other: Counts) -> Counts:
        """The counts over the queries of both."""
        return Counts(
            self.relevant + other.relevant,
            self.irrelevant + other.irrelevant,
            self.mixed + other.mixed,
            self.together + other.together,
            self.n_query + other.n_query,
            self.n_place + other.n_place,
        )

    def rows(self) -> list[tuple[str, int, int, int, int]]:
        """Kind, groups, items, queries and largest group, one row a kind and one for all of them."""
        kinds = ("relevant", "irrelevant", "mixed", "together")
        return [
            (kind, one.groups, one.items, one.queries, one.largest) for kind in kinds for one in [getattr(self, kind)]
        ]


@dataclass(frozen=True, eq=False)
class Collisions:
    """The collisions of every query, rank by rank. Printing gives a table of the counts.

    Attributes
    ----------
    kind : (n_query, depth) int8
        A `Kind` for each rank, nearest first.
    relevant : (n_query, depth) bool
        Whether the item at that rank is relevant, where the relevant items of a tie come first. This order is one of
        many, and only for drawing; False beyond the end.
    size : (n_query, depth) int32
        Items in the group that the item at this rank belongs to, beyond the depth too: 1 without a collision, 0 beyond
        the end.
    counts : Counts
    distance : str
    rule : str
        What colliding meant: ``"exact"``, ``"within 1e-10"``, or a rounding such as ``"float16 similarity"``.
    """

    kind: NDArray[np.int8] = field(repr=False)
    relevant: Bool = field(repr=False)
    size: NDArray[np.int32] = field(repr=False)
    counts: Counts
    distance: str
    rule: str

    def to_dict(self) -> dict[str, Any]:
        """The counts, and what was counted, as plain Python values that JSON can hold; not the matrices."""
        n_query, depth = self.kind.shape
        return {
            "distance": self.distance,
            "rule": self.rule,
            "n_query": n_query,
            "depth": depth,
            "counts": asdict(self.counts),
        }

    def __str__(self) -> str:
        return _text([(self.distance, self.counts)], self.rule)


@dataclass(frozen=True, eq=False)
class CollisionTable:
    """Counts of collisions by distance: `table["cosine"]` is a `Counts`. Printing gives a table.

    Attributes
    ----------
    by_distance : dict of str to Counts
    rule : str
        What colliding meant.
    """

    by_distance: dict[str, Counts]
    rule: str

    def __getitem__(self, distance: str) -> Counts:
        """The counts for a distance; raises ValueError for one that was not asked for."""
        return self.by_distance[checks.choice(distance, self.by_distance, "distance")]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_distance)

    def rows(self) -> list[tuple[str, str, int, int, int, int]]:
        """Distance, kind, groups, items, queries and largest group, four rows a distance."""
        return [(name, *row) for name, counts in self.by_distance.items() for row in counts.rows()]

    def to_dict(self) -> dict[str, Any]:
        """The counts as plain Python values that JSON can hold."""
        return {"rule": self.rule, "distances": {name: asdict(counts) for name, counts in self.by_distance.items()}}

    def __str__(self) -> str:
        return _text(list(self.by_distance.items()), self.rule)


def collisions(
    embeddings: EmbeddingsLike,
    labels: LabelsLike,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    distance: str = "cosine",
    ties: str | Ties = "exact",
    eps: float | None = None,
    depth: int | None = None,
    threads: int | None = None,
) -> Collisions:
    """Find, for each query and rank, whether the item there collides with a neighbour in rank, and what the group is.

    Two items collide where their distances to the query are equal: as real numbers, or once rounded to the type that
    `ties` names. With `eps`, two neighbours in rank collide where their distances differ by at most `eps`, and a chain
    of such neighbours is one group, whose ends may lie farther apart than that. The distances are the real numbers
    here too: no rounded value decides.

    Memory grows with n_query · depth, 6 bytes each; `count_collisions` keeps only counts.

    Parameters
    ----------
    embeddings, labels, gallery, gallery_labels
        As in `deadheat.profile`. Without a gallery, each query is ranked against all others (leave one out).
    distance : str
        ``"cosine"``, ``"euclidean"``, ``"inner_product"``, ``"cityblock"`` or ``"hamming"``.
    ties : {"exact", "float16", "bfloat16", "float32"} or Rounded
        What tied means.
    eps : float, optional
        0 or more, in the unit of the distance, taken as the exact number that the float is; 0 is exact ties.
    depth : int, optional
        How many ranks to look at; by default all of them.
    threads : int, optional
        Worker threads, for this call alone; by default as many as there are processors.

    Returns
    -------
    Collisions
        Three matrices (n_query, depth) and the counts. **Ties:** a mixed group is where lower and upper bounds of
        measures come apart; with `eps` above 0 a group need hold no tie at all. A group that the depth cuts has the
        kind and the size of the whole.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule, `eps` comes with ties other than exact, or `ties` is a tolerance.

    References
    ----------
    Nicolaou et al. 2018, "Non-deterministic Behavior of Ranking-based Metrics when Evaluating Embeddings",
    arXiv:1806.07171, figures 2 and 3.

    Examples
    --------
    Points on a line. Seen from 0, the points 2 and -2 are equally far, one of them relevant; and 3 is within 1 of them:

    >>> line, labels = [[0], [2], [-2], [3], [9]], ["a", "a", "b", "b", "b"]
    >>> found = collisions(line[:1], labels[:1], line[1:], labels[1:], distance="euclidean")
    >>> [Kind(code).name for code in found.kind[0]]
    ['MIXED', 'MIXED', 'NONE', 'NONE']
    >>> collisions(line[:1], labels[:1], line[1:], labels[1:], distance="euclidean", eps=1).size
    array([[3, 3, 3, 1]], dtype=int32)
    >>> print(found)
    euclidean, exact  groups  items  queries  largest
    relevant               0      0        0        0
    irrelevant             0      0        0        0
    mixed                  1      2        1        2
    together               1      2        1        2
    <BLANKLINE>
    1 query, 4 ranks looked at.
    """
    search = _Search(embeddings, labels, gallery, gallery_labels, distance, ties, eps, depth, threads)
    shape = search.rankings.n_query, search.depth
    kind, relevant, size = np.empty(shape, np.int8), np.empty(shape, np.bool_), np.empty(shape, np.int32)
    counts = Counts()
    for part in search:
        kind[part.queries], relevant[part.queries], size[part.queries] = part.matrices(search.depth)
        counts += part.counts(search.depth)
    return Collisions(kind, relevant, size, counts, distance, search.rule)


def count_collisions(
    embeddings: EmbeddingsLike,
    labels: LabelsLike,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    distances: str | Iterable[str] = DISTANCES,
    ties: str | Ties = "exact",
    eps: float | None = None,
    depth: int | None = None,
    threads: int | None = None,
) -> CollisionTable:
    """Count the collisions under several distances, in memory that does not grow with the number of queries.

    Parameters
    ----------
    distances : str or iterable of str
        Distances, each counted by itself.
    embeddings, labels, gallery, gallery_labels, ties, eps, depth, threads
        As in `collisions`. `eps` is one number for all distances, each in its own unit.

    Returns
    -------
    CollisionTable

    Raises
    ------
    TypeError, ValueError
        As in `collisions`, or if there is no distance.

    Examples
    --------
    Seen from (0, 0), the points (3, 4) and (5, 0) are equally far, but not along the streets:

    >>> table = count_collisions([[0, 0]], ["a"], [[3, 4], [5, 0]], ["a", "b"], distances=["euclidean", "cityblock"])
    >>> table["euclidean"].mixed.groups, table["cityblock"].mixed.groups
    (1, 0)
    """
    names = list(dict.fromkeys([distances] if isinstance(distances, str) else distances))
    if not names:
        raise ValueError("distances must name at least one distance, but got none")
    found, rule = {}, ""
    for name in names:
        search = _Search(embeddings, labels, gallery, gallery_labels, name, ties, eps, depth, threads)
        found[name] = sum((part.counts(search.depth) for part in search), Counts())
        rule = search.rule
    return CollisionTable(found, rule)


def collisions_in(
    distances: ArrayLike,
    relevant: ArrayLike,
    *,
    eps: float | None = None,
    depth: int | None = None,
    leave_one_out: bool = False,
) -> Collisions:
    """Find the collisions in a matrix of distances: the numbers are compared as they are given.

    This shows what a system sees that ranks by rounded distances.

    Parameters
    ----------
    distances : (n_query, n_gallery)
        Real numbers of at most 64 bits; lower is nearer.
    relevant : (n_query, n_gallery) bool
    eps, depth
        As in `collisions`.
    leave_one_out : bool
        Whether item i is query i, and so is not ranked for it.

    Returns
    -------
    Collisions
        As of `collisions`, with the type of the numbers as `rule`.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule, or item i cannot be query i because there are not as many.

    Examples
    --------
    >>> found = collisions_in([[0.1, 0.3, 0.1 + 0.2]], [[True, True, False]])
    >>> found.size, found.rule
    (array([[1, 1, 1]], dtype=int32), 'float64 distances')
    >>> collisions_in([[0.1, 0.3, 0.1 + 0.2]], [[True, True, False]], eps=1e-16).size
    array([[1, 2, 2]], dtype=int32)
    """
    exact_eps = _checked_eps(eps, tie_rules.Exact())
    value, mask, rule = _checked_matrix(distances, relevant, leave_one_out)
    depth = value.shape[1] if depth is None else checks.positive_integer(depth, "depth")
    tied = np.ones(value.shape, dtype=np.bool_)
    tied[:, 1:] = value[:, 1:] != value[:, :-1]
    apart = tied.copy()
    if exact_eps:
        linked, _ = _decided((-value[:, :-1],) * 2, (-value[:, 1:],) * 2, float(exact_eps))
        apart[:, 1:] &= ~linked
        rule += f" within {float(exact_eps)!r}"
    part = _Part.of(np.arange(len(value)), np.ones_like(tied), mask, tied, apart)
    return Collisions(*part.matrices(depth), part.counts(depth), "given", rule)


def _checked_matrix(
    distances: ArrayLike, relevant: ArrayLike, leave_one_out: bool
) -> tuple[NDArray[np.float64], Bool, str]:
    """Distances in order and the relevance of what is there, (n_query, n_ranked), and what the distances are."""
    given = inputs.scores(distances, "distances")
    inputs.require_exact(given, "distances")
    mask = np.asarray(relevant)
    if mask.shape != given.shape or mask.dtype != np.bool_:
        raise ValueError(
            f"relevant must be bool of the shape of distances, {given.shape}, but is {mask.dtype} of shape {mask.shape}"
        )
    if leave_one_out and given.shape[0] != given.shape[1]:
        raise ValueError(f"distances must be square for leave_one_out, but have shape {given.shape}")
    value = given.astype(np.float64)
    if leave_one_out:
        np.fill_diagonal(value, np.inf)
    order = np.argsort(value, axis=1, kind="stable")[:, : value.shape[1] - leave_one_out]
    value, mask = (np.take_along_axis(matrix, order, axis=1) for matrix in (value, mask))
    return value, mask, f"{given.dtype} distances"


# From rankings to groups -----------------------------------------------------------------------------------------


class _Search:
    """Checked arguments, and the groups of all queries, block by block when iterated."""

    def __init__(
        self, embeddings: EmbeddingsLike, labels: LabelsLike, gallery: EmbeddingsLike | None,
        gallery_labels: LabelsLike | None, distance: str, ties: str | Ties, eps: float | None, depth: int | None,
        threads: int | None,
    ) -> None:  # fmt: skip
        inputs.require_together(gallery, gallery_labels)
        rule = tie_rules.make(ties)
        self.eps = _checked_eps(eps, rule)
        self.rankings = Rankings(embeddings, gallery, distance=distance, ties=rule, threads=threads)
        n_ranked = self.rankings.n_gallery - (gallery is None)
        self.depth = n_ranked if depth is None else checks.positive_integer(depth, "depth")
        self.rule = rule.describe(distance) if self.eps is None else f"within {float(self.eps)!r}"
        wanted = inputs.labels(open_labels(labels, "labels"), self.rankings.n_query, "labels", "embeddings")
        given_labels = None
        if gallery_labels is not None:
            of_gallery, n_gallery = open_labels(gallery_labels, "gallery_labels"), self.rankings.n_gallery
            given_labels = inputs.labels(of_gallery, n_gallery, "gallery_labels", "gallery")
        self._query_class, self._item_class = inputs.label_codes(wanted, given_labels)

    def __iter__(self) -> Iterator[_Part]:
        for block in self.rankings:
            valid = block.items >= 0
            relevant = (self._item_class[block.items] == self._query_class[block.queries, None]) & valid
            tied = valid.copy()
            tied[:, 1:] &= block.group[:, 1:] != block.group[:, :-1]
            apart = tied if self.eps is None else tied & ~_within(self.rankings, block, tied, self.eps)
            yield _Part.of(block.queries, valid, relevant, tied, apart)


def _checked_eps(eps: float | None, rule: Ties) -> Fraction | None:
    """The tolerance as an exact number; None where ties are all that is looked for."""
    if eps is None:
        return None
    value = Tolerance(eps).eps
    if not isinstance(rule, tie_rules.Exact):
        raise ValueError(f"eps must be left out unless ties are exact, but is {eps!r} with ties {rule!r}")
    return Fraction(value) if value else None


class _Groups(NamedTuple):
    """Groups of neighbours in rank; the places of all queries lie one after another.

    `of_place` is the group of each place; `first` the first place of each group, `size` its items, `relevant` how
    many of them are.
    """

    of_place: Int64
    first: Int64
    size: Int64
    relevant: Int64

    @classmethod
    def of(cls, starts: Bool, relevant: Bool) -> _Groups:
        of_place, first = np.cumsum(starts) - 1, np.flatnonzero(starts)
        size = np.diff(first, append=len(starts))
        return cls(of_place, first, size, np.bincount(of_place[relevant], minlength=len(first)))

    @property
    def kind(self) -> NDArray[np.int8]:
        """A `Kind` for each group."""
        kind = np.full(len(self.first), Kind.MIXED, dtype=np.int8)
        kind[self.relevant == 0] = Kind.IRRELEVANT
        kind[self.relevant == self.size] = Kind.RELEVANT
        kind[self.size == 1] = Kind.NONE
        return kind


@dataclass(frozen=True)
class _Part:
    """Some queries, the places that they have (n, n_gallery), and the groups in these: of ties, and of collisions."""

    queries: Int64
    valid: Bool
    exact: _Groups
    colliding: _Groups

    @classmethod
    def of(cls, queries: Int64, valid: Bool, relevant: Bool, tied: Bool, apart: Bool) -> _Part:
        """From (n, n_gallery): which ranks there are, what is relevant, and where ties and collisions start."""
        exact, colliding = (_Groups.of(starts[valid], relevant[valid]) for starts in (tied, apart))
        return cls(queries, valid, exact, colliding)

    def matrices(self, depth: int) -> tuple[NDArray[np.int8], Bool, NDArray[np.int32]]:
        """Kind, relevance and size for the first so many ranks."""
        groups, ties = self.colliding, self.exact
        place = np.arange(len(ties.of_place))
        first_ones = place - ties.first[ties.of_place] < ties.relevant[ties.of_place]
        return (
            self._spread(groups.kind[groups.of_place], depth, np.int8(Kind.BEYOND)),
            self._spread(first_ones, depth, np.bool_(False)),
            self._spread(groups.size[groups.of_place].astype(np.int32), depth, np.int32(0)),
        )

    def _spread(self, values: NDArray[Any], depth: int, beyond: np.generic) -> NDArray[Any]:
        """Values of all places as a matrix of the first so many ranks."""
        matrix = np.full((len(self.queries), max(depth, self.valid.shape[1])), beyond)
        matrix[:, : self.valid.shape[1]][self.valid] = values
        return matrix[:, :depth]

    def counts(self, depth: int) -> Counts:
        """The counts within the first so many ranks."""
        groups = self.colliding
        row, rank = (index[groups.first] for index in np.nonzero(self.valid))
        begins = rank < depth
        inside = np.minimum(groups.size, depth - rank)

        def count(which: Bool) -> Count:
            some = which & begins
            return Count(
                int(some.sum()),
                int(inside[some].sum()),
                len(np.unique(row[some])),
                int(groups.size[some].max(initial=0)),
            )

        kind = groups.kind
        return Counts(
            relevant=count(kind == Kind.RELEVANT),
            irrelevant=count(kind == Kind.IRRELEVANT),
            mixed=count(kind == Kind.MIXED),
            together=count(kind != Kind.NONE),
            n_query=len(self.queries),
            n_place=int(np.minimum(self.valid.sum(axis=1), depth).sum()),
        )


# Within ε --------------------------------------------------------------------------------------------------------


def _within(rankings: Rankings, block: Ranked, starts: Bool, eps: Fraction) -> Bool:
    """Where a tie group starts that is at most eps farther than the one before it."""
    near, far = starts.copy(), np.zeros_like(starts)
    near[:, 0] = False
    row, rank = np.nonzero(near)
    low, high = rankings.closeness(block)
    nearer, farther = (low[row, rank - 1], high[row, rank - 1]), (low[row, rank], high[row, rank])
    linked, unsure = _decided(nearer, farther, float(eps))
    row_left, rank_left = row[unsure], rank[unsure]
    queries, items = block.queries[row_left], block.items
    linked[unsure] = _settled(rankings, queries, items[row_left, rank_left - 1], items[row_left, rank_left], eps)
    far[row, rank] = linked
    return far


def _decided(
    nearer: tuple[NDArray[np.float64], NDArray[np.float64]],
    farther: tuple[NDArray[np.float64], NDArray[np.float64]],
    eps: float,
) -> tuple[Bool, Bool]:
    """Whether gaps are at most eps as far as bounds on both sides show it, and where they do not.

    A difference that is rounded to something other than eps is on that side of eps, since rounding keeps the order.
    Where it is rounded to eps itself and both sides are known exactly, the sign of what was rounded off decides.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        widest, narrowest = nearer[1] - farther[0], nearer[0] - farther[1]
        back = nearer[1] - widest
        lost = (nearer[1] - (widest + back)) + (back - farther[0])  # exact difference − rounded difference (Knuth)
    known = (nearer[0] == nearer[1]) & (farther[0] == farther[1])
    linked = (widest < eps) | (known & (widest == eps) & (lost <= 0))
    return linked, ~linked & ~known & (narrowest <= eps)


def _settled(rankings: Rankings, queries: Int64, nearer: Int64, farther: Int64, eps: Fraction) -> Bool:
    """Whether the exact distances of pairs of items to a query differ by at most eps."""
    metric, within = rankings.metric, np.empty(len(queries), dtype=np.bool_)
    for start in range(0, len(queries), _SETTLED_AT_ONCE):
        part = slice(start, start + _SETTLED_AT_ONCE)
        near, far = (
            metric.exact_closeness(queries[part], metric.columns.column_of_item[items[part]])
            for items in (nearer, farther)
        )
        within[part] = [one.compare_shifted(two, eps) <= 0 for one, two in zip(near, far, strict=True)]
    return within


# Text ------------------------------------------------------------------------------------------------------------


def _text(tables: list[tuple[str, Counts]], rule: str) -> str:
    """A table of counts for each distance, and a sentence about what was counted."""
    header = ("groups", "items", "queries", "largest")
    blocks = [[(f"{name}, {rule}", *header), *counts.rows()] for name, counts in tables]
    lines = plain_table([[str(cell) for cell in row] for block in blocks for row in block])
    size = len(blocks[0])
    apart = [line for start in range(0, len(lines), size) for line in (*lines[start : start + size], "")]
    counts = tables[-1][1]
    queries = f"{counts.n_query} {'query' if counts.n_query == 1 else 'queries'}"
    return "\n".join([*apart, f"{queries}, {counts.n_place} ranks looked at."])
