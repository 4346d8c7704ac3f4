"""Data that all blocks of a pass share, as the core reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import deadheat._core as _core
from deadheat.engine.counting.candidates import Relevance
from deadheat.engine.distances.distance import Distance
from deadheat.engine.ties.rule import Ties
from deadheat.support.arrays import Int64, offsets_of
from deadheat.support.caching import cached_property

LEAST_FOR_INT8 = 1 << 22  # pairs of queries and columns, for which it pays to look whether the int8 filter leaves few

_NO_ITEMS = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)


class RankingProblem:
    """The distance, the rule for ties (and more of them, none exact), relevance, and the weight of each column.

    The columns of each class are in CSR form: `class_keys` holds class · n_column + column, ascending, and
    `class_count` the number of ranked items of the class in that column.
    """

    def __init__(self, distance: Distance, rule: Ties, relevance: Relevance, *more: Ties) -> None:
        self.distance, self.rule, self.relevance, self.rules = distance, rule, relevance, (rule, *more)
        self.n_column = len(distance.columns)
        ranked = np.flatnonzero(relevance.candidates.ranked)
        column = distance.columns.column_of_item[ranked]
        self.weight = np.bincount(column, minlength=self.n_column).astype(np.int32)  # ranked items in each column
        self.plain = bool((self.weight == 1).all())
        classes, items = relevance.members()
        keys = classes * self.n_column + distance.columns.column_of_item[items]
        self.class_keys, self.class_count = np.unique(keys, return_counts=True)
        self.class_start = np.searchsorted(self.class_keys, np.arange(relevance.n_class + 1) * self.n_column)

    def in_core(self, distance: Distance | None = None) -> Any:
        """Return the counting pass of the core; `distance` may be the same distance at other levels."""
        distance, relevance, candidates = distance or self.distance, self.relevance, self.relevance.candidates
        sharing = relevance.sharing
        problem = _core.Problem(
            scores=distance.scores, exact=distance.exact,
            rule=None if self.rule.exact_only else _core.PythonRule(_grouping(distance, self.rules)),
            patterns=None if distance.patterns is None else distance.patterns.in_core(),
            weight=self.weight, plain=self.plain, class_columns=(self.class_start, self.class_keys, self.class_count),
            query_class=relevance.query_class, gallery_class=relevance.gallery_class,
            column_of_item=distance.columns.column_of_item, ranked=candidates.ranked, junk=candidates.junk,
            itself=candidates.itself, items=_NO_ITEMS if candidates.junk is None else self.items_of_columns,
            least_for_int8=LEAST_FOR_INT8, query_labels=None if sharing is None else sharing.labels,
            item_labels=None if sharing is None else sharing.gallery_labels,
        )  # fmt: skip
        return _core.Pass(problem)

    @cached_property
    def items_of_columns(self) -> tuple[Int64, Int64]:
        """Ranked items of each column, ascending, in CSR form: offsets, and the items of one column after another's."""
        ranked, column_of_item = np.flatnonzero(self.relevance.candidates.ranked), self.distance.columns.column_of_item
        items = ranked[np.argsort(column_of_item[ranked], kind="stable")]
        return offsets_of(self.weight), items

    @cached_property
    def width(self) -> Int64:
        """Number of columns with items of each query's class."""
        if self.relevance.sharing is not None:
            return self.relevance.sharing.n_sharing
        classes = self.relevance.query_class
        return np.where(classes >= 0, np.diff(self.class_start)[classes], 0)

    @cached_property
    def most_groups(self) -> Int64:
        """Most groups that each query can have: the columns of its class, less one that holds only the query itself."""
        relevance, candidates = self.relevance, self.relevance.candidates
        if relevance.sharing is not None:
            return relevance.sharing.n_sharing
        item = candidates.itself_of(np.arange(candidates.n_query))
        own = (item >= 0) & candidates.ranked[item] & (relevance.gallery_class[item] == relevance.query_class)
        query, item = np.flatnonzero(own), item[own]
        most = self.width.copy()
        if (self.class_count == 1).all():  # which saves 2 ms of one thread at 20,000 queries
            most[query] -= 1
            return most
        keys = relevance.query_class[query] * self.n_column + self.distance.columns.column_of_item[item]
        most[query] -= self.class_count[np.searchsorted(self.class_keys, keys)] == 1
        return most


def _grouping(distance: Distance, rules: Sequence[Ties]) -> Callable[[_core.RelevantItems], Any]:
    """Return a function for the core that applies rules in Python: groups, cuts, and decisions on undecided items."""

    def by(rule: Ties, relevant: _core.RelevantItems) -> Any:
        groups = rule.group(distance, relevant)
        cuts = rule.cuts(distance, groups)
        queries = groups.queries

        def decide(counter: int, *, rows: Int64, columns: Int64, low: Int64, high: Int64) -> Int64:
            return cuts[counter].count_below(rows, distance.exact_closeness(queries[rows], columns), low, high)

        in_core = [
            _core.CutBounds(low=each.low, high=each.high, per_interval=each.per_interval, sharp=each.sharp)
            for each in cuts
        ]
        return groups, in_core, decide

    def group(relevant: _core.RelevantItems) -> Any:
        return [by(rule, _copy(relevant)) for rule in rules[:-1]] + [by(rules[-1], relevant)]

    return group


def _copy(relevant: _core.RelevantItems) -> _core.RelevantItems:
    names = ("queries", "columns", "count", "irrelevant", "score", "bound")
    return _core.RelevantItems(**{name: getattr(relevant, name) for name in names})
