"""What `index_recall` gives: the recall of every index, of one setting or another, in one table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from deadheat.reports.tables import DIGITS, Table, TabularResult, count, decimals, number, plain, program, value
from deadheat.statistics.interval import Interval
from deadheat.statistics.intervals import mean_interval
from deadheat.support.arrays import Float64, Int64
from deadheat.support.floats import PlainFloats
from deadheat.support.means import exact_mean
from deadheat.support.triple import Triple


@dataclass(frozen=True, eq=False)
class Recall(PlainFloats):
    """The recall of one index: means as fractions in [0, 1], and the values that they are means of.

    Attributes
    ----------
    name : str
    per_query : (n_query,)
        The share of the k true neighbours that were returned, where any item that ties with the k-th may be one of
        them. **Undefined:** NaN for a query without anything to find.
    by_id : Triple of (n_query,)
        The same for comparing ids with those of one exact search: lower, expected and upper over all the ways in which
        that search may break the tie at the k-th place. `upper` is `per_query`.
    n_returned : (n_query,)
        How many items came back for each query, of the k that count.
    queries_per_second : float
        As the caller gave it; NaN if it was not given.
    """

    name: str
    by_id: Triple[Float64] = field(repr=False)
    n_returned: Int64 = field(repr=False)
    queries_per_second: float = math.nan

    @property
    def per_query(self) -> Float64:
        return self.by_id.upper

    @cached_property
    def recall(self) -> float:
        """The mean over queries."""
        return exact_mean(self.per_query)

    @cached_property
    def recall_by_id(self) -> Triple[float]:
        """The means of `by_id`."""
        return Triple(*map(exact_mean, self.by_id))

    @cached_property
    def all_found(self) -> float:
        """The share of the queries with recall 1."""
        defined = self.per_query[~np.isnan(self.per_query)]
        return float(np.count_nonzero(defined == 1)) / len(defined) if len(defined) else math.nan

    def interval(
        self, *, confidence_level: float = 0.95, method: str = "percentile", n_resamples: int = 9999, seed: int = 0
    ) -> Interval:
        """A confidence interval for the mean recall over the queries that these were drawn from.

        Parameters are those of `deadheat.statistics.intervals.mean_interval`. The index and its base stay as they are.
        """
        return mean_interval(
            self.per_query, confidence_level=confidence_level, method=method, n_resamples=n_resamples, seed=seed
        ).within(0, 1)


@dataclass(frozen=True, eq=False)
class IndexRecall(TabularResult):
    """The recall of every index by its name: ``result["hnsw"]`` is a `Recall`.

    Printing gives a table in per cent; everything else is a fraction in [0, 1].

    Attributes
    ----------
    recalls : mapping of str to Recall
        In the order in which they were given.
    k : int
        How many neighbours are to be found.
    distance : str
    n_query, n_base : int
    n_tied : int
        Queries for which more items tie with the k-th than there are places, so that ids alone do not tell.
    """

    recalls: Mapping[str, Recall]
    k: int
    distance: str
    n_query: int
    n_base: int
    n_tied: int

    def __getitem__(self, name: str) -> Recall:
        return self.recalls[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.recalls)

    def __len__(self) -> int:
        return len(self.recalls)

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """One table: a row for each index, in per cent."""
        found, form = self.recalls.values(), decimals(digits)
        columns = {
            "index": list(self.recalls),
            f"recall@{self.k} (%)": [number(100 * each.recall, form) for each in found],
            "95 % interval": [each.interval().per_cent(digits) for each in found],
            "all found": [number(100 * each.all_found, form) for each in found],
        }
        if self.n_tied:
            columns["by id"] = [value(each.recall_by_id, digits) for each in found]
        if not all(math.isnan(each.queries_per_second) for each in found):
            columns["queries/s"] = [number(each.queries_per_second, ",.0f") for each in found]
        return [Table(list(columns), list(zip(*columns.values(), strict=True)))]

    def notes(self) -> list[str]:
        """What was searched, what ties do, and where less than k came back."""
        rows = count(self.n_query, "query", "queries")
        notes = [f"{rows}, {self.k} nearest of {self.n_base:,} by an exact search ({self.distance})."]
        if self.n_tied:
            tied = count(self.n_tied, "query", "queries")
            notes.append(
                f"In {tied} others tie with number {self.k}: each of them counts as found here; comparing ids counts "
                "those that one search happened to keep (by id: expected [lowest, highest])."
            )
        short = {name: int(np.count_nonzero(each.n_returned < self.k)) for name, each in self.recalls.items()}
        notes += [f"{name}: fewer than {self.k} came back for {n} of them." for name, n in short.items() if n]
        return notes

    def to_dict(self) -> dict[str, Any]:
        """The result as plain Python values that JSON can hold; None where a value is undefined."""
        columns = {name: values for name, values in self.columns().items() if name != "index"}
        rows = {name: {key: plain(values[i]) for key, values in columns.items()} for i, name in enumerate(self)}
        about = {name: getattr(self, name) for name in ("k", "distance", "n_query", "n_base", "n_tied")}
        return {"deadheat": program(), **about, "indexes": rows}

    def columns(self) -> dict[str, list[Any]]:
        """A row an index: fractions, NaN where a value is undefined."""
        found = self.recalls.values()
        intervals = [each.interval() for each in found]
        return {
            "index": list(self.recalls),
            "recall": [each.recall for each in found],
            "low": [each.low for each in intervals],
            "high": [each.high for each in intervals],
            "all_found": [each.all_found for each in found],
            **{f"by_id_{end}": [getattr(each.recall_by_id, end) for each in found] for end in Triple._fields},
            "queries_per_second": [each.queries_per_second for each in found],
        }
