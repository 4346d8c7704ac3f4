"""Orders of the samples and the value of a measure in each: random orders, and those with a low or a high value.

A stable sort leaves the items of a tie group in the order of the samples. So only the mixed tie groups of the queries
depend on that order: in come queries and a gallery, or samples for leave one out, and out goes a `Model`, which gives
the value of a measure for any order of the samples that are ranked.

Where everything is tied in leave one out, the lowest and the highest mAP are known and so are their orders; the proofs
are in docs/studies/exploit.md. Otherwise a search moves samples from several starts. Samples are numbered by class, so
that the core finds what a block of them gains from passing each sample of a class in a few vectors:

    class by class:  tile of queries × all samples ──> tie groups of each sample ──> gains of a block of samples
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

import deadheat._core as _core
from deadheat.engine.count import count as count_pair
from deadheat.engine.counting.label_relevance import LabelRelevance
from deadheat.engine.counting.ranking import Rankings
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.task import Task
from deadheat.errors import InvalidValueError, UndefinedError
from deadheat.measures import values as measure_values
from deadheat.measures.family import Counted, Measure
from deadheat.reports.tables import count
from deadheat.support.arrays import Float64, Int32, Int64, offsets_of, pieces, runs_joined, slices
from deadheat.support.caching import cached_property
from deadheat.support.means import exact_mean
from deadheat.support.progress import Workers, raise_if_cancelled
from deadheat.support.triple import Triple

Report = Callable[[int], None]  # of turns of samples, done
Side = Literal[-1, 1]  # -1 for the lowest value, 1 for the highest

_DRAWS, _TURNS, _STARTS = 0, 1, 2  # streams of random numbers, so that one does not depend on how much another takes
_PROVEN = "mAP"  # the measure whose extremes are known where everything is tied
_MOST_ENTRIES = 1 << 29  # items of all mixed groups
_LANES = 32  # samples of a block, and queries of a tile: the core's `Blocks`
_MOST_GROUPS = 1 << 14  # of a tile: the core's `GroupTile`
_MOST_CARE = 2  # the last of the core's `Care`
_SMALL = 1024  # samples; among more, those of several blocks have their turn at once
_PER_TURN = 96  # of them at most, and a search ends when a round gains less than
_LEAST = 2e-3  # of all that it has gained; among fewer, less than
_ROUNDING = 1e-9
_FEW = 64  # moves of a round; where it had no more, the gains of a block are found anew after each move
_SAME = 1e-13  # two orders that differ in value differ by more: 1/(R n^2) at least, for a mean of precisions
_WORK = 2e7  # places and items of groups that one call examines, about
_SECONDS = 2e-9  # for one place, or one relevant item of a group, that a turn examines, and
_TYPICAL = 10  # rounds of a search
ROUNDS = 50  # turns of all samples in one search; it ends much earlier, with no move left


class Terms(NamedTuple):
    """A measure as a sum over relevant items, scale * count * discount[rank]: `RankSum` in the core.

    The fields are how a relevant item counts (`Counted`) and the discount of each rank; then, for each mixed group, the
    items and the relevant items in front of it, the relevant items of its query, the last rank that counts, the scale.
    """

    counted: int
    discount: Float64
    closer: Int64
    closer_relevant: Int64
    relevant: Int64
    cut: Int64
    scale: Float64

    def values(self, group: Int64, number: Int64, rank: Int64) -> Float64:
        """Return the terms, before scaling, of the relevant items of these numbers at these ranks of their groups."""
        added = self.discount[np.minimum(rank, len(self.discount) - 1)]
        if self.counted == Counted.SO_FAR:
            added = added * number
        counts = rank <= self.cut[group]
        if self.counted == Counted.FIRST:
            counts &= number == 1
        if self.counted == Counted.LAST:
            counts &= number == self.relevant[group]
        return np.where(counts, added, 0.0)


@dataclass(frozen=True, eq=False)
class Model:
    """Mixed tie groups of all queries, whose items follow the order of the samples."""

    relevance: LabelRelevance
    plain_leave_one_out: bool  # every sample is a query and ranked against all others, without junk
    profile: TieProfile
    rankings: Rankings | None  # none where all samples are known to tie: then no group is looked into

    @cached_property
    def layout(self) -> Layout:
        """The numbers of samples and the tiles of queries that the core works with."""
        return layout_of(self.relevance, self.queries)

    @cached_property
    def groups(self) -> _core.MixedGroups:
        """The items of each mixed group, by the numbers of the layout."""
        entries = int(self.sizes.sum())
        if entries > _MOST_ENTRIES:
            rule = f"must hold at most {_MOST_ENTRIES} items in all, for orders to be looked for, but hold {entries}"
            raise InvalidValueError("the mixed tie groups", rule)
        layout, rankings = self.layout, self.rankings
        assert rankings is not None
        first = np.searchsorted(self.queries, np.arange(len(self.profile.n_ranked) + 1))
        everything = np.arange(self.n)
        groups = _core.MixedGroups(layout.numbers, first, rankings.items_of_columns, len(layout.tiles) - 1)

        def enter(tile: int) -> None:
            raise_if_cancelled()
            queries = layout.queries[layout.tiles[tile] : layout.tiles[tile + 1]]
            relevant = self.relevance.of(queries[:, None], everything)
            groups.set(tile, queries, *rankings.columns_of(queries), relevant)

        with Workers(rankings.threads) as workers:
            workers.each(enter, range(len(layout.tiles) - 1))
        return groups

    @property
    def n(self) -> int:
        return len(self.relevance.classes)

    @property
    def codes(self) -> Int32:
        """The class of each sample that is ranked, (n,)."""
        return self.relevance.classes

    @cached_property
    def mixed(self) -> Int64:
        """Places of the mixed groups in the profile."""
        return np.flatnonzero(self.profile.tied > self.profile.tied_relevant)

    @cached_property
    def sizes(self) -> Int64:
        return self.profile.tied[self.mixed]

    @cached_property
    def queries(self) -> Int32:
        """The query of each mixed group."""
        return self.profile.query_of_group[self.mixed].astype(np.int32)

    @cached_property
    def all_tied(self) -> bool:
        """True if every query with a relevant item is equally far from all items that are ranked for it."""
        queries = np.flatnonzero(self.profile.n_relevant)
        groups = self.profile.offsets[queries]
        single_group = np.diff(self.profile.offsets)[queries] == 1
        return bool(single_group.all() and (self.profile.tied[groups] == self.profile.n_ranked[queries]).all())

    @cached_property
    def is_one_ranking(self) -> bool:
        """True if all queries have one class each, and rank all samples, tied, but perhaps themselves."""
        n_ranked = self.profile.n_ranked[self.profile.n_relevant > 0]
        whole = self.plain_leave_one_out or bool((n_ranked == self.n).all())
        return whole and self.all_tied and not self.relevance.several

    def bounds(self, measure: Measure) -> Triple[Float64]:
        """Return lower, expected and upper per query; every order lies between lower and upper."""
        return measure_values.per_query(self.profile, measure)

    def in_order(self, order: Int64) -> TieProfile:
        """Return the profile of the rankings with mixed groups in an order of the samples: no group is mixed.

        Each run of relevant items becomes a group of its own.
        """
        profile, rows, n_run = self.profile, [], np.ones_like(self.profile.tied)
        relevant_slots = self._slots_of_all(order) if self.is_one_ranking else self._slots_of_groups(order)
        for groups, slots in relevant_slots:
            first = offsets_of(profile.tied_relevant[self.mixed[groups]])
            begins = np.diff(slots, prepend=-2) != 1
            begins[first[:-1]] = True
            run = np.flatnonzero(begins)
            group = np.repeat(np.arange(len(first) - 1), np.diff(first))[run]
            whole = self.mixed[groups][group]
            size = np.diff(run, append=len(slots))
            before = profile.closer_relevant[whole] + run - first[group]
            rows.append([profile.closer[whole] + slots[run], before, size, size])
            n_run[self.mixed[groups]] = np.bincount(group, minlength=groups.stop - groups.start)
        columns = profile.closer, profile.closer_relevant, profile.tied, profile.tied_relevant
        out = np.repeat(np.stack(columns), n_run, axis=1)
        of_mixed = np.flatnonzero(np.repeat(profile.tied > profile.tied_relevant, n_run))
        for column, runs in zip(out, zip(*rows, strict=True), strict=False):  # none where no group is mixed
            column[of_mixed] = np.concatenate(runs)
        offsets, (closer, closer_relevant, tied, tied_relevant) = offsets_of(n_run)[profile.offsets], out
        numbers = profile.n_ranked, profile.n_relevant
        return TieProfile(offsets, closer, closer_relevant, tied, tied_relevant, *numbers, check=False)

    def _slots_of_groups(self, order: Int64) -> Iterator[tuple[slice, Int32]]:
        """Yield some mixed groups and the slots of their relevant items, group by group, in an order of the samples."""
        base = offsets_of(self.profile.tied_relevant[self.mixed])
        slots, numbers = np.empty(base[-1], dtype=np.int32), self.layout.numbers[order]
        n_tile = len(self.layout.tiles) - 1
        for tiles in slices(n_tile, 1 + int(n_tile * _WORK / (1 + self.sizes.sum()))):
            self.groups.slots(tiles.start, min(tiles.stop, n_tile), numbers, base, slots)
            raise_if_cancelled()
        for groups in pieces(self.sizes):  # so that arrays of them stay small
            yield groups, slots[base[groups.start] : base[groups.stop]]

    def _slots_of_all(self, order: Int64) -> Iterator[tuple[slice, Int64]]:
        """Yield the same where all samples are one group: the places of the query's class, without its own."""
        position, sizes = np.argsort(order), np.bincount(self.codes)
        of_classes, starts = position[np.lexsort((position, self.codes))], offsets_of(sizes)
        for groups in pieces(self.profile.tied_relevant[self.mixed]):
            queries = self.queries[groups]
            codes = self.relevance.query_classes[queries]
            slots, length = of_classes[runs_joined(starts[codes], sizes[codes])], sizes[codes]
            if self.plain_leave_one_out:
                own = np.repeat(position[queries], length)
                slots = (slots - (slots > own))[slots != own]
            yield groups, slots

    def value(self, order: Int64, measure: Measure, between: Triple[Float64]) -> float:
        """Return the mean of a measure over the queries, in an order of the samples.

        Where all queries reach a bound, the value is that bound, whatever the last bits of their sums are.
        """
        values = measure_values.per_query(self.in_order(order), measure).lower
        for bound in (between.lower, between.upper):
            values = np.where(np.abs(values - bound) <= _SAME, bound, values)
        return exact_mean(np.clip(values, between.lower, between.upper))

    def values(
        self,
        orders: Iterable[Int64],
        measure: Measure,
        between: Triple[Float64],
        threads: int,
        report: Report = lambda turns: None,
    ) -> list[float]:
        """Return the value of each order; `report` is called with the samples of each."""

        def value(order: Int64) -> float:
            one = self.value(order, measure, between)
            report(self.n)
            return one

        _ = self.is_one_ranking or self.groups  # before threads ask for it
        with Workers(threads) as workers:
            return workers.each(value, orders)

    def terms(self, measure: Measure) -> Terms:
        """Return the measure as the sum that the search optimises."""
        query = self.profile.query_of_group[self.mixed]
        relevant, ranked = self.profile.n_relevant[query], self.profile.n_ranked[query]
        counted, discount, scale = measure.row.forms.rank_sum(measure, relevant, ranked, self.n)
        cut = np.full(len(query), measure.limit) if measure.limit else relevant
        closer, before = self.profile.closer[self.mixed], self.profile.closer_relevant[self.mixed]
        return Terms(int(counted), discount, closer, before, relevant, cut, scale)


def open_model(task: Task) -> Model:
    """Return the model of a task."""
    (query, gallery), options = task.pair[:2], task.options
    rankings = Rankings(query.embeddings, gallery and gallery.embeddings, options)
    profile = count_pair(task.pair, options, rankings.metric)
    relevance = LabelRelevance(query.labels, (gallery or query).labels)
    return _model(relevance, profile, rankings, gallery is None, plain=options.junk is None)


def tied_model(labels: NDArray[Any], gallery_labels: NDArray[Any] | None) -> Model:
    """Return the model of rows that are all equal, with one label each."""
    alone = gallery_labels is None
    relevance = LabelRelevance(labels, labels if gallery_labels is None else gallery_labels)
    n_relevant = relevance.n_relevant() - alone
    n_ranked, has = np.full(len(n_relevant), len(relevance.classes) - alone), n_relevant > 0
    zeros, one_group = np.zeros(np.count_nonzero(has), dtype=np.int64), (n_ranked[has], n_relevant[has])
    profile = TieProfile(offsets_of(has), zeros, zeros, *one_group, n_ranked, n_relevant, check=False)
    return _model(relevance, profile, None, alone)


def _model(
    relevance: LabelRelevance, profile: TieProfile, rankings: Rankings | None, alone: bool, plain: bool = True
) -> Model:
    if not profile.n_relevant.any():
        n_query, n_item = profile.n_query, len(relevance.classes)
        given = f"{n_query} samples of as many labels"
        if not alone:
            given = f"{count(n_query, 'query', 'queries')} and {count(n_item, 'gallery item', 'gallery items')}"
        raise UndefinedError(f"no query has a relevant item, so that no measure is defined, but got {given}")
    return Model(relevance, alone and plain, profile, rankings)


class Layout(NamedTuple):
    """Samples that are ranked, numbered by class, and the queries of mixed groups in tiles of a few classes.

    `samples` are those of each number, and `numbers` those of each sample. `tiles` are the starts of the tiles among
    `queries`, and the end of the last one; `blocks` are consecutive numbers, with the tiles of the queries of their
    classes: `Blocks` in the core. Where a row has several labels there are no blocks.
    """

    samples: Int64
    numbers: Int32
    queries: Int64
    tiles: Int64
    blocks: tuple[Int64, Int64, Int64, Int32]


def layout_of(relevance: LabelRelevance, group_queries: Int32) -> Layout:
    """Return the layout of samples for the queries of mixed groups, each as often as it has groups."""
    queries, n_group = np.unique(group_queries.astype(np.int64), return_counts=True)
    samples = np.argsort(relevance.classes, kind="stable")
    numbers = np.argsort(samples).astype(np.int32)
    nobody = np.zeros(0, dtype=np.int64)
    if relevance.several:
        tiles = np.append(np.arange(0, len(queries), _LANES), len(queries))
        return Layout(samples, numbers, queries, tiles, (nobody, nobody, nobody, relevance.classes[samples]))
    by_class = np.argsort(relevance.query_classes[queries], kind="stable")
    queries, n_group = queries[by_class], n_group[by_class]
    n_class = int(relevance.classes.max(initial=-1)) + 1
    of_items = offsets_of(np.bincount(relevance.classes, minlength=n_class))
    of_queries = offsets_of(np.bincount(relevance.query_classes[queries], minlength=n_class))
    of_groups = offsets_of(n_group)[of_queries]
    ends, blocks, first = [0], [], 0  # the tiles, and blocks with their tiles
    limits = (_LANES, _LANES, _MOST_GROUPS)
    while first < n_class:
        last = first + 1
        while last < n_class and all(
            of[last + 1] - of[first] <= most for of, most in zip((of_items, of_queries, of_groups), limits, strict=True)
        ):
            last += 1
        begun = len(ends) - 1
        start, stop = int(of_queries[first]), int(of_queries[last])
        while start < stop:
            start += max(1, int((offsets_of(n_group[start : min(stop, start + _LANES)]) <= _MOST_GROUPS).sum()) - 1)
            ends.append(start)
        for item in range(int(of_items[first]), int(of_items[last]), _LANES):
            blocks.append((item, begun, len(ends) - 1))
        first = last
    starts, begin, end = np.array(blocks, dtype=np.int64).reshape(-1, 3).T.copy()
    starts = np.append(starts, len(samples))
    return Layout(samples, numbers, queries, np.array(ends), (starts, begin, end, relevance.classes[samples]))


class Order(NamedTuple):
    """An order of the samples, (n,), its origin, and whether the search that it is of was stopped."""

    samples: Int64
    source: str
    stopped: bool = False


def random_orders(n: int, count: int, seed: int, stream: int = _DRAWS) -> Iterator[Int64]:
    """Yield orders of n samples, all equally likely: reproducible, and the first ones the same however many follow."""
    for number in range(count):
        keys = np.random.PCG64(np.random.SeedSequence([seed, stream, number])).random_raw(n)
        yield np.argsort(keys, kind="stable")


def in_turns(codes: Int32, rank: Int64 | None = None) -> Int64:
    """Return the order of the first of each class, then the second, and so on; small classes first in each turn.

    `rank` gives the order within a class; by default it is that of the data.

    Examples
    --------
    >>> in_turns(np.array([0, 0, 0, 1, 1, 2]))
    array([5, 3, 0, 4, 1, 2])
    """
    sizes = np.bincount(codes)
    order = np.lexsort((np.arange(len(codes)) if rank is None else rank, codes))
    turn = np.empty(len(codes), dtype=np.int64)
    turn[order] = np.arange(len(codes)) - offsets_of(sizes)[codes[order]]
    return np.lexsort((codes, sizes[codes], turn))


def together(codes: Int32, rank: Int64 | None = None) -> Int64:
    """Return the order with one class after the other, large classes first; singletons come last.

    Examples
    --------
    >>> together(np.array([2, 0, 0, 1, 1, 1]))
    array([3, 4, 5, 1, 2, 0])
    """
    size = np.bincount(codes)[codes]
    return np.lexsort((np.arange(len(codes)) if rank is None else rank, codes, -size))


def proven(model: Model, measure: Measure, side: Side) -> Order | None:
    """Return the order with the lowest or highest value where it is known: mAP, leave one out, everything tied."""
    classes = model.plain_leave_one_out and not model.relevance.several
    if measure.name != _PROVEN or not classes or not model.all_tied:
        return None
    if side < 0:
        return Order(in_turns(model.codes), "proof: the classes in turns, small ones first")
    return Order(together(model.codes), "proof: the classes one after the other, large ones first")


def search(
    model: Model,
    measure: Measure,
    sides: tuple[Side, ...],
    n_search: int,
    seed: int,
    threads: int,
    report: Report = lambda turns: None,
) -> list[list[Order]]:
    """Return, for each side, the orders that searches end in, one for each start; the same for any number of threads.

    An interrupt ends the searches, and their orders are those that they have come to. `report` is called with the turns
    that samples have had: `ROUNDS` of all of them for each search, though most end early.

    Where a row has several labels they are the starts: `improve` knows relevance by class alone.
    """
    terms = model.terms(measure)
    begun = [starts(model, terms, side, n_search, seed) for side in sides]
    if model.relevance.several:
        return begun
    _ = model.groups  # before threads ask for it
    searched = [[Order(start.samples.copy(), f"search from {start.source}") for start in each] for each in begun]

    def climb(task: tuple[Side, Order]) -> None:
        side, order = task
        done = 0
        for parts in improve(model, terms._replace(scale=side * terms.scale), order.samples, seed):
            raise_if_cancelled()
            report(parts)
            done += parts
        report(ROUNDS * model.n - done)

    try:
        with Workers(threads) as workers:
            workers.each(climb, [(side, order) for side, each in zip(sides, searched, strict=True) for order in each])
    except KeyboardInterrupt:
        return [[order._replace(stopped=True) for order in each] for each in searched]
    return searched


def improve(model: Model, terms: Terms, order: Int64, seed: int) -> Iterator[int]:
    """Move samples, and runs of samples of one class, to where they gain most, until little or nothing is gained.

    `order` is changed in place, and is whole whenever this yields, the number of samples that had their turn. Blocks of
    samples take turns in a random order. When a round of single samples moves none, or among more than `_SMALL` samples
    gains little, runs that begin with a sample are moved; when that gains no more either, or after `ROUNDS`, it ends.
    Where moves that are made together lose, they are taken back, and fewer are made without finding the gains anew.
    """
    samples, (first, *_), n = model.layout.samples, model.layout.blocks, model.n
    n_block = len(first) - 1
    many = max(1, int(n_block * min(1 / 64, _PER_TURN / n)))
    current = model.layout.numbers[order]
    searching = _core.OrderSearch(model.groups, current, model.layout.blocks, terms)
    begun = last = searching.value()
    runs, moved, care = False, n, int(n <= _SMALL)  # Care in the core
    for _ in range(ROUNDS):
        singly, moved, before = n <= _SMALL and moved <= _FEW, 0, current.copy()
        per_turn = 1 if care or runs else many
        (turns,) = random_orders(-(-n_block // per_turn), 1, seed, _TURNS)
        for part in slices(len(turns), 1 + int(len(turns) * _WORK / (1 + _of_round(model)))):
            blocks = per_turn * turns[part]
            if runs:
                moved += searching.improve_runs(blocks, care)
            else:
                moved += searching.improve(blocks, per_turn, 2 if singly else care)
            order[:] = samples[current]
            yield int((first[np.minimum(blocks + per_turn, n_block)] - first[blocks]).sum())
        value = searching.value()
        little = _LEAST if n > _SMALL else _ROUNDING
        lost = last - value > max(_ROUNDING * abs(last), little * (last - begun))
        if value < last:
            current[:] = before
            order[:] = samples[current]
            value, care = searching.value(), care + lost
        over = moved == 0 or value - last <= little * (value - begun)
        if (over and runs and not lost) or care > _MOST_CARE:
            break
        runs, last = over and not lost, value


def seconds(model: Model, n_order: int, n_search: int) -> float:
    """Estimate how long it takes to evaluate some orders and to search from others, in one thread."""
    of_orders = 2.0 * n_order * float(model.sizes.sum())
    return _SECONDS * (of_orders + n_search * _TYPICAL * _of_round(model))


def _of_round(model: Model) -> float:
    """Count the places, and the relevant items of groups, that are examined while each sample has a turn."""
    m = model.profile.tied_relevant[model.mixed].astype(np.float64)
    return model.n**2 + float((2 * m * model.sizes).sum() + (2 * model.sizes).sum())


def preferences(model: Model, terms: Terms) -> Float64:
    """Return the gain from placing each sample early, (n,): the mean gain of a pair put in order, over mixed groups."""
    size, m = model.sizes, model.profile.tied_relevant[model.mixed]
    group = np.repeat(np.arange(len(m)), m)
    index = np.arange(len(group)) - offsets_of(m)[group]
    number, first, last = terms.closer_relevant[group] + 1 + index, index, index + (size - m)[group]
    best, worst = (terms.values(group, number, terms.closer[group] + 1 + at) for at in (first, last))
    sums = np.bincount(np.repeat(group, 2), np.stack([best, -worst], axis=1).ravel(), len(m))
    stake = sums * (terms.scale / (m * (size - m)))
    gains = np.zeros(model.n)
    model.groups.sums(stake * (size - m), -stake * m, gains)
    return gains[model.layout.numbers]


def starts(model: Model, terms: Terms, side: Side, n_search: int, seed: int) -> list[Order]:
    """Return the starts of the searches: three that are made for the purpose, the order given, and then random ones."""
    preferred = np.argsort(-side * preferences(model, terms), kind="stable")
    rank = np.argsort(preferred)
    made = [
        Order(preferred, "what the groups prefer"),
        Order(np.arange(model.n), "the order given"),
        Order(together(model.codes, rank), "the classes one after the other"),
        Order(in_turns(model.codes, rank), "the classes in turns"),
    ]
    drawn = random_orders(model.n, max(0, n_search - len(made)), seed, _STARTS)
    return made[:n_search] + [Order(order, "a random order") for order in drawn]
