"""What measuring inside groups gives: the results of some measures, which classes are in which group, and the ties.

In come a report on the queries of all groups, and the draws; out go means over groups, as numbers, tables and files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from deadheat import measures as rank_measures
from deadheat.analyses.grouped.drawing import Draw, Label
from deadheat.analyses.grouped.result import Float64, GroupedResult, table_with_errors
from deadheat.profiles import Int64, TieProfile
from deadheat.reports import Report, render
from deadheat.reports.tables import Table, TabularResult, plain
from deadheat.support.means import exact_mean
from deadheat.support.triple import Triple

_NAMED_LABELS = 10  # labels left over that the text of a report names


@dataclass(frozen=True, eq=False)
class GroupedReport(TabularResult):
    """Measures inside groups of equally many classes, and which classes these are.

    `report["Hit@1"]` is the `GroupedResult` for a measure, under any of its names; one that was not asked for is
    computed from the profile. Printing a report gives a table in per cent, in which ``s.e.`` is the standard error of
    the expected value (under a tolerance, of the lower one); everything else is a fraction in [0, 1].

    Attributes
    ----------
    measures : tuple of str
        The measures that the table shows.
    group_size : int
        Labels in each group.
    seed : int
    labels : tuple of int or str
        The distinct labels, sorted.
    draws : tuple of Draw
        For each repeat the groups and the classes left over, as places in `labels`.
    inside : Report
        The queries of all groups, each ranked against the others of its group; its own means are over queries.
    items : tuple of (n_item,) int64
        The samples in each group, of one repeat after another; the queries of `inside` are these, in order.

    Examples
    --------
    >>> from deadheat import grouped
    >>> print(grouped([[0], [1], [5], [6], [9]], list("aabbc"), group_size=2, distance="euclidean", measures="Hit@1"))
    measure (%)   lower  expected   upper  s.e.
    Hit@1        100.00    100.00  100.00     -
    <BLANKLINE>
    1 group of 2 labels each, drawn with seed 0. 1 of 3 labels left over: 'a'.
    3 queries, 1 of them without a relevant item (a singleton) and left out of the means.
    Ties (euclidean, exact): none decides anything, so lower, expected and upper are one value.
    """

    measures: tuple[str, ...]
    group_size: int
    seed: int
    labels: tuple[Label, ...] = field(repr=False)
    draws: tuple[Draw, ...] = field(repr=False)
    inside: Report = field(repr=False)
    items: tuple[Int64, ...] = field(repr=False)
    _results: dict[str, GroupedResult] = field(default_factory=dict, init=False, repr=False)

    def __getitem__(self, name: str) -> GroupedResult:
        """The result for a measure; raises ValueError for an unknown name."""
        name = rank_measures.parse(name).name
        if name not in self._results:
            offsets = np.cumsum([0, *map(len, self.items)])
            per_group = Triple(*(_means_of_runs(values, offsets) for values in self.inside[name].per_query))
            self._results[name] = GroupedResult(name, per_group, self.n_group, self.repeats)
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    @property
    def profile(self) -> TieProfile:
        """The tie profile of the queries of all groups."""
        return self.inside.profile

    @property
    def repeats(self) -> int:
        """How often groups were drawn."""
        return len(self.draws)

    @property
    def n_group(self) -> int:
        """Groups in each repeat."""
        return len(self.draws[0].groups)

    @property
    def n_class(self) -> int:
        """Distinct labels, those left over included."""
        return len(self.labels)

    @property
    def left_over(self) -> tuple[tuple[Label, ...], ...]:
        """For each repeat, the labels that are in no group, sorted."""
        return tuple(tuple(self.labels[place] for place in np.sort(drawn.left_over)) for drawn in self.draws)

    def group_labels(self, repeat: int = 0) -> tuple[tuple[Label, ...], ...]:
        """The labels of each group of a repeat, in the order in which they were drawn."""
        return tuple(tuple(self.labels[place] for place in group) for group in self.draws[repeat].groups.tolist())

    def to_dict(self) -> dict[str, Any]:
        """The report as plain Python values that JSON can hold; None where a value is undefined."""
        whole = self.inside.to_dict()
        return {
            **{key: whole[key] for key in ("deadheat", "distance", "ties", "singletons", "n_query", "n_singleton")},
            "group_size": self.group_size,
            "n_group": self.n_group,
            "repeats": self.repeats,
            "seed": self.seed,
            "n_class": self.n_class,
            "left_over": [list(labels) for labels in self.left_over],
            "measures": {name: _plain(self[name]) for name in self.measures},
            "profile": whole["profile"],
        }

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """A row a measure: its three values, and the standard error that the table shows."""
        values = {bound: [getattr(self[name], bound) for name in self.measures] for bound in Triple._fields}
        return {"measure": list(self.measures), **values, "standard_error": self._shown_errors()}

    def tables(self) -> list[Table]:
        """A row a measure, in per cent."""
        return [table_with_errors([(name, self[name]) for name in self.measures], self._shown_errors())]

    def notes(self) -> list[str]:
        """How the groups were drawn, what has no value, and what a report says of its queries and ties."""
        undefined = [
            f"{name} has no value in {render.count(self[name].n_undefined, 'group', 'groups')}, left out of its mean."
            for name in self.measures
            if self[name].n_undefined
        ]
        return [f"{self._about_groups()} {self._about_left_over()}", *undefined, *self.inside.notes()]

    def _shown_errors(self) -> list[float]:
        errors = (self[name].errors for name in self.measures)
        return [each.lower if self.profile.bounds_only else each.expected for each in errors]

    def _about_groups(self) -> str:
        often = f", {self.repeats} times over" if self.repeats > 1 else ""
        groups = render.count(self.n_group, "group", "groups")
        return f"{groups} of {self.group_size} labels each, drawn with seed {self.seed}{often}."

    def _about_left_over(self) -> str:
        left_over = self.left_over[0]  # as many in every repeat
        if not left_over:
            return "No label is left over."
        said = f"{len(left_over)} of {render.count(self.n_class, 'label', 'labels')} left over"
        if self.repeats > 1:
            return f"{said} each time."
        named = ", ".join(map(repr, left_over[:_NAMED_LABELS]))
        more = len(left_over) - _NAMED_LABELS
        return f"{said}: {named}{f' and {more} more' if more > 0 else ''}."


def _means_of_runs(values: Float64, offsets: Int64) -> Float64:
    """Correctly rounded means over runs of values, NaN left out."""
    return np.array([exact_mean(values[start:stop]) for start, stop in pairwise(offsets.tolist())])


def _plain(result: GroupedResult) -> dict[str, Any]:
    values = {**{name: getattr(result, name) for name in Triple._fields}, "standard_error": result.errors.expected}
    counts = {"n_group": len(result.per_group.lower) - result.n_undefined, "n_undefined": result.n_undefined}
    return {name: plain(value) for name, value in values.items()} | counts
