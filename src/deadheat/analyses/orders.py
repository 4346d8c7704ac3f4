"""Orders of the samples and the value of a measure in each: random orders, and those with a low or a high value.

A stable sort leaves the items of a tie group in the order of the samples. So only the mixed tie groups of the queries
depend on that order: in come queries and a gallery, or samples for leave one out, and out goes a `Model`, which gives
the value of a measure for any order of the samples that are ranked.

Where everything is tied in leave one out, the lowest and the highest mAP are known and so are their orders; the proofs
are in docs/studies/exploit.md. Otherwise a search moves samples, one by one, from several starts.
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
from deadheat.engine.counting.ranking import Ranked, Rankings
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.task import Task
from deadheat.errors import InvalidValueError, UndefinedError
from deadheat.measures import values as measure_values
from deadheat.measures.family import Counted, Measure
from deadheat.reports.tables import count
from deadheat.support.arrays import Bool, Float64, Int32, Int64, offsets_of, pieces, runs_joined, slices
from deadheat.support.caching import cached_property
from deadheat.support.means import exact_mean
from deadheat.support.progress import Workers, raise_if_cancelled
from deadheat.support.triple import Triple

Report = Callable[[int], None]  # of turns of samples, done
Side = Literal[-1, 1]  # -1 for the lowest value, 1 for the highest

_DRAWS, _TURNS, _STARTS = 0, 1, 2  # streams of random numbers, so that one does not depend on how much another takes
_PROVEN = "mAP"  # the measure whose extremes are known where everything is tied
_MOST_ENTRIES = 1 << 29  # items of all mixed groups
_SAME = 1e-13  # two orders that differ in value differ by more: 1/(R n^2) at least, for a mean of precisions
_WORK = 2e7  # places and items of groups that one call examines, about
_SECONDS = 3e-9  # for one place, or one relevant item of a group, that a turn examines, and
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
    rankings: Iterable[Ranked]

    @cached_property
    def items(self) -> Int32:
        """The items of each mixed group, in the order of the samples as given, (n_entry,)."""
        entries = int(self.sizes.sum())
        if entries > _MOST_ENTRIES:
            rule = f"must hold at most {_MOST_ENTRIES} items in all, for orders to be looked for, but hold {entries}"
            raise InvalidValueError("the mixed tie groups", rule)
        entered = [_entries(block, self.relevance) for block in self.rankings] if entries else []
        return np.concatenate([np.empty(0, dtype=np.int32), *entered])

    @cached_property
    def hits(self) -> Bool:
        """A mask of the relevant ones among `items`."""
        parts = [self.relevant(self.items[self.starts[g.start] : self.starts[g.stop]], g) for g in pieces(self.sizes)]
        return np.concatenate([np.empty(0, dtype=np.bool_), *parts])

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
    def starts(self) -> Int64:
        """The start of each mixed group in `items`, and the end of the last one."""
        return offsets_of(self.sizes)

    @cached_property
    def queries(self) -> Int32:
        """The query of each mixed group."""
        return self.profile.query_of_group[self.mixed].astype(np.int32)

    @property
    def layout(self) -> tuple[Int64, Int32, Int32]:
        """The start of each mixed group, and the classes of its query and of all samples: `MixedGroups` in the core."""
        return self.starts, self.relevance.query_classes[self.queries], self.codes

    @cached_property
    def links(self) -> tuple[Int64, Int32]:
        """The mixed groups that each sample is in: `Links` in the core."""
        groups = np.repeat(np.arange(len(self.mixed), dtype=np.int32), self.sizes)
        return offsets_of(np.bincount(self.items, minlength=self.n)), groups[np.argsort(self.items, kind="stable")]

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

    def relevant(self, items: Int32, groups: slice = slice(None)) -> Bool:
        """Return a mask of the relevant items among those of some mixed groups."""
        return self.relevance.of(np.repeat(self.queries[groups], self.sizes[groups]), items)

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

    def _slots_of_groups(self, order: Int64) -> Iterator[tuple[slice, Int64]]:
        """Yield some mixed groups and the slots of their relevant items, group by group, in an order of the samples."""
        position = np.argsort(order).astype(np.int32)
        for groups in pieces(self.sizes):  # so that arrays of them stay small
            slots = np.empty(int(self.profile.tied_relevant[self.mixed[groups]].sum()), dtype=np.int64)
            _core.relevant_slots(self.starts[groups.start : groups.stop + 1], self.items, self.hits, position, slots)
            raise_if_cancelled()
            yield groups, slots

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

        _ = self.is_one_ranking or self.hits  # before threads ask for it
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
    relevance, alone = (
        LabelRelevance(labels, labels if gallery_labels is None else gallery_labels),
        gallery_labels is None,
    )
    n_relevant = relevance.n_relevant() - alone
    n_ranked, has = np.full(len(n_relevant), len(relevance.classes) - alone), n_relevant > 0
    zeros, one_group = np.zeros(np.count_nonzero(has), dtype=np.int64), (n_ranked[has], n_relevant[has])
    profile = TieProfile(offsets_of(has), zeros, zeros, *one_group, n_ranked, n_relevant, check=False)
    return _model(relevance, profile, (), alone)


def _model(
    relevance: LabelRelevance, profile: TieProfile, rankings: Iterable[Ranked], alone: bool, plain: bool = True
) -> Model:
    if not profile.n_relevant.any():
        n_query, n_item = profile.n_query, len(relevance.classes)
        given = f"{n_query} samples of as many labels"
        if not alone:
            given = f"{count(n_query, 'query', 'queries')} and {count(n_item, 'gallery item', 'gallery items')}"
        raise UndefinedError(f"no query has a relevant item, so that no measure is defined, but got {given}")
    return Model(relevance, alone and plain, profile, rankings)


def _entries(block: Ranked, relevance: LabelRelevance) -> Int32:
    """Return the items of the mixed groups of some queries, nearest group first."""
    items, ranked = block.items, block.items >= 0
    number = (np.arange(len(items))[:, None] * items.shape[1] + block.group)[ranked]
    relevant = relevance.of(block.queries[:, None], items)[ranked]
    tied = np.bincount(number)
    tied_relevant = np.bincount(number[relevant], minlength=len(tied))
    mixed = (tied_relevant > 0) & (tied_relevant < tied)
    return np.asarray(items[ranked][mixed[number]], dtype=np.int32)


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
    side: Side,
    n_search: int,
    seed: int,
    threads: int,
    report: Report = lambda turns: None,
) -> list[Order]:
    """Return the orders that local searches end in, one for each start; the same for any number of threads.

    An interrupt ends the searches, and their orders are those that they have come to. `report` is called with the turns
    that samples have had: `ROUNDS` of all of them for each search, though most end early.

    Where a row has several labels they are the starts: `improve` knows relevance by class alone.
    """
    terms = model.terms(measure)
    begun = starts(model, terms, side, n_search, seed)
    if model.relevance.several:
        return begun
    (turns,) = random_orders(model.n, 1, seed, _TURNS)
    sided = terms._replace(scale=side * terms.scale)
    orders = [Order(start.samples.copy(), f"search from {start.source}") for start in begun]
    _ = model.links

    def climb(order: Order) -> None:
        done = 0
        for parts in improve(model, sided, order.samples, turns):
            raise_if_cancelled()
            report(parts)
            done += parts
        report(ROUNDS * model.n - done)

    try:
        with Workers(threads) as workers:
            workers.each(climb, orders)
    except KeyboardInterrupt:
        return [order._replace(stopped=True) for order in orders]
    return orders


def improve(model: Model, terms: Terms, order: Int64, turns: Int64) -> Iterator[int]:
    """Move samples, and runs of samples of one class, to where they gain most, until nothing is gained but by rounding.

    `order` is changed in place, and is whole whenever this yields, the number of samples that had their turn. Samples
    take turns in the order of `turns`. When a round of single samples moves none, runs that begin with a sample are
    moved; when that moves none either, or after `ROUNDS`, it ends.
    """
    searching = _core.OrderSearch(order, model.layout, model.items, model.links, terms)
    at_once = 1 + int(_WORK / (1 + _of_round(model) / model.n))
    runs = False
    for _ in range(ROUNDS):
        moved = 0
        for part in slices(len(turns), at_once):
            moved += searching.improve(turns[part], runs)
            yield len(turns[part])
        if moved == 0 and runs:
            break
        runs = moved == 0


def seconds(model: Model, n_order: int, n_search: int) -> float:
    """Estimate how long it takes to evaluate some orders and to search from others, in one thread."""
    m = model.profile.tied_relevant[model.mixed].astype(np.float64)
    of_orders = n_order * float((np.minimum(m, 20) * model.sizes).sum())
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
    gains = np.where(model.hits, np.repeat(stake * (size - m), size), np.repeat(-stake * m, size))
    return np.asarray(np.bincount(model.items, gains, model.n), dtype=np.float64)


def starts(model: Model, terms: Terms, side: Side, n_search: int, seed: int) -> list[Order]:
    """Return the starts of the searches: the order given, three that are made for the purpose, and then random ones."""
    preferred = np.argsort(-side * preferences(model, terms), kind="stable")
    rank = np.argsort(preferred)
    made = [
        Order(np.arange(model.n), "the order given"),
        Order(preferred, "what the groups prefer"),
        Order(together(model.codes, rank), "the classes one after the other"),
        Order(in_turns(model.codes, rank), "the classes in turns"),
    ]
    drawn = random_orders(model.n, max(0, n_search - len(made)), seed, _STARTS)
    return made[:n_search] + [Order(order, "a random order") for order in drawn]
