"""Breakdowns of the means of a report, worst first: a row for each class, or for each query.

In come the values of the queries; out go tables as of every result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InvalidValueError
from deadheat.measures.family import Unit
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.result import Result
from deadheat.reports.tables import count
from deadheat.support.arrays import Float64, Int64, offsets_of
from deadheat.support.means import exact_means_of_runs
from deadheat.support.triple import Triple


@dataclass(frozen=True, eq=False)
class Breakdown(Answer):
    """Classes or queries of a report: worst first (`by_class`, `worst`), or queries in order (`by_query`).

    Printing gives a table in per cent, in which a cell is one number where lower and upper are equal and otherwise the
    expected value with ``[lower, upper]``; all else holds fractions in [0, 1].

    Attributes
    ----------
    rows : dict of str to list
        The columns that identify the rows: ``class`` and ``queries``, or ``query``, ``label`` and ``relevant``.
    per_row : dict of str to Triple
        The values by measure: arrays `lower`, `expected` and `upper`, (n_row,), NaN where undefined.
    sentences : tuple of str
        The number of rows shown, out of how many, and their order.
    units : dict of str to str
        The units of measures that are no fractions.
    """

    rows: Mapping[str, Sequence[Any]]
    per_row: Mapping[str, Triple[Float64]]
    sentences: tuple[str, ...]
    units: Mapping[str, Unit] = field(default_factory=dict)

    def panels(self) -> list[Panel]:
        """Return one table: a row for each class or query, a column for each measure."""
        what = [Column(name, values, "text" if name != "queries" else "count") for name, values in self.rows.items()]
        kinds = {name: self.units.get(name, "fraction") for name in self.per_row}
        values = [Column(name, triples(each), kinds[name], shape="value") for name, each in self.per_row.items()]
        return [Panel([*what, *values], "each", key="rows", by_name=False)]

    def notes(self) -> list[str]:
        """Return the number of rows shown, out of how many, and their order."""
        return list(self.sentences)


def by_class(results: Sequence[Result], classes: Int64, labels: NDArray[Any], n: int | None) -> Breakdown:
    """Return the mean of each measure over the queries of each class, worst class by the first measure first.

    `classes` are the numbers of the queries' classes, from 0; `n` is how many classes to show, None for all.
    """
    for result in results:
        if result.measure.median:
            rule = f"must be means over the queries of a class, but {result.name} is a median"
            raise InvalidValueError("measures", rule)
    numbers, first, sizes = np.unique(classes, return_index=True, return_counts=True)
    names = [plain_label(labels[query]) for query in first.tolist()]
    by_name = np.array(sorted(range(len(numbers)), key=names.__getitem__))  # whatever the order of the samples is
    queries, ends = np.argsort(classes, kind="stable"), offsets_of(sizes)
    means = {result.name: _means_of_runs(result, queries, ends) for result in results}
    deciding = means[results[0].name]
    worst_first = _worst_first(Triple(*(row[by_name] for row in deciding)), results[0].measure.sign)
    shown = by_name[worst_first][:n]
    undefined = int(np.isnan(deciding.lower).sum())
    left = f"; {undefined} without a value at the end" if undefined else ""
    title = f"{len(shown)} of {count(len(names), 'class', 'classes')}, worst {results[0].name} first{left}."
    rows = {"class": [names[number] for number in shown.tolist()], "queries": sizes[shown].tolist()}
    return Breakdown(rows, _taken(means, shown), (title,), _units(results))


def by_query(results: Sequence[Result], about: Mapping[str, NDArray[Any]], n: int | None = None) -> Breakdown:
    """Return the n queries with the lowest values of the first measure, or all queries in order without `n`.

    `about` has the columns that identify them.
    """
    name, values = results[0].name, results[0].per_query
    n_query, undefined = len(values.lower), int(np.isnan(values.lower).sum())
    queries = count(n_query, "query", "queries")
    if n is None:
        shown = np.arange(n_query)
        title = f"{queries}{f', {undefined} of them without a value of {name}' if undefined else ''}."
    else:
        shown = _worst_first(values, results[0].measure.sign)[: min(n, n_query - undefined)]
        left = f"; {undefined} without a value left out" if undefined else ""
        title = f"{len(shown)} of {queries}, worst {name} first{left}."
    rows = {name: [plain_label(label) for label in column[shown]] for name, column in about.items()}
    return Breakdown(
        rows, _taken({result.name: result.per_query for result in results}, shown), (title,), _units(results)
    )


def _units(results: Sequence[Result]) -> dict[str, Unit]:
    return {result.name: result.measure.unit for result in results if result.measure.unit != "fraction"}


def _means_of_runs(result: Result, queries: Int64, ends: Int64) -> Triple[Float64]:
    """Return the means over runs of queries, weighted as those of the result are."""
    rows, weights = Triple(*(row[queries] for row in result.per_query)), result._averaging.weights
    if weights is None:
        return exact_means_of_runs(rows, ends)
    known = np.where(np.isnan(rows.lower), np.nan, weights[queries])
    sums, total = exact_means_of_runs(Triple(*(known * row for row in rows)), ends), Triple(known, known, known)
    return Triple(*(row / exact_means_of_runs(total, ends).lower for row in sums))


def _taken(values: Mapping[str, Triple[Float64]], rows: Int64) -> dict[str, Triple[Float64]]:
    return {name: Triple(*(row[rows] for row in triple)) for name, triple in values.items()}


def _worst_first(values: Triple[Float64], sign: int) -> Int64:
    """Sort positions by the expected value, worst first, or by the worst bound where there is none; NaN comes last."""
    worst, best = (values.lower, values.upper)[::sign]
    middle = np.where(np.isnan(values.expected), worst, values.expected)
    return np.lexsort((sign * best, sign * worst, sign * middle))


def triples(values: Triple[Float64]) -> list[Triple[float]]:
    return [Triple(*each) for each in zip(*(row.tolist() for row in values), strict=True)]


def plain_label(label: Any) -> Any:
    label = label.item() if isinstance(label, np.generic) else label
    return label.decode("utf-8", "backslashreplace") if isinstance(label, bytes) else label
