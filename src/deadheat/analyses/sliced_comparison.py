"""Slices of a comparison: the differences for each value of a column, tested over the same kind of units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deadheat.analyses.difference import Difference
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.slices import OTHER_WEIGHTS, few_units, macro_mean, slice_of
from deadheat.reports.statistics.intervals import NOTHING, Interval
from deadheat.reports.statistics.permutation import holm
from deadheat.reports.tables import count, plain
from deadheat.support.caching import cached_property


@dataclass(frozen=True, eq=False)
class SlicedComparison(Answer):
    """A − B for each value of a column, the mean over the slices, and the difference over all queries.

    `slices["temporal"]["mAP"]` is the `Difference` of a slice.

    Attributes
    ----------
    names : tuple
        The values of the column, in order.
    differences : dict of str to list of Difference
        By measure: the difference of each slice.
    whole : dict of str to Difference
        By measure: the difference over all queries.
    """

    names: tuple[Any, ...]
    differences: Mapping[str, Sequence[Difference]] = field(repr=False)
    whole: Mapping[str, Difference] = field(repr=False)

    def __getitem__(self, value: Any) -> dict[str, Difference]:
        """Return the differences of the queries that have a value of the column."""
        return slice_of(self.names, self.differences, value)

    @cached_property
    def pvalues(self) -> dict[str, dict[Any, float]]:
        """By measure: the p-value of each slice, after Holm for all slices."""
        return {
            measure: holm({name: row.pvalue for name, row in zip(self.names, rows, strict=True)})
            for measure, rows in self.differences.items()
        }

    def drawn(self, measure: str) -> tuple[list[Any], list[Interval], float]:
        """Return differences and intervals of each slice, of their mean (no interval) and of all, and the level."""
        rows, whole = self.differences[measure], self.whole[measure]
        ends = [*(row.tested_interval for row in rows), NOTHING, whole.tested_interval]
        return [*rows, macro_mean(rows), whole], ends, whole.test.confidence_level

    def panels(self) -> list[Panel]:
        """Return a table for each measure: a row for each slice, for their mean and for all queries."""
        return [self._panel(measure) for measure in self.differences]

    def _panel(self, measure: str) -> Panel:
        slices, whole = self.differences[measure], self.whole[measure]
        kinds = [whole.measure.unit] * (len(slices) + 2)
        (results, ends, share), (a, b) = self.drawn(measure), whole.names
        level = f"{100 * share:g} % interval"
        of_both = [
            Column(key, [*(getattr(row, key) for row in slices), macro_mean([getattr(row, key) for row in slices]),
                         getattr(whole, key)], "fraction", title, "value", only="table")
            for key, title in (("a", a), ("b", b))
        ]  # fmt: skip
        return Panel([
            Column("slice", [*map(str, self.names), "mean of slices", "all"], title=measure),
            Column("queries", [*(row.n_pair for row in slices), whole.n_pair, whole.n_pair], "count"),
            *of_both,
            Column("", results, "fraction", f"{a} - {b}", "value"),
            Column("", ends, "fraction", level, "interval"),
            Column("pvalue", [*self.pvalues[measure].values(), float("nan"), whole.pvalue], "probability", "p"),
        ], key="", by_name=False, part=("measure", measure), kinds=kinds)  # fmt: skip

    def facts(self) -> dict[str, Any]:
        """Return the differences of each slice, with their adjusted p-values, and those of all queries, by measure."""
        of_slices = [
            {"slice": plain(name), "measures": {
                measure: {**rows[i].to_dict(), "pvalue_adjusted": plain(self.pvalues[measure][name])}
                for measure, rows in self.differences.items()
            }}
            for i, name in enumerate(self.names)
        ]  # fmt: skip
        return {"slices": of_slices, "measures": {name: row.to_dict() for name, row in self.whole.items()}}

    def notes(self) -> list[str]:
        """Return how slices are tested, and cautions about few units."""
        intervals = {
            name: row.interval() for name, row in zip(self.names, next(iter(self.differences.values())), strict=True)
        }
        slices = count(len(self.names), "slice", "slices")
        other = [OTHER_WEIGHTS] if next(iter(self.whole.values())).average == "class" else []
        return [f"p of the slices after Holm for {slices}; intervals each by itself.", *other, *few_units(intervals)]
