"""The same embeddings in fewer bits: values of a measure, a limit on the loss, and the number of ties.

In come embeddings and labels; out go embeddings whose numbers have been rounded, or a report on these for each format.
Here the embeddings are rounded. `ties="float16"` of `deadheat.evaluate` rounds the scores instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deadheat.analyses.comparison import Comparison, compare
from deadheat.analyses.difference import Difference, PairedTest
from deadheat.analyses.rounding import (
    DEFAULT,
    FORMATS,
    Rounding,
    StorageFormat,
    format_name,
    formats_named,
    quantized,
    require_finite,
)
from deadheat.engine import exact
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.task import Task, rows_of, with_rows
from deadheat.errors import InvalidValueError
from deadheat.inputs import arrays
from deadheat.inputs.samples import Pair, Samples
from deadheat.inputs.source import Array, Source
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.averaging import Average, Singletons, SummaryOptions, fractions
from deadheat.reports.evaluating import report_of
from deadheat.reports.report import Report
from deadheat.reports.statistics.intervals import Interval
from deadheat.reports.tables import DIGITS, count, plain
from deadheat.support.arrays import Float64
from deadheat.support.floats import plain_floats

__all__ = ["FORMATS", "FormatComparison", "StorageFormat", "compare_formats", "quantized"]


def __dir__() -> list[str]:
    return __all__


MEASURES = ("mAP", "Hit@1")
_TIES = ("mixed_groups", "queries", "largest")


class Change(NamedTuple):
    """Change of a measure by a format, as fractions: its mean minus that of the base format.

    `expected` is the difference of the expected values, and `low` to `high` its confidence interval. `loses_at_most` is
    a confidence limit: how far below 0 the interval reaches if every tie falls against the format and in favour of the
    base.
    """

    expected: float
    low: float
    high: float
    loses_at_most: float


@dataclass(frozen=True, eq=False)
class FormatComparison(Answer):
    """Reports on the same embeddings in several formats: `comparison["int8"]` is a `Report`, by any name of the format.

    Printing gives a table for each measure, in per cent; everything else is a fraction in [0, 1].

    Attributes
    ----------
    reports : mapping of str to Report
        By format, in the order that was asked for.
    base : str
        The format that the others are compared with.
    dim : int
        The number of dimensions.
    comparisons : mapping of str to Comparison
        Each format, A, against `base`, B: p-values, intervals, wins.
    notices : tuple of str
        Sentences on formats that were left out, or in which all vectors are equal.
    """

    reports: Mapping[str, Report]
    base: str
    dim: int
    distance: str
    measures: tuple[str, ...]
    comparisons: Mapping[str, Comparison] = field(repr=False)
    notices: tuple[str, ...] = ()

    def __getitem__(self, format: str) -> Report:
        """Return the report for a format; raises ValueError for one that was not asked for."""
        return self.reports[format_name(format, self.reports)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.reports)

    def __len__(self) -> int:
        return len(self.reports)

    def bytes_per_vector(self, format: str) -> int:
        """Return the bytes of a gallery vector in a format; see `StorageFormat.bytes_per_vector`."""
        name = format_name(format, self.reports)
        return FORMATS[name].bytes_per_vector(self.dim, self.distance)

    def difference(self, format: str, measure: str) -> Difference:
        """Return the difference of a format, A, and `base`, B, in a measure: tests, intervals, and values per query."""
        return self.comparisons[format_name(format, self.reports)][measure]

    def change(self, format: str, measure: str) -> Change:
        """Return the change of a measure by a format, with a confidence interval over queries or classes.

        If a format changes no rank of any query, the change is 0: the ties of both are the same.
        """
        name = format_name(format, self.reports)
        if self.reports[name].profile == self.reports[self.base].profile:
            return Change(0.0, 0.0, 0.0, 0.0)
        difference = self.difference(name, measure)
        interval = difference.interval()
        lowest = interval.lower.low
        return Change(difference.expected, *interval.expected, lowest if math.isnan(lowest) else max(0.0, -lowest))

    def panels(self) -> list[Panel]:
        """Return a table for each measure, in per cent and percentage points; the limit on the loss is rounded up."""
        level, reports, panels = f"{100 * self._test.confidence_level:g} % interval", self.reports.values(), []
        ties = [[getattr(report.ties, name) for report in reports] for name in _TIES]
        for measure in self.measures:
            changes = [self.change(name, measure) for name in self.reports]
            losses = [change.loses_at_most for change in changes]
            panels.append(Panel([
                Column("format", list(self.reports), title=f"{measure} (%)"),
                Column("bits", [FORMATS[name].bits for name in self.reports], "bits", only="data"),
                Column("bytes", [self.bytes_per_vector(name) for name in self.reports], "bytes"),
                Column("", [report[measure] for report in reports], "fraction", shape="bounds"),
                Column("difference", [change.expected for change in changes], "fraction", f"- {self.base}"),
                Column("", [Interval(change.low, change.high) for change in changes], "fraction", level, "interval"),
                Column("loses_at_most", list(map(_rounded_up, losses)), "fraction", only="table"),
                Column("loses_at_most", losses, "fraction", only="data"),
                *(Column(name, counts, "count", only="data") for name, counts in zip(_TIES, ties, strict=True)),
            ], key="", part=("measure", measure)))  # fmt: skip
        return panels

    def facts(self) -> dict[str, Any]:
        """Return size, changes and report of each format, and the settings of the tests."""
        content = {
            name: {
                "bits": FORMATS[name].bits,
                "bytes": self.bytes_per_vector(name),
                "changes": {measure: plain(self.change(name, measure)._asdict()) for measure in self.measures},
                **report.to_dict(),
            }
            for name, report in self.reports.items()
        }
        return self._facts_of("distance", "dim", "base") | {"test": dict(vars(self._test)), "formats": content}

    @property
    def _test(self) -> PairedTest:
        """Settings of the paired tests, the same for all formats."""
        return self.comparisons[self.base].test

    def notes(self) -> list[str]:
        """Explain the columns other than the values of a measure."""
        units = "classes" if self._test.resample == "class" else "queries"
        return [
            f"Bytes: of a vector of the gallery, {count(self.dim, 'number', 'numbers')}.",
            f"- {self.base}: of the expected values, in points. Interval: paired bootstrap ({self._test.method}) over "
            f"{units}.",
            "Loses at most: a confidence limit, the low end of the interval with every tie against the format and for "
            f"{self.base}.",
            *self.notices,
        ]


def _rounded_up(loss: float) -> float:
    """Round a limit up to the decimals of a table."""
    return loss if math.isnan(loss) else math.ceil(loss * 10 ** (DIGITS + 2)) / 10 ** (DIGITS + 2)


@plain_floats
def compare_formats(
    task: Task,
    *,
    formats: str | Iterable[str] | None = None,
    base: str | None = None,
    measures: str | Iterable[str] | None = MEASURES,
    threshold: ArrayLike | str = 0.0,
    singletons: Singletons = "skip",
    average: Average = "query",
    resample: Average | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    seed: int = 0,
) -> FormatComparison:
    """Evaluate the same embeddings in several formats, with a confidence limit on the loss of each.

    Parameters
    ----------
    task : Task
        Made of embeddings, which are loaded into memory. Scales are those of queries and gallery together.
    formats : str or iterable of str, optional
        The formats to round to: names as for `quantized`, or one string with commas between them. "(float query)" after
        a format with int8 or one bit, such as "int8 (float query)", leaves queries in float32 (minus `threshold` for
        one bit), and rounds the gallery alone. By default float32, bfloat16, float16, int8, int8 per dimension, int8
        per vector, int8 (float query) and 1 bit, except types too short for the largest number.
    base : str, optional
        The format that the others are compared with, which comes first if it is not among `formats`. By default the
        embeddings as they are: "float32" where that holds every number, and else "float64".
    measures : str or iterable of str, optional
        Names such as ``"mAP"``, or one string with commas between them; by default mAP and Hit@1.
    threshold : float, (dim,) array, "mean" or "median", optional
        For "1 bit": see `quantized`.
    singletons : {"skip", "zero", "one", "balanced"}
        The value of a query without a relevant item: none; 0; 1; or 0 for measures of the precision kind and 1 for
        those of the recall kind.
    average : {"query", "class"}
        The units of means: queries, or classes, each by the mean over its queries.
    resample : {"query", "class"}, optional
        The independent units, which tests swap and the bootstrap draws: queries, or whole classes. By default classes,
        if labels are known and there is no separate gallery, since the queries of a class are then correlated.
    confidence_level : float
        The level of each single interval, strictly between 0 and 1.
    n_resamples : int
        The number of bootstrap resamples, and of random swaps in a permutation test.
    seed : int
        The seed of all random draws. The same seed gives the same result on any machine.

    Raises
    ------
    TypeError, ValueError
        For one bit with float queries under another distance than cosine and inner product, as a bit has no length.

    Notes
    -----
    Ties: distances of the rounded numbers are compared exactly. That is the least effect of rounding the embedding; a
    system that also rounds its scores has more ties, and ``ties="float16"`` adds these.

    Examples
    --------
    The second number is nearer to the first than the third is. In eight bits the two are 13 and −13 steps from it, and
    one bit shows only that one is above and the other below:

    >>> task = Task([[0.0], [0.1], [-0.105], [1.0]], ["a", "a", "b", "b"], distance="euclidean")
    >>> found = compare_formats(task, formats="float64, int8, binary", measures="mAP", resample="query")
    >>> print(found)
    mAP (%)  bytes  lower  expected  upper  - float64    95 % interval  loses at most
    float64      8  66.67     66.67  66.67       0.00     [0.00, 0.00]           0.00
    int8         1  54.17     60.42  66.67      -6.25   [-60.24, 0.00]          60.24
    1 bit        1  41.67     61.11  83.33      -5.56  [-25.00, 27.78]          50.00
    <BLANKLINE>
    Bytes: of a vector of the gallery, 1 number.
    - float64: of the expected values, in points. Interval: paired bootstrap (percentile) over queries.
    Loses at most: a confidence limit, the low end of the interval with every tie against the format and for float64.
    """
    summary = SummaryOptions.checked(fractions(measures), singletons, average)
    test: dict[str, Any] = {"resample": resample, "confidence_level": confidence_level, "n_resamples": n_resamples}
    test["seed"] = seed
    PairedTest(**test)  # before any work
    task = rows_of(task, "formats", several=True)
    pair, options = task.pair, task.options
    distance_registry.named(options.distance, takes="numbers")
    asked = None if formats is None else formats_named(formats)
    first = None if base is None else FORMATS[format_name(base, argument="base")]
    query, items = _whole(pair.query), None if pair.gallery is None else _whole(pair.gallery)
    if items is not None:
        arrays.require_same_dim(query.embeddings, items.embeddings)
    parts = [part.embeddings for part in (query, items) if part is not None]
    rounding = Rounding.of(parts, threshold)
    if first is None:
        fits = all((exact.round_to(part, "float32") == part).all() for part in parts)
        first = FORMATS["float32" if fits else "float64"]
    usual, too_short = rounding.fitting(FORMATS[name] for name in DEFAULT)
    rows = list(dict.fromkeys([first, *usual])) if asked is None else asked if first in asked else [first, *asked]
    for row in rows:
        comparable = row.number != "1 bit" or options.distance in ("cosine", "inner_product")  # a bit has no length
        if row.float_query and not comparable:
            rule = f"must be left out unless distance is cosine or inner_product, but distance is {options.distance!r}"
            raise InvalidValueError(f"formats: {row.name!r}", rule)
    reports = {row.name: report_of(_rounded(task, row, query, items, rounding), summary) for row in rows}
    comparisons = {name: compare(report, reports[first.name], **test) for name, report in reports.items()}
    dim = query.embeddings.shape[1]
    notices = (*(too_short if asked is None else ()), *rounding.notices(rows, parts))
    return FormatComparison(reports, first.name, dim, options.distance, summary.measures, comparisons, notices)


def _rounded(
    task: Task, row: StorageFormat, query: Samples[Float64], items: Samples[Float64] | None, rounding: Rounding
) -> Task:
    """Return the task on queries and gallery in a format; without items, it is leave one out."""
    stored, gallery, exclude = None, query if items is None else items, task.options.exclude
    if row.float_query:
        queries, stored = rounding.asymmetric(query.embeddings, gallery.embeddings, row)
        exclude = np.arange(len(stored)) if items is None else exclude
    else:
        scaled = task.options.distance != "cosine"  # which no scale of a vector changes
        queries = rounding.stored(query.embeddings, row, scaled=scaled)
        stored = None if items is None else rounding.stored(items.embeddings, row, scaled=scaled)
    require_finite(queries, query.embeddings, row, "embeddings")
    if stored is None:
        return with_rows(task, Pair(Samples(Array(queries), query.labels), None))
    require_finite(stored, gallery.embeddings, row, "gallery")
    pair = Pair(Samples(Array(queries), query.labels), Samples(Array(stored), gallery.labels))
    return with_rows(task, pair, exclude)


def _whole(samples: Samples[Source]) -> Samples[Float64]:
    return Samples(samples.embeddings.whole().astype(np.float64), samples.labels)
