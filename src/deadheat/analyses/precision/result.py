"""What `precisions` gives: a report for each format, and how far each is from the embeddings as they were."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from deadheat.analyses.comparison import Comparison, Difference, PairedTest
from deadheat.analyses.precision import formats
from deadheat.reports import Report
from deadheat.reports.tables import DIGITS, Table, TabularResult, columns_of_values, count, decimals, number, plain
from deadheat.support.triple import Triple

_TIES = ("mixed_groups", "queries", "largest")


class Change(NamedTuple):
    """What a format changes in a measure, as fractions: its mean minus that of the embeddings as they were.

    `expected` is the difference of the expected values, and `low` to `high` its confidence interval. `loses_at_most` is
    how far below 0 the interval reaches if every tie falls against the format and for what it is compared with.
    """

    expected: float
    low: float
    high: float
    loses_at_most: float


@dataclass(frozen=True, eq=False)
class Precisions(TabularResult):
    """Reports on the same embeddings in several formats: `precisions["int8"]` is a `Report`, by any name of the format.

    Printing gives a table for each measure, in per cent; everything else is a fraction in [0, 1].

    Attributes
    ----------
    reports : mapping of str to Report
        By format, in the order that was asked for.
    base : str
        The format that the others are compared with.
    dim : int
        How many numbers a vector has.
    distance : str
    measures : tuple of str
    comparisons : mapping of str to Comparison
        Each format, A, against `base`, B: p-values, intervals, wins.
    notices : tuple of str
        Sentences on what a format leaves nothing of.
    """

    reports: Mapping[str, Report]
    base: str
    dim: int
    distance: str
    measures: tuple[str, ...]
    comparisons: Mapping[str, Comparison] = field(repr=False)
    notices: tuple[str, ...] = ()

    def __getitem__(self, format: str) -> Report:
        """The report for a format; raises ValueError for one that was not asked for."""
        return self.reports[formats.asked(format, self.reports)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.reports)

    def __len__(self) -> int:
        return len(self.reports)

    def bytes_per_vector(self, format: str) -> int:
        """What a vector of the gallery takes in a format; see `Format.bytes_per_vector`."""
        name = formats.asked(format, self.reports)
        return formats.FORMATS[name].bytes_per_vector(self.dim, self.distance)

    def difference(self, format: str, measure: str) -> Difference:
        """A format, A, against `base`, B, in a measure: tests, intervals, and what lies between them query by query."""
        return self.comparisons[formats.asked(format, self.reports)][measure]

    def change(self, format: str, measure: str) -> Change:
        """What a format changes in a measure, with a confidence interval over the drawing of queries or classes.

        Where it changes no rank of any query the change is 0, whatever the ties are: they are the same.
        """
        name = formats.asked(format, self.reports)
        if self.reports[name].profile == self.reports[self.base].profile:
            return Change(0.0, 0.0, 0.0, 0.0)
        difference = self.difference(name, measure)
        interval = difference.interval()
        lowest = interval.lower.low
        return Change(difference.expected, *interval.expected, lowest if math.isnan(lowest) else max(0.0, -lowest))

    def to_dict(self) -> dict[str, Any]:
        """By format, its size, its changes and its report (`Report.to_dict`), as plain values that JSON can hold."""
        content = {
            name: {
                "bits": formats.FORMATS[name].bits,
                "bytes": self.bytes_per_vector(name),
                "changes": {measure: plain(self.change(name, measure)._asdict()) for measure in self.measures},
                **report.to_dict(),
            }
            for name, report in self.reports.items()
        }
        about = {"distance": self.distance, "dim": self.dim, "base": self.base, "measures": list(self.measures)}
        return {**about, "test": dict(vars(self._test)), "formats": content}

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """A row a measure and format, in the order of the tables."""
        rows = [(measure, name) for measure in self.measures for name in self.reports]
        results = [self.reports[name][measure] for measure, name in rows]
        ties = [self.reports[name].ties for _, name in rows]
        changes = [self.change(name, measure) for measure, name in rows]
        return {
            "measure": [measure for measure, _ in rows],
            "format": [name for _, name in rows],
            "bits": [formats.FORMATS[name].bits for _, name in rows],
            "bytes": [self.bytes_per_vector(name) for _, name in rows],
            **{bound: [getattr(result, bound) for result in results] for bound in Triple._fields},
            "difference": [change.expected for change in changes],
            **{part: [getattr(change, part) for change in changes] for part in Change._fields[1:]},
            **{part: [getattr(each, part) for each in ties] for part in _TIES},
        }

    @property
    def _test(self) -> PairedTest:
        """How differences are tested, which is the same for all."""
        return self.comparisons[self.base].test

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """A table for each measure, in per cent and percentage points."""
        return [self._table(measure, digits) for measure in self.measures]

    def _table(self, measure: str, digits: int) -> Table:
        level = f"{100 * self._test.confidence_level:g} % interval"
        values, cells = columns_of_values([report[measure] for report in self.reports.values()], digits)
        header = (f"{measure} (%)", "bytes", *values, f"- {self.base}", level, "loses at most")
        rows = [
            [name, str(self.bytes_per_vector(name)), *row, *self._cells(name, measure, digits)]
            for name, row in zip(self.reports, cells, strict=True)
        ]
        return Table(header, rows)

    def _cells(self, name: str, measure: str, digits: int) -> list[str]:
        """The change in percentage points; what is lost at most is rounded up."""
        if name == self.base:
            return ["", "", ""]
        change, form = self.change(name, measure), f"z{decimals(digits)}"  # no minus before a zero
        low, high = (format(100 * end, form) for end in (change.low, change.high))
        interval = "-" if math.isnan(change.low) else f"[{low}, {high}]"
        return [number(100 * change.expected, form), interval, number(_up(100 * change.loses_at_most, digits), form)]

    def notes(self) -> list[str]:
        """What the columns mean that are not a measure's own."""
        units = "classes" if self._test.resample == "class" else "queries"
        return [
            f"Bytes: of a vector of the gallery, {count(self.dim, 'number', 'numbers')}.",
            f"- {self.base}: of the expected values, in points. Interval: paired bootstrap ({self._test.method}) over "
            f"{units}.",
            f"Loses at most: the low end of the interval, with every tie against the format and for {self.base}.",
            *self.notices,
        ]


def _up(value: float, digits: int) -> float:
    """A number rounded up to so many decimals."""
    return value if math.isnan(value) else math.ceil(value * 10**digits) / 10**digits
