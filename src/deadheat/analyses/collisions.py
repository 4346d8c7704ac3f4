"""Collisions: in come embeddings and labels, out goes which neighbours of a query are equally far, or nearly so.

    rank              1    2    3    4    5    6    7    8
    distance         .1   .2   .2   .3   .4   .4   .4   .5
    label             a    a    b    a    b    b    b    a      of a query with label a
    kind              ·    m    m    ·    i    i    i    ·      mixed, irrelevant

A group that collides is all relevant, all irrelevant, or mixed, and only a mixed one can change a measure. A profile
counts the mixed groups; this module shows where they are, and the others too.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import IntEnum
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.own_gallery import queries_in_gallery
from deadheat.engine.counting.ranking import Ranked, Rankings
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.distances.registry import ALIASES
from deadheat.engine.literals import DistanceName, TiesName
from deadheat.engine.ties.rule import Exact, Ties
from deadheat.errors import InvalidValueError
from deadheat.inputs import arrays, conversion, samples
from deadheat.inputs import labels as input_labels
from deadheat.inputs.item_ids import OwnRows
from deadheat.inputs.samples import EmbeddingsLike, LabelsLike, Pair
from deadheat.reports.tables import Table, TabularResult, count
from deadheat.support import checks, scratch
from deadheat.support.arrays import Bool, Float64, Int64, slices
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Progress, Reporting
from deadheat.support.triple import ByName

Bounds = tuple[Float64, Float64]
Matrices = tuple[NDArray[np.int8], Bool, NDArray[np.int32]]  # kind, relevance and size

PAIRS_AT_ONCE = 1 << 15  # pairs whose exact distances are held at a time


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
        groups, items, queries = self.groups + other.groups, self.items + other.items, self.queries + other.queries
        return Count(groups, items, queries, max(self.largest, other.largest))


COUNTED = tuple(each.name for each in fields(Count))


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
        return Counts(*map(operator.add, vars(self).values(), vars(other).values()))

    def columns(self) -> dict[str, list[str] | list[int]]:
        """The kinds, and of each its groups, items, queries and largest group; the last entry is all kinds together."""
        counts = {kind: getattr(self, kind) for kind in ("relevant", "irrelevant", "mixed", "together")}
        return {"kind": list(counts)} | {name: [getattr(each, name) for each in counts.values()] for name in COUNTED}


class Groups:
    """Groups of neighbours in rank; the places of all queries lie one after another.

    `of_place` is the group of each place; `first` the first place of each group, `size` its items, `relevant` how
    many of them are relevant.
    """

    def __init__(self, starts: Bool, relevant: Bool) -> None:
        self.of_place, self.first = np.cumsum(starts) - 1, np.flatnonzero(starts)
        self.size = np.diff(self.first, append=len(starts))
        self.relevant = np.bincount(self.of_place[relevant], minlength=len(self.first))

    @property
    def kind(self) -> NDArray[np.int8]:
        kind = np.full(len(self.first), Kind.MIXED, dtype=np.int8)
        kind[self.relevant == 0] = Kind.IRRELEVANT
        kind[self.relevant == self.size] = Kind.RELEVANT
        kind[self.size == 1] = Kind.NONE
        return kind


class GroupedRanks:
    """Some queries, the ranks that they have (n, n_gallery), and the groups in these: of ties, and of collisions."""

    def __init__(self, queries: Int64, valid: Bool, relevant: Bool, tie_starts: Bool, starts: Bool) -> None:
        self.queries, self.valid = queries, valid
        self.ties, self.colliding = (Groups(begins[valid], relevant[valid]) for begins in (tie_starts, starts))

    def matrices(self, depth: int) -> Matrices:
        """Kind, relevance and size for the first so many ranks."""
        groups, ties = self.colliding, self.ties
        place = np.arange(len(ties.of_place))
        relevant_first = place - ties.first[ties.of_place] < ties.relevant[ties.of_place]
        return (
            self._spread(groups.kind[groups.of_place], depth, np.int8(Kind.BEYOND)),
            self._spread(relevant_first, depth, np.bool_(False)),
            self._spread(groups.size[groups.of_place].astype(np.int32), depth, np.int32(0)),
        )

    def _spread(self, values: NDArray[Any], depth: int, beyond: np.generic) -> NDArray[Any]:
        matrix = np.full((len(self.queries), max(depth, self.valid.shape[1])), beyond)
        matrix[:, : self.valid.shape[1]][self.valid] = values
        return matrix[:, :depth]

    def counts(self, depth: int) -> Counts:
        """The counts within the first so many ranks."""
        groups = self.colliding
        row, rank = (index[groups.first] for index in np.nonzero(self.valid))
        inside = np.minimum(groups.size, depth - rank)

        def count(wanted: Bool) -> Count:
            begun = wanted & (rank < depth)
            n_query, largest = len(np.unique(row[begun])), int(groups.size[begun].max(initial=0))
            return Count(int(begun.sum()), int(inside[begun].sum()), n_query, largest)

        n_place = int(np.minimum(self.valid.sum(axis=1), depth).sum())
        relevant, irrelevant, mixed = (
            count(groups.kind == kind) for kind in (Kind.RELEVANT, Kind.IRRELEVANT, Kind.MIXED)
        )
        return Counts(relevant, irrelevant, mixed, count(groups.kind != Kind.NONE), len(self.queries), n_place)


def linked(rankings: Rankings, block: Ranked, starts: Bool, width: Fraction) -> Bool:
    """Where a tie group starts that is at most `width` farther than the one before it."""
    farther_starts, is_linked = starts.copy(), np.zeros_like(starts)
    farther_starts[:, 0] = False
    row, rank = np.nonzero(farther_starts)
    low, high = rankings.closeness(block)
    nearer, farther = (low[row, rank - 1], high[row, rank - 1]), (low[row, rank], high[row, rank])
    links, is_open = decided(nearer, farther, float(width))
    open_row, open_rank = row[is_open], rank[is_open]
    items = block.items[open_row, open_rank - 1], block.items[open_row, open_rank]
    links[is_open] = settled(rankings, block.queries[open_row], *items, width)
    is_linked[row, rank] = links
    return is_linked


def decided(nearer: Bounds, farther: Bounds, width: float) -> tuple[Bool, Bool]:
    """Whether gaps are at most `width` as far as bounds on the closeness of both show it, and where they do not.

    A difference that is rounded to something other than the width is on that side of it, since rounding keeps the
    order. Where it is rounded to the width itself and both sides are known exactly, the sign of what was rounded off
    decides.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        widest, narrowest = nearer[1] - farther[0], nearer[0] - farther[1]
        back = nearer[1] - widest
        lost = (nearer[1] - (widest + back)) + (back - farther[0])  # exact difference − rounded difference (Knuth)
    is_exact = (nearer[0] == nearer[1]) & (farther[0] == farther[1])
    links = (widest < width) | (is_exact & (widest == width) & (lost <= 0))
    return links, ~links & ~is_exact & (narrowest <= width)


def settled(rankings: Rankings, queries: Int64, nearer: Int64, farther: Int64, width: Fraction) -> Bool:
    """Whether the exact distances of pairs of items to a query differ by at most `width`."""
    metric, links = rankings.metric, np.empty(len(queries), dtype=np.bool_)
    for part in slices(len(queries), PAIRS_AT_ONCE):
        near, far = (
            metric.exact_closeness(queries[part], metric.columns.column_of_item[items[part]])
            for items in (nearer, farther)
        )
        pairs = np.arange(len(near))
        links[part] = near.compare_shifted(pairs, far, pairs, float(width)) <= 0
    return links


@dataclass(frozen=True, eq=False)
class Collisions(TabularResult):
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

    def tables(self) -> list[Table]:
        """Groups, items, queries and largest group of each kind."""
        return [_table(self.distance, self.rule, self.counts)]

    def notes(self) -> list[str]:
        return [_looked_at(self.counts)]

    def to_dict(self) -> dict[str, Any]:
        """The counts, and what was counted, as plain Python values that JSON can hold; not the matrices."""
        n_query, depth = self.kind.shape
        about = {"distance": self.distance, "rule": self.rule, "n_query": n_query, "depth": depth}
        return {**about, "counts": asdict(self.counts)}

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """The counts, a row a kind."""
        return self.counts.columns()


@dataclass(frozen=True, eq=False)
class CollisionTable(TabularResult, ByName[Counts]):
    """Counts of collisions by distance: `table["cosine"]` is a `Counts`. Printing gives a table.

    Attributes
    ----------
    by_distance : dict of str to Counts
    rules : dict of str to str
        What colliding meant for each distance: a rounding is of the similarity or of the distance.
    """

    by_distance: dict[str, Counts]
    rules: dict[str, str]

    def __getitem__(self, distance: str) -> Counts:
        """The counts for a distance; raises ValueError for one that was not asked for."""
        return self.by_distance[checks.choice(distance, self.by_distance, "distance", ALIASES)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_distance)

    def tables(self) -> list[Table]:
        """Groups, items, queries and largest group of each kind, a table a distance."""
        return [_table(name, self.rules[name], counts) for name, counts in self.by_distance.items()]

    def notes(self) -> list[str]:
        return [_looked_at(next(iter(self.by_distance.values())))]

    def to_text(self, **options: Any) -> str:
        """The tables as plain text, all with the same widths, and what was looked at: what `print` shows."""
        tables = self.tables(**options)
        lines = Table(tables[0].header, [row for table in tables for row in (table.header, *table.rows)]).to_text()
        height = 1 + len(tables[0].rows)
        blocks = zip(*[iter(lines.splitlines()[1:])] * height, strict=True)
        return "\n\n".join(["\n".join(block) for block in blocks] + self.notes())

    def to_dict(self) -> dict[str, Any]:
        return {"distances": {name: {"rule": self.rules[name], "counts": asdict(self[name])} for name in self}}

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """The counts, a row a distance and kind."""
        parts = [counts.columns() for counts in self.by_distance.values()]
        joined = {name: [value for part in parts for value in part[name]] for name in parts[0]}
        return {"distance": [name for name in self for _ in parts[0]["kind"]], **joined}


def _table(distance: str, rule: str, counts: Counts) -> Table:
    columns = counts.columns().values()
    return Table((f"{distance}, {rule}", *COUNTED), [list(map(str, row)) for row in zip(*columns, strict=True)])


def _looked_at(counts: Counts) -> str:
    return f"{count(counts.n_query, 'query', 'queries')}, {counts.n_place} ranks looked at."


@overload
def collisions(
    embeddings: EmbeddingsLike, labels: LabelsLike | None = ..., gallery: EmbeddingsLike | None = ...,
    gallery_labels: LabelsLike | None = ..., *, distance: DistanceName = ..., ties: TiesName | Ties = ...,
    within: float | None = ..., depth: int | None = ..., junk: ArrayLike | None = ..., exclude: OwnRows | None = ...,
    threads: int | None = ..., progress: bool | Progress = ...,
) -> Collisions: ...  # fmt: skip


@overload
def collisions(
    embeddings: EmbeddingsLike, labels: LabelsLike | None = ..., gallery: EmbeddingsLike | None = ...,
    gallery_labels: LabelsLike | None = ..., *, distance: list[DistanceName] | tuple[DistanceName, ...],
    ties: TiesName | Ties = ..., within: float | None = ..., depth: int | None = ..., junk: ArrayLike | None = ...,
    exclude: OwnRows | None = ..., threads: int | None = ..., progress: bool | Progress = ...,
) -> CollisionTable: ...  # fmt: skip


@plain_floats
def collisions(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    distance: DistanceName | Iterable[DistanceName] = "cosine",
    ties: TiesName | Ties = "exact",
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
    embeddings : (n_query, dim) array, path or list of paths
        The queries, as arrays or files in any form that `deadheat.profile` takes.
    labels : (n_query,) integers or strings, or path, optional
        Their labels; whole floats count as integers. By default they are in the files of the embeddings.
    gallery : (n_gallery, dim) array, path or list of paths, optional
        What queries are ranked against. By default each is ranked against all others: leave one out.
    gallery_labels : (n_gallery,) integers or strings, or path, optional
        Its labels. By default they are in the files of the gallery.
    distance : str, or a list of str
        ``"cosine"``, ``"euclidean"``, ``"inner_product"``, ``"cityblock"`` or ``"hamming"``. A name gives the
        collisions rank by rank, in memory that grows with n_query · depth, 6 bytes each. A list of one or more gives
        counts alone, distance by distance, in memory that does not grow with the number of queries.
    ties : {"exact", "float16", "bfloat16", "float32"} or Rounded
        Which items tie: those whose distances are equal as real numbers, or once rounded to a type.
    within : float, optional
        0 or more, in the unit of the distance, taken as the exact number that the float is; 0 is exact ties. This is
        not a `deadheat.Tolerance`, which has no groups: that moves each relevant item by eps, either way, against all
        others, to see how far a measure can move; this links neighbours in rank, whatever they are.
    depth : int, optional
        How many ranks to look at; by default all of them.
    junk : (n_gallery,) or (n_query, n_gallery) array of bool, optional
        Items that are neither ranked nor relevant: for every query, or pair by pair. By default there is none.
    exclude : (n_query,) integers, or a pair of ids, optional
        Where queries are in the gallery: the row that each query is, which is not ranked for it, or -1; or
        ``(query_ids, gallery_ids)``, where equal ids are one item. By default such rows are looked for, with a warning.
    threads : int, optional
        Worker threads, for this call alone. By default as many as this process may use.
    progress : bool or callable
        True for a bar on standard error, or a function that is called with (done, total), in queries, for each distance
        in turn.

    Returns
    -------
    Collisions or CollisionTable
        For one distance three matrices (n_query, depth) and the counts; for a list of distances the counts. **Ties:**
        a mixed group is where lower and upper bounds of measures differ; with `within` above 0 a group need hold
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
    one = isinstance(distance, str)
    listed = [distance] if one else checks.listed(distance, "distance", "a name, or several")
    names = list(dict.fromkeys(map(distance_registry.named, listed)))
    if not names:
        raise InvalidValueError("distance", "must name at least one distance, but got none")
    shared: dict[str, Any] = {"ties": ties, "junk": junk, "exclude": exclude, "threads": threads, "progress": progress}
    passes = [CountingOptions.checked(distance=each, **shared) for each in names]
    width, most = checked_reach(within, depth, passes[0].rule)
    pair = samples.open_pair(embeddings, labels, gallery, gallery_labels)
    queries_in_gallery(pair, passes[0])
    if isinstance(distance, str):
        return collisions_of_pair(pair, passes[0], width, most)
    return counts_of_pair(pair, passes, width, most)


def checked_reach(within: Any, depth: Any, rule: Ties) -> tuple[Fraction | None, int | None]:
    """The greatest gap that collides, None for ties alone, and how many ranks to look at, None for all of them."""
    most = None if depth is None else checks.positive_integer(depth, "depth")
    if within is None:
        return None, most
    width = checks.real_number(within, "within", least=0)
    if not isinstance(rule, Exact):
        came = f"{within!r} with ties {rule!r}"
        raise InvalidValueError("within", f"must be left out unless ties are exact, but is {came}")
    return Fraction(width) or None, most


def collisions_of_pair(
    pair: Pair, options: CountingOptions, width: Fraction | None = None, depth: int | None = None
) -> Collisions:
    """`collisions` of queries and a gallery that have been opened, rank by rank, for one distance."""
    counts, rule, matrices = _searched(pair, options, width, depth, rank_by_rank=True)
    return Collisions(*matrices, counts, options.distance, rule)


def counts_of_pair(
    pair: Pair, passes: Iterable[CountingOptions], width: Fraction | None = None, depth: int | None = None
) -> CollisionTable:
    """The counts alone, for the distance of each pass, in memory that does not grow with the queries."""
    found = {options.distance: _searched(pair, options, width, depth, rank_by_rank=False) for options in passes}
    by_distance = {name: counts for name, (counts, *_) in found.items()}
    return CollisionTable(by_distance, {name: rule for name, (_, rule, _) in found.items()})


def _searched(
    pair: Pair, options: CountingOptions, width: Fraction | None, depth: int | None, *, rank_by_rank: bool
) -> tuple[Counts, str, Matrices]:
    """The counts, what colliding meant, and, if asked for, kind, relevance and size rank by rank."""
    options = options.fitted(pair)
    (embeddings, labels), (gallery, gallery_labels) = pair.query, pair.gallery or (None, None)
    rankings = Rankings(
        embeddings, gallery, distance=options.distance, ties=options.rule, junk=options.junk,
        exclude=options.exclude, threads=options.threads,
    )  # fmt: skip
    most = int(rankings.candidates.n_ranked().max()) if depth is None else depth
    if rank_by_rank:
        _require_memory(rankings.n_query, most)
    shape = rankings.n_query, most if rank_by_rank else 0
    kind, relevance, size = np.empty(shape, np.int8), np.empty(shape, np.bool_), np.empty(shape, np.int32)
    query_class, item_class = input_labels.label_codes(labels, gallery_labels)
    counts, reach = Counts(), min(most, rankings.n_gallery)
    with Reporting(options.progress, rankings.n_query, f"ranking ({options.distance})", "queries") as report:
        for block in rankings:
            valid = block.items >= 0
            relevant = (item_class[block.items] == query_class[block.queries, None]) & valid
            tie_starts = valid.copy()
            tie_starts[:, 1:] &= block.group[:, 1:] != block.group[:, :-1]
            starts = tie_starts if width is None else tie_starts & ~linked(rankings, block, tie_starts, width)
            ranks = GroupedRanks(block.queries, valid, relevant, tie_starts, starts)
            counts += ranks.counts(reach)
            if rank_by_rank:
                kind[block.queries], relevance[block.queries], size[block.queries] = ranks.matrices(most)
            report(len(block.queries))
    rule = options.rule.describe(options.distance) if width is None else f"within {float(width)!r}"
    return counts, rule, (kind, relevance, size)


@plain_floats
def collisions_of_distances(
    distances: ArrayLike,
    relevant: ArrayLike,
    *,
    within: float | None = None,
    depth: int | None = None,
    leave_one_out: bool = False,
) -> Collisions:
    """Find the collisions in a matrix of distances, as a system sees them that ranks by these numbers as they are.

    Parameters
    ----------
    distances : (n_query, n_gallery)
        Real numbers of at most 64 bits; lower is nearer.
    relevant : (n_query, n_gallery) bool
        What is relevant to each query.
    within : float, optional
        Neighbours in rank collide whose distances differ by at most so much; by default, equal ones.
    depth : int, optional
        How many ranks to look at; by default all of them.
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
    >>> found = collisions_of_distances([[0.1, 0.3, 0.1 + 0.2]], [[True, True, False]])
    >>> found.size, found.rule
    (array([[1, 1, 1]], dtype=int32), 'float64 distances')
    >>> collisions_of_distances([[0.1, 0.3, 0.1 + 0.2]], [[True, True, False]], within=1e-16).size
    array([[1, 2, 2]], dtype=int32)
    """
    width, most = checked_reach(within, depth, Exact())
    matrix, mask = arrays.finite_scores(distances, "distances"), conversion.plain(relevant, "relevant")
    arrays.require_exact(matrix, "distances")
    if mask.shape != matrix.shape or mask.dtype != np.bool_:
        came = f"{mask.dtype} of shape {mask.shape}"
        raise InvalidValueError("relevant", f"must be bool of the shape of distances, {matrix.shape}, but is {came}")
    if leave_one_out and matrix.shape[0] != matrix.shape[1]:
        raise InvalidValueError("distances", f"must be square for leave_one_out, but have shape {matrix.shape}")
    values, rule = matrix.astype(np.float64), f"{matrix.dtype} distances"
    if leave_one_out:
        np.fill_diagonal(values, np.inf)  # the last, and then cut off
    order = np.argsort(values, axis=1, kind="stable")[:, : matrix.shape[1] - bool(leave_one_out)]
    values, mask = (np.take_along_axis(each, order, axis=1) for each in (values, mask))
    most = values.shape[1] if most is None else most
    _require_memory(len(values), most)
    tie_starts = np.ones(values.shape, dtype=np.bool_)
    tie_starts[:, 1:] = values[:, 1:] != values[:, :-1]
    starts = tie_starts.copy()
    if width is not None:
        links, _ = decided((-values[:, :-1],) * 2, (-values[:, 1:],) * 2, float(width))
        starts[:, 1:] &= ~links
        rule += f" within {float(width)!r}"
    ranks = GroupedRanks(np.arange(len(values)), np.ones_like(starts), mask, tie_starts, starts)
    return Collisions(*ranks.matrices(most), ranks.counts(most), "given", rule)


def _require_memory(n_query: int, depth: int) -> None:
    """Refuse matrices that do not fit in memory, before long work."""
    needed, free = 6 * n_query * depth, scratch.available_memory()
    if needed > free:
        came = f"{n_query} queries and {checks.shown(depth)} ranks take 6 bytes each, and {free / 1e9:.1f} GB are free"
        raise InvalidValueError("depth", f"must be so small that the result fits in memory, but {came}")
