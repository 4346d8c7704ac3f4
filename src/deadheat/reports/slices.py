"""Slices: the means of a report for each value of a column, such as question type, language or length class.

In come the results of a report and a value for each query; out go the results of the queries of each value, with their
intervals over the same kind of units, and the mean over slices. A slice of a result is a result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from deadheat.errors import InvalidValueError
from deadheat.inputs import labels as input_labels
from deadheat.inputs.samples import QueryLabels, labels_of_queries
from deadheat.reports.answer import Answer, Caution, Column, Panel
from deadheat.reports.breakdown import plain_label
from deadheat.reports.result import Result
from deadheat.reports.statistics.intervals import NOTHING, Interval, about_few
from deadheat.reports.tables import count, plain
from deadheat.support import checks
from deadheat.support.arrays import Bool
from deadheat.support.caching import cached_property
from deadheat.support.triple import Triple

T = TypeVar("T")

_LISTED = 8  # slices that are named in a caution

OTHER_WEIGHTS = (
    "Means over classes weigh queries differently in each slice, so that one system can be ahead in every slice and "
    "behind in all."
)


@dataclass(frozen=True, eq=False)
class Slices(Answer):
    """The means of a report for each value of a column, their mean over the slices, and the mean over all queries.

    `slices["temporal"]["mAP"]` is the `Result` of a slice.

    Attributes
    ----------
    names : tuple
        The values of the column, in order.
    sizes : tuple of int
        Queries of each.
    results : dict of str to list of Result
        By measure: the result of each slice.
    whole : dict of str to Result
        By measure: the result over all queries.
    """

    names: tuple[Any, ...]
    sizes: tuple[int, ...]
    results: Mapping[str, Sequence[Result]]
    whole: Mapping[str, Result]
    _settings: Mapping[str, Any] = field(repr=False)  # of the intervals
    _average: str = field(repr=False)

    def __getitem__(self, value: Any) -> dict[str, Result]:
        """Return the results of the queries that have a value of the column."""
        return slice_of(self.names, self.results, value)

    @cached_property
    def macro(self) -> dict[str, Triple[float]]:
        """By measure: the mean over slices, each counting once; NaN if any slice has no value."""
        return {measure: macro_mean(results) for measure, results in self.results.items()}

    @cached_property
    def intervals(self) -> dict[str, list[Any]]:
        """By measure: the intervals of each slice, `Intervals`."""
        return {
            measure: [result.interval(**self._settings) for result in results]
            for measure, results in self.results.items()
        }

    def drawn(self, measure: str) -> tuple[list[Any], list[Interval], float]:
        """Return values and intervals of each slice, of their mean (no interval) and of all, and the level."""
        whole, rows = self.whole[measure].interval(**self._settings), self.results[measure]
        ends = [*(each.outer for each in self.intervals[measure]), NOTHING, whole.outer]
        return [*rows, self.macro[measure], self.whole[measure]], ends, whole.confidence_level

    def panels(self) -> list[Panel]:
        """Return one table: a row for each slice, for their mean and for all queries."""
        n_query = next(iter(self.whole.values())).per_query.lower.size
        columns = [
            Column("slice", [*map(str, self.names), "mean of slices", "all"]),
            Column("queries", [*self.sizes, n_query, n_query], "count"),
        ]
        for measure, results in self.results.items():
            whole = self.whole[measure]
            ends = [*(each.expected for each in self.intervals[measure]), NOTHING,
                    whole.interval(**self._settings).expected]  # fmt: skip
            columns += [
                Column(measure, [*results, self.macro[measure], whole], whole.measure.unit, shape="value"),
                Column(f"{measure}_interval", ends, whole.measure.unit, f"{measure}, interval", "interval"),
            ]
        return [Panel(columns, "each", key="")]

    def facts(self) -> dict[str, Any]:
        """Return the means of each slice with their intervals, and those of all queries, by measure."""
        of_slices = [
            {"slice": plain(name), "n_query": self.sizes[i], "measures": {
                measure: {**_ends(rows[i]), "interval": plain(self.intervals[measure][i].expected)}
                for measure, rows in self.results.items()
            }}
            for i, name in enumerate(self.names)
        ]  # fmt: skip
        return {"slices": of_slices, "measures": {name: _ends(result) for name, result in self.whole.items()}}

    def notes(self) -> list[str]:
        """Return the number of slices, the level of the intervals, and cautions about few units."""
        intervals = next(iter(self.intervals.values()))
        level = f"{100 * intervals[0].confidence_level:g} %"
        few = few_units(dict(zip(self.names, intervals, strict=True)))
        other = [OTHER_WEIGHTS] if self._average == "class" else []
        return [f"{count(len(self.names), 'slice', 'slices')}; {level} intervals, each by itself.", *other, *few]


def _ends(result: Result) -> dict[str, float | None]:
    return {end: plain(getattr(result, end)) for end in Triple._fields}


def slice_of(names: Sequence[Any], by_measure: Mapping[str, Sequence[T]], value: Any) -> dict[str, T]:
    """Return by measure what belongs to a value of the column, or raise an error that names the values."""
    try:
        row = names.index(value)
    except ValueError:
        listed = ", ".join(map(checks.shown, names))
        raise InvalidValueError("value", f"must be one of {listed}, but is {checks.shown(value)}") from None
    return {measure: parts[row] for measure, parts in by_measure.items()}


def few_units(intervals: Mapping[Any, Any]) -> list[Caution]:
    """Return one sentence that names the slices with too few units to trust an interval; else none."""
    few = [str(name) for name, interval in intervals.items() if about_few(interval.n, interval.unit)]
    which = ", ".join(few) if len(few) <= _LISTED else f"{len(few)} of {len(intervals)} slices"
    return [Caution(f"{which}: too few units for their intervals and p-values to be trusted.")] if few else []


def macro_mean(results: Sequence[Any]) -> Triple[float]:
    """Return the mean over slices of lower, expected and upper."""
    n = len(results)
    return Triple(*(math.fsum(getattr(result, end) for result in results) / n for end in Triple._fields))


def slice_results(
    results: Sequence[Result], column: QueryLabels, ids: Sequence[str] | None, average: str, settings: Mapping[str, Any]
) -> Slices:
    """Return the slices of results by the values of a column, one for each query or by their `ids`."""
    n_query = len(results[0].per_query.lower)
    names, masks = slices_of(column, n_query, ids)
    by_measure = {result.name: [_restricted(result, mask) for mask in masks] for result in results}
    sizes = tuple(int(mask.sum()) for mask in masks)
    return Slices(tuple(names), sizes, by_measure, {each.name: each for each in results}, dict(settings), average)


def slices_of(column: QueryLabels, n_query: int, ids: Sequence[str] | None) -> tuple[list[Any], list[Bool]]:
    """Return the values of a column in order, and the queries that have each, as masks."""
    values = np.asarray(labels_of_queries(column, n_query, ids))
    numbers = input_labels.label_codes(values)[1]
    names = {plain_label(values[first]): number for number, first in zip(*np.unique(numbers, return_index=True),
             strict=True)}  # fmt: skip
    ordered = sorted(names, key=lambda name: (isinstance(name, str), name))
    return ordered, [np.asarray(numbers == names[name]) for name in ordered]


def _restricted(result: Result, mask: Bool) -> Result:
    """Return a result over some queries; the others have no value."""
    values = Triple(*(np.where(mask, row, np.nan) for row in result.per_query))
    n_query = int(np.count_nonzero(~np.isnan(values.lower)))
    undefined = mask & np.isnan(values.lower) & (result._profile.n_relevant > 0)
    return replace(result, per_query=values, n_query=n_query, n_undefined=int(undefined.sum()))
