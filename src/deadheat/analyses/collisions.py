"""Collisions: neighbours of a query that are equally far, or nearly so, from embeddings and labels.

    rank              1    2    3    4    5    6    7    8
    distance         .1   .2   .2   .3   .4   .4   .4   .5
    label             a    a    b    a    b    b    b    a      of a query with label a
    kind              ·    m    m    ·    i    i    i    ·      mixed, irrelevant

A group that collides is all relevant, all irrelevant, or mixed, and only a mixed one can change a measure. A profile
counts the mixed groups; this module shows where they are, and the others too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from enum import IntEnum
from fractions import Fraction
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

import deadheat._core as _core
from deadheat.engine.counting.ranking import Ranked, Rankings, require_groups
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.distances.registry import ALIASES
from deadheat.engine.literals import DistanceName
from deadheat.engine.profiles.parts import in_parts
from deadheat.engine.task import Task, rows_of, with_rows
from deadheat.engine.ties.rule import Exact, Ties
from deadheat.errors import InvalidValueError
from deadheat.inputs.samples import Pair
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.tables import count
from deadheat.support import checks, scratch
from deadheat.support.arrays import Bool, Float64, Int64, offsets_of, slices
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Reporting, Workers
from deadheat.support.triple import ByName

Bounds = tuple[Float64, Float64]
Matrices = tuple[NDArray[np.int8], Bool, NDArray[np.int32]]  # kind, relevance and size

PAIRS_AT_ONCE = 1 << 15  # pairs whose exact distances are held at a time


class Kind(IntEnum):
    """Kind of collision at a rank. Where marks overlap in a plot, the highest is visible.

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
    """Number of collisions of a kind.

    Attributes
    ----------
    groups : int
        Groups of colliding items that begin within the depth.
    items : int
        Number of their items at ranks within the depth, over all queries.
    queries : int
        Queries that have such a group.
    largest : int
        Items of the largest group, those beyond the depth included.
    """

    groups: int = 0
    items: int = 0
    queries: int = 0
    largest: int = 0


COUNTED = tuple(each.name for each in fields(Count))


@dataclass(frozen=True)
class Counts:
    """Collisions by kind.

    Attributes
    ----------
    relevant, irrelevant, mixed, together : Count
        `together` is all three; a query that has several kinds counts once in it.
    n_place : int
        Ranks that were examined, over all queries.
    """

    relevant: Count = Count()
    irrelevant: Count = Count()
    mixed: Count = Count()
    together: Count = Count()
    n_query: int = 0
    n_place: int = 0

    @classmethod
    def of_kinds(cls, counts: Int64, n_query: int, n_place: int) -> Counts:
        """Return the counts of irrelevant, relevant, mixed and all groups, (4, 4), as the core adds them up."""
        irrelevant, relevant, mixed, together = (Count(*row) for row in counts.tolist())
        return cls(relevant, irrelevant, mixed, together, n_query, n_place)


class CollidingGroups(NamedTuple):
    """Groups that collide, of some queries: the groups of each, how many items are in front of each, and its size."""

    queries: slice
    offsets: Int64
    closer: Int64
    size: Int64


def of_ties(task: Task) -> Iterator[CollidingGroups]:
    """Yield the tie groups: those of a profile to which everything is relevant."""
    one_class: Any = [each and each._replace(labels=np.zeros(len(each.embeddings), int)) for each in task.pair[:2]]
    everything = with_rows(task, Pair(*one_class), task.options.exclude).profile
    for queries, part in in_parts(everything):
        yield CollidingGroups(queries, part.offsets, part.closer, part.tied)


def of_chains(task: Task, width: Fraction) -> Iterator[CollidingGroups]:
    """Yield the groups of tie groups, each at most `width` farther than the one before."""
    query, gallery = task.pair[:2]
    rankings = Rankings(query.embeddings, gallery and gallery.embeddings, task.options)
    with Reporting(task.options.progress, rankings.n_query, f"ranking ({task.options.distance})", "queries") as report:
        for block in rankings:
            valid = block.items >= 0
            starts = valid.copy()
            starts[:, 1:] &= block.group[:, 1:] != block.group[:, :-1]
            row, closer = np.nonzero(starts & ~linked(rankings, block, starts, width))
            end, n_ranked = np.roll(closer, -1), valid.sum(axis=1)
            last = np.diff(row, append=-1) != 0
            end[last] = n_ranked[row[last]]
            queries = slice(int(block.queries[0]), int(block.queries[-1]) + 1)
            offsets = offsets_of(np.bincount(row, minlength=len(valid)))
            yield CollidingGroups(queries, offsets, closer.copy(), end - closer)
            report(len(block.queries))


def linked(rankings: Rankings, block: Ranked, starts: Bool, width: Fraction) -> Bool:
    """Return a mask of the starts of tie groups that are at most `width` farther than the one before."""
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
    """Return whether bounds on closeness show that gaps are at most `width`, and where they do not decide.

    A difference that is rounded to something other than the width is on the same side of it, since rounding keeps the
    order. Where it is rounded to the width itself and both sides are known exactly, the sign of the rounding error
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
    """Return whether the exact distances of pairs of items to a query differ by at most `width`."""
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
class Collisions(Answer):
    """The collisions of every query, rank by rank. Printing gives a table of the counts.

    Attributes
    ----------
    kind : (n_query, depth) int8
        A `Kind` for each rank, nearest first.
    relevant : (n_query, depth) bool
        True if the item at that rank is relevant, with the relevant items of a tie first. This order is one of many,
        and only for plots; False beyond the end.
    size : (n_query, depth) int32
        Items in the group that the item at this rank belongs to, beyond the depth too: 1 without a collision, 0 beyond
        the end.
    rule : str
        The rule of collisions: ``"exact"``, ``"within 1e-10"``, or a rounding such as ``"float16 similarity"``.
    """

    kind: NDArray[np.int8] = field(repr=False)
    relevant: Bool = field(repr=False)
    size: NDArray[np.int32] = field(repr=False)
    counts: Counts
    distance: str
    rule: str

    def panels(self) -> list[Panel]:
        """Return groups, items, queries and largest group of each kind."""
        return [_panel(self.distance, self.rule, self.counts)]

    def notes(self) -> list[str]:
        return [_about_ranks(self.counts)]

    def facts(self) -> dict[str, Any]:
        """Return the counts and their options, without the matrices."""
        n_query, depth = self.kind.shape
        about = self._facts_of("distance", "rule") | {"n_query": n_query, "depth": depth}
        return about | {"counts": asdict(self.counts)}


@dataclass(frozen=True, eq=False)
class CollisionTable(Answer, ByName[Counts]):
    """Counts of collisions by distance: `table["cosine"]` is a `Counts`. Printing gives a table.

    Attributes
    ----------
    rules : dict of str to str
        The rule of collisions for each distance: a rounding is of the similarity or of the distance.
    """

    by_distance: dict[str, Counts]
    rules: dict[str, str]

    def __getitem__(self, distance: str) -> Counts:
        """Return the counts for a distance; raises ValueError for one that was not asked for."""
        return self.by_distance[checks.choice(distance, self.by_distance, "distance", ALIASES)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_distance)

    def panels(self) -> list[Panel]:
        """Return a table for each distance: groups, items, queries and largest group of each kind."""
        return [_panel(name, self.rules[name], counts) for name, counts in self.by_distance.items()]

    def notes(self) -> list[str]:
        return [_about_ranks(next(iter(self.by_distance.values())))]

    def facts(self) -> dict[str, Any]:
        return {"distances": {name: {"rule": self.rules[name], "counts": asdict(self[name])} for name in self}}


def _panel(distance: str, rule: str, counts: Counts) -> Panel:
    kinds = {kind: getattr(counts, kind) for kind in ("relevant", "irrelevant", "mixed", "together")}
    columns = [Column(name, [getattr(each, name) for each in kinds.values()], "count") for name in COUNTED]
    columns.insert(0, Column("kind", list(kinds), title=f"{distance}, {rule}"))
    return Panel(columns, key="", part=("distance", distance))


def _about_ranks(counts: Counts) -> str:
    return f"{count(counts.n_query, 'query', 'queries')}, {counts.n_place} ranks examined."


@overload
def collisions(
    task: Task, *, distances: None = None, within: float | None = ..., depth: int | None = ...
) -> Collisions: ...


@overload
def collisions(
    task: Task, *, distances: Iterable[DistanceName], within: float | None = ..., depth: int | None = ...
) -> CollisionTable: ...


@plain_floats
def collisions(
    task: Task,
    *,
    distances: Iterable[DistanceName] | None = None,
    within: float | None = None,
    depth: int | None = None,
) -> Collisions | CollisionTable:
    """Find, for each query and rank, whether the item there collides with a neighbour in rank, and its group.

    Two items collide where their distances to the query are equal: as real numbers, or once rounded to the type that
    `ties` names. With `within`, two neighbours in rank collide where their distances differ by at most that much, and a
    chain of such neighbours is one group, whose ends may lie farther apart than that. The distances are the real
    numbers here too: no rounded value decides.

    Parameters
    ----------
    task : Task
        Made of embeddings, with ties that are exact or rounded. Where rows have several labels, items that share one
        with the query are relevant; grades make no difference. The collisions come rank by rank, in memory that grows
        with n_query · depth, 6 bytes each.
    distances : list of str, optional
        Return the counts alone, for each of these distances instead of the task's, in memory that does not grow with
        the number of queries.
    within : float, optional
        0 or more, in the unit of the distance, taken as the exact number that the float is; 0 is exact ties. It is not
        a `deadheat.Tolerance`, which has no groups: a tolerance moves each relevant item by eps, either way, against
        all others, to see how far a measure can change; `within` links neighbours in rank, relevant or not.
    depth : int, optional
        The number of ranks to examine; by default all of them.

    Returns
    -------
    Collisions or CollisionTable
        Three matrices (n_query, depth) and the counts; with `distances` the counts. **Ties:** lower and upper bounds of
        measures differ only through mixed groups; with `within` above 0 a group need hold no tie at all. A group that
        the depth cuts has the kind and the size of the whole.

    Raises
    ------
    TypeError, ValueError
        If `within` is given together with rounded ties, or `ties` is a tolerance.

    References
    ----------
    Nicolaou et al. 2018, "Non-deterministic Behavior of Ranking-based Metrics when Evaluating Embeddings",
    arXiv:1806.07171, figures 2 and 3.

    Examples
    --------
    Points on a line. Seen from 0, the points 2 and -2 are equally far, one of them relevant; and 3 is within 1 of them:

    >>> from deadheat.analyses.collisions import Kind
    >>> line, labels = [[0], [2], [-2], [3], [9]], ["a", "a", "b", "b", "b"]
    >>> task = Task(line[:1], labels[:1], line[1:], labels[1:], distance="euclidean")
    >>> found = collisions(task)
    >>> [Kind(code).name for code in found.kind[0]]
    ['MIXED', 'MIXED', 'NONE', 'NONE']
    >>> collisions(task, within=1).size
    array([[3, 3, 3, 1]], dtype=int32)
    >>> print(found)
    euclidean, exact  groups  items  queries  largest
    relevant               0      0        0        0
    irrelevant             0      0        0        0
    mixed                  1      2        1        2
    together               1      2        1        2
    <BLANKLINE>
    1 query, 4 ranks examined.

    Seen from (0, 0), the points (3, 4) and (5, 0) are equally far, but not by city block:

    >>> streets = Task([[0, 0]], ["a"], [[3, 4], [5, 0]], ["a", "b"])
    >>> table = collisions(streets, distances=["euclidean", "cityblock"])
    >>> table["euclidean"].mixed.groups, table["cityblock"].mixed.groups
    (1, 0)
    """
    task = rows_of(task, "collisions", several=True)
    most = None if depth is None else checks.positive_integer(depth, "depth")
    width = _width(within, task.options.rule)
    if distances is None:
        counts, rule, matrices = _searched(task, width, most, rank_by_rank=True)
        return Collisions(*matrices, counts, task.options.distance, rule)
    listed = [distances] if isinstance(distances, str) else checks.listed(distances, "distances", "names of distances")
    names = list(dict.fromkeys(distance_registry.named(name, argument="distances") for name in listed))
    if not names:
        raise InvalidValueError("distances", "must name at least one distance, but got none")
    tasks = {name: task.replace(distance=name, checkpoint=None) for name in names}  # which keeps one distance alone
    searched = {name: _searched(each, width, most, rank_by_rank=False)[:2] for name, each in tasks.items()}
    by_distance: dict[str, Counts] = {name: counts for name, (counts, _) in searched.items()}
    return CollisionTable(by_distance, {name: rule for name, (_, rule) in searched.items()})


def _width(within: Any, rule: Ties) -> Fraction | None:
    """Return the largest difference of distances that collides; None for ties alone."""
    if within is None:
        return None
    width = checks.real_number(within, "within", least=0)
    if not isinstance(rule, Exact):
        given = f"{within!r} with ties {rule!r}"
        raise InvalidValueError("within", f"must be left out unless ties are exact, but is {given}")
    return Fraction(width) or None


def _searched(
    task: Task, width: Fraction | None, depth: int | None, *, rank_by_rank: bool
) -> tuple[Counts, str, Matrices]:
    """Return the counts, the rule of collisions and, if asked for, kind, relevance and size rank by rank."""
    options, n_query = task.options, len(task.pair.query.embeddings)
    require_groups(options.rule)
    n_gallery = len((task.pair.gallery or task.pair.query).embeddings)
    n_ranked = options.candidates(n_query, n_gallery, leave_one_out=task.pair.gallery is None).n_ranked()
    most = int(n_ranked.max()) if depth is None else depth
    needed, free = 6 * n_query * most, scratch.available_memory()
    if rank_by_rank and needed > free:
        needs = f"{n_query} queries and {checks.shown(most)} ranks take 6 bytes each"
        needs += f", and {free / 1e9:.1f} GB are free"
        raise InvalidValueError("depth", f"must be so small that the result fits in memory, but {needs}")
    shape = n_query, most if rank_by_rank else 0
    matrices = np.empty(shape, np.int8), np.empty(shape, np.bool_), np.empty(shape, np.int32)
    counts, profile = np.zeros((4, 4), dtype=np.int64), task.profile
    for queries, *groups in of_ties(task) if width is None else of_chains(task, width):
        own = profile[queries]
        relevant, n = (own.offsets, own.closer, own.tied_relevant), own.n_query

        def mark(rows: slice, groups: Any = groups, relevant: Any = relevant, first: int = queries.start) -> Int64:
            own, ends = np.zeros_like(counts), slice(rows.start, rows.stop + 1)
            colliding, hits = ((offsets[ends], *others) for offsets, *others in (groups, relevant))
            some = slice(first + rows.start, min(first + rows.stop, first + len(relevant[0]) - 1))
            marks: Any = tuple(matrix[some] for matrix in matrices)
            _core.mark_collisions(colliding, hits, n_ranked[some], min(most, n_gallery), marks, own)
            return own

        with Workers(options.threads) as workers:
            for part in workers.each(mark, slices(n, -(-n // options.threads))):
                counts[:, :3] += part[:, :3]
                np.maximum(counts[:, 3], part[:, 3], out=counts[:, 3])
    rule = options.rule.describe(options.distance) if width is None else f"within {float(width)!r}"
    return Counts.of_kinds(counts, n_query, int(np.minimum(n_ranked, min(most, n_gallery)).sum())), rule, matrices
